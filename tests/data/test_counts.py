import dataclasses
import hashlib
import struct

import numpy as np
import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.data import Counts, load_counts

SHAPE = {"name": "mine", "kind": "shape", "shape": "zipf", "n": 100, "exponent": 1.0}


def refused(spec, k=None):
    """The message with which a specification is refused, once it is known to be one line."""
    with pytest.raises(UserError) as caught:
        load_counts(spec, k)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_counts_are_sorted_frozen_and_a_copy():
    given = np.array([2, 9, 4])
    counts = Counts("a", given, 10, "here")
    given[0] = 77
    assert counts.counts.tolist() == [9, 4, 2]
    assert counts.counts.dtype == np.int64
    assert isinstance(counts.k, float)
    with pytest.raises(ValueError, match="read-only"):
        counts.counts[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        counts.k = 3.0


def test_digest_is_blake2b_of_little_endian_int64_and_of_nothing_else():
    expected = hashlib.blake2b(struct.pack("<3q", 9, 4, 2), digest_size=16).hexdigest()
    assert Counts("a", [2, 9, 4], 10, "here").digest == expected
    assert Counts("b", np.array([9, 4, 2], dtype=np.int32), 1e300, "there").digest == expected
    assert Counts("a", [2, 9, 5], 10, "here").digest != expected


def test_no_records_is_a_data_set():
    assert Counts("a", [], 5, "here").counts.tolist() == []


@pytest.mark.parametrize(
    ("counts", "bins", "message"),
    [
        ([3, 0], 5, "counts hold 0"),
        ([3, -2], 5, "counts hold -2"),
        ([1.5], 5, "integers"),
        ([[1]], 5, "2-d"),
        ([1, 1, 1], 2, "k = 2"),
        ([], 0, "k = 0"),
        ([1], float("nan"), "k = nan"),
        ([1], float("inf"), "k = inf"),
    ],
)
def test_impossible_counts_are_refused(counts, bins, message):
    with pytest.raises(ValueError, match=message):
        Counts("a", counts, bins, "here")


def test_a_shape_carries_its_name_bins_and_parameters():
    counts = load_counts({**SHAPE, "axes": {"k": [1, 2]}}, 1e300)
    assert (counts.name, counts.k) == ("mine", 1e300)
    assert counts.source == "shape zipf, n=100, exponent=1.0"
    assert load_counts(SHAPE, np.float64(31.6)).k == 31.6  # a sweep's axis holds numpy's reals


@pytest.mark.parametrize(
    ("change", "k", "words"),
    [
        ({"kind": "shapes"}, 10, ["mine", "kind", "'shapes'", "shape, sample, table"]),
        ({"kind": None}, 10, ["kind", "None"]),
        ({"shape": "zip"}, 10, ["shape = 'zip'", "uniform, zipf, one_heavy, one_bin"]),
        ({"exponents": 2}, 10, ["'exponents'", "name, kind, axes, shape, n, exponent"]),
        ({"path": "x.csv"}, 10, ["'path'"]),
        ({"exponent": None}, 10, ["exponent is not given"]),
        ({"n": "???"}, 10, ["n is not given"]),
        ({"n": 1.5}, 10, ["n = 1.5", "whole number", "1e+12"]),
        ({"n": -1}, 10, ["n = -1"]),
        ({"n": True}, 10, ["n = True"]),
        ({"n": "1000"}, 10, ["n = '1000'"]),
        ({"n": [10, 20]}, 10, ["n = [10, 20]"]),
        ({"n": 10**400}, 10, ["n = 1000", "1e+12"]),
        ({"exponent": -1}, 10, ["exponent = -1", "0 to 100"]),
        ({"exponent": float("nan")}, 10, ["exponent = nan"]),
        ({}, None, ["mine", "needs k"]),
        ({}, 0.5, ["k = 0.5", "1 to 1e+300"]),
        ({}, float("inf"), ["k = inf"]),
        ({}, "10", ["k = '10'"]),
        ({"n": 2 * 10**7, "exponent": 0}, 1e300, ["2e+07 bins", "10,000,000"]),
    ],
)
def test_a_wrong_shape_is_one_line(change, k, words):
    message = refused({**SHAPE, **change}, k)
    for word in words:
        assert word in message
