"""Many releases: epsilon and delta of composed privacy losses, numerically and between certified ends.

The loss of one release becomes atoms on a grid, once so that they tell more than the truth and once less; the sum of T
of them is one Fourier transform. It is taken of the law tilted by e^(theta loss), so that the rounding of the transform
and what wraps around its ends count relative to the answer, and a delta of 1e-30 costs what 1e-3 costs.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import brentq, minimize_scalar

from tcdp_sim.errors import real
from tcdp_sim.exact.loss_atoms import Atoms, cells, gathered
from tcdp_sim.exact.subsampling import DominatingPair
from tcdp_sim.numerics import Bounds

LONGEST = 2**22  # points of a transform
MOST_RELEASES = 10**7
_DENSITY = 4e-12  # relative error of a mass, from that of the density and of the quadrature
_FFT = 1e-15  # of a transform in the mean square, relative, for every doubling of its length
_WRAPPED = 1e-13  # tilted probability outside of the window
_ROUNDS = 12
_RISES = np.concatenate([[0.5], np.geomspace(0.3, 1e-6, 16)])  # in steps
_STEEPEST = 1e4
_FLATTER = (0.6, 0.75, 0.87, 0.94)
_NEGLIGIBLE = 1e-8  # of delta: what so large losses may add together, that they count as infinite or are cut down
_SPARE = 15.0  # e^15 times delta, times what is outside of the window, is little beside delta


def composed_epsilon(pairs: Iterable[DominatingPair], releases: int, delta: float, tolerance: float = 1e-3) -> Bounds:
    """The least epsilon >= 0 (nats) at which `releases` draws from a pair are (epsilon, delta) indistinguishable.

    pairs: of `dominating_pairs`; the answer is that of the worst. 0 < delta < 1. The ends lie at most `tolerance` from
    each other, unless that would take a transform of more than 2^22 points; the truth lies between them in any case:
    they count discretisation, what wraps around, and rounding (of densities good to 4e-12). upper = inf if the
    probability of an infinite loss exceeds delta. Raises ValueError for arguments out of range.
    """
    delta = real("delta", delta, 0, 1)
    width = real("tolerance", tolerance, 0)

    def saddle(atoms, t):
        theta, found = _least(lambda theta: (t * atoms.log_moment(theta) - np.log(delta)) / theta)
        return theta, found, np.log(delta)

    query = _Query(
        saddle, lambda atoms: delta, lambda law, end: law.epsilon(delta, end), lambda low, high: high - low <= width
    )
    return _worst(pairs, releases, query)


def composed_profile(pairs: Iterable[DominatingPair], releases: int, epsilon: float, tolerance: float = 0.01) -> Bounds:
    """delta(epsilon) of `releases` draws from a pair; epsilon >= 0, nats. As `composed_epsilon`.

    tolerance: of the ends' distance, relative to the upper one.
    """
    epsilon = real("epsilon", epsilon, 0, closed=True)
    share = real("tolerance", tolerance, 0)

    def saddle(atoms, t):
        theta, found = _least(lambda theta: t * atoms.log_moment(theta) - theta * epsilon)
        return theta, epsilon, found

    def of_one(atoms):  # of one release alone: of several it is no smaller
        return atoms.lost + _dot(atoms.mass, np.maximum(-np.expm1(np.minimum(epsilon - atoms.loss, 0.0)), 0.0))

    query = _Query(
        saddle, of_one, lambda law, end: law.delta(epsilon)[end], lambda low, high: high - low <= share * high
    )
    return _worst(pairs, releases, query)


@dataclass(frozen=True)
class _Query:
    """What is asked of the composed law. saddle: (atoms, releases) -> (theta, epsilon, log delta) by Chernoff's bound;

    least_delta: atoms of one release -> a delta that the answer's is not below; find: (law, end) -> the answer from
    laws that tell less (end 0) or more (1); close: (low, high) -> whether they are close enough.
    """

    saddle: Callable
    least_delta: Callable
    find: Callable
    close: Callable


@dataclass(frozen=True)
class _Sum:
    """The tilted law of a sum of losses on a grid: probability `mass` e^(scale - theta loss) each, give or take errors.

    certain: the probability that none of the losses is infinite; shift: by how much the losses may be too small.
    """

    loss: np.ndarray
    mass: np.ndarray
    theta: float
    scale: float
    certain: float
    shift: float
    rounding: float
    outside: float
    relative: float

    def delta(self, epsilon: float) -> tuple[float, float]:
        """(lower, upper) for delta(epsilon)."""
        first = np.searchsorted(self.loss, epsilon + self.shift, side="right")
        y = self.loss[first:] - (epsilon + self.shift)
        weight = np.exp(-self.theta * y) * -np.expm1(-y)
        body, error = (weight * self.mass[first:]).sum(), self.rounding * weight.sum() + self.outside
        with np.errstate(over="ignore"):
            unit = np.exp(self.scale - self.theta * (epsilon + self.shift))
            low, high = ((1 - self.certain) + unit * (body + sign * error) for sign in (-1, 1))
        return max(low * (1 - self.relative), 0.0), min(high * (1 + self.relative), 1.0)

    def epsilon(self, delta: float, end: int) -> float:
        """An epsilon >= 0 at which that end of delta(epsilon) is delta: no more than the truth (0), no less (1)."""

        def excess(epsilon):
            return self.delta(epsilon)[end] - delta

        grid = np.linspace(0.0, max(self.loss[-1], 1e-12), 33)
        over = np.flatnonzero([excess(epsilon) > 0 for epsilon in grid])  # far from its best epsilon an end is useless
        if len(over) == 0:
            return 0.0
        if over[-1] == len(grid) - 1:
            return np.inf if end else grid[-1]
        return brentq(excess, grid[over[-1]], grid[over[-1] + 1], xtol=1e-12, rtol=1e-14)


def _worst(pairs, releases, query: _Query) -> Bounds:
    if releases != int(real("releases", releases, 1, MOST_RELEASES, closed=True, finite=False)):
        raise ValueError(f"releases = {releases} is not valid; valid: 1, 2, ..., {MOST_RELEASES:,}")
    ends = np.array([_bracket(pair, int(releases), query) for pair in pairs])
    low, high = ends.max(axis=0)
    return Bounds(float(low), float(0.5 * (low + high)), float(high))


def _bracket(pair, releases, query: _Query) -> tuple[float, float]:
    coarse = cells(pair, 1.0, None)
    guide = coarse.at_nodes()
    top = guide.top(max(_NEGLIGIBLE * query.least_delta(guide) / releases, 1e-290))
    guide = guide.without(top)
    theta = _tilt(guide, releases, query.saddle)
    offset, gap = _anchors(coarse)
    step = min(np.sqrt(2e-3 / (releases * (theta + 1))), 0.3 * _spread(guide))
    low, high = 0.0, np.inf
    for _ in range(_ROUNDS):
        step = gap / np.ceil(gap / step) if gap else step
        cut = cells(pair, theta, step)
        uppers = _more(cut.at_ends().without(top), offset, step)
        window = _window(uppers, releases, theta)
        if (window[1] - window[0]) / step > LONGEST:
            break
        high = min(high, query.find(_summed(uppers, offset, step, theta, releases, window, 0.0), 1))
        lowers, missing = _less(cut.merged(offset, step).capped(top), offset, step, theta, releases)
        window = _window(lowers, releases, theta)
        low = max(low, query.find(_summed(lowers, offset, step, theta, releases, window, missing), 0))
        if query.close(low, high):
            break
        step /= 2
    return low, high


def _tilt(atoms, releases, saddle) -> float:
    """The flattest tilt under which what is outside of a window is still nothing beside delta.

    Chernoff's best tilt has windows that are much longer, where losses have heavy tails.
    """
    best, epsilon, log_delta = saddle(atoms, releases)
    for share in _FLATTER:
        theta = share * best
        if releases * atoms.log_moment(theta) - theta * epsilon - log_delta < _SPARE:
            return theta
    return best


def _least(f) -> tuple[float, float]:
    """(theta, value) where a function that is unimodal in theta > 0 is least."""
    found = minimize_scalar(lambda x: f(np.exp(x)), bounds=(np.log(1e-3), np.log(_STEEPEST)), method="bounded")
    return float(np.exp(found.x)), float(found.fun)


def _spread(atoms) -> float:
    mean = _dot(atoms.mass, atoms.loss)
    return float(np.sqrt(_dot(atoms.mass, (atoms.loss - mean) ** 2)))


def _dot(x, y) -> float:
    return float((x * y).sum())  # BLAS would start its threads for so little, and depend on their number


def _anchors(coarse) -> tuple[float, float]:
    """A point of the grid, and the distance to another: losses that have a probability of their own must be on it."""
    flat = coarse.flat()
    apart = np.abs(flat - flat[:1]) > 1e-6 * np.abs(flat[:1])  # a loss that levels off is flat in many cells
    if coarse.symmetric or not apart.any():
        return 0.0, (abs(float(flat[0])) if coarse.symmetric and len(flat) else 0.0)
    return float(flat[0]), abs(float(flat[apart][0] - flat[0]))


def _more(atoms: Atoms, offset, step) -> Atoms:
    """Every atom spread to the points of the grid beside it, so that P and Q keep their masses."""
    index = np.floor((atoms.loss - offset) / step)
    upper = atoms.mass * np.clip(np.expm1(offset + step * index - atoms.loss) / np.expm1(-step), 0, 1)
    mass = np.concatenate([atoms.mass - upper, upper])
    return _gathered(np.concatenate([index, index + 1]), mass, offset, step, atoms)


def _less(atoms: Atoms, offset, step, theta, releases) -> tuple[Atoms, float]:
    """Every atom moved to the nearest point of the grid; and how far up that may move the sum of the losses.

    It moves single losses both ways, so that the sum hardly moves: under the tilted law by no more than what is
    returned, but for a probability of 1e-13 (Bernstein's inequality). A few atoms that would rise far, in the tails
    and at edges, go to the point below instead, where that makes the bound smaller.
    """
    nearest = np.rint((atoms.loss - offset) / step)
    rise = offset + step * nearest - atoms.loss
    share = atoms.mass * np.exp(theta * (atoms.loss - atoms.loss.max()))
    share /= share.sum()
    mean = _dot(share, rise)  # moving atoms down lowers the sum, and by as much what has to be allowed
    tries = []
    for most in step * _RISES:
        moved = rise - np.where(rise > most, step, 0.0)
        tries.append((_deviation(moved, share, releases) + releases * mean, most))
    most = min(tries)[1]
    index = np.where(rise > most, nearest - 1, nearest)
    moved = offset + step * index - atoms.loss
    logs = np.log(atoms.mass) + theta * (atoms.loss + moved)  # the law that is tilted is that on the grid
    share = np.exp(logs - logs.max())
    share /= share.sum()
    missing = releases * _dot(share, moved) + _deviation(moved, share, releases)
    return _gathered(index, atoms.mass, offset, step, atoms), float(missing)


def _deviation(values, share, releases) -> float:
    """What the sum of so many draws exceeds its mean by with probability at most 1e-13."""
    mean = _dot(share, values)
    most, variance = values.max() - mean, releases * _dot(share, (values - mean) ** 2)
    slope, log_odds = most * -np.log(_WRAPPED) / 3, -np.log(_WRAPPED)
    return min(slope + np.sqrt(slope * slope + 2 * variance * log_odds), releases * most)


def _gathered(index, mass, offset, step, atoms) -> Atoms:
    points, total = gathered(index, mass)
    return Atoms(offset + step * points, total, atoms.lost)


def _window(atoms: Atoms, releases, theta) -> tuple[float, float]:
    """Losses between which the tilted sum lies but for a probability of 2e-13, by Chernoff's bound."""
    logs = np.log(atoms.mass) + theta * atoms.loss
    heavy = logs > logs.max() - 80
    weight = np.exp(logs[heavy] - logs.max())
    share, loss = weight / weight.sum(), atoms.loss[heavy]
    mean = _dot(share, loss)
    spread = np.sqrt(releases * _dot(share, (loss - mean) ** 2))
    scales = 2.0 ** np.arange(-6, 5) * 8 / max(spread, 1e-300)
    ends = []
    for sign in (-1, 1):
        with np.errstate(over="ignore"):
            moments = [np.log(_dot(share, np.exp(sign * t * (loss - mean)))) for t in scales]
        ends.append(releases * mean + sign * min((releases * np.array(moments) - np.log(_WRAPPED)) / scales))
    return max(ends[0], releases * loss[0]), min(ends[1], releases * loss[-1])


def _summed(atoms: Atoms, offset, step, theta, releases, window, missing) -> _Sum:
    scale = atoms.log_moment(theta)
    index = np.rint((atoms.loss - offset) / step).astype(np.int64)
    first = int(np.floor((window[0] - releases * offset) / step)) - 1
    size = next_fast_len(int(np.ceil((window[1] - window[0]) / step)) + 4, real=True)
    law = np.bincount(index % size, atoms.mass * np.exp(theta * atoms.loss - scale), size)
    transform = rfft(law)
    power = transform**releases
    found = np.roll(irfft(power, size), -(first % size))
    height = np.abs(transform)
    before = np.sqrt(2 * np.sum(height ** (2 * releases - 2)) / size)
    rounding = _FFT * np.log2(size) * (releases * np.sqrt(_dot(law, law)) * before + np.sqrt(_dot(found, found)))
    rounding += 4e-16 * releases * 2 * np.sum(height**releases) / size
    return _Sum(
        loss=releases * offset + step * (first + np.arange(size)),
        mass=np.maximum(found, 0.0),
        theta=theta,
        scale=releases * scale,
        certain=(1 - atoms.lost) ** releases,
        shift=missing,
        rounding=float(rounding),
        outside=4 * _WRAPPED,
        relative=releases * _DENSITY,
    )
