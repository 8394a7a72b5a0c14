"""Foreign code, data and elementary functions, of workers or of those who wrote a journal before."""

from collections.abc import Iterator, Sequence
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

    `heads` are those of the journal, and `whose` names its run, if it is not that of the settings. Tells of machines
    with other elementary functions and, with code=any, of other code and data. Raises UserError for them if
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
    for message, advice in _differences(settings, heads, where):
        if settings.code == "same":
            raise UserError(f"{message}; {advice}")
        tell(f"warning: {message}")


def lines(settings: Settings, heads: Sequence[Head]) -> list[str]:
    """Return a line for each way in which the writers of a journal differ from each other or from this process."""
    return [message for message, _ in _differences(settings, heads, str(settings.folder))]


def _differences(settings: Settings, heads: Sequence[Head], where: str) -> Iterator[tuple[str, str]]:
    """Yield what differs and what to do about it. Only heads of the settings' own function count, if they have one."""
    own = sorted(
        (head for head in heads if function_of(head) == settings.mechanism.get("function")), key=provenance.age
    )
    for head in reversed(own):
        if other := source.other(head.get(provenance.CODE, {}), source.loaded(tuple(head.get("plug_ins", ())))):
            message = f"{where} has chunks of another state of {other} (computed {head.get('time')})"
            yield message, "code=any uses them, name=NEW begins another run; or remove the folder"
            break
    if found := shown.contradicting(own):
        one, two, trials = found
        message = (
            f"{where}: {_writer(one)} and {_writer(two)} drew other numbers{trials.where} from one stream: a file, the "
            "environment or a library is not the same"
        )
        yield message, "the same commands, given again, compute those chunks anew that differ from now"


def _writer(head: Head) -> str:
    """Return words for the process that wrote a head."""
    return f"{f'part {head[provenance.PART]}' if provenance.PART in head else 'the run'} of {head.get('time')}"


def function_of(head: Head) -> Any:
    """Return the function of one's own whose chunks a head precedes, None without one: those of others are not used."""
    return head.get("config", {}).get("mechanism", {}).get("function")
