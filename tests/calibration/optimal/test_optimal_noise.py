"""The best noise: against linear programs, closed forms, another search, and every other noise of the package."""

from math import floor, inf, log, sqrt
from types import SimpleNamespace

import mpmath as mp
import numpy as np
import pytest
from lattice_programs import linear_program
from scipy.stats import norm

from tcdp_sim import exact
from tcdp_sim.calibration import calibrate
from tcdp_sim.calibration.optimal import LargestError, MeanAbsoluteError, MeanSquaredError, Tail, optimal_noise
from tcdp_sim.calibration.optimal.best_on_lattice import best_on_lattice
from tcdp_sim.calibration.optimal.certificate import _Pairs
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, MeanConcentratedDP, PureDP

NARROW = TCDP(0.1, 0.75 / sqrt(0.1))
GUARANTEES = [NARROW, TCDP(0.1, 8 / sqrt(0.1)), ZCDP(0.1), TCDP(2.0, 3.0)]


def divergence(noise, order):
    """By mpmath from the table, at a shift by one."""
    table = [mp.mpf(value) for value in noise.log_mass]

    def log_p(x):
        i = floor(abs(x) - noise.offset + 1e-9)
        return table[min(i, len(table) - 1)] - noise.fall * max(i - len(table) + 1, 0)

    reach = len(table) + int(80 / noise.fall)
    x = [noise.offset + i for i in range(-reach, reach)]
    x = [each for each in x if abs(each) < reach]
    terms = (mp.exp(order * log_p(each) + (1 - order) * log_p(each - 1)) for each in x)
    return mp.log(mp.fsum(terms)) / (order - 1)


# log10 of the smallest two-sided tail beyond t: found by another program, a search over 40 logarithms.
@pytest.mark.parametrize(
    ("beyond", "tail"),
    [(10, -3.89), (10.5, -4.48), (11, -5.20), (11.5, -6.10), (12, -7.24), (12.5, -8.69), (13, -10.56)],
)
def test_the_smallest_tails(beyond, tail):
    best = optimal_noise(NARROW, Tail(beyond), coordinates=2)
    noise, bounds = best.noise, best.bounds
    assert np.log10(bounds.upper) == pytest.approx(tail, abs=0.0051)
    assert 0.99 * bounds.upper < bounds.lower <= bounds.estimate <= bounds.upper
    assert 2 * noise.sf(beyond) == pytest.approx(bounds.estimate, rel=1e-12)


@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("objective", [Tail(3.0), Tail(4.5), MeanAbsoluteError()])
def test_what_is_promised_is_kept_and_the_gap_is_small(guarantee, objective):
    best = optimal_noise(guarantee, objective, coordinates=2)
    noise, bounds = best.noise, best.bounds
    omega = getattr(guarantee, "omega", inf)
    orders = [order for order in (1.0001, 1.3, 2.0, 2.9, 7.0, 25.0, 200.0) if order < omega]
    with mp.workdps(30):
        for order in orders:
            assert 2 * divergence(noise, mp.mpf(order)) <= order * guarantee.rho * (1 + 1e-9)
    assert 0.99 * bounds.upper < bounds.lower <= bounds.upper


@pytest.mark.parametrize("guarantee", GUARANTEES[:3])
@pytest.mark.parametrize("beyond", [3.0, 8.5])
def test_no_other_noise_rounded_is_better(guarantee, beyond):
    """Rounding is post-processing of noise and count together, so that rounded noise keeps the promise."""
    bounds = optimal_noise(guarantee, Tail(beyond), coordinates=2).bounds
    families = ["gaussian"] + (["sinh_normal"] if isinstance(guarantee, TCDP) else [])
    for family in families:
        noise = calibrate(family, guarantee, 1.0, "tight", coordinates=2, objective=LargestError(1e3, 0.95)).noise
        for offset in (0.0, 0.5):  # the tail beyond t of noise rounded to offset + integers
            first = floor(beyond - offset) + 1 + offset - 0.5
            assert 2 * noise.sf(first) >= bounds.lower
        assert 2 * noise.sf(beyond) >= bounds.lower


