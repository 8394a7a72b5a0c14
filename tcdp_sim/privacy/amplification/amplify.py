"""Privacy amplification by subsampling: one function for all sampling schemes and methods."""

from math import floor, inf
from typing import TypeGuard

from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.privacy.amplification.approximate import amplified_dp
from tcdp_sim.privacy.amplification.concentrated import certified_tcdp, theorem_11, theorem_12
from tcdp_sim.privacy.amplification.profiles import GroupProfile, Profile, amplified_profile
from tcdp_sim.privacy.amplification.renyi import certified, cheat_sheet, lemma_15, wang_2019
from tcdp_sim.privacy.amplification.schemes import inclusion_probability, known_scheme
from tcdp_sim.privacy.definitions import RDP, TCDP, ZCDP, ApproxDP, Guarantee, PureDP, known, require, whole
from tcdp_sim.privacy.renyi import RenyiBound, renyi_bound

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


def amplify(
    guarantee: Guarantee | RenyiBound | Profile,
    sampling_probability: float,
    scheme: str,
    method: str | None = None,
    *,
    records: int | None = None,
    relation: str | None = None,
    order: float | None = None,
    omega: float | None = None,
    groups: GroupProfile | None = None,
    substitution: Profile | None = None,
) -> Guarantee | RenyiBound | Profile:
    """Return the guarantee of a mechanism that runs on a random subsample of its records.

    The schemes are as follows, where m = s n records of n are drawn and s is the sampling fraction:

    | scheme | the answer holds under | the given guarantee is under |
    |---|---|---|
    | poisson: each record with probability s | add_remove | add_remove |
    | without_replacement: m of n | substitute | substitute |
    | with_replacement: m draws of n | substitute | substitute, multisets |
    | hybrid: with replacement, n of the larger data set | add_remove | substitute, multisets |
    | poisson_substitution: an unnatural pairing | substitute | add_remove |

    The methods are as follows:

    | method | given | answer | schemes |
    |---|---|---|---|
    | balle2018 (default) | PureDP, ApproxDP, profile | the same notion | all |
    | certified (default) | TCDP, ZCDP | TCDP | poisson, without_replacement |
    | certified | Renyi bound, below its highest order | RDP, RenyiBound | poisson, without_replacement |
    | theorem11, theorem12 | TCDP, ZCDP | TCDP | without_replacement |
    | wang2019 (default of RDP), cheat_sheet_rdp | Renyi bound | RDP, RenyiBound | without_replacement |
    | lemma15 (default of RDP) | Renyi bound | RDP, RenyiBound | poisson |

    A Renyi bound is a `RenyiBound` or any guarantee that implies one. The printed derivation of Theorem 11 has a gap
    (erratum E3). Its statement holds by ball arithmetic for rho from 1e-4 to 0.1 and s from 1e-12 to 0.1, and wherever
    else it was tried (row T.T11 of the papers). The method `certified` applies everywhere. Where Theorem 11 applies, it
    gave at most 2.78 s^2 rho in place of 13 s^2 rho. The guarantee (s^2 rho, omega) would be false.

    Source: Balle et al. (2018), Theorems 6 and 8 to 11 [BBG18]; Bun et al. (2018), Theorems 11 and 12 and Lemma 15
    [BDRS18]; Wang et al. (2019), Theorem 9 [WBK19].

    Parameters
    ----------
    guarantee : Guarantee, RenyiBound or callable
        The guarantee of the mechanism on the subsample. A callable is a privacy profile, epsilon -> delta.
    sampling_probability : float
        Fraction of the records that is sampled, in (0, 1].
    scheme : str
        Name of the sampling scheme.
    method : str, optional
        Name of the method; the default depends on the guarantee.
    records : int, optional
        Number of records n, at least 1, which the schemes with replacement need.
    relation : str, optional
        "substitute" or "add_remove". If given, it is checked against the scheme.
    order : float, optional
        Order of the answer, above 1, for methods that give a Renyi bound. It must be whole except for `certified`. An
        RDP guarantee keeps its own order by default.
    omega : float, optional
        The omega of the answer, above 1, for the method `certified` with TCDP or ZCDP.
    groups : callable, optional
        Group profiles of a privacy profile, as in `amplified_profile`.
    substitution : callable, optional
        Profile under substitution, as in `amplified_profile`.

    Returns
    -------
    Guarantee, RenyiBound or callable
        The guarantee under subsampling, in the notion that the table gives.

    Raises
    ------
    ValueError
        If nothing is proved; the message names the precondition. Also if an argument does not fit the guarantee.

    Examples
    --------
    >>> from tcdp_sim.privacy import PureDP, amplify
    >>> round(amplify(PureDP(1.0), 0.01, "poisson").epsilon, 5)
    0.01704
    """
    how = known_scheme(scheme, relation)
    s = scalar("sampling_probability", sampling_probability, 0, 1, finite=False)
    method = _default(guarantee, scheme) if method is None else method
    if scheme not in _FOR[choice("method", method, METHODS)]:
        raise ValueError(_refusal(method, scheme))
    if how.replaces:
        inclusion_probability(s, scheme, records)  # checks `records`
    elif records is not None:
        whole("records", records)
    of_tcdp = method in _TCDP and isinstance(guarantee, TCDP | ZCDP) and order is None
    if not (of_tcdp and method == "certified"):
        _unused("omega", omega, "TCDP or ZCDP, method = certified, no order")
    if method not in _RENYI:
        _unused("order", order, "a method that gives a Renyi bound")
    if _is_profile(guarantee):
        _only("balle2018", method, "a privacy profile")
        return amplified_profile(guarantee, s, scheme, records=records, groups=groups, substitution=substitution)
    _unused("groups", groups, "a privacy profile")
    _unused("substitution", substitution, "a privacy profile")
    if method == "balle2018":
        return amplified_dp(known(guarantee), s, scheme, records)
    if of_tcdp and isinstance(guarantee, TCDP | ZCDP):
        return _TCDP[method](_as_tcdp(guarantee), s, **({} if omega is None else {"omega": omega}))
    if method not in _RENYI:
        raise ValueError(f"{method} does not apply to guarantee = {guarantee}; valid: TCDP, ZCDP with xi = 0")
    return _by_renyi(guarantee, s, method, order)


