"""What several releases of the same data promise together; each may look at the answers of those before it.

Nats throughout, plain floats. All guarantees must be about the same neighbouring relation.
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
    """The guarantee of all the releases together, chosen adaptively; one alone is returned as it is.

    One notion: PureDP and ApproxDP add up (delta capped at 1); ZCDP adds xi and rho (Bun-Steinke 2016, Lemma 7);
    ApproxZCDP too, with delta = 1 - prod(1 - delta_i) (its Section 8); TCDP adds rho and keeps the least omega
    (Bun-Dwork-Rothblum-Steinke 2018, Lemma 2); RDP adds at the least order, lower orders by monotonicity.
    Mixed: PureDP + ApproxDP -> ApproxDP; anything with TCDP -> TCDP; otherwise PureDP (exactly) and ZCDP with
    RDP -> RDP at the least order; PureDP + ZCDP -> ZCDP by `to_zcdp(method)`, also for MeanConcentratedDP; ApproxDP or
    ApproxZCDP with those -> ApproxZCDP (Lemma 37). Per-record guarantees compose as in `compose_per_record`, and with
    nothing else.
    Conversions lose; by "tight", composing all at once is never worse than pair by pair.
    Raises ValueError with the reason for ApproxDP or ApproxZCDP with TCDP or RDP, which have no common notion here.
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
    kind = kinds.pop() if len(kinds) == 1 else _common(plain)
    return _TOGETHER[kind](plain, method)


def _common(guarantees: tuple[Guarantee, ...]) -> type[Guarantee]:
    """The notion in which guarantees of several notions compose."""
    kinds = {type(simplest(guarantee)) for guarantee in guarantees}
    if not kinds & {ApproxDP, ApproxZCDP}:
        if any(isinstance(guarantee, TCDP) for guarantee in guarantees):
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
    """The exact sum rounded once, so that the order does not matter; inf, which no guarantee takes, on overflow."""
    try:
        return fsum(terms)
    except OverflowError:
        return inf


def _epsilon(guarantee: Guarantee) -> float:
    """Of pure or approximate DP; ValueError for other notions."""
    simple = simplest(guarantee)
    if isinstance(simple, PureDP | ApproxDP):
        return simple.epsilon
    raise ValueError(f"{guarantee} is not valid; valid: PureDP, ApproxDP")


def _pure(guarantees: tuple[Guarantee, ...], method: str) -> PureDP:
    return PureDP(_sum(map(_epsilon, guarantees)))


def _approx(guarantees: tuple[Guarantee, ...], method: str) -> ApproxDP:
    simple = [simplest(guarantee) for guarantee in guarantees]
    delta = _sum(guarantee.delta for guarantee in simple if isinstance(guarantee, ApproxDP))
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
    RDP: _rdp,
}


def compose_advanced(epsilon: float, delta: float, k: int, slack: float) -> ApproxDP:
    """k adaptive releases, each (epsilon, delta)-DP: advanced composition with `slack` = delta', 0 < slack <= 1.

    epsilon sqrt(2 k log(1/slack)) + k epsilon (e^epsilon - 1), k delta + slack (capped at 1); delta = 0 is pure DP.
    The short form 2 epsilon sqrt(2 k log(1/slack)) is false in general (it needs a total epsilon of at most 1) and is
    not offered; basic composition (`compose`) is better for few releases, `compose_approx` nearly always.
    Source: Dwork-Rothblum-Vadhan 2010; Dwork-Roth 2014, Theorem 3.20. Raises ValueError for values out of range.
    """
    epsilon = scalar("epsilon", epsilon, 0, closed=True)
    delta = scalar("delta", delta, 0, 1, closed=True, finite=False)
    k, slack = whole("k", k), scalar("slack", slack, 0, 1, finite=False)
    growth = expm1(epsilon) if epsilon < 700 else inf
    require(growth < inf, "epsilon", epsilon, "advanced composition overflows; valid: epsilon < 700")
    total = epsilon * sqrt(2 * k * -log(slack)) + k * epsilon * growth
    return ApproxDP(total, min(k * delta + slack, 1.0), "advanced composition (Dwork-Roth 2014, Theorem 3.20)")


def compose_approx(*guarantees: PureDP | ApproxDP, slack: float) -> ApproxDP:
    """Adaptive composition of (epsilon_i, delta_i)-DP with `slack` = delta' by Corollary 39 of Bun-Steinke 2016.

    With e = sqrt(sum epsilon_i^2): e^2/2 + e sqrt(2 log(sqrt(pi/2) e / slack)), slack + sum delta_i (capped at 1).
    Raises ValueError unless 0 < slack <= sqrt(pi/2) e, which the printed statement forgets, and for other notions.
    """
    parts = [part for part in map(simplest, guarantees) if isinstance(part, PureDP | ApproxDP)]
    if not parts or len(parts) < len(guarantees):
        names = ", ".join(map(str, guarantees)) or "nothing"
        raise ValueError(f"Corollary 39 composes PureDP and ApproxDP, at least one of them; got {names}")
    slack = scalar("slack", slack, 0, 1, finite=False)
    norm = hypot(*(part.epsilon for part in parts))
    most = sqrt(pi / 2) * norm
    require(slack <= most, "slack", slack, f"Corollary 39 needs 0 < slack <= sqrt(pi/2) ||epsilon||_2 = {most:g}")
    delta = slack + _sum(part.delta for part in parts if isinstance(part, ApproxDP))
    total = 0.5 * norm * norm + norm * sqrt(2 * log(most / slack))
    return ApproxDP(total, min(delta, 1.0), "Bun-Steinke 2016, Corollary 39")
