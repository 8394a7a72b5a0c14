"""Subsampled histograms: two ways of sampling, exact moments, exact losses; the calibration keeps its promise.

Seeds are fixed; a comparison at 5.5 standard errors has a false-alarm rate of 4e-8, a chi-squared test of 1e-6.
"""

import composed_pairs as of_pairs
import numpy as np
import pytest
from scipy import stats

from tcdp_sim import exact
from tcdp_sim.data.counts import Counts
from tcdp_sim.mechanisms.subsampled import Subsampled
from tcdp_sim.mechanisms.subsampled.histogram import SubsampledHistogram
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.privacy import ZCDP, ApproxDP
from tcdp_sim.privacy.amplification.schemes import SCHEMES
from tcdp_sim.samplers.subsamples import subsample_counts, subsample_records
from tcdp_sim.study import groups

COUNTS = np.array([9, 6, 3, 2])
POINT = {"data": "few", "k": 10.0, "scheme": "poisson", "sampling_fraction": 0.25}
FINAL = {"epsilon": 0.5, "delta": 1e-4}
TRIALS = 20_000


def rng(seed=3):
    return np.random.default_rng(seed)


def law(noise="gaussian", **more):
    data = Counts("few", COUNTS, 10.0, "")
    return Subsampled.law({"noise": groups.named("noise", noise), **POINT, **more}, {"path": "counts"}, data)


def built(noise="gaussian", **more):
    return Subsampled.build(law(noise, **more), COUNTS)


def agree(values, truth):
    assert abs(values.mean() - truth) <= 5.5 * values.std() / np.sqrt(len(values)) + 1e-12


@pytest.mark.parametrize("scheme", SCHEMES)
def test_by_counts_and_by_records_are_one_law(scheme):
    """Chi-squared on the joint counts of two bins, and exact means."""
    found = [
        f(COUNTS, scheme, 0.25, 5, TRIALS, rng=rng(i)) for i, f in enumerate((subsample_counts, subsample_records))
    ]
    for drawn in found:
        assert drawn.shape == (TRIALS, 4)
        assert (drawn >= 0).all()
        for j, count in enumerate(COUNTS):
            agree(drawn[:, j], 0.25 * count)
        if not scheme.startswith("poisson"):
            assert (drawn.sum(axis=1) == 5).all()
    keys = [drawn[:, 0] * 10 + drawn[:, 1] for drawn in found]
    values = np.unique(np.concatenate(keys))
    table = np.array([[(key == value).sum() for value in values] for key in keys])
    assert stats.chi2_contingency(table[:, table.sum(axis=0) >= 20]).pvalue > 1e-6


def test_the_noise_of_empty_bins_is_rescaled_too():
    """One record in 1e6 bins, s = 1/4: the largest error is that of the noise in the empty bins, over s.

    Kolmogorov-Smirnov against powers of scipy's normal law: 1e-4; without 1 / s it would be four times smaller.
    """
    data = Counts("one", np.array([1]), 1e6, "")
    point = {**POINT, "data": "one", "k": 1e6, "rho": 0.1, "noise": groups.named("noise", "gaussian")}
    mechanism = Subsampled.build(Subsampled.law(point, {"path": "counts"}, data), np.array([1]))
    drawn = mechanism.simulate(rng(), 2000)["linf_error"]
    scale = mechanism.noise.scale / 0.25
    law = stats.kstest(drawn, lambda x: np.exp((1e6 - 1) * np.log1p(-2 * stats.norm.sf(x / scale))))
    assert law.pvalue > 1e-4
    assert np.median(drawn) == pytest.approx(scale * stats.norm.isf(np.log(2) / 2e6), rel=0.01)


def test_the_laws_of_a_bin():
    """Binomial, hypergeometric, binomial again: chi-squared at 1e-6."""
    laws = {"poisson": stats.binom(9, 0.25), "without_replacement": stats.hypergeom(20, 9, 5)}
    laws["hybrid"] = stats.binom(5, 9 / 20)
    for scheme, truth in laws.items():
        drawn = subsample_counts(COUNTS, scheme, 0.25, 5, TRIALS, rng=rng())[:, 0]
        expected = truth.pmf(np.arange(10)) * TRIALS
        kept = expected > 5
        chi2 = ((np.bincount(drawn, minlength=10)[:10] - expected)[kept] ** 2 / expected[kept]).sum()
        assert stats.chi2(kept.sum() - 1).sf(chi2) > 1e-6


