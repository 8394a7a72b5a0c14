"""The plan of a run, kept in its folder, so that `tcdp-sim status` need not plan the study again.

    plan.json    the cells to simulate and the notes of the plan

No plan is kept of a study that reads a table of counts, nor where a plug-in is installed, because its code has no
digest here.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_sim.core import registry
from tcdp_sim.store import digests, memories
from tcdp_sim.store.memories import PLAN

if TYPE_CHECKING:
    from tcdp_sim.study.planned import Planned
    from tcdp_sim.study.settings import Settings
    from tcdp_sim.study.study import Study

NAME = PLAN.file
MOST = 100_000  # cells; a larger plan would take more than 20 MB
# what else a plan without the user's noise classes needs
OF_PLAN = ("skipped", "axes", "noises", "unused", "without_losses")
ELSEWHERE = ("name", "results_dir", "cluster", "numerics", "code", "part")  # keys that no plan depends on


def key(config: Mapping[str, Any]) -> str | None:
    """Return the digest of everything that the plan of a resolved config depends on; None with a plug-in."""
    if registry.distributions():
        return None
    own = {name: value for name, value in config.items() if name not in ELSEWHERE}
    return PLAN.key(config=memories.text(own), files=sorted(_files(own)))


def _files(value: Any) -> Iterator[tuple[str, str]]:
    """Yield each text of a config that is the path of a file, with the digest of that file as it is now.

    Every text is looked up, whatever its key: a list, a population, a table and its labels may all be the user's files.
    """
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for each in value:
            yield from _files(each)
    elif isinstance(value, str) and "\0" not in value:
        try:
            if Path(value).is_file():  # a pipe would be waited for
                yield value, digests.of_file(Path(value))
        except OSError:  # no file, or one that the study itself will complain of
            return


def keep(study: "Study") -> str | None:
    """Write the plan of a study, unless it is there, and return its key; None if it is not kept. Raises OSError."""
    of = None if study.data or len(study.plan.laws) > MOST else key(study.settings.config)
    if of is not None and not PLAN.read(study.folder, of):
        planned = study.planned
        about: dict[str, Any] = {"cells": planned.laws.as_texts(), "notes": list(planned.notes)}
        if study.settings.noises:
            about["plan"] = {name: list(getattr(study.plan, name)) for name in OF_PLAN}
        PLAN.write(study.folder, of, about)
    return of


def read(settings: "Settings", of: str | None) -> "Planned | None":
    """Return the kept plan of a study's run with this key; None if there is none, or if it is stale or damaged."""
    from tcdp_sim.study.packed_cells import Cells  # they are not needed for the status of a finished run
    from tcdp_sim.study.planned import Planned

    known = PLAN.read(settings.folder, of)
    return Planned(settings, Cells.of_texts(known["cells"]), known["notes"]) if known else None


def without_code(settings: "Settings") -> "Study | None":
    """Return the kept study of a run with noises of the user's own, whose classes are not here; None if none is kept.

    Its mechanisms cannot be built, and the laws of its cells have their thresholds.
    """
    from tcdp_sim.study import study
    from tcdp_sim.study.packed_cells import Cells

    known = PLAN.read(settings.folder, key(settings.config))
    if "plan" not in known:
        return None
    every = Cells.of_texts({**known["cells"], "rows": None})
    return study.of_plan(settings, every, {name: tuple(names) for name, names in known["plan"].items()})
