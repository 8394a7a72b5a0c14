"""The contract of a noise class from outside: each method that it may define is found out if it is wrong."""

from dataclasses import dataclass
from functools import cache

import foreign_noises
import mpmath as mp
import numpy as np
import pytest
from noise_examples import EVERY
from scipy.special import gamma, gammaincc, gammainccinv, gammaln

from tcdp_sim import exact
from tcdp_sim.accounting import Additive, Ledger
from tcdp_sim.calibration import calibrate
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.numerics import closed_form
from tcdp_sim.noise import FAMILIES, Noise
from tcdp_sim.noise.base import OF_OUTPUTS
from tcdp_sim.noise.contract import broken
from tcdp_sim.noise.guard import GUARDED
from tcdp_sim.privacy import ApproxDP

POWER = 1.5


@dataclass(frozen=True, eq=False)
class Subbotin(Noise):
    """Noise with the density exp(-|x / scale|^1.5), by the six methods alone."""

    scale: float
    family = "subbotin"
    log_concave = True

    def logpdf(self, x):
        return -(np.abs(np.divide(x, self.scale)) ** POWER) - np.log(2 * self.scale) - gammaln(1 + 1 / POWER)

    def sf(self, x):
        x = np.asarray(x, dtype=float)
        tail = 0.5 * gammaincc(1 / POWER, np.abs(x / self.scale) ** POWER)
        return np.where(x >= 0, tail, 1 - tail)[()]

    def logsf(self, x):
        return np.log(self.sf(x))

    def isf(self, p):
        p = np.asarray(p, dtype=float)
        x = self.scale * gammainccinv(1 / POWER, 2 * np.minimum(p, 1 - p)) ** (1 / POWER)
        return np.where(p <= 0.5, x, -x)[()]

    def var(self):
        return self.scale**2 * gamma(3 / POWER) / gamma(1 / POWER)

    def sample(self, size=None, *, rng):
        return self.isf(rng.random(size))


def cancelling(noise, y, shift):
    return (np.abs(np.subtract(y, shift)) ** POWER - np.abs(y) ** POWER) / noise.scale**POWER


def turned(method, change):
    return lambda noise, x: change(getattr(Subbotin, method)(noise, x))


