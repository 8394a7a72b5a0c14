"""The largest Renyi divergence of the best of a random number of Gaussian runs, over all orders of the outputs.

Let (Q, Q') be the laws of a run on neighbours, r = dQ / dQ', a the Renyi order, and Q~ = Q^a Q'^(1 - a), which is no
probability. Better outputs lie above worse ones. Let S, S' and L be their masses under Q, Q' and Q~. With

    phi(r) = 1 - a r^(1 - a) + (a - 1) r^-a >= 0,    H = the integral of phi dQ~ over better outputs,
    U = a S - (a - 1) S' = L - H,

a Poisson number of runs with mean m has

    e^((a - 1) D_a) = the integral of m e^(-m U) dL over all outputs, + e^-m = 1 + the integral of m e^(-m U) dH.

1. The order of the outputs that makes this largest has phi falling from the best output to the worst. Two neighbouring
   outputs with small (u, q~) and (v, p~) are in the right order if u / q~ <= v / p~, by exchange, and u / q~ is
   1 - phi. So the supremum over all orders is a one-dimensional integral.
2. A run whose trade-off function is at least the trade-off function of N(0, 1) and N(shift, 1) is a randomised function
   of such a number x (Blackwell). To release x as well can only raise D_a, and r is a function of x. So the Gaussian
   pair attains the supremum over all such runs. Runs of random candidates with Gaussian noise are of this kind.
3. A truncated negative binomial law has slope f'(1 - S) = w(S), a mixture of e^(-t S). By joint convexity w(S)^a
   w(S')^(1 - a) <= w(U), so the same integral with w(U) for m e^(-m U) is an upper bound. If U is so far below zero
   that w is infinite, there is no bound.

All of this is derived here. Integrals are sums over cells on which w, phi and Q~ have bounds on both sides. U is
monotone on each cell: phi is 1 at log r = -log(a / (a - 1)), which is an end of cells.
"""

from functools import lru_cache
from math import exp, inf, log, log1p

import numpy as np
from scipy.special import ndtr

from tcdp_sim.candidates.tries import Tries
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import scalar, whole
from tcdp_sim.core.numerics import Bounds

CELLS = 1500
NEAR, FAR = 1e-5, 38.0  # the range of |log r| over the shift: phi is negligible below it, and masses are above it
HALVINGS, NEWTON = 16, 4  # steps to a partner; a wrong order changes the result to second order only
ROUNDING = 1e-15
TAIL = 1e3  # far in a tail, masses lose so much more by rounding, relative to themselves
UNDERFLOW = 1e-300  # the smallest mass that a float tells
SLACK = 1e-11  # relative; the rounding of factors of up to exp(600)
EVEN = 1e-6  # where phi is closer to 1, it does not tell the partner
_LARGE = 600.0  # the largest exponent
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


