"""A run's folder: the journal of what was simulated, and the zarr snapshot published from it.

    <results_dir>/<name>/
      run.json            what the stored numbers depend on besides the cells; another run is refused
      lock                held by the driver at work
      journal/*.seg       the truth: checksummed records of chunks (see journal.py)
      snapshots/<digest>  immutable zarr v3 trees, named by the digest of their bytes
      results.zarr        -> the newest of them, switched by rename
      problems.csv        errors and warnings of the chunks of the latest run
      certificate.json    hashes of what the published results consist of
      contradictions.csv  where the latest drawing found simulated and exact numbers apart beyond chance
      differences.csv     between cells that share random numbers; diff.csv: what the latest mode=diff found

A snapshot is a function of the plan and the journal alone: the same command gives the same bytes, whatever else
the journal holds and however often the run was interrupted. Times and hosts stay out of it.
"""

import fcntl
import json
import os
import platform
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import reduce
from pathlib import Path
from typing import Any

import xarray as xr
from zarr.codecs import ZstdCodec

from tcdp_sim import journal
from tcdp_sim.errors import UserError
from tcdp_sim.problems import Problem
from tcdp_sim.summary import Summary, from_bytes, merge, peek
from tcdp_sim.trees import DIGITS, SNAPSHOTS, intact, is_name, tree_digest

HEAD, CHUNK, PROBLEM = b"H", b"C", b"P"
SNAPSHOTS_KEPT = 2
IDENTITY = "identity"  # a key of a head: what run.json holds
UNFINISHED = ".run-"
HALF = ".[!r]*-*"  # what a killed driver was about to put in place (not run.json, which is written without the lock)


