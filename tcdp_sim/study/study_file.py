"""A study in a file: a plain YAML mapping with the keys of a command line. Nothing in it is composed or run."""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.paths import at_home
from tcdp_sim.study import groups

COMPOSING = ("defaults", "hydra")  # keys with which Hydra's own files compose others or run code
# Files that a study reads are relative to the file of the study; * is any key. What it writes is relative to the shell.
READ = (
    *(("data", "path"), ("data", "domain", "file"), ("mechanism", "*", "*", "path")),
    *(("cluster", key) for key in ("tls_ca", "tls_cert", "tls_key")),
)
START = "`tcdp-sim new histogram` prints a file to start from"
_ITEM = re.compile(r"\[\d+\]")  # mistakes name sweep.cells.kk, and lines sweep.cells[3].kk


@dataclass(frozen=True)
class StudyFile:
    """The keys of a study that a file gives, and their lines. Without a path it is no file and gives nothing."""

    path: str = ""
    keys: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)  # by place, such as sweep.k, and by path of a data file
    given: frozenset[str] = frozenset()  # places that words give, so that they are not the file's

    def under(self, given: Collection[str]) -> "StudyFile":
        """Return the file without what words replace as a whole; `given` holds their keys, such as data or sweep.k.

        A word that chooses the option of a group replaces all the file's keys of this group, and a word for an axis
        replaces the axis in every form.
        """
        keys = {key: value for key, value in self.keys.items() if not (key in groups.CHOSEN and key in given)}
        axes = {key.partition(".")[2]: 0 for key in given if key.startswith("sweep.")}
        if axes and isinstance(sweep := keys.get("sweep"), Mapping):
            from tcdp_sim.study.blocks import with_axes  # slow to import

            kept = with_axes(sweep, axes)
            # null keeps the place of an axis, because the order of the axes decides that of the cells
            keys["sweep"] = {key: None if key in axes else value for key, value in sweep.items() if key in kept}
        return replace(self, keys=keys, given=frozenset(given))

    @contextmanager
    def located(self) -> Iterator[None]:
        """Put file and line in front of the message of a UserError in the block, if it is about a key of the file."""
        try:
            yield
        except UserError as mistake:
            message, line = str(mistake), self._line(mistake.place)
            if not line or message.startswith(f"{self.path}:"):
                raise
            told = message.removeprefix("config: ")
            raise UserError(f"{self.path}:{line}: {told}", mistake.place) from None

    def _line(self, place: str) -> int | None:
        """Return the line of a place, or of the nearest section around it; None for one that words give."""
        lines: dict[str, int] = {}
        for name, line in self.lines.items():
            lines.setdefault(_ITEM.sub("", name), line)
        place = _ITEM.sub("", place)
        if place not in {*lines, *self.given} and "." not in place:
            place = self._axis(place, lines)
        while place and place not in self.given:
            if place in lines:
                return lines[place]
            place = place.rpartition(".")[0]
        return None

    def _axis(self, name: str, lines: Collection[str]) -> str:
        """Return the only place of an axis, "" if there is none or another one."""
        sweeps = [place for place in {*lines, *self.given} if place.startswith(("sweep.", "also."))]
        named = [place for place in sweeps if place.rpartition(".")[2] == name]
        return named[0] if len(named) == 1 else ""


NONE = StudyFile()


def read(path: str | Path) -> StudyFile:
    """Return the study in a file. Raises UserError that names the line of a mistake.

    Keys that no study has are refused later, together with the keys of words, because only the chosen experiment says
    which axes there are. `StudyFile.located` then adds the line.
    """
    if not isinstance(path, str | os.PathLike):
        raise UserError(f"study = {path!r} is not valid; valid: the path of a file")
    from tcdp_sim.study import plain_yaml  # slow to import, and few commands read such a file

    path = at_home(path)
    keys, lines = plain_yaml.read(path)
    if not keys:
        raise UserError(f"{path}:1: the file is empty; {START}")
    if not isinstance(keys, dict):
        raise UserError(
            f"{path}:1: the file is no study; valid: keys and their values, as in `experiment: histogram`; {START}"
        )
    for key in keys:
        if key in COMPOSING:
            raise UserError(f"{path}:{lines[key]}: {key} is not read: a file is data, and composes no other files")
        if "." in key:
            whole, _, own = key.partition(".")
            raise UserError(f"{path}:{lines[key]}: {key!r} is not a key; write {own} in its own line under {whole}:")
    for place in READ:
        lines |= {name: lines[where] for where, name in _beside(keys, place, Path(path).parent)}
    return StudyFile(path, keys, lines)


def relative_paths(keys: Mapping[str, Any]) -> list[str]:
    """Return the relative paths of the files that a study of these keys reads."""
    read_by_it = [name for place in READ for _, name in _beside(deepcopy(dict(keys)), place, Path())]
    return [name for name in read_by_it if not Path(name).is_absolute()]


def _beside(section: Any, place: tuple[str, ...], folder: Path, where: str = "") -> Iterator[tuple[str, str]]:
    """Make the relative path at a place of the keys relative to a folder, and yield its place and the new path."""
    first, *rest = place
    for key in (list(section) if first == "*" else [first]) if isinstance(section, dict) else ():
        here = f"{where}.{key}" if where else key
        if rest:
            yield from _beside(section.get(key), tuple(rest), folder, here)
        elif isinstance(section.get(key), str):
            section[key] = str(folder / at_home(section[key]))
            yield here, section[key]
