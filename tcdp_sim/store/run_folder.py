"""A run's folder: the journal of simulated chunks, and the zarr snapshot published from it.

    <results_dir>/<name>/
      run.json            what the stored numbers depend on besides the cells; another run is refused
      lock                held by the driver at work (lock.held on a file system without locks)
      journal/*.seg       the authoritative checksummed records of chunks (see journal.py)
      snapshots/<digest>  immutable zarr v3 trees, named by the digest of their bytes
      results.zarr        a link to the newest of them, switched by rename
      problems.csv        errors and warnings of the chunks of the latest run
      errors.csv          the first failed trials of a sweep that counts them
      certificate.json    hashes of the published results and their inputs
      published.json      inputs of the published results, so that they need not be published again
      drawn.json          inputs and files of the figures, so that current ones need not be drawn again
      plan.json           cells to simulate, so that the progress is told without planning the study again
      status.json         progress of the finished run, and the journal that it was told of
      finished.json       digests of all inputs and files, so that the same command sees that nothing is left to do
      calibrations.json   parameters of calibrated noises, so that they need not be searched for again
      contradictions.csv  simulated and exact numbers that differ beyond chance
      differences.csv     differences between cells that share random numbers
      diff.csv            differences that the latest `tcdp-sim diff` found

A snapshot is a function of the plan and the journal alone. The same command gives the same bytes, whatever else the
journal holds and however often the run was interrupted. Times and hosts are stored elsewhere.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.store import durable, journal, locks, snapshot
from tcdp_sim.store.digests import SNAPSHOTS
from tcdp_sim.store.index import Index
from tcdp_sim.store.journal import CHUNK, HEAD, PROBLEM, WORKER
from tcdp_sim.summaries import decoding
from tcdp_sim.summaries.encoding import assembled, from_bytes, parts_of, pooled
from tcdp_sim.summaries.many_summaries import Names, Summaries, together
from tcdp_sim.summaries.problems import ERROR, FAILED_TRIALS, OF_TRIALS, WARNING, Problem
from tcdp_sim.summaries.summary import Summary

if TYPE_CHECKING:
    import xarray as xr

    from tcdp_sim.study.planned import Planned
    from tcdp_sim.study.study import Study

TOGETHER, BYTES = 256, 1 << 20  # records that are read together, and their approximate bytes
PROVENANCE = "provenance.json"
IDENTITY = "identity"  # the key of a head with the content of run.json
# files that were about to be put in place
_SEALED = "provenance|plan|calibrations|certificate|published|drawn|status|finished"
HALF = re.compile(rf"\.(run|lock|{_SEALED}|results|link|writing)-.+")
# the files of a run without a record
BEGUN = {"run.json", "lock", "lock.held", "run.log", "provenance.json", "plan.json", "calibrations.json", "journal"}


class Run:
    """A run's folder, open for reading and appending. Raises OSError or UserError if it cannot be used."""

    label = ""  # the end of the names of the journal files that it writes

    def __init__(self, folder: Path, identity: Mapping[str, Any], replaces: bool = False):
        """Open the folder.

        If `replaces` is true, a run of another identity without any record gives way once `lock` is called.
        """
        self.folder = folder
        self.identity = dict(identity)
        self._replaces = replaces
        self.mended: list[str] = []
        self.warned: list[str] = []
        if not folder.is_dir():
            durable.make_folder(folder)
        self._read()
        if not (self._gives_way() and not self.locked()):
            self._claim(folder / "run.json")

    def again(self) -> "Run":
        """Return the same folder, read again."""
        return Run(self.folder, self.identity)

    def _read(self) -> None:
        """Read everything that the journal holds now."""
        self.damaged: Counter[str] = Counter()
        self.heads: list[Mapping[str, Any]] = []
        self._identities: list[Mapping[str, Any] | None] = []  # as stated in the heads
        self.problems: dict[Problem, None] = {}
        self._index = Index()
        self._reader = journal.Reader()
        self._segments = journal.segments(self.folder / "journal")
        for (path, offset), entry in decoding.entries(self._chunks(), self.identity.get("chunk")):
            self._enter(path, offset, entry)

    def _chunks(self) -> Iterator[tuple[tuple[Path, int], bytes]]:
        """Yield the place and the encoded summary of every chunk's record; other records are processed on the way."""
        for path, offset, payload in journal.read(self.folder / "journal", self._reads):
            if payload is None:
                self.damaged[path.name] += 1
            elif payload[:1] == HEAD:
                self._head(path, payload[1:])
            elif payload[:1] == CHUNK:
                yield (path, offset), payload[1:]
            elif payload[:1] == PROBLEM:
                self._note(path, payload[1:])

    def _reads(self, file: str) -> bool:
        """Return True if a journal file is to be read."""
        return True

    def has(self, cell: str, chunk: int) -> bool:
        """Return True if the chunk is done."""
        return (cell, chunk) in self._index

    def size(self, cell: str, chunks: int) -> int:
        """Return how many of the first `chunks` chunks of a cell this process answers for: all of them."""
        return chunks

    def writer(self, head: Mapping[str, Any]) -> "RunWriter":
        """Return a context manager that appends to the journal; `head` describes the writer (versions, host, time)."""
        return RunWriter(self, head)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other drivers out during the block. Raises UserError if one is at work.

        Records that others have written since the folder was opened are read first, or their chunks would be simulated
        again.
        """
        with locks.held(self.folder) as warning:
            durable.make_folder(self.folder)
            self._held = (self.folder / locks.LOCK).stat()
            if warning:
                self.warned.append(warning)
            if journal.segments(self.folder / "journal") != self._segments:
                self._read()
            self._sweep()
            if self._gives_way():
                self._begin_anew()
            self._claim(self.folder / "run.json")
            yield

    def need_place(self) -> None:
        """Raise UserError if the folder has been moved since `lock`, when writing would begin a second run."""
        try:
            if os.path.samestat(self._held, (self.folder / locks.LOCK).stat()):
                return
        except FileNotFoundError:
            pass
        moved = f"{self.folder} has been moved or replaced while its run was at work"
        raise UserError(
            f"{moved}; finished chunks are kept in the moved folder: move it back and run the command again"
        )

    def _gives_way(self) -> bool:
        """Return True if the folder belongs to another run that has no record and has published nothing."""
        there = readable(self.folder / "run.json") if self._replaces else None
        empty = not (self._index or self.damaged or (self.folder / "results.zarr").exists())
        return there is not None and empty and any(there.get(key) != self.identity[key] for key in self.identity)

    def _begin_anew(self) -> None:
        """Remove the files of a run without records. Call it only under the lock."""
        others = [self.folder / name for name in ("problems.csv", FAILED_TRIALS, PROVENANCE)]
        for path in [*(self.folder / "journal").glob("*.seg"), *others]:
            path.unlink(missing_ok=True)
        _write(self.folder / "run.json", self.identity)
        self._read()
        self.mended.append(f"{self.folder} belonged to another run without any record: this run takes its place")

    def locked(self) -> bool:
        """Return True if a driver is at work in the folder.

        The test writes nothing, so others may look at the same time.
        """
        return locks.busy(self.folder)

    def _sweep(self) -> None:
        """Remove temporary files of killed drivers. Call it only under the lock, since other drivers may be alive."""
        snapshots = self.folder / SNAPSHOTS
        for half in [*self.folder.iterdir(), *(snapshots.iterdir() if snapshots.is_dir() else ())]:
            if HALF.fullmatch(half.name):
                durable.remove(half)

    def record(self, cell: str, chunk: int) -> bytes:
        """Return the encoded summary of a finished chunk, as it was written. Raises UserError if it is damaged."""
        return self.records([(cell, chunk)])[0]

    def records(self, keys: Sequence[tuple[str, int]]) -> list[bytes]:
        """Return the encoded summaries of finished chunks, given by cell and chunk, as `record` does."""
        places = [self._index.where(cell, chunk) for cell, chunk in keys]
        found = []
        for (path, _), payload in zip(places, self._reader.several(places)):
            if payload is None:
                raise UserError(f"{path} was damaged while it was open; the same command simulates its chunks again")
            found.append(payload[1:])  # the first byte is the kind of record
        return found

    def each_record(self, keys: Iterable[tuple[str, int]]) -> Iterator[bytes]:
        """Yield `record` of each cell and chunk. Memory holds one record, or several that are small."""
        coming, count = iter(keys), 1
        while some := list(islice(coming, count)):
            records = self.records(some)
            yield from records
            count = max(1, min(TOGETHER, BYTES * len(records) // sum(map(len, records))))

    @property
    def done(self) -> list[tuple[str, int]]:
        """The cell id and the chunk of every finished chunk."""
        return list(self._index)

    def summary(self, cell: str, chunks: Sequence[int]) -> Summary:
        """Return the merged summary of these chunks of a cell, read from the journal."""
        records = self.each_record((cell, chunk) for chunk in chunks)
        return from_bytes(next(records)) if len(chunks) == 1 else pooled(records)

    def summaries(self, cells: Sequence[str], chunks: Sequence[range], names: Names | None) -> Summaries:
        """Return the summaries of cells over these chunks, None for a cell without chunks or that lacks one.

        A cell lacks a chunk also if that is one of a pilot, before the first of these.

        Cells of one chunk each come as arrays of all of them, if their trials are usual numbers with these names.
        Without names they come one by one.
        """
        if names and set(chunks) == {range(1)} and all((cell, 0) in self._index for cell in cells):
            parts = [parts_of(record) for record in self.records([(cell, 0) for cell in cells])]
            return together(parts, names) or [*map(assembled, parts)]
        whole = (own and all(self.has(cell, each) for each in range(own.stop)) for cell, own in zip(cells, chunks))
        each = zip(cells, chunks, whole)
        return [self.summary(cell, own) if is_whole else None for cell, own, is_whole in each]

    def publish(self, blocks: "Iterable[xr.Dataset]") -> Path:
        """Publish a snapshot, one block of rows at a time, and return `results.zarr`, the link that leads to it."""
        journal.sync(self.folder / "journal")
        return snapshot.publish(self.folder, blocks)

    def _claim(self, path) -> None:
        """Raise UserError unless the folder is ours.

        A run.json that contradicts the journal's heads is restored if they name this run, and refused otherwise.
        """
        known = [identity for identity in self._identities if identity is not None]
        if not known and not self._index and begun(path):
            if path.exists():
                self.mended.append(f"{path.name} was damaged and nothing was recorded yet: the run begins anew")
            with suppress(FileNotFoundError):  # another driver got the lock, removed our file and wrote its own
                _write(path, self.identity)
        try:
            _claim(path, self.identity)
        except UserError:
            if self.identity not in known or readable(path) in known:
                raise
            with suppress(OSError):  # a read-only run can still be read
                _write(path, self.identity)
            self.mended.append(f"{path.name} was damaged or lost; it is restored from the journal")
        if known and self.identity not in known:
            raise UserError(f"{path} is damaged: it contradicts the journal beside it; restore it")

    def _head(self, path, text) -> None:
        """Read a head, or count it as damaged."""
        try:
            head = dict(json.loads(text))
            self._identities.append(head.pop(IDENTITY, None))
            self.heads.append(head)
        except (ValueError, TypeError, RecursionError):
            self.damaged[path.name] += 1

    def _enter(self, path: Path, offset: int, entry: decoding.Entry | None) -> None:
        """Enter a record into the index; count it as damaged if it is no chunk of this run or does not fit its cell."""
        if entry is None or self._index.shape(entry.cell, entry.shape) != entry.shape:
            self.damaged[path.name] += 1
        elif (entry.cell, entry.chunk) not in self._index:
            self._index.enter(entry.cell, entry.chunk, path, offset, entry.shape)

    def fits(self, cell: str, summary: bytes) -> bool:
        """Return True if an encoded summary can be merged with the records of its cell.

        Only records that the journal had when it was read count.
        """
        known = self._index.shape(cell)
        return known is None or decoding.shape(from_bytes(summary)) == known

    def _note(self, path, text) -> None:
        """Read a problem, or count its record as damaged."""
        try:
            self.problems[_problem(json.loads(text))] = None
        except (ValueError, TypeError, RecursionError):
            self.damaged[path.name] += 1


class RunWriter:
    """A writer that appends finished chunks to a new journal file, which begins with a head."""

    def __init__(self, run: Run, head: Mapping[str, Any]):
        self._run = run
        self._writer = journal.Writer(run.folder / "journal", run.label)
        self._written = False
        self._worker = ""
        try:
            self._writer.begin(self._encoded(head))
        except OSError:
            with suppress(OSError):
                self._writer.close()
            raise

    def append(self, cell: str, chunk: int, summary: bytes) -> None:
        """Append a finished chunk. Raises UserError if it does not fit the earlier records of its cell."""
        self.extend([(cell, chunk, summary, ())])

    def note(self, problem: Problem) -> None:
        """Append an error or warning."""
        self.extend([(problem.cell, problem.chunk, None, (problem,))])

    def extend(self, chunks: Iterable[tuple[str, int, bytes | None, Sequence[Problem]]], worker: str = "") -> None:
        """Append chunks with few writes: cell, chunk, encoded summary (None after an error), and problems.

        A record with the name of the worker precedes its chunks, if the last ones were another's (see `dropping`).
        Problems precede their chunk, so that a stored chunk has all its warnings. Raises UserError as `append` does;
        the chunks before the one that does not fit are kept.
        """
        waiting: list[tuple[bytes, Problem | tuple[str, int] | None]] = []
        size = 0
        if worker != self._worker:
            waiting.append((WORKER + worker.encode(), None))
            self._worker = worker
        for cell, chunk, summary, problems in chunks:
            waiting += [(PROBLEM + json.dumps(asdict(one), sort_keys=True).encode(), one) for one in problems]
            if summary is not None:
                if not self._run.fits(cell, summary):
                    self._write(waiting)
                    raise UserError(self._misfit(cell, chunk))
                waiting.append((CHUNK + summary, (cell, chunk)))
                size += len(summary)
            if size > BYTES:
                self._write(waiting)
                waiting, size = [], 0
        self._write(waiting)

    def _misfit(self, cell: str, chunk: int) -> str:
        mismatch = f"chunk {chunk} of cell {cell[:16]} has other observables or thresholds than its stored chunks"
        return f"{mismatch}: {self._run.folder} holds records of something else; choose another name or results_dir"

    def _write(self, waiting: Sequence[tuple[bytes, Problem | tuple[str, int] | None]]) -> None:
        """Append records and enter them into the run."""
        if not waiting:
            return
        self._written = True
        offsets = self._writer.extend([payload for payload, _ in waiting])
        for offset, (_, about) in zip(offsets, waiting):
            if isinstance(about, Problem):
                self._run.problems[about] = None
            elif about is not None:
                self._run._index.enter(*about, self._writer.path, offset)

    def end(self, head: Mapping[str, Any]) -> None:
        """Append the final head, if anything was written."""
        if self._written:
            self._writer.append(self._encoded(head))
            self._run.heads.append(head)

    def _encoded(self, head) -> bytes:
        return HEAD + json.dumps({**head, IDENTITY: self._run.identity}, sort_keys=True).encode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._writer.close()


def _problem(entry: Mapping[str, Any]) -> Problem:
    """Return a problem of the journal. Raises TypeError or ValueError if it is invalid."""
    one = Problem(**entry)
    texts = (one.cell, one.kind, one.message, one.where)
    if not all(isinstance(text, str) for text in texts) or type(one.chunk) is not int:
        raise TypeError("a problem is told in words")
    if one.kind not in (ERROR, WARNING, *OF_TRIALS.values()):
        raise ValueError("a problem is an error, a failed trial or a warning")
    return one


def begun(path: Path) -> bool:
    """Return True if a folder holds nothing but the files of a run without a record, and no readable identity."""
    if readable(path) is not None:
        return False
    others = {other.name for other in path.parent.iterdir() if not HALF.fullmatch(other.name)}
    segments = (path.parent / "journal").glob("*") if "journal" in others else ()
    return others <= BEGUN and all(segment.suffix == ".seg" for segment in segments)


def written(identity: Mapping[str, Any]) -> str:
    """Return the content of run.json."""
    return json.dumps(identity, indent=1, sort_keys=True) + "\n"


def _claim(path: Path, identity: Mapping[str, Any]) -> None:
    """Raise UserError unless the folder holds this identity."""
    wanted = dict(identity)
    if path.exists():
        existing = _identity(path)
        differing = [key for key in wanted if existing.get(key) != wanted[key]]
        if differing:
            differences = ", ".join(f"{key} = {existing.get(key)!r} there, {wanted[key]!r} here" for key in differing)
            raise UserError(f"{path.parent} belongs to another run ({differences}); choose another name or results_dir")
        return
    raise UserError(f"{path.parent} is not empty and not a run's folder; choose another name or results_dir")


def _write(path: Path, identity: Mapping[str, Any]) -> None:
    """Write the identity, atomically."""
    durable.write(path, written(identity))


def readable(path: Path) -> Mapping[str, Any] | None:
    """Return the identity in a file, or None if it cannot be read."""
    try:
        return _identity(path)
    except (UserError, FileNotFoundError):
        return None


def _identity(path: Path) -> Mapping[str, Any]:
    """Return the identity in a file. Raises UserError if it is damaged."""
    try:
        identity = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        raise UserError(f"{path} is not JSON; restore it, or choose another name or results_dir") from None
    if not isinstance(identity, dict):
        raise UserError(f"{path} holds no keys and values; restore it, or choose another name or results_dir")
    return identity


def open_run(study: "Study | Planned", replaces: bool = True) -> Run:
    """Return the folder of a study's run, made if it is new. Raises UserError if it cannot be used.

    `replaces` has the meaning that it has for `Run`.
    """
    try:
        return Run(study.folder, study.identity, replaces)
    except OSError as problem:
        raise unusable(study, problem) from None


def unusable(study: "Study | Planned", problem: OSError) -> UserError:
    """Return the error for a folder that cannot be written or read."""
    message = f"the results folder {study.folder} cannot be written or read ({reason(problem)})"
    return UserError(f"{message}; choose another results_dir")


def is_started(study: "Study | Planned") -> bool:
    """Return True if the folder of a study holds a run. Raises UserError if it may not be looked into."""
    try:
        return (study.folder / "run.json").exists()
    except OSError as problem:
        raise unusable(study, problem) from None


def existing_run(study: "Study | Planned", replaces: bool = True) -> Run:
    """Return the folder of a run that has begun. Raises UserError if there is none."""
    if not is_started(study):
        raise UserError(f"{study.folder} holds no run; run its study first")
    return open_run(study, replaces)
