"""How many records an interior point takes, on domains of 2^4 to 2^65536 elements, at equal privacy."""

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr
from rich import box
from rich.table import Table

from tcdp_sim import config
from tcdp_sim.interior import budget, law, methods, requirement
from tcdp_sim.interior.binary_search import success_probability as search_success
from tcdp_sim.interior.domain_em import success_probability as exponential_success
from tcdp_sim.interior.ledger import exponential_epsilon
from tcdp_sim.mechanisms import InteriorPoint
from tcdp_sim.plots import COLOURS, MARKERS, line_key, new_figure, plain_log_axis, points
from tcdp_sim.results import cell_mechanism

GOAL = 0.95
EXACT_UP_TO = 8  # log2 k: the exact law of a release with one tree takes one integral a level
DELTA = 1e-6
INTERVAL = ("", "_mcse", "_lower", "_upper")
LABELS = {
    "one_level": "one level",
    "paper_constants": "one level, the paper's (1/5, 2/5) and two candidates",
    "surrogate": "one level, thresholded surrogate",
    "algorithm_21": "one level, Algorithm 21",
    "algorithm_22": "one level, Algorithm 22",
    "recursion_2": "two levels of recursion",
    "recursion_3": "three levels of recursion",
    "exponential": "exponential mechanism over the domain (zCDP)",
    "binary_search": "noisy binary search (zCDP)",
}
PROVED = ("one_level", "paper_constants", "surrogate", *methods.RECURSIONS)  # zCDP methods have lines of their own
SERIES = ("method", "noise", "rho", "omega")


def reference(flat: xr.Dataset) -> pd.DataFrame:
    """One row a cell: simulated success with MCSE and 95% interval, beside the exact value and the proven n.

    `required_n`: records at which the method is proved to succeed with probability 1 - beta; `zcdp_least_n`,
    `tcdp_least_n`: below which nothing with that guarantee can; `fails_at_...`: how often, by the step at fault.
    """
    ragged = [name for name in flat.dims if name not in ("cell", "quantile")]
    simulated = flat.drop_dims([*ragged, "quantile"]).to_dataframe().to_dict("records")
    return pd.DataFrame([_row(cell_mechanism(flat, i), row) for i, row in enumerate(simulated)])


def _row(mechanism: InteriorPoint, ds: dict) -> dict:
    told = json.loads(ds["law"])
    row = {name: ds.get(name) for name in ("method", "noise", "shape", "draw", "log2_k", "rho", "omega")}
    row |= {"guarantee": ds["guarantee"], "noise_law": ds["noise_law"], "trials": ds["trials"]}
    row |= {"n": mechanism.n} | {name: told[name] for name in ("required_n", "accounting", "beta", "split")}
    row |= {f"success{end}": ds[f"success{end}"] for end in INTERVAL}
    row["success_exact"] = _exact(mechanism)
    row |= {f"{name}_mean": ds[f"{name}_mean"] for name in ("depth", "rank_error")}
    row |= {name: ds[name] for name in mechanism.events if name != "success"}
    row["zcdp_least_n"] = requirement.zcdp_least_n(row["rho"], mechanism.log2_k)
    row["tcdp_least_n"] = _tcdp_least(row, mechanism)
    return row


def _tcdp_least(row, mechanism):
    known = row["omega"] is not None and row["omega"] == row["omega"]
    return requirement.tcdp_least_n(row["rho"], row["omega"], mechanism.log2_k) if known else np.nan


def _exact(mechanism: InteriorPoint) -> float:
    if mechanism.method == "exponential":
        return exponential_success(mechanism.profile, mechanism.scale)
    if mechanism.method == "binary_search":
        return search_success(mechanism.profile, mechanism.scale)
    if len(mechanism.recipes) == 1 and mechanism.log2_k <= EXACT_UP_TO:
        return law.success_probability(mechanism.profile, mechanism.recipes[0])
    return np.nan


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
        found = _crossing(part["n"].to_numpy(float), part["success"].to_numpy(float), goal)
        rows.append(dict(zip([*SERIES, "log2_k"], key)) | known | {"n95": found})
    return pd.DataFrame(rows)


def _crossing(n, success, goal):
    below = np.flatnonzero(success < goal)
    if not len(below) or below[-1] + 1 == len(n):
        return np.nan
    i = below[-1]
    return n[i] + (goal - success[i]) / (success[i + 1] - success[i]) * (n[i + 1] - n[i])


