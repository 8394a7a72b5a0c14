"""Records with a right digest that no simulation has written count as damaged, wherever they come from."""

import json
import shutil
import tracemalloc
import zlib

import numpy as np
import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.store import journal, source
from tcdp_sim.store.run_folder import Run
from tcdp_sim.summaries import decoding
from tcdp_sim.summaries.bins import LARGEST_KEY, values_at
from tcdp_sim.summaries.decoding import decoded, entries, shape
from tcdp_sim.summaries.encoding import to_bytes
from tcdp_sim.summaries.summary import summarise

CELL = "a" * 64
TRIALS = 100
ROLLS = np.arange(1, 7)
IDENTITY = {"experiment": "histogram", "seed": "1", "chunk": TRIALS}


def record(chunk=0, name="x", label="one", trials=TRIALS, cell=CELL):
    x = np.random.default_rng(chunk).standard_normal(trials)
    x[3] = np.inf
    return to_bytes(summarise(cell, chunk, trials, {name: x, "e": x > 0}, {name: {label: 1.0}}, shared=True))


def taken_apart(data):
    """(header, keys' steps, counts, moments, batches of the event, those of x)."""
    size = 4 + int.from_bytes(data[:4], "little")
    header, body = json.loads(data[4:size]), zlib.decompress(data[size:])
    bins = header["observables"]["x"]["bins"]
    ends = np.cumsum([4 * bins, 8 * bins, 40])
    arrays = zip(np.split(np.frombuffer(body, np.uint8), ends), ("<i4", "<i8", "<f8", "<f8"))
    return header, *(part.copy().view(dtype) for part, dtype in arrays)


def put_together(header, *arrays):
    text = json.dumps(header).encode()
    return len(text).to_bytes(4, "little") + text + zlib.compress(b"".join(a.tobytes() for a in arrays))


def forged(change):
    """A record in which `change(header, steps, counts, moments)` has altered something."""
    parts = taken_apart(record())
    change(*parts[:4])
    return put_together(*parts)


def header(path, value):
    """Sets a value in the header, such as "events.e"."""

    def change(found, *_):
        *above, last = path.split(".")
        for key in above:
            found = found[int(key) if isinstance(found, list) else key]
        found[int(last) if isinstance(found, list) else last] = value

    return change


def steps(at, by):
    return lambda _, steps, *__: steps.__setitem__(at, steps[at] + by)


def counts(*changes):
    return lambda _, __, counts, *___: [counts.__setitem__(at, counts[at] + by) for at, by in changes]


def moments(at, value):
    return lambda *parts: parts[3].__setitem__(at, value)