WRONG = {  # what is wrong -> the methods, and a word that the complaint has
    "the quantiles": ({"isf": turned("isf", lambda x: 1.001 * x)}, "sf("),
    "the tails": ({"sf": turned("sf", lambda p: p**1.01)}, "isf"),
    "their logs": ({"logsf": turned("logsf", lambda log_p: log_p + 1e-3)}, "logsf("),
    "the density": ({"logpdf": turned("logpdf", lambda log_p: log_p + 1e-3)}, "integral"),
    "a form of the density": ({"pdf": turned("pdf", lambda p: 2 * p)}, "integral"),
    "the cdf": ({"cdf": turned("cdf", lambda p: p**1.01)}, "cdf("),
    "the lower quantiles": ({"ppf": turned("ppf", lambda x: -x)}, "ppf("),
    "the symmetry": (
        {"logpdf": lambda noise, x: Subbotin.logpdf(noise, np.where(np.less(x, 0), 1.1, 1) * x)},
        "logpdf(",
    ),
    "scalars": ({"logpdf": lambda noise, x: Subbotin.logpdf(noise, x) + (np.ndim(x) == 0)}, "array"),
    "arrays": ({"logpdf": lambda noise, x: float(Subbotin.logpdf(noise, x))}, "TypeError"),
    "the variance": ({"var": lambda noise: 1.01 * Subbotin.var(noise)}, "var("),
    "the draws": ({"sample": lambda noise, size=None, *, rng: 1.5 * noise.isf(rng.random(size))}, "sample"),
    "the stream": (
        {"sample": lambda noise, size=None, *, rng: noise.isf(np.random.default_rng().random(size))},
        "stream",
    ),
    "the shape of draws": ({"sample": lambda noise, size=None, *, rng: noise.isf(rng.random())}, "shape"),
    "a loss that cancels": ({"privacy_loss": cancelling}, "loses digits far from zero"),
    "a loss with NaN": (
        {"privacy_loss": lambda noise, y, shift: np.where(np.less(shift, 0), np.nan, cancelling(noise, y, shift))},
        "nan",
    ),
    "twice the loss": (
        {"privacy_loss": lambda noise, y, shift: 2 * cancelling(noise, y, shift)},
        "difference of log densities",
    ),
    "the sign of the loss": (
        {"privacy_loss": lambda noise, y, shift: -cancelling(noise, y, shift)},
        "difference of log",
    ),
    "the largest loss": ({"largest_loss": lambda noise, shift: 1.0}, "largest_loss("),
    "a density that is not log-concave": ({"log_concave": True, "base": foreign_noises.Student}, "log_concave is True"),
    "a closed profile": (
        {"closed_hockey_stick": lambda noise, shift, epsilon: closed_form(np.exp(-epsilon))},
        "closed_hockey",
    ),
    "a closed divergence": (
        {"closed_renyi": lambda noise, shift, order: closed_form(order * shift**2)},
        "closed_renyi",
    ),
    "quantiles of logs": ({"isf_log": lambda noise, log_p: noise.isf(np.exp(0.5 * np.asarray(log_p)))}, "isf_log"),
    "the kurtosis": ({"kurtosis": lambda noise: 3.0}, "kurtosis"),
    "draws in place": ({"fill": lambda noise, out, *, rng: rng.random(out=out)}, "fill"),
    "the scaled law": ({"scaled": lambda noise, factor: type(noise)(noise.scale)}, "scaled"),
    "the radius": ({"accuracy_radius": lambda noise, k, failure: noise.isf(failure)}, "accuracy_radius"),
    "a stretched loss": ({"affine_loss": lambda noise, x, log_scale, shift: 0.0 * np.asarray(x)}, "affine_loss"),
}


def wrong(name):
    methods = dict(WRONG[name][0])
    base = methods.pop("base", Subbotin)
    return dataclass(frozen=True, eq=False)(type("Wrong", (base,), methods))


def example(cls):
    return cls(2.0) if len(cls.parameters()) == 1 else cls(2.0, 3.0)


@pytest.mark.parametrize("name", WRONG)
def test_each_mistake_is_named(name):
    lines = list(broken(example(wrong(name))))
    assert lines
    assert WRONG[name][1] in " ".join(lines)
    assert all("\n" not in line and "; valid: " in line for line in lines)


@pytest.mark.parametrize("name", WRONG)
def test_no_number_of_a_wrong_noise_is_believed(name):
    """Whatever is used first, the class is refused in one line."""
    noise = example(wrong(name))
    with pytest.raises(UserError, match="breaks the contract of a noise") as refused:
        exact.max_abs_quantile(noise, 10, 0.5)
    assert "\n" not in str(refused.value)
    for use in (
        lambda: exact.hockey_stick(noise, 1.0, 1.0),
        lambda: Ledger([Additive(noise)]).epsilon(1e-6),
        lambda: noise.sample(3, rng=np.random.default_rng(1)),
        lambda: noise.var(),
    ):
        with pytest.raises(UserError, match="contract"):
            use()


@pytest.mark.parametrize("noise", EVERY, ids=repr)
def test_the_noises_of_the_package_keep_the_contract(noise):
    assert list(broken(noise)) == []


@cache
def profile():
    """The integral of (f(x) - e f(x - 1))_+ at scale 1, in 30 digits."""
    with mp.workdps(30):

        def gap(x):
            densities = (mp.exp(-(abs(y) ** mp.mpf(POWER))) for y in (x, x - 1))
            return (next(densities) - mp.e * next(densities)) / (2 * mp.gamma(1 + 1 / mp.mpf(POWER)))

        end = mp.findroot(gap, (-0.5, 0), solver="anderson")
        return mp.quad(gap, [-20, -5, -2, -1, -0.5, end])