def test_the_variance_of_the_best_noise_is_near_that_of_the_normal():
    best = optimal_noise(ZCDP(0.1), MeanSquaredError(), coordinates=2)
    noise, bounds = best.noise, best.bounds
    assert bounds.upper == pytest.approx(10.0, rel=1e-3)  # N(0, 10) is 0.05-zCDP for each
    assert noise.var() == pytest.approx(bounds.estimate, rel=1e-10)
    assert 9.9 < bounds.lower <= bounds.upper <= 10.0 + 1e-4


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.parametrize(("objective", "offset"), [(Tail(4.0), 0.0), (Tail(4.5), 0.5), (MeanAbsoluteError(), 0.0)])
def test_pure_dp_against_a_linear_program(epsilon, objective, offset):
    best = optimal_noise(PureDP(2 * epsilon), objective, coordinates=2)
    noise, bounds = best.noise, best.bounds
    truth = linear_program(objective.cost, offset, epsilon, 0.0, points=80)
    assert bounds.estimate == pytest.approx(truth, rel=1e-5)  # the program's lattice is finite: its tail e^-24 is cut
    assert exact.renyi_divergence(noise, 1.0, inf).upper <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize("delta", [1e-2, 1e-4])
@pytest.mark.parametrize("beyond", [2.0, 5.5, 9.0])
def test_approximate_dp_against_a_linear_program(delta, beyond):
    best = optimal_noise(ApproxDP(0.5, delta), Tail(beyond))
    noise, bounds = best.noise, best.bounds
    offset = 0.0 if floor(2 * beyond) % 2 == 0 else 0.5
    truth = linear_program(Tail(beyond).cost, offset, 0.5, delta)
    assert bounds.estimate == pytest.approx(truth, abs=2e-8)
    assert exact.hockey_stick(noise, 1.0, 0.5).upper <= delta * (1 + 1e-9)
    other = linear_program(Tail(beyond).cost, 0.5 - offset, 0.5, delta)
    assert other >= truth - 2e-8  # the lattice with most points is the better one


def test_the_other_lattice_is_never_better():
    for beyond in (3.0, 3.5):
        best = optimal_noise(NARROW, Tail(beyond), coordinates=2).bounds
        other = best_on_lattice(0.05, NARROW.omega, Tail(beyond), 0.5 if beyond == 3 else 0.0, beyond)
        assert other.lower_bound() > best.upper


@pytest.mark.parametrize("beyond", [3.0, 8.5, 12.0])
def test_the_lower_bound_is_below_by_itself(beyond):
    """Not because it is cut at the cost: the bound at a smaller rho is above what a larger one costs."""
    offset = 0.5 if beyond == 8.5 else 0.0
    best = [best_on_lattice(rho, NARROW.omega, Tail(beyond), offset, beyond) for rho in (0.05, 0.051)]
    for each in best:
        assert 0.998 * each.solution.cost < each.lower_bound() < each.solution.cost * (1 + 1e-6)
    assert best[1].lower_bound() < best[1].solution.cost < best[0].lower_bound()


def test_costs_are_rounded_up():
    for objective in (Tail(6.0), MeanAbsoluteError()):
        bounds = optimal_noise(NARROW, objective, coordinates=2).bounds
        assert bounds.estimate * (1 + 1e-12) < bounds.upper < bounds.estimate * (1 + 1e-9)


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_no_order_between_exceeds_the_promise(guarantee):
    """At 600 orders, by sums over all points: rho is 0.05 or 1 for each coordinate, and used up to a thousandth."""
    noise = optimal_noise(guarantee, Tail(4.0), coordinates=2).noise
    log_p = np.asarray(noise.logpdf(np.arange(-60, 61) + noise.offset))
    orders = np.linspace(1, min(getattr(guarantee, "omega", inf), 10.0), 602)[1:-1]
    terms = orders[:, None] * log_p[1:] + (1 - orders[:, None]) * log_p[:-1]
    used = np.log(np.exp(terms).sum(axis=1)) / (orders - 1) / orders / (guarantee.rho / 2)
    assert 0.999 < used.max() <= 1 + 1e-10


def test_quantiles_of_the_largest_error():
    best = optimal_noise(NARROW, LargestError(1e6, 0.95), coordinates=2)
    noise, bounds = best.noise, best.bounds
    assert bounds == (12.5, 12.5, 12.5)
    allowed = 1 - 0.95 ** (1 / 1e6)
    assert 2 * noise.sf(12.5) <= allowed < 2 * noise.sf(11.5)
    tight = calibrate("sinh_normal", NARROW, 1.0, "tight", coordinates=2, objective=LargestError(1e6, 0.95)).noise
    assert LargestError(1e6, 0.95)(tight) == pytest.approx(12.95, abs=0.01)
    assert norm.isf(allowed / 2, scale=sqrt(10)) == pytest.approx(17.22, abs=0.005)
    assert optimal_noise(PureDP(0.5), LargestError(1, 0.5)).bounds.upper == 1.0  # P[|Z| > 1] = .47, P[|Z| > 1/2] = .61
    assert optimal_noise(PureDP(20.0), LargestError(10, 0.5)).bounds.upper == 0.0


