"""Renyi divergences against mpmath, closed forms by hand, the errata's tables, and identities."""

import mpmath as mp
import numpy as np
import pytest
from composed_pairs import renyi_divergence_between
from foreign_noises import Cusped
from open_forms import of_any_noise
from scipy import integrate, stats

from tcdp_sim.exact import Bounds, Mixture, max_order, renyi_divergence
from tcdp_sim.exact.renyi import divergence
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal, TruncatedLaplace

GENERIC = of_any_noise(divergence._finite_renyi)
ORDERS = np.array([1, 1 + 1e-9, 1.001, 1.5, 2, 5, 30.0])


@mp.workdps(40)
def sinh_normal_mp(scale, knee, shift, order):
    """log E_P[(P/Q)^(a-1)] / (a-1) by mpmath in 40 digits, from the density's definition."""
    scale, knee, shift, order = (mp.mpf(v) for v in (scale, knee, shift, order))

    def log_density(x):
        return -((knee / scale * mp.sinh(x / knee)) ** 2) / 2 + mp.log(mp.cosh(x / knee))

    def integrand(x):
        return mp.exp(order * log_density(x) - (order - 1) * log_density(x - shift))

    reach = knee * mp.asinh(scale / knee * 3000)
    total = mp.quad(integrand, mp.linspace(-reach, reach, 120)) / (scale * mp.sqrt(2 * mp.pi))
    return float(mp.log(total) / (order - 1))


@pytest.mark.parametrize(
    ("scale", "knee", "shift", "order"),
    [
        (4, 20, 1, 1.5),
        (4, 20, 1, 10),
        (4, 20, 1, 10.4),
        (40, 400, -1, 30),
        (4000, 4e5, 1, 3),
        (1, 1.2, 1, 1.2),
        (4e4, 1e6, 1, 1.0001),
        (3, 1, 0.5, 1.3),
        (12.08, 22.1, 2, 5),
    ],
)
def test_sinh_normal_against_mpmath(scale, knee, shift, order):
    found = renyi_divergence(SinhNormal(scale, knee), shift, order)
    truth = sinh_normal_mp(scale, knee, shift, order)
    assert found.lower <= truth <= found.upper
    assert found.estimate == pytest.approx(truth, rel=1e-12)
    assert found.upper - found.lower <= 1e-10 * truth


@pytest.mark.parametrize("shift", [1e-6, 0.3, 2.0])
def test_gaussian_closed_form_and_the_generic_path(shift):
    noise = Gaussian(0.7)
    truth = ORDERS * (shift / 0.7) ** 2 / 2
    np.testing.assert_allclose(renyi_divergence(noise, shift, ORDERS).estimate, truth, rtol=1e-13)
    np.testing.assert_allclose(GENERIC(noise, shift, ORDERS).estimate, truth, rtol=1e-11)


@pytest.mark.parametrize("theta", [1e-6, 0.01, 0.09, 0.5, 3.0, 40.0])
@mp.workdps(40)
def test_laplace_closed_form_against_the_generic_path_and_mpmath(theta):
    found = renyi_divergence(Laplace(2.0), 2.0 * theta, ORDERS).estimate
    np.testing.assert_allclose(GENERIC(Laplace(2.0), 2.0 * theta, ORDERS).estimate, found, rtol=1e-10)
    t = mp.mpf(2.0 * theta) / 2
    for order, value in zip(ORDERS[1:], found[1:]):
        a = mp.mpf(float(order))
        mean = a / (2 * a - 1) * mp.exp((a - 1) * t) + (a - 1) / (2 * a - 1) * mp.exp(-a * t)
        assert value == pytest.approx(float(mp.log(mean) / (a - 1)), rel=1e-12)
    assert found[0] == pytest.approx(float(t + mp.expm1(-t)), rel=1e-12)


def test_kullback_leibler_against_scipy():
    noise = SinhNormal(2.0, 3.0)
    truth = integrate.quad(lambda x: noise.pdf(x) * (noise.logpdf(x) - noise.logpdf(x - 1)), -15, 15, epsabs=1e-13)[0]
    assert renyi_divergence(noise, 1.0, 1).estimate == pytest.approx(truth, rel=1e-10)


def test_where_it_is_infinite():
    noise = SinhNormal(4.0, 20.0)
    critical = 1 / (1 - np.exp(-2 / 20))
    assert max_order(noise, 1.0) == pytest.approx(critical, rel=1e-14)
    found = renyi_divergence(noise, 1.0, np.array([critical * (1 - 1e-3), critical * (1 + 1e-11), 100, np.inf]))
    assert np.isfinite(found.estimate[0])
    assert np.isinf(found.lower[1:]).all()
    assert renyi_divergence(TruncatedLaplace(1.0, 5.0), 0.1, 1).estimate == np.inf
    assert renyi_divergence(Gaussian(1.0), 0.1, np.inf).estimate == np.inf
    assert renyi_divergence(Laplace(2.0), 1.0, np.inf).estimate == pytest.approx(0.5)


