"""Per-record privacy: guarantees that depend on the record, through its influence alone.

A policy is a function of the influence t >= 0, with values in nats. For a sum, the influence is the record's absolute
value. The function is public, but its value at a real record is as confidential as the record. Neighbours differ by one
record added or removed. The source is Section 2 of Finley et al. 2024 [Fin24].
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from math import fsum, inf, sqrt

from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.privacy.definitions import TCDP, ZCDP, Guarantee, PureDP
from tcdp_sim.privacy.least_rho import pure_rho
from tcdp_sim.privacy.relation import Relation, known_relation

Policy = Callable[[float], float]
METHODS = ("tight", "printed", "sum_query")


@dataclass(frozen=True)
class PerRecordDP:
    """The guarantee D_inf <= policy(t) when a record of influence t is added or removed.

    The bound holds in both directions.

    Source: Finley et al. (2024), Section 2 [Fin24].

    Parameters
    ----------
    policy : callable
        Function of the influence, with finite values of at least 0, in nats.

    Examples
    --------
    >>> from tcdp_sim.privacy import PerRecordDP
    >>> PerRecordDP(lambda t: t / 100).at(50.0)
    PureDP(epsilon=0.5)
    """

    policy: Policy

    def __post_init__(self) -> None:
        _need_policy("policy", self.policy)

    def at(self, influence: float) -> PureDP:
        """Return the guarantee of a record of that influence, at least 0.

        Raise ValueError where the policy is not finite and at least 0.
        """
        return PureDP(_value(self.policy, influence))


@dataclass(frozen=True)
class PerRecordZCDP:
    """The guarantee D_a <= a policy(t) for all orders a > 1 when a record of influence t is added or removed.

    The bound holds in both directions.

    Source: Finley et al. (2024), Section 2 [Fin24].

    Parameters
    ----------
    policy : callable
        Function of the influence, with finite values of at least 0, in nats.

    Examples
    --------
    >>> from tcdp_sim.privacy import PerRecordZCDP
    >>> PerRecordZCDP(lambda t: t / 100).at(50.0)
    ZCDP(rho=0.5, xi=0.0)
    """

    policy: Policy

    def __post_init__(self) -> None:
        _need_policy("policy", self.policy)

    def at(self, influence: float) -> Guarantee:
        """Return the guarantee of a record of that influence: rho-zCDP, or 0-DP where the policy is zero."""
        return _concentrated(_value(self.policy, influence), inf)


@dataclass(frozen=True)
class PerRecordTCDP:
    """The guarantee D_a <= a policy(t) for orders 1 < a < omega, when a record of influence t is added or removed.

    The bound holds in both directions.

    Source: Finley et al. (2024), Section 2 [Fin24]; Bun et al. (2018), Definition 1 [BDRS18].

    Parameters
    ----------
    policy : callable
        Function of the influence, with finite values of at least 0, in nats.
    omega : float or callable
        Order below which the bound holds, above 1, or a function of the influence that gives it. inf is zCDP.

    Examples
    --------
    >>> from tcdp_sim.privacy import PerRecordTCDP
    >>> PerRecordTCDP(lambda t: t / 100, 20.0).at(50.0)
    TCDP(rho=0.5, omega=20.0)
    """

    policy: Policy
    omega: float | Policy

    def __post_init__(self) -> None:
        _need_policy("policy", self.policy)
        if not callable(self.omega):
            object.__setattr__(self, "omega", scalar("omega", self.omega, 1, finite=False))

    def omega_at(self, influence: float) -> float:
        """Return the order below which the guarantee holds for a record of that influence."""
        omega = self.omega(_influence(influence)) if callable(self.omega) else self.omega
        return scalar("omega", omega, 1, finite=False)

    def at(self, influence: float) -> Guarantee:
        """Return the guarantee of a record of that influence: (rho, omega)-tCDP, or 0-DP where the policy is zero."""
        return _concentrated(_value(self.policy, influence), self.omega_at(influence))


PerRecord = PerRecordDP | PerRecordZCDP | PerRecordTCDP


def compose_per_record(*guarantees: PerRecord) -> PerRecord:
    """Return the per-record guarantee of all releases together: policies add up, and the least omega is kept.

    The releases may be chosen adaptively, but their policies must be fixed beforehand. For several notions, a record
    with P-DP has P tanh(P/2)-zCDP, and zCDP is tCDP with omega = inf.

    Source: Finley et al. (2024), Lemma 5.2 [Fin24].

    Parameters
    ----------
    *guarantees : PerRecordDP, PerRecordZCDP or PerRecordTCDP
        At least one guarantee.

    Returns
    -------
    PerRecordDP, PerRecordZCDP or PerRecordTCDP
        The guarantee of all releases.

    Raises
    ------
    ValueError
        If there is no guarantee, or one that is not per record.

    Examples
    --------
    >>> from tcdp_sim.privacy import PerRecordZCDP, compose_per_record
    >>> part = PerRecordZCDP(lambda t: t / 100)
    >>> compose_per_record(part, part).at(50.0)
    ZCDP(rho=1.0, xi=0.0)
    """
    return _combined(guarantees, fsum)


def parallel(*guarantees: PerRecord, relation: str = "add_remove") -> PerRecord:
    """Return the guarantee of releases of the parts of a partition: the largest policy and the least omega.

    The parts must partition the set of all possible records.

    Source: Finley et al. (2024), Section 2 [Fin24].

    Parameters
    ----------
    *guarantees : PerRecordDP, PerRecordZCDP or PerRecordTCDP
        The guarantee of each part's release, at least one.
    relation : {"add_remove"}
        The neighbouring relation. "substitute" is refused: a record that moves from one part to another changes both
        parts.

    Returns
    -------
    PerRecordDP, PerRecordZCDP or PerRecordTCDP
        The guarantee of all releases.

    Raises
    ------
    ValueError
        If there is no guarantee, one is not per record, or the relation is not "add_remove".

    Examples
    --------
    >>> from tcdp_sim.privacy import PerRecordZCDP, parallel
    >>> part = PerRecordZCDP(lambda t: t / 100)
    >>> parallel(part, part).at(50.0)
    ZCDP(rho=0.5, xi=0.0)
    """
    if known_relation(relation) == Relation.SUBSTITUTE:
        raise ValueError(
            "relation = substitute is not valid with parallel(): a record replaced by one of another part changes "
            "both parts, which costs policy(t) + policy(t'); valid: add_remove"
        )
    return _combined(guarantees, max)


def group_of_records(guarantee: PerRecord, influences: Iterable[float], method: str = "tight") -> Guarantee:
    """Return the guarantee of several records that are all added or removed together.

    The methods for zCDP differ; pure DP adds up with both "tight" and "printed":

    - "tight": (sum_i sqrt(P_i))^2 for the policy values P_i, which Gaussian noise attains. For tCDP the omega is
      smaller as well.
    - "printed": J sum_i P_i for J records, which is loose.
    - "sum_query": the policy at the sum of the influences, for releases of one sum only.

    Source: Finley et al. (2024), Lemma 2.15 [Fin24]; Bun and Steinke (2016), Lemma 26 [BS16].

    Parameters
    ----------
    guarantee : PerRecordDP, PerRecordZCDP or PerRecordTCDP
        The guarantee for single records.
    influences : iterable of float
        The influence of each record, at least 0.
    method : str
        "tight", "printed" or "sum_query".

    Returns
    -------
    Guarantee
        The guarantee of the group.

    Raises
    ------
    ValueError
        If there are no influences, the method is "printed" for tCDP, or the group's omega is not above 1.

    Examples
    --------
    >>> from tcdp_sim.privacy import PerRecordZCDP, group_of_records
    >>> group_of_records(PerRecordZCDP(lambda t: t / 100), [25.0, 25.0])
    ZCDP(rho=1.0, xi=0.0)
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
            raise ValueError("method = 'printed' is not valid for tCDP: the paper has no such result; valid: 'tight'")
        return _concentrated(len(sizes) * fsum(_value(guarantee.policy, t) for t in sizes), inf)
    return _tight_group(_as_tcdp(guarantee), sizes)


def _tight_group(guarantee: PerRecordTCDP, sizes: list[float]) -> Guarantee:
    """Return the guarantee of a group by the triangle inequality of Renyi divergences, at its best split.

    The records are added one after the other, smallest first.
    """
    parts = sorted((_value(guarantee.policy, t), guarantee.omega_at(t)) for t in sizes)
    rho, omega = parts[0]
    for other, its_omega in parts[1:]:
        omega = _joint_omega(rho, omega, other, its_omega)
        rho = (sqrt(rho) + sqrt(other)) ** 2
    if omega <= 1:
        raise ValueError(f"omega = {omega:g} of the group is not above 1: no guarantee follows; valid: a smaller group")
    return _concentrated(rho, omega)


def _joint_omega(rho1: float, omega1: float, rho2: float, omega2: float) -> float:
    """Return the order below which (sqrt rho1 + sqrt rho2)^2 a holds, by the better order of the two steps.

    With r = sqrt(rho2 / rho1), D_a(P||Q) uses the order a + (a-1) r of the first step and a + a / r of the second
    (the weak triangle inequality, Mironov 2017 [Mir17], Proposition 11).
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
    return pure_rho(policy(influence))


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
