"""The n that each method needs, from the simulated cells, and the names and looks of its series."""

import numpy as np
import pandas as pd
from scipy.special import ndtri

from tcdp_sim.core.texts import blank
from tcdp_sim.ordered.interior.methods import WEAKER
from tcdp_sim.report.looks import METHODS, noise_looks

GOAL = 0.95
LABELS = {
    "one_level": "one level",
    "paper_constants": "one level, the paper's (1/5, 2/5) and two candidates",
    "surrogate": "one level, thresholded surrogate",
    "surrogate_low": "one level, surrogate above a low threshold",
    "algorithm_21": "one level, Algorithm 21",
    "algorithm_22": "one level, Algorithm 22",
    "recursion_2": "two levels of recursion",
    "recursion_3": "three levels of recursion",
    "paper_recursion_2": "two levels of recursion, the paper's (1/5, 2/5) and two candidates",
    "exponential": "exponential mechanism over the domain (zCDP)",
    "binary_search": "noisy binary search (zCDP)",
    "stability": "WEAKER guarantee, (ε, δ)-DP: stability histogram in one level",
}
PLAIN = "one_level"
WEAKER_LOOK = {"color": "#888888", "marker": "x", "linestyle": "-."}
SERIES = ("method", "noise", "rho", "omega")
KNOWN = ("noise_label", "required_n", "zcdp_least_n", "tcdp_least_n", "beta")  # the same at every n of a series and k


def worst(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each series, k and n: the least success over the data sets, and the data set that has it.

    `success_lower` and `success_upper` are the 95% interval of the least success itself. The upper end allows for the
    choice among several data sets, because the unluckiest one looks like the hardest.
    """
    keys = [*SERIES, "log2_k", "n"]
    parts = table.assign(wide=_wide(table, keys)).groupby(keys, dropna=False, sort=False)
    least = table.loc[parts["success"].idxmin()]
    lower, upper = (parts[name].min().to_numpy() for name in ("success_lower", "wide"))
    return least.assign(success_lower=lower, success_upper=upper).sort_values(["log2_k", "n"], kind="stable")


def _wide(table, keys):
    """Return upper ends that hold for all data sets of a series, k and n together (Bonferroni)."""
    many = table.groupby(keys, dropna=False, sort=False)["success"].transform("size")
    longer = ndtri(0.025 / many) / ndtri(0.025)
    return np.minimum(table["success"] + longer * (table["success_upper"] - table["success"]), 1.0)


def least_n(table: pd.DataFrame, goal: float = GOAL) -> pd.DataFrame:
    """Return one row for each series and k with `n95`, from which on success is at least `goal` on every data set.

    The data sets are the simulated ones. The log of the failure probability is interpolated linearly between the
    simulated n. `n95` is NaN where no n or every n reaches the goal. At `n95_lower` and `n95_upper` the ends of the 95%
    intervals of success pass the goal; they are NaN beyond the simulated n.
    """
    rows = []
    for key, part in worst(table).groupby([*SERIES, "log2_k"], dropna=False, sort=False):
        known = {name: part[name].iloc[0] for name in KNOWN if name in part}
        n, most = part["n"].to_numpy(float), 1 - 0.5 / part["trials"].to_numpy(float)  # no miss counts as half a miss
        for name, curve in (("n95", "success"), ("n95_lower", "success_upper"), ("n95_upper", "success_lower")):
            known[name] = crossing(n, np.minimum(part[curve].to_numpy(float), most), goal)
        rows.append(dict(zip([*SERIES, "log2_k"], key)) | known)
    return pd.DataFrame(rows)


def crossing(n, success, goal):
    """Return the n at which success (below 1) passes the goal for good, by the log of the failures, or NaN."""
    below = np.flatnonzero(success < goal)
    if not len(below) or below[-1] + 1 == len(n):
        return np.nan
    i = below[-1]
    before, after = np.log1p(-success[i]), np.log1p(-success[i + 1])
    return n[i] + (before - np.log1p(-goal)) / (before - after) * (n[i + 1] - n[i])


def styles(table) -> dict:
    """Return (method, noise, omega) -> label, colour, marker and line of that series.

    A series of one level has the look of its noise. Every other method has a look of its own, because most of these
    methods share their noise.
    """
    named = table.reindex(columns=["method", "noise", "omega", "noise_label", "noise_family", "noise_calibration"])
    rows = named.astype(object).where(named.notna(), "").to_numpy()
    known = dict(sorted(((tuple(row[:3]), row[3:]) for row in rows), key=lambda pair: pair[0][0] == WEAKER))
    names = {key: key[0] if key[0] in METHODS else str(key) for key in known if key[0] != WEAKER}
    looks = noise_looks((name, *(known[key][1:] if key[0] == PLAIN else ("", ""))) for key, name in names.items())
    return {
        key: {"label": label(key[0], known[key][0], key[2])}
        | (WEAKER_LOOK if key[0] == WEAKER else looks[names[key]] | {"linestyle": "-"})
        for key in known
    }


def like_for_like(needed: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `least_n` that have a number and keep the common guarantee."""
    return needed[needed["n95"].notna() & (needed["method"] != WEAKER)]


def label(method, noise_label, omega):
    """Return the name of a series. `noise_label` and `omega` may be ""."""
    name = LABELS[method] + (f": {noise_label}" if noise_label else "")
    return name + (f", ω = {omega:.3g}" if omega != "" else "")


def groups(table):
    """Yield ((method, noise, omega), its rows) of every series."""
    for key, part in table.groupby(["method", "noise", "omega"], dropna=False, sort=False):
        yield tuple("" if blank(value) else value for value in key), part
