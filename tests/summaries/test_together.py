"""Summaries of many small chunks computed together have the bytes of each alone."""

import warnings

import numpy as np
import pytest

from tcdp_sim.core.streams import generator, generators
from tcdp_sim.engine.gathered import Gathered, caught, joined
from tcdp_sim.summaries.encoding import from_bytes, parts_of, to_bytes
from tcdp_sim.summaries.estimates import relative_mcse
from tcdp_sim.summaries.many_summaries import encoded, together
from tcdp_sim.summaries.problems import ERROR, WARNING, Problem
from tcdp_sim.summaries.summary import summarise

TINY = [5e-324, -1e-300, 0.0, -0.0]


def laws(trials):
    """Return trials of many cells: usual, rounded, widely spread, equal, tiny, and huge ones."""
    rng = generator(1, "ab" * 32, trials)
    normal = rng.standard_normal((12, trials))
    tiny = rng.choice(TINY, (12, trials))
    parts = (normal, np.round(normal * 2), np.exp(normal * 10), -np.exp(normal * 3), 0 * normal + 0.1, tiny, 0 * normal)
    tenths = np.round(normal * 40) / 10
    parts += (tenths, np.where(normal > 0, normal, tenths), np.round(normal * 4000), np.where(normal > 0, tenths, tiny))
    return np.concatenate(parts)


def places_of(count):
    return [(f"{i:064x}", i * 10**9) for i in range(count)]


def alone(places, numbers, hits):
    """Return encodings and relative standard errors from one summary after the other."""
    for i, (cell, chunk) in enumerate(places):
        values = {name: x[i] for name, x in numbers.items()} | {name: x[i] for name, x in hits.items()}
        summary = summarise(cell, chunk, len(next(iter(values.values()))), values, {})
        yield to_bytes(summary), relative_mcse(summary)[0]


@pytest.mark.parametrize("trials", [1, 2, 3, 8, 9, 127, 129, 512])
def test_the_bytes_and_errors_are_those_of_each_chunk_alone(trials):
    x = laws(trials)
    numbers = {"z%d": x, 'a "name"': x[::-1].copy(), "ünit": np.abs(x)}
    hits = {"up": x > 0, "all": x == x}
    places = places_of(len(x))
    found = list(encoded(places, numbers, {name: each.sum(axis=1) for name, each in hits.items()}, trials))
    for (bytes_found, error), (bytes_alone, error_alone) in zip(found, alone(places, numbers, hits), strict=True):
        assert bytes_found == bytes_alone
        np.testing.assert_array_equal(error, error_alone)


def test_events_alone_have_no_arrays():
    hits = {"up": np.array([[True, False], [False, False]])}
    found = list(encoded(places_of(2), {}, {"up": np.array([1, 0])}, 2))
    assert [each[0] for each in found] == [each[0] for each in alone(places_of(2), {}, hits)]
    assert all(np.isnan(each[1]) for each in found)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_odd_chunks_are_left_out_and_do_not_disturb_the_others(odd):
    x = laws(5)
    x[3, 2] = odd
    found = list(encoded(places_of(len(x)), {"x": x, "y": np.abs(laws(5))}, {}, 5))
    assert found[3] is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        right = [each[0] for each in alone(places_of(len(x)), {"x": x, "y": np.abs(laws(5))}, {})]
    assert [each[0] for each in found if each] == right[:3] + right[4:]


def gathered(rows, trials=4):
    """Return what a Gathered yields for rows of trials."""
    small = Gathered(trials)
    for place, (cell, chunk) in enumerate(places_of(len(rows))):
        assert small.takes({"x": rows[place]})
        small.add(place, cell, chunk, {"x": rows[place]})
    return list(small.summaries())


def test_gathered_chunks_keep_their_trials_although_their_array_is_used_again():
    x = laws(4)
    buffer, small = np.empty(4), Gathered(4)
    for place, (cell, chunk) in enumerate(places_of(len(x))):
        buffer[:] = x[place]
        small.add(place, cell, chunk, {"x": buffer})
    found = [summary for _, summary, _, _ in small.summaries()]
    assert found == [each[0] for each in alone(places_of(len(x)), {"x": x}, {})]
    assert not list(small.summaries())  # they are forgotten


