"""The risk of attacks, in the worst composed case and direction: guesses, tests, posteriors."""

from functools import lru_cache
from math import exp, expm1, inf, log, log1p

from tcdp_sim.accounting.brackets import answer, cases_of_list, least_delta, size_of_losses, worst
from tcdp_sim.accounting.composed_pairs import Entries, has_loose_pairs
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.core.search import minimize_scalar
from tcdp_sim.exact.losses.pair_law import PairLoss
from tcdp_sim.exact.losses.powers import error_question, power_question, quantile_question

_NARROW, _SHARE, _FINEST = 2e-5, 5e-4, 1e-13  # aims for the distance of ends: absolute, relative, least
_LEAST = 1e-300  # of a type II error
_WIDTH = 4e-3  # of the size of the losses: the aim for a quantile
_ROUNDING = 4e-16
_FARTHEST = 745.0


def attack(entries: Entries, relation: str | None, prior: float) -> Bounds:
    """Return the Bayes success (1 - m) + m H(log((1 - m) / m)) with m = min(prior, 1 - prior), in both directions."""
    rare = min(prior, 1 - prior)
    epsilon = max(log1p(-rare) - log(rare), 0.0)
    usual = 1 - Bounds(rare, rare, rare)
    delta = least_delta(entries, relation, epsilon, 1e-3)
    error = _ROUNDING * (1 + epsilon) if delta.upper else 0.0  # of epsilon; the success falls by less
    low, middle, high = usual + rare * delta
    return Bounds(low - error, middle, high + error).clipped(usual.lower, 1.0)


@lru_cache(maxsize=256)
def power(entries: Entries, relation: str | None, alpha: float) -> Bounds:
    """Return the power of the best test with the type I error alpha, in the worse direction."""
    if not entries:
        return Bounds(alpha, alpha, alpha)

    def allowed(high: float) -> float:
        return min(_NARROW, max(_SHARE * high, _FINEST))

    low, middle, high = answer(entries, relation, power_question(alpha, allowed))
    if has_loose_pairs(entries, relation) and 0 < alpha < 1:
        high = max(low, min(high, _renyi_power(entries, relation, alpha)))
    return Bounds(low, middle, high)


@lru_cache(maxsize=256)
def tradeoff(entries: Entries, relation: str | None, alpha: float) -> Bounds:
    """Return the least type II error of a test with the type I error alpha, in the worse direction."""
    found = (1 - power(entries, relation, alpha)).clipped(0.0, 1.0)
    if not entries or alpha in (0, 1) or found.lower > 0.5:
        return found

    def allowed(high: float) -> float:
        return min(_NARROW, max(-_SHARE * high, _LEAST))

    least = -answer(entries, relation, error_question(alpha, allowed))  # of the reverse of each direction
    lower, upper = max(found.lower, least.lower), min(found.upper, least.upper)
    return Bounds(min(lower, upper), least.estimate, max(lower, upper))


def posterior(entries: Entries, relation: str | None, prior: float, probability: float) -> Bounds:
    """Return the posterior that is reached with the given probability: logit = logit of the prior + a quantile of L."""
    if not entries:
        return Bounds(prior, prior, prior)
    low, high = _single_quantile(entries, relation, probability) or (-inf, inf)
    if not high - low < inf:
        question = quantile_question(probability, _WIDTH * size_of_losses(entries, relation))
        low, high = worst(cases_of_list(entries, relation, False), question)
    odds = log(prior) - log1p(-prior)
    error = 4 * _ROUNDING * (1 + abs(odds))
    middle = low if high == inf else 0.5 * (low + high)
    ends = (low - error - _ROUNDING * abs(low), middle, high + error + _ROUNDING * abs(high))
    lower, middle, upper = (_logistic(odds + end) for end in ends)
    return Bounds(lower * (1 - 2 * _ROUNDING), middle, min(upper * (1 + 2 * _ROUNDING), 1.0))


def _single_quantile(entries: Entries, relation: str | None, probability: float) -> tuple[float, float] | None:
    """Return the quantile of the loss of one release whose loss rises with its output, None for other lists."""
    found = []
    for case in cases_of_list(entries, relation, False):
        for way in case:
            (law, times), *others = way
            ends = law.quantile(probability) if isinstance(law, PairLoss) and times == 1 and not others else None
            if ends is None:
                return None
            found.append(ends)
    return max(low for low, _ in found), max(high for _, high in found)


def _renyi_power(entries: Entries, relation: str | None, alpha: float) -> float:
    """Return an upper bound of the power by the Renyi divergences of the list, which hold in both directions."""
    from tcdp_sim.accounting.by_renyi import renyi_delta  # imported late, as few lists need it

    def bound(e: float) -> float:
        delta = renyi_delta(entries, relation, abs(e))
        profile = delta if e >= 0 else -expm1(e) + exp(e) * delta
        return (profile + exp(min(e + log(alpha), 0.0))) * (1 + 4 * _ROUNDING)

    ends = (log(alpha), -log(alpha))
    return float(minimize_scalar(bound, bounds=ends, method="bounded", options={"xatol": 1e-3}).fun)


def _logistic(x: float) -> float:
    if x < -_FARTHEST:
        return 0.0
    return 1 / (1 + exp(-x)) if x < _FARTHEST else 1.0
