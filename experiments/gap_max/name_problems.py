"""The 276 real selection problems: the probability that each method finds the most frequent name, against rho."""

from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np
import pandas as pd

from tcdp_sim.data.selection_problems import selection_problems
from tcdp_sim.experiments.gap_max import series
from tcdp_sim.experiments.gap_max.exact_values import exact_arguments, failure, rebuilt
from tcdp_sim.report.findings import listed
from tcdp_sim.report.looks import line_of, marks_of
from tcdp_sim.report.plots import KIND, headed, new_figure, note, points
from tcdp_sim.results.rows import Row

SIZES = (1e3, 1e4, 1e5)
SIMULATED_AT = 1e4


@cache
def _problems() -> dict[tuple[float, float], str]:
    """Return (k, gap) -> name for the problems among SIMULATED_AT records."""
    problems = (problem.at(SIMULATED_AT) for problem in selection_problems())
    return {(p.k, round(p.gap, 6)): f"{p.name}: {p.best}, {p.second}" for p in problems}


def problem_of(k: float, gap: float) -> str:
    """Return the name of the real problem, among 10,000 records, with this k and gap, or "" if there is none."""
    return _problems().get((k, round(gap, 6)), "")


def of_all_problems(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield a row (kind "all") about all problems together for each series, rho and n.

    The row has the mean over all problems of the exact probability of success, and its quartiles. Where a method's law
    depends on all scores, the candidates below the second are taken to be as good as it, which gives a lower bound.
    """
    first: dict[tuple[str, float], Row] = {}
    for row in rows:
        first.setdefault((row["series"], row["rho"]), row)
    return (_all(row, n) for row in first.values() for n in SIZES)


def _all(row, n):
    mechanism = rebuilt(row)
    algorithm, noise, delta = exact_arguments(mechanism)
    probabilities = np.array([1 - failure(algorithm, noise, delta, p.k, p.at(n).gap, 1) for p in selection_problems()])
    quartiles = dict(zip(("first_quartile", "median", "third_quartile"), np.quantile(probabilities, [0.25, 0.5, 0.75])))
    labels = ("series", "algorithm", "noise", "accounting", "rho", "omega_sqrt_rho", "omega", "neighbours")
    kept = {name: row[name] for name in labels if name in row}
    return kept | {"kind": "all", "n": n, "mean": probabilities.mean(), **quartiles}


def problems_figure(real: pd.DataFrame, looks):
    """Draw the mean over all problems for three sizes above, and single problems at n = 10,000 below."""
    names = sorted(real.loc[real["kind"] == "one", "problem"].unique(), key=lambda name: -_gap(real, name))[:3]
    figure, grid = new_figure(2, 3, 10.4, 5.6, sharex=True, sharey=True)
    for axes, n in zip(grid[0], SIZES):
        for label, rows in real[(real["kind"] == "all") & (real["n"] == n)].groupby("series", sort=False):
            rows = rows.sort_values("rho")
            axes.plot(rows["rho"], rows["mean"], **line_of(looks[label]))
        axes.set(title=f"mean over all 276 problems, n = {n:,.0f} records")
    for axes, name in zip(grid[1], names):
        for label, rows in real[real["problem"] == name].groupby("series", sort=False):
            rows = rows.sort_values("rho")
            ends = (rows[f"top_selected{end}"] for end in ("", "_lower", "_upper"))
            points(axes, rows["rho"], *ends, **marks_of(looks[label]))
            axes.plot(rows["rho"], rows["top_selected_exact"], **line_of(looks[label]))
        axes.set(title=f"{name}: gap {_gap(real, name):.3g} counts of 10,000", xlabel="privacy ρ")
    for axes in grid.flat:
        axes.set(xscale="log", ylim=(-0.03, 1.03))
    for axes in grid[:, 0]:
        axes.set_ylabel("P[the true top name is selected]")
    series.legend(figure, real, looks, 2)
    note(figure, "kind", f"{KIND}; the lines join exact values; the upper panels are exact, not simulated")
    headed(figure, _best(real))
    return figure


def _best(real) -> str:
    """Return in words which method finds the most names on average at the middle rho, for each number of records."""
    every = real[real["kind"] == "all"]
    rho = np.sort(every["rho"].unique())[every["rho"].nunique() // 2]
    told = []
    for n, rows in every[every["rho"] == rho].groupby("n"):
        best = rows.loc[rows["mean"].idxmax()]
        told.append((f"{best['mean']:.0%} of the problems with {n:,.0f} records", _short(best)))
    same = len({name for _, name in told}) == 1
    best = listed(words if same else f"{words} ({name})" for words, name in told)
    by = f" by {told[0][1]}" if same else ""
    return f"At ρ = {rho:.2g} the most frequent first name is found at best in {best}{by}"


def _short(row) -> str:
    """Return the name of a series in a title."""
    return str(row["series"]).partition(" (")[0]


def _gap(real, name) -> float:
    return float(real.loc[real["problem"] == name, "gap"].iloc[0])
