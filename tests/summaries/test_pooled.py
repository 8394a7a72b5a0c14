"""Many records of a cell are added at once, with the bits of adding them one after the other."""

import numpy as np
import pytest

from tcdp_sim.summaries import encoding
from tcdp_sim.summaries.encoding import from_bytes, pooled, to_bytes
from tcdp_sim.summaries.summary import merged, summarise

CELL = "ab" * 32
THRESHOLDS = {"a": {"one": 1.0, "two": 2.0}}
KINDS = {
    "usual": lambda rng: rng.exponential(size=40),
    "both signs": lambda rng: rng.normal(size=40) * 10.0 ** rng.integers(-30, 30, 40),
    "zeros": lambda rng: rng.integers(-1, 2, 40).astype(float),
    "tenths": lambda rng: rng.choice([0.1, 0.2, 0.7, 512.5, 512.6], 40),
    "tenths and others": lambda rng: np.append(rng.choice([0.1, 7.7], 20), rng.normal(size=20)),
    "infinite": lambda rng: rng.choice([np.inf, -np.inf, np.nan, 1.0, 2.0], 40),
    "none finite": lambda rng: np.full(40, np.nan),
    "huge": lambda rng: rng.choice([1e308, -1e308, 5e-324], 40),
}


def records(kind, count, shared=True):
    rng = np.random.default_rng(5)
    for chunk in rng.permutation(count).tolist():
        draws = {"a": KINDS[kind](rng), "b": rng.normal(size=40), "yes": rng.random(40) < 0.3}
        yield to_bytes(summarise(CELL, chunk, 40, draws, THRESHOLDS, shared=shared))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [2, 255, 256, 600])
def test_it_has_the_bits_of_merging(kind, count):
    found, expected = pooled(records(kind, count)), merged(map(from_bytes, records(kind, count)))
    assert to_bytes(found) == to_bytes(expected)
    for name, one in expected.observables.items():
        other = found.observables[name]
        assert (other.keys.dtype, other.counts.dtype) == (one.keys.dtype, one.counts.dtype)


def test_groups_are_closed_by_their_bytes(monkeypatch):
    expected = to_bytes(merged(map(from_bytes, records("both signs", 30))))
    monkeypatch.setattr(encoding, "MOST_TOGETHER", 1000)
    assert to_bytes(pooled(records("both signs", 30))) == expected
