"""Many private quantiles: errors of all methods at equal privacy, beside exact values, and the best method."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tcdp_sim.exact.quantiles import joint_mean_error, joint_success, recursive_mean_error, single_law
from tcdp_sim.mechanisms import Quantiles
from tcdp_sim.quantiles import Independent, Joint, Line, Recursive
from tcdp_sim.report.looks import COLOURS, MARKERS
from tcdp_sim.report.plots import GREY, captioned, headed, line_key, new_figure, plain_log_axis, points
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results import Cell, Row
from tcdp_sim.store import columns

MEAN = columns.mean("mean_rank_error")
SUCCESS = "success"
MOST_WORK = 5e6  # m n^2, up to which exact values of joint selections are computed
LABELS = ("method", "neighbours", "records", "m", "guarantee", "trials")
PRIVACY = ("rho", "omega", "epsilon", "delta")
NAMES = {
    "independent": "independent exponential mechanisms",
    "recursive": "AQ, recursive",
    "joint": "JointExp",
    "above_threshold": "above-threshold",
    "slices": "SliceQuantiles",
    "tree_search": "search in a deep noisy tree",
    "tree_2": "binary tree",
    "least_squares_2": "binary tree, least squares",
    "least_squares_16": "16-ary tree, least squares",
    "square_root": "square-root factorisation",
    "interior_points": "interior points",
}
SHORT = {
    "independent": "indep.",
    "recursive": "AQ",
    "joint": "Joint",
    "above_threshold": "above",
    "slices": "slices",
    "tree_search": "deep tree",
    "tree_2": "tree 2",
    "least_squares_2": "LS tree",
    "least_squares_16": "LS tree 16",
    "square_root": "sq. root",
    "interior_points": "interior",
}
MAP = "number: mean rank error over n / (m + 1), then the second method and its error over the best one's"
PLACES = ("independent", "recursive", "joint", "above_threshold", "tree_search", "least_squares_2", "square_root")
LOOKS = {method: (COLOURS[i], MARKERS[i]) for i, method in enumerate((*PLACES, "interior_points"))}
LOOKS["slices"] = LOOKS["least_squares_2"]  # the two need not be told apart, because their guarantees differ
OTHER = (GREY, "x")  # the look of further methods


def _laws(method: Independent, line: Line) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the law of the rank error of each independent exponential mechanism, before outputs are sorted."""
    unit = 1.0 if line.kind == "integers" else 0.0
    each = zip(method.levels, method.eta)
    return [single_law(line.values, line.k, unit, level, eta) for level, eta in each]


def _exact_mean(mechanism: Quantiles) -> float:
    method, line = mechanism.method, mechanism.line
    if isinstance(method, Independent) and method.m == 1:
        return float(np.mean([errors @ chances for errors, chances in _laws(method, line)]))
    if line.kind == "integers":
        return np.nan
    if isinstance(method, Joint) and method.m * line.n**2 <= MOST_WORK:
        return joint_mean_error(line.gaps, method.levels, method.eta)
    if isinstance(method, Recursive) and method.m <= 3 and line.n**2 <= MOST_WORK:
        etas = {node.middle: method.eta(node) for nodes in method.nodes for node in nodes}
        return recursive_mean_error(line.gaps, method.levels, tuple(etas[j + 1] for j in range(method.m)))
    return np.nan


def _mean_bound(mechanism: Quantiles) -> float:
    """Return the exact mean before outputs are sorted, which no sorting increases."""
    if not isinstance(mechanism.method, Independent):
        return np.nan
    return float(np.mean([errors @ chances for errors, chances in _laws(mechanism.method, mechanism.line)]))


def _exact_success(mechanism: Quantiles) -> float:
    method, line, radius = mechanism.method, mechanism.line, mechanism.alpha * mechanism.line.n
    if method.m == 1 and isinstance(method, Independent):
        errors, chances = _laws(method, line)[0]
        return float(chances[errors <= radius].sum())
    if isinstance(method, Joint) and line.kind == "reals" and method.m * line.n**2 <= MOST_WORK:
        return joint_success(line.gaps, method.levels, method.eta, radius)
    return np.nan