class Run:
    """A run's folder, open for reading and appending; OSError and UserError say what is wrong with it."""

    def __init__(self, folder: Path, identity: Mapping[str, Any]):
        self.folder = folder
        self.identity = dict(identity)
        self.damaged: dict[str, int] = {}
        self.mended: list[str] = []
        self.heads: list[Mapping[str, Any]] = []
        self._identities: list[Mapping[str, Any] | None] = []  # that the heads told
        self.problems: dict[Problem, None] = {}
        self._where: dict[tuple[str, int], tuple[Path, int, int]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for path, offset, payload in journal.read(folder / "journal"):
            if payload is None:
                self.damaged[path.name] = self.damaged.get(path.name, 0) + 1
            elif payload[:1] == HEAD:
                self._head(path, payload[1:])
            elif payload[:1] == CHUNK:
                self._enter(path, offset + 1, payload[1:])
            elif payload[:1] == PROBLEM:
                self._note(path, payload[1:])
        self._claim(folder / "run.json")

    def has(self, cell: str, chunk: int) -> bool:
        """Whether that chunk is done."""
        return (cell, chunk) in self._where

    def writer(self, head: Mapping[str, Any]) -> "RunWriter":
        """Append to the journal; `head` says who writes (versions, host, time). A context manager."""
        return RunWriter(self, head)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other drivers out as long as the block runs; UserError if one is at work. Freed by the kernel at death.

        (Two drivers would do no harm, since records are only appended, but do everything twice.)
        """
        with open(self.folder / "lock", "a+", opener=_no_link) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                who = file.read().strip()
                told = f"{self.folder} is being written by another process ({who})"
                raise UserError(f"{told}; wait for its end") from None
            except OSError:  # a file system without locks
                yield
                return
            for half in self.folder.glob(HALF):
                half.unlink(missing_ok=True)
            file.truncate(0)
            file.write(f"process {os.getpid()} on {platform.node()}")
            file.flush()
            yield

    def locked(self) -> bool:
        """Whether a driver is at work in the folder; asked without writing, so that others may look as well."""
        try:
            file = (self.folder / "lock").open("rb")
        except FileNotFoundError:
            return False
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            except OSError:  # a file system without locks
                return False
        return False

    def record(self, cell: str, chunk: int) -> bytes:
        """The encoded summary of one chunk that is done, as it was written."""
        return self._payload(cell, chunk)

    @property
    def done(self) -> list[tuple[str, int]]:
        """(cell id, chunk) of every chunk that is done."""
        return list(self._where)

    def summary(self, cell: str, chunks: Iterable[int]) -> Summary:
        """The merged summary of these chunks of a cell, read from the journal."""
        return reduce(merge, (from_bytes(self._payload(cell, chunk)) for chunk in chunks))

    def publish(self, dataset: xr.Dataset) -> Path:
        """Write a snapshot and make `results.zarr` point to it, at once or not at all."""
        snapshots = self.folder / SNAPSHOTS
        snapshots.mkdir(exist_ok=True)
        fresh = snapshots / f".writing-{os.getpid()}"
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            codec = (ZstdCodec(level=3, checksum=True),)
            encoding = {name: {"compressors": codec} for name in dataset.variables}
            dataset.to_zarr(fresh, mode="w", consolidated=False, zarr_format=3, encoding=encoding)
            final = snapshots / tree_digest(fresh)[:DIGITS]
            if not intact(final, {final.name}):
                _remove(final)
                fresh.rename(final)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        _point(self.folder / "results.zarr", final)
        os.utime(final)
        _prune(snapshots)
        return self.folder / "results.zarr"

    def _claim(self, path) -> None:
        """UserError unless the folder is ours. An identity that the journal's heads do not know is a damaged one."""
        known = [identity for identity in self._identities if identity is not None]
        try:
            _claim(path, self.identity)
        except UserError:
            if self.identity not in known or _readable(path) in known:
                raise
            with suppress(OSError):  # a run that may only be read can be read
                _write(path, self.identity)
            self.mended.append(f"{path.name} was damaged or lost; it is restored from the journal")
        if known and self.identity not in known:
            raise UserError(f"{path} is damaged: it is not what the journal beside it says; restore it")

    def _head(self, path, text) -> None:
        try:
            head = dict(json.loads(text))
            self._identities.append(head.pop(IDENTITY, None))
            self.heads.append(head)
        except (ValueError, TypeError, RecursionError):
            self.damaged[path.name] = self.damaged.get(path.name, 0) + 1

    def _enter(self, path, offset, summary) -> None:
        try:
            self._where.setdefault(peek(summary), (path, offset, len(summary)))
        except (ValueError, KeyError, TypeError, IndexError):  # whole, but not ours
            self.damaged[path.name] = self.damaged.get(path.name, 0) + 1

    def _note(self, path, text) -> None:
        try:
            self.problems[Problem(**json.loads(text))] = None
        except (ValueError, TypeError, RecursionError):
            self.damaged[path.name] = self.damaged.get(path.name, 0) + 1

    def _payload(self, cell, chunk) -> bytes:
        path, offset, size = self._where[(cell, chunk)]
        payload = journal.again(path, offset - 1, size + 1)  # the first byte says what it is
        if payload is None:
            raise UserError(f"{path} was damaged while it was open; the same command simulates again what it held")
        return payload[1:]


class RunWriter:
    """Appends finished chunks to one new segment of a run's journal."""

    def __init__(self, run: Run, head: Mapping[str, Any]):
        self._run = run
        self._writer = journal.Writer(run.folder / "journal")
        self._head = self._encoded(head)

    def append(self, cell: str, chunk: int, summary: bytes) -> None:
        """A chunk that is done."""
        offset = self._append(CHUNK + summary)
        self._run._where[(cell, chunk)] = (self._writer.path, offset + 1, len(summary))

    def note(self, problem: Problem) -> None:
        """An error or warning; before its chunk, so that a chunk that is there has all its warnings."""
        self._append(PROBLEM + json.dumps(asdict(problem), sort_keys=True).encode())
        self._run.problems[problem] = None

    def end(self, head: Mapping[str, Any]) -> None:
        """What is known of the writer at its end, where it has written anything."""
        if not self._head:
            self._append(self._encoded(head))

    def _encoded(self, head) -> bytes:
        return HEAD + json.dumps({**head, IDENTITY: self._run.identity}, sort_keys=True).encode()

    def _append(self, payload: bytes) -> int:
        if self._head:
            self._writer.append(self._head)
            self._head = b""
        return self._writer.append(payload)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._writer.close()


def _no_link(path, flags) -> int:
    """An opener that follows no link that somebody has planted."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def _claim(path: Path, identity: Mapping[str, Any]) -> None:
    """Write the identity if the folder is new; refuse a folder of another run."""
    wanted = dict(identity)
    if path.exists():
        found = _identity(path)
        differing = [key for key in wanted if found.get(key) != wanted[key]]
        if differing:
            told = ", ".join(f"{key} = {found.get(key)!r} there, {wanted[key]!r} here" for key in differing)
            raise UserError(f"{path.parent} belongs to another run ({told}); choose another name or results_dir")
        return
    others = {other.name for other in path.parent.iterdir() if not other.name.startswith(UNFINISHED)}
    if path.name in others:  # another driver has just begun the same
        return _claim(path, identity)
    if others:
        raise UserError(f"{path.parent} is not empty and not a run's folder; choose another name or results_dir")
    _write(path, wanted)


def _write(path: Path, identity: Mapping[str, Any]) -> None:
    temporary = path.with_name(f"{UNFINISHED}{os.getpid()}")
    temporary.write_text(json.dumps(identity, indent=1, sort_keys=True) + "\n", "utf-8")
    temporary.replace(path)


def _readable(path: Path) -> Mapping[str, Any] | None:
    try:
        return _identity(path)
    except (UserError, FileNotFoundError):
        return None


def _identity(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        raise UserError(f"{path} is not JSON; restore it, or choose another name or results_dir") from None
    if not isinstance(found, dict):
        raise UserError(f"{path} holds no keys and values; restore it, or choose another name or results_dir")
    return found


def _point(link: Path, target: Path) -> None:
    temporary = link.with_name(f".link-{os.getpid()}")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(os.path.relpath(target, link.parent), target_is_directory=True)
    if not link.is_symlink() and link.is_dir():
        _remove(link)  # a copy that followed the link: what it holds is in the journal
    temporary.replace(link)


def _prune(snapshots: Path) -> None:
    """Remove what killed drivers left unfinished, and all but the newest: a reader may still have the last one open."""
    found = sorted(snapshots.iterdir(), key=lambda path: (is_name(path.name), path.lstat().st_mtime))
    for old in found[:-SNAPSHOTS_KEPT]:
        _remove(old)


def _remove(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)
