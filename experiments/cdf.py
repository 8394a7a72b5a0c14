"""The prefix sums of a histogram by factorisation mechanisms: simulated and exact errors, and a lower bound."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tcdp_sim.experiments import losses
from tcdp_sim.mechanisms.cdf import LEVEL, Cdf
from tcdp_sim.ordered.prefix_sums import least_root_mean_square
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import Series, line_of, marks_of, noise_styles
from tcdp_sim.report.plots import GREY, captioned, headed, line_key, new_figure, note, plain_log_axis, points
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns

SQUARE = columns.mean("mean_square_error")
EXCEEDS = columns.exceeds("largest_error", "bound")
LABELS = ("method", "noise", "rho", "omega_sqrt_rho", "omega", "delta", "neighbours", "k", "guarantee", "trials")
LIMIT = {"color": GREY, "linewidth": 0.9}
NAMES = {
    "each_bin": "noise in each bin",
    "each_prefix": "noise in each prefix sum",
    "square_root": "square-root factorisation",
    "weighted_square_root": "weighted square root",
    "optimal": "optimal factorisation",
}
KINDS = {"tree": "{}-ary tree", "least_squares": "{}-ary tree, least squares", "weighted": "{}-ary tree, weighted"}


def _mean_square(mechanism: Cdf) -> float:
    return mechanism.variance * float(mechanism.factorisation.variances().mean())


def _claim(mechanism: Cdf) -> float:
    return 1 - LEVEL if mechanism.thresholds else np.nan


EXACT = {SQUARE: _mean_square, **losses.EXACT}
SURVIVAL, DELTA, PROMISED = losses.SURVIVAL, losses.DELTA, losses.PROMISED
BOUND = {EXCEEDS: _claim}
_DEPENDENT = "the errors of the prefix sums depend on each other, and no routine here has the law of"
UNKNOWN = {
    columns.mean("largest_error"): f"{_DEPENDENT} the largest one",
    columns.quantile("largest_error"): f"{_DEPENDENT} the largest one; largest_error_bound is a radius for all of them",
    columns.quantile("mean_square_error"): f"{_DEPENDENT} the mean of their squares",
    **losses.UNKNOWN,
}


def rows(cell: Cell) -> Row:
    """Return one row: root mean square error and 95% quantile of the largest error, in counts.

    - `root_mean_square`: simulated, with `_mcse`, `_lower`, `_upper` and `_exact`.
    - `root_mean_square_limit`: a lower bound for every factorisation with Gaussian noise and this guarantee. It is NaN
      for other noise.
    - `largest_error_q95`: simulated, with its interval and `largest_error_bound`, a radius that is proved to hold all
      errors with probability 95%.
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
    row["root_mean_square_skewness"] = numbers.get("square" + columns.SKEWNESS, np.nan)
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
    """Draw errors against k for each neighbouring relation, and errors of other noises in units of Gaussian errors."""
    gaussian = table[table["root_mean_square_limit"].notna()]
    others = _beside_gaussian(table, gaussian)
    if len(others):
        yield "noises", captioned(_noises_figure(others), others, "errors in counts"), others
    table = gaussian if len(gaussian) else table
    named = table.assign(series=[_label(row, table) for row in table.to_dict("records")])
    styles = noise_styles(
        Series(row["series"], algorithm=row["method"], variant=row["noise_label"])
        for row in named.drop_duplicates("series").to_dict("records")
    )
    for (relation, rho), part in named.groupby(["neighbours", "rho"], sort=False):
        name = f"errors_{str(relation).replace('-', '_')}" + (f"_rho_{rho:g}" if table["rho"].nunique() > 1 else "")
        yield name, captioned(_figure(part, styles), part, "errors in counts"), part.drop(columns="series")


def _figure(part, styles):
    figure, grid = new_figure(1, 3, 11.4, 4.0)
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
        "no factorisation with Gaussian noise is below": LIMIT,
    }
    legend_below(figure, keys, 3)
    note(figure, "kind", "lines: exact, on the right a proved radius; markers: simulated, 95% interval")
    headed(figure, _finding(part))
    return figure


