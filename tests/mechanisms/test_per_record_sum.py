"""Sums of skewed records as a mechanism: laws, errors by hand, and simulations beside closed forms.

Seeds are fixed; at a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8, and there are about
60 of them: one alarm in 400,000 changes of the stream.
"""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from tcdp_sim import calibration
from tcdp_sim.mechanisms import per_record_sum, record_axes
from tcdp_sim.mechanisms.per_record_sum import PerRecordSum
from tcdp_sim.noise import ExponentialPolylogarithmic, Gaussian, Laplace
from tcdp_sim.per_record import AdditiveRelease, ClippedRelease, Log, Root, TransformedRelease, UnitSplitRelease
from tcdp_sim.study import groups

TRIALS = 40_000
OPTIONS = {key: value for key, value in groups.named("mechanism", "per_record_sum").items() if key != "name"}
ANCHORS = {"accounting": "printed", "influence_low": "median", "value_low": 0.05}
ANCHORS |= {"influence_high": "max", "value_high": 5.0, "population": "breaches"}
RELEASES = [
    {"release": "gaussian"},
    {"release": "laplace"},
    {"release": "generalized_gaussian"},
    {"release": "exponential_polylogarithmic", "power": 2.0},
    {"release": "square_root", "offset": 0.0},
    {"release": "fourth_root"},
    {"release": "log"},
    {"release": "clipped", "clip": 1e6},
    {"release": "unit_splitting", "threshold": 1e3},
]
every = pytest.mark.parametrize("point", RELEASES, ids=lambda point: point["release"])


def rng(seed=6):
    return np.random.default_rng(seed)


def law(point, options=OPTIONS, **more):
    return PerRecordSum.law(ANCHORS | point | more, options, None)


def built(description):
    return PerRecordSum.build(json.loads(json.dumps(description)), np.zeros(0))


def agree(values, truth):
    assert abs(values.mean() - truth) <= 5.5 * values.std() / np.sqrt(len(values)) + 1e-9 * abs(truth)


# Laws


@every
@pytest.mark.parametrize("group_by", [None, "year"])
def test_law_and_build_are_inverse_and_plain(point, group_by):
    description = law(point, group_by=group_by)
    mechanism = built(description)
    assert sum(mechanism.true_sums) == 41181144
    assert len(mechanism.answers) == (7 if group_by else 1)
    assert mechanism.guarantee is None
    again = json.loads(json.dumps(description))
    assert record_axes.built_release(again["release"]) == mechanism.release


def test_only_the_release_and_the_sums_are_in_a_law():
    assert set(law(RELEASES[2])) == {"mechanism", "version", "release", "answers"}


def test_what_has_one_law_is_one_cell():
    """Anchors in words or numbers, the sum of all or its number, and the other spelling of no groups."""
    words = law(RELEASES[1])
    assert law(RELEASES[1], influence_high=4.9e6) == words
    assert law(RELEASES[1], population=None, influence_high=4.9e6, answer=41181144) == words
    assert law(RELEASES[1], group_by="none") == words
    assert law(RELEASES[1], value_low=0.01, influence_low=7.0) == words  # one anchor: Laplace noise has no shape
    assert law(RELEASES[1], value_high=4.0) != words


def test_a_worker_never_calibrates(monkeypatch):
    description = law(RELEASES[2])
    monkeypatch.setattr(calibration, "calibrate_records", None)
    assert built(description).release.noise.power == pytest.approx(0.3626, abs=1e-4)  # Finley's noise, worked out


def test_one_release_is_calibrated_once_for_all_groupings(monkeypatch):
    calls = []
    real = calibration.calibrate_records
    monkeypatch.setattr(calibration, "calibrate_records", lambda *a, **k: calls.append(a) or real(*a, **k))
    point = {"release": "generalized_gaussian", "value_high": 4.875}
    for group_by in (None, "state", "year"):
        law(point, group_by=group_by)
    assert len(calls) == 1


def test_clipped_sums_are_released_and_true_sums_are_the_measure():
    description = law({"release": "clipped", "clip": 1e6}, group_by="entity_type")
    mechanism = built(description)
    assert sum(description["truths"]) == 41181144
    assert 0 < sum(description["answers"]) < 41181144
    split = law({"release": "unit_splitting", "threshold": 1e3})
    assert split["answers"] == [41181144]
    assert "truths" not in split
    assert mechanism.true_sums == tuple(description["truths"])