@lru_cache(maxsize=4096)
def gaussian_renyi(order: float, shift: float, tries: Tries, cells: int = CELLS) -> Bounds:
    """Return the largest Renyi divergence of the best of a random number of Gaussian runs.

    The supremum is over all candidates, their scores, and orders of the outputs. For a Poisson number of runs the
    bracket holds the supremum. For other numbers only its upper end is a bound on it.

    Source: Papernot and Steinke (2022) [PS22], for the density of the best output. The supremum is ours.

    Parameters
    ----------
    order : float
        The order a, above 1.
    shift : float
        The sensitivity over the standard deviation of the noise of a run, above 0.
    tries : Tries
        The law of the number of runs.
    cells : int
        The number of cells of the sums, from 100 on. The width of the bracket is in proportion to 1 / cells.

    Returns
    -------
    Bounds
        The divergence in nats. The upper end is infinite where no bound is known.

    Examples
    --------
    >>> from tcdp_sim.candidates import tries_of
    >>> found = gaussian_renyi(2.0, 0.1, tries_of("poisson", 10.0))
    >>> bool(found.lower < 0.037448 < found.upper)
    True
    """
    order, shift = scalar("order", order, 1), scalar("shift", shift, 0)
    cells = whole("cells", cells, 100, 10**6)
    if _power(order, shift) > _LARGE:
        return Bounds(0.0, inf, inf)
    losses, partners = _levels(order, shift, cells)
    lower_half = _masses(order, shift, -losses, -1.0)
    upper_half = _masses(order, shift, partners, 1.0)
    phi = _phi(order, -losses)
    phi[np.isinf(partners).sum() - 1] = 1.0  # U turns there
    rises = _rises(order, shift, phi, lower_half, inf) + _rises(order, shift, _phi(order, partners), upper_half, 1.0)
    # differences of phi near 1 are those of 1 - phi
    ends, rest = np.concatenate([[inf], phi, [0.0]]), np.concatenate([[-inf], _rest(order, partners), [1.0]])
    falls = np.maximum(-np.diff(ends), np.diff(rest))
    low, high = _moments(order, tries, falls, lower_half + upper_half, rises)
    if high == inf:
        return Bounds(0.0, inf, inf)
    low, high = (float(np.log1p(moment)) / (order - 1) for moment in (low * (1 - SLACK), high * (1 + SLACK)))
    return Bounds(low, 0.5 * (low + high), high)


def _moments(order: float, tries: Tries, falls: Floats, masses: Floats, rises: Floats) -> Floats:
    """Return a lower and an upper bound on the integral of w(U) dH. phi falls by `falls` in the cells.

    On a cell, w lies between its values at the ends of U. And with the means w' of w over U and p of phi over Q~, the
    integral is w' times the rise of H, and at most a quarter of (the fall of w) (the fall of phi) / |1 - p| times the
    rise of L more: w and phi are monotone, so this is Chebyshev's inequality and a bound on a covariance.
    """
    run, other, tilted = masses
    level, slack = order * run - (order - 1) * other, 4 * ROUNDING * order
    least, most = np.minimum(level[:-1], level[1:]) - slack, np.maximum(level[:-1], level[1:]) + slack
    risen = np.diff(level)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # where there is no bound
        weights = np.stack([tries.slope(most), tries.slope(least)])
        spare = 0.25 * np.diff(weights, axis=0)[0] * falls * np.square(np.diff(tilted))
        # U is known to within the slack, and w falls
        means = np.stack([np.abs(tries.mass(level[:-1] + side * slack, risen) / risen) for side in (1, -1)])
        extra = np.stack([np.zeros(len(risen)), spare / np.abs(risen)])
        plain, better = _product(weights, rises), _product(means, rises) + extra
        close = (np.abs(risen) > 1e4 * slack) & np.isfinite(better).all(axis=0)
        low = np.where(close, np.maximum(plain[0], better[0]), plain[0])
        high = np.where(close, np.minimum(plain[1], better[1]), plain[1])
        return np.array([low.sum(), high.sum()])


def _product(weights: Floats, rises: Floats) -> Floats:
    """Return the products, where an infinite weight of no rise is nothing."""
    return np.multiply(weights, rises, where=rises > 0, out=np.zeros_like(rises))


def _rest(order: float, loss: Floats) -> Floats:
    """Return 1 - phi(r) at log r = loss."""
    return np.asarray(np.exp(-(order - 1) * loss) * (1 - (order - 1) * np.expm1(-loss)))


def _phi(order: float, loss: Floats) -> Floats:
    """Return phi(r) at log r = loss, with a relative error of about 1e-14."""
    rest = order - 1
    value = -np.expm1(-rest * loss) + rest * np.exp(-rest * loss) * np.expm1(-loss)
    small = order * np.abs(loss) < 1  # the terms above nearly cancel
    ends = loss[small, None]
    points = 0.5 * ends * (1 + _NODES)
    value[small] = 0.5 * loss[small] * (_steepness(order, points) @ _WEIGHTS)
    return np.asarray(value)


