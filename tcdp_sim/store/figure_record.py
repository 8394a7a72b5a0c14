"""The record of the figures drawn from a snapshot, so that current figures stay and nothing is computed twice.

    drawn.json    the figures, the digests of their files, and what the command printed

If no input has changed, and all files still have their digests, the figures are current. The code of an experiment of a
plug-in may import anything, so its figures are always drawn.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tcdp_sim.core import registry
from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.core.figure_options import PLAIN, FigureOptions
from tcdp_sim.core.texts import printable
from tcdp_sim.store import digests, snapshot, source
from tcdp_sim.store.memories import DRAWN
from tcdp_sim.store.provenance import NAME as PROVENANCE

NAME = DRAWN.file
TITLE = "tcdp_sim experiment "
FILES = ("contradictions.csv", "differences.csv")  # files that a drawing command writes beside the figures


@dataclass(frozen=True)
class Report:
    """The printed report of a snapshot, with ANSI codes, and plain lines below it.

    `console` describes the terminal that the report was printed for; its layout fits no other one.
    """

    console: str
    report: str
    lines: tuple[str, ...]
    contradictions: int


def title(folder: Path) -> str:
    """Return the title of a run's published results, "" if there is none that can be read."""
    try:
        attributes = json.loads((folder / snapshot.LINK / "zarr.json").read_bytes())["attributes"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    found = attributes.get("title") if isinstance(attributes, dict) else ""
    return found if isinstance(found, str) else ""


def inputs(folder: Path, options: FigureOptions = PLAIN) -> str | None:
    """Return the digest of everything that the figures of a run depend on; None if they must be drawn in any case."""
    name = title(folder)
    if not name.startswith(TITLE) or name.removeprefix(TITLE) in registry.plug_ins("experiment"):
        return None
    try:
        text = (folder / PROVENANCE).read_bytes()
        if digests.is_broken(text):
            return None  # who reads the results is told so
        plug_ins = sorted(json.loads(text).get("plug_ins", ()))
        tree = digests.tree_digest((folder / snapshot.LINK).resolve())
    except OSError:
        return None
    known = {name: source.of_distribution(name) for name in plug_ins}
    return DRAWN.key(snapshot=tree, plug_ins=known, options=options.as_dict())


def write(
    folder: Path, of: str, figures: Sequence[Path], report: Report | None, options: FigureOptions = PLAIN
) -> None:
    """Write drawn.json, once all files are there. Raises OSError.

    `of` is the digest of the `inputs`. `figures` are the PNG files; those with other endings and equal names belong to
    them.
    """
    names = [path.relative_to(folder).as_posix() for path in figures]
    files = {file: digests.of_file_if_any(folder / file) for file in _with(names, options)}
    DRAWN.write(folder, of, {"figures": names, "files": files, "said": asdict(report) if report else None})


def not_written(folder: Path, problem: OSError) -> UserError:
    """Return the error for figures that cannot be written."""
    message = f"the figures in {folder} cannot be written ({reason(problem)})"
    return UserError(f"{message}; once the cause is repaired, `tcdp-sim draw {folder}` draws them")


def _with(figures: Sequence[str], options: FigureOptions) -> list[str]:
    """Return all files that belong to figures."""
    endings = (*options.endings(), ".csv")
    return [name.removesuffix(".png") + ending for name in figures for ending in endings] + [*FILES]


def read(folder: Path, of: str, options: FigureOptions = PLAIN) -> tuple[list[Path] | None, Report | None, str]:
    """Return the current figures, the printed report, and a warning about damage ("" if there is none).

    The figures are None if anything has changed.
    """
    if DRAWN.damage(folder):
        return None, None, f"{folder / NAME} is damaged: the figures are drawn again"
    known = DRAWN.read(folder, of)
    if not known:
        return None, None, ""
    try:
        figures, report = _figures(known, options), _report(known["said"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None, None, f"{folder / NAME} has not the form of such a record: the figures are drawn again"
    changed = [
        name for name in _with(figures, options) if known["files"].get(name) != digests.of_file_if_any(folder / name)
    ]
    if changed:
        return None, None, f"{folder / changed[0]} was changed or lost: the figures are drawn again"
    return [folder / name for name in figures], report, ""


def _figures(known: Mapping[str, Any], options: FigureOptions) -> list[str]:
    """Return the names of the figures in a record. Raises an exception if they have another form."""
    names = known["figures"]
    for name in names:
        folder, _, file = name.partition("/")
        if folder != "figures" or "/" in file or not file.endswith(".png") or printable(name) != name:
            raise ValueError("a figure lies in the folder of the figures")
    if not isinstance(names, list) or set(known["files"]) != set(_with(names, options)):
        raise ValueError("each figure has a digest for each of its files")
    return names


def _report(said: Any) -> Report | None:
    """Return the printed report of a record. Raises an exception if it has another form."""
    if said is None:
        return None
    found = Report(said["console"], said["report"], tuple(said["lines"]), said["contradictions"])
    if not all(isinstance(text, str) for text in (found.console, found.report, *found.lines)):
        raise TypeError("a report is text")
    if type(found.contradictions) is not int or found.contradictions < 0:
        raise TypeError("contradictions are counted")
    return found