def test_what_was_left_out_is_in_the_law(tmp_path):
    (tmp_path / "pay.csv").write_text("who,pay,site\na,1,x\na,2,x\nb,-5,x\nc,40,y\n")
    mine = {"path": str(tmp_path / "pay.csv"), "column": "pay", "id": "who", "outside": "drop"}
    options = {"populations": {"mine": mine}}
    point = {"release": "laplace", "population": "mine", "group_by": "site"}
    description = law(point, options)
    assert description["answers"] == [3.0, 40.0]
    assert (description["left_out"], description["persons"]) == ({"dropped": 1, "summed": 1}, 2)
    (tmp_path / "pay.csv").write_text("who,pay,site\na,1,x\nc,400000,y\n")  # another file is not the one before
    assert law(point, options)["answers"] == [1.0, 400000.0]


@pytest.mark.parametrize("populations", [None, 3, ["breaches"]])
def test_populations_that_are_none_are_one_line(populations):
    with pytest.raises(ValueError, match=r"mechanism\.populations = .*"):
        PerRecordSum.check_options({"populations": populations})
    with pytest.raises(ValueError, match=r"mechanism\.populations\.breaches = 3"):
        law({"release": "laplace"}, {"populations": {"breaches": 3}})


# Errors by hand


def stub(*rows, kurtosis=3.0):
    """A release whose trials are these."""
    return SimpleNamespace(sample=lambda rng, q, size: np.array(rows, float), kurtosis=lambda q: kurtosis)


def test_errors_of_one_sum_by_hand():
    draws = PerRecordSum(stub([109.0], [111.0], [-5.0], [90.0]), (100.0,)).simulate(None, 4)
    assert draws["error"].tolist() == [9, 11, -105, -10]
    assert draws["abs_error"].tolist() == [9, 11, 105, 10]
    assert draws["relative_error"].tolist() == [0.09, 0.11, 1.05, 0.1]
    assert draws["squared_error"].tolist() == [81, 121, 11025, 100]
    assert draws["negative"].tolist() == [False, False, True, False]
    assert draws["within_10_percent"].tolist() == [True, False, False, True]


def test_errors_of_groups_by_hand():
    rows = [109.0, 0.0, -1.0, 20.0], [100.0, 50.0, 10.0, 0.0]
    draws = PerRecordSum(stub(*rows), (100.0, 50.0, 10.0, 10.0)).simulate(None, 2)
    assert draws["median_relative_error"].tolist() == [1.0, 0.0]  # of .09 1 1.1 1, and of 0 0 0 1
    assert draws["share_within_10_percent"].tolist() == [0.25, 0.75]
    assert draws["share_negative"].tolist() == [0.25, 0.0]
    assert set(draws) == {"median_relative_error", "share_within_10_percent", "share_negative"}


def test_errors_are_against_the_true_sum():
    draws = PerRecordSum(stub([80.0]), (70.0,), (100.0,)).simulate(None, 1)
    assert (draws["error"], draws["relative_error"]) == ([-20], [0.2])


def test_negative_releases_become_zero_on_request():
    draws = PerRecordSum(stub([-7.0], [5.0]), (10.0,), nonnegative=True).simulate(None, 2)
    assert draws["error"].tolist() == [-10, -5]
    assert not draws["negative"].any()


def test_the_relative_error_of_nothing():
    draws = PerRecordSum(stub([0.0], [3.0]), (0.0,)).simulate(None, 2)
    assert draws["relative_error"].tolist() == [0, np.inf]
    assert draws["within_10_percent"].tolist() == [True, False]


def test_squared_errors_are_recorded_where_their_mean_has_an_error():
    finite = AdditiveRelease(ExponentialPolylogarithmic(1.0, 1.0, 1.0, 5.1))
    infinite = AdditiveRelease(ExponentialPolylogarithmic(1.0, 1.0, 1.0, 5.0))
    assert "squared_error" in PerRecordSum(finite, (5.0,)).simulate(rng(), 3)
    assert "squared_error" not in PerRecordSum(infinite, (5.0,)).simulate(rng(), 3)


# Simulated beside closed forms


@pytest.mark.parametrize(
    ("release", "tail"),
    [
        (AdditiveRelease(Gaussian(60.0)), stats.norm(scale=60).sf),
        (AdditiveRelease(Laplace(20.0)), stats.laplace(scale=20).sf),
        (AdditiveRelease(ExponentialPolylogarithmic(20.0, 1.0, 1.0, 1.3)), lambda x: (1 + x / 20) ** -0.3 / 2),
    ],
)
def test_additive_releases(release, tail):
    draws = PerRecordSum(release, (100.0,)).simulate(rng(), TRIALS)
    agree(draws["within_10_percent"], 1 - 2 * tail(10.0))
    agree(draws["negative"], tail(100.0))
    agree(draws["abs_error"] > 7, 2 * tail(7.0))
    agree(draws["error"] > 0, 0.5)


