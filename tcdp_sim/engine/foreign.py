"""Foreign elementary functions, which differ in the last bits, of workers or of earlier parts of a run."""

from collections.abc import Mapping, Sequence
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.core.streams import fingerprint
from tcdp_sim.store import provenance
from tcdp_sim.study.settings import Settings


class Foreign:
    """The foreign fingerprints met in a run."""

    def __init__(self, settings: Settings, tell: Tell) -> None:
        self._strict = settings.numerics == "strict"
        self._tell = tell
        self._own = fingerprint()
        self.met: set[str] = set()

    def meets(self, other: str) -> bool:
        """Return True if this fingerprint is foreign. Raises UserError if it is and numerics=strict."""
        if other == self._own:
            return False
        message = "a worker's elementary functions differ from this machine's in the last bits"
        if self._strict:
            raise UserError(f"{message}; numerics=warn accepts that")
        if other not in self.met:
            self.met.add(other)
            self._tell(f"warning: {message}: its numbers are right, but not bit-identical")
        return True


def check_heads(settings: Settings, heads: Sequence[Mapping[str, Any]], tell: Tell, whose: str = "this run") -> None:
    """Warn if stored chunks come from a machine with other elementary functions. Raises UserError if numerics=strict.

    `heads` are those of the journal, and `whose` names the run they belong to.
    """
    others = provenance.fingerprints(heads) - {fingerprint()}
    if not others:
        return
    message = (
        f"chunks of {whose} come from a machine whose elementary functions differ from this one's in the last bits"
    )
    if settings.numerics == "strict":
        raise UserError(f"{message}; numerics=warn accepts that, or finish it on that kind of machine")
    tell(f"warning: {message}: its numbers are right, but no one machine gives all of its bits")
