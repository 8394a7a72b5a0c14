"""Noise classes of the user's own on their way to workers, with the work on tasks that draws from them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tcdp_sim.core import own_noises
from tcdp_sim.core.own_noises import Own
from tcdp_sim.core.sources import Sources, sources_of
from tcdp_sim.study.study import Study


@dataclass(frozen=True, eq=False)
class WithNoises:
    """The work on tasks of a study for any process, with the classes that its laws name.

    - work: the function of a task.
    - noises: the classes.
    - sources: the user's modules that they can reach.
    """

    work: Callable[[Any], Any]
    noises: tuple[Own, ...]
    sources: Sources

    def __reduce__(self) -> Any:
        """Send the sources first: a worker imports nothing of the user's from its own disk."""
        return _arrived, (self.sources, self.work, self.noises)

    def __call__(self, task: Any) -> Any:
        """Do the work on a task."""
        for own in self.noises:
            own_noises.bring(own)
        return self.work(task)


def _arrived(sources: Sources, work: Callable[[Any], Any], noises: tuple[Own, ...]) -> WithNoises:
    return WithNoises(work, noises, sources)


def carrying(study: Study, work: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the work on a study's tasks for any process. Raises NeedsCode without the classes of its noises."""
    records = study.settings.noises
    own_noises.require_all(records)
    families = {record["family"] for record in records.values() if record["source"]}
    noises = tuple(own for family in sorted(families) if (own := own_noises.find(family)))
    return WithNoises(work, noises, sources_of(*(own.noise for own in noises))) if noises else work
