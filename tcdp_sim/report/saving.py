"""The saving of figures: in this process, or in a second one beside it.

A figure of four panels takes 1.5 s to lay out and to write as PDF and PNG. A second process takes half of that off the
way of the user who waits.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from types import TracebackType
from typing import Any

from matplotlib.figure import Figure

from tcdp_sim.core.texts import write_csv
from tcdp_sim.report.plots import literal, style

Saved = tuple[str, Figure, Any]  # name, figure and table of its numbers
SaveAll = Callable[[Iterable[Saved], Path, Iterable[str]], list[Path]]
MOST_WAITING = 2  # figures of the second process; this process saves the next one itself


def save_all(figures: Iterable[Saved], folder: Path, chosen: Iterable[str] = ()) -> list[Path]:
    """Save each (name, figure, table) as name.png, name.pdf and name.csv; return the paths of the PNGs.

    `chosen` holds names that the user chose, which are drawn literally wherever they stand, including `$`.
    """
    return [_saved(figure, path) for figure, path in _prepared(figures, folder, chosen)]


class SecondProcess:
    """A context manager with a second process, whose `save_all` does what the function of that name does.

    Figures that cannot be sent to it are saved here. Start it where signals are held, so that it stays deaf to Ctrl-C.
    """

    def __init__(self) -> None:
        self._pool = ProcessPoolExecutor(1, get_context("spawn"))
        self._pool.submit(_load)  # a process starts with its first task

    def save_all(self, figures: Iterable[Saved], folder: Path, chosen: Iterable[str] = ()) -> list[Path]:
        """Save figures as the function `save_all` does. Raises OSError."""
        sent: list[tuple[Figure, Path, Future[Path]]] = []
        paths = []
        last: tuple[Figure, Path] | None = None
        for figure, path in _prepared(figures, folder, chosen):
            paths.append(path)
            if last:
                self._save(*last, sent)
            last = figure, path
        if last:  # there is nothing more to make meanwhile
            _saved(*last)
        for figure, path, future in sent:
            if not _arrived(future):
                _saved(figure, path)
        return paths

    def _save(self, figure: Figure, path: Path, sent: list[tuple[Figure, Path, "Future[Path]"]]) -> None:
        """Send a figure to the second process, or save it here if others wait there."""
        if sum(not future.done() for *_, future in sent) < MOST_WAITING:
            try:
                sent.append((figure, path, self._pool.submit(_saved, figure, path)))
                return
            except BrokenProcessPool:
                pass
        _saved(figure, path)

    def __enter__(self) -> "SecondProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)


def _prepared(figures: Iterable[Saved], folder: Path, chosen: Iterable[str]) -> Iterable[tuple[Figure, Path]]:
    """Write the tables, and yield the figures and the paths of their PNGs."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure, table in figures:
        write_csv(table, folder / f"{name}.csv")
        literal(figure, chosen)
        yield figure, folder / f"{name}.png"


def _saved(figure: Figure, path: Path) -> Path:
    """Write a figure as PNG and PDF, and return the path of the PNG."""
    with style():
        figure.draw_without_rendering()
        figure.set_layout_engine(None)  # laid out once for both files; "none" would draw everything twice for each
        figure.savefig(path.with_name(f"{path.stem}.pdf"), metadata={"CreationDate": None})
        figure.savefig(path)
    return path


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
    """Import what saving needs."""
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_pdf  # noqa: F401
