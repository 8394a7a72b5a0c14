"""Damage that disks and people do to a run's folder between two starts of its driver.

Every function of this module returns True if there was something to damage."""

import random
import shutil
from pathlib import Path

from .sweep import Sweep


def torn_tail(sweep: Sweep, rng: random.Random) -> bool:
    """Cut the newest segment off at a random byte."""
    segments = [path for path in sweep.segments() if path.stat().st_size]
    if not segments:
        return False
    with segments[-1].open("r+b") as file:
        file.truncate(rng.randrange(segments[-1].stat().st_size))
    return True


def flipped_record(sweep: Sweep, rng: random.Random) -> bool:
    """Flip up to three bits of a segment."""
    segments = [path for path in sweep.segments() if path.stat().st_size]
    return bool(segments) and flip(rng.choice(segments), rng, rng.randint(1, 3))


def garbage(sweep: Sweep, rng: random.Random) -> bool:
    """Append random bytes to a segment, as if another program had written to it."""
    segments = sweep.segments()
    if not segments:
        return False
    with rng.choice(segments).open("ab") as file:
        file.write(rng.randbytes(rng.randint(1, 5000)))
    return True


def flipped_snapshot(sweep: Sweep, rng: random.Random) -> bool:
    """Flip a bit of the published tree."""
    tree = sweep.snapshot()
    files = sorted(p for p in tree.rglob("*") if p.is_file() and p.stat().st_size) if tree else []
    return bool(files) and flip(rng.choice(files), rng)


def lost_file(sweep: Sweep, rng: random.Random) -> bool:
    """Delete a file of the published tree."""
    tree = sweep.snapshot()
    if tree:
        rng.choice(sorted(p for p in tree.rglob("*") if p.is_file())).unlink()
    return bool(tree)


def lost_link(sweep: Sweep, rng: random.Random) -> bool:
    """Delete the link results.zarr."""
    (sweep.folder / "results.zarr").unlink(missing_ok=True)
    return True


def lost_snapshots(sweep: Sweep, rng: random.Random) -> bool:
    """Delete all published trees, so that the link leads nowhere."""
    shutil.rmtree(sweep.folder / "snapshots", ignore_errors=True)
    return True


def lost_figures(sweep: Sweep, rng: random.Random) -> bool:
    """Delete the figures."""
    shutil.rmtree(sweep.folder / "figures", ignore_errors=True)
    return True


def flipped_figure(sweep: Sweep, rng: random.Random) -> bool:
    """Flip a bit of a figure or of the numbers beside it."""
    files = sorted(p for p in (sweep.folder / "figures").glob("*") if p.stat().st_size)
    return bool(files) and flip(rng.choice(files), rng)


def flipped_provenance(sweep: Sweep, rng: random.Random) -> bool:
    """Flip a bit of provenance.json."""
    path = sweep.folder / "provenance.json"
    return path.is_file() and flip(path, rng)


JOURNAL = (torn_tail, flipped_record, garbage)
PUBLISHED = (flipped_snapshot, lost_file, lost_link, lost_snapshots)
REST = (lost_figures, flipped_figure, flipped_provenance)


def flip(path: Path, rng: random.Random, bits: int = 1) -> bool:
    """Flip random bits of a file that is not empty, in place."""
    data = bytearray(path.read_bytes())
    for place in rng.sample(range(8 * len(data)), bits):
        data[place // 8] ^= 1 << place % 8
    path.write_bytes(data)
    return True
