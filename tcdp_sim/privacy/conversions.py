"""Conversions from every notion to (epsilon, delta)-DP and back, by the papers' theorems or as tightly as is proved.

All values are plain floats in nats.
"""

from math import exp, expm1, hypot, inf, log, log1p, pi, sqrt

from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.privacy.best_order import tightest_epsilon, tightest_log_delta
from tcdp_sim.privacy.binary_tests import advantage, binary_delta, binary_epsilon
from tcdp_sim.privacy.definitions import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxTCDP,
    ApproxZCDP,
    Guarantee,
    MeanConcentratedDP,
    PureDP,
    require,
    simplest,
)
from tcdp_sim.privacy.renyi import TINY, RenyiBound, renyi_bound

METHODS = ("tight", "paper")
FORMS = ("erfcx", "paper")
_CKS = "Canonne-Kamath-Steinke 2020"
_RESPONSE = "randomised response is the worst case (Kairouz-Oh-Viswanath 2015)"
_LEMMA_38 = "Bun-Steinke 2016, Lemma 38"
_TESTS = "the best binary test that the divergences allow"
_GAIN = 1e-9  # relative; a smaller gain is none
_RARE = 1e-300


def to_approx_dp(guarantee: Guarantee, delta: float, method: str = "tight") -> ApproxDP:
    """Return the (epsilon, delta)-DP that a guarantee implies at a given delta.

    The method "paper" uses these theorems; PureDP and ApproxDP keep their epsilon:

    - ZCDP: Lemma 21 of Bun-Steinke 2016 [BS16]; ApproxZCDP: Lemma 38; MeanConcentratedDP: Lemma 24.
    - TCDP: Lemma 6 of Bun-Dwork-Rothblum-Steinke 2018 [BDRS18]; RDP: Lemma 8. ApproxTCDP: Lemma 6, given its events.

    The method "tight" is never larger. For PureDP and ApproxDP it gives the exact worst case. For the other notions it
    is the least of these: the best order of Canonne-Kamath-Steinke 2020 [CKS20], the best binary test that one order
    allows (`privacy.binary_tests`), and epsilon = 0 where the total variation distance allows that.

    Source: Bun and Steinke (2016), Lemmas 21, 24 and 38 [BS16]; Bun et al. (2018), Lemmas 6 and 8 [BDRS18]; Canonne et
    al. (2020), Proposition 12 [CKS20].

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee to convert.
    delta : float
        Probability in (0, 1], not below the guarantee's own delta. It must be above that of ApproxZCDP or ApproxTCDP.
    method : str
        "tight" or "paper".

    Returns
    -------
    ApproxDP
        The implied guarantee, rounded up by at most 1e-9 (relative). The `source` names the method and the theorem.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP, to_approx_dp
    >>> round(to_approx_dp(ZCDP(0.1), 1e-6).epsilon, 4)
    2.1419
    >>> round(to_approx_dp(ZCDP(0.1), 1e-6, "paper").epsilon, 4)
    2.4508
    """
    choice("method", method, METHODS)
    delta = scalar("delta", delta, 0, 1, finite=False)
    match guarantee if isinstance(guarantee, TCDP) else simplest(guarantee):  # the paper has a lemma for TCDP
        case PureDP(epsilon=epsilon):
            answer = _from_response(epsilon, delta, method)
        case ApproxDP(epsilon=epsilon, delta=own):
            if delta < own:
                raise ValueError(f"delta = {delta:g} is not valid for {guarantee}; valid: {own:g} <= delta <= 1")
            answer = _from_response(epsilon, (delta - own) / (1 - own) if own < 1 else 0.0, method)
        case ApproxZCDP() as approximate:
            answer = _from_approx_zcdp(approximate, delta, method)
        case ApproxTCDP(delta=own, rho=rho, omega=omega) as approximate_tcdp:
            if delta <= own:
                raise ValueError(f"delta = {delta:g} is not valid for {approximate_tcdp}; valid: {own:g} < delta <= 1")
            inner = to_approx_dp(TCDP(rho, omega), (delta - own) / (1 - own), method)
            answer = inner.epsilon, f"{inner.source.partition(': ')[2]}, given the events of the approximation"
        case simple if method == "paper":
            answer = _by_the_papers(simple, -log(delta))
        case simple:
            answer = _from_renyi(renyi_bound(simple), delta, _advantage(simple))
    epsilon, theorem = answer
    return ApproxDP(epsilon, delta, f"{method}: {theorem}")


