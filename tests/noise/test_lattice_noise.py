"""Noise on a lattice: against sums over its points, scipy's geometric law, and exact divergences by hand."""

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import chisquare, dlaplace

from tcdp_sim import exact
from tcdp_sim.exact import record_policy
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.per_record import AdditiveRelease

INTEGERS = LatticeNoise(0.0, (0.0, -0.4, -1.1, -2.5), 1.3)
HALVES = LatticeNoise(0.5, (0.0, -0.3, -1.7), 0.9)
BOTH = pytest.mark.parametrize("noise", [INTEGERS, HALVES])


def points(noise, reach=80):
    x = np.arange(-reach, reach + 1) + noise.offset
    return x[np.abs(x) <= reach]


def masses(noise):
    """By the definition, in place of the noise's own tables."""
    x = np.abs(points(noise)) - noise.offset
    raw = np.array([noise.log_mass[min(int(i), len(noise.log_mass) - 1)] for i in x])
    raw -= noise.fall * np.maximum(x - (len(noise.log_mass) - 1), 0)
    p = np.exp(raw)
    return p / p.sum()


@BOTH
def test_probabilities_and_tails_are_sums(noise):
    x, p = points(noise), masses(noise)
    assert np.exp(noise.logpdf(x)) == pytest.approx(p, rel=1e-12)
    assert noise.logpdf([0.25, -3.7]).tolist() == [-np.inf, -np.inf]
    for y in (-6.5, -3.0, -0.5, -0.2, 0.0, 0.4, 0.5, 1.0, 7.5, 12.0):
        above = p[x > y + 1e-12].sum()
        assert noise.sf(y) == pytest.approx(above, rel=1e-12)
        assert noise.logsf(y) == pytest.approx(np.log(above), abs=1e-12)
        at_most = p[x <= y + 1e-12].sum()
        assert noise.cdf(y) == pytest.approx(at_most, rel=1e-12)
        assert noise.logcdf(y) == pytest.approx(np.log(at_most), abs=1e-12)
    assert noise.var() == pytest.approx((p * x * x).sum(), rel=1e-12)
    assert noise.mean_abs() == pytest.approx((p * np.abs(x)).sum(), rel=1e-12)


@BOTH
@pytest.mark.parametrize("q", [1e-30, 1e-9, 0.01, 0.2, 0.31, 0.45, 0.5, 0.55, 0.69, 0.9, 0.999])
def test_quantiles_are_the_least_points(noise, q):
    x, p = points(noise), masses(noise)
    above = np.cumsum(p[::-1])[::-1] - p  # P[Z > x], from the outside
    assert noise.isf(q) == x[np.flatnonzero(above <= q * (1 + 1e-12))[0]]


def test_far_tails():
    assert INTEGERS.isf_log(-500.0) == pytest.approx(-(-500 - INTEGERS.logsf(3.0)) / 1.3 + 3, abs=1)
    deep = float(INTEGERS.isf_log(-500.0))
    assert INTEGERS.logsf(deep) <= -500 < INTEGERS.logsf(deep - 1)
    assert np.isnan(INTEGERS.isf([-0.1, 1.1])).all()
    assert INTEGERS.isf([0.0, 1.0]).tolist() == [np.inf, -np.inf]


def test_a_geometric_table_is_the_discrete_laplace_law():
    noise = LatticeNoise(0.0, (0.0, -0.7), 0.7)
    x = np.arange(-40, 41)
    assert noise.pdf(x) == pytest.approx(dlaplace.pmf(x, 0.7), rel=1e-12)
    assert noise.sf(x) == pytest.approx(dlaplace.sf(x, 0.7), rel=1e-9)


@BOTH
def test_draws_follow_the_law(noise):
    """A false alarm in 1e-6 of seeds each."""
    draws = noise.sample(200_000, rng=np.random.default_rng(5))
    x, p = points(noise), masses(noise)
    kept = p * len(draws) > 20
    seen = np.array([(draws == each).sum() for each in x[kept]])
    assert (
        chisquare(np.append(seen, len(draws) - seen.sum()), np.append(p[kept], p[~kept].sum()) * len(draws)).pvalue
        > 1e-6
    )
    assert noise.sample(rng=np.random.default_rng(1)).shape == ()
    assert noise.sample((2, 3), rng=np.random.default_rng(1)).shape == (2, 3)


@BOTH
@pytest.mark.parametrize("shift", [1, 3])
def test_divergences_are_sums(noise, shift):
    x = points(noise, 300)
    log_p = np.asarray(noise.logpdf(x))
    log_q = np.asarray(noise.logpdf(x - shift))
    with mp.workdps(30):
        for order in (1.0, 1.5, 7.0):
            terms = [(mp.mpf(float(a)), mp.mpf(float(b))) for a, b in zip(log_p, log_q)]
            if order == 1:
                truth = mp.fsum(mp.exp(a) * (a - b) for a, b in terms)
            else:
                truth = mp.log(mp.fsum(mp.exp(order * a + (1 - order) * b) for a, b in terms)) / (order - 1)
            found = exact.renyi_divergence(noise, shift, order)
            assert found.lower <= float(truth) * (1 + 1e-11)
            assert float(truth) * (1 - 1e-11) <= found.upper
            assert found.upper - found.lower <= 1e-10 * found.estimate
    for epsilon in (0.0, 0.5, 2.0):
        truth = np.maximum(np.exp(log_p) - np.exp(epsilon + log_q), 0).sum()
        assert exact.hockey_stick(noise, shift, epsilon).estimate == pytest.approx(truth, rel=1e-10, abs=1e-14)
    assert exact.renyi_divergence(noise, shift, np.inf).estimate == pytest.approx(np.abs(log_p - log_q).max())


@BOTH
def test_the_best_order_of_a_lattice(noise):
    orders = np.geomspace(1 + 1e-9, 1e4, 20_000)
    best = (exact.renyi_divergence(noise, 1.0, orders).estimate / orders).max()
    found = record_policy(AdditiveRelease(noise), 1.0)
    assert found.lower <= best * (1 + 1e-9)
    assert best <= found.upper <= best * (1 + 1e-6)


@BOTH
def test_parts_of_a_count_are_not_hidden(noise):
    assert exact.renyi_divergence(noise, 0.5, 2.0) == (np.inf, np.inf, np.inf)
    assert exact.hockey_stick(noise, 1.25, 3.0) == (1, 1, 1)
    assert noise.largest_loss(0.5) == np.inf
    assert noise.largest_loss(1.0) == pytest.approx(max(1.4, noise.fall) if noise.offset else 1.4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.25, (0.0, -1.0), 1.0), "offset = 0.25"),
        ((0.0, (0.0,), 1.0), "log_mass is not valid"),
        ((0.0, (0.0, float("nan")), 1.0), "log_mass is not valid"),
        ((0.0, (0.0, -1.0), 0.0), "fall = 0"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        LatticeNoise(*arguments)
