"""The private histogram: two ways of sampling, a third one written here, and the exact laws must agree.

Statistical tests have fixed seeds and a p-value of 1e-6 each; there are about 800 of them, so that other seeds
would give a false alarm with probability 1e-3.
"""

import numpy as np
import pytest
from scipy import stats

from tcdp_sim import exact
from tcdp_sim.bounds.accuracy import histogram_error_bound
from tcdp_sim.data.counts import Counts
from tcdp_sim.mechanisms import Histogram, histogram
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.privacy import ZCDP

SURE = 1e-6
NOISES = (Gaussian(3.0), Laplace(2.0), TruncatedLaplace(2.0, 5.0), SinhNormal(3.0, 4.0))
noises = pytest.mark.parametrize("noise", NOISES, ids=[noise.family for noise in NOISES])
DATA = {
    "mixed": ([12, 11, 7, 7, 3, 1], 40),
    "ties": ([5, 5, 5, 4, 4], 9),
    "only ties": ([4, 4, 4], 12),
    "no empty bins": ([9, 8, 8, 3], 4),
    "one empty bin": ([3, 2], 3),
    "one bin": ([5], 1),
    "one occupied bin": ([6], 20),
    "no records": ([], 25),
    "one bin without records": ([], 1),
}
data = pytest.mark.parametrize(("counts", "bins"), DATA.values(), ids=DATA)


def mechanism(noise, counts, bins, **more):
    return Histogram(noise, ZCDP(1.0), np.array(counts, dtype=np.int64), bins, **more)


def naive(noise, rng, counts, bins, trials):
    """One trial at a time, from the definitions."""
    true = np.zeros(bins)
    true[: len(counts)] = counts
    rows = []
    for _ in range(trials):
        error = noise.sample(bins, rng=rng)
        released = true + error
        row = {"linf_error": max(abs(e) for e in error)}
        if counts:
            occupied = error[true > 0]
            tops = [released[i] for i in range(bins) if true[i] == true.max()]
            row["mean_abs_error"] = np.mean(np.abs(occupied))
            row["rms_error"] = np.sqrt(np.mean(occupied**2))
            row["top_stays"] = max(tops) == max(released)
            row["spurious_wins"] = any(released[i] > max(tops) for i in range(bins) if true[i] == 0)
        if bins > len(counts):
            row["spurious_max"] = max(released[true == 0])
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def check_same_law(first, second):
    assert set(first) == set(second)
    for name, x in first.items():
        y = second[name]
        assert x.dtype == y.dtype
        if x.dtype == bool:
            table = [[x.sum(), (~x).sum()], [y.sum(), (~y).sum()]]
            assert stats.fisher_exact(table).pvalue > SURE, name
        else:
            assert stats.ks_2samp(x, y, method="asymp").pvalue > SURE, name


# Simulation


@noises
@data
def test_order_statistics_and_dense_draws_have_the_same_law(noise, counts, bins):
    sparse = mechanism(noise, counts, bins).simulate(np.random.default_rng(1), 20_000)
    dense = mechanism(noise, counts, bins, sampling="dense").simulate(np.random.default_rng(2), 20_000)
    check_same_law(sparse, dense)


@noises
@data
@pytest.mark.parametrize("sampling", histogram.SAMPLINGS)
def test_a_naive_simulation_has_the_same_law(noise, counts, bins, sampling):
    ours = mechanism(noise, counts, bins, sampling=sampling).simulate(np.random.default_rng(3), 4000)
    check_same_law(ours, naive(noise, np.random.default_rng(4), counts, bins, 1000))


@noises
@data
@pytest.mark.parametrize("sampling", histogram.SAMPLINGS)
def test_what_a_trial_yields(noise, counts, bins, sampling):
    values = mechanism(noise, counts, bins, sampling=sampling).simulate(np.random.default_rng(5), 100)
    expected = {"linf_error"}
    if counts:
        expected |= {"mean_abs_error", "rms_error", *Histogram.events}
    if bins > len(counts):
        expected |= {"spurious_max"}
    assert set(values) == expected <= {*Histogram.observables, *Histogram.events}
    for name, x in values.items():
        assert x.shape == (100,)
        assert x.dtype == (bool if name in Histogram.events else np.float64)
        assert np.isfinite(x).all()


