"""A private CDF and median of ordered records: interior points against the trees and searches of zCDP."""

from collections.abc import Iterator
from math import isnan

import numpy as np
import pandas as pd

from tcdp_sim.experiments.thresholds import break_even, compared, loss_laws
from tcdp_sim.experiments.thresholds.compared import BOUND, EXCEEDS, MIDDLE, interval, kept, left_out, lines
from tcdp_sim.mechanisms.thresholds import LEVELS
from tcdp_sim.report.findings import listed
from tcdp_sim.report.looks import Series, marks_of, noise_styles
from tcdp_sim.report.plots import captioned, headed, line_key, new_figure, note, plain_log_axis, points, power_of_two
from tcdp_sim.report.tables import terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns

__all__ = ["BOUND", "DELTA", "EXACT", "PROMISED", "SURVIVAL", "UNKNOWN", "figures", "report", "rows"]

EXACT = {**compared.EXACT, **loss_laws.EXACT}
UNKNOWN = compared.UNKNOWN
SURVIVAL, DELTA, PROMISED = loss_laws.SURVIVAL, loss_laws.DELTA, loss_laws.PROMISED

UNIT = "errors in records; trees and searches have Gaussian noise at their exact ρ"
BAND = (0.05, 0.5, 0.95)
SHOWN = ("median_rank_error", "median_value_error", "sup_error", "sup_error_share")
LABELS = {
    "windows": "T1: interior points of noisy windows (tCDP)",
    "deciles": "T3: nine deciles (tCDP)",
    "median": "T3: one window around the median (tCDP)",
    "tree_2": "noisy binary tree (zCDP), error at the records only",
    "tree_16": "noisy 16-ary tree (zCDP), error at the records only",
    "square_root": "square-root factorisation (zCDP), error at the records only",
    "binary_search": "noisy binary search (zCDP)",
}


def rows(cell: Cell) -> Row:
    """Return one row: mean errors with MCSE and 95% quantiles, exact means, the proved bound, the private CDF's band.

    - `median_rank_error_exact`, `cdf_at_q50_exact`: exact means, where they are known (`compared.EXACT`).
    - `sup_error`: the largest error over all j, in records. It is a lower bound for trees and the square root, which
      are evaluated only at the data and their predecessors.
    - value_at_qNN, true_at_qNN: the true quantile of level NN%, and the true CDF there.
    - cdf_at_qNN_q05 to cdf_at_qNN_q95: quantiles of the private CDF there, as shares of n.
    """
    mechanism, row = cell.mechanism, cell.only("method", "noise", "records", "rho", "omega")
    row |= {"left_out": left_out(cell.law.get("unfit", {}))} | cell.only("guarantee", "trials")
    row |= {"n": mechanism.records.n, "log2_k": cell.law["log2_k"], "beta": mechanism.beta}
    for name in SHOWN:
        row |= cell.numbers(columns.mean(name), name, endings=("", columns.MCSE))
        row |= cell.numbers(columns.quantile(name), f"{name}_q95", 0.95, ("",))
    finder = getattr(mechanism.plan, "finder", None)
    row |= {"window": finder.m, "proved_window": finder.needed} if finder else {}
    row["sup_error_bound"] = mechanism.thresholds.get("sup_error", {}).get("bound", np.nan)
    row |= cell.numbers(columns.mean(MIDDLE), MIDDLE, endings=("", columns.MCSE))
    if EXCEEDS in cell:
        row |= cell.numbers(EXCEEDS, "exceeds_bound", endings=("", columns.LOWER, columns.UPPER))
    ends = interval(row["median_rank_error"], row["median_rank_error_mcse"], row["n"], row["trials"])
    row |= {f"median_rank_error{end}": value for end, value in ends.items()}
    for name in ("median_rank_error", MIDDLE):
        row |= cell.numbers(columns.mean(name), name, endings=(columns.EXACT,))
    for p in LEVELS:
        at, value = f"at_q{round(100 * p):02d}", mechanism.records.quantile(p)
        row |= {f"value_{at}": value, f"true_{at}": mechanism.records.ranks([value])[0] / mechanism.records.n}
        for level in BAND:
            row |= cell.numbers(columns.quantile(f"cdf_{at}"), f"cdf_{at}_q{round(100 * level):02d}", level, ("",))
    return row


