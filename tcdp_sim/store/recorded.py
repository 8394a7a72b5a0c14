"""The settings of a run, as its folder tells them."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.store import journal, provenance
from tcdp_sim.store.digests import is_broken
from tcdp_sim.store.run_folder import HEAD
from tcdp_sim.study import retired
from tcdp_sim.study.settings import Settings, settings


def folder_of(path: str | Path) -> Path:
    """The folder that `path` stands for: itself, or what its results.zarr lies in. UserError for what is no path."""
    if "\0" in str(path):
        raise UserError(f"{str(path)!r} is no path")
    folder = Path(path)
    try:
        folder.exists()
    except OSError as problem:  # such as a name of more bytes than file systems have
        raise UserError(f"{str(path)[:60]!r} is no folder ({problem.strerror})") from None
    folder = folder.parent if folder.name == "results.zarr" else folder
    return folder.resolve() if folder.name in ("", "..") else folder


def run_folder(path: str | Path) -> Path:
    """As `folder_of`; UserError if no run is there."""
    folder = folder_of(path)
    if not (folder / "run.json").is_file():
        raise UserError(f"{folder} holds no run; give the folder of one: `tcdp-sim list` shows those in results")
    return folder


def settings_of(folder: Path) -> Settings:
    """Return the settings that the run in `folder` was last started with, at the place where it is now.

    It stands in provenance.json and, in case that is damaged, in the journal. Raises UserError if neither can be read.
    """
    return settings({**config_of(folder), "results_dir": str(folder.parent), "name": folder.name})


def config_of(folder: Path) -> Mapping[str, Any]:
    """Return the resolved config that the run in `folder` was last started with.

    Keys that have become commands are left out. Raises UserError if it cannot be read.
    """
    heads = _provenance(folder) or _heads(folder)
    for head in reversed(heads):
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            return retired.without(dict(json.loads(head.get("config_in_order") or json.dumps(head["config"]))))
    raise UserError(f"{folder} does not tell the settings of its run; start it again with its own command")


def provenance_of(folder: Path) -> Mapping[str, Any]:
    """What provenance.json says of who computed the run; empty if it is damaged or gone."""
    return next(iter(_provenance(folder)), {})


def _provenance(folder: Path) -> list[Mapping[str, Any]]:
    try:
        text = (folder / provenance.NAME).read_bytes()
        return [] if is_broken(text) else [json.loads(text)]
    except (OSError, ValueError):
        return []


def _heads(folder: Path) -> list[Mapping[str, Any]]:
    """What the drivers that wrote the journal said of themselves, oldest first."""
    try:
        payloads = [payload for _, _, payload in journal.read(folder / "journal") if payload and payload[:1] == HEAD]
    except OSError as problem:
        raise UserError(f"{folder} cannot be read ({reason(problem)})") from None
    heads = [head for payload in payloads if (head := _head(payload))]
    return sorted(heads, key=lambda head: (str(head.get("time")), str(head.get("ended", ""))))


def _head(payload: bytes) -> Mapping[str, Any]:
    try:
        return dict(json.loads(payload[1:]))
    except (ValueError, TypeError, RecursionError):
        return {}