EXACT = {MEAN: _exact_mean, SUCCESS: _exact_success}
BOUND = {MEAN: _mean_bound}


def rows(cell: Cell) -> Row:
    """Return one row: the errors and the probability of success of a method.

    - `mean_rank_error`: the mean over trials and quantiles, in records, beside `_exact` where a law is known.
    - `largest_rank_error`: the largest error over the quantiles, its mean over trials, in records.
    - `mean_value_error`: the mean distance from the true quantiles, in units.
    - `success`: the probability that all rank errors are at most alpha n.
    """
    mechanism = cell.mechanism
    line, target = mechanism.line, cell.law["target"]
    row = cell.only(*LABELS) | {"m": mechanism.method.m, "n": line.n, "log2_k": cell.law["log2_k"], "domain": line.kind}
    row |= {name: target.get(name, np.nan) for name in PRIVACY} | {"alpha": mechanism.alpha}
    row |= cell.numbers(MEAN, "mean_rank_error", endings=columns.WITH_EXACT)
    row["mean_rank_error_bound"] = cell.get(MEAN + columns.BOUND, np.nan)
    for name in ("largest_rank_error", "mean_value_error"):
        row |= cell.numbers(columns.mean(name), name, endings=columns.INTERVAL)
    return row | cell.numbers(SUCCESS, "success", endings=columns.WITH_EXACT)


def report(table: pd.DataFrame, console) -> None:
    """Print the methods by their error for each data set and m, and how well simulated and exact values agree."""
    shared = ["records", "domain", "log2_k", "n", "neighbours", *(name for name in PRIVACY if name != "omega")]
    for _, part in table.groupby(shared, sort=False, dropna=False):
        most = part[part["m"] == part["m"].max()].sort_values("mean_rank_error", kind="stable")
        first = most.iloc[0]
        where = f"{first['records']}, {first['domain']} to 2^{first['log2_k']}, {first['neighbours']}"
        title = f"{first['m']} quantiles of n = {first['n']:,} records: {where} (± MCSE)"
        headings = ("method", "guarantee", "mean rank error", "exact", "largest", "units", "success")
        console.print(terminal_table(title, headings, map(_terminal_row, most.to_dict("records"))), soft_wrap=False)
    console.print(f"{len(table)} cells in all, with other m: see the CSV files beside the figures.")
    for name, what in (("mean_rank_error", "mean rank error"), ("success", "probability of success")):
        console.print(agreement(what, *(table[name + end] for end in columns.WITH_EXACT)))