@noises
@data
@pytest.mark.parametrize("sampling", histogram.SAMPLINGS)
def test_relations_that_hold_in_every_trial(noise, counts, bins, sampling):
    values = mechanism(noise, counts, bins, sampling=sampling).simulate(np.random.default_rng(6), 5000)
    if counts:
        assert np.all(values["mean_abs_error"] <= values["rms_error"] * (1 + 1e-12))
        assert np.all(values["rms_error"] <= values["linf_error"] * (1 + 1e-12))
        assert not np.any(values["top_stays"] & values["spurious_wins"])
        if bins == len(counts):
            assert not values["spurious_wins"].any()
        if len(set(counts)) == 1:
            assert np.all(values["top_stays"] | values["spurious_wins"])
    if "spurious_max" in values:
        assert np.all(values["spurious_max"] <= values["linf_error"])


@pytest.mark.parametrize("sampling", histogram.SAMPLINGS)
def test_one_bin_always_stays_on_top(sampling):
    values = mechanism(Gaussian(100.0), [1], 1, sampling=sampling).simulate(np.random.default_rng(7), 1000)
    assert values["top_stays"].all()
    assert np.array_equal(values["linf_error"], values["mean_abs_error"])


@pytest.mark.parametrize("sampling", histogram.SAMPLINGS)
@pytest.mark.parametrize("tile", [1, 100, 2**20])
def test_the_size_of_a_tile_does_not_change_the_result(monkeypatch, sampling, tile):
    """Gaussian noise takes its stream in the order of the trials and bins; others take two streams a tile."""
    subject = mechanism(Gaussian(2.0), [9, 5, 5, 2], 30, sampling=sampling)
    expected = subject.simulate(np.random.default_rng(10), 999)
    monkeypatch.setattr(histogram, "TILE", tile)
    values = subject.simulate(np.random.default_rng(10), 999)
    for name in expected:
        assert np.array_equal(values[name], expected[name]), name


def test_no_trials():
    values = mechanism(Gaussian(2.0), [9, 5], 30).simulate(np.random.default_rng(0), 0)
    assert {name: x.shape for name, x in values.items()} == dict.fromkeys(values, (0,))


# Against the exact laws


def check_proportion(successes, probability):
    assert stats.binomtest(int(successes.sum()), len(successes), float(probability)).pvalue > SURE


@noises
@pytest.mark.parametrize("bins", [4, 1000, 1e12, 1e100, 1e300])
def test_quantiles_of_the_largest_error(noise, bins):
    if isinstance(noise, TruncatedLaplace) and bins > 1e9:
        noise = TruncatedLaplace(2.0, 2.0 * np.log(bins))  # else all of them are the end of the support to the last bit
    values = mechanism(noise, [50, 49, 20], bins).simulate(np.random.default_rng(11), 20_000)
    for q in (0.01, 0.25, 0.5, 0.95, 0.999):
        check_proportion(values["linf_error"] <= exact.max_abs_quantile(noise, bins, q).estimate, q)
        if bins > 4:
            check_proportion(values["spurious_max"] <= exact.max_quantile(noise, bins - 3, q).estimate, q)


def test_the_largest_error_in_a_huge_domain_is_the_end_of_a_bounded_support():
    values = mechanism(TruncatedLaplace(2.0, 5.0), [50], 1e100).simulate(np.random.default_rng(11), 100)
    assert np.all(values["linf_error"] == 5.0)
    assert np.all(values["spurious_max"] == 5.0)


@noises
@pytest.mark.parametrize("bins", [40, 1e12, 1e100])
def test_who_comes_out_on_top(noise, bins):
    """With a count next to the median of the largest noise, so that both events do happen."""
    top = round(float(exact.max_quantile(noise, bins, 0.5).estimate)) + 1
    for counts in ([top], [top, top, top - 1], [top, top - 2, 1]):
        values = mechanism(noise, counts, bins).simulate(np.random.default_rng(12), 20_000)
        stays = exact.top_stays_probability(noise, counts, bins).estimate
        wins = exact.spurious_wins_probability(noise, counts, bins).estimate
        assert 0.02 < wins < 0.98
        check_proportion(values["top_stays"], stays)
        check_proportion(values["spurious_wins"], wins)


@noises
def test_errors_of_the_occupied_bins_have_the_moments_of_the_noise(noise):
    values = mechanism(noise, [9] * 20, 1e12).simulate(np.random.default_rng(13), 20_000)
    square = values["rms_error"] ** 2
    assert abs(square.mean() - noise.var()) < 5 * square.std() / np.sqrt(len(square))
    size = np.abs(noise.sample(200_000, rng=np.random.default_rng(14)))
    difference = values["mean_abs_error"].mean() - size.mean()
    assert abs(difference) < 5 * np.hypot(
        values["mean_abs_error"].std() / np.sqrt(20_000), size.std() / np.sqrt(200_000)
    )