def _beside_gaussian(table, gaussian):
    """Return the rows with other noise that have a row with Gaussian noise at the same point, as ratios to it."""
    same = ["method", "rho", "neighbours", "k"]
    numbers = ("root_mean_square", "root_mean_square_exact", "largest_error_q95")
    known = gaussian.drop_duplicates(same).set_index(same)[
        [*numbers, "largest_error_q95_lower", "largest_error_q95_upper"]
    ]
    others = table[table["root_mean_square_limit"].isna()]
    found = others.join(known.add_suffix("_gaussian"), on=same, how="inner")
    for name in numbers:
        found[f"{name}_ratio"] = found[name] / found[f"{name}_gaussian"]
    half = [
        (found[f"largest_error_q95_upper{end}"] - found[f"largest_error_q95_lower{end}"])
        / (2 * found[f"largest_error_q95{end}"])
        for end in ("", "_gaussian")
    ]
    return found.assign(largest_error_q95_ratio_half=np.hypot(*half) * found["largest_error_q95_ratio"])


def _noises_figure(part):
    figure, grid = new_figure(1, 2, 9.6, 4.0, sharey=True)
    methods = list(dict.fromkeys(part["method"]))
    part = part.assign(series=[f"{row['noise_label']}, {_scaled_omega(row)}" for row in part.to_dict("records")])
    styles = noise_styles(
        Series(row["series"], row["noise"], row["noise_family"], row["noise_calibration"], _scaled_omega(row))
        for row in part.drop_duplicates("series").to_dict("records")
    )
    for number, (label, cells) in enumerate(part.groupby("series", sort=False)):
        place = [methods.index(method) + 0.13 * (number - 1.5) for method in cells["method"]]
        marks = marks_of(styles[label])
        ratio = cells["root_mean_square_exact_ratio"]
        points(grid[0][0], place, ratio, ratio, ratio, **marks)
        largest, half = cells["largest_error_q95_ratio"], cells["largest_error_q95_ratio_half"]
        points(grid[0][1], place, largest, largest - half, largest + half, **marks)
    for axes, title in zip(grid[0], ("root mean square error (exact)", "largest error, 95% quantile (simulated)")):
        axes.axhline(1.0, **LIMIT)
        axes.set_xticks(range(len(methods)), [_short(method) for method in methods])
        axes.set(title=title)
    grid[0][0].set_ylabel("error over that of Gaussian noise")
    keys = {label: styles[label] | {"linestyle": "none"} for label in part["series"].unique()}
    figure.legend([line_key(**style) for style in keys.values()], [*keys], loc="outside lower center", ncols=2)
    least = part["root_mean_square_exact_ratio"].min()
    note(figure, "kind", "bars: 95% intervals")
    best = "No noise here beats" if least >= 1 else f"Other noise has at best {least:.3f} times the error of"
    headed(figure, f"{best} Gaussian noise on prefix sums of k = {part['k'].iloc[0]:,} bins at equal ρ")
    return figure


def _scaled_omega(row) -> str:
    return f"ω√ρ = {row['omega'] * np.sqrt(row['rho']):.3g}"


def _short(method) -> str:
    """Return a name for a tick of an axis, on two lines."""
    return _named(method).replace(", ", "\n").replace(" factorisation", "").replace(" square root", "\nsquare root")


def _finding(part) -> str:
    """Return the title: the best method at the largest k."""
    last = part[part["k"] == part["k"].max()]
    best = last.loc[last["root_mean_square_exact"].idxmin()]
    over = best["root_mean_square_exact"] / best["root_mean_square_limit"]
    distance = "" if np.isnan(over) else f", {over - 1:.0%} above the lower bound"
    return f"The least error of prefix sums of k = {best['k']:,} bins is that of {best['series']}{distance}"


def _label(row, table) -> str:
    """Return the name of a method, with its noise if there are several."""
    name = _named(row["method"])
    return name if table["noise"].nunique() == 1 else f"{name}, {row['noise_label']}"


def _named(method) -> str:
    """Return the name of a method for the reader."""
    if method in NAMES:
        return NAMES[method]
    kind, _, branching = method.rpartition("_")
    return KINDS[kind].format({"2": "bin"}.get(branching, f"{branching}-")).replace("--", "-").replace("bin-", "bin")
