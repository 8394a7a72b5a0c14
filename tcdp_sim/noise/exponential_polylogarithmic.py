"""Exponential polylogarithmic noise, whose privacy loss grows as a power of the log of a record's influence."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtri_exp

from tcdp_sim.core.arrays import Floats, Reals
from tcdp_sim.core.errors import scalar
from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.laplace import difference_of_sizes
from tcdp_sim.privacy.definitions import Guarantee

_DROP = 45.0  # nats below the peak; the integrals end where the log-concave integrand has fallen that far
_PANELS, _NODES = 8, 20  # on either side of the peak; 20 nodes integrate a fall of e^-6 per panel to the last digits
_STEPS = 100  # limit on the steps of Newton's method, which approaches from one side and needs about ten
_CONVERGED = 1e-14  # relative size of the last step, which is still made
_LOG_RANGE, _HALVINGS = 690.0, 26  # bisection of the logs of distances from e^-690 to e^690
_ROUNDING = 1e-12  # tolerance for offset = e^(power - 1), since math.e**2 < math.exp(2)
_FURTHEST = 700.0  # log of the noise's size; above, draws overflow
_DEEPEST = -1e290  # log of a tail; below, products with it overflow, and its quantile is inf anyway
_CERTAINLY_INFINITE = 1e15  # mode of the log of the square; above, the height at the mode overflows
_LARGEST_START = 1e3  # normal deviates; above, their differences lose digits and rejection is better


@dataclass(frozen=True, eq=False)
class ExponentialPolylogarithmic(Noise):
    """Noise with a density proportional to exp(-rate log(|x| / scale + offset)^power).

    A record of influence t, in counts, has a privacy loss of at most
    rate (log(t / scale + offset)^power - log(offset)^power) nats. The log density is never concave. The variance is inf
    for power 1 and rate <= 3. Quantiles beyond the largest float are inf.

    Source: Finley et al. (2024), Section 5 and Table 3 (with its variances corrected) [Fin24].

    Parameters
    ----------
    scale : float
        Scale of the noise, in counts, above 0.
    power : float
        Power of the logarithm, at least 1.
    offset : float
        Offset inside the logarithm, above 0. For power > 1 it must be at least e^(power - 1).
    rate : float
        Factor of the power, in nats, above 0. For power 1 it must be above 1.

    Examples
    --------
    >>> ExponentialPolylogarithmic(1.0, 1.0, 1.0, 4.0).var()
    1.0
    """

    # All computations are in W = log(1 + |Z| / (scale offset)), because its law is log-concave whatever the tails of Z.
    # Its density is proportional to e^(W - rise(W)), with rise(w) = rate ((l + w)^power - l^power) and l = log(offset).

    scale: float
    power: float
    offset: float
    rate: float
    family = "exponential_polylogarithmic"
    guarantees = "none by a name alone: its power, offset and rate have to be given as well"
    log_concave_if = "never"
    tail_cost = 5 * _PANELS * _NODES  # two integrals, each of two sides, and the places of their panels

    def __post_init__(self) -> None:
        for name in ("scale", "power", "offset", "rate"):
            self._freeze(**{name: scalar(name, getattr(self, name), 0)})
        _refuse_bad_power(self.power, self.rate)
        if self.power == 1:
            return
        least = np.exp(self.power - 1)
        if self._l <= 0 or self.offset < least * (1 - _ROUNDING):
            raise ValueError(
                f"offset = {self.offset:g} is not valid; valid: offset >= e^(power - 1) = {least:.6g} at power = "
                f"{self.power:g} (below, the loss is larger than its formula says)"
            )
        if not (np.isfinite(self.rate * self._l**self.power) and self._mode() < _FURTHEST):
            raise ValueError(
                f"rate = {self.rate:g} is not valid; valid: a rate at which log density and median are floats, "
                f"at power = {self.power:g} and offset = {self.offset:g}"
            )

    def logpdf(self, x: ArrayLike) -> Reals:
        size = np.log(2 * self.scale * self.offset)
        return -self._rise(0.0, self._w(x)) - size - self._log_mass

    def sf(self, x: ArrayLike) -> Reals:
        return np.exp(self.logsf(x))

    def logsf(self, x: ArrayLike) -> Reals:
        w = np.asarray(self._w(x))
        if self.power == 1:
            log_tail = -(self.rate - 1) * w - np.log(2)
            return np.where(np.less(x, 0), np.log1p(-0.5 * np.exp(-(self.rate - 1) * w)), log_tail)[()]
        central, log_tail = self._log_parts(w)  # log P[W < w] and log P[W > w]
        near = central < -np.log(2)
        below = np.where(near, 0.5 * np.exp(central), -0.5 * np.expm1(log_tail))  # P[0 < Z < |x|]
        log_tail = np.where(near, np.log(0.5 - np.minimum(below, 0.25)), log_tail - np.log(2))
        lower = np.where(near, np.log(0.5 + below), np.log1p(-np.exp(log_tail)))
        return np.where(np.less(x, 0), lower, log_tail)[()]

    def isf(self, p: ArrayLike) -> Reals:
        p = np.asarray(p, dtype=np.float64)
        small = np.minimum(p, 1 - p)  # 1 - p is exact for p >= 1/2
        valid = (p >= 0) & (p <= 1)
        small = np.where(valid, small, 0.5)
        with np.errstate(divide="ignore"):
            size = self._size_beyond(np.log(2 * small), np.log1p(-2 * small))
        return np.where(valid, np.where(p > 0.5, -size, size), np.nan)[()]

    def isf_log(self, log_p: ArrayLike) -> Reals:
        log_p = np.asarray(log_p, dtype=np.float64)
        deep = np.minimum(log_p, -1.0) + np.log(2)
        return np.where(log_p < -1, self._size_beyond(deep, np.log1p(-np.exp(deep))), self.isf(np.exp(log_p)))[()]

    def var(self) -> Reals:
        unit = self.scale * self.offset
        if self.power == 1:
            return 2 * unit * unit / ((self.rate - 2) * (self.rate - 3)) if self.rate > 3 else np.inf
        with np.errstate(over="ignore"):
            return float(np.exp(self._log_moment(2) + 2 * np.log(unit)))

    def kurtosis(self) -> float:
        if self.power == 1:
            d = self.rate
            return 6 * (d - 2) * (d - 3) / ((d - 4) * (d - 5)) if d > 5 else np.inf
        fourth = self._log_moment(4)
        with np.errstate(over="ignore"):
            return float(np.exp(fourth - 2 * self._log_moment(2))) if fourth < np.inf else np.inf

    def _log_moment(self, k: int) -> float:
        """Return log E (|Z| / (scale offset))^k for power > 1; inf where it is no float.

        The computation uses |Z / (scale offset)|^k = e^(kw) (1 - e^-w)^k.
        """
        mode = self._mode(k + 1.0)
        if mode > _CERTAINLY_INFINITE:
            return np.inf
        rest = _log_integral(lambda w, step: self._climb(w, step, k + 1.0), np.array(mode), 0.0, np.inf, moment=k)
        return float(self._climb(0.0, mode, k + 1.0) + rest - self._log_mass)

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        shape = np.empty(() if size is None else size).shape
        count = int(np.prod(shape))
        w = self._draw_w(rng, count).reshape(shape)
        with np.errstate(over="ignore"):
            return (self.scale * self.offset * np.copysign(np.expm1(w), rng.random(shape) - 0.5))[()]

    def privacy_loss(self, y: ArrayLike, shift: ArrayLike) -> Reals:
        # The rise from the nearer centre to the further one, in which nothing cancels.
        y, shift = np.asarray(y, dtype=np.float64), np.asarray(shift, dtype=np.float64)
        further = difference_of_sizes(y, shift)
        gap, near = np.abs(further), np.minimum(np.abs(y), np.abs(y - shift))
        unit = self.scale * self.offset
        with np.errstate(over="ignore", invalid="ignore"):
            loss = self._rise(self._w(near), np.log1p(gap / (near + unit)))
            loss = np.where(np.isinf(near), 0.0, loss)
            return np.where(gap == 0, 0.0 * further, np.copysign(loss, further))[()]

    def largest_loss(self, shift: float) -> float:
        return float(self._rise(0.0, self._w(shift)))

    @classmethod
    def can_meet(cls, guarantee: Guarantee) -> bool:
        """Return False, because calibration would have to choose a shape."""
        return False

    def scaled(self, factor: float) -> Self:
        return replace(self, scale=self.scale * factor)

    # The law of W

    @property
    def _l(self) -> float:
        return float(np.log(self.offset))

    def _w(self, x: ArrayLike) -> Reals:
        with np.errstate(over="ignore"):
            return np.log1p(np.abs(np.divide(x, self.scale * self.offset, dtype=np.float64)))

    def _rise(self, w: Reals, step: Reals) -> Reals:
        """Return rate ((l + w + step)^power - (l + w)^power) in nats, to its last digits also for a small step."""
        if self.power == 1:
            return self.rate * step
        at = self._l + w
        with np.errstate(over="ignore", divide="ignore"):  # step / at = -1 where a far mode makes the offset vanish
            return self.rate * at**self.power * np.expm1(self.power * np.log1p(step / at))

    def _climb(self, w: Reals, step: Reals, tilt: float = 1.0) -> Reals:
        """Return the growth of tilt w - rise(w) from w to w + step."""
        return tilt * step - self._rise(w, step)

    def _slope(self, w: Reals) -> Reals:
        """Return the slope of w - rise(w)."""
        return 1 - self.rate * self.power * (self._l + w) ** (self.power - 1)

    def _mode(self, tilt: float = 1.0) -> float:
        """Return the point w >= 0 at which tilt w - rise(w) is largest, for power > 1."""
        with np.errstate(over="ignore"):
            return max(0.0, float(np.float64(tilt / (self.rate * self.power)) ** (1 / (self.power - 1))) - self._l)

    def _log_between(self, low: Reals, high: Reals) -> Reals:
        """Return the log of the integral of e^(w - rise(w)) over low < w < high, for power > 1."""
        peak = np.clip(self._mode(), low, high)
        return self._climb(0.0, peak) + _log_integral(self._climb, peak, low, high)

    @cached_property
    def _log_mass(self) -> float:
        """The log of the integral of e^(w - rise(w)) over w > 0."""
        return -float(np.log(self.rate - 1)) if self.power == 1 else float(self._log_between(np.array(0.0), np.inf))

    def _log_parts(self, w: Floats) -> tuple[Floats, Floats]:
        """Return log P[W < w] and log P[W > w], to their last digits where they are below log(1/2)."""
        beyond = np.isposinf(w)
        inside, mass = np.where(beyond, 0.0, w), self._log_mass
        central = self._log_between(np.zeros_like(inside), inside) - mass
        outer = self._log_between(inside, np.inf) - mass
        return np.where(beyond, 0.0, central), np.where(beyond, -np.inf, outer)

    def _size_beyond(self, log_outer: Floats, log_central: Floats) -> Floats:
        """Return the z with P[|Z| > z] = e^log_outer and P[|Z| < z] = e^log_central; inf if it is no float."""
        near = log_central < -np.log(2)
        if self.power == 1:
            with np.errstate(divide="ignore"):
                w = -np.where(near, np.log1p(-np.exp(log_central)), log_outer) / (self.rate - 1)
        else:
            w = np.where(log_outer < _DEEPEST, np.inf, 0.0)
            inner, outer = near & ~np.isneginf(log_central), ~near & (log_outer >= _DEEPEST)
            w[inner], w[outer] = self._w_within(log_central[inner]), self._w_outside(log_outer[outer])
        with np.errstate(over="ignore"):
            return self.scale * self.offset * np.expm1(w)

    def _w_within(self, log_p: Floats) -> Floats:
        """Return the w with log P[W < w] = log_p.

        The log is concave in w, so the steps of Newton's method stay below the solution after the first.
        """
        mass, mode = self._log_mass, self._mode()
        w = np.exp(log_p + mass - self._climb(0.0, mode))  # at most w: the density is largest at the mode
        for _ in range(_STEPS):
            log_mass = self._log_between(np.zeros_like(w), w)
            step = (log_p + mass - log_mass) * np.exp(log_mass - self._climb(0.0, w))
            w = w + step
            if (np.abs(step) <= _CONVERGED * w).all():
                break
        return w

    def _w_outside(self, log_p: Floats) -> Floats:
        """Return the w with log P[W > w] = log_p.

        The log is concave in w, so the steps of Newton's method stay above the solution after the first.
        """
        mass, mode = self._log_mass, self._mode()
        w = mode + _reach(lambda r: -self._climb(mode, r), -log_p, np.inf)  # P[W > mode + r] <= e^climb(mode, r)
        for _ in range(_STEPS):
            log_tail = self._log_between(w, np.inf)
            step = (log_tail - mass - log_p) * np.exp(log_tail - self._climb(0.0, w))
            w = np.maximum(w + step, 0.0)
            if (np.abs(step) <= _CONVERGED * w).all():
                break
        return w

    # Draws of W

    def _draw_w(self, rng: np.random.Generator, count: int) -> Floats:
        if self.power == 1:
            return rng.standard_exponential(count) / (self.rate - 1)
        width = np.sqrt(2 * self.rate)
        start = width * self._l - 1 / width
        if self.power == 2 and start < _LARGEST_START:  # a normal variable given that it exceeds `start`
            normal = -ndtri_exp(log_ndtr(-start) - rng.standard_exponential(count))
            return np.maximum(normal - start, 0.0) / width
        return self._draw_by_rejection(rng, count)

    def _draw_by_rejection(self, rng: np.random.Generator, count: int) -> Floats:
        """Return draws by rejection from a flat cap at the mode and two tangents of the log density.

        The tails below the tangents are exponential draws.
        """
        mode, ((left, left_mean), (right, right_mean)) = self._mode(), self._tangents
        w, done = np.empty(count), 0
        while done < count:
            size = (count - done) * 5 // 4 + 16  # four draws of five are kept, or more
            place = (left + right + right_mean + left_mean) * rng.random(size) - left
            excess = rng.standard_exponential(size)
            above = right + right_mean
            step = np.where(place < right, place, np.where(place < above, right + right_mean * excess, 0.0))
            step = np.where(place < above, step, -left - left_mean * excess)
            height = np.where(place < right, 0.0, -excess)
            inside = step >= -mode
            kept = inside & (rng.standard_exponential(size) >= height - self._climb(mode, np.maximum(step, -mode)))
            new = step[kept][: count - done]
            w[done : done + new.size] = mode + new
            done += new.size
        return w

    @cached_property
    def _tangents(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The tangents on the left and on the right of the mode."""
        return self._tangent(-1.0), self._tangent(1.0)

    def _tangent(self, side: float) -> tuple[float, float]:
        """Return the distance from the mode at which a tangent meets the height of the mode, and 1 / |its slope|.

        The tangent touches where |slope| times the distance from the mode is 1. On the left it may not be needed; then
        the answer is (mode, 0).
        """
        mode = self._mode()
        most = np.inf if side > 0 else mode

        def growth(r: Floats) -> Floats:
            with np.errstate(over="ignore"):
                return -side * self._slope(mode + side * r) * r

        if most == 0 or growth(np.array(most)) < 1:
            return mode, 0.0
        r = float(_reach(growth, np.array(1.0), most))
        mean = -side / float(self._slope(mode + side * r))
        return r + float(self._climb(mode, side * r)) * mean, mean


