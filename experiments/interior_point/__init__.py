"""The number of records that an interior point needs, on domains of 2^4 to 2^65536 elements, at equal privacy."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import isnan

import numpy as np
import pandas as pd

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.texts import blank
from tcdp_sim.experiments import losses
from tcdp_sim.experiments.interior_point.budget import budget_figure, depth_figure, depth_table, spent_table
from tcdp_sim.experiments.interior_point.drawing import needed_figure, success_figure
from tcdp_sim.experiments.interior_point.series import GOAL, least_n, like_for_like, styles, worst
from tcdp_sim.experiments.laws import quantiles_of_atoms
from tcdp_sim.mechanisms.interior_point import InteriorPoint
from tcdp_sim.ordered.interior import exact_law, methods, tcdp_least_n, zcdp_least_n
from tcdp_sim.ordered.interior.exact_baselines import exponential_success, search_success
from tcdp_sim.privacy import TCDP
from tcdp_sim.privacy.least_rho import bounded_range_epsilon
from tcdp_sim.report.plots import captioned
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns

EXACT_UP_TO = 8  # log2 k; the exact law of a release with one tree costs one integral for each level

LISTED_UP_TO = 1024  # log2 k; the law of the level costs milliseconds for each 10,000 levels
LABELS = ("method", "noise", "shape", "draw", "log2_k", "rho", "omega")


def rows(cell: Cell) -> Row:
    """Return one row: simulated success with MCSE and 95% interval, the exact value and the proved n.

    - `required_n`: the number of records at which the method is proved to succeed with probability 1 - beta, or NaN.
    - `zcdp_least_n`, `tcdp_least_n`: lower bounds on the number of records of any method with that guarantee.
    - `fails_at_...`: the probability of failure by the step at fault.
    """
    mechanism: InteriorPoint = cell.mechanism
    row: Row = {name: cell.get(name) for name in LABELS} | cell.only("guarantee", "noise_law", "trials")
    row |= {"n": mechanism.n} | {name: cell.law[name] for name in ("required_n", "accounting", "beta", "split")}
    if mechanism.method in methods.UNPROVED:
        row["required_n"] = np.nan
    row |= cell.numbers("success", "success") | cell.only(*map(columns.mean, ("depth", "rank_error")))
    row |= cell.only(*(name for name in mechanism.events if name != "success"))
    row["zcdp_least_n"] = zcdp_least_n(row["rho"], mechanism.log2_k)
    row["tcdp_least_n"] = _tcdp_least(row, mechanism)
    if mechanism.method == methods.WEAKER:  # the bounds do not apply to its weaker guarantee
        row |= {"zcdp_least_n": np.nan, "tcdp_least_n": np.nan}
    return row | cell.noise


def _tcdp_least(row, mechanism):
    if blank(row["omega"]):
        return np.nan
    return tcdp_least_n(TCDP(row["rho"], row["omega"]), mechanism.log2_k)


def _success(mechanism: InteriorPoint) -> float:
    if mechanism.method == "exponential":
        return exponential_success(mechanism.profile, mechanism.scale)
    if mechanism.method == "binary_search":
        return search_success(mechanism.profile, mechanism.scale)
    return _of_outcome("success")(mechanism)


@lru_cache(maxsize=2)  # the four outcomes of a cell are asked for one after the other
def _outcomes(mechanism: InteriorPoint) -> exact_law.Outcomes:
    return exact_law.outcomes(mechanism.profile, mechanism.recipes[0])


def _of_outcome(name: str) -> Callable[[InteriorPoint], float]:
    """Return the probability of an outcome of a release with one tree on a small domain, else NaN."""

    def chance(mechanism: InteriorPoint) -> float:
        small = len(mechanism.recipes) == 1 and mechanism.log2_k <= EXACT_UP_TO
        return getattr(_outcomes(mechanism), name) if small else np.nan

    return chance


@lru_cache(maxsize=2)
def _levels(mechanism: InteriorPoint) -> Floats:
    """Return the law of the chosen level. Raises ValueError if another tree chooses it, or with very many levels."""
    if len(mechanism.recipes) != 1 or mechanism.log2_k > LISTED_UP_TO:
        raise ValueError("the levels are not listed")
    return exact_law.level_law(mechanism.profile, mechanism.recipes[0])


def _mean_level(mechanism: InteriorPoint) -> float:
    chances = _levels(mechanism)
    return float(chances @ np.arange(len(chances)))


def _level_quantiles(mechanism: InteriorPoint) -> Floats:
    chances = _levels(mechanism)
    return quantiles_of_atoms(np.arange(len(chances), dtype=float), chances)


PARTS = (columns.mean, columns.quantile)
FAILURES = {f"fails_at_{step}": f"at_{step}" for step in ("level", "node", "end")}
EXACT = {
    "success": _success,
    **{event: _of_outcome(name) for event, name in FAILURES.items()},
    columns.mean("level"): _mean_level,
    columns.quantile("level"): _level_quantiles,
}
_TREES = f"with trees the law is computed for one tree over at most 2^{EXACT_UP_TO} elements"
_RECURSION = "in the recursion a tree over the levels chooses the level, and the law of its choice is not computed"
_DEPTH = "the law of the depth of the output is computed only as far as it is positive or not"
UNKNOWN = {
    "success": _TREES,
    **dict.fromkeys(FAILURES, _TREES),
    **{part("level"): f"{_RECURSION}; nor are more than {LISTED_UP_TO} levels listed" for part in PARTS},
    **{part(name): _DEPTH for name in ("depth", "rank_error") for part in PARTS},
    **losses.UNKNOWN,
}


def report(table: pd.DataFrame, console) -> None:
    """Print the n for 95% success of every method, the proved n and the lower bounds."""
    needed = least_n(table)
    headings = ("method", "log2 k", "simulated (95%)", "proved", "zCDP ≥", "tCDP ≥")
    rows = map(_terminal_row, needed.to_dict("records"))
    console.print(terminal_table(f"records for {GOAL:.0%} success", headings, rows, fold=True), soft_wrap=False)
    success = agreement("success", *(table["success" + end] for end in columns.WITH_EXACT))
    for line in (*_meaning(needed), _verdict(needed), *_too_few(table), success):
        console.print(line)


def _terminal_row(row) -> list[str]:
    bounds = (row[name] for name in ("required_n", "zcdp_least_n", "tcdp_least_n"))
    simulated = _number(row["n95"]) + _interval(row["n95_lower"], row["n95_upper"])
    return [_short(row), f"{row['log2_k']:.0f}", simulated, *map(_number, bounds)]


def _number(x) -> str:
    return "-" if isnan(x) else f"{x:.4g}"


def _interval(low, high) -> str:
    """Return an interval of n as text. An end outside the simulated n is left open."""
    return "" if isnan(low) and isnan(high) else f" ({_number(low)} to {_number(high)})"


def _meaning(needed) -> list[str]:
    """Return lines that explain the columns of the digest, and the data that they are about."""
    goals = ", ".join(f"{1 - beta:.4g}" for beta in sorted(needed["beta"].unique()))
    return [
        "simulated (95% interval): on the hardest of this run's data sets, interpolated; other data may need more.",
        f"proved: enough on every data set, for success with probability {goals}; ≥: nothing of that kind needs fewer.",
    ]


def _verdict(needed) -> str:
    """Return a line that names the methods with the fewest records on each domain at the common guarantee.

    It also names the methods that may need as few, within the error.
    """
    winners = []
    for log2_k, part in like_for_like(needed).sort_values("log2_k").groupby("log2_k"):
        place = int(np.nanargmin(part["n95"]))
        best = part.iloc[place]
        near = part[(part["n95_lower"].fillna(0) <= best["n95_upper"]) & (np.arange(len(part)) != place)]
        others = "".join(f" or {_short(row)}" for row in near.to_dict("records"))
        winners.append(f"2^{log2_k:.0f} {_short(best)}{others}")
    joined = ", ".join(winners) or f"no method reaches {GOAL:.0%}"
    return f"Fewest records, as simulated (or: within the error): {joined}."


def _too_few(table) -> list[str]:
    """Return a line for every method with a single n below the proved one, because nothing else reports it."""
    lines = []
    for _, part in table.groupby(["method", "noise", "rho", "omega", "log2_k"], dropna=False, sort=False):
        row = part.iloc[0]
        if part["n"].nunique() == 1 and row["n"] < row["required_n"]:
            cell = f"{_short(row)}, k = 2^{row['log2_k']:.0f}: n = {row['n']} records"
            proved = f"is proved from n = {row['required_n']:.0f} on"
            lines.append(f"{cell}, success with probability {1 - row['beta']:.0%} {proved}.")
    return lines


def _short(row) -> str:
    if row["method"] == methods.WEAKER:
        return "stability: weaker (ε, δ)"
    return row["method"] + ("" if blank(row["noise"]) else f" {row['noise']}")


def _gained(rho: float, part: pd.DataFrame) -> str:
    """Return in words how much larger epsilon is by the least rho of bounded range than by epsilon^2 / 8; "" for none.

    The number belongs to the opponent that spends all of rho on one exponential mechanism.
    """
    if not (part["method"].eq("exponential") & part["accounting"].eq("tight")).any():
        return ""
    raised = bounded_range_epsilon(rho) / np.sqrt(8 * rho) - 1
    return f"the least ρ raises ε of the exponential mechanism by {100 * raised:.2g}% beside ε²/8"


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw success against n for each k, the n for 95% against log2 log2 k, the budget, and the depth of recursion."""
    for rho, part in table.groupby(table["rho"].astype(float), sort=True):
        tag, look, unit = f"rho_{rho:g}", styles(part), "n in records"
        opponents = "; ".join(filter(None, [unit, _gained(rho, part)]))
        yield f"success_vs_n_{tag}", captioned(success_figure(part, look), part, opponents), worst(part)
        needed = least_n(part)
        yield f"n95_vs_k_{tag}", captioned(needed_figure(needed, look), part, opponents), needed
        if len(spent := spent_table(part)):
            yield f"budget_{tag}", captioned(budget_figure(spent), part, "ρ as spent; records of the proof"), spent
        recursive = part[part["method"].str.startswith("recursion") & part["omega"].notna()]
        for omega in recursive["omega"].unique()[:1]:
            depths = depth_table(rho, omega)
            yield f"depth_{tag}", captioned(depth_figure(depths), recursive, unit), depths
