"""`tcdp-sim merge`: three stores give one, whatever is merged first, to the byte; a refusal leaves no trace."""

import json
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from itertools import permutations

import numpy as np
import pytest
from rich.console import Console

from tcdp_sim import results
from tcdp_sim.store import certificate, provenance, run_folder, source
from tcdp_sim.store.digests import tree_digest
from tcdp_sim.summaries.encoding import from_bytes, to_bytes
from tcdp_sim.summaries.problems import ERROR, WARNING, Problem

CELLS = ("sweep.k=10", "sweep.omega_sqrt_rho=1")
PARTS = {  # each two share some chunks, and none has all of the others'
    "a": ("sweep.noise=[gaussian,laplace]", "trials=1000"),
    "b": ("sweep.noise=[laplace,truncated_laplace]", "trials=1500", "sweep.delta=1e-6"),
    "c": ("sweep.noise=[truncated_laplace,gaussian]", "trials=1500", "sweep.delta=1e-6"),
}
WHOLE = ("sweep.noise=[gaussian,laplace,truncated_laplace]", "trials=1500", "sweep.delta=1e-6")


@pytest.fixture
def undrawn(tiny, monkeypatch):
    """The command without its figures: undrawn(*words) -> (exit code, stdout, stderr)."""
    monkeypatch.setattr("tcdp_sim.cli.draw.main", lambda raw, console: None)
    return lambda *words: tiny(*CELLS, *words)


@pytest.fixture
def parts(undrawn, tmp_path):
    for name, words in PARTS.items():
        assert undrawn(f"name={name}", *words)[0] == 0
    return tmp_path / "results"


def opened(folder):
    return run_folder.Run(folder, json.loads((folder / "run.json").read_text("utf-8")))


def records(folder):
    run = opened(folder)
    return {key: run.record(*key) for key in run.done}


def contents(folder):
    return tree_digest((folder / "results.zarr").resolve()), (folder / certificate.NAME).read_bytes()


@pytest.fixture
def merged(undrawn, parts, monkeypatch):
    """merged(name, x, y): a new folder with what two of the others have, nothing simulated and nothing published."""
    from tcdp_sim.cli import merge, run

    configs = []
    with monkeypatch.context() as patch:
        patch.setattr(run, "main", lambda raw, console, values: configs.append(raw) or 0)
        assert undrawn(*WHOLE, "name=start", "merge", parts / "a")[0] == 0

    def merge_two(name, x, y):
        if not (parts / name).exists():
            shutil.copytree(parts / x, parts / name, symlinks=True)
            with monkeypatch.context() as patch:
                patch.setattr(run, "main", lambda raw, console, values: None)
                merge.main(configs[0].model_copy(update={"name": name}), str(parts / y), Console(file=StringIO()))

    return merge_two


@pytest.mark.slow
def test_associative_and_commutative(undrawn, parts, merged):
    """(x + y) + z and x + (y + z) in every order: the records are those of one run, and so is what is published."""
    assert undrawn("name=whole", *WHOLE)[0] == 0
    expected, published = records(parts / "whole"), contents(parts / "whole")
    assert len(expected) == 3 * 3
    for x, y, z in permutations(PARTS):
        merged(x + y, x, y)
        merged(y + z, y, z)
        merged(f"{x}{y}-{z}", x + y, z)
        merged(f"{x}-{y}{z}", x, y + z)
        for name in (f"{x}{y}-{z}", f"{x}-{y}{z}"):
            assert records(parts / name) == expected
            code, out, _ = undrawn(f"name={name}", *WHOLE)
            assert code == 0
            assert "nothing to simulate" in out
            assert contents(parts / name) == published


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("seed=7",), "belongs to another run (seed = '2018' there, '7' here)"),
        (("chunk=250",), "belongs to another run (chunk = 500 there, 250 here)"),
        (("experiment=privacy_loss", "sweep.k=null", "sweep.noise=laplace"), "belongs to another run (experiment = "),
    ],
)
def test_foreign_runs_are_refused(undrawn, folder, words, said):
    assert undrawn("sweep.noise=laplace", "name=other")[0] == 0
    code, _, err = undrawn("sweep.noise=laplace", "merge", folder.parent / "other", "name=new", *words)
    assert (code, err.count("\n")) == (2, 1)
    assert said in err
    assert not (folder.parent / "new").exists()


