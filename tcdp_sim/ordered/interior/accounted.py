"""Steps of a release as a ledger of `tcdp_sim.accounting`, which knows more of a step than its guarantee."""

from collections.abc import Iterator, Sequence

from tcdp_sim.accounting import Additive, BoundedRange, Claimed, Ledger, Release
from tcdp_sim.ordered.interior.ledger import Step


def as_ledger(steps: Sequence[Step]) -> Ledger:
    """Return the ledger of the steps, under substitution of one record.

    An exponential mechanism is an entry of bounded range, log-concave noise is an entry with its exact law, and any
    other step is a black box with its guarantee.

    Parameters
    ----------
    steps : sequence of Step
        The steps, such as `interior.ledger` returns.

    Returns
    -------
    Ledger
        One entry for every kind of step.

    Raises
    ------
    ValueError
        If the guarantee of a step is of a kind that a ledger cannot take.

    Examples
    --------
    >>> from tcdp_sim.ordered.interior import split_budget
    >>> from tcdp_sim.ordered.interior.budget import ledger
    >>> from tcdp_sim.privacy import TCDP
    >>> guarantee, split = TCDP(0.5, 20.0), (0.4, 0.3, 0.3)
    >>> budget_split = split_budget(guarantee, 10, split=split, family="gaussian")
    >>> round(as_ledger(ledger(budget_split, guarantee, split, "tight", "tight")).epsilon(1e-6).upper, 2)
    4.25
    """
    return Ledger(list(_entries(steps)), "substitute")


def _entries(steps: Sequence[Step]) -> Iterator[tuple[Release, int]]:
    for step in steps:
        if step.inner:
            yield from _entries(step.inner)
        elif step.epsilon is not None:
            yield BoundedRange(step.epsilon), 1
        elif step.noise is not None and step.noise.log_concave:
            yield Additive(step.noise, step.shift), step.times
        else:
            yield Claimed(step.guarantee), 1
