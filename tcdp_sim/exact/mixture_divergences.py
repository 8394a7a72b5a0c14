"""Renyi and hockey-stick divergences between mixtures of one noise, by quadrature from its log density and loss.

With L = log(p / q), E_q[e^L] = 1 turns E_q[e^(aL)] - 1 into the mean of the non-negative e^(aL) - 1 - a (e^L - 1), and
the hockey-stick divergence is that of (p - e^eps q) where it is positive: no digits are lost, however close p and q
are, provided that L is known to the last digits near zero. So it is computed from the weights in which they differ.
"""

import numpy as np

from tcdp_sim.errors import real
from tcdp_sim.exact.divergence import max_order
from tcdp_sim.exact.level_sets import TINY, LevelSets, landmarks, panels, refined
from tcdp_sim.exact.mixtures import Mixture
from tcdp_sim.noise import Noise
from tcdp_sim.numerics import Bounds, integrate

_NEGLIGIBLE = 60.0  # an integrand e^-60 below its peak adds less than the rounding of the peak
_BEYOND = np.geomspace(1.02, 1e6, 300)  # multiples of the 1e-307 tail's point: high orders peak out there
_AROUND = 2.0 ** -np.arange(1, 24)
_SERIES = 0.05


def renyi_divergence_between(p: Mixture, q: Mixture, orders) -> Bounds:
    """D_order(p || q) in nats; order >= 1 (1: Kullback-Leibler; inf: max-divergence), scalar or array.

    p, q: mixtures of the same noise. Bounds hold to about 1e-10 relative; infinite where the divergence is, and
    (lower, inf, inf) where the integrand cannot be followed to where it ends.
    Raises ValueError for different noises, order < 1 or NaN.
    """
    pair = _Pair(p, q)
    flat = np.ravel(real("orders", orders, 1, closed=True, finite=False))
    found = np.array([_renyi(pair, order) for order in flat])
    return _shaped(found, orders)


def hockey_stick_between(p: Mixture, q: Mixture, epsilons) -> Bounds:
    """H_eps(p || q) = sup over events of p - e^epsilon q; epsilon finite, nats, of any sign, scalar or array.

    p, q: mixtures of the same noise. Bounds hold to about 1e-10 relative, from 1 down to 1e-300.
    Raises ValueError for different noises, and NaN or infinite epsilon.
    """
    pair = _Pair(p, q)
    flat = np.ravel(real("epsilons", epsilons, -np.inf))

    def integrand(epsilon, x):
        with np.errstate(all="ignore"):
            share = np.maximum(-np.expm1(epsilon - pair.loss(x)), 0.0)
        return np.where(np.isnan(share), 0.0, p.pdf(x) * share)  # where neither has density

    sets = pair.sets()
    low, middle, high = sets.integrate_above(flat, integrand)
    slack = 1e-12 * middle
    outside = float(p.cdf(sets.x[0]) + p.sf(sets.x[-1])) + TINY
    found = np.array([np.maximum(low - slack, 0.0), middle, np.minimum(high + slack + outside, 1.0)]).T
    return _shaped(found, epsilons)


def _shaped(rows, like) -> Bounds:
    """Rows of (lower, estimate, upper) as Bounds of the argument's shape, scalars for a scalar."""
    parts = (column.reshape(np.shape(like)) for column in np.asarray(rows, dtype=float).reshape(-1, 3).T)
    return Bounds(*(part if np.ndim(like) else float(part) for part in parts))


class _Pair:
    """Two mixtures of one noise, as weights over the shifts that either has."""

    def __init__(self, p: Mixture, q: Mixture):
        if p.noise != q.noise:
            raise ValueError(f"q is a mixture of {q.noise!r}; valid: of the noise of p, {p.noise!r}")
        self.p, self.q, self.noise = p, q, p.noise
        self.shifts = np.unique(p.shifts + q.shifts)
        of_p, of_q = (dict(zip(mixture.shifts, mixture.weights)) for mixture in (p, q))
        self.of_p, self.of_q = (np.array([w.get(m, 0.0) for m in self.shifts.tolist()]) for w in (of_p, of_q))
        base = int(np.argmax(self.of_p + self.of_q))
        self.differs = self.of_p - self.of_q
        self.differs[base] = -(self.differs[:base].sum() + self.differs[base + 1 :].sum())  # to the last digit of these

    def loss(self, x):
        """log(p / q) at x; +inf and -inf where only one has density, NaN where neither has."""
        with np.errstate(all="ignore"):
            y, shifts = np.ravel(x) - self.shifts[:, None], self.shifts[:, None]
            density = self.noise.logpdf(y)
            nearest = self.shifts[density.argmax(axis=0)]  # ratios to the largest keep their digits
            logs = np.where(shifts == nearest, 0.0, self.noise.privacy_loss(y, nearest - shifts))
            far = _log_mean(self.of_p, logs) - _log_mean(self.of_q, logs)
            top = np.maximum(logs.max(axis=0), 0.0)
            scaled = np.exp(logs - top)
            rise = np.where(np.abs(logs) < 1, np.expm1(logs) * np.exp(-top), scaled - np.exp(-top))
            near = np.log1p((self.differs @ rise) / (self.of_q @ scaled))
            found = np.where(np.abs(far) < 0.5, near, far)
            return np.where(density.max(axis=0) > -np.inf, found, np.nan).reshape(np.shape(x))

    def sets(self) -> LevelSets:
        """The sets in which the loss exceeds a level."""
        return LevelSets(self.loss, landmarks(self.noise, self.shifts), self._floor, panels(self.noise, self.shifts))

    def max_order(self) -> float:
        """The order from which on the Renyi divergence is infinite: that of how far p reaches beyond q."""
        overhang = max(self.q.shifts[0] - self.p.shifts[0], self.p.shifts[-1] - self.q.shifts[-1])
        with np.errstate(divide="ignore", over="ignore"):  # a shift below the rounding of the knee
            first = max_order(self.noise, overhang) if overhang > 0 else np.inf
        end = self.noise.isf(0.0)
        if np.isfinite(end):  # p may also have mass in a gap between the supports of q
            ends = np.unique(np.concatenate([self.shifts - end, self.shifts + end]))
            between = 0.5 * (ends[1:] + ends[:-1])
            first = 1.0 if (self.q.pdf(between) == 0)[self.p.pdf(between) > 0].any() else first
        return first

    def _floor(self, x):
        """What rounding adds to the loss: nothing beyond its own digits if the noise gives its loss in closed form."""
        size = np.abs(self.q.logpdf(x)) if type(self.noise).privacy_loss is Noise.privacy_loss else np.zeros_like(x)
        return 1e-15 * np.where(np.isfinite(size), size, 0.0)