def _terminal_row(row) -> list[str]:
    exact = "" if np.isnan(row["mean_rank_error_exact"]) else f"{row['mean_rank_error_exact']:.4g}"
    error = f"{row['mean_rank_error']:.4g} ± {row['mean_rank_error_mcse']:.1g}"
    more = (f"{row['largest_rank_error']:.4g}", f"{row['mean_value_error']:.3g}", f"{row['success']:.3g}")
    return [row["method"], row["guarantee"], error, exact, *more]


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw a map of the best method over n and m for each domain, and errors against m."""
    alike = ["neighbours", "records", "domain", *(name for name in PRIVACY if name != "omega")]
    for number, (_, part) in enumerate(table.groupby(alike, sort=False, dropna=False)):
        ending = f"_{number + 1}" if number else ""
        if part["n"].nunique() > 1 and part["m"].nunique() > 1:
            yield f"best_method{ending}", captioned(_map(part), part, MAP), part
        if part["m"].nunique() > 3:
            yield f"error_vs_m{ending}", captioned(_curves(part), part, "rank errors in records"), part


def _map(part):
    domains = list(dict.fromkeys(part["log2_k"]))
    sizes, counts = sorted(part["n"].unique()), sorted(part["m"].unique())
    figure, grid = new_figure(1, len(domains), 1.5 + 3.4 * len(domains), 1.9 + 0.75 * len(counts))
    for axes, log2_k in zip(grid[0], domains):
        cells = part[part["log2_k"] == log2_k]
        for x, n in enumerate(sizes):
            for y, m in enumerate(counts):
                found = cells[(cells["n"] == n) & (cells["m"] == m)].sort_values("mean_rank_error", kind="stable")
                if len(found):
                    _square(axes, x, y, found)
        axes.set(xlim=(-0.5, len(sizes) - 0.5), ylim=(-0.5, len(counts) - 0.5), xlabel="records n")
        axes.set_xticks(range(len(sizes)), [f"{n:,}" for n in sizes])
        axes.set_yticks(range(len(counts)), [f"{m}" for m in counts])
        axes.set_title(f"{cells['domain'].iloc[0]} in [0, 2^{log2_k})")
        axes.grid(False)
    grid[0][0].set_ylabel("quantiles m")
    best = part.loc[part.groupby(["log2_k", "n", "m"])["mean_rank_error"].idxmin(), "method"].value_counts()
    wins = ", ".join(f"{SHORT[method]} in {count}" for method, count in best.items())
    promise = part.loc[part["omega"].isna(), "guarantee"].iloc[0] if part["omega"].isna().any() else "tCDP"
    headed(figure, f"Least mean rank error under {promise}, of {best.sum()} cells: {wins}")
    return figure


def _square(axes, x, y, found):
    from matplotlib.patches import Rectangle

    best = found.iloc[0]
    colour, _ = LOOKS.get(best["method"], OTHER)
    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, alpha=0.35, edgecolor="white", linewidth=2))
    share = best["mean_rank_error"] * (best["m"] + 1) / best["n"]
    text = f"{SHORT[best['method']]}\n{share:.2g}"
    if len(found) > 1:
        second = found.iloc[1]
        off = second["mean_rank_error"] - best["mean_rank_error"]
        clear = off > 1.96 * np.hypot(best["mean_rank_error_mcse"], second["mean_rank_error_mcse"])
        ratio = (
            f"×{second['mean_rank_error'] / best['mean_rank_error']:.2g}" if clear and best["mean_rank_error"] else ""
        )
        text += f"\n{'' if clear else '≈ '}{SHORT[second['method']]} {ratio}"
    axes.text(x, y, text, ha="center", va="center", fontsize=7.5)


def _curves(part):
    domains, counts = list(dict.fromkeys(part["log2_k"])), sorted(part["m"].unique())
    figure, grid = new_figure(1, len(domains), max(1.4 + 4.2 * len(domains), 7.4), 4.4)
    for axes, log2_k in zip(grid[0], domains):
        cells = part[part["log2_k"] == log2_k]
        for method, each in cells.groupby("method", sort=False):
            each, (colour, marker) = each.sort_values("m"), LOOKS.get(method, OTHER)
            ends = (each[f"mean_rank_error{end}"] for end in ("", columns.LOWER, columns.UPPER))
            points(axes, each["m"], *ends, color=colour, marker=marker)
            axes.plot(each["m"], each["mean_rank_error"], color=colour, linewidth=0.7, alpha=0.6)
            axes.plot(each["m"], each["mean_rank_error_exact"], color=colour, linewidth=2.4, alpha=0.6)
        axes.set(xscale="log", yscale="log", xlabel="number of quantiles m")
        axes.set_xticks(counts, [f"{m}" for m in counts])
        axes.set_xticks([], minor=True)
        axes.set_title(f"{cells['domain'].iloc[0]} in [0, 2^{log2_k}), n = {cells['n'].max():,}")
        plain_log_axis(axes)
    grid[0][0].set_ylabel("mean rank error (records)")
    looks = {method: LOOKS.get(method, OTHER) for method in part["method"].unique()}
    keys = {NAMES[method]: line_key(colour, marker=marker) for method, (colour, marker) in looks.items()}
    keys["thick lines: exact; markers: simulated, 95%"] = line_key(GREY, linewidth=2.4)
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2 if len(domains) == 1 else 3)
    headed(figure, _finding(part))
    return figure


def _finding(part) -> str:
    """Return the title: the best method for the most quantiles, in each domain."""
    last = part[part["m"] == part["m"].max()]
    best = last.loc[last.groupby("log2_k", sort=False)["mean_rank_error"].idxmin()]
    wins = "; ".join(f"{NAMES[row.method]} in 2^{row.log2_k}" for row in best.itertuples())
    return f"Least error of {last['m'].iloc[0]} quantiles under {best['guarantee'].iloc[0]}: {wins}"
