"""The prefix sums of a histogram by factorisation mechanisms: simulated, exact, and beside a lower bound."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tcdp_sim.mechanisms import Cdf
from tcdp_sim.mechanisms.cdf import LEVEL
from tcdp_sim.prefix_sums import least_root_mean_square
from tcdp_sim.report.looks import line_of, marks_of, series_styles
from tcdp_sim.report.plots import GREY, captioned, line_key, new_figure, plain_log_axis, points
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results import Cell, Row
from tcdp_sim.store import columns

SQUARE = columns.mean("mean_square_error")
EXCEEDS = columns.exceeds("largest_error", "bound")
LABELS = ("method", "noise", "rho", "omega_sqrt_rho", "omega", "delta", "neighbours", "k", "guarantee", "trials")
LIMIT = {"color": GREY, "linewidth": 0.9}
NAMES = {
    "each_bin": "noise in each bin",
    "each_prefix": "noise in each prefix sum",
    "square_root": "square-root factorisation",
    "optimal": "optimal factorisation",
}
KINDS = {"tree": "{}-ary tree", "least_squares": "{}-ary tree, least squares", "weighted": "{}-ary tree, weighted"}


def _mean_square(mechanism: Cdf) -> float:
    return mechanism.variance * float(mechanism.factorisation.variances().mean())


def _claim(mechanism: Cdf) -> float:
    return 1 - LEVEL if mechanism.thresholds else np.nan


EXACT = {SQUARE: _mean_square}
BOUND = {EXCEEDS: _claim}


def rows(cell: Cell) -> Row:
    """Return one row: root mean square error and 95% quantile of the largest error, in counts.

    - `root_mean_square`: simulated, with `_mcse`, `_lower`, `_upper`, beside `_exact`.
    - `root_mean_square_limit`: a lower bound for every factorisation with Gaussian noise and this guarantee. It is NaN
      for other noise.
    - `largest_error_q95`: simulated, with its interval, beside `largest_error_bound`, a radius that is proved to hold
      all errors with probability 95%.
    """
    mechanism = cell.mechanism
    factorisation = mechanism.factorisation
    row = cell.only(*LABELS) | {"neighbours": factorisation.relation, "k": factorisation.k}
    numbers = cell.numbers(SQUARE, "square", endings=columns.WITH_EXACT)
    mean = numbers["square"]
    row |= {
        f"root_mean_square{end}": float(np.sqrt(max(numbers[f"square{end}"], 0.0)))
        for end in ("", columns.LOWER, columns.UPPER, columns.EXACT)
    }
    row["root_mean_square_mcse"] = numbers["square" + columns.MCSE] / (2 * np.sqrt(mean))
    unit = np.sqrt(mechanism.variance) / factorisation.sensitivity if mechanism.noise.isotropic else np.nan
    row["root_mean_square_limit"] = unit * least_root_mean_square(factorisation.k, factorisation.relation)
    row |= cell.numbers(columns.quantile("largest_error"), "largest_error_q95", 0.95)
    row["largest_error_bound"] = mechanism.thresholds.get("largest_error", {}).get("bound", np.nan)
    if EXCEEDS in cell:
        row |= cell.numbers(EXCEEDS, "exceeds_bound", endings=("", columns.LOWER, columns.UPPER))
    return row | cell.noise


def report(table: pd.DataFrame, console) -> None:
    """Print the errors at the largest k, and how well simulated and exact values agree."""
    for relation, part in table.groupby("neighbours", sort=False):
        last = part[part["k"] == part["k"].max()].sort_values("root_mean_square_exact", kind="stable")
        title = f"k = {last['k'].iloc[0]:,} bins, neighbours {relation} (counts; ± MCSE)"
        headings = ("method", "noise", "RMS error", "exact", "over limit", "largest, 95%")
        console.print(terminal_table(title, headings, map(_terminal_row, last.to_dict("records"))), soft_wrap=False)
    console.print(f"{len(table)} cells in all: see the CSV files beside the figures.")
    ends = (table["root_mean_square" + end] for end in columns.WITH_EXACT)
    console.print(agreement("root mean square error", *ends))


def _terminal_row(row) -> list[str]:
    over = row["root_mean_square_exact"] / row["root_mean_square_limit"]
    error = f"{row['root_mean_square']:.4g} ± {row['root_mean_square_mcse']:.1g}"
    texts = [error, f"{row['root_mean_square_exact']:.4g}", "" if np.isnan(over) else f"{over:.3f}"]
    return [row["method"], row["noise_label"], *texts, f"{row['largest_error_q95']:.4g}"]


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw errors against k, a figure for each neighbouring relation."""
    named = table.assign(series=[_label(row, table) for row in table.to_dict("records")])
    styles = series_styles((label, "") for label in named["series"].unique())
    for (relation, rho), part in named.groupby(["neighbours", "rho"], sort=False):
        name = f"errors_{str(relation).replace('-', '_')}" + (f"_rho_{rho:g}" if table["rho"].nunique() > 1 else "")
        yield name, captioned(_figure(part, styles), part, "errors in counts"), part.drop(columns="series")