def test_chunks_of_another_machine_stay_known_as_such(undrawn, folder):
    """A run that takes them over names their machine in its journal."""
    other, new = folder.parent / "other", folder.parent / "new"
    assert undrawn("sweep.noise=laplace", "name=other")[0] == 0
    everything = records(other)
    shutil.rmtree(other / "journal")
    with opened(other).writer({"numerics_fingerprint": "of another machine", "code": dict(source.loaded())}) as writer:
        for key, record in everything.items():
            writer.append(*key, record)
    code, out, _ = undrawn("sweep.noise=laplace", "merge", other, "name=new")
    assert code == 0
    assert "come from a machine whose elementary functions differ" in out
    assert "of another machine" in provenance.fingerprints(opened(new).heads)
    assert "neither run's settings" not in out


def test_cells_of_earlier_settings_are_told(undrawn, folder):
    """The other run has been of Gaussian noise, and is of Laplace noise now: its first cell is in no table."""
    for noise in ("gaussian", "laplace"):
        assert undrawn(f"sweep.noise={noise}", "name=other")[0] == 0
    words = ("merge", folder.parent / "other", "name=new")
    code, out, _ = undrawn("sweep.noise=laplace", *words)
    assert code == 0
    assert "1 of its cells" in out


def test_other_bits_are_refused_and_nothing_is_taken(undrawn, parts, monkeypatch):
    """One chunk of many differs, in a bit: nothing of that run is added, also not what nobody contradicts."""
    run = opened(parts / "b")
    (cell, chunk), *others = [key for key in run.done if key in records(parts / "a")]
    summary = from_bytes(run.record(cell, chunk))
    name, found = next(iter(summary.observables.items()))
    moments, changed = found.moments.copy(), summary
    while changed is summary or len(to_bytes(changed)) != len(run.record(cell, chunk)):  # packed as tightly, too
        moments[0, 1] = np.nextafter(moments[0, 1], np.inf)  # the sum of its trials
        changed = replace(summary, observables={**summary.observables, name: replace(found, moments=moments.copy())})
    everything = [(*key, run.record(*key)) for key in others] + [(cell, chunk, to_bytes(changed))]
    shutil.rmtree(parts / "b" / "journal")
    with opened(parts / "b").writer({"code": dict(source.loaded())}) as writer:
        for record in everything:
            writer.append(*record)
    before = records(parts / "a"), contents(parts / "a")
    code, _, err = undrawn("name=a", "merge", parts / "b", *WHOLE)
    assert code == 2
    assert f"differ in 1 chunks that both have, such as chunk {chunk} of cell {cell[:16]}" in err
    assert before == (records(parts / "a"), contents(parts / "a"))


@pytest.mark.slow
def test_errors_of_the_other_stay_with_it(undrawn, parts):
    """Errors of chunks that the other run could not finish are not ours; its warnings come with their chunks."""
    problems = [Problem("a" * 64, 0, ERROR, "of another cell", ""), Problem("b" * 64, 1, WARNING, "of none", "")]
    theirs = opened(parts / "b")
    key = next(key for key in theirs.done if not opened(parts / "a").has(*key))
    problems += [Problem(key[0], 999, ERROR, "of a chunk that is not there", ""), Problem(*key, WARNING, "careful", "")]
    with theirs.writer({"code": dict(source.loaded())}) as writer:
        for problem in problems:
            writer.note(problem)
    assert undrawn("name=a", "merge", parts / "b", *WHOLE)[0] == 0
    assert list(opened(parts / "a").problems) == [problems[-1]]