@pytest.mark.parametrize("scheme", SCHEMES)
def test_errors_have_their_exact_moments(scheme):
    mechanism = SubsampledHistogram(Gaussian(2.0), ZCDP(0.1), COUNTS, 10.0, scheme, 0.25)
    found = mechanism.simulate(rng(), TRIALS)
    share = COUNTS / 20
    sampling = {
        "poisson": COUNTS * 3.0,
        "without_replacement": 5 * share * (1 - share) * 15 / 19 * 16,
        "with_replacement": 5 * share * (1 - share) * 16,
    }
    sampling = sampling.get(scheme, sampling["poisson" if scheme.startswith("poisson") else "with_replacement"]).mean()
    agree(found["square_sampling_error"], sampling)
    agree(found["square_noise_error"], 64.0)
    agree(found["square_error"], sampling + 64.0)
    agree(found["records_drawn"], 5.0)
    assert (found["linf_error"] ** 2 >= found["square_error"]).all()
    assert set(found) <= set(Subsampled.observables)


def test_empty_bins_count_for_the_largest_error():
    """All records drawn: the largest of ten noises; Kolmogorov-Smirnov at 1e-6."""
    mechanism = SubsampledHistogram(Laplace(1.5), ZCDP(0.1), COUNTS, 10.0, "without_replacement", 1.0)
    found = mechanism.simulate(rng(), TRIALS)
    assert found["square_sampling_error"].max() == 0
    truth = lambda x: (1 - np.exp(-x / 1.5)) ** 10  # noqa: E731
    assert stats.kstest(found["linf_error"], truth).pvalue > 1e-6


@pytest.mark.parametrize("noise", ["laplace", "gaussian", "truncated_laplace"])
@pytest.mark.parametrize("scheme", ["poisson", "without_replacement"])
def test_the_final_privacy_is_what_was_asked_for(noise, scheme):
    """Exactly for add/remove; of two bins, by quadrature over both."""
    mechanism = built(noise, scheme=scheme, **FINAL)
    assert mechanism.guarantee == ApproxDP(**FINAL)
    s = mechanism.fraction
    if scheme == "poisson":
        found = of_pairs.subsampled_hockey_stick(mechanism.noise, 1.0, 0.5, s).estimate
    else:
        found = s * exact.product_profile(mechanism.noise, 1.0, np.log1p(np.expm1(0.5) / s), 2).estimate
    assert found <= 1e-4 * (1 + 1e-9)
    assert found >= 0.98e-4 or noise == "truncated_laplace"


@pytest.mark.parametrize("noise", ["laplace", "gaussian", "sinh_normal_tight"])
@pytest.mark.parametrize("s", [0.05, 1.0])
def test_the_loss_is_that_of_the_mixture(noise, s):
    base = {"rho": 0.1, "omega": 6.0, "sampling_fraction": s}
    mechanism = built(noise, **base, threshold=0.3 * s)
    found = mechanism.simulate(rng(), TRIALS)
    assert set(found) == {"loss_tail", "hockey_stick"}
    truth = of_pairs.subsampled_hockey_stick(mechanism.noise, 1.0, 0.3 * s, s)
    agree(found["hockey_stick"], truth.estimate)
    plain = built(noise, **base).simulate(rng(4), TRIALS)["privacy_loss"]
    chance = found["loss_tail"].mean()
    assert abs((plain > 0.3 * s).mean() - chance) <= 5.5 * np.sqrt(chance / TRIALS) + 1e-9
    agree(np.exp(-plain), 1.0)  # E[q / p]


def test_rare_losses_are_drawn_precisely():
    mechanism = built("gaussian", rho=0.1, threshold=2.5, sampling_fraction=0.01)
    found = mechanism.simulate(rng(), TRIALS)["hockey_stick"]
    truth = of_pairs.subsampled_hockey_stick(mechanism.noise, 1.0, 2.5, 0.01).estimate
    assert truth < 1e-40
    assert abs(found.mean() - truth) < 5.5 * found.std() / np.sqrt(TRIALS) < 0.01 * truth


def test_losses_that_are_infinite_count():
    """Noise of bounded support: with this chance the answer is where only the record can have moved it."""
    mechanism = built("truncated_laplace", rho=1e-3, delta=1e-6, threshold=50.0)
    found = mechanism.simulate(rng(), TRIALS)
    truth = 0.25 * mechanism.noise.sf(mechanism.noise.bound - 1)
    assert truth > 1e-7
    for values in found.values():
        assert abs(values.mean() - truth) <= 5.5 * values.std() / np.sqrt(TRIALS) + 1e-9 * truth


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_tails_beside_a_jump_are_drawn_without_rare_zeros(noise):
    """Every draw of the tail is worth something, whatever the threshold."""
    for threshold in (0.01, 0.1, 0.2, 0.3):
        mechanism = built(noise, rho=0.1, sampling_fraction=1.0, threshold=threshold)
        found = mechanism.simulate(rng(), TRIALS)["loss_tail"]
        assert found.min() > 0
        assert found.max() < 1.2 * found.mean()


def test_a_hybrid_sample_has_whole_records():
    mechanism = built(rho=0.1, scheme="hybrid", sampling_fraction=0.26)
    assert (mechanism.fraction, mechanism.sampling.draws) == (0.25, 5)
