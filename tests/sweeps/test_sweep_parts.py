"""Parts of a sweep: computed alone, in any order, and published without code, with the bytes of a serial run."""

import re
import shlex
from itertools import count
from pathlib import Path

import pytest

from tcdp_sim.cli import script
from tcdp_sim.core import user_files
from tcdp_sim.store import exact_columns, exact_records, journal
from tcdp_sim.study import parts
from tcdp_sim.sweeps import exact

FILE = """
import numpy as np


def largest(rng, trials, n):
    return rng.random((trials, n)).max(axis=1)


def mean_of_largest(n):
    return n / (n + 1)


def other(rng, trials, n):
    return np.random.default_rng().random(trials)
"""
WORDS = ("my_file.py:largest", "sweep.n=[1,4,9]", "trials=3e3", "chunk=500", "cluster=serial")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my_file.py").write_text(FILE)
    return tmp_path


def files(run):
    return {path.relative_to(run): path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()}


def snapshot(name):
    return files(Path("results", name, "results.zarr").resolve())


def test_parts_in_any_order_and_repeated_have_the_bytes_of_a_serial_sweep(command, folder):
    for part in ("3/3", "1/3", "3/3"):
        assert command("sweep", *WORDS, "name=mine", f"part={part}")[0] == 0
    code, out, _ = command("finish", "results/mine")
    assert code == 1
    assert "missing parts: 2 (1 of 3)" in out
    (line,) = (line for line in out.splitlines() if "computes the first of them" in line)
    assert line.startswith("`tcdp-sim sweep my_file.py:largest 'sweep.n=[1,4,9]' ")
    assert command("sweep", *WORDS, "name=mine", "part=2/3")[0] == 0
    code, out, _ = command("finish", "results/mine")
    assert code == 0
    assert "no part has exact values or bounds" in out
    assert not Path("results/alone").exists()
    assert command("sweep", *WORDS, "name=alone")[0] == 0
    assert snapshot("mine") == snapshot("alone")


def test_the_command_without_part_publishes_exact_values_too(command, folder):
    for part in ("1/2", "2/2"):
        assert command("sweep", *WORDS, "exact.value=mean_of_largest", f"part={part}")[0] == 0
    code, out, _ = command("sweep", *WORDS, "exact.value=mean_of_largest")
    assert code == 0
    assert "3 cells x 3,000 trials; nothing to simulate" in out
    assert "3 simulated numbers have an exact one beside them" in out


def test_finishing_further_parts_keeps_published_exact_values(command, folder, monkeypatch):
    later = map("2026-01-01T00:00:{:02d}Z".format, count())  # the newest head decides, and a second is short
    monkeypatch.setattr("tcdp_sim.store.provenance._now", lambda: next(later))
    assert command("sweep", *WORDS, "exact.value=mean_of_largest")[0] == 0
    more = (*WORDS[:2], "trials=6000", *WORDS[3:])
    assert command("sweep", *more, "part=1/2")[0] == 0
    code, out, _ = command("finish", "results/largest")
    assert code == 1, out
    assert "no part has exact values" not in out
    assert command("sweep", *more, "part=2/2")[0] == 0
    code, out, _ = command("finish", "results/largest")
    assert (code, "3 simulated numbers have an exact one beside them" in out) == (0, True), out
    assert command("sweep", *more, "exact.value=mean_of_largest", "name=alone")[0] == 0
    assert snapshot("largest") == snapshot("alone")


EXACT = (*WORDS, "exact.value=mean_of_largest", "bound.value=1")
DECIDED = "target={value:{across:n}}"
TARGET = ("target_mcse={value:{relative:0.01}}", "trials=500", "chunk=100")


def published(name):
    folder = Path("results", name)
    others = {file: (folder / file).read_bytes() for file in ("certificate.json", "contradictions.csv")}
    return snapshot(name) | others


def part(command, *words, code=0):
    found, out, err = command("sweep", *words)
    assert (found, err) == (0, ""), err
    return out


@pytest.mark.parametrize("more", [(), TARGET], ids=["trials", "target"])
def test_parts_store_exact_values_and_the_finish_publishes_them_without_code(command, folder, more):
    """In any order, one lost at first and one repeated: the bytes are those of a serial sweep."""
    words = (*EXACT, *more, "name=mine")
    assert command("sweep", *EXACT, *more, "name=alone")[0] == 0
    for one in ("3/4", "1/4", "4/4", "3/4"):
        part(command, *words, f"part={one}")
    if not more:
        Path("my_file.py").rename("elsewhere.py")
        code, out, err = command("finish", "results/mine")
        assert code == 1, out
        assert "missing parts: 2 (1 of 4)" in out
        assert "part=2/4` computes" in out
        assert out.count(" bound.value=1.0 exact.value=mean_of_largest ") == 1
        assert "nothing is published" in err  # each cell lacks chunks
        Path("elsewhere.py").rename("my_file.py")
    part(command, *words, "part=2/4")
    Path("my_file.py").unlink()
    code, out, err = command("finish", "results/mine")
    assert (code, err) == (0, ""), out
    assert "6 simulated numbers have an exact one beside them; none contradicts" in out
    assert published("mine") == published("alone")