def report(table: pd.DataFrame, console) -> None:
    """Print the errors of every method, and the method with the smallest error."""
    for records, part in table.groupby("records", sort=False):
        first = part.iloc[0]
        title = f"{records}: {first['n']:,} records in 2^{first['log2_k']} (means ± MCSE; bound: proved)"
        rows = map(_terminal_row, part.sort_values(["rho", "method"], kind="stable").to_dict("records"))
        headings = ("method", "ρ", "sup error", "of n", "bound", "median: ranks off")
        console.print(terminal_table(title, headings, rows), soft_wrap=False)
        if part["sup_error"].notna().any():
            console.print(_verdict(part))
        for line in (*first["left_out"].splitlines(), *_too_few(part)):
            console.print(line)
    for line in (*break_even.lines(table), *lines(table)):
        console.print(line)


def _terminal_row(row) -> list[str]:
    share = "-" if isnan(row["sup_error"]) else f"{row['sup_error_share']:.2%}"
    sup, bound, rank = (_number(row, name) for name in ("sup_error", "sup_error_bound", "median_rank_error"))
    return [row["method"], f"{row['rho']:g}", sup, share, bound, rank]


def _number(row, name) -> str:
    """Return a number with its standard error, if it was simulated."""
    number = "-" if isnan(row[name]) else f"{row[name]:.3g}"
    return number if number == "-" or f"{name}_mcse" not in row else f"{number} ± {row[f'{name}_mcse']:.2g}"


def _too_few(part) -> list[str]:
    """Return a line for every method with smaller windows than its proof needs, because n is too small."""
    if "window" not in part:
        return []
    few = part[part["window"] < part["proved_window"]]
    return [
        f"{row['method']} at ρ = {row['rho']:g}: n = {row['n']} records, success is proved from "
        f"n = {row['proved_window']:.0f} on; privacy holds anyway."
        for row in few.to_dict("records")
    ]


