"""The memories of a run, which save work that was done before, and the inputs of each memory.

A memory is a sealed file in a run's folder. It holds the digest of its inputs, its key, and is stale once an input is
another one. MEMORIES has all of them with their inputs: some are inputs of this process (HERE), the others are given by
the module that writes the memory.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcdp_sim.core import libraries
from tcdp_sim.core.streams import fingerprint
from tcdp_sim.store import digests, figure_settings, source

OF = "of"  # the entry of a memory that holds its key

HERE: Mapping[str, Callable[[], Any]] = {
    "code": lambda: source.own(),
    "shipped data": lambda: source.data(),
    "elementary functions": lambda: fingerprint(),
    "libraries of numbers": lambda: libraries.versions(libraries.OF_NUMBERS),
    "libraries of tables": lambda: libraries.versions(libraries.OF_TABLES),
    "libraries of figures": lambda: libraries.versions(libraries.OF_FIGURES),
    "settings of figures": lambda: figure_settings.digest(),
}


@dataclass(frozen=True)
class Memory:
    """A memory: the name of its file, its inputs from HERE, and its given inputs."""

    file: str
    here: tuple[str, ...]
    given: tuple[str, ...] = ()

    def key(self, **given: Any) -> str:
        """Return the digest of the inputs as they are now. Raises TypeError unless exactly the given ones are given."""
        if given.keys() != set(self.given):
            raise TypeError(f"{self.file} depends on {', '.join(self.given)}; given: {', '.join(given)}")
        return digests.of_plain([self.now(), given])

    def now(self) -> dict[str, Any]:
        """Return the inputs from HERE as they are now."""
        return {name: HERE[name]() for name in self.here}

    def read(self, folder: Path, key: str | None) -> Mapping[str, Any]:
        """Return the memory written with this key; nothing if it is stale, damaged or missing, or without a key."""
        known = digests.read_sealed(folder / self.file) if key else {}
        return known if known.get(OF) == key else {}

    def write(self, folder: Path, key: str, about: Mapping[str, Any]) -> None:
        """Write plain data with its key, atomically, unless it is there. Raises OSError."""
        about = {OF: key, **about}
        if self._bytes(folder) != digests.sealed_text(about):
            digests.write_sealed(folder / self.file, about)

    def damage(self, folder: Path) -> bool:
        """Return True if there is a file that is not as it was written."""
        text = self._bytes(folder)
        return text is not None and digests.is_broken(text)

    def _bytes(self, folder: Path) -> bytes | None:
        try:
            return (folder / self.file).read_bytes()
        except OSError:
            return None


NUMBERS = ("code", "elementary functions", "libraries of numbers")
CALIBRATIONS = Memory("calibrations.json", NUMBERS)
PLAN = Memory("plan.json", (*NUMBERS, "shipped data"), ("config", "files"))
STATUS = Memory("status.json", (), ("plan", "journal"))
PUBLISHED = Memory(
    "published.json",
    ("libraries of tables",),
    ("layout", "cells", "attributes", "problems", "exact_values", "lacking"),
)  # it also holds the digest of the certificate, which names code, config and records
FINISHED = Memory("finished.json", ("libraries of tables",), ("plan", "config"))  # and a digest of the folder's files
DRAWN = Memory(
    "drawn.json",
    ("code", "elementary functions", "libraries of figures", "settings of figures"),
    ("snapshot", "plug_ins", "options"),
)  # and digests of the figures
EXACT = Memory("exact", NUMBERS, ("functions", "packages", "plug_ins"))  # a folder, whose files begin with the key

MEMORIES = (CALIBRATIONS, PLAN, STATUS, PUBLISHED, FINISHED, DRAWN, EXACT)


def text(config: Mapping[str, Any]) -> str:
    """Return a config as an input in which the order of keys counts, because it orders the cells."""
    return json.dumps(config)
