"""Noises without a known largest loss: the order from which on zCDP holds by itself, and what light tails can meet."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import special, stats

from tcdp_sim.calibration import calibrate
from tcdp_sim.calibration.tail_orders import least_order
from tcdp_sim.core import own_noises
from tcdp_sim.core.own_noises import Own
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal, TruncatedLaplace
from tcdp_sim.noise.light_tails import has_light_tails
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP


@dataclass(frozen=True, eq=False)
class Normal(Noise):
    """Gaussian noise as a user would write it: the package knows no theorem on it."""

    scale: float
    family = "own_normal"
    log_concave = True

    def logpdf(self, x):
        return stats.norm.logpdf(x, scale=self.scale)

    def sf(self, x):
        return stats.norm.sf(x, scale=self.scale)

    def logsf(self, x):
        return stats.norm.logsf(x, scale=self.scale)

    def isf(self, p):
        return stats.norm.isf(p, scale=self.scale)

    def var(self):
        return np.square(self.scale)

    def sample(self, size=None, *, rng):
        return rng.normal(0, self.scale, self.shape if size is None else size)

    def privacy_loss(self, y, shift):
        return np.multiply(shift, np.subtract(shift, np.multiply(2, y))) / (2 * np.square(self.scale))


@dataclass(frozen=True, eq=False)
class Quartic(Noise):
    """Noise with a density proportional to exp(-(x / scale)^4)."""

    scale: float
    family = "quartic"
    log_concave = True

    def logpdf(self, x):
        return -np.power(np.divide(x, self.scale), 4) - np.log(2 * self.scale * special.gamma(1.25))

    def sf(self, x):
        tail = special.gammaincc(0.25, np.power(np.divide(x, self.scale), 4)) / 2
        return np.where(np.less(x, 0), 1 - tail, tail)[()]

    def logsf(self, x):
        return np.log(self.sf(x))

    def isf(self, p):
        size = self.scale * special.gammainccinv(0.25, 2 * np.minimum(p, 1 - np.asarray(p, float))) ** 0.25
        return np.where(np.greater(p, 0.5), -size, size)[()]

    def var(self):
        return np.square(self.scale) * special.gamma(0.75) / special.gamma(0.25)

    def sample(self, size=None, *, rng):
        size = self.shape if size is None else size
        return self.scale * np.copysign(rng.standard_gamma(0.25, size) ** 0.25, rng.random(size) - 0.5)


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setattr(own_noises, "_HERE", {each.family: Own(each.family, each, "x") for each in (Normal, Quartic)})


def _laplace(scale, order):
    """Return D_order of Laplace noise at shift 1 (Mironov 2017, Table II)."""
    s = order - 1
    return np.logaddexp(np.log(order / (2 * order - 1)) + s / scale, np.log(s / (2 * order - 1)) - order / scale) / s


@pytest.mark.parametrize(("scale", "rho"), [(1.0, 0.4), (1.0, 0.01), (3.0, 0.005), (0.1, 9.0)])
def test_zcdp_of_laplace_noise_holds_from_the_order_on(scale, rho):
    order = least_order(Laplace(scale), 1.0, rho)
    assert 1 < order < 3 / (scale * rho) + 20 / np.sqrt(rho)
    orders = order * np.geomspace(1, 1e6, 500)
    assert (_laplace(scale, orders) <= rho * orders).all()


@pytest.mark.parametrize("rho", [0.01, 0.5, 10.0])
def test_gaussian_noise_has_such_an_order_if_and_only_if_it_is_wide_enough(rho):
    """D_a = a / (2 sigma^2) is at most rho a at all orders, or at none."""
    least = 1 / np.sqrt(2 * rho)
    assert np.isfinite(least_order(Gaussian(least * 1.01), 1.0, rho))
    assert np.isinf(least_order(Gaussian(least * 0.999), 1.0, rho))


@pytest.mark.parametrize(
    ("noise", "light"),
    [
        (Gaussian(2.0), False),
        (Laplace(2.0), False),
        (Normal(0.3), False),
        (Quartic(5.0), True),
        (SinhNormal(2.0, 3.0), True),
        (TruncatedLaplace(1.0, 4.0), True),
    ],
    ids=lambda value: getattr(value, "family", None),
)
def test_light_tails(noise, light):
    assert has_light_tails(noise) is light
    assert not (light and np.isfinite(least_order(noise, 1.0, 0.1)))


def test_a_class_joins_under_the_notion_that_its_tails_allow():
    assert (Normal.depends_on, Quartic.depends_on) == (("rho",), ("rho", "omega"))
    assert Normal.equal_privacy(0.2, omega=5.0) == ZCDP(0.2)
    assert Quartic.equal_privacy(0.2, omega=5.0) == TCDP(0.2, 5.0)


def test_a_class_of_bounded_support_joins_under_approximate_dp():
    class Bounded(Normal):
        family = "bounded"

        def max_order(self, shift):
            return 1.0

    assert Bounded.depends_on == ("rho", "delta")
    assert Bounded.equal_privacy(0.5, delta=1e-6) == ApproxDP(1.0, 1e-6)


def test_a_study_without_omega_is_told_why_light_tails_need_it(known):
    spec = {"family": "quartic", "calibration": "tight"}
    with pytest.raises(ValueError, match=r"quartic needs omega.*; quartic meets \(rho, omega\)-tCDP .* and no zCDP"):
        noise_axes.noise_law(spec, {"rho": 0.1})


def test_light_tails_are_refused_for_zcdp_in_a_line_that_names_the_notions(known):
    with pytest.raises(
        ValueError, match=r"quartic to zCDP: .* not bounded by rho a.* Choose \(rho, omega\)-tCDP"
    ) as line:
        calibrate("quartic", ZCDP(0.1))
    assert "\n" not in str(line.value)


@pytest.mark.slow
@pytest.mark.parametrize(("rho", "coordinates"), [(0.01, 1), (0.5, 1), (3.0, 2)])
def test_unbounded_losses_are_calibrated_at_all_orders(known, rho, coordinates):
    noise = calibrate("own_normal", ZCDP(rho), coordinates=coordinates).noise
    least = np.sqrt(coordinates / (2 * rho))
    assert least <= noise.scale <= 1.001 * least
