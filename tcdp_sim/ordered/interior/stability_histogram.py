"""A baseline with a WEAKER guarantee: with a stability histogram for the node, the release is only (epsilon, delta)-DP.

Only occupied nodes get Laplace noise, of scale 2 / epsilon_node. A node is released only if its noisy weight exceeds
the floor 1 + (2 / epsilon_node) log(1 / delta). Substituting a record moves two counts by one. If both nodes stay
occupied, that costs epsilon_node. A node that only one of the neighbours occupies has one record, and is released with
probability delta / 2. So empty nodes need no noise, and k enters by log log k alone.
"""

from math import log
from typing import cast

from tcdp_sim.core.errors import real
from tcdp_sim.noise import Laplace
from tcdp_sim.ordered.interior.ledger import Step, rho_and_omega
from tcdp_sim.ordered.interior.records_needed import FAILURE, BudgetSplit, Needs, luck, smallest
from tcdp_sim.ordered.interior.release import ReleaseParameters
from tcdp_sim.privacy import TCDP, ApproxDP, Guarantee, PureDP, to_approx_dp

DELTA = 1e-6


def implied(guarantee: Guarantee, delta: float = DELTA) -> ApproxDP:
    """Return the (epsilon, delta)-DP that a tCDP or zCDP guarantee implies by Lemma 6. The baseline is compared at it.

    The converse is false: (epsilon, delta)-DP implies no tCDP.
    """
    return to_approx_dp(TCDP(*rho_and_omega(guarantee)), real("delta", delta, 0, 1), method="paper")


def ledger(guarantee: ApproxDP) -> tuple[Step, ...]:
    """Return the ledger: each step has a third of epsilon (basic composition), and the node has all of delta."""
    each = guarantee.epsilon / 3
    return (
        Step("level", PureDP(each), "exponential mechanism", epsilon=each),
        Step("node", ApproxDP(each, guarantee.delta), "stability histogram, Laplace noise on occupied nodes"),
        Step("end", PureDP(each), "exponential mechanism", epsilon=each),
    )


def split_budget(guarantee: ApproxDP) -> BudgetSplit:
    """Return the epsilons and the noise of the three steps."""
    each = real("epsilon", guarantee.epsilon, 0) / 3
    return BudgetSplit(each, Laplace(2 / each), each)


def floor(guarantee: ApproxDP) -> float:
    """Return the noisy count that a node must exceed to be released, in records."""
    return 1 + cast(Laplace, split_budget(guarantee).noise).scale * log(1 / guarantee.delta)


def needs(guarantee: ApproxDP, log2_k: float, n: float, failure: float = FAILURE) -> Needs:
    """Return the margins of `records_needed.needs`, with the floor in place of the noise of the empty nodes."""
    margins = luck(split_budget(guarantee), log2_k, n, failure)
    node = margins.heaviest + max(floor(guarantee), margins.depth + margins.occupied)
    return Needs(margins.gap, node, 2 * margins.depth)


def required_records(guarantee: ApproxDP, log2_k: float, failure: float = FAILURE) -> int:
    """Return the least n at which success with probability 1 - failure is proved for every data set."""
    return smallest(lambda n: needs(guarantee, log2_k, n, failure).total)


def release_parameters(guarantee: ApproxDP, log2_k: float, n: float, failure: float = FAILURE) -> ReleaseParameters:
    """Return the public parameters of the release on n records, with thresholds in proportion to the proof."""
    budget_split, margins = split_budget(guarantee), needs(guarantee, log2_k, n, failure)
    scale = n / margins.total
    lower, upper = margins.node * scale, n - margins.ends * scale
    numbers = (budget_split.epsilon_level, budget_split.noise, budget_split.epsilon_end, lower, upper)
    return ReleaseParameters(*numbers, "stability", floor=floor(guarantee))