def _log_mean(weights, logs):
    """log of the sum of weights e^logs, over the first axis."""
    logs = logs[weights > 0]
    top = logs.max(axis=0)
    return np.where(np.isfinite(top), top + np.log(weights[weights > 0] @ np.exp(logs - top)), top)


def _renyi(pair, order):
    if pair.p == pair.q:
        return 0.0, 0.0, 0.0
    if np.isinf(order):
        return _max_divergence(pair)
    if order >= pair.max_order():
        return np.inf, np.inf, np.inf
    edges, cut, top = _reach(pair, order)
    mean = integrate(lambda x: _excess(pair, order, x, top), edges, 1e-11)
    slack = (2e-12 + 4e-16 * top) * mean.estimate  # the rounding of the integrand
    means = (max(mean.lower - slack, 0.0), mean.estimate, mean.upper + slack)
    low, middle, high = (_divergence(mean, order, top) for mean in means)
    return (low, np.inf, np.inf) if cut else (low, middle, high)


def _divergence(mean, order, top):
    if order == 1:
        return mean
    with np.errstate(divide="ignore"):
        logged = top + np.log(mean + np.exp(-top)) if top > 0 else np.log1p(mean)
    return float(logged / (order - 1))


def _max_divergence(pair):
    """sup L; infinite where it goes on growing as far as floats are followed."""
    sets = pair.sets()
    top = sets.value.max()
    ends = [(0, 10), (-1, -11)]  # the outermost point, and one that is nearer by a factor of a thousand
    grows = any(sets.value[far] == top > sets.value[near] * (1 + 1e-9) for far, near in ends)
    return (np.inf, np.inf, np.inf) if grows else (top * (1 - 1e-11), top, top * (1 + 1e-11))


def _reach(pair, order):
    """Panel edges over all x where the integrand matters, whether it is cut off, and the log to scale it by."""

    def height(x):
        with np.errstate(all="ignore"):
            log_p, log_q = pair.p.logpdf(x), pair.q.logpdf(x)
            at_p = log_p if order == 1 else np.fmax(order * log_p + (1 - order) * log_q, log_p)
            value = np.fmax(at_p, log_q)
        return np.where(np.isnan(value) | (log_q == -np.inf), -np.inf, value)

    x = panels(pair.noise, pair.shifts, far=_BEYOND)
    heights = height(x)
    peaks = 1 + np.flatnonzero((heights[1:-1] > heights[:-2]) & (heights[1:-1] >= heights[2:]))
    steps = np.maximum(x[peaks + 1] - x[peaks], x[peaks] - x[peaks - 1])
    peaks = refined(height, x[peaks - 1], x[peaks], x[peaks + 1], 1.0, rounds=12)
    around = np.multiply.outer(np.concatenate([-_AROUND, [0.0], _AROUND]), steps) + peaks
    x = np.unique(np.concatenate([x, around.ravel()]))
    heights = height(x)
    matters = heights > heights.max() - _NEGLIGIBLE
    first, last = np.flatnonzero(matters)[[0, -1]]
    cut = np.isinf(pair.noise.isf(0.0)) and (matters[0] or matters[-1])
    return x[max(first - 1, 0) : last + 2], cut, max(heights.max() - 600, 0.0)


def _excess(pair, order, x, top):
    """q(x) e^-top (e^(aL) - 1 - a (e^L - 1)); for a = 1 its limit over a - 1, q(x) (L e^L - e^L + 1)."""
    with np.errstate(all="ignore"):
        loss = pair.loss(x)
        log_q = pair.q.logpdf(x) - top
        value = _kullback_leibler(loss, log_q, pair.p.pdf(x)) if order == 1 else _power(order, loss, log_q)
    return np.where(np.isfinite(value), value, 0.0)  # neither has density


def _power(order, loss, log_q):
    near = np.exp(log_q) * (np.expm1(order * loss) - order * np.expm1(loss))
    far = np.exp(log_q + order * loss) - order * np.exp(log_q + loss) + (order - 1) * np.exp(log_q)
    found = np.where(np.abs(order * loss) < 30, near, far)
    small = np.abs(order * loss) < _SERIES
    term, total = np.ones_like(loss), 0.0
    for k in range(1, 11):
        term = term * loss / k
        total = total + term * (order**k - order)
    return np.where(small, np.exp(log_q) * total, found)


def _kullback_leibler(loss, log_q, at_p):
    found = np.where(at_p > 0, at_p * loss, 0.0) - np.exp(log_q) * np.where(loss < 30, np.expm1(loss), 0.0)
    found = found - np.where(loss < 30, 0.0, at_p)
    term, total = np.ones_like(loss), 0.0
    for k in range(1, 11):
        term = term * loss / k
        total = total + term * (k - 1)
    return np.where(np.abs(loss) < _SERIES, np.exp(log_q) * total, found)