@pytest.mark.parametrize("head", [b"h{}", b"h[1]", b"h" + b"[" * 100_000, b'h{"functions": 1, "key": ""}'])
def test_damaged_and_strange_files_of_values_count_as_missing(command, folder, head):
    for i in (1, 2):
        part(command, *EXACT, f"part={i}/2")
    place = Path("results/largest/exact")
    with journal.Writer(place, ".part-1-of-2") as strange:
        strange.append(head)
        strange.append(b"v" + b"x" * 48)
    first = next(path for path in sorted(place.iterdir()) if path != strange.path)
    torn = bytearray(first.read_bytes())
    torn[-3] ^= 1  # in the last record
    first.write_bytes(torn)
    code, out, err = command("finish", "results/largest")
    assert (code, "the exact values of 1 cells are missing" in err) == (1, True), err
    (line,) = (line for line in out.splitlines() if "computes the first of them" in line)
    assert command(*shlex.split(line.split("`")[1])[1:])[0] == 0
    assert command("finish", "results/largest")[0] == 0
    assert command("sweep", *EXACT, "name=alone")[0] == 0
    assert published("largest") == published("alone")


def test_what_a_part_stores_is_its_own_and_not_computed_again(command, folder, monkeypatch):
    for one in ("1/2", "2/2"):
        part(command, *EXACT, f"part={one}")
    stored = exact_columns.stored(Path("results/largest"))
    assert sorted(stored) == ["value_mean_bound", "value_mean_exact"]
    assert sorted(stored["value_mean_exact"].values.values()) == [0.5, 0.8, 0.9]
    assert sorted(stored["value_mean_bound"].values.values()) == [1, 1, 1]
    rows = [record for *_, record in exact_records.records(Path("results/largest")) if record[:1] == exact_records.ROW]
    assert len(rows) == 3
    before = files(Path("results/largest"))
    calls = []
    value = exact.value
    monkeypatch.setattr("tcdp_sim.engine.exact.TRIED", -1.0)
    monkeypatch.setattr(exact, "value", lambda *given: calls.append(given) or value(*given))
    part(command, *EXACT, "part=1/2")
    assert files(Path("results/largest")) == before
    assert command("sweep", *EXACT)[0] == 0
    assert len(calls) == 4  # both functions at the first cell, before anything is simulated


def test_wrong_exact_values_of_parts_contradict_at_the_finish(command, folder):
    for one in ("1/2", "2/2"):
        part(command, *WORDS, "exact.value=0.7", f"part={one}")
    assert command("finish", "results/largest")[0] == 3


def test_parts_of_different_functions_are_an_error_that_names_both(command, folder, monkeypatch):
    """A corrected function is of another source. Its part forgets its own old values, and no clock has a say."""
    for one in ("1/2", "2/2"):
        part(command, *EXACT, f"part={one}")
    Path("my_file.py").write_text(FILE.replace("return n / (n + 1)", "return n / (n + 1.0)"))
    user_files._LOADED.clear()
    part(command, *EXACT, "part=1/2")
    code, _, err = command("finish", "results/largest")
    assert (code, err.count("\n")) == (2, 1)
    assert "results/largest has exact values of different functions: " in err
    assert err.count("exact.value=mean_of_largest (") == 2
    assert "of part 1/2" in err
    assert "of part 2/2" in err
    part(command, *EXACT, "part=2/2")
    assert command("finish", "results/largest")[0] == 0
    assert command("sweep", *EXACT, "name=alone")[0] == 0
    assert published("largest") == published("alone")


def test_a_whole_sweep_forgets_the_values_of_other_functions(command, folder):
    for one in ("1/2", "2/2"):
        part(command, *EXACT, f"part={one}")
    Path("my_file.py").write_text(FILE.replace("return n / (n + 1)", "return n / (n + 1.0)"))
    user_files._LOADED.clear()
    part(command, *EXACT, "part=1/2")
    assert command("sweep", *EXACT)[0] == 0
    assert command("finish", "results/largest")[0] == 0


def test_parts_of_a_sweep_in_folders_of_their_own_are_merged(command, folder):
    for i in (1, 2, 3):
        part(command, *EXACT, f"part={i}/3", f"results_dir=own{i}")
    for i in (3, 1):
        assert command("merge", "own2/largest", f"own{i}/largest")[0] == 0
    assert command("sweep", *EXACT, "results_dir=own2", "name=alone")[0] == 0
    Path("results").symlink_to("own2")
    assert published("largest") == published("alone")


