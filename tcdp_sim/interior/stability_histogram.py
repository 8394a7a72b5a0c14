"""The baseline with a WEAKER guarantee: the same release, its node from a stability histogram, is (epsilon, delta)-DP.

Laplace noise of scale 2 / epsilon_node goes on the occupied nodes alone, and what does not exceed the floor
1 + (2 / epsilon_node) log(1 / delta) is not released. Substituting a record moves two counts by one. Where both nodes
stay occupied that costs epsilon_node; a node that only one of the neighbours occupies has one record, and is released
with probability delta / 2. So no node has to be drawn, nor paid for, because it exists: k enters by log log k alone.
"""

from math import log
from typing import cast

from tcdp_sim.core.errors import real
from tcdp_sim.interior.ledger import Step
from tcdp_sim.interior.records_needed import BETA, Needs, Parts, luck, smallest
from tcdp_sim.interior.release import Recipe
from tcdp_sim.noise import Laplace
from tcdp_sim.privacy import TCDP, ApproxDP, PureDP, to_approx_dp

DELTA = 1e-6


def implied(rho: float, omega: float, delta: float = DELTA) -> ApproxDP:
    """What (rho, omega)-tCDP implies at this delta (Lemma 6): the guarantee at which the baseline is compared.

    The converse is false: (epsilon, delta)-DP implies no tCDP.
    """
    return to_approx_dp(TCDP(rho, omega), real("delta", delta, 0, 1), method="paper")


def ledger(promise: ApproxDP) -> tuple[Step, ...]:
    """A third of epsilon for each step, by basic composition; all of delta for the node."""
    each = promise.epsilon / 3
    return (
        Step("level", PureDP(each), "exponential mechanism"),
        Step("node", ApproxDP(each, promise.delta), "stability histogram, Laplace noise on occupied nodes"),
        Step("end", PureDP(each), "exponential mechanism"),
    )


def parts(promise: ApproxDP) -> Parts:
    """Epsilons and noise of the three steps."""
    each = real("epsilon", promise.epsilon, 0) / 3
    return Parts(each, Laplace(2 / each), each)


def floor(promise: ApproxDP) -> float:
    """What a noisy count has to exceed to be released, in records."""
    return 1 + cast(Laplace, parts(promise).noise).scale * log(1 / promise.delta)


def needs(promise: ApproxDP, log2_k: float, n: float, beta: float = BETA) -> Needs:
    """The margins of `requirement`, with the floor in place of the noise of the empty nodes."""
    margins = luck(parts(promise), log2_k, n, beta)
    node = margins.heaviest + max(floor(promise), margins.depth + margins.occupied)
    return Needs(margins.gap, node, 2 * margins.depth)


def required_n(promise: ApproxDP, log2_k: float, beta: float = BETA) -> int:
    """The least n for which an interior point is proved to come out with probability >= 1 - beta on every data set."""
    return smallest(lambda n: needs(promise, log2_k, n, beta).total)


def recipe(promise: ApproxDP, log2_k: float, n: float, beta: float = BETA) -> Recipe:
    """The release on n records: thresholds in proportion to the proof's."""
    bought, margins = parts(promise), needs(promise, log2_k, n, beta)
    scale = n / margins.total
    lower, upper = margins.node * scale, n - margins.ends * scale
    numbers = (bought.epsilon_level, bought.noise, bought.epsilon_end, lower, upper)
    return Recipe(*numbers, "stability", floor=floor(promise))
