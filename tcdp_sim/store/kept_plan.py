"""The plan of a run, kept in its folder, so that `tcdp-sim status` need not plan the study again.

    plan.json    the cells to simulate and the notes of the plan, with the digest of everything that they depend on

The digest covers the config, the files that it names, our code and data files, NumPy and SciPy and this machine's
elementary functions. No plan is kept of a study that reads a table of counts, nor where a plug-in is installed, because
its code has no digest.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_sim.core import registry
from tcdp_sim.store import calibrations, digests, source

if TYPE_CHECKING:
    from tcdp_sim.study.planned import Planned
    from tcdp_sim.study.settings import Settings
    from tcdp_sim.study.study import Study

NAME = "plan.json"
MOST = 100_000  # cells; a larger plan would take more than 20 MB
# what else a plan without the user's noise classes needs
OF_PLAN = ("skipped", "axes", "noises", "unused", "without_losses")
ELSEWHERE = ("name", "results_dir", "cluster", "numerics", "code", "on_error", "part")  # keys that no plan depends on


def key(config: Mapping[str, Any]) -> str | None:
    """Return the digest of everything that the plan of a resolved config depends on; None with a plug-in."""
    if registry.distributions():
        return None
    about = [
        calibrations.code(),
        source.data(),
        own := {name: value for name, value in config.items() if name not in ELSEWHERE},
        sorted(_files(own)),
    ]
    return hashlib.blake2b(json.dumps(about).encode(), digest_size=16).hexdigest()  # the order of keys orders the cells


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
                with Path(value).open("rb") as file:
                    yield value, hashlib.file_digest(file, "blake2b").hexdigest()
        except OSError:  # no file, or one that the study itself will complain of
            return


def keep(study: "Study") -> str | None:
    """Write the plan of a study, unless it is there, and return its key; None if it is not kept. Raises OSError."""
    of = None if study.data or len(study.plan.laws) > MOST else key(study.settings.config)
    if of is not None and digests.read_sealed(study.folder / NAME).get("of") != of:
        planned = study.planned
        about: dict[str, Any] = {"of": of, "cells": planned.laws.as_texts(), "notes": list(planned.notes)}
        if study.settings.noises:
            about["plan"] = {name: list(getattr(study.plan, name)) for name in OF_PLAN}
        digests.write_sealed(study.folder / NAME, about)
    return of


def read(settings: "Settings", of: str | None) -> "Planned | None":
    """Return the kept plan of a study's run with this key; None if there is none, or if it is stale or damaged."""
    from tcdp_sim.study.packed_cells import Cells  # they are not needed for the status of a finished run
    from tcdp_sim.study.planned import Planned

    known = digests.read_sealed(settings.folder / NAME) if of else {}
    return Planned(settings, Cells.of_texts(known["cells"]), known["notes"]) if known.get("of") == of else None


def without_code(settings: "Settings") -> "Study | None":
    """Return the kept study of a run with noises of the user's own, whose classes are not here; None if none is kept.

    Its mechanisms cannot be built, and the laws of its cells have their thresholds.
    """
    from tcdp_sim.study import study
    from tcdp_sim.study.packed_cells import Cells

    of = key(settings.config)
    known = digests.read_sealed(settings.folder / NAME) if of else {}
    if known.get("of") != of or "plan" not in known:
        return None
    every = Cells.of_texts({**known["cells"], "rows": None})
    return study.of_plan(settings, every, {name: tuple(names) for name, names in known["plan"].items()})