def test_merge_of_sweeps_in_parts_with_different_cells_has_the_cells_of_both(command, folder):
    one, two = (("sweep.n=[1,9]", "name=one"), ("sweep.n=[4]", "name=two"))
    for own in (one, two):
        for i in (1, 2):
            part(command, *EXACT, *own, f"part={i}/2")
    Path("my_file.py").rename("elsewhere.py")
    assert command("merge", "results/one", "results/two")[0] == 0
    kept = exact_columns.stored(Path("results/one"))  # for a later finish, without the other folder
    assert sorted(kept["value_mean_exact"].values.values()) == [0.5, 0.8, 0.9]
    Path("elsewhere.py").rename("my_file.py")
    assert command("sweep", *EXACT, "name=alone")[0] == 0
    assert published("one") == published("alone")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("my_file.py:smallest",), "function = 'my_file:smallest' there"),
        (("my_file.py:largest", "seed=3"), "seed = '3' there"),
        (("my_file.py:largest", "chunk=100"), "chunk = 100 there"),
    ],
)
def test_merge_of_parts_of_other_studies_is_refused_with_the_reason(command, folder, words, said):
    """Nothing changes, in neither folder."""
    Path("my_file.py").write_text(FILE + "\n\ndef smallest(rng, trials, n):\n    return rng.random(trials) / n\n")
    part(command, *EXACT, "name=one", "part=1/2")
    others = (*words[:1], "sweep.n=[2]", *WORDS[2:], "exact.value=mean_of_largest", *words[1:])
    part(command, *others, "name=two", "part=2/2")
    before = files(folder)
    for ours, theirs in (("one", "two"), ("two", "one")):
        code, _, err = command("merge", f"results/{ours}", f"results/{theirs}")
        assert (code, err.count("\n")) == (2, 1), err
        assert said.partition(" there")[0] in err or ours == "two", err
    assert files(folder) == before


def test_merge_refuses_different_exact_values(command, folder):
    part(command, *WORDS, "exact.value=0.7", "part=1/1", "name=one")
    part(command, *WORDS, "exact.value=0.8", "part=1/1", "name=two", "sweep.n=[4,5]")
    code, _, err = command("merge", "results/one", "results/two")
    assert (code, err.count("\n")) == (2, 1)
    assert "differ in value_mean_exact at" in err


def test_exact_values_without_identity_are_refused(command, folder):
    Path("my_file.py").write_text(FILE + "\n\ntwice = lambda n: 2 * n\n")
    code, _, err = command("sweep", *WORDS, "exact.value=twice", "part=1/2")
    assert (code, err.count("\n")) == (2, 1)
    assert "exact.value = <lambda> is not valid with part" in err
    assert not Path("results").exists()


def test_trials_may_be_added(command, folder):
    assert command("sweep", *WORDS)[0] == 0
    code, out, _ = command("sweep", *WORDS[:2], "trials=+1000", "chunk=500", "cluster=serial")
    assert code == 0
    assert "3 cells x 4,000 trials; 6 of 24 chunks to simulate" in out


@pytest.mark.parametrize("queue", script.QUEUES)
def test_a_job_file_of_a_sweep_names_its_functions_and_finishes_without_them(command, folder, queue):
    code, out, err = command("script", queue, "sweep", *EXACT, "parts=4")
    assert (code, err) == (0, "")
    assert " sweep my_file.py:largest 'sweep.n=[1,4,9]' " in out
    assert " exact.value=mean_of_largest bound.value=1 " in out
    assert re.search(r' "?part=\$\S*/4"?', out)
    assert " finish results/largest\n" in out
    assert not Path("results").exists()


