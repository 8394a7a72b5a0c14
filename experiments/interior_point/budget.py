"""The steps that the budget is spent on, and the domains on which one more level of recursion pays."""

from typing import cast

import numpy as np
import pandas as pd

from tcdp_sim.ordered.interior import budget, methods, records_needed
from tcdp_sim.ordered.interior.recursive_release import plan_recursion
from tcdp_sim.privacy import TCDP, ZCDP
from tcdp_sim.report.findings import span
from tcdp_sim.report.looks import level_styles, method_look, noise_look
from tcdp_sim.report.plots import headed, new_figure, note, plain_log_axis

LOGLOG = (4, 16, 64, 128, 200, 400, 1000)
DEPTHS = {1: noise_look("sinh_normal", "tight"), 2: method_look("recursion_2"), 3: method_look("recursion_3")}


def spent_table(table) -> pd.DataFrame:
    """Return the rho and the proved n of each step, for the release with one level and its first noise."""
    rows = []
    chosen = table[table["method"] == "one_level"]
    for (noise, rho, omega, log2_k), part in chosen.groupby(["noise", "rho", "omega", "log2_k"], sort=False):
        row = part.iloc[0]
        how = {"family": row["noise_family"], "calibration": row["noise_calibration"]}
        how |= {name: row[name] for name in ("accounting", "split")}
        guarantee, failure = TCDP(rho, omega), row["beta"]
        whole = methods.Budget(guarantee, **how, failure=failure)
        budget_split = budget.split_budget(guarantee, log2_k, **how)
        n = records_needed.required_records(budget_split, log2_k, failure)
        needed = records_needed.needs(budget_split, log2_k, n, failure)
        for step, records in zip(methods.ledger("one_level", whole, log2_k), (needed.gap, needed.node, needed.ends)):
            labels = {"noise": noise, "rho": rho, "omega": omega, "log2_k": log2_k, "step": step.name}
            labels["noise_label"] = row["noise_label"]
            spent = cast(ZCDP | TCDP, step.guarantee).rho
            rows.append(labels | {"rho_spent": spent, "records": records, "source": step.source})
    return pd.DataFrame(rows)


def budget_figure(spent):
    """Draw the rho and the proved records of each step of `spent_table`, stacked, against k."""
    noises = list(dict.fromkeys(spent["noise"]))
    figure, grid = new_figure(2, len(noises), 4.6 * len(noises) + 0.6, 6.4, sharex=True)
    for column, noise in zip(grid.T, noises):
        here = spent[spent["noise"] == noise]
        names = [f"2^{v:.0f}" for v in here["log2_k"].unique()]
        for axes, value in zip(column, ("rho_spent", "records")):
            base = np.zeros(len(names))
            looks = level_styles(here["step"]).values()
            for (step, part), look, hatch in zip(here.groupby("step", sort=False), looks, ("", "//", "..")):
                bars = {"color": look["color"], "hatch": hatch, "edgecolor": "white", "linewidth": 0}
                axes.bar(names, part[value], bottom=base, label=step, **bars)
                base += part[value].to_numpy()
        column[0].set_title(here["noise_label"].iloc[0])
        column[1].set_xlabel("domain size k")
        column[1].tick_params(axis="x", labelsize=8)
    grid[0, 0].set_ylabel("privacy budget ρ of each step")
    grid[1, 0].set_ylabel("records that the proof asks for it")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    headed(figure, _dearest(spent))
    return figure


def _dearest(spent) -> str:
    """Return the title: the step that takes most of the budget over all domains, and its shares of rho and records."""
    wide = [
        spent.pivot_table(index=["noise", "log2_k"], columns="step", values=name) for name in ("rho_spent", "records")
    ]
    rho, records = (values.div(values.sum(axis=1), axis=0) for values in wide)
    step = rho.mean().idxmax()
    shares = (span(values[step], "{:.0%}".format) for values in (rho, records))
    return "The {} takes {} of the privacy budget, and the proof asks {} of the records for it".format(step, *shares)


def depth_table(rho: float, omega: float) -> pd.DataFrame:
    """Return the n that is proved to suffice at each depth of the recursion, for k = 2^(2^x), from bounds alone."""
    rows = []
    for x in LOGLOG:
        for depth in DEPTHS:
            n = plan_recursion(TCDP(rho, omega), 2.0**x, depth).required_records()
            rows.append({"rho": rho, "omega": omega, "log2_log2_k": x, "depth": depth, "required_n": n})
    return pd.DataFrame(rows)


def depth_figure(table):
    """Draw the proved n against log2 log2 k, with one line for each depth."""
    figure, grid = new_figure(1, 1, 6.8, 4.6)
    axes = grid[0, 0]
    for depth, part in table.groupby("depth"):
        label = f"{depth} level{'s' if depth > 1 else ''}"
        axes.plot(part["log2_log2_k"], part["required_n"], label=label, **DEPTHS[depth])
    axes.set(xscale="log", xlabel="log2 log2 k", ylabel="records n proved to suffice")
    plain_log_axis(axes)
    first = part.iloc[0]
    note(figure, "noise", f"tight sinh-normal noise, ρ = {first['rho']:g}, ω = {first['omega']:.3g}")
    headed(figure, _verdict(table))
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=len(DEPTHS))
    return figure


def _verdict(table) -> str:
    """Return the title: the largest domain shown up to which one level is best."""
    n = table.pivot_table(index="log2_log2_k", columns="depth", values="required_n")
    later = n.index[n[1] > n.min(axis=1)]
    if not len(later):
        return "By proved bounds one level is best on every domain shown"
    earlier = n.index[n.index < later[0]]
    best = f"one level is best up to k = $2^{{2^{{{earlier[-1]:g}}}}}$, and " if len(earlier) else ""
    return f"By proved bounds {best}more levels are better from k = $2^{{2^{{{later[0]:g}}}}}$ on at the latest"
