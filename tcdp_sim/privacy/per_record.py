"""Per-record privacy: guarantees that depend on the record, through its influence alone.

A policy is a function of influence t >= 0 (for a sum, the record's absolute value), in nats. The function is public;
its value at a real record is as confidential as the record. Neighbours differ by one record added or removed.
Source: Finley et al. 2024, Section 2.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from math import fsum, inf, sqrt, tanh

from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.privacy.definitions import TCDP, ZCDP, Guarantee, PureDP

Policy = Callable[[float], float]
METHODS = ("tight", "printed", "sum_query")
NEIGHBOURS = ("add-remove", "substitution")


@dataclass(frozen=True)
class PerRecordDP:
    """D_inf <= policy(t), both ways, when a record of influence t is added or removed."""

    policy: Policy

    def __post_init__(self) -> None:
        _need_policy("policy", self.policy)

    def at(self, influence: float) -> PureDP:
        """What a record of that influence, >= 0, is promised; ValueError where the policy is not finite and >= 0."""
        return PureDP(_value(self.policy, influence))


@dataclass(frozen=True)
class PerRecordZCDP:
    """D_a <= a policy(t) for all orders a > 1, both ways, when a record of influence t is added or removed."""

    policy: Policy

    def __post_init__(self) -> None:
        _need_policy("policy", self.policy)

    def at(self, influence: float) -> Guarantee:
        """What a record of that influence, >= 0, is promised: rho-zCDP; 0-DP where the policy is zero."""
        return _concentrated(_value(self.policy, influence), inf)


@dataclass(frozen=True)
class PerRecordTCDP:
    """D_a <= a policy(t) for orders 1 < a < omega, both ways, when a record of influence t is added or removed.

    omega > 1 (inf: zCDP at all orders) is a number or a function of influence.
    """

    policy: Policy
    omega: float | Policy

    def __post_init__(self) -> None:
        _need_policy("policy", self.policy)
        if not callable(self.omega):
            object.__setattr__(self, "omega", scalar("omega", self.omega, 1, finite=False))

    def omega_at(self, influence: float) -> float:
        """The order below which the guarantee holds for a record of that influence."""
        omega = self.omega(_influence(influence)) if callable(self.omega) else self.omega
        return scalar("omega", omega, 1, finite=False)

    def at(self, influence: float) -> Guarantee:
        """What a record of that influence, >= 0, is promised: (rho, omega)-tCDP; 0-DP where the policy is zero."""
        return _concentrated(_value(self.policy, influence), self.omega_at(influence))


PerRecord = PerRecordDP | PerRecordZCDP | PerRecordTCDP


def compose_per_record(*guarantees: PerRecord) -> PerRecord:
    """All the releases together, chosen adaptively, with policies fixed beforehand: policies add, the least omega.

    Of several notions: a P-DP record is P tanh(P/2)-zCDP (Lemma 5.2), and zCDP is tCDP with omega = inf.
    Raises ValueError for no guarantee, or one that is not per record.
    """
    return _combined(guarantees, fsum)


def parallel(*guarantees: PerRecord, neighbours: str = "add-remove") -> PerRecord:
    """Releases of the parts of a partition of all possible records: the largest policy and the least omega.

    Under "substitution" it is refused: a record that moves from one part to another changes both.
    """
    if choice("neighbours", neighbours, NEIGHBOURS) == "substitution":
        raise ValueError(
            "neighbours = substitution is not valid with parallel(): a record replaced by one of another part changes "
            "both parts, which costs policy(t) + policy(t'); valid: add-remove"
        )
    return _combined(guarantees, max)


def group_of_records(guarantee: PerRecord, influences: Iterable[float], method: str = "tight") -> Guarantee:
    """What several records together are promised when all of them are added or removed; their influences, >= 0.

    "printed": J sum P for zCDP (Finley et al. 2024, Lemma 2.15), which is loose; "tight": (sum sqrt P)^2, by
    Bun-Steinke 2016, Lemma 26, attained by Gaussian noise; for tCDP with smaller omega. Pure DP adds up by both.
    "sum_query": the policy at the sum of influences, for releases of one sum only.
    Raises ValueError for "printed" with tCDP, no influences, or a group whose omega is not above 1.
    """
    choice("method", method, METHODS)
    _need_known((guarantee,))
    sizes = [_influence(each) for each in influences]
    if not sizes:
        raise ValueError("influences of 0 records are not valid; valid: at least 1")
    if method == "sum_query":
        return guarantee.at(fsum(sizes))
    if isinstance(guarantee, PerRecordDP):
        return PureDP(fsum(_value(guarantee.policy, t) for t in sizes))
    if method == "printed":
        if isinstance(guarantee, PerRecordTCDP):
            raise ValueError("method = 'printed' is not valid for tCDP, of which nothing is printed; valid: 'tight'")
        return _concentrated(len(sizes) * fsum(_value(guarantee.policy, t) for t in sizes), inf)
    return _tight_group(_as_tcdp(guarantee), sizes)


def _tight_group(guarantee: PerRecordTCDP, sizes: list[float]) -> Guarantee:
    """One record after the other, smallest first: the triangle inequality of Renyi divergences, at its best split."""
    parts = sorted((_value(guarantee.policy, t), guarantee.omega_at(t)) for t in sizes)
    rho, omega = parts[0]
    for other, its_omega in parts[1:]:
        omega = _joint_omega(rho, omega, other, its_omega)
        rho = (sqrt(rho) + sqrt(other)) ** 2
    if omega <= 1:
        raise ValueError(f"omega = {omega:g} of the group is not above 1: nothing is promised; valid: a smaller group")
    return _concentrated(rho, omega)


def _joint_omega(rho1: float, omega1: float, rho2: float, omega2: float) -> float:
    """Below which order (sqrt rho1 + sqrt rho2)^2 a holds, by the better of the two ways round.

    D_a(P||Q) takes orders a + (a-1) r of the first step and a + a / r of the second, r = sqrt(rho2 / rho1) (Mironov
    2017, Proposition 11).
    """
    if rho1 == 0:
        return omega2  # the record changes nothing
    r = sqrt(rho2 / rho1)
    first = min((omega1 + r) / (1 + r), omega2 * r / (1 + r))
    second = min((omega2 * r + 1) / (1 + r), omega1 / (1 + r))
    return max(first, second)


def _combined(guarantees: tuple[PerRecord, ...], together: Callable[[list[float]], float]) -> PerRecord:
    _need_known(guarantees)
    policies = [each.policy for each in guarantees]
    if all(isinstance(each, PerRecordDP) for each in guarantees):
        return PerRecordDP(partial(_joined, policies, together))
    truncated = [_as_tcdp(each) for each in guarantees]
    policy = partial(_joined, [each.policy for each in truncated], together)
    if not any(isinstance(each, PerRecordTCDP) for each in guarantees):
        return PerRecordZCDP(policy)
    return PerRecordTCDP(policy, partial(_joined, [each.omega_at for each in truncated], min))


def _joined(functions: list[Policy], together: Callable[[list[float]], float], influence: float) -> float:
    return together([function(influence) for function in functions])


def _as_tcdp(guarantee: PerRecord) -> PerRecordTCDP:
    if isinstance(guarantee, PerRecordTCDP):
        return guarantee
    pure = isinstance(guarantee, PerRecordDP)
    return PerRecordTCDP(partial(_tanh_policy, guarantee.policy) if pure else guarantee.policy, inf)


def _tanh_policy(policy: Policy, influence: float) -> float:
    loss = policy(influence)
    return loss * tanh(loss / 2)


def _concentrated(rho: float, omega: float) -> Guarantee:
    if rho == 0:
        return PureDP(0.0)
    return ZCDP(rho) if omega == inf else TCDP(rho, omega)


def _influence(influence: float) -> float:
    return scalar("influence", influence, 0, closed=True)


def _value(policy: Policy, influence: float) -> float:
    return scalar("policy", float(policy(_influence(influence))), 0, closed=True)


def _need_policy(name: str, policy: object) -> None:
    if not callable(policy):
        raise ValueError(f"{name} = {policy!r} is not valid; valid: a function of influence, in nats")


def _need_known(guarantees: tuple[PerRecord, ...]) -> None:
    if not guarantees:
        raise ValueError("0 guarantees are not valid; valid: at least 1")
    for each in guarantees:
        if not isinstance(each, PerRecord):
            raise ValueError(f"guarantee = {each!r} is not valid; valid: PerRecordDP, PerRecordZCDP, PerRecordTCDP")
