"""Additive, clipped and split releases against the noises they are made of, simulation, and the paper's Table 1."""

import numpy as np
import pytest
from scipy import stats

from tcdp_sim.noise import Gaussian, Laplace, SinhNormal
from tcdp_sim.per_record import AdditiveRelease, ClippedRelease, Identity, Root, TransformedRelease, UnitSplitRelease
from tcdp_sim.per_record.policies import printed_zcdp, value_change

ESTABLISHMENTS = np.array([5.0, 5.0, 10.0, 20.0, 30.0, 10_000.0])
CLIPPED, SPLIT = ClippedRelease(8.0, 2.0), UnitSplitRelease(10.0, np.sqrt(50))


def test_additive_law_is_the_noise_moved():
    release, truth = AdditiveRelease(Laplace(3.0)), stats.laplace(100.0, 3.0)
    x = np.array([60.0, 99.0, 150.0])
    np.testing.assert_allclose(release.cdf(100.0, x), truth.cdf(x), rtol=1e-12)
    np.testing.assert_allclose(release.sf(100.0, x), truth.sf(x), rtol=1e-12)
    assert release.ppf(100.0, 0.1) == pytest.approx(truth.ppf(0.1))
    assert (release.mean(100.0), release.var(100.0), release.mse(100.0)) == (100.0, 18.0, 18.0)
    assert release.median_abs_error(100.0) == pytest.approx(3 * np.log(2))
    assert release.prob_negative(6.0) == pytest.approx(np.exp(-2) / 2)
    x = release.sample(np.full(20_000, 100.0), rng=np.random.default_rng(3))
    assert abs(np.median(x) - 100) < 5 * 3 / np.sqrt(20_000)


def test_additive_policies():
    assert AdditiveRelease(Gaussian(2.0)).policy(3.0) == pytest.approx(9 / 8)  # not 9 / 4, as Section 5 prints
    laplace = AdditiveRelease(Laplace(2.0))
    np.testing.assert_allclose(laplace.pure_policy(np.array([0.0, 3.0])), [0, 1.5])
    assert laplace.policy(3.0) == pytest.approx(1.5 * np.tanh(0.75))
    assert printed_zcdp(0.3175514) == pytest.approx(0.05, rel=1e-6)
    assert printed_zcdp(5.0636281) == pytest.approx(5, rel=1e-7)
    assert np.isinf(AdditiveRelease(Gaussian(2.0)).pure_policy(3.0))
    with pytest.raises(ValueError, match="cannot print a zCDP policy"):
        AdditiveRelease(SinhNormal(1.0, 2.0)).policy(1.0)


def test_the_identity_is_gaussian_noise():
    identity, gaussian = TransformedRelease(Identity(), 3.0), AdditiveRelease(Gaussian(3.0))
    for x in (-5.0, 2.0, 40.0):
        assert identity.cdf(9.0, x) == pytest.approx(gaussian.cdf(9.0, x), rel=1e-12)
        assert identity.sf(9.0, x) == pytest.approx(gaussian.sf(9.0, x), rel=1e-12)
    assert identity.policy(4.0) == gaussian.policy(4.0)
    assert identity.median_abs_error(9.0) == pytest.approx(gaussian.median_abs_error(9.0))


def test_table_1_as_printed_and_exact():
    np.testing.assert_allclose(SPLIT.policy(ESTABLISHMENTS), [1, 1, 1, 4, 9, 1e6], rtol=1e-12)
    np.testing.assert_allclose(SPLIT.exact_policy(ESTABLISHMENTS), [0.25, 0.25, 1, 4, 9, 1e6], rtol=1e-12)
    assert SPLIT.answer(ESTABLISHMENTS) == 10_070
    assert np.sqrt(SPLIT.mse(10_070.0)) == pytest.approx(7.0711, abs=1e-4)


@pytest.mark.parametrize(
    "release",
    [SPLIT, UnitSplitRelease(10.0, 7.0, "capped", pieces=2), UnitSplitRelease(10.0, 7.0, "sublinear", exponent=0.5)],
    ids=lambda release: release.rule,
)
def test_splitting_is_what_becomes_of_the_pieces(release):
    for value in (0.0, 5.0, 10.0, 10.5, 99.0, 400.0):
        m = int(release.pieces_of(value))
        pieces = np.minimum(np.full(m, value / m), release.threshold)
        assert release.contribution(value) == pytest.approx(pieces.sum(), rel=1e-12)
        assert release.exact_policy(value) <= release.policy(value) * (1 + 1e-12)
        assert release.exact_policy(value) == pytest.approx(pieces.sum() ** 2 / (2 * release.scale**2))


def test_capped_splitting_is_clipping():
    capped, clipped = UnitSplitRelease(10.0, 7.0, "capped", pieces=3), ClippedRelease(30.0, 7.0)
    values = np.array([0.0, 5.0, 29.0, 31.0, 1e6])
    np.testing.assert_array_equal(capped.contribution(values), clipped.contribution(values))
    np.testing.assert_allclose(capped.exact_policy(values), clipped.policy(values))


def test_clipped_sums_err_by_what_was_clipped():
    records = np.array([1.0, 5.0, 20.0])
    q, truth = CLIPPED.answer(records), float(records.sum())
    assert (q, CLIPPED.bias(q, truth), CLIPPED.mse(q, truth)) == (14.0, -12.0, 148.0)
    x = CLIPPED.sample(q, 40_000, rng=np.random.default_rng(5))
    r = CLIPPED.median_abs_error(q, truth)
    assert abs(np.mean(abs(x - truth) <= r) - 0.5) < 5 * 0.5 / 200
    assert CLIPPED.median_abs_error(q) == pytest.approx(2 * stats.norm.isf(0.25))
    assert CLIPPED.cdf(q, 15.0) == pytest.approx(stats.norm.cdf(0.5))
    assert CLIPPED.ppf(q, 0.9) == pytest.approx(14 + 2 * stats.norm.ppf(0.9))
    assert CLIPPED.policy(100.0) == 8.0


def test_value_change_costs_the_rise_between():
    assert value_change(Identity(), 3.0, 8.0, 2.0) == pytest.approx(25 / 8)
    assert value_change(Root(2), 9.0, 4.0, 2.0) == pytest.approx(1 / 8)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ClippedRelease(0.0, 1.0), "clip = 0"),
        (lambda: ClippedRelease(1.0, 1.0).contribution(-2.0), "value = -2"),
        (lambda: UnitSplitRelease(0.0, 1.0), "threshold = 0"),
        (lambda: UnitSplitRelease(1.0, 1.0, "capped"), "pieces = None"),
        (lambda: UnitSplitRelease(1.0, 1.0, "capped", pieces=0), "pieces = 0"),
        (lambda: UnitSplitRelease(1.0, 1.0, "full", exponent=0.5), "exponent = 0.5"),
        (lambda: UnitSplitRelease(1.0, 1.0, "sublinear", exponent=1.0), "exponent = 1"),
        (lambda: UnitSplitRelease(1.0, 1.0, "some"), "rule = 'some'"),
        (lambda: AdditiveRelease(3.0), "noise = 3.0"),
        (lambda: AdditiveRelease(Laplace(np.array([1.0, 2.0]))), "one noise"),
        (lambda: AdditiveRelease(Laplace(1.0)).policy(-1.0), "influence = -1"),
    ],
)
def test_refusals_are_one_line(make, words):
    with pytest.raises(ValueError, match=words) as refusal:
        make()
    assert "\n" not in str(refusal.value)