FORGED = {
    "fewer trials": header("trials", 5),
    "more trials": header("trials", TRIALS + 1),
    "no trials": header("trials", 0),
    "trials in words": header("trials", "100"),
    "true trials": header("trials", True),
    "trials that are no whole number": header("trials", 100.0),
    "an event too often": header("events.e", TRIALS + 1),
    "an event less than never": header("events.e", -1),
    "half an event": header("events.e", 0.5),
    "events in a list": header("events", [1]),
    "a threshold exceeded too often": header("observables.x.exceed.one", TRIALS + 1),
    "a threshold exceeded less than never": header("observables.x.exceed.one", -1),
    "no thresholds": header("observables.x.exceed", None),
    "more that is not finite": header("observables.x.nonfinite", 2),
    "less that is not finite": header("observables.x.nonfinite", -1),
    "one that is infinite to both sides": header("observables.x.infinite", [1, 1]),
    "bins to the end of the file": header("observables.x.bins", -1),
    "bins in words": header("observables.x.bins", "9"),
    "a width below zero": header("batches.x", -50),
    "observables in a list": header("observables", []),
    "batches in a list": header("batches", [1]),
    "no cell": header("cell", None),
    "a cell that is no id": header("cell", "../" * 20 + "abcd"),
    "two chunks": header("chunks", [0, 1]),
    "no chunk": header("chunks", []),
    "a chunk below zero": header("chunks", [-1]),
    "a chunk in words": header("chunks", ["0"]),
    "a chunk in a list": header("chunks", [[0]]),
    "chunks in words": header("chunks", "0"),
    "a count moved to a place before": steps(3, -(1 << 20)),
    "two bins that are one": lambda _, steps, *__: steps.__setitem__(4, 0),
    "a bin beyond the last": steps(-1, LARGEST_KEY * 2),
    "a bin beyond the first": steps(0, -2 * LARGEST_KEY),
    "a bin that wraps around": steps(1, np.iinfo(np.int32).max // 2),
    "a count too many": counts((0, 1)),
    "a count below zero": counts((0, -2), (1, 2)),
    "an empty bin": counts((0, -1), (1, 1)),
    "counts that overflow": counts((0, 1 << 62), (1, 1 << 62), (2, 1 << 62), (3, 1 << 62)),
    "moments of more trials": moments(0, 200.0),
    "moments of no number of trials": moments(0, np.nan),
    "a sum of squares below zero": moments(2, -1.0),
    "a smallest above the largest": moments(3, 1e6),
    "a smallest that is none": moments(3, np.nan),
    "an infinite largest": moments(4, np.inf),
}


def test_what_was_simulated_is_taken():
    assert to_bytes(decoded(record(), TRIALS)) == record()
    assert decoded(put_together(*taken_apart(record()))).trials == TRIALS
    overflown = np.array([1e300, -1e300, 3.0, np.nan, 0.0])
    with np.errstate(over="ignore"):
        data = to_bytes(summarise(CELL, 0, 5, {"x": overflown, "y": np.full(5, np.inf)}, {}))
    assert decoded(data, 5).observables["y"].nonfinite == 5


@pytest.mark.parametrize("what", FORGED)
def test_what_no_simulation_can_have_written_is_refused(what):
    with pytest.raises(ValueError, match=r"."):
        decoded(forged(FORGED[what]), TRIALS)


def test_without_a_number_of_trials_to_compare_with_the_counts_have_to_agree():
    for what in ("fewer trials", "more trials", "no trials"):
        with pytest.raises(ValueError, match=r"."):
            decoded(forged(FORGED[what]))


def bomb(bins, size):
    """Half a megabyte that unpacks to a thousand times as much."""
    about = {"x": {"atoms": False, "bins": bins, "exceed": {}, "nonfinite": 0}}
    text = json.dumps({"cell": CELL, "chunks": [0], "trials": TRIALS, "events": {}, "observables": about}).encode()
    return len(text).to_bytes(4, "little") + text + zlib.compress(bytes(size), 9)


@pytest.mark.parametrize("bins", [1, 100, 1 << 25, 1 << 70])
def test_a_small_record_never_unpacks_to_a_large_one(bins):
    data = bomb(bins, 1 << 29)
    assert len(data) < 600_000
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="bytes of arrays"):
            decoded(data, TRIALS)
        assert tracemalloc.get_traced_memory()[1] < 10 * len(data)
    finally:
        tracemalloc.stop()


NOISE = [b"", b"x", b"\x02\0\0\0[]", b"\x02\0\0\0{}", b"\xff\xff\xff\xff", b"\x01\0\0\0\xff", b"\x04\0\0\0null"]


@pytest.mark.parametrize("data", [*NOISE, (100_000).to_bytes(4, "little") + b"[" * 100_000])
def test_what_is_no_summary_at_all_is_a_value_error(data):
    with pytest.raises(ValueError, match=r"."):
        decoded(data)


def one_by_one(data):
    """The entry of a record, by way of its whole summary; None for what is refused."""
    try:
        summary = decoded(data, TRIALS)
    except ValueError:
        return None
    return summary.cell, summary.chunks[0], shape(summary)


@pytest.mark.parametrize(("together", "most"), [(1, 1 << 20), (3, 1 << 20), (1000, 1 << 20), (1000, 1)])
def test_records_that_are_checked_together_are_judged_one_by_one(together, most, monkeypatch):
    """Right ones of three lengths between forged ones, some of them without a finite trial or without arrays."""
    monkeypatch.setattr(decoding, "TOGETHER", together)
    monkeypatch.setattr(decoding, "MOST_TOGETHER", most)
    infinite = to_bytes(summarise(CELL, 7, TRIALS, {"x": np.full(TRIALS, np.inf), "y": np.zeros(TRIALS)}, {}))
    events = to_bytes(summarise(CELL, 8, TRIALS, {"e": np.ones(TRIALS, dtype=bool)}, {}))
    tiny = np.random.default_rng(9).uniform(1e-100, 1e-99, TRIALS)  # twice its keys are too large for any
    several = to_bytes(summarise(CELL, 9, TRIALS, {"x": tiny, "y": 2 * tiny}, {}))
    right = [record(0), infinite, several, record(5, "y", "two"), events]
    records = [
        data for i, what in enumerate(FORGED) for data in (right[i % 5], forged(FORGED[what]), *NOISE[i : i + 1])
    ]
    records = [*right, *records, events]
    found = list(entries(enumerate(records), TRIALS))
    assert [place for place, _ in found] == list(range(len(records)))
    assert [entry for _, entry in found] == [one_by_one(data) for data in records]
    assert sum(entry is not None for _, entry in found) == len(right) + len(FORGED) + 1
    assert list(entries(enumerate(right), TRIALS + 1)) == [(i, None) for i in range(5)]
    assert list(entries([], TRIALS)) == []


