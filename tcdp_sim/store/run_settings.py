"""The settings of a run, as stored in its folder."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.core.paths import at_home
from tcdp_sim.core.user_files import follows_sweep
from tcdp_sim.store import journal, provenance
from tcdp_sim.store.digests import is_broken
from tcdp_sim.store.journal import HEAD
from tcdp_sim.study import parts

if TYPE_CHECKING:
    from tcdp_sim.study.settings import Settings


def folder_of(path: str | Path) -> Path:
    """Return the run folder that a path means: the path itself, or the folder of a `results.zarr`.

    Raises UserError if it is not a path.
    """
    if "\0" in str(path):
        raise UserError(f"{str(path)!r} is not a path")
    folder = Path(at_home(path))
    try:
        folder.exists()
        (folder / "run.json").exists()
    except PermissionError:
        raise UserError(f"{folder} cannot be read: it is another user's, or its mode forbids it") from None
    except OSError as problem:  # such as a name longer than file systems allow
        raise UserError(f"{str(path)[:60]!r} is not a folder ({problem.strerror})") from None
    folder = folder.parent if folder.name == "results.zarr" else folder
    return folder.resolve() if folder.name in ("", "..") else folder


def run_folder(path: str | Path) -> Path:
    """Return the same folder as `folder_of`. Raises UserError if it holds no run."""
    folder = folder_of(path)
    if not (folder / "run.json").is_file():
        if is_function := follows_sweep(str(path)):
            raise UserError(is_function)
        raise UserError(f"{folder} holds no run; give the folder of one: `tcdp-sim list` shows those in results")
    return folder


def settings_of(folder: Path) -> "Settings":
    """Return the settings that the run in `folder` was last started with, at its present place.

    They come from provenance.json or, if that is damaged, from the journal. Raises UserError if neither can be read.
    """
    from tcdp_sim.study.settings import settings  # slow to import

    return settings({**config_of(folder), "results_dir": str(folder.parent), "name": folder.name})


def config_of(folder: Path) -> Mapping[str, Any]:
    """Return the resolved config that a run was last started with. Raises UserError if it cannot be read."""
    heads = sorted([*_provenance(folder), *_newest_part(folder)], key=provenance.age) or _heads(folder)
    for head in reversed(heads):
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            return dict(json.loads(head["config_in_order"]))
    raise UserError(f"the settings of the run in {folder} cannot be read; start it again with its own command")


def provenance_of(folder: Path) -> Mapping[str, Any]:
    """Return the content of provenance.json, empty if it is damaged or missing."""
    return next(iter(_provenance(folder)), {})


def _provenance(folder: Path) -> list[Mapping[str, Any]]:
    """Return the content of provenance.json as a list, empty if it is damaged or missing."""
    try:
        text = (folder / provenance.NAME).read_bytes()
        return [] if is_broken(text) else [json.loads(text)]
    except (OSError, ValueError):
        return []


def _newest_part(folder: Path) -> list[Mapping[str, Any]]:
    """Return the first head of the newest journal file of a part, as a list, empty without parts.

    Parts do not write provenance.json.
    """
    names = sorted((name for name in journal.segments(folder / "journal") if parts.labelled(name)[2]), reverse=True)
    for name in names:
        with suppress(OSError, StopIteration):
            _, _, payload = next(journal.read(folder / "journal", name.__eq__))
            if payload and payload[:1] == HEAD and (head := _head(payload)):
                return [head]
    return []


def _heads(folder: Path) -> list[Mapping[str, Any]]:
    """Return the heads of the journal, oldest first. Raises UserError."""
    try:
        payloads = [payload for _, _, payload in journal.read(folder / "journal") if payload and payload[:1] == HEAD]
    except OSError as problem:
        raise UserError(f"{folder} cannot be read ({reason(problem)})") from None
    heads = [head for payload in payloads if (head := _head(payload))]
    return sorted(heads, key=provenance.age)


def _head(payload: bytes) -> Mapping[str, Any]:
    try:
        return dict(json.loads(payload[1:]))
    except (ValueError, TypeError, RecursionError):
        return {}