def test_a_bound_holds_for_feasible_noises_at_random():
    """Mixtures of normals and geometric laws on the lattice, each scaled until it keeps the promise."""
    rng = np.random.default_rng(3)
    lower = optimal_noise(NARROW, Tail(6.0), coordinates=2).bounds.lower
    x = np.arange(60)
    tried = 0
    while tried < 30:
        spread = rng.uniform(3.1, 6.0)
        log_p = -(x**2) / (2 * spread**2) + rng.normal(0, 0.02, len(x)).cumsum() * rng.choice([0.0, 0.2, 1.0])
        noise = LatticeNoise(0.0, tuple(log_p.tolist()), 3.0)
        orders = np.linspace(1, NARROW.omega, 60)
        if (exact.renyi_divergence(noise, 1.0, orders).upper <= 0.05 * orders).all():
            tried += 1
            assert 2 * noise.sf(6.0) >= lower


@pytest.mark.parametrize(
    ("guarantee", "objective", "coordinates", "message"),
    [
        (ZCDP(0.1, 0.5), Tail(3.0), 1, "xi = 0"),
        (MeanConcentratedDP(0.1, 0.5), Tail(3.0), 1, "valid: PureDP"),
        (ApproxDP(0.5, 1e-6), Tail(3.0), 2, "valid: 1"),
        (PureDP(0.0), Tail(3.0), 1, "valid: epsilon > 0"),
        (ApproxDP(0.0, 1e-9), MeanAbsoluteError(), 1, "5e.08 points"),
        (ApproxDP(0.1, 1e-9), Tail(1e9), 1, "valid: a smaller error"),
        (ZCDP(1e-7), Tail(3.0), 1, "valid: a larger rho"),
        (ZCDP(10.0), Tail(100.0), 1, "valid: a smaller one"),
        (NARROW, LargestError(1e300), 1, "valid: at least 1e-250"),
        (ZCDP(0.1), lambda noise: 1.0, 1, "valid: Tail"),
        (ZCDP(0.1), Tail(3.0), 0, "coordinates = 0"),
    ],
)
def test_what_is_refused(guarantee, objective, coordinates, message):
    with pytest.raises(ValueError, match=message):
        optimal_noise(guarantee, objective, coordinates)


@pytest.mark.parametrize("make", [lambda: Tail(-1.0), lambda: LargestError(0.5), lambda: LargestError(2, 1.0)])
def test_objectives_check_themselves(make):
    with pytest.raises(ValueError, match="is not valid"):
        make()


def test_small_rho_takes_many_points():
    best = optimal_noise(TCDP(0.001, 0.75 / sqrt(0.001)), Tail(125.0), coordinates=2)
    noise, bounds = best.noise, best.bounds
    assert log(bounds.upper, 10) == pytest.approx(-5.849, abs=0.001)
    assert bounds.lower > 0.99 * bounds.upper
    assert len(noise.log_mass) > 126


@pytest.mark.parametrize("fall", [1e-6, 0.3, 2.0])
def test_what_a_pair_adds_is_the_slope_of_its_divergences(fall):
    """Of p log(p/q) + q log(q/p) at order 1, of p^a q^(1-a) + q^a p^(1-a) over its limit above: by mpmath."""
    orders, multipliers, rho = np.array([1.0, 1.2, 3.0, 7.0]), np.array([0.7, 0.2, 0.5, 0.1]), 0.05
    pairs = _Pairs(SimpleNamespace(orders=orders, rho=rho), multipliers)

    def both(p, q):
        total = multipliers[0] / 2 * (p - q) * mp.log(p / q)
        for order, multiplier in zip(orders[1:], multipliers[1:]):
            limit = mp.exp(order * (order - 1) * rho)
            total += multiplier / (2 * limit) * (p**order * q ** (1 - order) + q**order * p ** (1 - order))
        return total

    with mp.workdps(40):
        q = mp.exp(-mp.mpf(fall))
        inner = mp.diff(lambda p: both(p, q), 1) - mp.diff(lambda p: both(p, 1), 1)
        outer = mp.diff(lambda x: both(1, x), q) - mp.diff(lambda x: both(1, x), 1)
    assert pairs.inner(fall) == pytest.approx(float(inner), rel=1e-9)
    assert pairs.outer(fall) == pytest.approx(float(outer), rel=1e-9)