def test_a_record_without_a_word_on_atoms_is_refused_beside_others():
    header, *arrays = taken_apart(record())
    del header["observables"]["x"]["atoms"]
    without = put_together(header, *arrays)
    found = entries(enumerate([record(), without, record(1)]), TRIALS)
    assert [entry is None for _, entry in found] == [False, True, False]
    with pytest.raises(ValueError, match="no summary: KeyError: 'atoms'"):
        decoding.decoded(without)


def dice(change):
    """A record of rolls of a die and of a constant 0, in which change(header, atoms) has altered something."""
    x = 0.1 * np.random.default_rng(4).integers(1, 7, TRIALS)
    data = to_bytes(summarise(CELL, 0, TRIALS, {"x": x, "y": np.zeros(TRIALS)}, {}))
    size = 4 + int.from_bytes(data[:4], "little")
    about, body = json.loads(data[4:size]), bytearray(zlib.decompress(data[size:]))
    at = 12 * 6 + 40
    atoms = np.frombuffer(body, "<i8", 6, at), np.frombuffer(body, "<i8", 1, at + 48 + 12 + 40)
    change(about, *(part for part in atoms))
    return put_together(about, np.frombuffer(body, np.uint8))


ATOMS = {
    "an answer in words": lambda about, *_: about["observables"]["x"].__setitem__("atoms", "yes"),
    "one is no answer": lambda about, *_: about["observables"]["x"].__setitem__("atoms", 1),
    "no atoms where there are": lambda about, *_: about["observables"]["x"].__setitem__("atoms", False),
    "an atom beyond its bin": lambda _, x, y: x.__setitem__(2, 1 << 43),
    "an atom before its bin": lambda _, x, y: x.__setitem__(2, -2),
    "an atom above the largest": lambda _, x, y: x.__setitem__(5, x[5] + 1),
    "an atom below the smallest": lambda _, x, y: x.__setitem__(0, x[0] - 1),
    "a zero that is none": lambda _, x, y: y.__setitem__(0, 1),
}


def test_a_record_with_atoms_is_taken():
    found = decoded(dice(lambda *_: None), TRIALS)
    np.testing.assert_array_equal(values_at(found.observables["x"].keys, found.observables["x"].atoms), 0.1 * ROLLS)


@pytest.mark.parametrize("what", ATOMS)
def test_atoms_that_no_simulation_can_have_written_are_refused(what):
    data = dice(ATOMS[what])
    with pytest.raises(ValueError, match=r"."):
        decoded(data, TRIALS)
    assert list(entries([(0, data)], TRIALS)) == [(0, None)]


def write(folder, *payloads):
    with journal.Writer(folder / "journal") as writer:
        for payload in payloads:
            writer.append(payload)
    return writer.path.name


@pytest.fixture
def run(tmp_path):
    """A run with chunk 1."""
    with Run(tmp_path / "r", IDENTITY).writer({}) as writer:
        writer.append(CELL, 1, record(1))
    return tmp_path / "r"


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_record_counts_as_damaged_and_its_chunk_as_missing(run, what):
    name = write(run, b"C" + forged(FORGED[what]))
    found = Run(run, IDENTITY)
    assert found.damaged == {name: 1}
    assert found.done == [(CELL, 1)]