def _unused(name: str, value: object, goes_with: str) -> None:
    """Raise ValueError if an argument is given that nothing would read."""
    if value is not None:
        raise ValueError(f"{name} = {value!r} is not valid here; valid with: {goes_with}")


def _default(guarantee: Guarantee | RenyiBound | Profile, scheme: str) -> str:
    if isinstance(guarantee, PureDP | ApproxDP) or _is_profile(guarantee):
        return "balle2018"
    if isinstance(guarantee, RDP) and scheme in ("poisson", "without_replacement"):
        return "lemma15" if scheme == "poisson" else "wang2019"
    return "certified"


def _is_profile(guarantee: Guarantee | RenyiBound | Profile) -> TypeGuard[Profile]:
    return callable(guarantee) and not isinstance(guarantee, RenyiBound)


def _only(valid: str, method: str, what: str) -> None:
    if method != valid:
        raise ValueError(f"method = {method!r} does not apply to {what}; valid: {valid}")


def _refusal(method: str, scheme: str) -> str:
    fit = ", ".join(name for name, schemes in _FOR.items() if scheme in schemes)
    why = ""
    if method == "lemma15" and scheme == "without_replacement":
        why = " (under substitution its pair is not the worst: erratum S3)"
    return f"method = {method!r} is not proved for scheme = {scheme!r}{why}; valid: {fit}"


def _as_tcdp(guarantee: TCDP | ZCDP) -> TCDP:
    if isinstance(guarantee, TCDP):
        return guarantee
    require(guarantee.xi == 0, "xi", guarantee.xi, "tCDP has no xi; valid: ZCDP with xi = 0")
    return TCDP(guarantee.rho, inf)


def _by_renyi(
    guarantee: Guarantee | RenyiBound | Profile, s: float, method: str, order: float | None
) -> RDP | RenyiBound:
    bound = _checked(guarantee) if isinstance(guarantee, RenyiBound) else renyi_bound(known(guarantee))
    curve = _RENYI[method](bound, s)
    if isinstance(guarantee, RDP) and order is None and guarantee.order < inf and method != "certified":
        order = guarantee.order
    if order is None:
        return curve
    order = scalar("order", order, 1)
    if method != "certified":
        require(order >= 2 and order == floor(order), "order", order, f"{method} needs a whole order >= 2")
    epsilon = curve(int(order) if order == floor(order) else order)
    require(epsilon < inf, "order", order, f"nothing is known beyond order {bound.highest:g}")
    return RDP(order, epsilon)


def _checked(bound: RenyiBound) -> RenyiBound:
    """Return a user's bound with a check that its values are at least 0; inf is allowed."""

    def curve(order: float) -> float:
        value = bound.curve(order)
        if isinstance(value, float) and value >= 0:
            return value
        return scalar(f"the Renyi bound at order {order:g}", value, 0, closed=True, finite=False)

    return RenyiBound(curve, bound.highest)
