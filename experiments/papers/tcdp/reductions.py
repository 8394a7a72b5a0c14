"""Section 5.1: selection by additive noise, Algorithm 21."""

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from tcdp_sim import exact
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.exact.selection.privacy import worst_pairs
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.judge.forms import growing
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal

K = 1000.0
NOISES: dict[str, Noise] = {
    "Gaussian": Gaussian(4.0),
    "Laplace": Laplace(3.0),
    "sinh-normal": SinhNormal(scale=6.0, knee=12.0),
}
ORDERS = {"Gaussian": (1.01, 1.5, 3.0, 8.0, 32.0), "Laplace": (1.5, 3.0, 8.0, 32.0), "sinh-normal": (1.5, 3.0)}
GAPS = np.concatenate([np.linspace(0.0, 4.0, 5), np.linspace(6.0, 60.0, 10)])


class Changes(NamedTuple):
    """The largest norms of the change of sparse scores over neighbours on a lattice, and the largest sum of gaps.

    `zero`, `infinity` and `one` are the norms. `gaps` is the sum of gaps over neighbours with different leaders.
    """

    zero: float
    infinity: float
    one: float
    gaps: float


@cache
def changes(k: int, step: float) -> Changes:
    """Return the changes for k scores on the lattice, each of which may move by -step, 0 or step between neighbours."""
    x = _lattice(k)
    moves = step * np.array(list(product((-1, 0, 1), repeat=k)))
    before = np.repeat(x, len(moves), axis=0)
    after = before + np.tile(moves, (len(x), 1))
    change = np.abs(_sparse(before) - _sparse(after))
    moved = before.argmax(axis=1) != after.argmax(axis=1)
    both = (_gap(before) + _gap(after))[moved]
    norms = (change > 0).sum(axis=1), change.max(axis=1), change.sum(axis=1)
    zero, infinity, one = (float(norm.max()) for norm in norms)
    return Changes(zero, infinity, one, float(both.max()))


@claim("T.A21")
def algorithm_21(budget: Budget) -> Points:
    """Return the divergences of its output, against two queries of sensitivity 2."""
    return spent("generalized_histogram", 2.0, 2)


@claim("T.A21 sparse")
def sparse_scores(budget: Budget) -> Points:
    """Yield points on a lattice, with changes of up to 1, where the bound is attained, and of up to 1/2."""
    for k, step in [(2, 1.0), (3, 1.0), (4, 1.0), (3, 0.5)]:
        most = changes(k, step)
        where = f"k = {k}, changes of {step:g}"
        yield Point(f"places, {where}", closed_form(most.zero), constant(2.0))
        yield Point(f"largest change, {where}", closed_form(most.infinity), constant(2.0))


@claim("T.A21 one query")
def one_query(budget: Budget) -> Points:
    """Yield points with half of the paper's charge."""
    yield from spent("generalized_histogram", 2.0, 1)
    for k in (2, 3, 4):
        yield Point(f"‖v‖₁ over 2, k = {k}", closed_form(changes(k, 1.0).one / 2), constant(1.0))


@claim("T.5.1b")
def top_m(budget: Budget) -> Points:
    """Return points of Gaussian noise of ρ = 0.1 for 2m queries of sensitivity 2 and 1e100 candidates."""

    def gap(m: float) -> Bounds[float]:
        noise = Gaussian(float(np.sqrt(2 * m * 4 / (2 * 0.1))))
        return exact.required_gap("generalized_histogram", noise, 1e100, 0.05, round(m))

    return growing((0, 1, 2, 3, 4, 5), gap, lambda m: float(np.sqrt(m)), "m")


@claim("T.T20")
def theorem_20(budget: Budget) -> Points:
    """Yield the failure of Algorithm 21."""
    for name, noise in NOISES.items():
        for k in (10.0, 1e6, 1e100):
            for chance in (0.5, 0.01):
                gap = 2 * float(noise.isf(chance / (2 * k)))
                left = exact.selection_failure("generalized_histogram", noise, gap, k)
                yield Point(f"{name}, k P[|X| ≥ gap/2] = {chance:g}, k = {k:g}", left, constant(chance))


@claim("T.T20 privacy")
def privacy_of_algorithm_21(budget: Budget) -> Points:
    """Yield the output of Algorithm 21, against two queries of sensitivity 1."""
    every = np.arange(0.0, 61.0, budget.choose(5.0, 1.0))
    cases: list[tuple[str, float, float, Floats | None]] = [
        ("Gaussian", K, a, every) for a in (1.5, 3.0, 8.0, 16.0, 32.0)
    ]
    more: list[tuple[str, float, float, Floats | None]] = [("sinh-normal", K, 3.0, None), ("Gaussian", 1e6, 12.0, None)]
    for name, k, order, gaps in budget.choose(cases, [*cases, *more, ("Gaussian", 1e12, 16.0, None)]):
        left = exact.worst_renyi(worst_pairs("generalized_histogram", NOISES[name], k, gaps=gaps), order)
        right = exact.renyi_divergence(NOISES[name], 1.0, order) * 2
        yield Point(f"{name}, α = {order:g}, k = {k:g}", left, right)


@claim("T.T20 exists")
def two_halves(budget: Budget) -> Points:
    """Yield points of Algorithm 22 on the mean of two noisy answers: its failure where k P[|X| ≥ gap/2] = 0.01."""
    for scale in (4.0, 10.0):
        for k in (1e3, 1e6, 1e9):
            gap = 2 * float(Gaussian(scale).isf(0.01 / (2 * k)))
            left = exact.selection_failure("obvious_answer", Gaussian(scale / np.sqrt(2)), gap, k)
            yield Point(f"σ = {scale:g}, k = {k:g}, gap {gap:.4g}", left, constant(0.05))


@claim("T.A21 argmax")
def same_leader(budget: Budget) -> Points:
    """Yield all scores of the lattice that have a single leader."""
    for k in (2, 3, 4):
        x = _lattice(k)
        x = x[_gap(x) > 0]
        same = (_sparse(x).argmax(axis=1) == x.argmax(axis=1)) & (_gap(_sparse(x)) == _gap(x))
        yield Point(f"k = {k}", constant(float(same.sum())), constant(float(len(x))))


def spent(algorithm: str, sensitivity: float, queries: int, k: float = K) -> Points:
    """Yield the largest divergence of a selection's output between neighbours, against that of its queries."""
    for name, noise in NOISES.items():
        pairs = worst_pairs(algorithm, noise, k, gaps=GAPS)
        for order in ORDERS[name]:
            allowed = exact.renyi_divergence(noise, sensitivity, order) * queries
            yield Point(f"{name}, α = {order:g}, k = {k:g}", exact.worst_renyi(pairs, order), allowed)


def _lattice(k: int) -> Floats:
    """Return all vectors of k scores in multiples of 1/2 up to 3."""
    return 0.5 * np.array(list(product(range(7), repeat=k)))


def _sparse(scores: Floats) -> Floats:
    """Return max(score - second highest, 0)."""
    return np.maximum(scores - np.sort(scores, axis=1)[:, -2:-1], 0.0)


def _gap(scores: Floats) -> Floats:
    ordered = np.sort(scores, axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2])