@pytest.mark.parametrize("noise", [Subbotin(0.01), Subbotin(1.0), Subbotin(1e6)], ids=repr)
def test_a_right_noise_keeps_it_at_every_scale(noise):
    assert list(broken(noise)) == []
    truth = float(profile())
    found = exact.hockey_stick(noise, noise.scale, 1.0)
    assert found.lower <= truth * (1 + 1e-13)
    assert truth * (1 - 1e-13) <= found.upper


def test_a_second_shape_of_a_class_is_checked_too():
    @dataclass(frozen=True, eq=False)
    class Shaped(Subbotin):
        shape_parameter: float = 1.0

        def sf(self, x):
            return Subbotin.sf(self, x) ** self.shape_parameter

    assert Shaped(1.0, 1.0).sf(0.5) == Subbotin(1.0).sf(0.5)
    with pytest.raises(UserError, match="contract"):
        Shaped(1.0, 1.2).sf(0.5)


def test_nan_is_an_error_that_names_the_method_and_the_arguments():
    """Beyond what the contract looks at: the loss is NaN in a narrow window."""

    @dataclass(frozen=True, eq=False)
    class Gap(Subbotin):
        def logpdf(self, x):
            return np.where(np.abs(np.subtract(x, 1.2345)) < 1e-6, np.nan, Subbotin.logpdf(self, x))

    noise = Gap(1.0)
    assert noise.logpdf(1.0) == Subbotin(1.0).logpdf(1.0)
    with pytest.raises(UserError, match=r"logpdf\(1\.2345\) is NaN"):
        noise.logpdf(np.array([0.0, 1.2345]))
    with pytest.raises(UserError, match=r"is NaN; valid: a number"):
        noise.privacy_loss(1.2345, 1.0)
    assert np.isnan(noise.logpdf(np.nan))
    assert np.isnan(noise.isf(2.0)) or noise.isf(2.0) is not None


def test_methods_of_a_class_that_is_no_noise_are_guarded_too():
    class Mixin:
        def isf(self, p):
            return 1.01 * Subbotin.isf(self, p)

    @dataclass(frozen=True, eq=False)
    class Mixed(Mixin, Subbotin):
        pass

    with pytest.raises(UserError, match="contract"):
        Mixed(1.0).isf(0.1)


def test_a_parameter_that_is_not_in_counts_needs_scaled():
    @dataclass(frozen=True, eq=False)
    class Weighted(Subbotin):
        weight: float = 1.0

        def sf(self, x):
            return Subbotin.sf(self, np.divide(x, self.weight))

        def isf(self, p):
            return self.weight * Subbotin.isf(self, p)

        def logpdf(self, x):
            return Subbotin.logpdf(self, np.divide(x, self.weight)) - np.log(self.weight)

        def var(self):
            return self.weight**2 * Subbotin.var(self)

    with pytest.raises(ValueError, match=r"not every parameter is in counts.*Define `scaled`"):
        Weighted(1.0, 2.0).scaled(3.0)
    assert Subbotin(1.0).scaled(3.0) == Subbotin(3.0)


def test_everything_that_a_plug_in_may_define_has_a_mistake_here():
    """Methods of outputs and draws; what is not among them is listed with its reason."""
    tried = {name for methods, _ in WRONG.values() for name in methods}
    not_tried = {
        "logcdf": "the same check as cdf",
        "closed_affine_renyi": "its bounds are compared with quadrature in calibrate_smooth's own search",
    }
    assert {*OF_OUTPUTS, *GUARDED} == (tried & {*OF_OUTPUTS, *GUARDED}) | set(not_tried)


def test_calibration_refuses_a_loss_that_cancels(monkeypatch):
    monkeypatch.setitem(FAMILIES, "subbotin", wrong("a loss that cancels"))
    with pytest.raises(UserError, match="loses digits far from zero"):
        calibrate("subbotin", ApproxDP(1.0, 1e-6))
