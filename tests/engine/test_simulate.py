"""Streams: a function of (seed, cell, chunk) and of nothing else."""

import hashlib
import itertools

import numpy as np

from tcdp_sim.core import streams
from tcdp_sim.data import load_counts
from tcdp_sim.engine import simulate
from tcdp_sim.mechanisms import Histogram
from tcdp_sim.study.cells import cell_id
from tcdp_sim.summaries.encoding import from_bytes

COUNTS = load_counts({"kind": "shape", "name": "one_bin", "shape": "one_bin", "n": 100}, 1e6)
POINT = {"noise": {"family": "gaussian", "calibration": "paper"}, "rho": 0.1, "k": 1e6}
LAW = Histogram.law(POINT, {"beta": 0.05, "sampling": "order_statistics"}, COUNTS)
CELL = cell_id(LAW)


def first(seed, cell, chunk):
    return streams.generator(seed, cell, chunk).integers(2**63)


def test_streams_differ_in_every_part_of_the_key():
    cells = [hashlib.sha256(bytes([i])).hexdigest() for i in range(5)]
    chunks = (0, 1, 255, 256, 65_535, 65_536, 65_537, 2**31, 2**32, 2**40, 2**40 + 65_536)
    keys = itertools.product((0, 1, 42, 2**64, 2**127), cells, chunks)
    assert len({first(*key) for key in keys}) == 5 * 5 * 11


def test_the_stream_is_the_documented_one():
    """Independent construction: SFC64 over a SeedSequence with fixed-width 32-bit words."""
    words = [int.from_bytes(bytes.fromhex(CELL)[4 * i : 4 * i + 4], "big") for i in range(4)]
    for low, high in ((3, 0), (0, 0), (65_536, 0), (2**32 - 1, 0), (65_539, 5)):
        sequence = np.random.SeedSequence(7, spawn_key=(*words, low, high, 0))
        expected = np.random.Generator(np.random.SFC64(sequence)).standard_normal(5)
        found = streams.generator(7, CELL, low + high * 2**32).standard_normal(5)
        np.testing.assert_array_equal(found, expected)


def test_golden_stream():
    """numpy promises nothing about its streams: if this fails, stored results and new ones do not mix."""
    draws = streams.generator(2018, "0" * 64, 0).standard_normal(1000)
    assert hashlib.sha256(draws.tobytes()).hexdigest()[:16] == "081591552e4f3351"


def run(*chunks, seed=1):
    batch = simulate.Batch(CELL, LAW, COUNTS.counts, chunks)
    return {record.chunk: record.summary for record in simulate.run(simulate.Task(seed, 200, (batch,))).records}


def test_a_chunk_is_the_same_bytes_alone_and_in_any_company():
    together = run(0, 1, 2, 3)
    assert run(2, 0) == {chunk: together[chunk] for chunk in (2, 0)}
    assert all(run(chunk)[chunk] == together[chunk] for chunk in range(4))


def test_seed_and_chunk_change_the_numbers():
    assert run(0, seed=1)[0] != run(0, seed=2)[0]
    one, other = (from_bytes(run(chunk)[chunk]).observables["linf_error"].moments for chunk in (0, 1))
    assert (one[:, 1:] != other[:, 1:]).all()


def test_the_summary_names_its_cell_chunk_and_trials():
    summary = from_bytes(run(5)[5])
    assert (summary.cell, summary.chunks, summary.trials) == (CELL, (5,), 200)


def test_fingerprint_is_steady_and_sensitive(monkeypatch):
    before = streams.fingerprint()
    streams.fingerprint.cache_clear()
    assert streams.fingerprint() == before
    monkeypatch.setattr(np, "arcsinh", lambda x: np.nextafter(np.log(x + np.sqrt(x * x + 1)), 9))
    streams.fingerprint.cache_clear()
    assert streams.fingerprint() != before
    monkeypatch.undo()
    streams.fingerprint.cache_clear()


def test_errors_are_data_with_cell_chunk_and_traceback():
    batch = simulate.Batch(CELL, LAW | {"bins": 0.5}, COUNTS.counts, (3, 4))
    records = simulate.run(simulate.Task(1, 10, (batch,))).records
    assert [(record.chunk, record.summary) for record in records] == [(3, None), (4, None)]
    (problem,) = records[0].problems
    assert (problem.cell, problem.chunk, problem.kind) == (CELL, 3, "error")
    assert problem.message.startswith("ArgumentError: k = ")
    assert problem.where.startswith("Traceback (most recent call last)")
    assert "histogram.py" in problem.where


def test_numpy_warnings_are_data_and_change_no_number(monkeypatch):
    before = run(0, 1)
    real = Histogram.simulate

    def noisy(self, rng, trials):
        for _ in range(3):
            np.log(np.zeros(1))
        return real(self, rng, trials)

    monkeypatch.setattr(Histogram, "simulate", noisy)
    batch = simulate.Batch(CELL, LAW, COUNTS.counts, (0, 1))
    records = simulate.run(simulate.Task(1, 200, (batch,))).records
    assert {record.chunk: record.summary for record in records} == before
    for record in records:
        (problem,) = record.problems  # once, not three times
        assert (problem.kind, problem.chunk) == ("warning", record.chunk)
        assert problem.message == "RuntimeWarning: divide by zero encountered in log"
        assert "test_simulate.py, line " in problem.where


def test_a_shared_stream_takes_the_place_of_the_id():
    stream = hashlib.sha256(b"shared").hexdigest()
    shared = simulate.Batch(CELL, LAW | {"stream": stream}, COUNTS.counts, (2,))
    own = simulate.Batch(stream, LAW, COUNTS.counts, (2,))
    a, b = (from_bytes(simulate.run(simulate.Task(1, 200, (batch,))).records[0].summary) for batch in (shared, own))
    np.testing.assert_array_equal(a.observables["linf_error"].moments, b.observables["linf_error"].moments)
    assert a.batches.keys() == a.observables.keys() | a.events.keys()
    assert not b.batches
