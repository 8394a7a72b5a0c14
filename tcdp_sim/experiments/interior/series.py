"""Which n each method needs, read off the simulated cells; how its series are named and drawn."""

import numpy as np
import pandas as pd

from tcdp_sim import config
from tcdp_sim.interior.methods import WEAKER
from tcdp_sim.plots import COLOURS, MARKERS

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
WEAKER_LOOK = {"color": "#888888", "marker": "x", "linestyle": "-."}
SERIES = ("method", "noise", "rho", "omega")


def worst(table: pd.DataFrame) -> pd.DataFrame:
    """One row a series, k and n: the least success over the data sets, and which one it is."""
    keys = [*SERIES, "log2_k", "n"]
    least = table.loc[table.groupby(keys, dropna=False, sort=False)["success"].idxmin()]
    return least.sort_values(["log2_k", "n"], kind="stable")


def least_n(table: pd.DataFrame, goal: float = GOAL) -> pd.DataFrame:
    """One row a series and k: the n from which on success is at least `goal` on every data set simulated.

    Linear between the simulated n; NaN where no n or every n reaches the goal.
    """
    rows = []
    for key, part in worst(table).groupby([*SERIES, "log2_k"], dropna=False, sort=False):
        known = {name: part[name].iloc[0] for name in ("required_n", "zcdp_least_n", "tcdp_least_n")}
        found = crossing(part["n"].to_numpy(float), part["success"].to_numpy(float), goal)
        rows.append(dict(zip([*SERIES, "log2_k"], key)) | known | {"n95": found})
    return pd.DataFrame(rows)


def crossing(n, success, goal):
    """The n at which success passes the goal for good, linear between the n given; NaN if it does not."""
    below = np.flatnonzero(success < goal)
    if not len(below) or below[-1] + 1 == len(n):
        return np.nan
    i = below[-1]
    return n[i] + (goal - success[i]) / (success[i + 1] - success[i]) * (n[i + 1] - n[i])


def styles(table) -> dict:
    """(method, noise, omega) -> label, colour, marker and line of that series."""
    told = table[["method", "noise", "omega"]].astype(object)
    keys = sorted(dict.fromkeys(map(tuple, told.where(told.notna(), "").to_numpy())), key=lambda key: key[0] == WEAKER)
    looks = [
        {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)], "linestyle": "-"}
        for i in range(len(keys))
    ]
    return {key: {"label": label(*key)} | (WEAKER_LOOK if key[0] == WEAKER else look) for key, look in zip(keys, looks)}


def like_for_like(found: pd.DataFrame) -> pd.DataFrame:
    """The rows of `least_n` that have a number and keep the common guarantee."""
    return found[found["n95"].notna() & (found["method"] != WEAKER)]


def label(method, noise, omega):
    """What a series is called; noise and omega may be ""."""
    said = LABELS[method]
    if noise:
        said += ": " + config.named("noise", noise)["label"]
    return said + (f", ω = {omega:.3g}" if omega != "" else "")


def groups(table):
    """((method, noise, omega), its rows) of every series."""
    for key, part in table.groupby(["method", "noise", "omega"], dropna=False, sort=False):
        yield tuple("" if value != value else value for value in key), part
