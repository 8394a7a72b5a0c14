"""Renyi bounds under subsampling, by binomial sums at whole orders and by the privacy profile at any order.

Between whole orders the sums are interpolated by convexity: (a - 1) D_a of two given laws is convex in a and zero at 1.
"""

from collections.abc import Callable
from functools import lru_cache
from math import ceil, comb, exp, expm1, floor, inf, lgamma, log, log1p, log2
from typing import TYPE_CHECKING

from tcdp_sim.privacy.amplification.schemes import log_mixed
from tcdp_sim.privacy.best_order import total_variation
from tcdp_sim.privacy.renyi import RenyiBound

if TYPE_CHECKING:
    from tcdp_sim.core.arrays import Floats

MOST_TERMS = 100_000
NODES = 1500  # number of nodes of the profile
ORDERS = 4000  # number of orders among which the bound of Canonne-Kamath-Steinke is optimised
_PANEL = 4
_COARSE = 500.0  # nats; if the bound at the highest order is larger, the profile's nodes are too far apart


def lemma_15(bound: RenyiBound, s: float) -> RenyiBound:
    """Return the bound of Poisson sampling under add/remove, by Lemma 15 of Bun-Dwork-Rothblum-Steinke 2018.

    The lemma gives D_a((1-s) Q + s P || Q) from D_k(P || Q) <= bound(k). It holds for any mechanism. At whole orders it
    is exact for the pair (P, Q) if the bound is. Fix the other records that are drawn. Let Q be the law of the answer
    without the record and P the law with it. Then sampling releases M = (1-s) Q + s P beside Q. By joint convexity the
    worst such pair counts, in both directions. The direction (M || Q) is the lemma.

    The other direction is no worse, as the bound holds for (P, Q) and for (Q, P). With r = P/Q, w = 1-s + s r,
    v = 1-s + s/r, b = 2 (a-2) s + 3 and c = (2a-1) s / b, for all a >= 2

        E_Q[w^(1-a)] <= (1-c) E_Q[w^a] + c E_P[v^a],    0 <= c <= 1,

    and Lemma 15 bounds both means on the right alike. Proof: both sides are expectations under Q of functions of r. The
    right one minus the left one is G(r) = (1-c) w^a + c r v^a - w^(1-a). Since E_Q[r] = 1 and G(1) = 0, it is enough
    that G'' >= 0. Now G'' w^(a+1) / (a (a-1) s^2) = (1-c) w^(2a-1) + c (w v)^(a-2) (w/r)^3 - 1. By the inequality of
    the means the first two terms are at least e^h, with h = (2a-1 - c (a-2)) log w + c (a-2) log v - 3 c log r. With
    log w >= s log r and log v >= -s log r, h >= ((2a-1) s - c b) log r = 0. (For additive symmetric noise see Theorem 5
    of Mironov et al. 2019 [MTZ19].) Under substitution the lemma's pair is not the worst: erratum S3.
    """
    return _between_whole_orders(bound, s, lambda a: _log_sum(_lemma_15_terms(bound, s, a)))


def wang_2019(bound: RenyiBound, s: float) -> RenyiBound:
    """Return the bound of sampling without replacement under substitution, by Theorem 9 of Wang et al. 2019 [WBK19].

    The theorem holds for any mechanism.
    """
    return _between_whole_orders(bound, s, lambda a: _log_sum(_wang_terms(bound, s, a)))


def cheat_sheet(bound: RenyiBound, s: float) -> RenyiBound:
    """Return the bound of the cheat sheet's RDP row: `wang_2019` with every min{...} replaced by 2.

    The printed bound does not vanish with epsilon (erratum E9), so the bound without sampling is returned where it is
    less.
    """
    return _between_whole_orders(bound, s, lambda a: min(_log_sum(_printed_terms(bound, s, a)), (a - 1) * bound(a)))