# Validation


@pytest.mark.parametrize("counts", [[3, 5], [5, 0], [5, -1], [2.5, 1.0], [np.nan], [[3, 2]], 3])
def test_counts_that_are_not_valid_are_refused(counts):
    with pytest.raises(ValueError, match="valid: positive whole numbers in descending order"):
        Histogram(Gaussian(1.0), ZCDP(1.0), counts, 100)


@pytest.mark.parametrize("bins", [2, 0, np.nan, np.inf, 1e301])
def test_domains_that_are_not_valid_are_refused(bins):
    with pytest.raises(ValueError, match=r"k = .* is not valid; valid: 3 <= k <= 1e\+300"):
        mechanism(Gaussian(1.0), [3, 2, 1], bins)


@pytest.mark.parametrize("beta", [0, 1, np.nan, -0.1])
def test_betas_that_are_not_valid_are_refused(beta):
    with pytest.raises(ValueError, match="beta = "):
        mechanism(Gaussian(1.0), [3], 10, beta=beta)


@pytest.mark.parametrize("bins", [1e8, 1e300])
def test_domains_that_cannot_be_drawn_bin_by_bin_are_refused(bins):
    with pytest.raises(ValueError, match="not valid for sampling=dense; valid: k <= 1e7"):
        mechanism(Gaussian(1.0), [3], bins, sampling="dense")


def test_an_unknown_sampling_is_refused():
    with pytest.raises(ValueError, match="sampling = 'sparse'"):
        mechanism(Gaussian(1.0), [3], 10, sampling="sparse")


def test_counts_are_a_copy_that_cannot_be_changed():
    counts = np.array([3, 2, 1])
    subject = Histogram(Gaussian(1.0), ZCDP(1.0), counts, 100)
    counts[0] = 99
    assert subject.counts.tolist() == [3, 2, 1]
    with pytest.raises(ValueError, match="read-only"):
        subject.counts[0] = 9


# The law of a point of a sweep

COUNTS = Counts("example", np.array([5, 9, 5]), 100, "made up")
OPTIONS = {"sampling": "order_statistics", "beta": 0.05}


def point(family, **changed):
    noise = {"family": family, "calibration": "paper"}
    return {"noise": noise, "data": "example", "k": 1000.0, "rho": 0.1, "omega": 3.0, "delta": 1e-6} | changed


def law(family, **changed):
    return Histogram.law(point(family, **changed), OPTIONS, COUNTS)


families = pytest.mark.parametrize("family", ["gaussian", "laplace", "truncated_laplace", "sinh_normal"])


@families
def test_a_law_depends_on_the_counts_and_the_options(family):
    other = Counts("example", np.array([5, 9, 6]), 100, "made up")
    assert Histogram.law(point(family), OPTIONS, other) != law(family)
    same = Counts("another name", np.array([9, 5, 5]), 1e6, "another source")
    assert Histogram.law(point(family), OPTIONS, same) == law(family)
    for name, value in {"sampling": "dense", "beta": 0.1}.items():
        assert Histogram.law(point(family), OPTIONS | {name: value}, COUNTS) != law(family)


@families
def test_the_thresholds_are_the_bounds_of_the_papers(family):
    built = Histogram.build(law(family), COUNTS.counts)
    (labels,) = built.thresholds.values()
    assert list(built.thresholds) == ["linf_error"]
    assert labels["bound"] == histogram_error_bound(built.noise, 1000, 0.05)
    assert exact.max_abs_sf(built.noise, 1000, labels["bound"]).lower <= 0.05
    assert ("printed" in labels) == (family == "gaussian")
    if family == "gaussian":
        assert labels["printed"] == pytest.approx(labels["bound"] / np.sqrt(2), rel=1e-14)
        assert exact.max_abs_sf(built.noise, 1000, labels["printed"]).estimate == pytest.approx(0.8081, abs=1e-4)


@data
def test_the_work_is_positive_and_grows_with_what_is_drawn(counts, bins):
    sparse, dense = (mechanism(Gaussian(1.0), counts, bins, sampling=how).work for how in histogram.SAMPLINGS)
    assert 0 < sparse <= dense
    assert sparse == mechanism(Gaussian(1.0), counts, 1e300).work
