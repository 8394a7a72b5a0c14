"""The best release probabilities under approximate tCDP and approximate Renyi DP, with a dual certificate.

Let C be the set of pairs (p, r) of release probabilities that the guarantee without delta allows to neighbours. It is
convex, it is symmetric and it contains the diagonal. Let g(p) be the largest r with (p, r) in C. Everything below holds
for any such C, and it is ours for tCDP.

**The approximate constraint of a pair.** A guarantee is delta-approximate if, for neighbours, there are events of
probability at least 1 - delta given which it holds. Events may use coins of their own. So (p, r) is allowed if and only
if p = (1 - delta) p' + delta a and r = (1 - delta) r' + delta b with (p', r') in C and any a, b in [0, 1]. Since g
is nondecreasing (it is concave, and largest at 1), the largest r for p has b = 1 and the largest possible p':

    f(p) = delta + (1 - delta) g(min(p / (1 - delta), 1)).

**The optimum.** f is nondecreasing and f(p) >= p. Let pi(0) = 0 and pi(n + 1) = f(pi(n)). Neighbouring values are
allowed pairs. For any other allowed curve, pi'(n + 1) <= f(pi'(n)) <= f(pi(n)) by induction, so pi is the largest curve
for every n at once. With g of epsilon-DP this is the recursion of Desfontaines et al. 2022 [DVGM22].

If a person may have c records at a key, then pi'(n + j) <= f(pi'(n)) for j = 1 ... c, and pi(ceil(n / c)) attains the
largest value, by the same induction in steps of c.

**The dual certificate.** A tangent of one condition of C is a line above g. So pi'(n + 1) <= slope_n pi'(n) + level_n
holds for every allowed curve, whatever n the line came from. These lines are the constraints of a linear program, and
the products of their slopes are its dual variables: pi'(N) <= sum_n level_n prod_{m > n} slope_m.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Bools, Floats
from tcdp_sim.core.errors import scalar
from tcdp_sim.selection.keys.concentrated_pairs import (
    ConcentratedPairs,
    Odds,
    Pairs,
    RenyiPairs,
    largest_step,
    tangent,
)
from tcdp_sim.selection.keys.curve import ReleaseCurve, checked_per_key, counts_of

_ROUNDING = 1e-14


@dataclass(frozen=True)
class Certificate:
    """The proof that a curve is the largest: for each n an allowed value, and a line above all allowed values.

    Parameters
    ----------
    released, withheld : ndarray
        pi(n) and 1 - pi(n) of a curve that is allowed, for n = 0 ... N; pi(N) = 1.
    order : ndarray
        The order of the divergence that decides the step from n to n + 1, for n = 0 ... N - 1; inf in the first step
        and in the last one, where delta alone decides.
    reverse : ndarray of bool
        True if it is the divergence of the smaller probability from the larger one.
    slope, level : ndarray
        The line pi(n + 1) <= slope pi(n) + level, for n = 0 ... N - 1.

    Examples
    --------
    >>> proof = OptimalTCDP(0.1, 1e-6).certificate
    >>> n = 10
    >>> bool(proof.multipliers(n) @ proof.level[:n] - proof.released[n] < 1e-10)  # the dual value less the primal one
    True
    """

    released: Floats
    withheld: Floats
    order: Floats
    reverse: Bools
    slope: Floats
    level: Floats

    @cached_property
    def upper(self) -> Floats:
        """The upper bounds of pi(n) for every allowed curve, for n = 0 ... N."""
        bound = np.zeros(len(self.released))
        for n, (slope, level) in enumerate(zip(self.slope, self.level)):
            bound[n + 1] = min((slope * bound[n] + level) * (1 + _ROUNDING), 1.0)
        return bound

    def multipliers(self, n: int) -> Floats:
        """Return the dual variables of the lines 0 ... n - 1 for the goal pi(n).

        The bound on pi(n) is the sum of their products with `level`.

        Parameters
        ----------
        n : int
            The number of records, from 1 to N.

        Returns
        -------
        ndarray
            The dual variables, shape (n,).
        """
        slopes = np.append(self.slope[1:n], 1.0)
        return np.cumprod(slopes[::-1])[::-1]

    @property
    def gap(self) -> float:
        """The largest distance of an upper bound from the curve, as a share of pi(n)."""
        return float(np.max((self.upper[1:] - self.released[1:]) / self.released[1:]))


class _Optimum(ReleaseCurve):
    """The curve pi(n + 1) = f(pi(n)) of a convex set of pairs."""

    delta: float
    per_key: int

    @property
    @abstractmethod
    def _pairs(self) -> Pairs:
        """The convex set of pairs."""

    @property
    def certificate(self) -> Certificate:
        """The values of the curve, with the lines that prove that no allowed curve is larger."""
        return _certificate(self._pairs, self.delta)

    @property
    def last(self) -> int:
        """The least n with pi(n) = 1."""
        return (len(self.certificate.released) - 2) * self.per_key + 1

    def released(self, records: ArrayLike) -> Floats:
        return self.certificate.released[self._steps(records)]

    def withheld(self, records: ArrayLike) -> Floats:
        return self.certificate.withheld[self._steps(records)]

    def upper(self, records: ArrayLike) -> Floats:
        """Return an upper bound of the probabilities of every curve with this guarantee."""
        return self.certificate.upper[self._steps(records)]

    def _steps(self, records: ArrayLike) -> np.ndarray:
        steps = np.ceil(counts_of(records) / self.per_key)
        return np.minimum(steps, len(self.certificate.released) - 1).astype(np.int64)


@dataclass(frozen=True)
class OptimalTCDP(_Optimum):
    """The largest release probabilities that delta-approximate (rho, omega)-tCDP allows a person with one key.

    Without delta no key could be released, because the first record would be an infinite loss. The values are allowed:
    they meet all orders below omega with a relative margin of 1e-11. `certificate` proves that none can be larger by
    more than its `gap`, up to rounding. Neighbours add or remove a person. The recursion, its optimality and its
    certificate are ours, and the module proves them.

    Source: Bun and Steinke (2016), Definition 36 (approximate zCDP) [BS16]; Bun et al. (2018), Definition 1 (tCDP)
    [BDRS18].

    Parameters
    ----------
    rho : float
        rho in nats, at least 1e-8. The curve has about 4 / sqrt(rho) steps.
    delta : float
        The probability that is given up, in (0, 1).
    omega : float
        omega, above 1; inf for approximate zCDP.
    per_key : int
        The largest number of records of a person at a key, from 1.

    Examples
    --------
    >>> best = OptimalTCDP(0.1, 1e-6)
    >>> best.released([1, 5, 11, 20]).round(4).tolist()
    [0.0, 0.0027, 0.6665, 1.0]
    >>> best.certificate.gap < 1e-8
    True
    """

    rho: float
    delta: float
    omega: float = inf
    per_key: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", self._pairs.rho)
        object.__setattr__(self, "omega", self._pairs.omega)
        object.__setattr__(self, "delta", scalar("delta", self.delta, 0, 1))
        object.__setattr__(self, "per_key", checked_per_key(self.per_key))

    @property
    def _pairs(self) -> ConcentratedPairs:
        return ConcentratedPairs(self.rho, self.omega)


@dataclass(frozen=True)
class OptimalRDP(_Optimum):
    """The largest release probabilities that delta-approximate (order, epsilon)-RDP allows a person with one key.

    Harrison and Manurangsi (2026) [HM26] solve this problem for one key. Only the abstract was at hand, so the
    recursion here is derived in this module; we could not compare it with theirs.

    Source: Harrison and Manurangsi (2026) [HM26]; Papernot and Steinke (2022) [PS22], for approximate RDP.

    Parameters
    ----------
    order : float
        The order of the Renyi divergence, above 1 and finite.
    epsilon : float
        The bound on it in nats, at least 1e-8 times the order.
    delta : float
        The probability that is given up, in (0, 1).
    per_key : int
        The largest number of records of a person at a key, from 1.

    Examples
    --------
    >>> OptimalRDP(10.0, 1.0, 1e-6).records_needed(0.5) <= OptimalTCDP(0.1, 1e-6, 10.0).records_needed(0.5)
    True
    """

    order: float
    epsilon: float
    delta: float
    per_key: int = 1

    def __post_init__(self) -> None:
        pairs = self._pairs
        object.__setattr__(self, "order", pairs.order)
        object.__setattr__(self, "epsilon", pairs.epsilon)
        object.__setattr__(self, "delta", scalar("delta", self.delta, 0, 1))
        object.__setattr__(self, "per_key", checked_per_key(self.per_key))

    @property
    def _pairs(self) -> RenyiPairs:
        return RenyiPairs(self.order, self.epsilon)


@lru_cache(maxsize=64)
def _certificate(pairs: Pairs, delta: float) -> Certificate:
    """Return the curve of a set of pairs, step by step, with its lines."""
    keep = 1 - delta
    values, lines = [Odds(0.0, 1.0), Odds(delta, keep)], [(0.0, delta)]
    conditions, start = [(inf, False)], pairs.start
    while values[-1].q > delta:
        last = values[-1]
        at = Odds(min(last.p / keep, 1.0), (last.q - delta) / keep)
        step = largest_step(pairs, at, start)
        start = step.condition
        slope = tangent(at, step.high, start)
        # a line through the upper end; (at, upper end) is on the boundary of one condition or beyond it
        lines.append((slope, delta + keep * (at.p + step.high) - slope * last.p))
        conditions.append((1 + start.t, start.reverse))
        value, rest = delta + keep * (at.p + step.low), keep * (at.q - step.low)
        values.append(Odds(value if value < 0.5 else 1 - rest, rest))
    values.append(Odds(1.0, 0.0))
    lines.append((0.0, 1.0))
    conditions.append((inf, False))
    slope, level = np.array(lines).T
    order, reverse = zip(*conditions)
    released, withheld = np.array(values).T
    return Certificate(released, withheld, np.array(order), np.array(reverse), slope, level)
