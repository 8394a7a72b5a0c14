"""What a selection really spends: divergences of its output between neighbouring inputs, beside what is promised.

Neighbours may change every score by up to one (in units of the sensitivity). Between them the gap changes by at most
two if one candidate leads both inputs; if the leader changes, the two gaps add up to at most two (the claim in the
proof of Lemma 23, Bun-Dwork-Rothblum-Steinke 2018), and every such pair of gaps does occur.
For generalized_histogram, obvious_answer and stability the gap says all, so what is found here over all gaps is what
the mechanism spends. For the other methods it is what they spend where all but the leader tie: a lower bound.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import real
from tcdp_sim.core.numerics import ArrayBounds, Bounds
from tcdp_sim.exact.selection.outputs import delta_of_outputs, divergence_of_outputs
from tcdp_sim.exact.selection.success import required_gap, selection_failure, selection_probability
from tcdp_sim.noise import Noise


class OutputPair(NamedTuple):
    """Output distributions on two neighbours, by groups of outcomes that have equal probabilities.

    p, q: Bounds of arrays, groups along the last axis, with the probability of one outcome; times: how many outcomes a
    group has. Further axes are further pairs of neighbours.
    """

    p: ArrayBounds
    q: ArrayBounds
    times: Floats

    @property
    def reversed(self) -> "OutputPair":
        """The same pair with the inputs exchanged."""
        return OutputPair(self.q, self.p, self.times)

    def renyi(self, order: float) -> Bounds[Any]:
        """D_order(P || Q), nats; order = inf: max-divergence."""
        return divergence_of_outputs(self.p, self.q, order, self.times)

    def hockey_stick(self, epsilon: float) -> Bounds[Any]:
        """delta(epsilon) of P against Q."""
        return delta_of_outputs(self.p, self.q, epsilon, self.times)


def output_pair(
    algorithm: str,
    noise: Noise | float,
    k: float,
    before: float,
    after: float,
    *,
    same_leader: bool = True,
    delta: float | None = None,
) -> OutputPair:
    """The outputs on neighbours whose leaders lead by `before` and `after`.

    algorithm, noise, k, delta: as in selection_probability, without sparse_vector. Raises ValueError unless such
    neighbours exist: |before - after| <= 2 with the same leader, before + after <= 2 with another one.
    """
    before, after = (real("gap", gap, 0, closed=True) for gap in (before, after))
    if algorithm == "sparse_vector":
        raise ValueError("algorithm = 'sparse_vector' is not valid here; its threshold makes the gap not enough")
    if (abs(before - after) if same_leader else before + after) > 2 + 1e-12:
        valid = "|before - after| <= 2" if same_leader else "before + after <= 2 if the leader changes"
        raise ValueError(f"gaps {before:g} and {after:g} are not those of neighbours; valid: {valid}")
    laws = [_law(algorithm, noise, gap, k, delta) for gap in (before, after)]
    return _pair(laws[0], laws[1], k, algorithm == "stability", same_leader)


def worst_pairs(
    algorithm: str,
    noise: Noise | float,
    k: float,
    *,
    gaps: Sequence[float] | Floats | None = None,
    delta: float | None = None,
) -> OutputPair:
    """Pairs that cover all neighbours on a grid of gaps, stacked: both directions, the same and another leader.

    gaps: the smaller gap of pairs that differ by two; default: 120 from zero to where failures have probability 1e-12.
    The largest divergence among them is below the true supremum, to second order in the steps of the grid.
    """
    if gaps is None:
        far = required_gap(algorithm, noise, k, 1e-12, delta=delta).estimate
        gaps = np.concatenate([np.linspace(0, 4, 9), np.linspace(4, max(far, 8.0), 112)[1:]])
    ends = [(gap, gap + 2, True) for gap in gaps]
    ends += [(gap, 2 - gap, False) for gap in np.linspace(0, 2, 5)]  # both at the edge of what lets the leader change
    pairs = []
    for first, second, same_leader in ends:
        laws = [_law(algorithm, noise, gap, k, delta) for gap in (first, second)]
        pair = _pair(laws[0], laws[1], k, algorithm == "stability", same_leader)
        pairs += [pair, pair.reversed]
    p, q = _stacked([pair.p for pair in pairs]), _stacked([pair.q for pair in pairs])
    return OutputPair(p, q, np.array([pair.times for pair in pairs]))


def _stacked(rows: Sequence[ArrayBounds]) -> ArrayBounds:
    """One row under the other."""
    return Bounds(*(np.array(part) for part in zip(*rows)))


def spent_renyi(pairs: OutputPair, order: float) -> Bounds:
    """The largest D_order among the pairs, nats."""
    return Bounds(*(float(np.max(part)) for part in pairs.renyi(order)))


def spent_delta(pairs: OutputPair, epsilon: float) -> Bounds:
    """The largest delta(epsilon) among the pairs."""
    return Bounds(*(float(np.max(part)) for part in pairs.hockey_stick(epsilon)))


def _law(algorithm: str, noise: Noise | float, gap: float, k: float, delta: float | None) -> tuple[Bounds, Bounds]:
    """The probabilities of success and of failure."""
    success = selection_probability(algorithm, noise, gap, k, delta=delta)
    return success, selection_failure(algorithm, noise, gap, k, delta=delta)


def _pair(
    first: tuple[Bounds, Bounds], second: tuple[Bounds, Bounds], k: float, silent: bool, same_leader: bool
) -> OutputPair:
    """From (success, failure) of each input: the leader of the first, that of the second if it is another, the rest.

    Failures of all methods but `silent` ones, which then do not answer, spread over the other candidates.
    """
    (right_p, wrong_p), (right_q, wrong_q) = first, second
    others = 1.0 if silent else k - 1
    p, q = _each(wrong_p, others), _each(wrong_q, others)
    if same_leader:
        return OutputPair(_group(right_p, p, p), _group(right_q, q, q), np.array([1.0, others, 0.0]))
    nothing = Bounds(0.0, 0.0, 0.0)
    other_p, other_q = (nothing, nothing) if silent else (p, q)
    return OutputPair(
        _group(right_p, other_p, p), _group(other_q, right_q, q), np.array([1.0, 1.0, 1.0 if silent else k - 2])
    )


def _each(bounds: Bounds, among: float) -> Bounds:
    return Bounds(*(part / among for part in bounds))


def _group(*members: Bounds) -> ArrayBounds:
    return Bounds(*(np.array(part, dtype=float) for part in zip(*members)))
