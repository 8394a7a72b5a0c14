"""The privacy that the selections spend, by the exact law of their output on neighbours, beside their promise."""

import numpy as np
import pandas as pd

from tcdp_sim import exact
from tcdp_sim.experiments.gap_max import series
from tcdp_sim.experiments.gap_max.exact_values import exact_arguments, rebuilt
from tcdp_sim.privacy import TCDP, ZCDP
from tcdp_sim.report.looks import line_of
from tcdp_sim.report.plots import GREY, new_figure

EXACT = ("generalized_histogram", "obvious_answer", "stability")  # the gap alone determines the law of their output
SHOWN = ("gaussian", "sinh_normal_tight", "truncated_laplace", "")
PROMISED = {"linewidth": 5, "alpha": 0.25, "linestyle": "-"}
LABELS = ("series", "algorithm", "noise", "accounting", "k", "rho", "omega_sqrt_rho", "omega", "neighbours")


def spent(table: pd.DataFrame) -> pd.DataFrame:
    """Return a long table at the middle k: delta(epsilon) and D_order of each series' output, worst over neighbours.

    The columns are `series`, `k`, `kind` ("delta" or "renyi"), `x` (epsilon in nats, or the order), `spent` and
    `promised`.
    """
    rows = table[table["algorithm"].isin(EXACT) & (table["accounting"] != "paper") & table["noise"].isin(SHOWN)]
    if not len(rows):
        return pd.DataFrame()
    sizes = np.sort(rows["k"].unique())
    rows = rows[rows["k"] == sizes[len(sizes) // 2]].drop_duplicates("series")
    return pd.DataFrame([point for row in rows.to_dict("records") for point in _spent(row)])


def _spent(row):
    mechanism = rebuilt(row)
    algorithm, noise, delta = exact_arguments(mechanism)
    pairs = exact.worst_pairs(algorithm, noise, mechanism.k, delta=delta)
    shift = 2.0 if algorithm == "generalized_histogram" else 1.0
    base = {name: row[name] for name in LABELS if name in row}
    for epsilon in np.sqrt(2 * row["rho"]) * np.linspace(0, 4, 41):
        promised = max(exact.hockey_stick(noise, shift, epsilon).upper, delta or 0.0)
        value = exact.worst_delta(pairs, epsilon).estimate
        yield base | {"kind": "delta", "x": epsilon, "spent": value, "promised": promised}
    if isinstance(mechanism.promise, TCDP | ZCDP):
        for order in np.geomspace(1.05, min(getattr(mechanism.promise, "omega", 40.0), 40.0), 25):
            value, promised = exact.worst_renyi(pairs, order).estimate, mechanism.promise.rho * order
            yield base | {"kind": "renyi", "x": order, "spent": value, "promised": promised}


def privacy_figure(spending: pd.DataFrame, looks):
    """Draw delta(epsilon), and D_order / order in units of rho. Broad pale lines are the promise."""
    figure, grid = new_figure(1, 2, 9.6, 3.8)
    for axes, kind in zip(grid[0], ("delta", "renyi")):
        for label, rows in spending[spending["kind"] == kind].groupby("series", sort=False):
            unit = rows["x"] * rows["rho"] if kind == "renyi" else 1.0
            axes.plot(rows["x"], rows["promised"] / unit, color=looks[label]["color"], **PROMISED)
            axes.plot(rows["x"], rows["spent"] / unit, **line_of(looks[label]))
    grid[0, 0].set(xlabel="ε (nats)", ylabel="δ(ε)", yscale="log", ylim=(1e-8, None), title="privacy profile")
    grid[0, 1].set(xlabel="order α", ylabel="D_α / (ρ α)", xscale="log", ylim=(0, 1.1), title="Rényi divergence")
    keys = {
        "spent by the selection: exact, worst over neighbours": {"color": GREY},
        "promised: left by the noise of its queries, right ρα": {"color": GREY} | PROMISED,
    }
    series.legend(figure, spending, looks, 2, keys)
    k, rho = spending["k"].iloc[0], spending["rho"].iloc[0]
    figure.suptitle(f"Privacy spent and promised, k = {series.size(k)}, ρ = {rho:g}", fontsize=11)
    return figure
