"""The result of a sweep as a notebook shows it: its axes, its numbers with their errors, and how to go on.

The result stays an xarray.Dataset. A subclass would survive `sel` and arithmetic, whose results are no sweeps, and
would differ from the Dataset of `open_results`. So IPython is told how to show this one object, and xarray shows all
others.
"""

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from markupsafe import Markup

from tcdp_sim.core.texts import printable, shortened, show
from tcdp_sim.mechanisms.functions.failed_trials import ERRORS, MEANINGS, MISSING, NUMBERS, WARNED
from tcdp_sim.report import html, notebooks, numbers
from tcdp_sim.store import columns

ROWS = 10  # cells that are shown
VALUES = 8  # values of an axis
MOST_NUMBERS = 6
LONGEST = 200  # characters of a text
NOTATION = "0.5082(50) is 0.5082 with a standard error of 0.0050."

_known: "dict[int, Ran]" = {}  # of each Dataset that `sweep` has returned and that still exists, by its id()


@dataclass(frozen=True)
class Ran:
    """The sweep of a result.

    - title: the name of the function.
    - axes: the names of its axes.
    - cells: the number of cells.
    - seconds: the time taken.
    - contradictions: the number of numbers that differ from exact ones beyond chance.
    - compared: a line about all comparisons, "" without any.
    - further: a line that says how to get more trials.
    """

    title: str
    axes: Sequence[str]
    cells: int
    seconds: float
    contradictions: int
    compared: str
    further: str


def remember(found: xr.Dataset, ran: Ran) -> None:
    """Let a notebook show this result as a short table, if IPython is running; do nothing otherwise."""
    shell = notebooks.shell()
    if shell is None:
        return
    formatter = shell.display_formatter.formatters["text/html"]
    before = formatter.for_type(xr.Dataset)
    if not isinstance(before, _Shown):
        formatter.for_type(xr.Dataset, _Shown(before))
    _known[id(found)] = ran
    weakref.finalize(found, _known.pop, id(found), None).atexit = False


@dataclass(frozen=True)
class _Shown:
    """The HTML of any Dataset. `before` is what the user's own session has declared for it, None for nothing."""

    before: Any

    def __call__(self, data: xr.Dataset) -> str | None:
        ran = _known.get(id(data))
        usual = self.before(data) if self.before else data._repr_html_()
        return short(data, ran, usual or "") if ran and _is_whole(data, ran) else usual


def _is_whole(data: xr.Dataset, ran: Ran) -> bool:
    """Return True unless the user has removed or renamed what the table shows."""
    return all(name in data.variables for name in ("trials", *ran.axes)) and bool(_numbers(data))


def _numbers(data: xr.Dataset) -> list[str]:
    """Return the names of the means and probabilities, without those of failed trials."""
    return [
        str(name)
        for name in data.data_vars
        if f"{name}{columns.MCSE}" in data and "quantile" not in data[name].dims and name not in MEANINGS
    ]


def short(data: xr.Dataset, ran: Ran, full: str = "") -> str:
    """Return the HTML of a result; `full` is the HTML behind the click that shows all variables."""
    trials = data["trials"].values.ravel()
    cells = np.flatnonzero(np.nan_to_num(trials) > 0)  # a grid may have places without a cell
    table = dict(_columns(data, ran, cells[:ROWS]))
    rows = [[_cut(entry) for entry in row] for row in zip(*table.values())]
    return html.page(
        "sweep.html",
        title=f"{ran.title}: {_counted(ran.cells, 'cell')}, {_trials(trials[cells])}, {ran.seconds:.3g} s",
        alarms=[_cut(ran.compared.splitlines()[0])] if ran.contradictions else [],
        axes=[f"{_cut(axis)}: {_values(data[axis].values)}" for axis in ran.axes],
        columns=[*map(_cut, table)],
        rows=rows,
        lines=[_cut(line) for line in _lines(data, ran, cells)],
        full=Markup(full),
    )


def _trials(trials: np.ndarray) -> str:
    """Return the number of trials in words."""
    least, most = (int(trials.min()), int(trials.max())) if len(trials) else (0, 0)
    return f"{_counted(least, 'trial')} each" if least == most else f"{least:,} to {most:,} trials each"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _values(values: np.ndarray) -> str:
    """Return the values of an axis, the first ones and the last one of many."""
    distinct = list(dict.fromkeys(values.ravel().tolist()))
    texts = [_cut(show(value)) for value in distinct]
    if len(texts) <= VALUES:
        return ", ".join(texts)
    return f"{', '.join(texts[: VALUES - 2])}, ..., {texts[-1]} ({len(texts):,} values)"


def _columns(data: xr.Dataset, ran: Ran, cells: np.ndarray) -> Iterator[tuple[str, list[str]]]:
    """Yield the columns of the table with their headings."""
    for axis in ran.axes:
        yield axis, [show(value) for value in _at(data, axis, cells)]
    trials = data["trials"].values
    if len(np.unique(trials[np.nan_to_num(trials) > 0])) > 1:
        yield "trials", [f"{int(value):,}" for value in _at(data, "trials", cells)]
    for name in (ERRORS, *(each for each in (NUMBERS[WARNED], NUMBERS[MISSING]) if each in data and data[each].any())):
        if name in data:
            yield name, [f"{int(value):,}" for value in _at(data, name, cells)]
    for name in _numbers(data)[:MOST_NUMBERS]:
        unit = data[name].attrs.get("units", "1")
        pairs = zip(_at(data, name, cells), _at(data, name + columns.MCSE, cells))
        yield name if unit == "1" else f"{name} ({unit})", [numbers.with_error(*pair) for pair in pairs]
        for ending, what in ((columns.EXACT, "exact"), (columns.BOUND, "bound")):
            if name + ending in data:
                values = _at(data, name + ending, cells)
                yield f"{name}, {what}", ["" if np.isnan(value) else f"{value:.6g}" for value in values]


def _at(data: xr.Dataset, name: str, cells: np.ndarray) -> list[Any]:
    """Return the values of a variable at some places of the grid."""
    whole = data["trials"]
    return xr.broadcast(data[name], whole)[0].transpose(*whole.dims).values.ravel()[cells].tolist()


def _lines(data: xr.Dataset, ran: Ran, cells: np.ndarray) -> Iterator[str]:
    """Yield the lines below the table."""
    if len(cells) > ROWS:
        yield f"The first {ROWS} of {ran.cells:,} cells."
    if others := _numbers(data)[MOST_NUMBERS:]:
        yield f"{len(others)} more numbers: {', '.join(others)}."
    yield NOTATION
    if ran.compared and not ran.contradictions:
        yield ran.compared.splitlines()[0]
    if ERRORS in data:
        failed = np.nan_to_num(data[ERRORS].values.ravel())
        total = np.nan_to_num(data["trials"].values.ravel()).sum()
        where = f"{np.count_nonzero(failed):,} of {ran.cells:,} cells"
        what = "were drawn again" if NUMBERS[MISSING] in data else "are in no mean"
        yield f"{int(failed.sum()):,} of {int(total):,} trials failed, in {where}. They {what}."
    if ran.cells > len(cells):
        lost = f"{ran.cells - len(cells):,} of {ran.cells:,} cells"
        yield f"{lost} have no numbers, because the function raised an error."
    yield ran.further


def _cut(text: object) -> str:
    return shortened(printable(str(text)), LONGEST)