def _steepness(order: float, loss: Floats) -> Floats:
    """Return the derivative of phi with respect to the loss."""
    return np.asarray(-order * (order - 1) * np.expm1(-loss) * np.exp(-(order - 1) * loss))


def _power(order: float, shift: float) -> float:
    """Return the logarithm of the whole mass of Q~."""
    return 0.5 * order * (order - 1) * shift**2


def _levels(order: float, shift: float, cells: int) -> tuple[Floats, Floats]:
    """Return pairs t, l > 0 with phi at -t equal to phi at l, falling. l is inf if phi at -t is 1 or more."""
    spread = (FAR + order * shift) * shift
    far, beyond = min(spread, _LARGE / order), min(spread, _LARGE / (order - 1))
    near = min(NEAR * shift, 1e-3 * far)
    losses, partners = np.geomspace(far, near, cells // 2), np.geomspace(beyond, near, cells - cells // 2)
    turn = log1p(1 / (order - 1))  # phi is 1 at minus this loss
    level = _phi(order, -losses)
    falling, even = np.append(losses[losses > turn], turn), level < 1 - EVEN
    losses, level = losses[even], level[even]
    found = _solve(order, 1.0, level, losses, (log(order) - np.log1p(-level)) / (order - 1))
    ends = np.minimum(partners, turn)
    less = np.minimum(_solve(order, -1.0, _phi(order, partners), 1e-3 * ends, ends), turn)
    losses = np.concatenate([falling, losses, less])
    partners = np.concatenate([np.full(len(falling), inf), found, partners])
    ranked = np.lexsort((-partners, -losses))
    return losses[ranked], np.minimum.accumulate(partners[ranked])


def _solve(order: float, side: float, level: Floats, low: Floats, high: Floats) -> Floats:
    """Return the losses on this side of zero with these values of phi: halve the ratio of the ends, then Newton."""
    low, high = np.log(low), np.log(high)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        short = _phi(order, side * np.exp(middle)) < level
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    found = high
    for _ in range(NEWTON):
        loss = side * np.exp(found)
        gap = _phi(order, loss) - level
        found = np.clip(found - gap / (loss * _steepness(order, loss)), low, high)
    return np.asarray(np.exp(found))


def _masses(order: float, shift: float, loss: Floats, side: float) -> Floats:
    """Return the masses of Q, Q' and Q~ beyond each log-likelihood ratio, from none to all on this side of zero.

    The shape is (3, number of losses + 2). `side` is 1 for larger ratios, and -1 for smaller ones.
    """
    ends = np.concatenate([[side * inf], np.asarray(loss) / shift, [0.0]]) + 0.5 * shift
    means = np.array([shift, 0.0, order * shift])[:, None]
    sizes = np.array([1.0, 1.0, exp(_power(order, shift))])[:, None]
    return np.asarray(sizes * ndtr(side * (means - ends)))


def _rises(order: float, shift: float, phi: Floats, masses: Floats, most: float) -> Floats:
    """Return a lower and an upper bound on the rise of H in each cell, shape (2, cells). phi falls from `most`."""
    run, other, tilted = np.diff(masses, axis=1)
    rise = tilted - order * run + (order - 1) * other
    # what rounding and underflow of Q~ can be
    power = _power(order, shift)
    tilt, lost = 2 * power + order * shift, UNDERFLOW * exp(power)
    sizes = np.minimum(masses.max(axis=1, keepdims=True), TAIL * masses[:, 1:])
    own = ROUNDING * (0.5 + tilt) * sizes[2] + lost
    slack = ROUNDING * (order * sizes[:2].max(axis=0) + tilt * sizes[2]) + lost
    with np.errstate(invalid="ignore"):  # an infinite phi of no mass
        low = np.append(phi, 0.0) * (tilted - own)
        high = np.concatenate([[most], phi]) * (tilted + own)
    return np.maximum(np.stack([np.maximum(rise - slack, low), np.minimum(rise + slack, high)]), 0.0)
