"""Composition of several releases of the same data. Each release may depend on the answers of those before it.

All values are plain floats in nats. All guarantees must hold for the same neighbouring relation.
"""

from collections.abc import Callable, Iterable
from math import expm1, fsum, hypot, inf, log, log1p, pi, sqrt
from typing import overload

from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.privacy.concentrated import METHODS, to_approx_zcdp, to_tcdp, to_zcdp
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
    known,
    require,
    simplest,
    whole,
)
from tcdp_sim.privacy.per_record import PerRecord, compose_per_record
from tcdp_sim.privacy.renyi import renyi_bound


@overload
def compose(*guarantees: Guarantee, method: str = "paper") -> Guarantee: ...
@overload
def compose(*guarantees: PerRecord, method: str = "paper") -> PerRecord: ...
def compose(*guarantees: Guarantee | PerRecord, method: str = "paper") -> Guarantee | PerRecord:
    """Return the guarantee of several releases together, which may be chosen adaptively.

    Guarantees of one notion compose as follows:

    - PureDP and ApproxDP: epsilon and delta add up, with delta capped at 1.
    - ZCDP: rho and xi add up.
    - ApproxZCDP: rho and xi add up, and delta = 1 - prod(1 - delta_i).
    - TCDP: rho adds up, and the least omega is kept.
    - ApproxTCDP: as TCDP, and delta = 1 - prod(1 - delta_i).
    - RDP: epsilon adds up at the least order.
    - Per-record guarantees: see `compose_per_record`.

    Guarantees of several notions are converted first, which may lose:

    - PureDP with ApproxDP becomes ApproxDP.
    - Everything with ApproxTCDP becomes ApproxTCDP. Otherwise everything with TCDP becomes TCDP.
    - PureDP or ZCDP with RDP becomes RDP at the least order.
    - PureDP with ZCDP becomes ZCDP by `to_zcdp`, and so does MeanConcentratedDP.
    - ApproxDP or ApproxZCDP with any of these becomes ApproxZCDP.

    Source: Bun and Steinke (2016), Lemmas 7 and 37 and Section 8 [BS16]; Bun et al. (2018), Lemma 2 [BDRS18].

    Parameters
    ----------
    *guarantees : Guarantee
        At least one guarantee. All of them are per-record guarantees, or none is.
    method : str
        Method of the conversions, "paper" or "tight", as in `to_zcdp`. With "tight", composing all guarantees at once
        is never worse than composing them pair by pair.

    Returns
    -------
    Guarantee
        The guarantee of all releases. A single guarantee is returned unchanged.

    Raises
    ------
    ValueError
        If there is no guarantee, or no common notion. ApproxDP and ApproxZCDP have none with TCDP and RDP.

    Examples
    --------
    >>> from tcdp_sim.privacy import TCDP, compose
    >>> compose(TCDP(0.1, 20.0), TCDP(0.2, 10.0)).omega
    10.0
    """
    choice("method", method, METHODS)
    if not guarantees:
        raise ValueError("compose() of 0 guarantees is not valid; valid: at least 1")
    per_record = tuple(each for each in guarantees if isinstance(each, PerRecord))
    if per_record:
        if len(per_record) < len(guarantees):
            names = ", ".join(str(each) for each in guarantees if not isinstance(each, PerRecord))
            raise ValueError(f"no common notion for per-record guarantees and {names}; valid: all per record, or none")
        return compose_per_record(*per_record)
    plain = tuple(known(guarantee) for guarantee in guarantees)
    if len(plain) == 1:
        return plain[0]
    kinds: set[type[Guarantee]] = {type(guarantee) for guarantee in plain}
    kind = kinds.pop() if len(kinds) == 1 else None
    return _TOGETHER[kind if kind in _TOGETHER else _common(plain)](plain, method)