def test_squared_errors_have_the_variance_as_their_mean():
    draws = PerRecordSum(AdditiveRelease(Laplace(20.0)), (100.0,)).simulate(rng(), TRIALS)
    agree(draws["squared_error"], 2 * 20.0**2)


def test_transformed_releases():
    """Square root, He_2: released is V^2 - scale^2 - offset. Logarithm, unbiased: lognormal, less the offset."""
    q, offset, scale = 100.0, 10.0, 2.0
    draws = PerRecordSum(TransformedRelease(Root(2, offset), scale), (q,)).simulate(rng(), TRIALS)
    v = np.sqrt(q + offset)

    def cdf(x):
        end = np.sqrt(x + offset + scale**2)
        return stats.norm.cdf(end, v, scale) - stats.norm.cdf(-end, v, scale)

    agree(draws["within_10_percent"], cdf(110.0) - cdf(90.0))
    agree(draws["negative"], cdf(0.0))
    agree(draws["error"], 0.0)
    agree(draws["squared_error"], 4 * scale**2 * v**2 + 2 * scale**4)
    draws = PerRecordSum(TransformedRelease(Log(offset), 0.5), (q,)).simulate(rng(), TRIALS)
    lognormal = stats.lognorm(0.5, scale=(q + offset) * np.exp(-0.125))
    agree(draws["within_10_percent"], lognormal.cdf(110 + offset) - lognormal.cdf(90 + offset))


def test_clipped_and_split_releases():
    clipped = PerRecordSum(ClippedRelease(5.0, 20.0), (70.0,), (100.0,)).simulate(rng(), TRIALS)
    agree(clipped["error"], -30.0)
    agree(clipped["within_10_percent"], np.diff(stats.norm.cdf([90, 110], 70, 20))[0])
    split = PerRecordSum(UnitSplitRelease(5.0, 60.0), (100.0,)).simulate(rng(), TRIALS)
    agree(split["negative"], stats.norm.cdf(-100 / 60))
    agree(split["squared_error"], 3600.0)


@pytest.mark.parametrize("at_once", [per_record_sum.MOST_AT_ONCE, 1000])
def test_groups(monkeypatch, at_once):
    """The mean share is the mean of the groups' probabilities; the median of three by their binomial law."""
    monkeypatch.setattr(per_record_sum, "MOST_AT_ONCE", at_once)
    truths = (10.0, 100.0, 1000.0)
    draws = PerRecordSum(AdditiveRelease(Laplace(20.0)), truths).simulate(rng(), TRIALS)
    assert {values.shape for values in draws.values()} == {(TRIALS,)}
    p = -np.expm1(-0.1 * np.array(truths) / 20)
    agree(draws["share_within_10_percent"], p.mean())
    agree(draws["share_negative"], np.mean(0.5 * np.exp(-np.array(truths) / 20)))
    two_of_three = p[0] * p[1] + p[0] * p[2] + p[1] * p[2] - 2 * p.prod()
    agree(draws["median_relative_error"] <= 0.1, two_of_three)


@pytest.mark.filterwarnings("error")
def test_errors_whose_squares_are_no_floats_are_infinite():
    """A sum of 1e-300 is missed by far more than 1e150 of it; noise of infinite mean goes further still."""
    draws = PerRecordSum(AdditiveRelease(Gaussian(1.0)), (1e-300,)).simulate(np.random.default_rng(1), 100)
    assert (draws["relative_error"] == np.inf).all()
    assert np.isfinite(draws["error"]).all()
    heavy = AdditiveRelease(ExponentialPolylogarithmic(1e100, 1, 1.0, 1.01))
    wild = PerRecordSum(heavy, (1.0,)).simulate(np.random.default_rng(1), 200)
    assert {-np.inf, np.inf} <= set(wild["error"])
    assert (np.abs(wild["error"][np.isfinite(wild["error"])]) <= 1e150).all()


@pytest.mark.filterwarnings("error")
def test_a_median_of_groups_that_is_no_float_is_infinite():
    """Sums of 1e-308: their errors over them leave the floats; of 1e-200: only their squares would."""
    for answer in (1e-308, 1e-200):
        groups_of = PerRecordSum(AdditiveRelease(Gaussian(100.0)), (answer,) * 3)
        assert (groups_of.simulate(np.random.default_rng(1), 100)["median_relative_error"] == np.inf).all()
