"""The published snapshots of a run: immutable zarr trees named by their digests, and the link to the newest."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tcdp_sim.store import durable
from tcdp_sim.store.digests import DIGITS, SNAPSHOTS, intact, is_name, tree_digest

if TYPE_CHECKING:
    import xarray as xr

LINK = "results.zarr"


def publish(folder: Path, blocks: "Iterable[xr.Dataset]") -> Path:
    """Write a snapshot and point LINK in a run's folder to it, atomically even if the power fails. Raises OSError.

    `blocks` are the rows of one table (see `zarr_tree.write`), with one block in memory at a time. The previous
    snapshot is kept, since a reader may have it open. Older ones are removed.
    """
    snapshots, link = folder / SNAPSHOTS, folder / LINK
    snapshots.mkdir(exist_ok=True)
    final = _written(blocks, snapshots)
    before = _target(link)
    if not link.is_symlink() and link.is_dir() and before != final.name:
        durable.remove(link)  # a copy: its content is in the journal
    if link.is_symlink() or before != final.name:
        durable.link(link, final)
    if before not in (None, final.name):
        _prune(snapshots, {before, final.name})
    return link


def _written(blocks: "Iterable[xr.Dataset]", snapshots: Path) -> Path:
    """Write a tree named by the digest of its bytes, sync it, and return its path."""
    from tcdp_sim.store import zarr_tree  # slow to import, and a repeated command publishes nothing

    fresh = durable.unfinished(snapshots / "writing")
    try:
        zarr_tree.write(fresh, blocks)
        final = snapshots / tree_digest(fresh)[:DIGITS]
        if not intact(final, {final.name}):
            durable.sync_tree(fresh)
            _remove(final)
            fresh.rename(final)
        else:
            durable.sync_tree(final)  # the process that wrote it may have been killed before
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    durable.sync_folder(snapshots)
    return final


def published(folder: Path) -> str | None:
    """Return the name of the run's snapshot that LINK leads to, or None."""
    link, name = folder / LINK, _target(folder / LINK)
    if name and not link.is_symlink():
        return name if (folder / SNAPSHOTS / name).is_dir() else None
    return name if name and link.resolve() == (folder / SNAPSHOTS / name).resolve() else None


def _target(link: Path) -> str | None:
    """Return the name of the tree that a link leads to, whether or not it exists.

    A copy counts where there are no links. Elsewhere somebody has copied the folder, and a link takes its place.
    """
    if link.is_symlink():
        return Path(os.readlink(link)).name
    return name_of(link) if link.is_dir() and not durable.has_links(link.parent) else None


def name_of(tree: Path) -> str:
    """Return the name of the snapshot that a path leads to: the digest of its bytes. Raises OSError."""
    name = tree.resolve().name
    return name if is_name(name) else tree_digest(tree)[:DIGITS]


def _prune(snapshots: Path, kept: set[str]) -> None:
    """Remove all trees but these."""
    for path in snapshots.iterdir():
        if path.name not in kept:
            _remove(path)


def _remove(tree: Path) -> None:
    """Remove a tree, if it exists, at one moment for those who read it."""
    gone = durable.unfinished(tree.parent / "writing")
    try:
        tree.rename(gone)
    except FileNotFoundError:
        return
    durable.remove(gone)
