"""Power failures: a recording of a command's file operations, and the states that a failure may leave on the disk.

The recorder looks at the folder before every file operation and notes the changes: names in folders, bytes in files,
and syncs. From these it makes the states that a failure at any step may leave. They are harsher than those of most file
systems: bytes that were not synced are there, lost, torn or zeros. Each change of names that was not synced is there or
not, independently of the others; a rename within a folder happens wholly or not at all.
"""

import os
import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tcdp_sim.store.run_folder import HALF

HOWS = ("synced", "empty", "torn", "mixed")  # left: synced data only; names without bytes; torn bytes; some of each
KILLED = "killed"  # left: all that was done so far, because the machine runs on
VARIES = {"journal", "exact", "lock", "provenance.json", "status.json", "finished.json", "run.log"}  # times and hosts
RECENT = 50_000_000  # nanoseconds in which a file may change without a change of its times
CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.symlink", "os.link", "os.truncate"}
Key = tuple[int, int]  # (inode, running number of the file or folder with that inode)
_RECORDERS: list["Recorder"] = []


@dataclass
class Names:
    """Entries of a folder that changed at once: name -> present file or folder, None if it is gone."""

    folder: Key
    entries: dict[str, Key | None]


@dataclass
class Data:
    """A step after which a file has new bytes."""

    file: Key
    data: bytes


@dataclass
class Sync:
    """A step after which a file or folder is on the disk in its present state."""

    what: Key


@dataclass
class Recorder:
    """The steps in a folder, in order. `links` has the targets of symlinks, `folders` the entries of folders."""

    home: Path
    steps: list[Names | Data | Sync] = field(default_factory=list)
    links: dict[Key, str] = field(default_factory=dict)
    folders: dict[Key, dict[str, Key]] = field(default_factory=dict)
    syncs: int = 0

    def __post_init__(self):
        self._lock, self._mine = threading.RLock(), threading.local()
        self._keys: dict[int, Key] = {}
        self._made = 0
        self._files: dict[Key, tuple] = {}
        self.look()
        self.start = len(self.steps)  # earlier files are on the disk

    def look(self, synced: int | None = None) -> None:
        """Note the changes since the last look. `synced` is the inode of a file or folder that is on the disk now."""
        if getattr(self._mine, "looking", False):
            return
        with self._lock:
            self._mine.looking = True
            try:
                self._scan()
                if synced in self._keys:
                    self.steps.append(Sync(self._keys[synced]))
                    self.syncs += 1
            finally:
                self._mine.looking = False

    def _scan(self):
        while True:
            try:
                found = dict(_walk(str(self.home)))
                inodes = {os.stat(self.home).st_ino} | {e.inode() for entries in found.values() for e in entries}
                self._keys = {inode: key for inode, key in self._keys.items() if inode in inodes}
                for inode, entries in found.items():
                    self._entries(self._key(inode), entries)
                return
            except FileNotFoundError:  # another thread has just moved or removed something; the notes so far are right
                continue

    def _key(self, inode):
        if inode not in self._keys:
            self._made += 1
            self._keys[inode] = inode, self._made
        return self._keys[inode]

    def _entries(self, folder, entries):
        now = {entry.name: self._key(entry.inode()) for entry in entries}
        before = self.folders.get(folder, {})
        for entry in entries:
            if entry.is_symlink():
                self.links[self._key(entry.inode())] = os.readlink(entry.path)
            elif entry.is_file():
                self._bytes(self._key(entry.inode()), entry.path)
        changed = {name: now.get(name) for name in before.keys() | now.keys() if before.get(name) != now.get(name)}
        self.folders[folder] = now
        if changed:
            self.steps.append(Names(folder, changed))

    def _bytes(self, key, path):
        about = os.stat(path)
        stamp = about.st_size, about.st_mtime_ns, about.st_ctime_ns
        known, settled, data = self._files.get(key, (None, False, b""))
        if known == stamp and settled:
            return
        now = Path(path).read_bytes()
        if now != data:
            self.steps.append(Data(key, now))
        self._files[key] = stamp, time.time_ns() - about.st_mtime_ns > RECENT, now


def _walk(folder) -> Iterator[tuple[int, list[os.DirEntry]]]:
    with os.scandir(folder) as entries:
        found = list(entries)
    yield os.stat(folder).st_ino, found
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path)