def _common(guarantees: tuple[Guarantee, ...]) -> type[Guarantee]:
    """Return the notion in which guarantees of several notions compose."""
    kinds = {type(simplest(guarantee)) for guarantee in guarantees}
    if ApproxTCDP in kinds:
        return ApproxTCDP
    if not kinds & {ApproxDP, ApproxZCDP}:
        if TCDP in kinds or any(isinstance(guarantee, TCDP) for guarantee in guarantees):
            return TCDP
        if RDP in kinds:
            return RDP
        return PureDP if kinds == {PureDP} else ZCDP
    bounded = [str(guarantee) for guarantee in guarantees if isinstance(simplest(guarantee), TCDP | RDP)]
    if bounded:
        raise ValueError(
            f"no common notion for {', '.join(map(str, guarantees))}: (epsilon, delta)-DP bounds no Renyi divergence, "
            f"{', '.join(bounded)} bounds none of high order; valid: convert all of them with to_approx_dp first"
        )
    return ApproxDP if kinds <= {PureDP, ApproxDP} else ApproxZCDP


def _sum(terms: Iterable[float]) -> float:
    """Return the sum rounded once, so that the order of terms does not matter; return inf on overflow.

    No guarantee accepts inf, so an overflow raises ValueError there.
    """
    try:
        return fsum(terms)
    except OverflowError:
        return inf


def _epsilon(guarantee: Guarantee) -> float:
    """Return the epsilon of pure or approximate DP; raise ValueError for other notions."""
    pair = simplest(guarantee).epsilon_delta
    if pair is None:
        raise ValueError(f"{guarantee} is not valid; valid: PureDP, ApproxDP")
    return pair[0]


def _pure(guarantees: tuple[Guarantee, ...], method: str) -> PureDP:
    return PureDP(_sum(map(_epsilon, guarantees)))


def _approx(guarantees: tuple[Guarantee, ...], method: str) -> ApproxDP:
    delta = _sum(pair[1] for guarantee in guarantees if (pair := simplest(guarantee).epsilon_delta))
    return ApproxDP(_sum(map(_epsilon, guarantees)), min(delta, 1.0), "basic composition")


def _zcdp(guarantees: tuple[Guarantee, ...], method: str) -> ZCDP:
    parts = [to_zcdp(guarantee, method) for guarantee in guarantees]
    return ZCDP(_sum(part.rho for part in parts), _sum(part.xi for part in parts))


def _approx_zcdp(guarantees: tuple[Guarantee, ...], method: str) -> ApproxZCDP:
    parts = [to_approx_zcdp(guarantee, method) for guarantee in guarantees]
    fails = any(part.delta == 1 for part in parts)
    delta = 1.0 if fails else -expm1(_sum(log1p(-part.delta) for part in parts))
    return ApproxZCDP(delta, _sum(part.rho for part in parts), _sum(part.xi for part in parts))


def _tcdp(guarantees: tuple[Guarantee, ...], method: str) -> TCDP:
    parts = [to_tcdp(guarantee, method) for guarantee in guarantees]
    return TCDP(_sum(part.rho for part in parts), min(part.omega for part in parts))


def _approx_tcdp(guarantees: tuple[Guarantee, ...], method: str) -> ApproxTCDP:
    parts = [_to_approx_tcdp(guarantee, method) for guarantee in guarantees]
    fails = any(part.delta == 1 for part in parts)
    delta = 1.0 if fails else -expm1(_sum(log1p(-part.delta) for part in parts))
    return ApproxTCDP(delta, _sum(part.rho for part in parts), min(part.omega for part in parts))


def _to_approx_tcdp(guarantee: Guarantee, method: str) -> ApproxTCDP:
    simple = simplest(guarantee)
    if isinstance(simple, ApproxTCDP):
        return simple
    if isinstance(simple, ApproxDP | ApproxZCDP):
        found = to_approx_zcdp(simple, method)
        return ApproxTCDP(found.delta, found.rho + found.xi, inf)  # xi + rho a <= (xi + rho) a for a > 1
    found_tcdp = to_tcdp(simple, method)
    return ApproxTCDP(0.0, found_tcdp.rho, found_tcdp.omega)


def _rdp(guarantees: tuple[Guarantee, ...], method: str) -> RDP:
    order = min(guarantee.order if isinstance(guarantee, RDP) else inf for guarantee in guarantees)
    return RDP(order, _sum(renyi_bound(guarantee)(order) for guarantee in guarantees))


