"""Workers whose elementary functions differ from the driver's in the last bits: said once, or the end of the run."""

from tcdp_sim.errors import UserError
from tcdp_sim.log import Tell
from tcdp_sim.streams import fingerprint
from tcdp_sim.study.settings import Settings


class Foreign:
    """Those that have been met in a run of these settings."""

    def __init__(self, settings: Settings, tell: Tell) -> None:
        self._strict = settings.numerics == "strict"
        self._tell = tell
        self._own = fingerprint()
        self._told: set[str] = set()

    def meets(self, other: str) -> bool:
        """Whether this fingerprint is foreign. Raises UserError if it is and numerics=strict."""
        if other == self._own:
            return False
        message = "a worker's elementary functions differ from this machine's in the last bits"
        if self._strict:
            raise UserError(f"{message}; numerics=warn accepts that")
        if other not in self._told:
            self._told.add(other)
            self._tell(f"warning: {message}: its numbers are right, but not bit-identical")
        return True
