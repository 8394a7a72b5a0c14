"""Trials that are all equal: their standard error is 0, and what is rarer than one in so many is not known."""

import warnings

import numpy as np
import pandas as pd
import pytest

import tcdp_sim
from tcdp_sim.mechanisms.base import Observable
from tcdp_sim.statistics import contradictions
from tcdp_sim.statistics.intervals import SHARE, simulated_mean
from tcdp_sim.statistics.one_sample import LEAST_P, unseen_p_values
from tcdp_sim.store.table import _moment_row
from tcdp_sim.summaries.estimates import ends_of_equal_trials
from tcdp_sim.summaries.summary import summarise

UNIT = (0.0, 1.0)


@pytest.mark.parametrize("chance", [0.05, 1e-3, SHARE])
@pytest.mark.parametrize("trials", [2, 3, 10, 100, 10**6])
def test_they_miss_the_mean_of_a_coin_no_more_often_than_stated(trials, chance):
    """All tails has the chance (1 - p)^n, all heads p^n: exact, so that nothing is simulated."""
    p = np.concatenate([np.geomspace(1e-12, 0.5, 400), 1 - np.geomspace(1e-12, 0.5, 400)])
    tails, heads = ends_of_equal_trials(0.0, trials, *UNIT, chance), ends_of_equal_trials(1.0, trials, *UNIT, chance)
    with np.errstate(under="ignore"):
        missed = (p > tails[1]) * (1 - p) ** trials + (p < heads[0]) * p**trials
    assert missed.max() <= chance
    assert tails[0] == 0
    assert heads[1] == 1
    if trials >= 100:
        assert missed.max() > 0.2 * chance  # and they are no wider than that takes


@pytest.mark.parametrize("values", [2, 3, 50])
def test_they_do_not_rely_on_a_value_named_beforehand(values):
    """A law of many values with equal chances: all trials equal one of them values^(1 - n) of the time."""
    for trials in range(2, 12):
        missed = 0.0
        for value in range(values):
            low, high = ends_of_equal_trials(float(value), trials, 0.0, values - 1.0, 0.05)
            missed += (not low <= (values - 1) / 2 <= high) * values ** (-float(trials))
        assert missed <= 0.05


def test_a_mean_of_equal_trials_claims_nothing_without_bounds():
    side = simulated_mean(3.0, 0.0, 100, 0.0)
    assert (side.lower, side.estimate, side.upper) == (-np.inf, 3.0, np.inf)
    rounded = simulated_mean(0.1, 1e-17, 100, 0.0)  # the sum of a hundred tenths, rounded
    assert rounded.upper == np.inf
    half = simulated_mean(0.0, 0.0, 100, 0.0, 0.05, (0.0, np.inf))
    assert half.lower == 0
    assert half.upper == np.inf


def test_95_percent_intervals_of_rare_coins_hold_95_percent_of_the_time():
    """2000 samples of 200 coins of .01: no heads 13% of the time. Missed 5% on average at most; 141 has 1e-4 at 5%."""
    rng = np.random.default_rng(8)
    missed = 0
    for _ in range(2000):
        x = (rng.random(200) < 0.01).astype(float)
        off = x - x.mean()
        skewness = (off**3).mean() / max((off**2).mean(), 1e-9) ** 1.5
        side = simulated_mean(x.mean(), x.std(ddof=1) / np.sqrt(200), 200, skewness, 0.05, UNIT)
        missed += not side.lower <= 0.01 <= side.upper
    assert missed <= 141


@pytest.mark.parametrize("ends", [{}, {"x_lower": np.nan, "x_upper": np.nan}, "own"])
def test_means_of_rare_coins_contradict_nothing(ends):
    """150 honest tables of 1000 means each; Benjamini and Hochberg at 1% raise 1.5 alarms, 7 or more once in 1000."""
    rng = np.random.default_rng(9)
    alarms = 0
    for _ in range(150):
        hits = rng.binomial(300, 0.01, 1000)
        share = hits / 300
        mcse = np.sqrt(share * (1 - share) / 299)
        table = pd.DataFrame({"x": share, "x_mcse": mcse, "x_exact": 0.01, "trials": 300})
        table["x_skewness"] = np.where(mcse > 0, (1 - 2 * share) / np.sqrt(np.maximum(share * (1 - share), 1e-9)), 0)
        if ends == "own":
            table = table.assign(x_lower=share - 2 * mcse, x_upper=share + 2 * mcse)
        alarms += len(contradictions.find(table.assign(**(ends if isinstance(ends, dict) else {})))) > 0
    assert alarms <= 6