def _refuse_bad_power(power: float, rate: float) -> None:
    """Raise ValueError for a density that has no finite integral."""
    if power < 1:
        raise ValueError(
            f"power = {power:g} is not valid; valid: power >= 1 (below, the density has no finite integral)"
        )
    if power == 1 and rate <= 1:
        raise ValueError(
            f"rate = {rate:g} is not valid; valid: rate > 1 at power = 1 (the density has no finite integral)"
        )


def _log_integral(
    climb: Callable[[Reals, Reals], Reals], peak: Floats, low: Reals, high: Reals, moment: int = 0
) -> Floats:
    """Return the log of the integral over low < w < high of e^climb(peak, w - peak) (1 - e^-w)^moment.

    The function climb(peak, .) is concave, is 0 at 0 and has its maximum on the range there. The arrays low and high
    broadcast with peak.
    """
    x, weights = _unit_panels()
    total = np.zeros(peak.shape)
    for side, most in ((-1.0, peak - low), (1.0, high - peak)):

        def fall(r: Floats, side: float = side) -> Reals:
            return -climb(peak, side * r)

        far = _reach(fall, np.full(peak.shape, _DROP), most)
        step = side * far[..., None] * x
        height = np.exp(climb(peak[..., None], step))
        if moment:
            height = height * np.abs(np.expm1(-(peak[..., None] + step))) ** moment
        total = total + far * (height @ weights)
    with np.errstate(divide="ignore"):
        return np.log(total)


def _reach(growth: Callable[[Floats], Reals], goal: Floats, most: Reals) -> Floats:
    """Return the r <= most at which an increasing function that is zero at 0 reaches `goal`, to 1e-5.

    The answer is `most` if the function does not reach the goal.
    """
    low, high = np.full(goal.shape, -_LOG_RANGE), np.full(goal.shape, _LOG_RANGE)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        r = np.exp(middle)
        below = (r < most) & (np.asarray(growth(np.minimum(r, most))) < goal)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.minimum(np.exp(high), most)


@cache
def _unit_panels() -> tuple[Floats, Floats]:
    """Return Gauss-Legendre points and weights of panels that fill [0, 1]."""
    x, weights = np.polynomial.legendre.leggauss(_NODES)
    starts = np.arange(_PANELS)[:, None]
    return ((starts + (x + 1) / 2) / _PANELS).ravel(), np.tile(weights / (2 * _PANELS), _PANELS)
