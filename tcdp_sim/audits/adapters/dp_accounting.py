"""Claims of events of Google's dp_accounting."""

from typing import Any

from tcdp_sim.audits.adapters.adapted import library
from tcdp_sim.core.errors import UserError, real
from tcdp_sim.privacy import ApproxDP

RELATIONS = {"add_remove": "ADD_OR_REMOVE_ONE", "substitute": "REPLACE_ONE"}


def claim_of_event(event: Any, delta: float, relation: str = "add_remove") -> ApproxDP:
    """Return the (epsilon, delta) that the accountant of privacy losses of dp_accounting states for an event.

    Parameters
    ----------
    event : dp_accounting.DpEvent
        The event of a mechanism, such as a composition of sampled Gaussian mechanisms.
    delta : float
        The delta of the claim, in (0, 1).
    relation : {"add_remove", "substitute"}
        The neighbouring relation.

    Returns
    -------
    ApproxDP
        The claim.

    Raises
    ------
    UserError
        If an argument is not valid, or if dp_accounting is not installed or does not support the event.

    Examples
    --------
    >>> import dp_accounting  # doctest: +SKIP
    >>> claim_of_event(dp_accounting.GaussianDpEvent(1.0), 1e-5).epsilon  # doctest: +SKIP
    4.377
    """
    if relation not in RELATIONS:
        raise UserError(f"relation = {relation!r} is not valid; valid: 'add_remove', 'substitute'")
    try:
        delta = real("delta", delta, 0, 1)
    except ValueError as mistake:
        raise UserError(str(mistake)) from None
    accounting, pld = library("dp_accounting", "dp_accounting"), library("dp_accounting.pld", "dp_accounting")
    accountant = pld.PLDAccountant(accounting.NeighboringRelation[RELATIONS[relation]])
    if not accountant.supports(event):
        raise UserError(f"dp_accounting's PLDAccountant does not support {event} under {relation}")
    return ApproxDP(float(accountant.compose(event).get_epsilon(delta)), delta)
