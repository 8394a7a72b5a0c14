"""Which n each method needs, read off the simulated cells; how its series are named and drawn."""

import numpy as np
import pandas as pd
from scipy.special import ndtri

from tcdp_sim.core.texts import blank
from tcdp_sim.interior.methods import WEAKER
from tcdp_sim.report.looks import noise_looks

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
KNOWN = ("noise_label", "required_n", "zcdp_least_n", "tcdp_least_n", "beta")  # of a series and k, at every n


def worst(table: pd.DataFrame) -> pd.DataFrame:
    """One row a series, k and n: the least success over the data sets, and which one it is.

    `success_lower`, `success_upper`: 95% interval of the least success itself; its upper end allows for the choice
    among several data sets, of which the unluckiest looks like the hardest.
    """
    keys = [*SERIES, "log2_k", "n"]
    parts = table.assign(wide=_wide(table, keys)).groupby(keys, dropna=False, sort=False)
    least = table.loc[parts["success"].idxmin()]
    lower, upper = (parts[name].min().to_numpy() for name in ("success_lower", "wide"))
    return least.assign(success_lower=lower, success_upper=upper).sort_values(["log2_k", "n"], kind="stable")


def _wide(table, keys):
    """Upper ends that hold for all the data sets of a series, k and n together (Bonferroni)."""
    many = table.groupby(keys, dropna=False, sort=False)["success"].transform("size")
    longer = ndtri(0.025 / many) / ndtri(0.025)
    return np.minimum(table["success"] + longer * (table["success_upper"] - table["success"]), 1.0)


def least_n(table: pd.DataFrame, goal: float = GOAL) -> pd.DataFrame:
    """One row a series and k: `n95`, from which on success is at least `goal` on every data set simulated.

    Between the simulated n the log of the failures is taken to be linear; NaN where no n or every n reaches the goal.
    `n95_lower`, `n95_upper`: where the ends of the 95% intervals of success pass the goal; NaN beyond the simulated n.
    """
    rows = []
    for key, part in worst(table).groupby([*SERIES, "log2_k"], dropna=False, sort=False):
        known = {name: part[name].iloc[0] for name in KNOWN if name in part}
        n, most = part["n"].to_numpy(float), 1 - 0.5 / part["trials"].to_numpy(float)  # no miss: half of one
        for name, curve in (("n95", "success"), ("n95_lower", "success_upper"), ("n95_upper", "success_lower")):
            known[name] = crossing(n, np.minimum(part[curve].to_numpy(float), most), goal)
        rows.append(dict(zip([*SERIES, "log2_k"], key)) | known)
    return pd.DataFrame(rows)


def crossing(n, success, goal):
    """The n at which success (below 1) passes the goal for good, by the log of the failures; NaN if it does not."""
    below = np.flatnonzero(success < goal)
    if not len(below) or below[-1] + 1 == len(n):
        return np.nan
    i = below[-1]
    before, after = np.log1p(-success[i]), np.log1p(-success[i + 1])
    return n[i] + (before - np.log1p(-goal)) / (before - after) * (n[i + 1] - n[i])


def styles(table) -> dict:
    """(method, noise, omega) -> label, colour, marker and line of that series.

    One level has the look of its noise; the other methods, most of which have the same noise, one of their own.
    """
    named = table.reindex(columns=["method", "noise", "omega", "noise_label", "noise_family", "noise_calibration"])
    rows = named.astype(object).where(named.notna(), "").to_numpy()
    known = dict(sorted(((tuple(row[:3]), row[3:]) for row in rows), key=lambda pair: pair[0][0] == WEAKER))
    about = [(str(key), *(known[key][1:] if key[0] == PLAIN else ("", ""))) for key in known if key[0] != WEAKER]
    looks = noise_looks(about)
    return {
        key: {"label": label(key[0], known[key][0], key[2])}
        | (WEAKER_LOOK if key[0] == WEAKER else looks[str(key)] | {"linestyle": "-"})
        for key in known
    }


def like_for_like(needed: pd.DataFrame) -> pd.DataFrame:
    """The rows of `least_n` that have a number and keep the common guarantee."""
    return needed[needed["n95"].notna() & (needed["method"] != WEAKER)]


def label(method, noise_label, omega):
    """What a series is called; noise_label and omega may be ""."""
    name = LABELS[method] + (f": {noise_label}" if noise_label else "")
    return name + (f", ω = {omega:.3g}" if omega != "" else "")


def groups(table):
    """((method, noise, omega), its rows) of every series."""
    for key, part in table.groupby(["method", "noise", "omega"], dropna=False, sort=False):
        yield tuple("" if blank(value) else value for value in key), part
