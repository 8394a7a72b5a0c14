"""Legends below a figure: series that differ in one number alone share an entry."""

from collections.abc import Mapping

from matplotlib.legend_handler import HandlerTuple

from tcdp_sim.report.looks import Style
from tcdp_sim.report.plots import line_key

ROW = 0.19  # inches
EM = 8 / 72  # inches: the size of a legend's letters
LENGTH, MORE = 4.2, 0.8  # of one sample, and what another one adds, in ems
LETTER, GAP = 0.52, 3.0  # the width of a letter, the space around an entry, in ems
MOST_SAMPLES = 4  # of an entry


def legend_below(figure, entries: Mapping[str, Style], columns: int) -> None:
    """A legend of (label -> style) below the figure, which grows by it; columns: entries beside each other, at most.

    Labels that end in " = " and a value and are alike before it are one entry, with a sample for each: "omega = 1 | 2".
    """
    groups = grouped(entries)
    length = LENGTH + MORE * (max(map(len, groups.values()), default=1) - 1)
    widest = EM * (length + GAP + LETTER * max(map(len, groups), default=0))
    columns = max(1, min(columns, int(figure.get_figwidth() / widest)))
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
    """Label of an entry -> the styles of its samples, up to MOST_SAMPLES, in order of appearance."""
    alike: dict[str, list[tuple[str, Style]]] = {}
    for label, style in entries.items():
        name, equals, value = label.rpartition(" = ")
        alike.setdefault(name + equals if equals else label, []).append((value if equals else "", style))
    found = {}
    for name, samples in alike.items():
        for some in _batched(samples, MOST_SAMPLES):
            found[name + " | ".join(value for value, _ in some)] = [style for _, style in some]
    return found


def _batched(items, size):
    """Lists of up to `size` items, one after the other."""
    return [items[start : start + size] for start in range(0, len(items), size)]