def test_bounded_values_that_are_all_equal_are_still_compared():
    low, high = ends_of_equal_trials(0.0, 10**6, *UNIT)
    table = pd.DataFrame({"x": [0.0], "x_mcse": [0.0], "x_exact": [0.5], "x_lower": low, "x_upper": high})
    assert len(contradictions.find(table)) == 1
    assert len(contradictions.find(table.assign(x_exact=1e-7))) == 0
    assert len(contradictions.find(table.assign(x_exact=-0.1))) == 1  # beyond the range itself


def distribution(trials):
    return summarise("cell", 0, len(trials), {"x": trials}, {}).observables["x"]


def test_the_published_ends_of_a_mean():
    equal = distribution(np.full(1000, 0.1))
    bounded, unbounded = Observable("1", "a share", 0, 1), Observable("1", "a number")
    _, mcse, low, high, *_ = _moment_row(equal, bounded)
    assert mcse < 1e-15
    assert (low, high) == pytest.approx(ends_of_equal_trials(0.1, 1000, 0, 1))
    assert low < 0.1 < high
    assert np.isnan(_moment_row(equal, unbounded)[2:4]).all()
    mean, mcse, low, high, *_ = _moment_row(distribution(np.arange(10.0)), bounded)
    assert (high - mean, mean - low) == pytest.approx((1.959963984540054 * mcse,) * 2)


def test_p_values_of_unseen_values_hold_for_every_coin():
    """P[all tails] and P[all heads] are exact; the p-value is at most a with a probability of at most a."""
    p = np.concatenate([np.geomspace(1e-9, 0.5, 300), 1 - np.geomspace(1e-9, 0.5, 300)])
    for trials in (2, 3, 10, 1000, 10**6):
        found = np.array([unseen_p_values(side, trials, p, 0, 1) for side in (0.0, 1.0)])
        with np.errstate(under="ignore"):
            chance = np.array([(1 - p) ** trials, p**trials])
        for level in (0.5, 0.01, 1e-6):
            assert (np.where(found <= level, chance, 0).sum(axis=0) <= level).all()
        if trials == 1000:  # and they are no larger than that takes
            assert unseen_p_values(0.0, trials, 0.02, 0, 1) < 2e-9


@pytest.mark.parametrize(("value", "far"), [(0.0, 50.0), (2.0, 4.0), (-3.0, -6e4), (5e-7, 1e-6), (0.0, 1.0)])
def test_p_values_of_unseen_values_hold_for_a_rare_value_in_the_range(value, far):
    for chance in (1e-5, 1e-3, 0.1):
        exact = value + chance * (far - value)
        for trials in (10, 1000, 10**5):
            with np.errstate(under="ignore"):
                never = (1 - chance) ** trials
            assert unseen_p_values(value, trials, exact, min(value, far), max(value, far)) >= min(never, 1)
            assert np.isnan(unseen_p_values(value, trials, exact))


def test_p_values_of_unseen_values_at_the_ends():
    assert unseen_p_values(2.0, 1000, 2.0) == 1
    assert unseen_p_values(0.1 + 0.2, 1000, 0.3) == 1
    assert unseen_p_values(2.0, 1000, -2.0, 0, 5) == LEAST_P  # outside of the range
    assert np.isnan(unseen_p_values(2.0, 1000, 1.0, -np.inf, 5))
    assert unseen_p_values(np.nan, 0, 2.0) == LEAST_P
    assert np.isnan(unseen_p_values(2.0, 1, 3.0, 0, 5))
    assert np.isnan(unseen_p_values(2.0, 10, [np.nan, np.inf], 0, 5)).all()


def alarms_of(function, exact, seeds=40, **more):
    """How many of so many seeds raise the alarm."""

    def raised(seed):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tcdp_sim.sweep(function, {"n": 1}, exact={"value": exact}, seed=seed, **more)
        return any(issubclass(one.category, tcdp_sim.Contradiction) for one in caught)

    return sum(raised(seed) for seed in range(seeds))