@pytest.mark.parametrize(("noise", "truth"), [(Laplace(0.4), 2.5), (Gaussian(1.0), np.inf), (SinhNormal(1, 2), np.inf)])
def test_the_max_divergence_of_a_noise_known_by_its_loss_alone(noise, truth):
    found = renyi_divergence_between(Mixture(noise), Mixture(noise, (1.0,)), np.inf)
    assert found.estimate == pytest.approx(truth, rel=1e-12)
    assert found.lower <= truth <= found.upper


def test_no_shift_no_divergence():
    for noise in (Gaussian(1.0), Laplace(1.0), TruncatedLaplace(1.0, 2.0), SinhNormal(1.0, 2.0)):
        assert renyi_divergence(noise, 0.0, 3.0) == (0, 0, 0)


@pytest.mark.parametrize("noise", [Laplace(1.3), SinhNormal(2.0, 2.5), SinhNormal(2.0, 1.0)])
def test_monotone_in_order_and_symmetric(noise):
    orders = np.linspace(1, 0.98 * min(max_order(noise, 1.0), 20), 30)
    found = renyi_divergence(noise, 1.0, orders)
    assert (np.diff(found.estimate) > 0).all()
    np.testing.assert_array_equal(found.estimate, renyi_divergence(noise, -1.0, orders).estimate)


def test_postprocessing_cannot_increase_it():
    """Data processing: any two-valued function of the output diverges less than the output itself."""
    noise, order = SinhNormal(2.0, 3.0), 1.8
    whole = renyi_divergence(noise, 1.0, order).lower
    for cut in np.linspace(-6, 7, 27):
        p, q = noise.cdf(cut), noise.cdf(cut - 1)
        coarse = np.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)
        assert coarse <= whole


def test_a_noise_known_by_its_density_alone():
    """A new noise needs nothing but the protocol: the logistic distribution, against scipy's quadrature."""

    class Logistic(Noise):
        shape = ()

        def logpdf(self, x):
            return stats.logistic.logpdf(x)

        def sf(self, x):
            return stats.logistic.sf(x)

        def logsf(self, x):
            return stats.logistic.logsf(x)

        def isf(self, p):
            return stats.logistic.isf(p)

        def var(self):
            return stats.logistic.var()

        def sample(self, size=None, *, rng):
            return rng.logistic(size=size)

    noise, order = Logistic(), 2.5
    mean = integrate.quad(
        lambda x: np.exp(order * noise.logpdf(x) - (order - 1) * noise.logpdf(x - 1)), -60, 60, epsabs=0, epsrel=1e-13
    )[0]
    assert renyi_divergence(noise, 1.0, order).estimate == pytest.approx(np.log(mean) / (order - 1), rel=1e-10)


@pytest.mark.parametrize(
    ("rho", "m", "tight"),
    [(1e-2, 1, 1.638), (1e-3, 1, 1.661), (1e-4, 1, 1.670), (1e-4, 2, 1.161), (1e-4, 8, 1.024), (1, 16, 1.011)],
)
def test_errata_d1_the_tight_constant_of_theorem_17(rho, m, tight):
    """sup of D_a / (rho a) over a < knee / 8; the theorem claims 16."""
    knee = m / np.sqrt(rho)
    noise = SinhNormal(1 / np.sqrt(2 * rho), knee)
    orders = np.linspace(1, knee / 8, 60)
    assert (renyi_divergence(noise, 1.0, orders).estimate / (rho * orders)).max() == pytest.approx(tight, abs=6e-4)


@pytest.mark.parametrize(("omega_sqrt_rho", "ratio"), [(0.125, 1.823), (0.15, 1.262), (0.17, 0.982), (0.25, 0.464)])
def test_errata_e4_corollary_18_fails_at_the_low_end_of_its_printed_window(omega_sqrt_rho, ratio):
    rho = 1e-2
    omega = omega_sqrt_rho / np.sqrt(rho)
    noise = SinhNormal(4 / np.sqrt(rho), 8 * omega)
    orders = np.linspace(1, omega, 60)
    assert (2 * renyi_divergence(noise, 1.0, orders).estimate / (rho * orders)).max() == pytest.approx(ratio, abs=6e-4)