_TOGETHER: dict[type[Guarantee], Callable[[tuple[Guarantee, ...], str], Guarantee]] = {
    PureDP: _pure,
    ApproxDP: _approx,
    ZCDP: _zcdp,
    MeanConcentratedDP: _zcdp,
    ApproxZCDP: _approx_zcdp,
    TCDP: _tcdp,
    ApproxTCDP: _approx_tcdp,
    RDP: _rdp,
}


def compose_advanced(epsilon: float, delta: float, k: int, slack: float) -> ApproxDP:
    """Return the guarantee of k adaptive releases, each (epsilon, delta)-DP, by advanced composition.

    The total epsilon is epsilon sqrt(2 k log(1/slack)) + k epsilon (e^epsilon - 1). The total delta is k delta + slack,
    capped at 1. The short form 2 epsilon sqrt(2 k log(1/slack)) is not offered: it is false in general, and needs a
    total epsilon of at most 1. Basic composition (`compose`) is better for few releases, and `compose_approx` nearly
    always.

    Source: Dwork et al. (2010) [DRV10]; Dwork and Roth (2014), Theorem 3.20 [DR14].

    Parameters
    ----------
    epsilon : float
        Epsilon of each release, in nats, at least 0.
    delta : float
        Delta of each release, in [0, 1]; 0 is pure DP.
    k : int
        Number of releases, at least 1.
    slack : float
        The additional delta (often called delta'), in (0, 1].

    Returns
    -------
    ApproxDP
        The guarantee of all k releases.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the total epsilon overflows.

    Examples
    --------
    >>> from tcdp_sim.privacy import compose_advanced
    >>> round(compose_advanced(0.1, 0.0, 100, 1e-6).epsilon, 4)
    6.3082
    """
    epsilon = scalar("epsilon", epsilon, 0, closed=True)
    delta = scalar("delta", delta, 0, 1, closed=True, finite=False)
    k, slack = whole("k", k), scalar("slack", slack, 0, 1, finite=False)
    growth = expm1(epsilon) if epsilon < 700 else inf
    require(growth < inf, "epsilon", epsilon, "advanced composition overflows; valid: epsilon < 700")
    total = epsilon * sqrt(2 * k * -log(slack)) + k * epsilon * growth
    return ApproxDP(total, min(k * delta + slack, 1.0), "advanced composition (Dwork-Roth 2014, Theorem 3.20)")


def compose_approx(*guarantees: PureDP | ApproxDP, slack: float) -> ApproxDP:
    """Return the guarantee of adaptive releases that are (epsilon_i, delta_i)-DP, by composition in approximate zCDP.

    With e = sqrt(sum epsilon_i^2), the total epsilon is e^2/2 + e sqrt(2 log(sqrt(pi/2) e / slack)). The total delta is
    slack + sum delta_i, capped at 1.

    Source: Bun and Steinke (2016), Corollary 39 [BS16].

    Parameters
    ----------
    *guarantees : PureDP or ApproxDP
        At least one guarantee.
    slack : float
        The additional delta, in (0, sqrt(pi/2) e]. The printed statement omits the upper end.

    Returns
    -------
    ApproxDP
        The guarantee of all releases.

    Raises
    ------
    ValueError
        If slack is outside its range, or a guarantee is of another notion.

    Examples
    --------
    >>> from tcdp_sim.privacy import PureDP, compose_approx
    >>> round(compose_approx(*[PureDP(0.1)] * 100, slack=1e-6).epsilon, 4)
    5.7993
    """
    parts = [pair for guarantee in guarantees if (pair := simplest(guarantee).epsilon_delta) is not None]
    if not parts or len(parts) < len(guarantees):
        names = ", ".join(map(str, guarantees)) or "nothing"
        raise ValueError(f"Corollary 39 composes PureDP and ApproxDP, at least one of them; got {names}")
    slack = scalar("slack", slack, 0, 1, finite=False)
    norm = hypot(*(epsilon for epsilon, _ in parts))
    most = sqrt(pi / 2) * norm
    require(slack <= most, "slack", slack, f"Corollary 39 needs 0 < slack <= sqrt(pi/2) ||epsilon||_2 = {most:g}")
    delta = slack + _sum(delta for _, delta in parts)
    total = 0.5 * norm * norm + norm * sqrt(2 * log(most / slack))
    return ApproxDP(total, min(delta, 1.0), "Bun-Steinke 2016, Corollary 39")
