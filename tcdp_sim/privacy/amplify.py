"""What a guarantee becomes when the mechanism is run on a random subsample of its records."""

from collections.abc import Callable
from math import exp, expm1, floor, fsum, log, log1p

from tcdp_sim.errors import choice
from tcdp_sim.privacy.amplification_profiles import Profile, amplified_profile
from tcdp_sim.privacy.amplification_renyi import certified, cheat_sheet, lemma_15, wang_2019
from tcdp_sim.privacy.amplification_tcdp import certified_tcdp, theorem_11, theorem_12
from tcdp_sim.privacy.definitions import RDP, TCDP, ZCDP, ApproxDP, Guarantee, PureDP, known, number, require
from tcdp_sim.privacy.renyi import RenyiBound, renyi_bound
from tcdp_sim.privacy.sampling import chance_drawn, drawn_again, draws, known_scheme, log_mixed

_RENYI = {"certified": certified, "wang2019": wang_2019, "cheat_sheet_rdp": cheat_sheet, "lemma15": lemma_15}
_TCDP = {"theorem11": theorem_11, "theorem12": theorem_12, "certified": certified_tcdp}
_FOR = {  # method -> the schemes for which it is proved
    "balle2018": ("poisson", "without_replacement", "with_replacement", "hybrid", "poisson_substitution"),
    "certified": ("poisson", "without_replacement"),
    "theorem11": ("without_replacement",),
    "theorem12": ("without_replacement",),
    "wang2019": ("without_replacement",),
    "cheat_sheet_rdp": ("without_replacement",),
    "lemma15": ("poisson",),
}
METHODS = tuple(_FOR)
_LARGE = 600.0  # of a loss in logs: near where floats, and the chances of many draws, end
_UNNATURAL = "an unnatural pairing (Balle-Barthe-Gaboardi 2018, Section 4), not known to be tight"


def amplify(
    guarantee: Guarantee | RenyiBound | Profile,
    sampling_fraction: float,
    scheme: str,
    method: str | None = None,
    *,
    records: int | None = None,
    relation: str | None = None,
    order: float | None = None,
    **details,
) -> Guarantee | RenyiBound | Profile:
    """The guarantee of M(subsample of x), M with `guarantee`, when a fraction 0 < s <= 1 of the records is sampled.

    | scheme | the answer holds under | M's guarantee under |
    |---|---|---|
    | poisson: each record with chance s | add-remove | add-remove |
    | without_replacement: m = s n of n | substitute | substitute |
    | with_replacement: m = s n draws of n | substitute | substitute, multisets |
    | hybrid: the same, n of the larger data set | add-remove | substitute, multisets |
    | poisson_substitution: an unnatural pairing | substitute | add-remove |

    | method | of | gives | schemes |
    |---|---|---|---|
    | balle2018 (default) | PureDP, ApproxDP, profile | the same | all |
    | certified (default) | TCDP, ZCDP | TCDP | poisson, without_replacement |
    | certified | whatever has a Renyi bound, below its end | RDP, RenyiBound | poisson, without_replacement |
    | theorem11, theorem12 | TCDP, ZCDP | TCDP | without_replacement |
    | wang2019 (default of RDP), cheat_sheet_rdp | whatever has one | RDP, RenyiBound | without_replacement |
    | lemma15 | the Renyi bound of additive symmetric noise | RDP, RenyiBound | poisson |

    Theorem 11's printed derivation has a gap (erratum E3); its statement holds, and `certified` proves more: at most
    2.78 s^2 rho in place of 13 s^2 rho where it applies, and it applies everywhere. (s^2 rho, omega) would be false.
    records: n, for the schemes that draw again. relation: checked, if given, against the scheme. order: asks methods
    that give a Renyi bound for RDP at that order, which has to be whole except for `certified`; RDP stays at its own.
    A profile is a function epsilon -> delta; `details`: `groups`, `substitution` of `amplified_profile`, or `omega` of
    `certified_tcdp`. Raises ValueError where nothing is proved, naming the precondition.
    """
    how = known_scheme(scheme, relation)
    s = number("sampling_fraction", sampling_fraction, 0, 1, finite=False)
    method = method or _default(guarantee, scheme)
    if scheme not in _FOR[choice("method", method, METHODS)]:
        raise ValueError(_refusal(method, scheme))
    if how.replaces:
        chance_drawn(s, scheme, records)  # of valid records
    if _is_profile(guarantee):
        _only("balle2018", method, "a privacy profile")
        return amplified_profile(guarantee, s, scheme, records=records, **details)
    if method == "balle2018":
        return _by_profiles(known(guarantee), s, scheme, records)
    if method in _TCDP and isinstance(guarantee, TCDP | ZCDP) and order is None:
        return _TCDP[method](_as_tcdp(guarantee), s, **details)
    if method not in _RENYI:
        raise ValueError(f"{method} is not about guarantee = {guarantee}; valid: TCDP, ZCDP with xi = 0")
    return _by_renyi(guarantee, s, method, order)


def _default(guarantee, scheme) -> str:
    if isinstance(guarantee, PureDP | ApproxDP) or _is_profile(guarantee):
        return "balle2018"
    return "wang2019" if isinstance(guarantee, RDP) and scheme in _FOR["wang2019"] else "certified"


