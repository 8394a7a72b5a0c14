"""Runs computed in parts: the published bytes are those of a serial run, whatever happens to the parts."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest
from progress_lines import without_progress

from tcdp_sim import api
from tcdp_sim.core.errors import UserError
from tcdp_sim.engine import exact
from tcdp_sim.store import journal, locks, part_folder
from tcdp_sim.store.digests import tree_digest
from tcdp_sim.store.exact_records import HEAD
from tcdp_sim.study.parts import Part

STUDY = ("chunk=250", "also=null", "sweep.rho=0.1", "sweep.omega_sqrt_rho=2")
WORDS = (*STUDY, "trials=1000", "sweep.k=[10,1e6]", "sweep.noise=[laplace,gaussian]")  # 4 cells of 4 chunks
PRECISE = (*WORDS, "target_mcse={linf_error:{relative:0.004}}", "max_trials=20000")


def contents(folder):
    """The bytes that a run publishes."""
    files = {name: (folder / name).read_bytes() for name in ("certificate.json", "contradictions.csv")}
    return files | {"snapshot": tree_digest((folder / "results.zarr").resolve())}


@pytest.fixture
def serial(ran_once, tmp_path):
    """serial(*words) -> the bytes that a serial run of a study publishes."""

    def published(*words):
        ran_once("cluster=serial", "name=serial", *words)
        return contents(tmp_path / "results" / "serial")

    return published


@pytest.fixture
def part(command):
    """part("2/3", *words) -> the output of a part, which has to succeed."""

    def run(name, *words):
        code, out, err = command("run", *words, f"part={name}")
        assert (code, err) == (0, "")
        return out

    return run


def done(command, *words):
    code, out, err = command("finish", *(words or ["results/histogram"]))
    assert (code, err) == (0, "")
    return out


@pytest.mark.parametrize("words", [WORDS, PRECISE], ids=["trials", "target"])
def test_parts_in_any_order_and_one_repeated_give_the_bytes_of_a_serial_run(command, serial, part, folder, words):
    expected = serial(*words)
    assert "once the other parts are done too" in part("3/3", *words)
    part("1/3", *words)
    assert ": 0 of its " in part("3/3", *words)
    assert "all chunks are there now: `tcdp-sim finish" in part("2/3", *words)
    assert not (folder / "results.zarr").exists()
    assert "4 of 4 cells whole" in done(command)
    assert contents(folder) == expected


def test_the_same_command_without_part_publishes_too(command, serial, part, folder):
    expected = serial(*WORDS)
    for name in ("1/2", "2/2"):
        part(name, *WORDS)
    code, out, _ = command(*WORDS)  # it simulates nothing, so it starts no worker
    assert (code, "nothing to simulate" in out, "damaged or lost" in out) == (0, True, False)
    assert contents(folder) == expected
    assert "all chunks are there now" in part("1/3", *WORDS)  # also those that another number of parts has computed


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_workers_give_the_same_bytes(command, serial, folder, workers):
    expected = serial(*WORDS)
    assert command(*WORDS, "cluster=local", f"cluster.workers={workers}")[0] == 0
    assert contents(folder) == expected


def test_a_cell_under_a_target_belongs_to_one_part(part, folder):
    outputs = [part(f"{i}/5", *PRECISE) for i in range(1, 6)]
    assert max(out.count("cells need more trials") for out in outputs) > 1  # the target asks more than once
    identity = json.loads((folder / "run.json").read_text("utf-8"))
    runs = [part_folder.PartRun(folder, identity, Part(i, 5, True)) for i in range(1, 6)]
    cells = [{cell for cell, _ in run.done} for run in runs]
    assert sum(map(len, cells)) == len(set().union(*cells)) == 4
    assert max(map(len, cells)) < 4
    assert any(len(run.done) > 4 * len(own) for run, own in zip(runs, cells))  # the target asked for more


def test_a_part_shares_no_file_and_needs_no_lock(part, folder):
    part("1/3", *WORDS)
    assert {path.name for path in folder.iterdir()} == {"run.json", "journal", "exact"}
    before = (folder / "run.json").stat()
    with locks.held(folder):
        part("2/3", *WORDS)
    after = (folder / "run.json").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert {path.name for path in folder.iterdir()} == {"run.json", "journal", "exact", "lock"}
    for files in ("journal/*", "exact/*"):
        labels = sorted(path.name.split(".")[-2] for path in folder.glob(files))
        assert labels == ["part-1-of-3", "part-2-of-3"]


def test_a_part_does_not_read_the_others(part, folder):
    """A thousand parts would read each other's chunks a million times."""
    part("1/2", *WORDS)
    (only,) = (folder / "journal").iterdir()
    only.write_bytes(only.read_bytes()[:-6000])  # its last head, and a chunk
    out = part("2/2", *WORDS)
    assert "damaged" not in out
    assert "once the other parts are done" in out
    out = part("1/2", *WORDS)
    assert "damaged stretches" in out
    assert "all chunks are there now" in out