@pytest.mark.parametrize(("usual", "rare", "chance"), [(0.0, 50.0, 0.02), (3.0, -1e6, 0.01), (-0.5, 80.0, 0.05)])
@pytest.mark.parametrize("bound", [{}, {"bound": {"value": -1e9}}])
def test_a_right_mean_is_not_contradicted_by_trials_that_miss_a_rare_value(usual, rare, chance, bound):
    """Of 100 trials none shows it with probability 0.13, 0.37 and 0.006: without a range there is no alarm then.

    Where some trials show it, one of 100 right values raises the alarm: 3 or more of 40 with probability 0.007.
    """

    def drawn(rng, trials, n):
        return np.where(rng.random(trials) < chance, rare, usual)

    exact = usual + chance * (rare - usual)
    assert alarms_of(drawn, exact, trials=100) <= 2
    assert alarms_of(drawn, exact, trials=100, ranges={"value": sorted((usual, rare))}) <= 2
    if bound and usual > rare:
        assert alarms_of(drawn, exact, trials=100, bound={"value": exact}) <= 2


def test_means_of_equal_trials_are_judged_by_their_range_and_told_without_one(capsys):
    def drawn(rng, trials, n):
        return 0.0 * rng.random(trials)

    assert alarms_of(drawn, 0.01, 1, trials=10_000) == 0
    assert "1 means differ" in " ".join(capsys.readouterr().err.split())
    assert alarms_of(drawn, 0.01, 1, trials=10_000, ranges={"value": (0, 1)}) == 1
    assert alarms_of(drawn, 0.0001, 1, trials=10_000, ranges={"value": (0, 1)}) == 0
    assert alarms_of(drawn, 0.01, 1, trials=10_000, ranges={"value": (0, 50)}) == 0
    assert alarms_of(drawn, -0.01, 1, trials=10_000, ranges={"value": (0, np.inf)}) == 1
    assert alarms_of(lambda rng, trials, n: np.zeros(trials) > 0, 0.01, 1, trials=10_000) == 1  # an event
    assert alarms_of(drawn, 0.0, 1, trials=10_000) == 0


def test_a_range_allows_for_rare_values_beside_noise():
    """Noise hides that the trials are equal: 10 of them are near 0, and 50 has probability 0.02."""

    def drawn(rng, trials, n):
        return np.where(rng.random(trials) < 0.02, 50.0, 0.1 * rng.random(trials))

    exact = 0.02 * 50 + 0.98 * 0.05
    assert alarms_of(drawn, exact, trials=10) > 20  # 82% of the samples miss it
    assert alarms_of(drawn, exact, trials=10, ranges={"value": (0, 50)}) == 0
    assert alarms_of(drawn, 1.2, 1, trials=100_000, ranges={"value": (0, 50)}) == 1


@pytest.mark.parametrize("value", [0.2, 0.5])
def test_the_interval_of_equal_trials_is_read_at_its_own_level(value):
    """Of a law on [0, 1] the equal trials have p-value (1 - q)^(n - 1), which is 0.05^m at m halves of the interval."""
    low, high = ends_of_equal_trials(value, 1000, *UNIT)
    for end in (low, high):
        for times in (1.5, 3.0, 6.0):
            exact = value + times * (end - value)
            table = pd.DataFrame({"x": [value], "x_mcse": 0.0, "x_exact": exact, "x_lower": low, "x_upper": high})
            assert len(contradictions.find(table)) == (0.05**times < 0.01)
            alarms = contradictions.find(table.assign(x_exact=value + 8 * (end - value)))
            assert alarms["p_value"].item() == pytest.approx(0.05**8, rel=1e-6)


def test_trials_outside_of_a_declared_range_are_an_error(tmp_path):
    def drawn(rng, trials, n):
        return rng.random(trials) * n

    for more in ({}, {"name": "kept", "results_dir": tmp_path}):
        with pytest.raises(tcdp_sim.UserError, match=r"^cell n=3: value: the trials .* is 0 to 2$"):
            tcdp_sim.sweep(drawn, {"n": [1, 3]}, trials=50, ranges={"value": (0, 2)}, **more)
    assert tcdp_sim.sweep(drawn, {"n": [1, 3]}, trials=50, ranges={"value": (0, 3)})["value"].shape == (2,)