def _from_response(epsilon: float, spare: float, method: str) -> tuple[float, str]:
    """Return the epsilon and the theorem for pure DP when a further `spare` of delta is allowed.

    For approximate DP, epsilon-DP holds given an event of probability 1 - its own delta.
    """
    if method == "paper":
        return epsilon, "larger delta is weaker"
    rest = spare * (1 + exp(-epsilon))
    return max(epsilon + log1p(-rest), 0.0) if rest < 1 else 0.0, _RESPONSE


def _from_renyi(bound: RenyiBound, delta: float, most: float) -> tuple[float, str]:
    """Return the epsilon and the theorem. `most` bounds the total variation distance."""
    if delta >= most < 1:
        return 0.0, _TESTS
    epsilon, order = tightest_epsilon(bound, delta)
    best = binary_epsilon(bound, delta, order) if order > 1 else inf
    return (best, _TESTS) if best < epsilon * (1 - _GAIN) else (epsilon, _name(order))


def _advantage(guarantee: Guarantee) -> float:
    """Return the largest total variation distance, or 1 where no formula is known."""
    return 1.0 if guarantee.rho_omega is None else advantage(guarantee.rho_omega[0])


def _least_delta(bound: RenyiBound, epsilon: float, most: float) -> float:
    """Return the least delta that follows from Renyi divergences. `most` bounds the total variation distance."""
    log_delta, order = tightest_log_delta(bound, epsilon)
    usual = _probability(log_delta)
    best = binary_delta(bound, epsilon, order if order > 1 else 2.0) if usual > _RARE else inf
    return min(best, most) if min(best, most) < usual * (1 - _GAIN) else usual


def _name(order: float) -> str:
    return f"{_CKS} at order {order:.6g}" if order > 1 else "total variation from the KL divergence"


def _by_the_papers(guarantee: ZCDP | TCDP | RDP | MeanConcentratedDP, log_one_over_delta: float) -> tuple[float, str]:
    match guarantee:
        case ZCDP(rho=rho, xi=xi):
            return xi + rho + 2 * sqrt(rho) * sqrt(log_one_over_delta), "Bun-Steinke 2016, Lemma 21"
        case TCDP(rho=rho, omega=omega):
            order = min(omega, 1 + sqrt(log_one_over_delta) / sqrt(rho))
            name = "Bun-Dwork-Rothblum-Steinke 2018, Lemma 6"
            if order < omega:
                return rho + 2 * sqrt(rho) * sqrt(log_one_over_delta), name
            return rho * omega + log_one_over_delta / (omega - 1), name
        case RDP(order=order, epsilon=epsilon):
            return epsilon + log_one_over_delta / (order - 1), "Bun-Dwork-Rothblum-Steinke 2018, Lemma 8"
        case MeanConcentratedDP(mu=mu, tau=tau):
            slope = 0.5 * tau * tau
            xi = max(mu - slope, 0.0)
            return xi + slope + 2 * sqrt(slope * log_one_over_delta), "Bun-Steinke 2016, Lemmas 24 and 21"


def _from_approx_zcdp(guarantee: ApproxZCDP, delta: float, method: str) -> tuple[float, str]:
    own = guarantee.delta
    if delta <= own:
        raise ValueError(f"delta = {delta:g} is not valid for {guarantee}; valid: {own:g} < delta <= 1")
    spare = (delta - own) / (1 - own)
    if method == "tight":  # the divergences are conditional on events of probability 1 - own
        simple = ZCDP(guarantee.rho, guarantee.xi)
        epsilon, name = _from_renyi(renyi_bound(simple), spare, _advantage(simple))
        return epsilon, f"{name}, given the events of {_LEMMA_38}"
    # The lemma needs epsilon >= xi + rho and decreases from there on. Bisection keeps `high` on the valid side.
    log_spare, low = log(spare), 0.0
    high = sqrt(-log_spare)
    if _log_lemma_38(guarantee.rho, low, "paper") <= log_spare:
        high = low
    while (middle := 0.5 * (low + high)) not in (low, high):
        low, high = (low, middle) if _log_lemma_38(guarantee.rho, middle, "paper") <= log_spare else (middle, high)
    return guarantee.xi + guarantee.rho + 2 * sqrt(guarantee.rho) * high, _LEMMA_38


def _log_lemma_38(rho: float, v: float, form: str) -> float:
    """Return log delta' at epsilon = xi + rho + 2 v sqrt(rho).

    The delta' is e^(-v^2) times a factor that depends on b = sqrt(rho) + v.
    """
    if v > 1e150:  # its square overflows
        return -inf
    root = sqrt(rho)
    b = root + v
    if form == "erfcx":
        from scipy.special import erfcx

        return log(sqrt(pi) * root) + log(erfcx(b)) - v * v
    # The paper's four entries. The last is the least: hypot >= b, b + hypot >= 2 / sqrt(pi), and b >= sqrt(rho).
    entries = (1.0, sqrt(pi) * root, root / b, 2 * root / (b + hypot(b, 2 / sqrt(pi))))
    return log(min(entries)) - v * v


