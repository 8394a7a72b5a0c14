"""Legends below a figure, in which series that differ only in one number share an entry."""

import re
from collections.abc import Mapping

from matplotlib.legend_handler import HandlerTuple

from tcdp_sim.report.looks import Style
from tcdp_sim.report.plots import LENGTH, ROW, columns_that_fit, line_key

MORE = 0.8  # ems: the addition to the length of a sample for another one
MOST_SAMPLES = 4  # samples in an entry
VALUE = re.compile(r"[^\s,]+( \([^)]*\))?")  # a value, such as "2" or "∞ (zCDP)"


def legend_below(figure, entries: Mapping[str, Style], columns: int) -> None:
    """Draw a legend below the figure, which grows by it, with at most `columns` entries side by side.

    Labels that end in " = " and a value, and are otherwise equal, share an entry with several samples: "omega = 1 | 2".
    """
    groups = grouped(entries)
    length = LENGTH + MORE * (max(map(len, groups.values()), default=1) - 1)
    columns = columns_that_fit([*groups], figure.get_figwidth(), columns, length)
    figure.set_figheight(figure.get_figheight() + ROW * -(-len(groups) // columns))
    figure.legend(
        [tuple(line_key(**style) for style in styles) for styles in groups.values()],
        [*groups],
        loc="outside lower center",
        ncols=columns,
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0.6)},
        handlelength=length,
    )


def grouped(entries: Mapping[str, Style]) -> dict[str, list[Style]]:
    """Return the styles of the samples of each entry, up to MOST_SAMPLES, in order of appearance."""
    alike: dict[str, list[tuple[str, Style]]] = {}
    for label, style in entries.items():
        name, equals, value = label.rpartition(" = ")
        if not equals or not VALUE.fullmatch(value):  # words after the value belong to the name
            name, equals, value = label, "", ""
        alike.setdefault(name + equals, []).append((value, style))
    found = {}
    for name, samples in alike.items():
        for some in _batched(samples, MOST_SAMPLES):
            found[name + " | ".join(value for value, _ in some)] = [style for _, style in some]
    return found


def _batched(items, size):
    """Return consecutive lists of up to `size` items."""
    return [items[start : start + size] for start in range(0, len(items), size)]