LONG = (*STUDY, "trials=100000", "sweep.k=[1e6]", "sweep.noise=[gaussian]")


def begun(folder, part, number):
    """A process that computes a part of LONG, signalled once it has recorded some chunks."""
    words = [sys.executable, "-m", "tcdp_sim", "run", *LONG, f"part={part}"]
    process = subprocess.Popen(words, cwd=folder.parent.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    before, deadline = sum(journal.segments(folder / "journal").values()), time.monotonic() + 300
    while sum(journal.segments(folder / "journal").values()) < before + 8000:  # a head and some chunks
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.001)
    process.send_signal(number)
    return process


def test_a_part_killed_midway_and_two_attempts_at_once(command, serial, part, folder):
    expected = serial(*LONG)
    assert begun(folder, "1/2", signal.SIGKILL).wait() == -signal.SIGKILL
    out = part("1/2", *LONG)
    assert 0 < int(out.split(" of its 200 chunks")[0].split(": ")[-1]) < 200
    stopped = begun(folder, "2/2", signal.SIGSTOP)
    assert 0 < int(part("2/2", *LONG).split(" of its 200 chunks")[0].split(": ")[-1]) < 200
    stopped.send_signal(signal.SIGCONT)
    _, err = stopped.communicate(timeout=300)
    assert (stopped.returncode, without_progress(err.decode())) == (0, "")
    assert len(journal.segments(folder / "journal")) == 4
    done(command)
    assert contents(folder) == expected


def test_what_is_missing_is_named_with_the_command_that_computes_it(command, serial, part, folder):
    """Whole cells are published, also if their exact values are lost; once all chunks are there, these are computed."""
    expected = serial(*WORDS)
    for i in (1, 2, 3, 5, 6, 7, 8):
        part(f"{i}/8", *WORDS)
    (folder / "exact").rename(folder / "aside")
    code, out, err = command("finish", "results/histogram")
    assert (code, "chunks are missing" in err) == (1, True)
    assert "missing parts: 4 (1 of 8)\n" in out
    assert "the exact values of 4 cells" in out
    lost = [line for line in out.splitlines() if line.startswith("`")]
    words = shlex.split(lost[0].split("`")[1])
    assert (words[:2], words[-1]) == (["tcdp-sim", "run"], "part=4/8")
    whole = int(out.split(" chunks are there, ")[1].split(" of ")[0])
    there = api.open_results(folder)
    assert int((there["trials"] == 1000).sum()) == whole
    assert 0 < whole < 4
    assert "linf_error_quantile_exact" not in there
    assert command("verify", "results/histogram")[0] == 0  # values that nobody has computed are no contradiction
    (folder / "aside").rename(folder / "exact")
    assert "exact values of 4 cells" not in command("finish", "results/histogram")[1]  # no chunk is new
    assert "linf_error_quantile_exact" in api.open_results(folder)
    shutil.rmtree(folder / "exact")
    assert "missing parts: 4 (1 of 8)\n" in command("status", "results/histogram")[1]
    assert command(*words[1:])[0] == 0
    assert "missing" not in command("status", "results/histogram")[1]
    done(command)
    assert contents(folder) == expected


def test_parts_store_the_exact_values_of_their_cells(command, part, monkeypatch):
    for name in ("1/2", "2/2"):
        part(name, *WORDS)
    monkeypatch.setattr(exact, "row", lambda *_: 1 / 0)
    done(command)


def test_parts_in_folders_of_their_own_are_merged(command, serial, part, folder, monkeypatch):
    expected = serial(*WORDS)
    for i in (2, 3, 1):
        part(f"{i}/3", *WORDS, f"results_dir=own{i}")
    monkeypatch.setattr(exact, "row", lambda *_: 1 / 0)  # these are merged, too
    for i in (3, 1):
        code, out, _ = command("merge", *WORDS, f"own{i}/histogram")
        assert code == 0
        assert "missing: " in out
        assert "missing parts: " in out
        assert not (folder / "results.zarr").exists()
    code, out, _ = command("merge", *WORDS, "own2/histogram")
    assert (code, "nothing to simulate" in out) == (0, True)
    assert contents(folder) == expected


def test_merge_of_two_runs_made_of_parts_has_the_cells_of_both(command, serial, part, folder, tmp_path):
    """The union, also if a part was lost: then it says so and simulates nothing."""
    expected = serial(*WORDS)
    small, large = ("sweep.k=10", "name=small"), ("sweep.k=1e6", "name=large")
    for own in (small, large):
        part("1/2", *WORDS, *own)
    part("2/2", *WORDS, *small)
    code, out, _ = command("merge", "results/small", "results/large")
    assert code == 0
    assert "the run has 4 cells" in out
    assert "missing: " in out
    part("2/2", *WORDS, *large)
    assert command("merge", "results/small", "results/large")[0] == 0
    with api.open_results(tmp_path / "results" / "small") as both:
        assert sorted(both["k"].values.tolist()) == [10, 1e6]
    assert command("merge", *WORDS, "results/small")[0] == 0
    assert contents(folder) == expected


