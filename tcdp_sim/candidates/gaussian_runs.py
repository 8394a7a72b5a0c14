"""The largest Renyi divergence of the best of a random number of Gaussian runs, over all orders of the outputs.

Let (Q, Q') be the laws of a run on neighbours, r = dQ / dQ', a the Renyi order, and Q~ = Q^a Q'^(1 - a), which is no
probability. Above an output lie those that are better. Let S, S' and L be their masses under Q, Q' and Q~. With

    phi(r) = 1 - a r^(1 - a) + (a - 1) r^-a >= 0,    H = the integral of phi dQ~ over better outputs,
    U = a S - (a - 1) S' = L - H,

a Poisson number of runs with mean m has

    e^((a - 1) D_a) = the integral of m e^(-m U) dL over all outputs, + e^-m = 1 + the integral of m e^(-m U) dH.

1. The order of the outputs that makes this largest has phi falling from the best output to the worst. Two neighbouring
   outputs with small (u, q~) and (v, p~) are in the right order if u / q~ <= v / p~, by exchange, and u / q~ is
   1 - phi. So the supremum over all orders is a one-dimensional integral.
2. A run whose trade-off function is that of N(0, 1) and N(shift, 1) or above is a randomised function of such a number
   x (Blackwell). To release x as well can only raise D_a, and r is a function of x. So the supremum over all such runs
   is that of the Gaussian pair, and it is attained. Runs of random candidates with Gaussian noise are of this kind.
3. A truncated negative binomial law has slope f'(1 - S) = w(S), a mixture of e^(-t S). By joint convexity w(S)^a
   w(S')^(1 - a) <= w(U), so the same integral with w(U) for m e^(-m U) is an upper bound. If U is so far below zero
   that w is infinite, there is no bound.

All of this is derived here. Integrals are sums over cells on which w, phi and Q~ have bounds on both sides.
"""

from collections.abc import Callable
from functools import lru_cache
from math import inf

import numpy as np
from scipy.special import ndtr

from tcdp_sim.candidates.tries import Tries
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import scalar, whole
from tcdp_sim.core.numerics import Bounds

CELLS = 1500
NEAR, FAR = 1e-5, 38.0  # the range of |log r| over the shift: phi is negligible below it, and masses are above it
STEPS = 45  # halvings of the interval of a partner; a wrong order changes the result to second order only
ROUNDING = 1e-15
EVEN = 1e-10  # phi closer to 1 is at the turning point of U
_LARGE = 600.0  # the largest exponent


@lru_cache(maxsize=4096)
def gaussian_renyi(order: float, shift: float, tries: Tries, cells: int = CELLS) -> Bounds:
    """Return the largest Renyi divergence of the best of a random number of Gaussian runs.

    The supremum is over all candidates, their scores, and orders of the outputs. For a Poisson number of runs the
    bracket holds the supremum. For other numbers only its upper end is a bound on it.

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

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Papernot, Steinke (2022), Hyperparameter tuning with Renyi differential privacy, https://arxiv.org/abs/2110.03620,
    for the density of the best output. The supremum is ours.

    Examples
    --------
    >>> from tcdp_sim.candidates import tries_of
    >>> found = gaussian_renyi(2.0, 0.1, tries_of("poisson", 10.0))
    >>> bool(found.lower < 0.037448 < found.upper)
    True
    """
    order, shift = scalar("order", order, 1), scalar("shift", shift, 0)
    cells = whole("cells", cells, 100, 10**6)
    if 0.5 * order * (order - 1) * shift**2 > _LARGE:
        return Bounds(0.0, inf, inf)
    losses, partners = _levels(order, shift, cells)
    lower_half = _masses(order, shift, -losses, -1.0)
    upper_half = _masses(order, shift, partners, 1.0)
    phi = _phi(order, -losses)
    phi = np.where(np.abs(phi - 1) < EVEN, 1.0, phi)
    rises = _rises(order, phi, lower_half, inf) + _rises(order, _phi(order, partners), upper_half, 1.0)
    moments = _moments(order, tries, phi, lower_half + upper_half, rises)
    low, high = (float(np.log1p(max(moment, 0.0))) / (order - 1) for moment in moments)
    if high == inf:
        return Bounds(0.0, inf, inf)
    return Bounds(low, 0.5 * (low + high), high)


