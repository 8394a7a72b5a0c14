"""Steps of a release as a ledger of `tcdp_sim.accounting`, which knows more of a step than its guarantee."""

from collections.abc import Iterator, Sequence

from tcdp_sim.accounting import Additive, BoundedRange, Claimed, Ledger, Release
from tcdp_sim.ordered.interior.ledger import Step


def as_ledger(steps: Sequence[Step]) -> Ledger:
    """Return the ledger of the steps, under substitution of one record.

    An exponential mechanism is an entry of bounded range, log-concave noise is an entry with its exact law, and any
    other step is a black box with its guarantee.
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