def _figure(part, styles):
    figure, grid = new_figure(1, 3, 12.6, 4.0)
    error, over, largest = grid[0]
    for label, cells in part.groupby("series", sort=False):
        cells, style = cells.sort_values("k"), styles[label]
        ends = [cells[f"root_mean_square{end}"] for end in ("", columns.LOWER, columns.UPPER)]
        points(error, cells["k"], *ends, **marks_of(style))
        error.plot(cells["k"], cells["root_mean_square_exact"], **line_of(style))
        points(over, cells["k"], *(end / cells["root_mean_square_limit"] for end in ends), **marks_of(style))
        over.plot(cells["k"], cells["root_mean_square_exact"] / cells["root_mean_square_limit"], **line_of(style))
        ends = (cells[f"largest_error_q95{end}"] for end in ("", columns.LOWER, columns.UPPER))
        points(largest, cells["k"], *ends, **marks_of(style))
        largest.plot(cells["k"], cells["largest_error_bound"], **line_of(style))
    limit = part.drop_duplicates("k").sort_values("k")
    error.plot(limit["k"], limit["root_mean_square_limit"], **LIMIT)
    over.axhline(1.0, **LIMIT)
    for axes in grid[0]:
        axes.set_xscale("log", base=2)
        axes.set_xlabel("number of bins k")
        plain_log_axis(axes)
    over.set_ylim(0.95, None)
    error.set(ylabel="counts", title="root mean square error over all prefix sums")
    over.set(ylabel="ratio", title="the same over its lower bound")
    largest.set(ylabel="counts", title="largest error, 95% quantile")
    keys = {label: styles[label] for label in part["series"].unique()}
    keys |= {
        "lines: exact; right: proved radius": {"color": GREY, "linestyle": "-", "linewidth": 1.6},
        "thin grey: no factorisation with Gaussian noise is below": LIMIT,
        "markers: simulated, 95% interval": {"color": GREY, "marker": "o", "linestyle": "none"},
    }
    figure.legend([line_key(**style) for style in keys.values()], [*keys], loc="outside lower center", ncols=3)
    figure.suptitle(_finding(part), fontsize=11)
    return figure


def _finding(part) -> str:
    """Return the title: the best method at the largest k."""
    last = part[part["k"] == part["k"].max()]
    best = last.loc[last["root_mean_square_exact"].idxmin()]
    over = best["root_mean_square_exact"] / best["root_mean_square_limit"]
    distance = "" if np.isnan(over) else f", {over - 1:.0%} above the lower bound"
    return f"Prefix sums of k = {best['k']:,} bins: least error by {best['series']}{distance}"


def _label(row, table) -> str:
    """Return the name of a method, with its noise if there are several."""
    kind, _, branching = row["method"].rpartition("_")
    name = NAMES.get(row["method"]) or KINDS[kind].format({"2": "bin"}.get(branching, f"{branching}-"))
    name = name.replace("--ary", "-ary").replace("bin-ary", "binary")
    return name if table["noise"].nunique() == 1 else f"{name}, {row['noise_label']}"
