"""The noise classes of the user's own that this process has: Python or the command line has brought them.

No config and no folder holds code. A record in a config says which class a noise is of (`study.own_noises`), and the
law of a cell names the digest of its source. So no number comes from another class.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tcdp_sim.core.errors import UserError

LAW = "own_noise"  # the key of a law with the digest of the class's source by its family
# keys of such a law with what tables and figures need where the class is not: thresholds, and the noise's guarantee
THRESHOLDS, PROMISE = "thresholds", "promise"


class Own(NamedTuple):
    """A class of the user's own: the family that it names, itself, and the digest of its source."""

    family: str
    noise: Any
    source: str


class NeedsCode(UserError):
    """A noise of the user's own whose class this process does not have."""


_HERE: dict[str, Own] = {}  # by family; the latest class counts


def bring(own: Own) -> None:
    """Let this process use a class under the name of its family."""
    _HERE[own.family] = own


def find(family: Any) -> Own | None:
    """Return the class of a family, None if this process has none."""
    return _HERE.get(family)


def is_here(law: Mapping[str, Any]) -> bool:
    """Return True if this process has the class that a law names, or if it names none."""
    return all(_is_here(family, source) for family, source in law.get(LAW, {}).items())


def require(law: Mapping[str, Any]) -> None:
    """Raise NeedsCode unless this process has the class that a law names."""
    for family, source in law.get(LAW, {}).items():
        if not _is_here(family, source):
            raise NeedsCode(_message(family, "FILE.py:CLASS"))


def require_all(records: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise NeedsCode, with the words that bring it, unless this process has the classes of a config's noises."""
    for record in records.values():
        if record["source"] and not _is_here(record["family"], record["source"]):
            raise NeedsCode(_message(record["family"], record["place"]))


def _is_here(family: str, source: str) -> bool:
    own = _HERE.get(family)
    return own is not None and own.source == source


def _message(family: str, place: str) -> str:
    if own := _HERE.get(family):
        return f"the class {own.noise.__name__} is not that of these numbers: its source differs"
    return (
        f"the numbers come from the noise {family}, a class of the user's own, and no folder holds code; "
        f"give noise={place}, or the command of the run again"
    )