@pytest.mark.parametrize(("m", "kappa", "limit"), [(1, 0.25, 1.866), (np.sqrt(2), 0.4, 1.909), (4, 0.45, 1.512)])
def test_the_limit_law_for_small_rho(m, kappa, limit):
    rho = 1e-10
    knee = m / np.sqrt(rho)
    order = kappa * knee
    found = renyi_divergence(SinhNormal(1 / np.sqrt(2 * rho), knee), 1.0, order).estimate
    assert found / (rho * order) == pytest.approx(limit, abs=6e-4)


@pytest.mark.parametrize("order", [0.5, np.nan, -1, "two"])
def test_bad_orders_are_refused(order):
    with pytest.raises(ValueError, match="order = "):
        renyi_divergence(Gaussian(1.0), 1.0, order)


@pytest.mark.parametrize("shift", [np.nan, np.inf])
def test_bad_shifts_are_refused(shift):
    with pytest.raises(ValueError, match="shift = "):
        renyi_divergence(Gaussian(1.0), shift, 2.0)


@mp.workdps(40)
def far_sinh_normal_mp(scale, knee, shift, order):
    """As above, for integrands with one narrow peak far out: cut at 40 of its widths."""
    scale, knee, shift, order = (mp.mpf(v) for v in (scale, knee, shift, order))

    def exponent(x):
        def log_density(x):
            return -((knee / scale * mp.sinh(x / knee)) ** 2) / 2 + mp.log(mp.cosh(x / knee))

        return order * log_density(x) - (order - 1) * log_density(x - shift)

    peak = mp.findroot(lambda x: mp.diff(exponent, x), -(order - 1) * shift)
    width = 1 / mp.sqrt(-mp.diff(exponent, peak, 2))
    top = exponent(peak)
    panels = [peak + width * step for step in mp.linspace(-40, 40, 41)]
    total = mp.quad(lambda x: mp.exp(exponent(x) - top), panels)
    return float((top + mp.log(total / (scale * mp.sqrt(2 * mp.pi)))) / (order - 1))


FAR = [
    (1, 1e3, 1, 300),
    (1, 1e4, 1, 1000),
    (1, 1e6, 1, 5000),
    (100, 1e9, 1, 1e6 + 1),
    (0.01, 100, 2, 20),
    (700, 3e7, 1, 3e5),
]


@pytest.mark.parametrize(("scale", "knee", "shift", "order"), FAR)
def test_orders_that_peak_far_outside_of_the_noise(scale, knee, shift, order):
    """The peak lies about (order - 1) shifts away, hundreds of standard deviations."""
    found = renyi_divergence(SinhNormal(scale, knee), shift, order)
    truth = far_sinh_normal_mp(scale, knee, shift, order)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 1e-10 * truth


@pytest.mark.parametrize("reach", [100, 1e3, 1e4])
def test_the_gaussian_limit_far_out(reach):
    """knee = 1e12 scales is Gaussian noise to 1e-16 (reach / 1e12 squared): D_a = a / 2."""
    found = renyi_divergence(SinhNormal(1.0, 1e12), 1.0, 1 + reach)
    assert found.estimate == pytest.approx((1 + reach) / 2, rel=1e-11)


def test_near_and_far_orders_in_one_call():
    orders = np.array([1.0, 1.5, 2.0, 40.0, 300.0])
    together = renyi_divergence(SinhNormal(1.0, 1e3), 1.0, orders)
    for order, value in zip(orders, together.estimate):
        assert renyi_divergence(SinhNormal(1.0, 1e3), 1.0, order).estimate == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize("scale", [1e-3, 1e-2, 1.0])
def test_a_shift_of_many_scales_at_order_one(scale):
    """Gaussian in the limit: shift^2 / (2 scale^2), up to (shift / knee)^2 / 3."""
    found = renyi_divergence(SinhNormal(scale, 1e6), 1.0, 1)
    assert found.lower <= found.estimate <= found.upper
    assert found.estimate == pytest.approx(0.5 / scale**2, rel=1e-9)


def test_an_integrand_that_is_cut_off_has_no_upper_bound(monkeypatch):
    """Where even the far grid were too short, only a lower bound may be claimed."""
    monkeypatch.setattr(divergence, "_far_arm", lambda noise, shift, order: divergence._arm(noise))
    found = renyi_divergence(SinhNormal(1.0, 1e3), 1.0, 300.0)
    assert found.lower <= 166.5976
    assert found.upper == np.inf