def _moments(order: float, tries: Tries, phi: Floats, masses: Floats, rises: Floats) -> Floats:
    """Return a lower and an upper bound on the integral of w(U) dH.

    On a cell, w lies between its values at the ends of U. And with the means w' of w over U and p of phi over Q~, the
    integral is w' times the rise of H, and at most a quarter of (the fall of w) (the fall of phi) / |1 - p| times the
    rise of L more: w and phi are monotone, so this is Chebyshev's inequality and a bound on a covariance.
    """
    run, other, tilted = masses
    least, most = _ranges_of_u(order, phi, run, other)
    weights = np.stack([tries.slope(most), tries.slope(least)])
    some = rises > 0  # an infinite weight of no rise is nothing
    plain = np.multiply(weights, rises, where=some, out=np.zeros_like(rises))
    level = order * run - (order - 1) * other
    risen, doubt = np.diff(level), 8 * ROUNDING * order
    before, after = np.append(inf, phi), np.append(phi, 0.0)
    with np.errstate(invalid="ignore", over="ignore"):  # where there is no bound
        spare = 0.25 * np.diff(weights, axis=0)[0] * (before - after) * np.square(np.diff(tilted))
    close = (np.abs(risen) > 1e4 * doubt) & np.isfinite(spare) & ((after >= 1) | (before <= 1))
    spare = np.where(close, spare, 0.0)
    steps = np.where(close, risen, 1.0)
    mean = np.abs(tries.mass(np.where(close, level[:-1], 0.0), np.where(close, steps, 0.5)) / steps)
    slack = 2 * doubt / np.abs(steps)
    better = mean * (1 - slack) * rises[0], mean * (1 + slack) * rises[1] + spare / np.abs(steps)
    low = np.where(close, np.maximum(plain[0], better[0]), plain[0])
    high = np.where(close, np.minimum(plain[1], better[1]), plain[1])
    with np.errstate(over="ignore"):
        return np.array([low.sum(), high.sum()])


def _phi(order: float, loss: Floats) -> Floats:
    """Return phi(r) at log r = loss, at least 0."""
    value = (order - 1) * np.expm1(-order * loss) - order * np.expm1(-(order - 1) * loss)
    return np.asarray(np.maximum(value, 0.0))


def _levels(order: float, shift: float, cells: int) -> tuple[Floats, Floats]:
    """Return pairs t, l > 0 with phi at -t equal to phi at l, falling. l is inf if phi at -t is 1 or more."""
    far, near = min((FAR + order * shift) * shift, _LARGE / order), NEAR * shift
    losses, partners = np.geomspace(far, near, cells // 2), np.geomspace(far, near, cells - cells // 2)
    one = _solve(lambda loss: _phi(order, -loss) - 1.0, np.array([far]))  # U turns there
    losses = np.concatenate([losses, one])
    level = _phi(order, -losses)
    level = np.where(level < 1, level, np.nan)
    found = _solve(lambda loss: _phi(order, loss) - level, (np.log(order) - np.log1p(-level)) / (order - 1))
    level = _phi(order, partners)
    less = _solve(lambda loss: _phi(order, -loss) - level, partners)
    ranked = np.argsort(-np.concatenate([losses, less]), kind="stable")
    pairs = (losses, less), (np.where(np.isnan(found), inf, found), partners)
    losses, partners = (np.concatenate(pair)[ranked] for pair in pairs)
    return losses, np.minimum.accumulate(partners)


def _solve(rising: Callable[[Floats], Floats], high: Floats) -> Floats:
    """Return the zeros of rising functions between 0 and `high`, by halving; NaN where `high` is."""
    low = np.zeros(len(high))
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        short = rising(middle) < 0
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return high


def _masses(order: float, shift: float, loss: Floats, side: float) -> Floats:
    """Return the masses of Q, Q' and Q~ beyond each log-likelihood ratio, from none to all on this side of zero.

    The shape is (3, number of losses + 2). `side` is 1 for larger ratios, and -1 for smaller ones.
    """
    ends = np.concatenate([[side * inf], np.asarray(loss) / shift, [0.0]]) + 0.5 * shift
    means = np.array([shift, 0.0, order * shift])[:, None]
    sizes = np.array([1.0, 1.0, np.exp(0.5 * order * (order - 1) * shift**2)])[:, None]
    return np.asarray(sizes * ndtr(side * (means - ends)))


def _ranges_of_u(order: float, phi: Floats, run: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest U in each cell. U falls where phi > 1, and rises where phi < 1."""
    ends = order * run - (order - 1) * other
    least, most = np.minimum(ends[:-1], ends[1:]), np.maximum(ends[:-1], ends[1:])
    turns = np.concatenate([[True], (phi[:-1] > 1) & (phi[1:] < 1), [False]])
    # S and S' rise everywhere, which gives wider ends
    least = np.where(turns, order * run[:-1] - (order - 1) * other[1:], least)
    most = np.where(turns, order * run[1:] - (order - 1) * other[:-1], most)
    return least - 4 * ROUNDING * order, most + 4 * ROUNDING * order


def _rises(order: float, phi: Floats, masses: Floats, most: float) -> Floats:
    """Return a lower and an upper bound on the rise of H in each cell, shape (2, cells). phi falls from `most`."""
    run, other, tilted = np.diff(masses, axis=1)
    rise = tilted - order * run + (order - 1) * other
    doubt = ROUNDING * (tilted + order * run + (order - 1) * other + order * masses.max())
    with np.errstate(invalid="ignore"):  # an infinite phi of no mass
        low = np.append(phi, 0.0) * tilted
        high = np.concatenate([[most], phi]) * tilted
    high = np.where(np.isnan(high), inf, high)
    return np.maximum(np.stack([np.maximum(rise - doubt, low), np.minimum(rise + doubt, high)]), 0.0)
