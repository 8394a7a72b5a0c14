"""Pure and approximate DP under subsampling, by Theorems 8 to 11 of Balle-Barthe-Gaboardi 2018 [BBG18]."""

from math import exp, expm1, fsum, inf, log1p

from tcdp_sim.privacy.amplification.schemes import (
    draw_count_probabilities,
    draw_count_tail,
    draw_sizes,
    inclusion_probability,
    known_scheme,
    log_mixed,
)
from tcdp_sim.privacy.definitions import ApproxDP, Guarantee, PureDP

_LARGE = 600.0  # nats; beyond, e^loss and the probabilities of many draws come near the ends of the floats
_UNNATURAL = "an unnatural pairing (Balle-Barthe-Gaboardi 2018, Section 4), not known to be tight"


def amplified_dp(guarantee: Guarantee, s: float, scheme: str, records: int | None) -> PureDP | ApproxDP:
    """Return the guarantee under subsampling; raise ValueError unless the given one is PureDP or ApproxDP."""
    pair = guarantee.epsilon_delta
    if pair is None:
        raise ValueError(f"balle2018 does not apply to guarantee = {guarantee}; valid: PureDP, ApproxDP, or a profile")
    epsilon, delta = pair
    return _approx(epsilon, delta, s, scheme, records) if delta else PureDP(_pure(epsilon, s, scheme, records))


def _pure(epsilon: float, s: float, scheme: str, records: int | None) -> float:
    """Return the largest log ratio of the two mixtures' densities, given bounds on the distance between their parts.

    With replacement, let u_k = P_k / R for k = 0, 1, ... draws of the record. Then u_k is at most e^(k epsilon), and
    Q_k / R is at least e^(-k epsilon) times the larger of u_k and 1. The ratio of the mixtures is largest where every
    u_k is at an end of [1, e^(k epsilon)]: at the upper one if e^(k epsilon) exceeds the ratio. Where floats overflow,
    the answer is the largest numerator over the least denominator, which is no less.
    """
    how = known_scheme(scheme)
    if scheme == "poisson_substitution":  # P_1 <= e^epsilon R and Q_1 >= e^-epsilon R at once
        return log_mixed(s, epsilon) - log_mixed(s, -epsilon)
    if not how.replaces:
        return log_mixed(s, epsilon)
    chances = draw_count_probabilities(s, records)
    if len(chances) * epsilon > _LARGE:  # rare draws may matter: E[e^(k epsilon)] / E[e^(-k epsilon)] in closed form
        n, m = draw_sizes(s, records)
        loss = m * (log_mixed(1 / n, epsilon) - log1p(expm1(-epsilon) / n)) if n > 1 else epsilon
        return min(loss, m * epsilon)
    none = 1 - fsum(chances)
    rises = [k * epsilon for k in range(1, len(chances) + 1)]
    low, high = 0.0, rises[-1]
    for _ in range(200):  # bisection for the log ratio at which the largest gain is zero
        middle = 0.5 * (low + high)
        gain = -none * expm1(middle)
        for chance, rise in zip(chances, rises):
            gain += chance * (exp(rise) - exp(middle) if rise > middle else -expm1(middle - rise))
        low, high = (middle, high) if gain > 0 else (low, middle)
    return high


def _approx(epsilon: float, delta: float, s: float, scheme: str, records: int | None) -> ApproxDP:
    source = f"balle2018: Balle-Barthe-Gaboardi 2018, {scheme}"
    how = known_scheme(scheme)
    if how.natural and not how.replaces:
        return ApproxDP(log_mixed(s, epsilon), s * delta, source)
    if not how.natural:  # substitution is two changes, hence 2 epsilon
        inner = 2 * epsilon
        outer = log_mixed(s, inner)
        total = s * delta * (1 + exp(min(outer - inner + epsilon, 700.0)))
        return ApproxDP(outer, min(total, 1.0), f"{source}: {_UNNATURAL}")
    chances = draw_count_probabilities(s, records)
    eta = inclusion_probability(s, scheme, records)
    deltas = [min(delta * _geometric(epsilon, k), 1.0) for k in range(1, len(chances) + 1)]
    parts = [chance * each for chance, each in zip(chances, deltas)]
    for most in range(1, len(chances) + 1):  # being drawn more often than `most` counts as delta
        rest = draw_count_tail(s, records, most)
        if rest <= fsum(parts[:most]):
            break
    return ApproxDP(log_mixed(eta, most * epsilon), min(fsum(parts[:most]) + rest, 1.0), source)


def _geometric(epsilon: float, size: int) -> float:
    """Return 1 + e^epsilon + ... + e^((size - 1) epsilon)."""
    if epsilon == 0:
        return size
    return expm1(size * epsilon) / expm1(epsilon) if size * epsilon < 700 else inf
