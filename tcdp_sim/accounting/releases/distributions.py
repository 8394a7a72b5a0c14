"""A release of which the user knows the two laws of the output, as vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum
from typing import Any

import numpy as np

from tcdp_sim.accounting.releases.atoms import atomic, of_vectors
from tcdp_sim.accounting.releases.release import Case, Release, both_ways, in_orders, need_relation
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import real
from tcdp_sim.exact.losses.grid_law import AtomicLoss

_SUM = 1e-12


@dataclass(frozen=True)
class Distributions(Release):
    """An output with finitely many values, and its laws on two neighbouring data sets.

    Under add/remove, p is the law with the record and q the law without it. Under substitution it is unknown which law
    belongs to which record, and several releases may differ in it. The upper end then uses a pair that dominates both
    orders. The lower end assumes the worst orders fixed in advance, so the ends of several releases differ.

    Source: Sommer et al. (2019) [SMM19], for the privacy loss distribution.

    Parameters
    ----------
    p, q : sequence of float
        The probabilities of the values, of equal length, each summing to 1 to within 1e-12.

    Raises
    ------
    ValueError
        If a probability is negative, a sum is not 1 or the lengths differ. Vectors are never normalised.

    Examples
    --------
    >>> from tcdp_sim.accounting import Distributions, Ledger
    >>> answer = Distributions([0.5, 0.5], [0.25, 0.75])
    >>> round(Ledger([answer], relation="add_remove").delta(0.0).estimate, 6)
    0.25
    """

    p: tuple[float, ...]
    q: tuple[float, ...]

    def __init__(self, p: Sequence[float], q: Sequence[float]) -> None:
        for name, vector in (("p", p), ("q", q)):
            object.__setattr__(self, name, _probabilities(name, vector))
        if len(self.p) != len(self.q):
            raise ValueError(f"q has {len(self.q)} numbers; valid: as many as p, {len(self.p)}")

    def __repr__(self) -> str:
        return f"Distributions({len(self.p)} values)" if len(self.p) > 4 else f"Distributions({self.p}, {self.q})"

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return both orders of the pair, or under substitution the pair that dominates both."""
        need_relation(self, relation)
        forward, backward = _both(self.p, self.q)
        if relation == "substitute":
            return (both_ways((joined(forward, backward), times)),)
        return (Case(((forward, times),), ((backward, times),)),)

    def attained(self, relation: str | None, times: int) -> tuple[Case, ...] | None:
        """Return releases of which none, a quarter or half have the reverse order, under substitution."""
        if relation != "substitute":
            return None
        forward, backward = _both(self.p, self.q)
        return in_orders(forward, backward, times)


def _probabilities(name: str, vector: Any) -> tuple[float, ...]:
    values = np.ravel(real(name, vector, 0, 1, closed=True, finite=False))
    if not abs(fsum(values) - 1) <= _SUM:
        raise ValueError(f"{name} sums to {fsum(values):.15g}; valid: 1 to within {_SUM:g}")
    return tuple(values.tolist())


@lru_cache(maxsize=64)
def _both(p: tuple[float, ...], q: tuple[float, ...]) -> tuple[AtomicLoss, AtomicLoss]:
    return of_vectors(np.array(p), np.array(q)), of_vectors(np.array(q), np.array(p))


def joined(one: AtomicLoss, other: AtomicLoss) -> AtomicLoss:
    """Return the law whose profile is the larger of two profiles at every epsilon.

    Profiles are convex and piecewise linear in a = e^epsilon, and so is their maximum. Its bends are bends of either,
    and places where the two cross.
    """
    low, high = (max(one.infinite[end], other.infinite[end]) for end in (0, 1))
    bends = np.unique(np.concatenate([one.loss, other.loss]))
    if not len(bends):
        return AtomicLoss(bends, bends, (low, high), 0.0)
    a = np.exp(bends)
    gap = _profile(one, a) - _profile(other, a)
    turn = np.flatnonzero(gap[1:] * gap[:-1] < 0)
    crossing = a[turn] + (a[turn + 1] - a[turn]) * gap[turn] / (gap[turn] - gap[turn + 1])
    a = np.unique(np.concatenate([a, crossing]))
    between = np.concatenate([[0.5 * a[0]], 0.5 * (a[1:] + a[:-1]), [2 * a[-1]]])
    first = _profile(one, between) >= _profile(other, between)  # the larger profile on each piece
    falls = np.where(first, _falls(one, between), _falls(other, between))
    mass = np.maximum(-np.diff(falls), 0.0) * a
    # where the same profile is the larger one on both sides of a bend, its own mass is exact
    for law, own in ((one, first[1:] & first[:-1]), (other, ~first[1:] & ~first[:-1])):
        mass = np.where(own, _mass_at(law, np.log(a)), mass)
    kept = mass > 0
    slack = 4e-15 * (1 + float(np.abs(np.log(a)).max())) + one.slack + other.slack
    return atomic(np.log(a[kept]), mass[kept], (low, high), 1e-12, slack)


def _profile(law: AtomicLoss, a: Floats) -> Floats:
    """Return delta at each epsilon = log a."""
    excess = -np.expm1(np.minimum(np.log(a)[:, None] - law.loss, 0.0))
    return law.infinite[1] + (excess * law.mass).sum(axis=1)


def _falls(law: AtomicLoss, a: Floats) -> Floats:
    """Return Q[L > log a], by which the profile falls in a."""
    return ((law.loss > np.log(a)[:, None]) * law.mass * np.exp(-law.loss)).sum(axis=1)


def _mass_at(law: AtomicLoss, loss: Floats) -> Floats:
    """Return the mass at each loss, 0 where there is none."""
    place = np.clip(np.searchsorted(law.loss, loss - 1e-12), 0, len(law.loss) - 1)
    return np.where(np.abs(law.loss[place] - loss) <= 1e-12 * (1 + np.abs(loss)), law.mass[place], 0.0)