@pytest.mark.slow
def test_damaged_records_of_the_other_are_passed_over(undrawn, parts):
    """What they held is simulated: the result is the same."""
    assert undrawn("name=whole", *WHOLE)[0] == 0
    segment = next((parts / "b" / "journal").glob("*.seg"))
    segment.write_bytes(segment.read_bytes()[:-9])
    for other in "bc":
        code, out, _ = undrawn("name=a", "merge", parts / other, *WHOLE)
        assert code == 0
        assert (f"journal/{segment.name}: 1 damaged stretches, which are passed over" in out) == (other == "b")
    assert contents(parts / "a") == contents(parts / "whole")


def published(folder):
    flat = results.open_cells(folder).load()
    return sorted(zip(flat["k"].values.tolist(), flat["trials"].values.tolist()))


@pytest.mark.parametrize(
    ("mine", "other", "rows"),
    [
        (("sweep.k=10",), ("sweep.k=100",), [(10, 1000), (100, 1000)]),
        (("sweep.k=10",), ("sweep.k=10", "trials=2000"), [(10, 2000)]),
    ],
    ids=["cells", "trials"],
)
def test_the_merged_run_shows_the_cells_and_trials_of_both(tiny, command, folder, mine, other, rows):
    """Without a word about the sweep: what the first run has been started with is no longer all that it is."""
    one = ("sweep.noise=laplace", "sweep.omega_sqrt_rho=1")
    assert tiny(*one, *mine, "name=a")[0] == tiny(*one, *other, "name=b")[0] == 0
    a, b = folder.parent / "a", folder.parent / "b"
    code, out, _ = command("merge", a, b)
    assert code == 0
    assert "nothing to simulate" in out
    assert f"the run has {len(rows)} cells x {rows[0][1]:,} trials now" in out
    assert published(a) == rows
    assert command("merge", b, a)[0] == 0
    assert contents(a) == contents(b)
    assert f"{len(rows)} of {len(rows)} cells done" in command("status", a)[1]


def test_runs_that_no_table_can_show_together_are_refused_and_left_alone(tiny, command, folder):
    one = ("sweep.noise=laplace", "sweep.omega_sqrt_rho=1", "sweep.k=10")
    assert tiny(*one, "name=a")[0] == tiny(*one, "share=noise", "name=b")[0] == 0
    before = records(folder.parent / "a")
    code, _, err = command("merge", folder.parent / "a", folder.parent / "b")
    assert (code, err.count("\n")) == (2, 1)
    assert "`tcdp-sim diff" in err
    assert records(folder.parent / "a") == before


KILLED = """
import os, signal, sys
from tcdp_sim.cli.main import main
from tcdp_sim.store.run_folder import RunWriter
append, copied = RunWriter.append, []
def kill(self, *record):
    copied.append(record)
    if len(copied) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    append(self, *record)
RunWriter.append = kill
sys.argv = ["tcdp-sim", "merge", *sys.argv[1:]]
main()
"""


@pytest.mark.slow
def test_a_merge_that_is_killed_while_it_copies_is_done_again_to_the_same_bytes(parts, undrawn):
    for name in ("killed", "calm"):
        shutil.copytree(parts / "a", parts / name, symlinks=True)
    before = len(opened(parts / "killed").done)
    words = [sys.executable, "-c", KILLED, parts / "killed", parts / "b"]
    ended = subprocess.run(words, capture_output=True, timeout=300)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert len(opened(parts / "killed").done) == before + 1
    for name in ("killed", "calm"):
        assert undrawn("merge", f"name={name}", *PARTS["a"], parts / "b")[0] == 0
    digests = {tree_digest((parts / name / "results.zarr").resolve()) for name in ("killed", "calm")}
    assert len(digests) == 1