def approx_zcdp_delta(guarantee: ApproxZCDP | ZCDP, epsilon: float, form: str = "erfcx") -> float:
    """Return the delta at which approximate zCDP implies (epsilon, delta)-DP by Lemma 38 of Bun-Steinke 2016 [BS16].

    With own delta d, it is d + (1 - d) delta'. For the form "erfcx", delta' = e^(-u^2/4rho) sqrt(pi rho)
    erfcx((1 + u/2rho) sqrt(rho)) with u = epsilon - xi - rho. The form "paper" bounds the same integral by the least of
    the paper's four entries. `delta_at` is sharper than both.

    Source: Bun and Steinke (2016), Lemma 38 [BS16].

    Parameters
    ----------
    guarantee : ApproxZCDP or ZCDP
        The guarantee to convert.
    epsilon : float
        Epsilon in nats, at least xi + rho.
    form : str
        "erfcx" or "paper".

    Returns
    -------
    float
        The delta, in [0, 1].

    Raises
    ------
    ValueError
        If the guarantee is of another notion, or epsilon < xi + rho.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP, approx_zcdp_delta
    >>> approx_zcdp_delta(ZCDP(0.1), 2.0) < approx_zcdp_delta(ZCDP(0.1), 2.0, "paper")
    True
    """
    choice("form", form, FORMS)
    if not isinstance(guarantee, ZCDP | ApproxZCDP):
        raise ValueError(f"Lemma 38 does not apply to guarantee = {guarantee!r}; valid: ApproxZCDP, ZCDP")
    own = guarantee.delta if isinstance(guarantee, ApproxZCDP) else 0.0
    epsilon, rho = scalar("epsilon", epsilon, 0, closed=True), guarantee.rho
    mean = guarantee.xi + rho
    require(epsilon >= mean, "epsilon", epsilon, f"Lemma 38 needs epsilon >= xi + rho = {mean:g}")
    if rho == 0:
        return own
    v = 0.5 * (epsilon - guarantee.xi - rho) / sqrt(rho)
    return min(own + (1 - own) * _probability(_log_lemma_38(rho, v, form)), 1.0)


def delta_at(guarantee: Guarantee, epsilon: float, method: str = "tight") -> float:
    """Return the least proved delta at which a guarantee implies (epsilon, delta)-DP.

    This is the inverse of `to_approx_dp`. The method "paper" uses the tail bounds of Bun-Dwork-Rothblum-Steinke 2018
    [BDRS18] for TCDP and RDP, and those of Bun-Steinke 2016 [BS16] for the other notions. It returns 1 where the
    theorem says nothing, which is where epsilon is below its mean. The computation is in logarithms.

    Source: Bun et al. (2018), Section 1.3 [BDRS18]; Bun and Steinke (2016), Lemmas 21 and 38 [BS16]; Canonne et al.
    (2020), Proposition 12 [CKS20].

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee to convert.
    epsilon : float
        Epsilon in nats, at least 0.
    method : str
        "tight" or "paper", as in `to_approx_dp`.

    Returns
    -------
    float
        The delta, in [0, 1]. Positive values below 5e-324 are rounded up to that; 0 means pure DP.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP, delta_at, to_approx_dp
    >>> epsilon = to_approx_dp(ZCDP(0.1), 1e-6).epsilon
    >>> abs(delta_at(ZCDP(0.1), epsilon) / 1e-6 - 1) < 1e-6
    True
    """
    choice("method", method, METHODS)
    epsilon = scalar("epsilon", epsilon, 0, closed=True)
    match guarantee if isinstance(guarantee, TCDP) else simplest(guarantee):
        case PureDP(epsilon=own):
            return _response_delta(own, 0.0, epsilon, method)
        case ApproxDP(epsilon=own, delta=delta):
            return _response_delta(own, delta, epsilon, method)
        case ApproxZCDP(delta=own, rho=rho, xi=xi) as approximate if method == "paper":
            return approx_zcdp_delta(approximate, epsilon, "paper") if epsilon >= xi + rho else 1.0
        case ApproxZCDP(delta=own, rho=rho, xi=xi):
            spare = _least_delta(renyi_bound(ZCDP(rho, xi)), epsilon, _advantage(ZCDP(rho, xi)))
            return min(own + (1 - own) * spare, 1.0)
        case ApproxTCDP(delta=own, rho=rho, omega=omega):
            return min(own + (1 - own) * delta_at(TCDP(rho, omega), epsilon, method), 1.0)
        case simple if method == "paper":
            return _probability(_log_tail(simple, epsilon))
        case simple:
            return _least_delta(renyi_bound(simple), epsilon, _advantage(simple))


