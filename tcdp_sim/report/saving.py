"""The saving of figures: in this process, or in two processes at a time.

A figure of four panels takes 1.5 s to lay out and to write as PDF and PNG. With two processes the user waits little
more than half as long.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import TracebackType
from typing import Any

from matplotlib.figure import Figure

from tcdp_sim.core import safe_path
from tcdp_sim.core.figure_options import FORMATS, PLAIN
from tcdp_sim.core.texts import write_csv
from tcdp_sim.report.plots import literal, style

Saved = tuple[str, Figure, Any]  # name, figure and table of its numbers
SaveAll = Callable[[Iterable[Saved], Path, Iterable[str], str], list[Path]]
DENSE = 600  # dots per inch of TIFF, which journals want for lines
HOW: dict[str, dict[str, Any]] = {  # format -> how matplotlib saves it, without the time
    "pdf": {"metadata": {"CreationDate": None}},
    "svg": {"metadata": {"Date": None}},
    "tiff": {"dpi": DENSE, "pil_kwargs": {"compression": "tiff_lzw"}},
}
MOST_WAITING = 2  # figures that wait for the second process; this process saves the next one itself


def save_all(
    figures: Iterable[Saved], folder: Path, chosen: Iterable[str] = (), kind: str = PLAIN.format
) -> list[Path]:
    """Save each (name, figure, table) as name.png, name.csv and in a second format; return the paths of the PNGs.

    `chosen` holds names that the user chose, which are drawn literally wherever they stand, including `$`. `kind` is
    one of the FORMATS of `core.figure_options`. Files in other formats are removed, because they are of older figures.
    """
    return [_saved(figure, path, kind) for figure, path in _prepared(figures, folder, chosen)]


class SecondProcess:
    """A context manager with a second process, whose `save_all` does the same as the function of that name.

    Figures that cannot be sent to it are saved here. Start it where signals are held, so that it stays deaf to Ctrl-C.
    """

    def __init__(self) -> None:
        self._pool = ProcessPoolExecutor(1, get_context("spawn"))
        with safe_path.started():
            self._pool.submit(_load)  # a process starts with its first task

    def save_all(
        self, figures: Iterable[Saved], folder: Path, chosen: Iterable[str] = (), kind: str = PLAIN.format
    ) -> list[Path]:
        """Save figures as the function `save_all` does. Raises OSError."""
        waiting, paths = _Waiting(self._pool, kind), []
        for figure, path in _prepared(figures, folder, chosen):
            paths.append(path)
            waiting.add(figure, path)
            if one := waiting.newest(MOST_WAITING):
                _saved(*one, kind)
        while one := waiting.newest():  # there is nothing more to make meanwhile
            _saved(*one, kind)
        for figure, path in waiting.lost():
            _saved(figure, path, kind)
        return paths

    def __enter__(self) -> "SecondProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)


class _Waiting:
    """Figures that wait to be saved. The second process takes the oldest one as soon as it is idle."""

    def __init__(self, pool: ProcessPoolExecutor, kind: str) -> None:
        self._pool = pool
        self._kind = kind
        self._lock = threading.RLock()  # the pool calls `_send` in a thread of its own
        self._figures: deque[tuple[Figure, Path]] = deque()
        self._sent: list[tuple[Figure, Path, Future[Path]]] = []

    def add(self, figure: Figure, path: Path) -> None:
        """Add a figure. A single one waits for the next, because this process saves the last one itself."""
        with self._lock:
            self._figures.append((figure, path))
            if len(self._figures) > 1:
                self._send()

    def newest(self, most: int = 0) -> tuple[Figure, Path] | None:
        """Remove and return the newest figure if more than `most` wait, else return None."""
        with self._lock:
            return self._figures.pop() if len(self._figures) > most else None

    def lost(self) -> Iterator[tuple[Figure, Path]]:
        """Wait for the second process, and yield the figures that it could not save. Raises OSError."""
        for figure, path, future in self._sent:
            if not _arrived(future):
                yield figure, path

    def _send(self) -> None:
        """Send the oldest figure to the second process if that is idle."""
        with self._lock:
            if not self._figures or any(not future.done() for *_, future in self._sent):
                return
            try:
                future = self._pool.submit(_saved, *self._figures[0], self._kind)
            except RuntimeError:  # the process is lost, or this one ends
                return
            self._sent.append((*self._figures.popleft(), future))
        future.add_done_callback(lambda _: self._send())


def _prepared(figures: Iterable[Saved], folder: Path, chosen: Iterable[str]) -> Iterable[tuple[Figure, Path]]:
    """Write the tables, and yield the figures and the paths of their PNGs."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure, table in figures:
        write_csv(table, folder / f"{name}.csv")
        literal(figure, chosen)
        yield figure, folder / f"{name}.png"


def _saved(figure: Figure, path: Path, kind: str) -> Path:
    """Write a figure as PNG and in a second format, and return the path of the PNG."""
    with style():
        figure.draw_without_rendering()
        figure.set_layout_engine(None)  # laid out once for both files; "none" would draw everything twice for each
        if kind in HOW:
            figure.savefig(_with_ending(path, kind), **HOW[kind])
        figure.savefig(path)
    for other in FORMATS:
        if other not in (kind, "png"):
            _with_ending(path, other).unlink(missing_ok=True)
    return path


def _with_ending(path: Path, kind: str) -> Path:
    """Return the path of a PNG with another ending. A name may have dots."""
    return path.with_name(f"{path.name.removesuffix('.png')}.{kind}")


def _arrived(future: "Future[Path]") -> bool:
    """Return False if a figure could not be sent or its process was lost. Raises OSError if it cannot be written."""
    try:
        future.result()
    except OSError:
        raise
    except Exception:  # what cannot be pickled raises anything
        return False
    return True


def _load() -> None:
    """Begin the second process, and import the modules that saving needs."""
    safe_path.begin()
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_pdf  # noqa: F401