def test_the_time_of_a_job_covers_slow_exact_values(command, folder):
    """A cell of two seconds is the most that a part of these three cells has, or two or three of them."""
    Path("my_file.py").write_text(FILE + "\n\ndef slow(n):\n    import time\n\n    time.sleep(1.5)\n    return 0.5\n")
    fast, slow = (
        command("script", "slurm", "sweep", *WORDS, *more, "parts=2")[1] for more in ((), ("exact.value=slow",))
    )
    seconds = [int(re.search(r"chunks, (\d+) s and", text)[1]) for text in (fast, slow)]
    assert seconds[1] - seconds[0] >= 2 * 1.5 - 1  # one of two parts has at least two of three cells


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*WORDS, "part=1/3"), "part=1/3 is not valid here"),
        ((*WORDS[:2], "trials=+500"), "is not valid with part"),
        (("my_file.py:other", *WORDS[1:]), "do not follow from its generator"),
        ((*WORDS, "exact.value=nothing"), "has no function 'nothing'"),
        ((*WORDS, "sweep.m=3"), "largest takes no 'm'"),
        (("my_file.py:lost",), "has no function 'lost'"),
        ((), "sweep needs a function first"),
    ],
)
@pytest.mark.filterwarnings("ignore:other does not draw all")
def test_a_sweep_that_no_part_could_compute_has_no_job_file(command, folder, words, said):
    code, out, err = command("script", "slurm", "sweep", *words, "parts=4")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*WORDS, "part=4/3"), "part = '4/3'"),
        ((*WORDS, "part=x"), "part = 'x'"),
        ((*WORDS[:2], "trials=+500", "part=1/2"), "is not valid with part"),
        (("my_file.py:other", *WORDS[1:], "part=1/2"), "do not follow from its generator"),
    ],
)
@pytest.mark.filterwarnings("ignore:other does not draw all")
def test_mistakes_are_one_line(command, folder, words, said):
    code, _, err = command("sweep", *words)
    assert code == 2
    assert said in err
    assert not Path("results").exists()


@pytest.mark.parametrize(
    "words", [("sweep", *WORDS, DECIDED, "part=1/2"), ("script", "slurm", "sweep", *WORDS, DECIDED, "parts=2")]
)
def test_decisions_need_the_whole_sweep(command, folder, words):
    code, _, err = command(*words)
    assert (code, err.count("\n")) == (2, 1)
    assert "is not valid with target: the trials of a cell depend on other cells; valid: a run without part" in err


FAILING = """
def failing(rng, trials, n):
    if n == 4:
        raise ValueError("no four")
    return rng.random(trials)
"""


def test_the_status_says_which_parts_failed_and_which_are_missing_and_how_to_submit_them(command, folder):
    """Parts 1, 2 and 4 of 7 have been run, the ones with a chunk of n = 4 in vain, and 6 was killed."""
    Path("my_file.py").write_text(FAILING)
    words = ("my_file.py:failing", "sweep.n=[1,2,3,4,5]", "trials=4e3", "chunk=1e3", "name=f")
    failed = {i for i in (1, 2, 4) if command("sweep", *words, f"part={i}/7")[0]}
    ids = {law["point"]: cell for law, cell in _cells("f")}
    four = {(int(ids['{"n": 4}'][:16], 16) + chunk) % 7 + 1 for chunk in range(4)}
    assert failed == four & {1, 2, 4}
    assert failed
    (begun,) = Path("results/f/journal").glob("*.part-4-of-7.seg")
    begun.with_name("killed.part-6-of-7.seg").write_bytes(begun.read_bytes()[:100])
    out = command("status", "results/f")[1]
    missing = sorted({1, 2, 3, 4, 5, 6, 7} - ({1, 2, 4} - failed))
    assert _line(out, "missing parts: ") == f"{parts.in_ranges(missing)} ({len(missing)} of 7)"
    assert _line(out, "  ended by an error: ") == parts.in_ranges(failed)
    assert _line(out, "  begun and not done (at work, killed or out of time): ") == "6"
    assert _line(out, "  not begun: ") == "3,5,7"
    assert "(n=4) index=" in _line(out, f"  part {min(failed)}: cell=")
    assert _line(out, "  part ").endswith("ValueError: no four")
    assert f"`sh job.sh {parts.in_ranges(missing)}` submits them alone" in out
    assert f"`sh job.sh {parts.in_ranges(missing)}` submits them alone" in command("finish", "results/f")[1]


def _line(text, start):
    (found,) = (line.removeprefix(start) for line in text.splitlines() if line.startswith(start))
    return found


def _cells(name):
    from tcdp_sim.engine.run import prepare
    from tcdp_sim.store.run_settings import settings_of

    return [(cell.law, cell.id) for cell in prepare(settings_of(Path("results", name))).plan.laws]


LARGE = """
import numpy as np


def large(rng, trials, n):
    return np.ones((trials, n), np.int8).sum(axis=1) + rng.random(trials)
"""


def test_the_memory_of_a_job_is_that_of_the_largest_cell(command, folder):
    """500 trials of 400,000 bytes take 200 MB at once; a job asks for twice as much beyond the memory of the rest."""
    Path("my_file.py").write_text(LARGE)
    words = ("my_file.py:large", "trials=1e3", "chunk=500", "parts=3")
    sizes = []
    for most in (10, 400_000):
        text = command("script", "slurm", "sweep", *words, f"sweep.n=[1,{most},2]")[1]
        sizes.append([int(size) for size in re.findall(r"--mem=(\d+)M", text)])
    (small, finish), (large, again) = sizes
    assert 400 - 100 <= large - small <= 400 + 200
    assert abs(finish - again) <= 300