def _verdict(part) -> str:
    """Return a line that names the best method at each rho."""
    best = part.loc[part.groupby("rho")["sup_error"].idxmin()]
    winners = ", ".join(f"{row['method']} at ρ = {row['rho']:g}" for row in best.to_dict("records"))
    return f"Smallest error of the CDF: {winners}."


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw (a) the private CDF over the true one, (b) errors against rho or n, (c) medians against n, (d) break-even.

    Figures (a) and (b) are drawn for each data set. Figure (d) has the errors of a CDF against the size of the domain.
    """
    curves, looks = table[table["sup_error"].notna()], _looks(table)
    for records, part in curves.groupby("records", sort=False):
        rho = np.sort(part["rho"].unique())[0]
        least = part[part["rho"] == rho]
        yield f"cdf_{records}", captioned(_cdf(least, looks), least, UNIT), least
        if part["rho"].nunique() > 1:
            yield f"error_{records}", captioned(_error(part, looks), part, UNIT), part
    for name, part in break_even.families(table):
        figure = break_even.figure(part, {method: looks[method] | {"label": _label(method)} for method in looks})
        yield f"break_even_{name}", captioned(figure, part, UNIT), part
    medians = table[table["sup_error"].isna()]
    if medians["n"].nunique() > 1:
        yield "medians", captioned(_medians(medians, looks), medians, UNIT), medians


def _label(method) -> str:
    if method.startswith("medians_"):
        return f"T2: medians of medians, {method[-1]} rounds (tCDP)"
    return LABELS[method]


def _short(method) -> str:
    """Return the name of a method in titles."""
    return _label(method).split(":")[0].split(",")[0].removesuffix(" (zCDP)") + _rounds(method)


def _method(name) -> str:
    """Return the method of a name, without its number of rounds."""
    return "medians" if name.startswith("medians_") else name


def _rounds(method) -> str:
    return f" of {method[-1]} rounds" if method.startswith("medians_") else ""


def _data(records) -> str:
    """Return the name of a data set in titles."""
    return str(records).replace("_", " ")


def _about(row) -> str:
    """Return the data of a row for titles."""
    return f"{row['n']:,} records ({_data(row['records'])}) in a domain of {power_of_two(row['log2_k'])}"


def _looks(table):
    """Return the colour and marker of every method, which are the same in all figures."""
    series = (Series(name, algorithm=_method(name), variant=name) for name in table["method"].unique())
    return {name: marks_of(style) for name, style in noise_styles(series).items()}


def _cdf(part, looks):
    count = len(part)
    across = min(count, 2)
    figure, grid = new_figure(-(-count // across), across, 5.2 * across, 3.3 * -(-count // across) + 0.9)
    grid = grid.ravel()
    for axes in grid[count:]:
        axes.set_axis_off()
    for axes, row in zip(grid, part.to_dict("records")):
        places, truth = ([float(row[f"{what}_at_q{round(100 * p):02d}"]) for p in LEVELS] for what in ("value", "true"))
        low, middle, high = (
            [row[f"cdf_at_q{round(100 * p):02d}_q{round(100 * level):02d}"] for p in LEVELS] for level in BAND
        )
        look = looks[row["method"]]
        axes.plot(places, truth, color="#000000", linewidth=1.0)
        axes.fill_between(places, low, high, color=look["color"], alpha=0.3, linewidth=0)
        for edge in (low, high):  # the edges are visible where the band is narrower than a line
            axes.plot(places, edge, color=look["color"], linewidth=0.6)
        axes.plot(places, middle, **look, linestyle="none")
        off = f"largest error {row['sup_error_share']:.2%} of n"
        ends = min(0, *low) - 0.03, max(1, *high) + 0.03
        axes.set(title=f"{_label(row['method'])}\n{off}", ylim=ends, xlabel="domain element j")
    for axes in grid[::across]:
        axes.set_ylabel("share of records up to j")
    keys = {
        "true CDF, at its quantiles": line_key("#000000"),
        "private: median": line_key(marker="o", linestyle="none"),
    }
    keys["private: 90% of the runs"] = line_key(linewidth=6, alpha=0.3)
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=3)
    first = part.iloc[0]
    best = part.loc[part["sup_error"].idxmin()]
    smallest = f"{_short(best['method'])}, {best['sup_error_share']:.2%} of n"
    headed(figure, f"At ρ = {first['rho']:g} the smallest error of the CDF of {_about(first)} is that of {smallest}")
    return figure


def _error(part, looks):
    figure, grid = new_figure(1, 1, 7.6, 5.0)
    axes = grid[0, 0]
    for method, cells in part.groupby("method", sort=False):
        cells = cells.sort_values("rho")
        error, mcse = cells["sup_error"], 1.96 * cells["sup_error_mcse"]
        style = looks[method] | {"label": _label(method)}
        points(axes, cells["rho"], error, error - mcse, error + mcse, **style)
        axes.plot(cells["rho"], error, color=style["color"])
        axes.plot(cells["rho"], cells["sup_error_bound"], color=style["color"], linestyle="--", linewidth=0.8)
    axes.set(xscale="log", xlabel="privacy ρ", ylabel="largest error of the CDF, mean (records)")
    axes.set_xticks(np.sort(part["rho"].unique()), [f"{rho:g}" for rho in np.sort(part["rho"].unique())])
    axes.set_xticks([], minor=True)
    plain_log_axis(axes)
    first = part.iloc[0]
    best = part.loc[part.groupby("rho")["sup_error"].idxmin()]
    winners = {_short(name): rows["rho"].map("{:g}".format) for name, rows in best.groupby("method", sort=False)}
    told = listed(f"{name} (ρ = {', '.join(where)})" for name, where in winners.items())
    headed(figure, f"The smallest error of the CDF of {_about(first)} is that of {told}")
    handles, labels = axes.get_legend_handles_labels()
    handles.append(line_key(linestyle="--", linewidth=0.8))
    sure = {method: f"{kept(method, first['beta']):.0%}" for method in ("medians", "windows")}
    proved = f"proved bound (probability {sure['medians']}; T1: {sure['windows']})"
    figure.legend(handles, [*labels, proved], loc="outside lower center", ncols=2)
    return figure


def _medians(medians, looks):
    figure, grid = new_figure(1, 2, 9.6, 4.4)
    for axes, name, label in (
        (grid[0, 0], "median_rank_error", "ranks off the middle, mean (records)"),
        (grid[0, 1], "median_value_error", "distance from the true median, mean (share of k)"),
    ):
        for method, cells in medians.groupby("method", sort=False):
            cells = cells.sort_values("n")
            error, mcse = cells[name], 1.96 * cells[f"{name}_mcse"]
            style = looks[method] | {"label": _label(method)}
            points(axes, cells["n"], error, error - mcse, error + mcse, **style)
        axes.set(xlabel="records n (another data set each)", ylabel=label, ylim=(0, None))
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    rho, log2_k = medians["rho"].iloc[0], medians["log2_k"].iloc[0]
    lead = medians.pivot_table(index="n", columns="method", values="median_rank_error").idxmin(axis=1)
    note(figure, "kind", f"bars: 95% intervals; domain of {power_of_two(log2_k)}")
    counts = listed(f"{_short(method)} on {count}" for method, count in lead.value_counts().items())
    headed(figure, f"At ρ = {rho:g} the smallest rank error of a median on {len(lead)} data sets is that of {counts}")
    return figure
