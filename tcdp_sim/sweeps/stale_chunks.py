"""The stored chunks of a sweep's folder. Discarding the chunks of one function leaves those of the others."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.store import journal
from tcdp_sim.store.journal import HEAD
from tcdp_sim.store.run_folder import Run, readable

Function = Mapping[str, Any]  # module, name and source of a function


def forget(run: Run | None, function: Function) -> None:
    """Remove the chunks of a function, because their code can no longer be compared with the present function.

    Raises UserError if the function has no identity and the folder holds chunks of one that has.
    """
    if run is None:
        return
    with run.lock():
        found = dict(_functions(run.folder))
        others = [other for other in found.values() if other and other.get("source") is not None]
        if function["source"] is None and others:
            raise UserError(
                f"{run.folder} holds chunks of {others[-1]['name']}, which can be resumed; those of "
                f"{function['name']} cannot, and would replace them: choose another name"
            )
        for segment, other in found.items():
            if other is None or other == function or (other.get("source") is None and function["source"] is None):
                segment.unlink()


def chunk_of(folder: Path | None, function: Function) -> int | None:
    """Return the chunk size of a folder that holds a sweep of this function, of any source; None without one."""
    try:
        identity = readable(folder / "run.json") if folder else None
    except OSError:  # the run will say what is wrong with the folder
        return None
    same = identity is not None and identity.get("function") == f"{function['module']}:{function['name']}"
    return identity.get("chunk") if identity is not None and same else None


def _functions(folder: Path) -> Iterator[tuple[Path, Function | None]]:
    """Yield every journal file with the function that its head names, None if the head is damaged."""
    for name in sorted(journal.segments(folder / "journal")):
        path, _, payload = next(journal.read(folder / "journal", name.__eq__), (folder / "journal" / name, 0, None))
        yield path, _function(payload)


def _function(payload: bytes | None) -> Function | None:
    if not payload or payload[:1] != HEAD:
        return None
    try:
        return dict(json.loads(payload[1:])["config"]["mechanism"]["function"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