@pytest.mark.parametrize("trials", [TRIALS // 2, 2 * TRIALS])
def test_a_record_of_another_number_of_trials_counts_as_damaged(run, trials):
    """Right in itself, and not of this study."""
    assert decoded(record(trials=trials)).trials == trials
    name = write(run, b"C" + record(trials=trials))
    found = Run(run, IDENTITY)
    assert found.damaged == {name: 1}
    assert found.done == [(CELL, 1)]


def test_a_bomb_and_a_header_that_is_too_deep_count_as_damaged(run):
    deep = (100_000).to_bytes(4, "little") + b"[" * 100_000
    name = write(run, b"C" + bomb(1, 1 << 25), b"C" + deep)
    assert Run(run, IDENTITY).damaged == {name: 2}


def test_the_right_record_of_a_chunk_is_taken_wherever_the_forged_one_stands(run):
    write(run, b"C" + forged(FORGED["fewer trials"]), b"C" + record(), b"C" + forged(FORGED["a count too many"]))
    found = Run(run, IDENTITY)
    assert found.record(CELL, 0) == record()
    assert sum(found.damaged.values()) == 2


def test_of_two_right_records_of_a_chunk_the_first_counts(run):
    """What was published once is not changed by a record that comes later and could be right as well."""
    (segment,) = (run / "journal").iterdir()
    segment.rename(segment.with_name("0.seg"))  # read first
    parts = taken_apart(record(1))
    parts[3][1] += 1.0  # the sum of its trials
    write(run, b"C" + put_together(*parts))
    found = Run(run, IDENTITY)
    assert found.damaged == {}
    assert found.record(CELL, 1) == record(1)


STRANGE = {"observable": {"name": "y"}, "threshold": {"label": "two"}}


@pytest.mark.parametrize("what", STRANGE)
def test_a_record_that_cannot_be_merged_with_the_others_counts_as_damaged(run, what):
    other = record(0, **STRANGE[what])
    assert shape(decoded(other, TRIALS)) != shape(decoded(record(), TRIALS))
    (segment,) = (run / "journal").iterdir()
    segment.rename(segment.with_name("0.seg"))  # read first
    write(run, b"C" + other)
    found = Run(run, IDENTITY)
    assert sum(found.damaged.values()) == 1
    assert found.done == [(CELL, 1)]
    assert found.summary(CELL, [1]).trials == TRIALS


@pytest.mark.parametrize("what", STRANGE)
def test_a_new_chunk_that_does_not_fit_the_stored_ones_is_one_line(run, what):
    found = Run(run, IDENTITY)
    with found.writer({}) as writer:
        writer.append(CELL, 0, record())
        with pytest.raises(UserError, match="chunk 2 of cell aaaaaaaaaaaaaaaa has other observables or thresholds"):
            writer.append(CELL, 2, record(2, **STRANGE[what]))


PROBLEM = {"cell": CELL, "chunk": 0, "kind": "error", "message": "m", "where": "w"}


OTHER = [{"chunk": "0"}, {"chunk": [0]}, {"cell": 5}, {"kind": "x"}, {"message": None}, {"y": 1}]


@pytest.mark.parametrize("change", OTHER)
def test_a_problem_of_another_kind_counts_as_damaged(run, change):
    name = write(run, b"P" + json.dumps(PROBLEM).encode(), b"P" + json.dumps(PROBLEM | change).encode())
    found = Run(run, IDENTITY)
    assert found.damaged == {name: 1}
    assert len(found.problems) == 1


def test_a_merge_passes_over_what_is_forged_and_the_run_stays_as_it_was(tiny, tmp_path, monkeypatch):
    """Broken arrays, impossible counts, other observables: this run and every later one go on."""
    monkeypatch.setattr("tcdp_sim.cli.draw.main", lambda raw, console: None)
    words = ("sweep.noise=gaussian", "sweep.k=10", "trials=1500")
    for name in ("whole", "ours"):
        assert tiny(*words, f"name={name}", "trials=1500" if name == "whole" else "trials=500")[0] == 0
    ours, whole = tmp_path / "results" / "ours", tmp_path / "results" / "whole"
    cell = json.loads((whole / "certificate.json").read_text())["cells"]
    assert len(cell) == 1
    identity = json.loads((whole / "run.json").read_text())
    stored = Run(whole, identity)
    (id_, *_), records = zip(*stored.done), {key[1]: stored.record(*key) for key in stored.done}
    theirs = Run(tmp_path / "forged", identity)
    strange = np.ones(identity["chunk"])
    with theirs.writer({"code": dict(source.loaded())}) as writer:
        writer.append(id_[0], 1, records[1][:-20] + bytes(20))
        writer.append(id_[0], 1, to_bytes(summarise(id_[0], 1, identity["chunk"], {"strange": strange}, {})))
        size = 4 + int.from_bytes(records[2][:4], "little")
        about = json.loads(records[2][4:size]) | {"trials": 5}
        text = json.dumps(about).encode()
        writer.append(id_[0], 2, len(text).to_bytes(4, "little") + text + records[2][size:])
    shutil.copy(whole / "provenance.json", tmp_path / "forged")
    code, out, err = tiny(*words, "name=ours", "merge", tmp_path / "forged")
    assert code == 0, err
    assert "2 damaged stretches" in out
    assert "0 chunks added" in out
    assert "1 do not fit" in out
    assert "nothing to simulate" in tiny(*words, "name=ours")[1]
    one, other = ((folder / "results.zarr").resolve() for folder in (ours, whole))
    assert one.name == other.name
