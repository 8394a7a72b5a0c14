"""The sum of the privacy losses of unequal releases, by one Fourier transform of their tilted laws on a common grid.

The laws on the grid reveal more than the truth (`grid_law.py`), so delta' of their sum S' is an upper end. The same
transform gives the lower end. Let S be the true sum, S' = S + N and v = sum of T h^2 / 4 over releases that were
spread. N is a sum of independent variables on intervals of length h, and E[e^-N] = 1. So its mean is in [0, v / 2],
its variance is at most v, and it is sub-Gaussian (Hoeffding). With u = S - epsilon this gives
0 <= delta' - delta = E D(u), where

    D(u) <= sqrt(v)/2 e^(sqrt(v)/2) e^(-u^2 / 2v + |u| / 2).

For u < 0, D(u) <= E (N - |u|)+, because 1 - e^-x <= x. For u >= 0 it is at most E_Q (-N - u)+, because E e^-N = 1
removes the linear part, and -N under Q has the properties of N under P. Cantelli's inequality bounds both for small
|u| and Chernoff's bound for others. By Jensen's inequality E e^(-(u + N)^2 / 2v) >= e^(-u^2 / 2v - |u| / 2 - 1/2 -
v / 8). So for |u| <= W, D(u) is at most the mean over N of

    B(u + N) = sqrt(v)/2 exp(sqrt(v)/2 + 1/2 + v/8 + W - (u + N)^2 / 2v),

and E B(S' - epsilon) is a functional of the law of S'. For |u| > W, the tilted law bounds E D(u).

The transform folds the law of S'. Folded mass is only added, and Chernoff's bounds limit it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import TINY
from tcdp_sim.exact.losses.grid_law import GridLaw, ever

FAR = 9.0  # W, in sqrt(v)
REACH = 13.0  # in sqrt(v): beyond it B is bounded, and not summed
MOST_SPREAD = 0.5  # of (theta + 1) sqrt(v); a larger one makes lower ends useless
_FFT = 1e-15  # relative mean-square error of a transform for every doubling of its length
_VANISHED = 1e-40  # Fourier coefficients below it are zero; their error is negligible beside that of rounding
_LEAST = 1e-300
_FAR_OFF = 60.0  # in nats: sums so far above epsilon, tilted, are bounded and not summed
_SHARE = 8  # the shortest window, in points


@dataclass(frozen=True)
class Window:
    """A tilt, and the losses over which a sum is kept: from `start` on, `points` points of the grid.

    `steeper` and `flatter` are tilts above theta and below 0 for Chernoff's bounds on the rest.
    """

    theta: float
    start: float
    points: int
    steeper: float
    flatter: float


@dataclass(frozen=True)
class LossSum:
    """The tilted law of the sum S' on a window of the grid. Its probabilities are mass e^(scale - theta loss).

    - `lost`: the probability of an infinite loss, from below and above.
    - `variance`: v, the sum of squared lengths over 4.
    - `slack`: the largest error of a sum of losses.
    - `rounding`, `rounding_norm`: the largest error of a mass, and the Euclidean norm of the errors of all masses.
    - `moved`: the tilted mass that was raised too far.
    - `log_phantom`, `log_missing`: logs of the probability that folding adds to delta, and that lies above the
      window.
    """

    loss: Floats
    mass: Floats
    theta: float
    scale: float
    lost: tuple[float, float]
    variance: float
    slack: float
    rounding: float
    rounding_norm: float
    moved: float
    log_phantom: float
    log_missing: float
    relative: float

    @property
    def step(self) -> float:
        """The step of the grid."""
        return float(self.loss[1] - self.loss[0])

    @cached_property
    def range(self) -> tuple[float, float]:
        """The epsilons for which the window is long enough."""
        margin = REACH * float(np.sqrt(self.variance)) + 2 * self.slack
        return float(self.loss[0]) + margin, float(self.loss[-1])

    def upper(self, epsilon: float) -> float:
        """Return an upper bound of delta(epsilon), for an epsilon in the range."""
        return min((self.lost[1] + self.finite_upper(epsilon)) * (1 + 1e-15), 1.0)

    def lower(self, epsilon: float) -> float:
        """Return a lower bound of delta(epsilon), for an epsilon in the range."""
        return (self.lost[0] + max(self.finite_lower(epsilon), 0.0)) * (1 - 1e-15)

    def finite_upper(self, epsilon: float) -> float:
        """Return an upper bound of the part of delta(epsilon) that finite sums add."""
        epsilon = epsilon - self.slack
        body, error = self._body(epsilon)
        body += error + np.exp(-_FAR_OFF) * (self.mass.sum() + self.rounding * len(self.mass))
        rest = np.exp(min(self.log_missing, 0.0)) + TINY
        return float(self._unit(epsilon) * body * (1 + self.relative) + rest)

    def finite_lower(self, epsilon: float) -> float:
        """Return a lower bound of the part of delta(epsilon) that finite sums add. It may be negative."""
        epsilon = epsilon + self.slack
        body, error = self._body(epsilon)
        body = (body - error) * (1 - self.relative)
        body -= (self._dilation(epsilon) + self.moved) * (1 + self.relative)
        return float(self._unit(epsilon) * body - np.exp(min(self.log_phantom, 0.0)) * (1 + self.relative) - TINY)

    def _unit(self, epsilon: float) -> float:
        with np.errstate(over="ignore"):
            return float(np.exp(self.scale - self.theta * epsilon))

    def _body(self, epsilon: float) -> tuple[float, float]:
        """Return delta' in units of e^(scale - theta epsilon), and a bound on its rounding error."""
        first = int(np.searchsorted(self.loss, epsilon, side="right"))
        last = int(np.searchsorted(self.loss, epsilon + _FAR_OFF / self.theta, side="right"))
        y = self.loss[first:last] - epsilon
        weight = np.exp(-self.theta * y) * -np.expm1(-y)
        error = min(self.rounding * weight.sum(), self.rounding_norm * np.sqrt((weight * weight).sum()))
        return float((weight * self.mass[first:last]).sum()), float(error)

    def _dilation(self, epsilon: float) -> float:
        """Return a bound on E D(S - epsilon) in units of e^(scale - theta epsilon)."""
        v = self.variance
        if not v:
            return 0.0
        root = float(np.sqrt(v))
        if (self.theta + 1) * root > MOST_SPREAD:
            return np.inf
        first, last = np.searchsorted(self.loss, [epsilon - REACH * root, epsilon + REACH * root])
        u = self.loss[first:last] - epsilon
        height = 0.5 * root * np.exp(0.5 * root + 0.5 + v / 8 + FAR * root)
        weight = np.exp(-self.theta * u - u * u / (2 * v))
        near = height * float((weight * (self.mass[first:last] + self.rounding)).sum())
        # exponents of e^(theta |u| - u^2 / 2v + |u| / 2) fall beyond (theta + 1/2) v < W
        unsummed = height * np.exp(-0.5 * REACH**2 + self.theta * REACH * root)
        far = 0.5 * root * np.exp(0.5 * root - 0.5 * FAR**2 + (self.theta + 0.5) * FAR * root)
        return near + float(unsummed + far)