def report(table: pd.DataFrame, console) -> None:
    """A digest on the terminal: the n for 95% success of every method, beside what is proved and the lower bounds."""
    out = Table(title="records for 95% success on every data set", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("method", "log2 k", "n", "proved", "zCDP ≥", "tCDP ≥"):
        out.add_column(heading, justify="left" if heading == "method" else "right", no_wrap=True)
    for row in least_n(table).to_dict("records"):
        numbers = [row[name] for name in ("n95", "required_n", "zcdp_least_n", "tcdp_least_n")]
        out.add_row(_short(row), f"{row['log2_k']:.0f}", *("-" if x != x else f"{x:.4g}" for x in numbers))
    console.print(out, soft_wrap=False)
    console.print(_verdict(least_n(table)))
    known = table[table["success_exact"].notna()]
    outside = (~known["success_exact"].between(known["success_lower"], known["success_upper"])).sum()
    console.print(
        f"The exact success is outside the simulated 95% interval in {outside} of {len(known)} cells that have one; "
        f"by chance about {0.05 * len(known):.0f} are expected."
    )


def _verdict(found) -> str:
    """Who needs the fewest records on which domain, so that nobody has to look for it."""
    known = found[found["n95"].notna()]
    best = known.loc[known.groupby("log2_k")["n95"].idxmin()].sort_values("log2_k")
    told = ", ".join(f"2^{row['log2_k']:.0f} {_short(row)}" for row in best.to_dict("records"))
    return f"Fewest records: {told or 'no method reaches 95%'}."


def _short(row) -> str:
    return row["method"] + (f" {row['noise']}" if row["noise"] and row["noise"] == row["noise"] else "")


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """(a) success against n for each k, (b) n for 95% against log2 log2 k, (c) where budget and records go."""
    for rho, part in table.groupby("rho", sort=True):
        tag = f"rho_{rho:g}"
        styles = _styles(part)
        yield f"success_vs_n_{tag}", _success(part, styles), worst(part)
        found = least_n(part)
        yield f"n95_vs_k_{tag}", _needed(found, styles), found
        if len(spent := _spent(part)):
            yield f"budget_{tag}", _budget(spent), spent


def _styles(table) -> dict:
    told = table[["method", "noise", "omega"]].astype(object)
    keys = dict.fromkeys(map(tuple, told.where(told.notna(), "").to_numpy()))
    return {
        key: {"label": _label(*key), "color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
        for i, key in enumerate(keys)
    }


def _label(method, noise, omega):
    said = LABELS[method]
    if noise:
        said += ": " + config.named("noise", noise)["label"]
    return said + (f", ω = {omega:.3g}" if omega != "" else "")


def _groups(table):
    for key, part in table.groupby(["method", "noise", "omega"], dropna=False, sort=False):
        yield tuple("" if value != value else value for value in key), part


def _success(table, styles):
    domains = sorted(table["log2_k"].unique())
    rows = -(-len(domains) // 3)
    figure, grid = new_figure(rows, 3, 12.0, 3.0 * rows + 1.6, sharey=True)
    for axes in grid.flat[len(domains) :]:
        axes.set_axis_off()
    for axes, log2_k in zip(grid.flat, domains):
        here = table[table["log2_k"] == log2_k]
        for key, part in _groups(worst(here)):
            _curve(axes, part, styles[key])
        easy = here[(here["shape"] == "point") & (here["method"] == "one_level")]
        easy = easy[easy["noise"] == easy["noise"].iloc[0]].sort_values("n") if len(easy) else easy
        axes.plot(easy["n"], easy["success"], color="#999999", linestyle=":", linewidth=1.4)
        axes.axhline(GOAL, color="#555555", linewidth=0.8, linestyle="--")
        axes.set(title=f"k = 2^{log2_k:.0f}", ylim=(-0.03, 1.03), xlabel="records n", xscale="log")
        _plain_ticks(axes, here["n"])
    for axes in grid[:, 0]:
        axes.set_ylabel("P[interior point], hardest data set")
    handles = [line_key(style["color"], marker=style["marker"]) for style in styles.values()]
    labels = [style["label"] for style in styles.values()]
    handles += [line_key("#999999", linestyle=":", linewidth=1.4), line_key(linestyle="--", linewidth=0.8)]
    labels += ["one level on n equal records: easy data flatter", "95%"]
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    rho = table["rho"].iloc[0]
    figure.suptitle(f"Success on the hardest of the data sets at equal privacy, ρ = {rho:g} (bars: 95%)", fontsize=11)
    return figure


def _plain_ticks(axes, n):
    ticks = [digit * 10**power for power in range(5) for digit in (1, 2, 5)]
    axes.set_xticks([tick for tick in ticks if n.min() <= tick <= n.max()])
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")


def _curve(axes, part, style):
    part = part.sort_values("n")
    kept = {name: value for name, value in style.items() if name != "label"}
    points(axes, part["n"], part["success"], part["success_lower"], part["success_upper"], **kept)
    axes.plot(part["n"], part["success"], color=style["color"], linewidth=0.9)


def _needed(found, styles):
    figure, grid = new_figure(1, 1, 10.4, 7.0)
    axes = grid[0, 0]
    for key, part in _groups(found.sort_values("log2_k")):
        x, style = np.log2(part["log2_k"]), styles[key]
        kept = {name: value for name, value in style.items() if name != "label"}
        axes.plot(x, part["n95"], linewidth=1.2, **kept)
        if key[0] in PROVED:
            axes.plot(x, part["required_n"], color=style["color"], linestyle="--", linewidth=0.8)
    _lower_bounds(axes, found)
    _exact_zcdp(axes, found, styles)
    axes.set(xlabel="log2 log2 k", ylabel="records n")
    rho = found["rho"].iloc[0]
    axes.set_title(f"Records for an interior point with probability 95%, ρ = {rho:g} (markers: simulated)")
    loses = "up to k = 2^32 the zCDP binary search needs the fewest records"
    if _search_wins(found):
        axes.annotate(loses, (0.02, 0.03), xycoords="axes fraction", fontsize=8)
    plain_log_axis(axes)
    handles = [line_key(style["color"], marker=style["marker"]) for style in styles.values()]
    labels = [style["label"] for style in styles.values()]
    keys = {
        "proved to suffice on every data set (zCDP methods: exact)": line_key(linestyle="--", linewidth=0.8),
        "no zCDP algorithm can do with fewer": line_key("#B00020", linewidth=2.0),
        "no tCDP algorithm can do with fewer": line_key("#B00020", linestyle=":", linewidth=1.6),
        f"(ε, {DELTA:g})-DP stability skeleton, bound: WEAKER guarantee": line_key("#999999", linestyle="-."),
    }
    figure.legend([*handles, *keys.values()], [*labels, *keys], loc="outside lower center", ncols=2)
    return figure


def _search_wins(found) -> bool:
    """Whether the binary search is simulated, and needs the fewest records of all at 2^32 and below."""
    small = found[found["log2_k"] <= 32]
    best = small.loc[small.groupby("log2_k")["n95"].idxmin()] if small["n95"].notna().any() else small
    return len(best) > 0 and set(best["method"]) == {"binary_search"}


def _exact_zcdp(axes, found, styles):
    """What the zCDP methods need, by their formulas, also where it is too many records to simulate."""
    needed = {
        "exponential": lambda rho, v: requirement.exponential_required_n(
            exponential_epsilon(rho, "tight"), v, 1 - GOAL
        ),
        "binary_search": lambda rho, v: requirement.binary_search_required_n(rho, round(v), 1 - GOAL),
    }
    log2_k = np.geomspace(found["log2_k"].min(), found["log2_k"].max(), 60)
    for key, style in styles.items():
        if key[0] in needed:
            n = [needed[key[0]](found["rho"].iloc[0], v) for v in log2_k]
            axes.plot(np.log2(log2_k), n, color=style["color"], linestyle="--", linewidth=0.8)


def _lower_bounds(axes, found):
    rho, omegas = found["rho"].iloc[0], found["omega"].dropna().unique()
    log2_k = np.geomspace(found["log2_k"].min(), found["log2_k"].max(), 60)
    x = np.log2(log2_k)
    axes.plot(x, [requirement.zcdp_least_n(rho, v) for v in log2_k], color="#B00020", linewidth=2.0)
    for omega in omegas:
        axes.plot(x, [requirement.tcdp_least_n(rho, omega, v) for v in log2_k], color="#B00020", linestyle=":")
        weaker = [requirement.stability_required_n(rho, omega, DELTA, v)[1] for v in log2_k]
        axes.plot(x, weaker, color="#999999", linestyle="-.", linewidth=1.2)


def _spent(table) -> pd.DataFrame:
    """Where rho and the proven n go, step by step, for the release with one level and its first noise."""
    rows = []
    chosen = table[table["method"] == "one_level"]
    for (noise, rho, omega, log2_k), part in chosen.groupby(["noise", "rho", "omega", "log2_k"], sort=False):
        spec, (accounting, beta, split) = config.named("noise", noise), part[["accounting", "beta", "split"]].iloc[0]
        how = {"family": spec["family"], "calibration": spec["calibration"], "accounting": accounting, "split": split}
        asked, bought = methods.Budget(rho, omega, **how, beta=beta), budget.parts(rho, omega, log2_k, **how)
        needed = requirement.needs(bought, log2_k, requirement.required_n(bought, log2_k, beta), beta)
        for step, records in zip(methods.ledger("one_level", asked, log2_k), (needed.gap, needed.node, needed.ends)):
            told = {"noise": noise, "rho": rho, "omega": omega, "log2_k": log2_k, "step": step.name}
            rows.append(told | {"rho_spent": step.guarantee.rho, "records": records, "source": step.source})
    return pd.DataFrame(rows)


def _budget(spent):
    noises = list(dict.fromkeys(spent["noise"]))
    figure, grid = new_figure(2, len(noises), 4.6 * len(noises) + 0.6, 6.4, sharex=True)
    for column, noise in zip(grid.T, noises):
        here = spent[spent["noise"] == noise]
        names = [f"2^{v:.0f}" for v in here["log2_k"].unique()]
        for axes, value in zip(column, ("rho_spent", "records")):
            base = np.zeros(len(names))
            for i, (step, part) in enumerate(here.groupby("step", sort=False)):
                axes.bar(names, part[value], bottom=base, color=COLOURS[i + 1], label=step, hatch=("", "//", "..")[i])
                base += part[value].to_numpy()
        column[0].set_title(config.named("noise", noise)["label"])
        column[1].set_xlabel("domain size k")
    grid[0, 0].set_ylabel("privacy budget ρ of each step")
    grid[1, 0].set_ylabel("records that the proof asks for it")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.suptitle("Where the budget goes, and what for: choosing the level, the node, the end", fontsize=11)
    return figure
