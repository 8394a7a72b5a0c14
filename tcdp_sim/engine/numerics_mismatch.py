"""Foreign code, data and elementary functions, of workers or of those who wrote a journal before."""

from collections.abc import Sequence
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.core.streams import fingerprint
from tcdp_sim.engine import shown
from tcdp_sim.engine.shown import Head
from tcdp_sim.store import provenance, source
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


def check_heads(settings: Settings, heads: Sequence[Head], tell: Tell, whose: str = "") -> None:
    """Check that all writers of a journal give the numbers that this process gives.

    `heads` are the heads of the journal, and `whose` names its run, if it is not the run of the settings. Warns of
    machines with other elementary functions and, with code=any, of other code and data. Raises UserError for them if
    numerics=strict or code=same.
    """
    check_same(settings, heads, tell, whose or str(settings.folder))
    others = provenance.fingerprints(heads) - {fingerprint()}
    if not others:
        return
    message = (
        f"chunks of {whose or 'this run'} come from a machine whose elementary functions differ from this one's in the "
        "last bits"
    )
    if settings.numerics == "strict":
        raise UserError(f"{message}; numerics=warn accepts that, or finish it on that kind of machine")
    tell(f"warning: {message}: its numbers are right, but no one machine gives all of its bits")


def check_same(settings: Settings, heads: Sequence[Head], tell: Tell, where: str) -> None:
    """Check code and data alone, as `check_heads` does; `where` names the run or runs that the heads are of."""
    check_code(settings, heads, tell, where)
    if message := _of_trials(_own(settings, heads), where):
        _judge(
            settings, message, "the same commands, given again, compute those chunks anew that differ from now", tell
        )


def check_code(settings: Settings, heads: Sequence[Head], tell: Tell, where: str) -> None:
    """Check code alone, as `check_heads` does."""
    if message := _of_code(_own(settings, heads), where):
        _judge(settings, message, "code=any uses them, name=NEW begins another run; or remove the folder", tell)


def lines(settings: Settings, heads: Sequence[Head]) -> list[str]:
    """Return a line for each way in which the writers of a journal differ from each other or from this process."""
    own, where = _own(settings, heads), str(settings.folder)
    return [message for message in (_of_code(own, where), _of_trials(own, where)) if message]


def _own(settings: Settings, heads: Sequence[Head]) -> list[Head]:
    """Return the heads of the settings' own function, all of them for a study, the newest first."""
    function = settings.mechanism.get("function")
    return sorted((head for head in heads if function_of(head) == function), key=provenance.age, reverse=True)


def _judge(settings: Settings, message: str, advice: str, tell: Tell) -> None:
    if settings.code == "same":
        raise UserError(f"{message}; {advice}")
    tell(f"warning: {message}")


def _of_code(heads: Sequence[Head], where: str) -> str:
    """Return a line about the newest chunks of other code than this process has, "" without any."""
    for head in heads:
        if other := source.other(head.get(provenance.CODE, {}), source.loaded(tuple(head.get("plug_ins", ())))):
            return f"{where} has chunks of another state of {other} (computed {head.get('time')})"
    return ""


def _of_trials(heads: Sequence[Head], where: str) -> str:
    """Return a line about two writers that drew other numbers from one stream, "" if none did."""
    found = shown.contradicting(heads)
    if found is None:
        return ""
    one, two, trials = found
    return (
        f"{where}: {_writer(one)} and {_writer(two)} drew other numbers{trials.where} from one stream: a file, the "
        "environment or a library is not the same"
    )


def _writer(head: Head) -> str:
    """Return words for the process that wrote a head."""
    return f"{f'part {head[provenance.PART]}' if provenance.PART in head else 'the run'} of {head.get('time')}"


def function_of(head: Head) -> Any:
    """Return the function of one's own whose chunks a head precedes, None without one: those of others are not used."""
    return head.get("config", {}).get("mechanism", {}).get("function")