def convolved(laws: list[tuple[GridLaw, int]], window: Window) -> LossSum:
    """Return the law of the sum of independent losses, `times` of each law, all with the same step."""
    from scipy.fft import irfft, rfft  # imported late, as in `core.numerics.root`

    step, n, theta = laws[0][0].step, window.points, window.theta
    moments = [law.log_moment(theta) for law, _ in laws]
    offset = sum(times * law.offset for law, times in laws)
    first = int(np.floor((window.start - offset) / step))
    power, alive = np.ones(n // 2 + 1, complex), np.arange(n // 2 + 1)
    largest = norm = count = 0.0
    for (law, times), moment in sorted(zip(laws, moments), key=lambda pair: -pair[0][1]):
        folded = _folded(law, law.tilted(theta, moment), n)
        transform = rfft(folded)[alive]
        # every release but one is at most this large, since no coefficient of a probability exceeds 1
        others = np.abs(transform) ** (times - 1) * np.abs(power)
        size = times * np.sqrt((folded * folded).sum())
        largest += size * np.sqrt(2 * (others * others).sum() / n)
        norm += size * others.max(initial=0.0)
        count += times
        power = power * _power(transform, times)
        kept = np.abs(power) > _VANISHED
        power, alive = power[kept], alive[kept]
    full: Any = np.zeros(n // 2 + 1, complex)
    full[alive] = power
    sums: Floats = np.roll(irfft(full, n), -(first % n))
    # an error vector of the transforms, one of the inverse transform, and one of the powers
    unit, inverse = _FFT * np.log2(n), np.sqrt((sums * sums).sum())
    powers = 4e-16 * count
    largest = unit * (largest + inverse) + powers * 2 * np.abs(power).sum() / n + _VANISHED * len(laws)
    norm = unit * (norm + inverse) + powers * np.sqrt(2 * (np.abs(power) ** 2).sum() / n) + _VANISHED * n
    scale = sum(times * moment for (_, times), moment in zip(laws, moments))
    return LossSum(
        loss=offset + step * (first + np.arange(n, dtype=np.float64)),
        mass=np.maximum(sums, 0.0),
        theta=theta,
        scale=scale,
        lost=ever([(law.lost, times) for law, times in laws]),
        variance=sum(times * law.length**2 / 4 for law, times in laws),
        slack=sum(times * law.slack for law, times in laws) + 4e-16 * abs(window.start),
        rounding=float(largest),
        rounding_norm=float(norm),
        moved=_moved(laws, theta, moments),
        log_phantom=_log_phantom(laws, window, offset + step * first),
        log_missing=_log_beyond(laws, window.steeper, offset + step * (first + n)),
        relative=float(np.expm1(sum(times * law.relative for law, times in laws) + 4e-16 * abs(scale))),
    )


def _folded(law: GridLaw, mass: Floats, n: int) -> Floats:
    """Return the mass of every index modulo n."""
    start = law.first % n
    padded = np.zeros(-(-(start + len(mass)) // n) * n)
    padded[start : start + len(mass)] = mass
    return padded.reshape(-1, n).sum(axis=0)


def _power(x: Any, times: int) -> Any:
    """Return x to a whole power by squaring, which is more exact than numpy's complex powers."""
    result = None
    while times:
        if times & 1:
            result = x if result is None else result * x
        times >>= 1
        if times:
            x = x * x
    return result


def _moved(laws: list[tuple[GridLaw, int]], theta: float, moments: list[float]) -> float:
    """Return the tilted probability that a release has a loss that was raised too far."""
    terms = [
        times * mass * np.exp(theta * loss - moment)
        for (law, times), moment in zip(laws, moments)
        for loss, mass in law.moved
    ]
    return float(sum(terms))


def _log_beyond(laws: list[tuple[GridLaw, int]], theta: float, loss: float) -> float:
    """Return the log of Chernoff's bound on P[S' >= loss] for theta > 0, or P[S' <= loss] for theta < 0."""
    return sum(times * law.log_moment(theta) for law, times in laws) - theta * loss


def _log_phantom(laws: list[tuple[GridLaw, int]], window: Window, start: float) -> float:
    """Return the log of a bound on the delta that folding adds, at any epsilon in the window.

    A sum below the window lands at least n points higher, where its tilted mass counts e^(-theta n h) times or less. A
    sum s above it lands m n points lower. It counts e^(theta m n h) times, at most e^(steeper (s - start) - (steeper -
    theta) n h).
    """
    length = laws[0][0].step * window.points
    below = min(_log_beyond(laws, window.flatter, start), 0.0) - window.theta * length
    above = _log_beyond(laws, window.steeper, start) - (window.steeper - window.theta) * length
    return float(np.logaddexp(below, above))