def test_an_odd_chunk_has_its_own_summary_and_huge_numbers_warn_of_nothing():
    x = laws(4)
    x[1, 0] = 1e200  # its square would overflow
    x[2, 0] = np.inf
    found = gathered(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [each[1] for each in found] == [each[0] for each in alone(places_of(len(x)), {"x": x}, {})]
    assert not any(problems for _, _, problems, _ in found)


@pytest.mark.parametrize(
    "values",
    [
        {"x": np.zeros(4, np.float32)},
        {"x": np.zeros(4, ">f8")},
        {"x": np.zeros(4, int)},
        {"x": np.zeros((4, 1))},
        {"x": np.ma.zeros(4)},
        {"x": np.zeros(4, bool)},
        {"y": np.zeros(4)},
        {"x": np.zeros(4), "y": np.zeros(4)},
    ],
)
def test_only_plain_arrays_with_the_names_of_the_first_are_gathered(values):
    small = Gathered(4)
    small.add(0, "0" * 64, 0, {"x": np.zeros(4)})
    assert small.takes({"x": np.ones(4)})
    assert not small.takes(values)


def test_large_chunks_are_not_gathered_and_small_ones_not_without_end():
    assert not Gathered(513).takes({"x": np.zeros(513)})
    small = Gathered(512)
    for place in range(512):
        assert not small.full
        small.add(place, "0" * 64, place, {"x": np.zeros(512)})
    assert small.full


def test_streams_of_different_chunks_made_together_are_the_streams_made_one_by_one():
    keys = [(f"{i % 7:064x}"[::-1], chunk) for i, chunk in enumerate([0, 1, 2**32 - 1, 2**32, 2**40 + 3, 5, 0])]
    for seed in (0, 2**128 - 1):
        made = generators(seed, [stream for stream, _ in keys], [chunk for _, chunk in keys])
        for (stream, chunk), rng in zip(keys, made, strict=True):
            assert rng.random(3).tolist() == generator(seed, stream, chunk).random(3).tolist()


def test_work_on_a_chunk_may_change_the_filters_of_warnings_for_itself_alone():
    def careless():
        warnings.simplefilter("ignore")
        warnings.warn("unheard", stacklevel=1)

    def loud():
        warnings.warn("heard", stacklevel=1)

    assert caught("c", 0, careless) == (None, ())
    assert [one.message for one in caught("c", 1, loud)[1]] == ["UserWarning: heard"]


def test_problems_are_joined_once_each_with_errors_first():
    warned, again, error = (
        Problem("c", 0, kind, text, "here") for kind, text in ((WARNING, "a"), (WARNING, "b"), (ERROR, "e"))
    )
    assert joined((warned,), (error, warned, again)) == (error, warned, again)
    assert joined((warned,), ()) == (warned,)


def records(x, names=("x",), **more):
    """Return encoded summaries of one chunk each, with the rows of `x` under some names and an event."""
    values = [{name: row * (i + 1) for i, name in enumerate(names)} | {"up": row > 0} for row in x]
    places = zip(places_of(len(x)), values)
    return [to_bytes(summarise(cell, chunk, x.shape[1], each, **more)) for (cell, chunk), each in places]


NAMES = (("x", "y"), ("up",))


def read(encodings, names=NAMES):
    return together([parts_of(one) for one in encodings], names)


@pytest.mark.parametrize("trials", [1, 2, 9, 700])
def test_records_read_together_are_those_read_one_by_one(trials):
    rng = generator(3, "ab" * 32, trials)
    x = np.concatenate(
        [
            rng.standard_normal((20, trials)),
            np.zeros((3, trials)),
            np.exp(rng.normal(0, 9, (9, trials))),
            0.1 * rng.integers(-3, 99, (9, trials)),
        ]
    )
    encodings = records(x, ("y", "x"), thresholds={})
    found, alone = read(encodings), [from_bytes(one) for one in encodings]
    assert found.trials == trials
    assert found.hits["up"].tolist() == [one.events["up"] for one in alone]
    for name in ("x", "y"):
        of_name = [one.observables[name] for one in alone]
        np.testing.assert_array_equal(found.sums[name], np.concatenate([one.moments for one in of_name]))
        keys, counts, atoms, bins = found.bins[name]
        assert [each.dtype for each in found.bins[name]] == [np.int32, np.int64, np.int64, np.int64]
        np.testing.assert_array_equal(keys, np.concatenate([one.keys for one in of_name]))
        np.testing.assert_array_equal(counts, np.concatenate([one.counts for one in of_name]))
        np.testing.assert_array_equal(atoms, np.concatenate([one.atoms for one in of_name]))
        assert bins.tolist() == [len(one.keys) for one in of_name]


def test_records_that_differ_in_kind_are_read_alone():
    x = generator(4, "ab" * 32, 0).standard_normal((4, 6))
    usual = records(x, ("x", "y"), thresholds={})
    assert read(usual) is not None
    assert read(usual, (("x",), ("up",))) is None
    assert read(usual, (("x", "y"), ())) is None
    for odd in (np.nan, np.inf, 1e-300):
        changed = x.copy()
        changed[2, 1] = odd
        assert read(records(changed, ("x", "y"), thresholds={})) is None
    assert read([*usual[:3], *records(x[:, :5].copy(), ("x", "y"), thresholds={})[3:]]) is None  # other trials
    assert read([*usual[:3], *records(x, ("x", "z"), thresholds={})[3:]]) is None
    assert read([*usual[:3], *records(x, ("x", "y"), thresholds={"x": {"one": 1.0}})[3:]]) is None
    assert read([*usual[:3], *records(x, ("x", "y"), thresholds={}, shared=True)[3:]]) is None
