"""What training libraries print for a list: Poisson samples are counted in place of other batches."""

from typing import Any

from tcdp_sim.accounting.releases.release import Release


def printed(ledger: Any) -> Any | None:
    """Return the ledger that libraries count, or None if it is the same or has no relation in common with the list."""
    if not named(ledger):
        return None
    counted = [(item, times, _counted_as(item)) for item, times in ledger.entries]
    entries = [(item, times) if other is None else (other[0], times * other[1]) for item, times, other in counted]
    try:
        return type(ledger)(entries, "add_remove")
    except ValueError:
        return None


def named(ledger: Any) -> list[str]:
    """Return the kinds of releases that libraries count as Poisson samples."""
    return sorted({type(item).__name__ for item, _ in ledger.entries if _counted_as(item)})


def _counted_as(item: Any) -> tuple[Release, int] | None:
    return item.counted_as() if isinstance(item, Release) else None