@pytest.mark.parametrize("below", [1e-2, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize(("scale", "knee"), [(4.0, 20.0), (1.0, 1.2)])
@mp.workdps(60)
def test_near_the_largest_finite_order(below, scale, knee):
    """The exponent is minus a small multiple of cosh: log P and s L cancel to within `below` of themselves."""
    noise = SinhNormal(scale, knee)
    order = float(max_order(noise, 1.0) * (1 - below))
    a, c, s = mp.mpf(order), mp.mpf(knee), mp.mpf(scale)

    def term(u):
        x = c * u
        z, w = (c / s * mp.sinh(v / c) for v in (x, x - 1))
        log_cosh = a * mp.log(mp.cosh(x / c)) - (a - 1) * mp.log(mp.cosh((x - 1) / c))
        return mp.exp(log_cosh - (a * z * z - (a - 1) * w * w) / 2)

    step, reach = mp.mpf(1) / 64, 1800  # the trapezoid rule, in units of the knee: doubly exponential decay
    total = sum(term(step * n) for n in range(-reach, 700)) * step * c / (s * mp.sqrt(2 * mp.pi))
    truth = mp.log(total) / (a - 1)
    found = renyi_divergence(noise, 1.0, order)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-6 * truth
    mixed = renyi_divergence_between(Mixture(noise), Mixture(noise, (1.0,)), order)
    assert mixed.lower <= truth <= mixed.upper


def test_at_the_largest_order_itself_only_a_lower_bound_is_sure():
    noise = SinhNormal(4.0, 20.0)
    found = renyi_divergence(noise, 1.0, float(max_order(noise, 1.0)))
    assert 1 < found.lower < found.upper == np.inf


@pytest.mark.parametrize("over", [0.0, 2.0**-52, 1e-12, 1e-9, 1e-4])
def test_orders_next_to_one(over):
    """Laplace(1), shift 1: 1/e at order 1, and by its closed form above."""
    order = 1 + over
    with mp.workdps(60):
        a = mp.mpf(order)
        mean = a / (2 * a - 1) * mp.exp(a - 1) + (a - 1) / (2 * a - 1) * mp.exp(-a)
        truth = mp.log(mean) / (a - 1) if over else mp.exp(-1)
    noise = Laplace(1.0)
    for found in (
        renyi_divergence(noise, 1.0, order),
        renyi_divergence_between(Mixture(noise), Mixture(noise, (1.0,)), order),
        Bounds(*(part[0] for part in GENERIC(noise, 1.0, np.array([order])))),
    ):
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower < 1e-9


def test_next_to_order_one_far_losses_keep_their_digits():
    """Two ulp above one sinh-normal noise has the divergence of order 1, where losses above 30 count 1e-13."""
    noise = SinhNormal(1.0, 2.0)
    found, one = renyi_divergence(noise, 1.0, 1 + 2.0**-51), renyi_divergence(noise, 1.0, 1)
    assert found.estimate == pytest.approx(one.estimate, rel=1e-13)


@pytest.mark.parametrize(("power", "shift", "order"), [(0.1, 1e-6, 20), (0.25, 1e-3, 5), (0.5, 0.01, 3), (0.5, 1.0, 2)])
def test_a_cusp_that_a_noise_does_not_speak_of(power, shift, order):
    """The grid of smooth noises said 1.95e-15 for the first, with an error of 1e-18; the truth is 6.42e-15."""
    noise = Cusped(2.0, power)
    with mp.workdps(40):
        truth = float(noise.mp_renyi(2.0 * shift, order))
    found = renyi_divergence(noise, 2.0 * shift, order)
    assert found.lower <= truth <= found.upper


def test_the_largest_order_of_a_cusped_noise():
    """At infinite order it is the largest loss, (shift / scale)^power."""
    found = renyi_divergence(Cusped(2.0, 0.5), 2.0, np.inf)
    assert found.lower <= 1.0 <= found.upper


@pytest.mark.parametrize("shift", [130.0, 150.0, 200.0, 1000.0])
def test_order_one_is_finite_where_the_largest_order_rounds_to_one(shift):
    """Sinh-normal noise far away from itself: by mpmath's quadrature, in 30 digits."""
    noise = SinhNormal(3, 10)

    def log_density(z):
        return -((mp.mpf(10) / 3 * mp.sinh(z / 10)) ** 2) / 2 + mp.log(mp.cosh(z / 10) / 3) - mp.log(2 * mp.pi) / 2

    with mp.workdps(30):
        known = mp.quad(
            lambda z: mp.exp(log_density(z)) * (log_density(z) - log_density(z - shift)),
            [-40, -20, -10, -5, 0, 5, 10, 20, 40],
        )
    bounds = renyi_divergence(noise, shift, 1.0)
    assert bounds.lower <= known <= bounds.upper
    assert shift > 150 or bounds.upper - bounds.lower <= 1e-9 * known  # beyond, moments on the way leave the floats
    beyond = renyi_divergence(noise, shift, 1.0 + 1e-10)
    assert bounds.lower * (1 - 1e-9) <= beyond.lower
    assert beyond.upper == np.inf
