"""Sampling schemes: the neighbouring relations that fit them, and the law of the number of draws of one record."""

from dataclasses import dataclass
from math import exp, expm1, fsum, inf, log, log1p
from typing import NamedTuple

from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.privacy.definitions import whole
from tcdp_sim.privacy.relation import known_relation


@dataclass(frozen=True)
class Scheme:
    """A sampling scheme with the relation of data sets, `outer`, and the relation of subsamples, `base`.

    The answer holds under `outer`, and the guarantee of the base mechanism under `base`. `natural` is True if there are
    couplings that keep the distances of neighbours, so that the bound is tight (Balle et al. (2018), Section 4
    [BBG18]). `replaces` is True if a record may be drawn more than once.
    """

    outer: str
    base: str
    natural: bool = True
    replaces: bool = False


SCHEMES: dict[str, Scheme] = {
    "poisson": Scheme("add_remove", "add_remove"),
    "without_replacement": Scheme("substitute", "substitute"),
    "with_replacement": Scheme("substitute", "substitute", replaces=True),
    "hybrid": Scheme("add_remove", "substitute", replaces=True),
    "poisson_substitution": Scheme("substitute", "add_remove", natural=False),
}
_TINY = 1e-299
_RARE = 1e-290  # of a probability: below, quotients are not known
_SURE = 1e-11  # relative error of a binomial tail, at most


def known_scheme(scheme: str, relation: str | None = None) -> Scheme:
    """Return the scheme of that name.

    Raise ValueError if there is none, or if `relation` is given and is not its outer one.
    """
    named = SCHEMES[choice("scheme", scheme, SCHEMES)]
    if relation is not None and known_relation(relation) != named.outer:
        fit = ", ".join(name for name, other in SCHEMES.items() if other.outer == relation)
        message = f"relation = {relation!r} does not fit scheme = {scheme!r}, which is for {named.outer}"
        raise ValueError(f"{message}; valid for it: {fit}")
    return named


def draw_sizes(sampling_probability: float, records: int | None) -> tuple[int, int]:
    """Return the number of records n and the number of draws m = `sampling_probability` n of a scheme with replacement.

    Raise ValueError if m is not whole (to 1e-9) and at least 1. Source: Balle et al. (2018), Theorems 8 to 11 [BBG18].
    """
    s = scalar("sampling_probability", sampling_probability, 0, 1, finite=False)
    if records is None:
        raise ValueError("records = None is not valid; valid: the size n of the data set, a whole number")
    n = whole("records", records)
    m = round(s * n)
    if m < 1 or abs(s * n - m) > 1e-9 * max(m, 1):
        message = f"sampling_probability = {s:g} of records = {n} is {s * n:g} draws"
        raise ValueError(f"{message}; valid: a whole number of draws, at least 1")
    return n, m


def draw_count_probabilities(sampling_probability: float, records: int | None) -> list[float]:
    """Return P[one given record is drawn k times] for k = 1, 2, ... of the draws with replacement of `draw_sizes`.

    The list ends before the first probability below 1e-299; `draw_count_tail` gives the rest. Source: Balle et al.
    (2018), Theorem 10 [BBG18].
    """
    n, m = draw_sizes(sampling_probability, records)
    if n == 1:
        return [1.0]
    chances = [m / n * exp((m - 1) * log1p(-1 / n))]
    while len(chances) < m and (chance := _once_more(chances[-1], n, m, len(chances))) > _TINY:
        chances.append(chance)
    return chances


def draw_count_tail(sampling_probability: float, records: int | None, times: int) -> float:
    """Return an upper bound on P[one given record is drawn more than `times` times], exact up to terms below 1e-299.

    The draws are those of `draw_sizes`, and `times` is at least 1. Source: Balle et al. (2018), Theorem 10 [BBG18].
    """
    n, m = draw_sizes(sampling_probability, records)
    chances = draw_count_probabilities(sampling_probability, records)
    last = len(chances)
    # Each further probability is at most half of the one before, so twice the first bounds their sum.
    beyond = 2 * _once_more(chances[-1], n, m, last) if last < m and n > 1 else 0.0
    return fsum([*chances[times:], beyond])


