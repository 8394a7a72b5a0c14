"""The published snapshots of a run: immutable zarr trees named by their digests, and the link to the newest."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import xarray as xr

from tcdp_sim.store import durable, zarr_tree
from tcdp_sim.store.digests import DIGITS, SNAPSHOTS, intact, tree_digest

LINK = "results.zarr"


def publish(folder: Path, blocks: Iterable[xr.Dataset]) -> Path:
    """Write a snapshot and make LINK in a run's folder point to it, at once or not at all, also when the power fails.

    blocks: the rows of one table, some at a time (see `zarr_tree.write`); memory holds one block.

    The one that was published before is kept, as a reader may still have it open; older ones go. Raises OSError.
    """
    snapshots, link = folder / SNAPSHOTS, folder / LINK
    snapshots.mkdir(exist_ok=True)
    final = _written(blocks, snapshots)
    before = _target(link)
    if not link.is_symlink() and link.is_dir():
        remove(link)  # a copy that followed the link: what it holds is in the journal
    durable.link(link, final)
    if before not in (None, final.name):
        _prune(snapshots, {before, final.name})
    return link


def _written(blocks: Iterable[xr.Dataset], snapshots: Path) -> Path:
    """A tree with the digest of its bytes as name, all of it on the disk."""
    fresh = durable.unfinished(snapshots / "writing")
    try:
        zarr_tree.write(fresh, blocks)
        final = snapshots / tree_digest(fresh)[:DIGITS]
        if not intact(final, {final.name}):
            durable.sync_tree(fresh)
            remove(final)
            fresh.rename(final)
        else:
            durable.sync_tree(final)  # who wrote it may have been killed before
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    durable.sync_folder(snapshots)
    return final


def published(folder: Path) -> str | None:
    """The name of the tree that LINK in a run's folder leads to; None unless it is one of the run's snapshots."""
    link, name = folder / LINK, _target(folder / LINK)
    return name if name and link.resolve() == (folder / SNAPSHOTS / name).resolve() else None


def _target(link: Path) -> str | None:
    """The name of the tree that a link leads to, whether or not it is there."""
    return Path(os.readlink(link)).name if link.is_symlink() else None


def _prune(snapshots: Path, kept: set[str]) -> None:
    """Remove all trees but these."""
    for path in snapshots.iterdir():
        if path.name not in kept:
            remove(path)


def remove(path: Path) -> None:
    """Remove a file, a link or a folder with all that is in it; nothing where there is none."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)
