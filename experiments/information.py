"""The information of a private release about n equal records: simulated, exact, and the most that is allowed."""

from collections.abc import Iterator
from math import isnan

import numpy as np
import pandas as pd

from tcdp_sim import exact
from tcdp_sim.bounds.lower import information as most_information
from tcdp_sim.mechanisms.information import Information
from tcdp_sim.report.labels import short
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import Series, line_of, marks_of, noise_styles, of_omega
from tcdp_sim.report.plots import GREY, captioned, headed, new_figure, points
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns

QUANTITY = columns.mean("information")
LABELS = ("noise", "rho", "omega_sqrt_rho", "omega", "delta", "n", "k", "guarantee", "noise_law", "trials")
MOST_PANELS = 4
RESOLVED = 1e-5  # nats; a smaller standard error depends on rare trials, and a run may contain none of them
ALLOWED = {"linestyle": (0, (5, 2)), "linewidth": 0.9}
ENTROPY = {"color": GREY, "linestyle": ":", "linewidth": 1.2}
KEYS = {
    "lines join exact values": {"color": GREY},
    "markers: simulated, 95% interval": {"color": GREY, "marker": "o", "linestyle": "none"},
    "the most that the guarantee allows any mechanism": ALLOWED | {"color": GREY},
    "all there is to know, log k (one count: log 2)": ENTROPY,
}


def _exact_information(mechanism: Information) -> float:
    if mechanism.k == 1:
        return exact.mutual_information(mechanism.noise, [0.0, mechanism.n]).estimate
    return exact.histogram_information(mechanism.noise, mechanism.n, mechanism.k).estimate


def _allowed_information(mechanism: Information) -> float:
    return float(most_information(mechanism.guarantee, mechanism.n))


EXACT = {QUANTITY: _exact_information}
BOUND = {QUANTITY: _allowed_information}
UNKNOWN = {columns.quantile("information"): "the law of the information that a single release gives is not computed"}


def rows(cell: Cell) -> Row:
    """Return one row: `information` in nats, simulated with MCSE and 95% interval, with `_exact` and `_bound`.

    - `information_bound`: the most information that any mechanism with the guarantee could give about n records. It is
      NaN under (epsilon, delta)-DP, where no bound is known.
    - `entropy`: all the information that there is: log k, or log 2 for one count.
    """
    mechanism = cell.mechanism
    row = cell.only(*LABELS) | {"n": mechanism.n, "k": mechanism.k, "entropy": float(np.log(max(mechanism.k, 2)))}
    row |= dict(zip((f"information{end}" for end in columns.INTERVAL), cell.mean("information")))
    row |= cell.numbers(QUANTITY, "information", endings=(columns.EXACT, columns.BOUND))
    return row | {"information_skewness": cell.skewness("information")} | cell.noise


def report(table: pd.DataFrame, console) -> None:
    """Print a digest, and how well simulation and exact values agree over all cells."""
    headings = ("noise", "n", "simulated", "± MCSE", "exact", "allowed")
    for (rho, k), part in table.groupby(["rho", "k"], sort=False):
        levels = np.sort(part["n"].unique())
        part = part[part["n"].isin(levels[np.unique(np.linspace(0, len(levels) - 1, 3).astype(int))])]
        rows = map(_terminal_row, part.sort_values("n", kind="stable").to_dict("records"))
        title = f"{_release(k)}, ρ = {rho:.3g}: what it says about n equal records (nats)"
        console.print(terminal_table(title, headings, rows), soft_wrap=False)
    console.print(f"{len(table)} cells in all: see the CSV files beside the figures.")
    random = table[~(table["information_mcse"] < RESOLVED)]  # elsewhere nearly every trial reveals everything
    console.print(agreement("information", *(random["information" + end] for end in columns.WITH_EXACT)))


def _terminal_row(row) -> list[str]:
    allowed = row["information_bound"]
    texts = [f"{row['information']:.4f}", f"{row['information_mcse']:.0e}", f"{row['information_exact']:.4f}"]
    return [_label(row), f"{row['n']:.0f}", *texts, "" if isnan(allowed) else f"{allowed:.3g}"]


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw the information against n, with a panel for each k and a figure for each rho."""
    named = table.assign(series=[_label(row) for row in table.to_dict("records")])
    styles = noise_styles(_series_of(row) for row in named.to_dict("records"))
    for rho, part in named.groupby("rho", sort=True):
        name = "information_vs_n" + (f"_rho_{rho:g}" if named["rho"].nunique() > 1 else "")
        yield name, captioned(_figure(part, styles), part, "information in nats"), part.drop(columns="series")


def _figure(part, styles):
    sizes = sorted(part["k"].unique())[:MOST_PANELS]
    figure, grid = new_figure(1, len(sizes), max(4.2 * len(sizes), 6.4), 3.9)
    for axes, k in zip(grid[0], sizes):
        here = part[part["k"] == k]
        for label, cells in here.groupby("series", sort=False):
            _curve(axes, cells.sort_values("n"), styles[label])
        entropy = here["entropy"].iloc[0]
        axes.axhline(entropy, **ENTROPY)
        least = min(here["information_exact"].min(), here["information"].min())
        axes.set(xscale="log", yscale="log", ylim=(0.6 * least, 12 * entropy))
        axes.set(xlabel="number of equal records n", title=_release(k))
        ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if tick <= here["n"].max()]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xticks([], minor=True)
    grid[0, 0].set_ylabel("I(records; release) (nats)")
    keys = {label: styles[label] for label in part["series"].unique()} | KEYS
    legend_below(figure, keys, 2)
    headed(figure, _finding(part))
    return figure


def _finding(part) -> str:
    """Return the title: the share of the entropy that each release reveals at the largest n and k."""
    here = part[part["k"] == part["k"].max()]
    here = here[here["n"] == here["n"].max()]
    shares = here["information_exact"] / here["entropy"]
    few, most = (short(here["series"][place]) for place in (shares.idxmin(), shares.idxmax()))
    what = f"{here['n'].iloc[0]:g} equal records ({_release(here['k'].iloc[0])})"
    told = f"At ρ = {part['rho'].iloc[0]:g}, releases reveal {shares.min():.0%}"
    if few == most:
        return f"{told} of the entropy of {what}"
    return f"{told} ({few}) to {shares.max():.0%} ({most}) of the entropy of {what}"


def _curve(axes, cells, style):
    ends = (cells[f"information{end}"] for end in ("", columns.LOWER, columns.UPPER))
    points(axes, cells["n"], *ends, **marks_of(style))
    axes.plot(cells["n"], cells["information_exact"], **line_of(style))
    axes.plot(cells["n"], cells["information_bound"], **ALLOWED | {"color": style["color"]})


def _release(k) -> str:
    return "one count of a fair bit" if k == 1 else f"histogram of k = {k:,.0f} bins"


def _label(row) -> str:
    """Return the name of a series: its noise and its omega, if it has one."""
    return row["noise_label"] + of_omega(row)


def _series_of(row) -> Series:
    variant = row["series"].removeprefix(row["noise_label"])
    return Series(row["series"], row["noise"], row["noise_family"], row["noise_calibration"], variant)
