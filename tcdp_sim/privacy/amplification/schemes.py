"""Ways to draw a subsample, the neighbouring relations that fit them, and how often one record is drawn."""

from dataclasses import dataclass
from math import exp, expm1, fsum, inf, log, log1p

from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.privacy.definitions import whole


@dataclass(frozen=True)
class Scheme:
    """A sampling scheme: the relation between data sets under which the answer holds, and that of its base mechanism.

    natural: whether couplings exist that keep neighbours' distances (Balle-Barthe-Gaboardi 2018, Section 4), so that
    its bound is tight; replaces: whether a record may be drawn more than once.
    """

    outer: str
    base: str
    natural: bool = True
    replaces: bool = False


SCHEMES: dict[str, Scheme] = {
    "poisson": Scheme("add-remove", "add-remove"),
    "without_replacement": Scheme("substitute", "substitute"),
    "with_replacement": Scheme("substitute", "substitute", replaces=True),
    "hybrid": Scheme("add-remove", "substitute", replaces=True),
    "poisson_substitution": Scheme("substitute", "add-remove", natural=False),
}
_TINY = 1e-299


def known_scheme(scheme: str, relation: str | None = None) -> Scheme:
    """The scheme of that name; ValueError if there is none, or if `relation` is given and is not its outer one."""
    named = SCHEMES[choice("scheme", scheme, SCHEMES)]
    if relation is not None and choice("relation", relation, ("substitute", "add-remove")) != named.outer:
        fit = ", ".join(name for name, other in SCHEMES.items() if other.outer == relation)
        message = f"relation = {relation!r} does not fit scheme = {scheme!r}, which is for {named.outer}"
        raise ValueError(f"{message}; valid for it: {fit}")
    return named


def draws(sampling_fraction: float, records: int | None) -> tuple[int, int]:
    """(n, m): the size of the data set and the number of draws, m = s n; 0 < s <= 1.

    Raises ValueError unless records is a whole number >= 1 and m is whole (to 1e-9) and at least 1.
    """
    s = scalar("sampling_fraction", sampling_fraction, 0, 1, finite=False)
    if records is None:
        raise ValueError("records = None is not valid; valid: the size n of the data set, a whole number")
    n = whole("records", records)
    m = round(s * n)
    if m < 1 or abs(s * n - m) > 1e-9 * max(m, 1):
        message = f"sampling_fraction = {s:g} of records = {n} is {s * n:g} draws"
        raise ValueError(f"{message}; valid: a whole number of draws, at least 1")
    return n, m


def drawn_again(sampling_fraction: float, records: int | None) -> list[float]:
    """P[one given record is drawn k times] for k = 1, 2, ... when m = s n are drawn with replacement from n.

    Ends where the chances fall below 1e-299; what is beyond is `drawn_more_often`. One after the other, from the chance
    of once: differences of log factorials of a million lose nine digits. Raises ValueError as `draws`.
    """
    n, m = draws(sampling_fraction, records)
    if n == 1:
        return [1.0]
    chances = [m / n * exp((m - 1) * log1p(-1 / n))]
    while len(chances) < m and (chance := _once_more(chances[-1], n, m, len(chances))) > _TINY:
        chances.append(chance)
    return chances


def drawn_more_often(sampling_fraction: float, records: int | None, times: int) -> float:
    """P[one given record is drawn more than `times` >= 1 times], the chances below 1e-299 rounded up.

    Raises ValueError as `draws`.
    """
    n, m = draws(sampling_fraction, records)
    chances = drawn_again(sampling_fraction, records)
    last = len(chances)
    beyond = 2 * _once_more(chances[-1], n, m, last) if last < m and n > 1 else 0.0  # each is at most half of the last
    return fsum([*chances[times:], beyond])


def _once_more(chance: float, n: int, m: int, k: int) -> float:
    """P[drawn k + 1 times], from P[drawn k times]."""
    return chance * ((m - k) / ((k + 1) * (n - 1)))


def chance_drawn(sampling_fraction: float, scheme: str, records: int | None = None) -> float:
    """eta, the probability that a given record is drawn at all: s, or 1 - (1 - 1/n)^m with replacement.

    It is the total variation distance between the subsamples of neighbours. Raises ValueError as `draws`.
    """
    if not known_scheme(scheme).replaces:
        return scalar("sampling_fraction", sampling_fraction, 0, 1, finite=False)
    n, m = draws(sampling_fraction, records)
    return -expm1(m * log1p(-1 / n)) if n > 1 else 1.0


def log_mixed(eta: float, epsilon: float) -> float:
    """log(1 + eta (e^epsilon - 1)): what subsampling makes of epsilon, of any sign; its inverse is `log_unmixed`."""
    if eta == 1:
        return epsilon
    if epsilon < 700:
        return log1p(eta * expm1(epsilon))
    return epsilon + log(eta)


def log_unmixed(eta: float, epsilon: float) -> float:
    """log(1 + (e^epsilon - 1) / eta), for 0 < eta <= 1."""
    if epsilon == inf:
        return inf
    return log1p(expm1(epsilon) / eta) if epsilon < 700 else epsilon - log(eta)