def certified(bound: RenyiBound, s: float) -> RenyiBound:
    """Return the bound by the privacy profile, for any order below bound.highest.

    The Renyi bound gives a profile (Canonne-Kamath-Steinke 2020 [CKS20]). Sampling makes it s delta at w = 1 + s (e^eps
    - 1), by Theorem 8 or 9 of Balle-Barthe-Gaboardi 2018 [BBG18]. A profile bounds D_a by log(1 + a (a-1) s^2 integral
    of (w^(a-2) + w^(-a-1)) e^eps delta(eps)) / (a - 1), by their Theorem 6. The bound holds for any mechanism, without
    replacement under substitution and for Poisson sampling under add/remove. Between the nodes the true profile is
    below its chords, because it is convex in e^eps. The quadrature of the smooth weights is exact to 1e-12.
    """

    def curve(order: float) -> float:
        if order <= 1:
            return curve(1 + 1e-6)  # Renyi divergences increase with the order
        if order == inf:
            return log_mixed(s, bound.curve(inf))
        return min(certified_excess(bound, s, order) / (order - 1), bound(order))

    return RenyiBound(curve, bound.highest)


def certified_excess(bound: RenyiBound, s: float, order: float) -> float:
    """Return (order - 1) D_order by `certified`, or inf from the bound's highest order on."""
    import numpy as np

    if order >= bound.highest:
        return inf
    highest = bound.highest
    if highest == inf or bound.curve(highest) > _COARSE:
        cut = 2.0 ** ceil(log2(2 * order + 62))
        while cut < 2.0**40 and cut < highest and bound.curve(min(2 * cut, highest)) <= 5.0:
            cut *= 2  # for small rho the best order of the profile is large
        highest = min(highest, cut)
    eps, log_delta, log_last, decay = _profile(bound, highest)
    if order - 1 >= decay:
        return inf
    x, width, log_chord = _panels(eps, log_delta)
    log_w = np.logaddexp(np.log1p(-s) if s < 1 else -inf, x + log(s))
    weight = np.logaddexp((order - 2) * log_w, -(order + 1) * log_w) + x
    total = np.logaddexp.reduce(weight + log_chord + np.log(width), axis=None)
    total = np.logaddexp(total, _log_tail(eps[-1], log_last, decay, s, order))
    scaled = log(order * (order - 1)) + 2 * log(s) + float(total)
    return log1p(exp(scaled)) if scaled < 700 else scaled


@lru_cache(maxsize=64)
def _profile(bound: RenyiBound, highest: float) -> "tuple[Floats, Floats, float, float]":
    """Return the privacy profile that the Renyi bound implies (Canonne-Kamath-Steinke 2020 [CKS20]).

    The parts are the nodes epsilon, log delta at each, log delta by the highest order at the last node, and the rate
    (order - 1) of that order.
    """
    import numpy as np

    excess = np.geomspace(1e-6, (highest - 1) * (1 - 1e-12), ORDERS)
    values = np.array([bound.curve(1 + e) for e in excess])
    with np.errstate(over="ignore", invalid="ignore"):
        known = np.isfinite(excess * values)
    if not known.any():
        raise ValueError(f"the Renyi bound is infinite at all orders up to {highest:g}; valid: finite at some")
    excess, values = excess[known], values[known]
    end = 2 * values[-1] + 80 / excess[-1] + 8 * values[0] ** 0.5
    eps = end * np.linspace(0, 1, NODES) ** 2
    offset = excess * (values - np.log1p(1 / excess)) - np.log1p(excess)
    log_delta = np.array([(offset - excess * e).min() for e in eps])
    log_last = float(offset[-1] - excess[-1] * eps[-1])
    return eps, np.minimum(log_delta, log(max(total_variation(bound), 1e-300))), log_last, float(excess[-1])


def _panels(eps: "Floats", log_delta: "Floats") -> "tuple[Floats, Floats, Floats]":
    """Return Gauss nodes between the nodes of the profile, their weights, and the log of delta's chord there.

    The chord is linear in e^eps.
    """
    import numpy as np

    node, weight = np.polynomial.legendre.leggauss(_PANEL)
    half = 0.5 * np.diff(eps)[:, None]
    x = eps[:-1, None] + half * (1 + node)
    share = np.exp(x - eps[1:, None]) * np.expm1(eps[:-1, None] - x) / np.expm1(-2 * half)
    left, right = log_delta[:-1, None], log_delta[1:, None]
    chord = left + np.log1p(share * np.expm1(right - left))
    return x, half * weight, chord


