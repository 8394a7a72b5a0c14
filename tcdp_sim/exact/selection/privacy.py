"""The exact privacy of a selection: divergences of its output between neighbouring inputs, and the guarantee.

Neighbours may change every score by up to one (in units of the sensitivity). The gap changes by at most two if one
candidate leads both inputs. If the leader changes, the two gaps add up to at most two (the claim in the proof of Lemma
23, Bun-Dwork-Rothblum-Steinke 2018 [BDRS18]), and every such pair of gaps does occur. For generalized_histogram,
obvious_answer and stability the output depends on the gap alone, so the supremum over all gaps is the exact privacy of
the mechanism. For the other methods all candidates but the leader tie, so it is a lower bound.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import real
from tcdp_sim.core.numerics import ArrayBounds, Bounds
from tcdp_sim.exact.selection.outputs import delta_of_outputs, divergence_of_outputs
from tcdp_sim.exact.selection.success import MOST_POINTS, required_gap, selection_failure, selection_probability
from tcdp_sim.exact.work import within
from tcdp_sim.noise import Noise


class OutputPair(NamedTuple):
    """Output distributions on two neighbours, by groups of outcomes that have equal probabilities.

    Further axes are further pairs of neighbours.

    Source: Bun et al. (2018), Lemma 23 [BDRS18].

    - p, q: bounds of arrays with the probability of one outcome, groups along the last axis.
    - times: the number of outcomes of each group.

    >>> pair = output_pair("exponential_mechanism", 1.0, 2, 0.0, 2.0)
    >>> float(pair.p.estimate[0])
    0.5
    """

    p: ArrayBounds
    q: ArrayBounds
    times: Floats

    @property
    def reversed(self) -> "OutputPair":
        """The same pair with the inputs exchanged."""
        return OutputPair(self.q, self.p, self.times)

    def renyi(self, order: float) -> Bounds[Any]:
        """Return D_order(P || Q) in nats. Order inf is the max-divergence."""
        return divergence_of_outputs(self.p, self.q, order, self.times)

    def hockey_stick(self, epsilon: float) -> Bounds[Any]:
        """Return delta(epsilon) of P against Q."""
        return delta_of_outputs(self.p, self.q, epsilon, self.times)


@within(MOST_POINTS, "valid: fewer candidates, or another noise")
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
    """Return the output distributions on two neighbours whose leaders lead by `before` and `after`.

    Source: Bun et al. (2018), Lemma 23 [BDRS18].

    Parameters
    ----------
    algorithm : str
        An algorithm of `selection_probability` other than "sparse_vector".
    noise : Noise or float
        The noise, or the epsilon of "exponential_mechanism" and "permute_and_flip".
    k : float
        The number of candidates, a whole number from 2 to 1e300.
    before, after : float
        The gaps of the two neighbours in units of the sensitivity, >= 0.
    same_leader : bool
        True if one candidate leads both inputs. Then |before - after| <= 2, otherwise before + after <= 2.
    delta : float, optional
        delta of "stability", in (0, 1).

    Returns
    -------
    OutputPair
        The two distributions.

    Raises
    ------
    ValueError
        If an argument is not valid, or no such neighbours exist.

    Examples
    --------
    >>> pair = output_pair("exponential_mechanism", 1.0, 2, 0.0, 2.0)
    >>> float(pair.p.estimate[0])
    0.5
    """
    before, after = (real("gap", gap, 0, closed=True) for gap in (before, after))
    if algorithm == "sparse_vector":
        raise ValueError("algorithm = 'sparse_vector' is not valid here; its threshold makes the gap not enough")
    if (abs(before - after) if same_leader else before + after) > 2 + 1e-12:
        valid = "|before - after| <= 2" if same_leader else "before + after <= 2 if the leader changes"
        raise ValueError(f"gaps {before:g} and {after:g} are not those of neighbours; valid: {valid}")
    laws = [_law(algorithm, noise, gap, k, delta) for gap in (before, after)]
    return _pair(laws[0], laws[1], k, algorithm == "stability", same_leader)


@within(MOST_POINTS, "valid: fewer gaps, or another noise")
def worst_pairs(
    algorithm: str,
    noise: Noise | float,
    k: float,
    *,
    gaps: Sequence[float] | Floats | None = None,
    delta: float | None = None,
) -> OutputPair:
    """Return pairs that cover all neighbours on a grid of gaps: both directions, with the same and with another leader.

    Source: Bun et al. (2018), Lemma 23 [BDRS18].

    Parameters
    ----------
    algorithm : str
        An algorithm of `selection_probability` other than "sparse_vector".
    noise : Noise or float
        The noise, or the epsilon of "exponential_mechanism" and "permute_and_flip".
    k : float
        The number of candidates, a whole number from 2 to 1e300.
    gaps : array, optional
        The smaller gap of each pair of gaps that differ by two. The default has 120, from zero to the gap at which
        failures have probability 1e-12.
    delta : float, optional
        delta of "stability", in (0, 1).

    Returns
    -------
    OutputPair
        The pairs, stacked along the first axis. The largest divergence among them is below the true supremum, to second
        order in the steps of the grid.

    Examples
    --------
    >>> pairs = worst_pairs("exponential_mechanism", 1.0, 2)
    >>> round(worst_renyi(pairs, float("inf")).estimate, 2) <= 1.0
    True
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
    """Return the rows, stacked along a new first axis."""
    return Bounds(*(np.array(part) for part in zip(*rows)))


def worst_renyi(pairs: OutputPair, order: float) -> Bounds:
    """Return the largest D_order among pairs of neighbours.

    Source: Bun et al. (2018), Lemma 23 [BDRS18].

    Parameters
    ----------
    pairs : OutputPair
        The pairs, such as the pairs of `worst_pairs`.
    order : float
        The order, > 1 or inf.

    Returns
    -------
    Bounds
        The divergence in nats.

    Examples
    --------
    >>> pairs = worst_pairs("exponential_mechanism", 1.0, 2)
    >>> round(worst_renyi(pairs, 2.0).estimate, 4)
    0.2402
    """
    return Bounds(*(float(np.max(part)) for part in pairs.renyi(order)))


def worst_delta(pairs: OutputPair, epsilon: float) -> Bounds:
    """Return the largest delta(epsilon) among pairs of neighbours.

    Source: Bun et al. (2018), Lemma 23 [BDRS18].

    Parameters
    ----------
    pairs : OutputPair
        The pairs, such as the pairs of `worst_pairs`.
    epsilon : float
        epsilon in nats, finite.

    Returns
    -------
    Bounds
        delta(epsilon), in [0, 1].

    Examples
    --------
    >>> pairs = worst_pairs("exponential_mechanism", 1.0, 2)
    >>> round(worst_delta(pairs, 0.0).estimate, 4)
    0.2449
    """
    return Bounds(*(float(np.max(part)) for part in pairs.hockey_stick(epsilon)))


def _law(algorithm: str, noise: Noise | float, gap: float, k: float, delta: float | None) -> tuple[Bounds, Bounds]:
    """Return the probabilities of success and of failure."""
    success = selection_probability(algorithm, noise, gap, k, delta=delta)
    return success, selection_failure(algorithm, noise, gap, k, delta=delta)


def _pair(
    first: tuple[Bounds, Bounds], second: tuple[Bounds, Bounds], k: float, silent: bool, same_leader: bool
) -> OutputPair:
    """Return the pair from (success, failure) of each input.

    The groups are the leader of the first input, the leader of the second one if it is another candidate, and the rest.
    Failures of `silent` methods give no answer. The failures of the other methods are spread over the other
    candidates.
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