def _response_delta(own_epsilon: float, own_delta: float, epsilon: float, method: str) -> float:
    """Return the delta at epsilon of randomised response with own_epsilon, mixed with its own delta."""
    if epsilon >= own_epsilon:
        return own_delta
    if method == "paper":
        return 1.0
    return own_delta + (1 - own_delta) * -expm1(epsilon - own_epsilon) / (1 + exp(-own_epsilon))


def _log_tail(guarantee: ZCDP | TCDP | RDP | MeanConcentratedDP, epsilon: float) -> float:
    """Return the log of the papers' bound on P[privacy loss > epsilon]; return 0 where they have none."""
    match guarantee:
        case ZCDP(rho=rho, xi=xi):
            v = 0.5 * (epsilon - xi - rho) / sqrt(rho)
            return -v * v if v > 0 else 0.0
        case TCDP(rho=rho, omega=omega):
            t = epsilon - rho
            if t <= 0:
                return 0.0
            if t <= 2 * rho * (omega - 1):
                v = 0.5 * t / sqrt(rho)
                return -v * v
            return (omega - 1) * ((omega - 1) * rho - t)
        case RDP(order=order, epsilon=own):
            return min((order - 1) * (own - epsilon), 0.0)
        case MeanConcentratedDP(mu=mu, tau=tau):
            slope = max(0.5 * tau * tau, TINY)
            return _log_tail(ZCDP(slope, max(mu - slope, 0.0)), epsilon)


def _probability(log_probability: float) -> float:
    """Return e^log_probability, rounded up: a logarithm and e^x are exact to half a unit in the last place."""
    return min(max(exp(log_probability * (1 - 2.0**-52)) * (1 + 2.0**-52), TINY), 1.0) if log_probability < 0 else 1.0


def zcdp_budget(epsilon: float, delta: float, xi: float = 0.0) -> ZCDP:
    """Return the (xi, rho)-zCDP of the largest rho that implies (epsilon, delta)-DP by Lemma 21 of Bun-Steinke 2016.

    With L = log(1 / delta), rho = (sqrt(epsilon - xi + L) - sqrt(L))^2.

    Source: Bun and Steinke (2016), Lemma 21 [BS16].

    Parameters
    ----------
    epsilon : float
        Epsilon to stay within, in nats, above xi.
    delta : float
        Delta to stay within, in (0, 1].
    xi : float
        Intercept of the zCDP, in nats, at least 0.

    Returns
    -------
    ZCDP
        The largest budget.

    Examples
    --------
    >>> from tcdp_sim.privacy import zcdp_budget
    >>> round(zcdp_budget(1.0, 1e-6).rho, 5)
    0.01747
    """
    xi, delta = scalar("xi", xi, 0, closed=True), scalar("delta", delta, 0, 1, finite=False)
    epsilon, cost = scalar("epsilon", epsilon, 0, closed=True), -log(delta)
    require(epsilon > xi, "epsilon", epsilon, f"Lemma 21 needs epsilon > xi = {xi:g}")
    room = epsilon - xi
    # One division instead of the difference of roots, which cancels.
    return ZCDP(max((room / (sqrt(room + cost) + sqrt(cost))) ** 2, TINY), xi)


def renyi_to_approx_dp(rho: float, order: float, delta: float) -> ApproxDP:
    """Return the (epsilon, delta)-DP that D_a <= rho a at one order a implies.

    The epsilon is rho a + log(1/delta) / (a - 1).

    Source: Bun et al. (2018), Lemma 8 [BDRS18].

    Parameters
    ----------
    rho : float
        Bound on D_a / a, in nats, above 0.
    order : float
        The order a, above 1.
    delta : float
        Probability in (0, 1].

    Returns
    -------
    ApproxDP
        The implied guarantee.

    Examples
    --------
    >>> from tcdp_sim.privacy import renyi_to_approx_dp
    >>> round(renyi_to_approx_dp(0.1, 10.0, 1e-6).epsilon, 4)
    2.5351
    """
    rho, order = scalar("rho", rho, 0), scalar("order", order, 1)
    return to_approx_dp(RDP(order, rho * order), delta, "paper")
