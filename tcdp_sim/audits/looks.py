"""The looks of an audit that may end early: audits of growing size, each with a share of the failure probability.

All bounds of all looks hold together, by the union bound. So the audit may end at any of them, for any reason.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from math import ceil, isnan, nextafter

from tcdp_sim.audits.arguments import LEAST, Audit
from tcdp_sim.audits.report import AuditReport

GROWTH = 4  # from the size of one look to that of the next
LAST = 0.5  # share of the failure probability for the last look; the others have equal shares of the rest


FIRST, STEP = 20, 1.5  # scores of each side at the first look, and the growth from one look to the next


@dataclass(frozen=True)
class Look:
    """A look at an audit: its number of outputs for the bound, and the failure probability of this bound."""

    trials: int
    failure: float


def looks(trials: int, failure: float) -> list[Look]:
    """Return the looks of an audit, the last one with all outputs."""
    sizes = [trials]
    while sizes[0] >= GROWTH * LEAST:
        sizes.insert(0, sizes[0] // GROWTH)
    if len(sizes) == 1:
        return [Look(trials, failure)]
    share = (1 - LAST) * failure / (len(sizes) - 1)
    return [*(Look(size, share) for size in sizes[:-1]), Look(trials, LAST * failure)]


def of_scores(there: int) -> Iterator[tuple[int, float]]:
    """Yield the numbers of scores that are looked at, up to those that are there, each with a share.

    The shares 1/2, 1/6, 1/12, ... of the failure probability add up to 1 over all looks that can ever come.
    """
    for look in count(1):
        size = ceil(FIRST * STEP ** (look - 1))
        if size > there:
            return
        yield size, 1 / (look * (look + 1))


def level(failure: float) -> float:
    """Return the level of a look with a failure probability, rounded such that 1 - level is not above it."""
    found = 1 - failure
    return found if 1 - found <= failure else nextafter(found, 1.0)


def parts(audit: Audit) -> Iterator[Audit]:
    """Yield the audits of all looks; of an audit that does not end early itself."""
    if audit.until is None:
        yield audit
        return
    for look in looks(audit.trials, audit.failure):
        yield replace(audit, trials=look.trials, level=level(look.failure))


def is_enough(audit: Audit, report: AuditReport) -> bool:
    """Return True if an audit ends with this report of one of its looks."""
    power = isinstance(audit.until, float) and not isnan(report.violation) and report.violation <= audit.until
    return audit.until is not None and (report.refuted or power)