def _hear(event, args):
    """Look, as an audit hook, at the effects of the earlier operations before the next one."""
    if _RECORDERS and (event in CHANGES or (event == "open" and _writes(args[2]))):
        _RECORDERS[-1].look()


def _writes(flags) -> bool:
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))


sys.addaudithook(_hear)  # an audit hook cannot be removed


@contextmanager
def recorded(home: Path, monkeypatch) -> Iterator[Recorder]:
    """Record what this process does below a folder while the block runs."""
    recorder, write, fsync = Recorder(home), os.write, os.fsync

    def writing(file, data):
        done = write(file, data)
        recorder.look()
        return done

    def syncing(file):
        fsync(file)
        recorder.look(os.fstat(file).st_ino)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", writing)
        patch.setattr(os, "fsync", syncing)
        _RECORDERS.append(recorder)
        try:
            yield recorder
        finally:
            _RECORDERS.remove(recorder)
            recorder.look()


class Failure:
    """A power failure after a number of steps, of a kind `how` of HOWS."""

    def __init__(self, recorder: Recorder, step: int, how: str, rng: random.Random):
        self.name = f"{how} after step {step} of {len(recorder.steps)}"
        self._recorder, self.how, self._rng = recorder, how, rng

        self._names: dict[Key, dict[str, Key | None]] = {}
        self._data: dict[Key, tuple[bytes, bytes]] = {}  # (synced bytes, last bytes)
        self._last: dict[Key, int] = {}
        self._replay(step)

    def _replay(self, step):
        steps = self._recorder.steps[:step]
        start = self._recorder.start
        synced = {one.what: i for i, one in enumerate(steps) if isinstance(one, Sync)}
        for i, one in enumerate(steps):
            if isinstance(one, Names):
                if i < start or i < synced.get(one.folder, -1) or self._keeps():
                    self._names.setdefault(one.folder, {}).update(one.entries)
            elif isinstance(one, Data):
                on_disk = one.data if i < start else self._data.get(one.file, (b"",))[0]
                self._data[one.file] = on_disk, one.data
            elif one.what in self._data:
                self._data[one.what] = (self._data[one.what][1],) * 2

    def _keeps(self) -> bool:
        return self.how in ("empty", "torn", KILLED) or (self.how == "mixed" and self._rng.random() < 0.5)

    def _left(self, file) -> bytes:
        """Return the bytes of a file that the failure leaves."""
        old, new = self._data.get(file, (b"", b""))
        if old == new or self.how == "synced":
            return old
        if self.how == KILLED:
            return new
        grown = new.startswith(old)
        if self.how == "empty":
            return old if grown else b""
        at = self._rng.randrange(len(old) if grown else 0, len(new) + 1)
        return self._rng.choice([old, new, new[:at], new[:at] + bytes(len(new) - at)])

    def leave(self, home: Path) -> None:
        """Make a folder as it is found when the power is back."""
        root = next(iter(self._recorder.folders))
        self._make(root, home)

    def _make(self, folder, path):
        path.mkdir()
        for name, key in self._names.get(folder, {}).items():
            if key in self._recorder.links:
                (path / name).symlink_to(self._recorder.links[key])
            elif key in self._recorder.folders:
                self._make(key, path / name)
            elif key is not None:
                (path / name).write_bytes(self._left(key))


def kills(recorder: Recorder) -> Iterator[Failure]:
    """Yield a kill of the process after each step."""
    for step in range(recorder.start, len(recorder.steps) + 1):
        yield Failure(recorder, step, KILLED, random.Random(1))


def failures(recorder: Recorder, seed: int, count: int) -> Iterator[Failure]:
    """Yield failures of every kind by turns, half of them at any step and half in the first tenth of the run."""
    rng = random.Random(seed)
    first, last = recorder.start, len(recorder.steps)
    for i in range(count):
        end = last if i // len(HOWS) % 2 else max(first + 10, first + (last - first) // 10)
        yield Failure(recorder, rng.randint(first, min(end, last)), HOWS[i % len(HOWS)], rng)


def published(folder: Path) -> dict[str, bytes]:
    """All that must be the same, and that there is nothing half done beside it."""
    found = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    assert not [name for name in found if any(HALF.fullmatch(part) for part in name.parts)]
    return {str(name): path.read_bytes() for name, path in found.items() if name.parts[0] not in VARIES}