def test_parts_of_an_extended_study_count_in_a_finish_by_folder(command, part, folder):
    for name in ("1/2", "2/2"):
        part(name, *WORDS, "sweep.k=10")
    assert "2 of 2 cells whole" in done(command)
    for name in ("1/2", "2/2"):
        part(name, *WORDS)
    assert "4 of 4 cells whole" in done(command)
    assert json.loads((folder / "provenance.json").read_text("utf-8"))["config"]["sweep"]["k"] == [10, 1e6]
    assert "nothing to simulate" in command("run", *WORDS, "cluster=serial")[1]


def test_a_part_of_another_study_is_refused_in_the_same_folder(command, part):
    part("1/2", *WORDS)
    code, _, err = command("run", *WORDS, "seed=7", "part=2/2")
    assert (code, err.count("\n")) == (2, 1)
    assert "belongs to another run (seed = '2018' there, '7' here)" in err


def test_one_of_two_studies_that_begin_at_once_gets_the_folder(folder, monkeypatch):
    """The second one looks before the first one has written, and is refused nevertheless."""
    identity = {"experiment": "histogram", "seed": "1", "chunk": 250, "format": 1}
    create = part_folder.durable.create

    def late(path, text):
        create(path, part_folder.written(identity | {"seed": "2"}))
        create(path, text)

    monkeypatch.setattr(part_folder.durable, "create", late)
    with pytest.raises(UserError, match="belongs to another run"):
        part_folder.PartRun(folder, identity, Part(1, 2))


def test_values_of_other_functions_are_left_to_the_finish(part, folder):
    """They may be those of this study on another kind of processor, being written."""
    with journal.Writer(folder / "exact") as other:
        other.append(HEAD + b'{"key": "0123", "functions": {}}')
    (folder / "run.json").write_text('{"experiment": "histogram", "seed": "2018", "chunk": 250, "format": 1}')
    part("1/1", *WORDS)
    assert other.path.exists()


def test_errors_stay_in_their_part(command, monkeypatch, folder):
    from tcdp_sim.mechanisms import Histogram

    simulate = Histogram.simulate

    def broken(self, rng, trials):
        raise RuntimeError("broken")

    monkeypatch.setattr(Histogram, "simulate", broken)
    code, out, err = command("run", *WORDS, "part=1/2", "on_error=continue")
    assert code == 1
    assert "without numbers" in err
    assert "RuntimeError: broken" in out
    assert not (folder / "problems.csv").exists()
    monkeypatch.setattr(Histogram, "simulate", simulate)
    for name in ("1/2", "2/2"):
        assert command("run", *WORDS, f"part={name}")[0] == 0
    done(command)
    assert not (folder / "problems.csv").exists()


@pytest.mark.parametrize("name", ["0/3", "4/3", "x", "3", "1/0", "-1/3", "1/3/2", "1.5/3", "1/2000000", "''", "[1/3]"])
def test_a_part_that_cannot_be_is_refused(command, name):
    code, out, err = command("run", *WORDS, f"part={name}")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "valid: I/N with 1 <= I <= N <= 1000000, such as 17/1000" in err
    assert not os.path.exists("results")


def test_parts_have_no_cluster_and_no_results(command):
    code, out, _ = command("run", *WORDS, "part=1/2", "cluster=scheduler", "cluster.address=tcp://127.0.0.1:1")
    assert code == 0
    assert "cluster=scheduler is not used" in out
    with pytest.raises(UserError, match="part = '1/2' has no results to return"):
        api.run(part="1/2")
    assert "not valid with part" in command("run", *WORDS, "part=1/2", "trials=+250")[2]
    assert command("finish", "results/histogram")[::2] == (
        1,
        "tcdp-sim: no cell has all its chunks yet, so nothing is published\n",
    )
    assert command("finish", *WORDS, "name=none")[0] == 2


def test_a_finish_in_other_words_removes_nothing(command, part, folder):
    """A run of another study would begin anew in a folder without records, but parts may have just begun here."""
    part("1/2", *WORDS)
    (file,) = (folder / "journal").iterdir()
    file.write_bytes(b"")
    code, _, err = command("finish", *WORDS, "seed=7")
    assert code == 2
    assert "belongs to another run" in err
    assert file.exists()


def test_a_part_is_no_setting_of_the_run(command, part, folder):
    part("1/2", *WORDS)
    assert "part" not in command("show", "results/histogram")[1].replace("partial", "")
    code, out, _ = command("status", *WORDS, "part=1/2")
    assert (code, "of 16 chunks" in out) == (0, True)
    assert "the plan of the whole run" in command("plan", *WORDS, "part=1/2")[1]
    part("2/2", *WORDS)
    assert "4 of 4 cells whole" in done(command, *WORDS, "part=1/2")
    shutil.rmtree(folder)
    part("1/2", *WORDS)
    assert "in parts: 8 chunks" in " ".join(command("list")[1].split())