def _log_tail(end: float, log_last: float, decay: float, s: float, order: float) -> float:
    """Return the log of the integral beyond the last node, where delta <= e^(log_last - decay (eps - end))."""
    # Below order 2, w^(a-2) <= (s e^eps)^(a-2). Above, w / e^eps decreases.
    log_ratio = log(s) if order < 2 else log(s + (1 - s) * exp(-end))
    rising = (order - 2) * log_ratio + (order - 1) * end - log(decay + 1 - order)
    falling = -(order + 1) * log(s) - order * end - log(decay + order)  # w >= s e^eps
    if decay > 1:  # and w >= its value at the end, which is more where s e^eps is below 1
        falling = min(falling, -(order + 1) * log1p(s * expm1(min(end, 700.0))) + end - log(decay - 1))
    return log_last + max(rising, falling) + log(2)


def _between_whole_orders(bound: RenyiBound, s: float, scaled: Callable[[int], float]) -> RenyiBound:
    """Return the curve that is scaled(a) / (a - 1) at whole orders a >= 2, with chords between them."""
    known = lru_cache(maxsize=4096)(lambda a: 0.0 if a == 1 else scaled(a))

    def curve(order: float) -> float:
        if order == inf:
            return log_mixed(s, bound.curve(inf))
        low = floor(order)
        if low + 1 > bound.highest and order > low:
            return bound.curve(order)  # no whole order above: sampling is not known to help
        if low == order > 1:
            return known(low) / (order - 1)
        if order <= 2:
            return known(2)  # the chord from order 1 is flat
        return ((low + 1 - order) * known(low) + (order - low) * known(low + 1)) / (order - 1)

    return RenyiBound(curve, bound.highest)


def _log_sum(terms: list[float]) -> float:
    """Return log(1 + sum of e^terms)."""
    top = max(terms)
    if top == inf:
        return inf
    total = sum(exp(term - top) for term in terms)
    return log1p(total * exp(top)) if top < 0 else top + log(total + exp(-top))


def _log_binomial(a: int, k: int) -> float:
    return log(comb(a, k)) if a < 500 else lgamma(a + 1) - lgamma(k + 1) - lgamma(a - k + 1)


def _lemma_15_terms(bound: RenyiBound, s: float, a: int) -> list[float]:
    """Return the logs of the terms C(a,k) (1-s)^(a-k) s^k (e^((k-1) D_k) - 1) of Lemma 15.

    Their sum is the lemma's sum minus 1, the sum for D = 0.
    """
    _affordable(a)
    terms = []
    for k in range(2, a + 1):
        rise = (k - 1) * bound(k)
        if rise == 0 or (s == 1 and k < a):
            continue
        rest = (a - k) * log1p(-s) if s < 1 else 0.0
        terms.append(_log_binomial(a, k) + rest + k * log(s) + (log(expm1(rise)) if rise < 30 else rise))
    return terms or [-inf]


def _wang_terms(bound: RenyiBound, s: float, a: int) -> list[float]:
    _affordable(a)
    second, largest = bound(2), bound.curve(inf) if bound.highest == inf else inf
    rise = expm1(largest) if largest < 700 else inf
    first = min(log(4) + _log_expm1(second), second + log(min(2.0, rise**2 if rise < 1e9 else inf) or 1e-300))
    terms = [2 * log(s) + _log_binomial(a, 2) + first]
    for j in range(3, a + 1):
        factor = min(log(2), j * log(rise)) if 0 < rise < inf else log(2)
        terms.append(j * log(s) + _log_binomial(a, j) + (j - 1) * bound(j) + factor)
    return terms


def _printed_terms(bound: RenyiBound, s: float, a: int) -> list[float]:
    _affordable(a)
    return [log(2) + j * log(s) + _log_binomial(a, j) + (j - 1) * bound(j) for j in range(2, a + 1)]


def _log_expm1(x: float) -> float:
    return log(expm1(x)) if 0 < x < 30 else (x if x > 0 else -inf)


def _affordable(a: int) -> None:
    if a > MOST_TERMS:
        raise ValueError(f"order = {a} is not valid; valid: a whole order from 2 to {MOST_TERMS}")
