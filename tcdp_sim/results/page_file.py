"""The file of a page about a run: checked before the work, and written whole or not at all."""

from pathlib import Path

from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.core.paths import at_home
from tcdp_sim.store import durable


def check_results(folder: Path) -> None:
    """Raise UserError if a folder holds no published results."""
    if not (folder / "results.zarr").exists():
        raise UserError(f"{folder} holds no results; `tcdp-sim status {folder}` says how far its run is, if it has one")


def checked(target: Path) -> Path:
    """Return the target. Raises UserError if a page cannot replace it, because it is a folder, a link or a device."""
    target = Path(at_home(target))
    try:
        replaceable = not target.is_symlink() and (target.is_file() or not target.exists()) and target.name
    except OSError as problem:
        raise UserError(f"{str(target)[:60]} cannot be written ({problem.strerror})") from None
    if not replaceable:
        raise UserError(f"{target} is not a file that a page may replace; give the name of a new file, such as x.html")
    return target


def write(target: Path, text: str) -> Path:
    """Write a page and return its path. Raises UserError if that fails."""
    try:
        durable.write(target, text)
    except OSError as problem:
        raise UserError(f"{target} cannot be written ({reason(problem)})") from None
    return target