def _is_profile(guarantee) -> bool:
    return isinstance(guarantee, Callable) and not isinstance(guarantee, RenyiBound)


def _only(valid, method, what):
    if method != valid:
        raise ValueError(f"method = {method!r} is not about {what}; valid: {valid}")


def _refusal(method, scheme):
    fit = ", ".join(name for name, schemes in _FOR.items() if scheme in schemes)
    why = ""
    if method == "lemma15" and scheme == "without_replacement":
        why = " (under substitution its pair is not the worst: erratum S3)"
    return f"method = {method!r} is not proved for scheme = {scheme!r}{why}; valid: {fit}"


def _as_tcdp(guarantee) -> TCDP:
    if isinstance(guarantee, TCDP):
        return guarantee
    require(guarantee.xi == 0, "xi", guarantee.xi, "tCDP has no xi; valid: ZCDP with xi = 0")
    return TCDP(guarantee.rho, float("inf"))


def _by_renyi(guarantee, s, method, order):
    bound = guarantee if isinstance(guarantee, RenyiBound) else renyi_bound(known(guarantee))
    curve = _RENYI[method](bound, s)
    if isinstance(guarantee, RDP) and order is None and guarantee.order < float("inf") and method != "certified":
        order = guarantee.order
    if order is None:
        return curve
    order = number("order", order, 1)
    if method != "certified":
        require(order >= 2 and order == floor(order), "order", order, f"{method} needs a whole order >= 2")
    epsilon = curve(int(order) if order == floor(order) else order)
    require(epsilon < float("inf"), "order", order, f"nothing is known beyond order {bound.highest:g}")
    return RDP(order, epsilon)


def _by_profiles(guarantee, s, scheme, records):
    match guarantee:
        case PureDP(epsilon=epsilon):
            return PureDP(_pure(epsilon, s, scheme, records))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return _approx(epsilon, delta, s, scheme, records)
    raise ValueError(f"balle2018 is not about guarantee = {guarantee}; valid: PureDP, ApproxDP, or a profile")


def _pure(epsilon, s, scheme, records):
    """The largest ratio of the two mixtures' densities, given how far their parts may be from each other.

    With replacement: parts u_k = P_k / R, k = 0, 1, ... draws, are at most e^(k epsilon), and Q_k at least u_k and 1
    over that; the ratio is largest where every u_k is at an end, as told by where it exceeds the ratio itself.
    Where floats end: the largest numerator over the least denominator, which is no less.
    """
    how = known_scheme(scheme)
    if scheme == "poisson_substitution":  # P_1 <= e^epsilon R and Q_1 >= e^-epsilon R at once
        return log_mixed(s, epsilon) - log(1 - s + s * exp(-epsilon))
    if not how.replaces:
        return log_mixed(s, epsilon)
    chances = drawn_again(s, records)
    if len(chances) * epsilon > _LARGE:  # rare draws may decide: E[e^(k epsilon)] / E[e^(-k epsilon)] in closed form
        n, m = draws(s, records)
        loss = m * (log_mixed(1 / n, epsilon) - log1p(expm1(-epsilon) / n)) if n > 1 else epsilon
        return min(loss, m * epsilon)
    none = 1 - fsum(chances)
    rises = [k * epsilon for k in range(1, len(chances) + 1)]
    low, high = 0.0, rises[-1]
    for _ in range(200):  # the log ratio at which the best gain is none
        middle = 0.5 * (low + high)
        gain = -none * expm1(middle)
        for chance, rise in zip(chances, rises):
            gain += chance * (exp(rise) - exp(middle) if rise > middle else -expm1(middle - rise))
        low, high = (middle, high) if gain > 0 else (low, middle)
    return high


def _approx(epsilon, delta, s, scheme, records):
    source = f"balle2018: Balle-Barthe-Gaboardi 2018, {scheme}"
    how = known_scheme(scheme)
    if how.natural and not how.replaces:
        return ApproxDP(log_mixed(s, epsilon), s * delta, source)
    if not how.natural:  # at 2 epsilon, where delta under substitution is that of two changes
        inner = 2 * epsilon
        outer = log_mixed(s, inner)
        total = s * delta * (1 + exp(min(outer - inner + epsilon, 700.0)))
        return ApproxDP(outer, min(total, 1.0), f"{source}: {_UNNATURAL}")
    chances = drawn_again(s, records)
    eta = chance_drawn(s, scheme, records)
    deltas = [min(delta * _geometric(epsilon, k), 1.0) for k in range(1, len(chances) + 1)]
    parts = [chance * each for chance, each in zip(chances, deltas)]
    for most in range(1, len(chances) + 1):  # at epsilon * most, being drawn more often tells everything
        rest = max(eta - fsum(chances[:most]), 0.0)
        if rest <= fsum(parts[:most]):
            break
    return ApproxDP(log_mixed(eta, most * epsilon), min(fsum(parts[:most]) + rest, 1.0), source)


def _geometric(epsilon, size):
    """1 + e^epsilon + ... + e^((size - 1) epsilon)."""
    if epsilon == 0:
        return size
    return expm1(size * epsilon) / expm1(epsilon) if size * epsilon < 700 else float("inf")