def _once_more(chance: float, n: int, m: int, k: int) -> float:
    """Return P[drawn k + 1 times] from P[drawn k times]."""
    return chance * ((m - k) / ((k + 1) * (n - 1)))


def inclusion_probability(sampling_probability: float, scheme: str, records: int | None = None) -> float:
    """Return the probability that a given record is drawn at all: s, or 1 - (1 - 1/n)^m with replacement.

    It is the total variation distance between the subsamples of neighbours. `records` is needed with replacement.
    Source: Balle et al. (2018), Theorems 8 to 11 [BBG18].
    """
    if records is not None:
        whole("records", records)
    if not known_scheme(scheme).replaces:
        return scalar("sampling_probability", sampling_probability, 0, 1, finite=False)
    n, m = draw_sizes(sampling_probability, records)
    return -expm1(m * log1p(-1 / n)) if n > 1 else 1.0


def log_mixed(eta: float, epsilon: float) -> float:
    """Return log(1 + eta (e^epsilon - 1)), the epsilon under subsampling, for epsilon of either sign.

    `log_unmixed` is its inverse.
    """
    if eta == 1:
        return epsilon
    if epsilon < 700:
        return log1p(eta * expm1(epsilon))
    return epsilon + log(eta)


def log_unmixed(eta: float, epsilon: float) -> float:
    """Return log(1 + (e^epsilon - 1) / eta), for 0 < eta <= 1."""
    if epsilon == inf:
        return inf
    return log1p(expm1(epsilon) / eta) if epsilon < 700 else epsilon - log(eta)


class CutRates(NamedTuple):
    """The probabilities of a Poisson sample that is cut to a random part of `most` records if it is larger.

    - rest: that fewer than `most` of the other records are sampled, so that nothing is cut.
    - full: that at least `most` of the other records are sampled.
    - chosen: that the record is used, given that.
    - included: that the record is used.
    """

    rest: float
    full: float
    chosen: float
    included: float

    def widened(self) -> "CutRates":
        """Return the first three with their rounding errors, from above, and the last one from below."""
        rest, full, chosen = (min(rate * (1 + _SURE), 1.0) for rate in self[:3])
        return CutRates(rest, full, chosen, self.included * (1 - _SURE))


def cut_rates(sampling_probability: float, records: int, most: int) -> CutRates:
    """Return the probabilities of a Poisson sample of `records` records that is cut to `most` of them.

    With N others in the sample the record is used with the probability s min(1, most / (N + 1)). The sum over N >= most
    is P[Bin(records, s) > most] most / records, because s P[Bin(n - 1, s) = m] / (m + 1) = P[Bin(n, s) = m + 1] / n.
    Where `full` is too small for floats it is raised, and `chosen` too.
    """
    s, n = sampling_probability, records
    if most == n or not s:
        return CutRates(1.0, 0.0, s, s)
    rest, full = _tails(n - 1, s, most - 1)
    used = _tails(n, s, most)[1] * most / n
    chosen = min(used / full, s) if full > _RARE else s
    return CutRates(rest, full, chosen, s * rest + full * chosen)


def _tails(n: int, s: float, m: int) -> tuple[float, float]:
    """Return P[Bin(n, s) <= m] and P[Bin(n, s) > m] for m < n, relative to 1e-11, and at least 1e-299 for s < 1.

    The incomplete beta functions are within 1e-12 of their values to n = 2^53. The binomial tails of the same library
    are not: they are off by 3e-10 at n = 10^6, and by 3e-6 at n = 10^9.
    """
    from scipy.special import betainc, betaincc  # imported late, as in `core.numerics.root`

    if s == 1:
        return 0.0, 1.0
    below, above = (float(f(m + 1.0, float(n - m), s)) for f in (betaincc, betainc))
    return max(below, _TINY), max(above, _TINY)
