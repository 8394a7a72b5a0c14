"""The cheat sheet "Variants of Differential Privacy" (2019) for given parameters, with its errors marked.

A row that is false, has no source or violates its theorem's preconditions gives the reason and no guarantee.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, exp, expm1, fsum, lgamma, log, log1p, sqrt

from tcdp_sim.core.errors import scalar
from tcdp_sim.privacy.composition import compose_advanced
from tcdp_sim.privacy.conversions import to_approx_dp
from tcdp_sim.privacy.definitions import RDP, TCDP, ZCDP, ApproxDP, Guarantee, whole

MOST_TERMS = 100_000  # limit on the terms of the RDP subsampling sum


@dataclass(frozen=True)
class CheatSheetRow:
    """An entry of the cheat sheet "Variants of Differential Privacy" of March 13, 2019 [VDP19], for given parameters.

    - what: the statement, with the names of the values.
    - formula: the formula of the values, as printed or corrected.
    - value: the values, in nats where they are losses; empty if there are none.
    - valid: True if the statement holds for these parameters.
    - why: the source, or the reason why the row is not valid.
    - guarantee: the guarantee that the row proves; None unless valid.
    """

    notion: str
    what: str
    formula: str
    value: tuple[float, ...]
    valid: bool
    why: str
    guarantee: Guarantee | None = None


def cheat_sheet(
    guarantee: TCDP,
    delta: float,
    epsilon: float,
    sensitivity: float = 1.0,
    k: int = 1,
    *,
    order: float = 2.0,
    slack: float | None = None,
    sampling_probability: float | None = None,
) -> list[CheatSheetRow]:
    """Return every row of the cheat sheet for one mechanism's parameters and its k-fold composition.

    Corrected forms stand beside false ones. A theorem whose preconditions fail gives an invalid row and no error.

    Source: cheat sheet "Variants of Differential Privacy" of March 13, 2019 [VDP19].

    Parameters
    ----------
    guarantee : TCDP
        The guarantee of the rows on tCDP. Its rho is also that of the rows on zCDP.
    delta : float
        Probability in (0, 1).
    epsilon : float
        Epsilon of DP and of RDP, in nats, above 0.
    sensitivity : float
        L2 sensitivity of the query, above 0.
    k : int
        Number of composed mechanisms, at least 1.
    order : float
        Order of RDP, above 1 and finite.
    slack : float, optional
        The additional delta of advanced composition, in (0, 1). The default is delta.
    sampling_probability : float, optional
        Probability of a record to be sampled, without replacement under substitution, in (0, 1]. If given, the rows on
        subsampling are included.

    Returns
    -------
    list of CheatSheetRow
        The rows in the order of the sheet.

    Examples
    --------
    >>> from tcdp_sim.privacy import TCDP, cheat_sheet
    >>> rows = cheat_sheet(TCDP(0.1, 20.0), delta=1e-6, epsilon=1.0)
    >>> [row.what for row in rows if not row.valid][0]
    'advanced composition, as printed: epsilon, delta'
    """
    if type(guarantee) is not TCDP:
        raise ValueError(f"guarantee = {guarantee!r} is not valid for the cheat sheet; valid: TCDP")
    zcdp = ZCDP(guarantee.rho)
    epsilon, delta = scalar("epsilon", epsilon, 0), scalar("delta", delta, 0, 1)
    rdp, sensitivity = RDP(scalar("order", order, 1), epsilon), scalar("sensitivity", sensitivity, 0)
    k, slack = whole("k", k), delta if slack is None else scalar("slack", slack, 0, 1)
    rows = [
        *_dp_rows(epsilon, delta, sensitivity, k, slack),
        *_renyi_rows(rdp, zcdp, guarantee, delta, sensitivity, k),
        *_sinh_normal_rows(guarantee, sensitivity),
    ]
    if sampling_probability is not None:
        s = scalar("sampling_probability", sampling_probability, 0, 1, finite=False)
        rows += _subsampling_rows(ApproxDP(epsilon, delta), rdp, guarantee, s)
    return rows


def _row(
    notion: str, what: str, formula: str, value: tuple[float, ...], why: str, guarantee: Guarantee | None
) -> CheatSheetRow:
    """Return a row, which is valid if and only if it comes with a guarantee."""
    return CheatSheetRow(notion, what, formula, value, guarantee is not None, why, guarantee)


def _dp_rows(epsilon: float, delta: float, sensitivity: float, k: int, slack: float) -> Iterator[CheatSheetRow]:
    notion, ratio = "(epsilon, delta)-DP", sensitivity / epsilon
    logs = log(1.25) - log(delta)
    variance = 2 * ratio * ratio * logs
    why, formula = "Dwork-Roth 2014, Theorem A.1", "2 Delta^2 log(1.25/delta) / epsilon^2"
    proved: ApproxDP | None = ApproxDP(epsilon, delta, why)
    if epsilon >= 1:
        exact = _gaussian_delta(epsilon / sqrt(2 * logs), epsilon)
        why = f"{why}: proved for epsilon < 1 only; here the exact delta of this noise is {exact:.3g}"
        why += f", not {delta:g}" if exact > delta else " (Balle-Barthe-Gaboardi 2018, Theorem 4)"
        proved = ApproxDP(epsilon, delta, "Balle-Barthe-Gaboardi 2018, Theorem 4") if exact <= delta else None
    yield _row(notion, "Gaussian variance", formula, (variance,), why, proved)

    value = (k * epsilon, k * delta)
    why = "basic composition" if k * delta <= 1 else f"k delta = {k * delta:g} > 1 promises nothing"
    total = ApproxDP(*value, "basic composition") if k * delta <= 1 else None
    yield _row(notion, "sequential composition: epsilon, delta", "(k epsilon, k delta)", value, why, total)
    yield from _advanced_rows(notion, epsilon, delta, k, slack)


def _advanced_rows(notion: str, epsilon: float, delta: float, k: int, slack: float) -> Iterator[CheatSheetRow]:
    log_slack, what = -log(slack), "advanced composition, {}: epsilon, delta"
    short = 2 * epsilon * sqrt(2 * k * log_slack)
    # The printed form follows from the correct one when its second term is no more than the first.
    follows = epsilon < 1 and short <= 1 and k * expm1(epsilon) <= sqrt(2 * k * log_slack) and k * delta + slack <= 1
    why = f"false unless the total epsilon is at most 1 (Dwork-Roth 2014, Corollary 3.21); here it is {short:g}"
    total = ApproxDP(short, k * delta + slack, "Dwork-Roth 2014, Corollary 3.21") if follows else None
    formula = "(2 epsilon sqrt(2k log(1/delta')), k delta + delta')"
    yield _row(notion, what.format("as printed"), formula, (short, k * delta + slack), why, total)

    formula = "(epsilon sqrt(2k log(1/delta')) + k epsilon (e^epsilon - 1), k delta + delta')"
    right = compose_advanced(epsilon, delta, k, slack) if epsilon < 700 else None
    value = (right.epsilon, right.delta) if right else ()
    why = right.source if right else "overflows"
    yield _row(notion, what.format("corrected"), formula, value, why, right)

    why = "unsourced and false in general: at k = 1e4, epsilon = 0.5, delta = 1e-6 the exact delta is 0.9998"
    formula, value = "(4 epsilon sqrt(2k log(1/delta)), delta)", (4 * epsilon * sqrt(2 * k * -log(delta)), delta)
    yield _row("moments accountant", what.format("as printed"), formula, value, why, None)


def _gaussian_delta(theta: float, epsilon: float) -> float:
    """Return the exact delta of Gaussian noise with sensitivity over sigma = theta (Theorem 4 of [BBG18])."""
    from scipy.special import log_ndtr, ndtr

    tail = exp(epsilon + float(log_ndtr(-0.5 * theta - epsilon / theta)))  # in logs because e^epsilon overflows
    return float(ndtr(0.5 * theta - epsilon / theta)) - tail


def _renyi_rows(rdp: RDP, zcdp: ZCDP, tcdp: TCDP, delta: float, sensitivity: float, k: int) -> Iterator[CheatSheetRow]:
    gaussian, proposition = "Gaussian variance", "Bun-Steinke 2016, Proposition 6"
    composed, to_dp = "sequential composition", "conversion to (epsilon, delta)-DP: epsilon, delta"
    order, epsilon, rho = rdp.order, rdp.epsilon, zcdp.rho
    name = "(order, epsilon)-RDP"
    formula = "Delta^2 order / (2 epsilon)"
    yield _row(name, gaussian, formula, (sensitivity * (sensitivity / (2 * epsilon)) * order,), proposition, rdp)
    total = RDP(order, k * epsilon)
    yield _row(name, f"{composed}: order, epsilon", "(order, k epsilon)", (order, k * epsilon), "Mironov 2017", total)
    yield _conversion(rdp, name, to_dp, "epsilon + log(1/delta) / (order - 1)", delta)

    name = "rho-zCDP"
    yield _row(name, gaussian, "Delta^2 / (2 rho)", (sensitivity * (sensitivity / (2 * rho)),), proposition, zcdp)
    yield _row(name, f"{composed}: rho", "k rho", (k * rho,), "Bun-Steinke 2016, Lemma 7", ZCDP(k * rho))
    yield _conversion(zcdp, name, to_dp, "rho + 2 sqrt(rho log(1/delta))", delta)

    name, released = "(rho, omega)-tCDP", TCDP(k * rho, tcdp.omega)
    why = "Bun-Dwork-Rothblum-Steinke 2018, Lemma 2"
    yield _row(name, f"{composed}: rho, omega", "(k rho, omega)", (released.rho, released.omega), why, released)
    formula = "rho + 2 sqrt(rho L) if L <= (omega - 1)^2 rho, else rho omega + L / (omega - 1); L = log(1/delta)"
    yield _conversion(tcdp, name, to_dp, formula, delta)


def _conversion(guarantee: Guarantee, notion: str, what: str, formula: str, delta: float) -> CheatSheetRow:
    answer = to_approx_dp(guarantee, delta, "paper")
    return _row(notion, what, formula, (answer.epsilon, answer.delta), answer.source, answer)


def _sinh_normal_rows(tcdp: TCDP, sensitivity: float) -> Iterator[CheatSheetRow]:
    rho, omega = tcdp.rho, tcdp.omega
    knee, what = 8 * sensitivity * omega, "sinh-normal noise A arsinh(N(0, variance) / A): variance, A"
    formula = "variance Delta^2/(2 rho), A = 8 Delta omega gives (16 rho, omega)-tCDP"
    name = "(16 rho, omega)-tCDP"
    yield _theorem_17(name, what, formula, (sensitivity * (sensitivity / (2 * rho)), knee), TCDP(16 * rho, omega))
    formula = "variance 8 Delta^2/rho, A = 8 Delta omega gives (rho, omega)-tCDP"
    yield _theorem_17("(rho, omega)-tCDP", what, formula, (8 * sensitivity * (sensitivity / rho), knee), tcdp)


def _theorem_17(notion: str, what: str, formula: str, value: tuple[float, float], promised: TCDP) -> CheatSheetRow:
    """Return the row for the guarantee of Theorem 17 of Bun-Dwork-Rothblum-Steinke 2018, if the theorem applies."""
    least = 0.5 / sqrt(promised.rho)
    why = "Bun-Dwork-Rothblum-Steinke 2018, Theorem 17 (its preconditions are not printed)"
    holds = False
    if promised.omega < least * (1 - 1e-12):
        why += f"; needs omega >= 1/(2 sqrt(rho)) = {least:g} for a guarantee of rho = {promised.rho:g}"
    elif promised.rho >= 16:
        why += f"; needs a guarantee of rho < 16, not {promised.rho:g}"
    elif promised.omega == float("inf"):
        why += "; needs omega < inf (Gaussian noise is its limit)"
    else:
        holds = True
    return _row(notion, what, formula, value, why, promised if holds else None)


def _subsampling_rows(dp: ApproxDP, rdp: RDP, tcdp: TCDP, s: float) -> Iterator[CheatSheetRow]:
    epsilon = dp.epsilon + log(s) + log1p((1 / s - 1) * exp(-dp.epsilon))  # where e^epsilon overflows
    if dp.epsilon < 700:
        epsilon = log1p(s * expm1(dp.epsilon))
    right = ApproxDP(epsilon, s * dp.delta, "Balle-Barthe-Gaboardi 2018, Theorem 9")
    what, formula = "subsampling: epsilon, delta", "(log(1 + s (e^epsilon - 1)), s delta)"
    yield _row("(epsilon, delta)-DP", what, formula, (epsilon, right.delta), right.source, right)

    name, formula = "(order, epsilon)-RDP", "log(1 + sum_{j=2}^order 2 s^j C(order, j) e^((j-1) epsilon)) / (order - 1)"
    if rdp.order == ceil(rdp.order) and rdp.order <= MOST_TERMS:
        total = RDP(rdp.order, _printed_rdp_subsampling(rdp, s))
        why = "Wang et al. 2019, Theorem 9, loosened; does not vanish with epsilon, the unsampled epsilon may be less"
        yield _row(name, "subsampling: order, epsilon", formula, (rdp.order, total.epsilon), why, total)
    else:
        why = f"needs a whole order from 2 to {MOST_TERMS}; here order = {rdp.order:g}"
        yield _row(name, "subsampling: order, epsilon", formula, (), why, None)
    yield _row("rho-zCDP", "subsampling", "n/a", (), "zCDP is not amplified by subsampling; tCDP is", None)

    rho, cost = tcdp.rho, -log(s)
    why = "Bun-Dwork-Rothblum-Steinke 2018, Theorem 11 (its preconditions are not printed)"
    value = (13 * s * s * rho, cost / (4 * rho))
    holds = rho <= 0.1 and s <= 0.1 and tcdp.omega >= cost / (2 * rho)
    if not holds:
        why += f"; needs rho <= 0.1, s <= 0.1 and omega >= log(1/s)/(2 rho) = {cost / (2 * rho):g}"
    formula = "(13 s^2 rho, log(1/s)/(4 rho))"
    yield _row("(rho, omega)-tCDP", "subsampling: rho, omega", formula, value, why, TCDP(*value) if holds else None)


def _printed_rdp_subsampling(rdp: RDP, s: float) -> float:
    """Return the printed sum, computed in logarithms."""
    order = int(rdp.order)
    logs = [0.0]
    for j in range(2, order + 1):
        log_binomial = lgamma(order + 1) - lgamma(j + 1) - lgamma(order - j + 1)
        logs.append(log(2) + j * log(s) + log_binomial + (j - 1) * rdp.epsilon)
    top = max(logs)
    return (top + log(fsum(exp(term - top) for term in logs))) / (order - 1)
