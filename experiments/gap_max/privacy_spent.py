"""The privacy that the selections spend, by the exact law of their output on neighbours, against their guarantee."""

import numpy as np
import pandas as pd

from tcdp_sim import exact
from tcdp_sim.experiments.gap_max import series
from tcdp_sim.experiments.gap_max.exact_values import exact_arguments, rebuilt
from tcdp_sim.report.findings import listed, span
from tcdp_sim.report.labels import short
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import Style
from tcdp_sim.report.plots import GREY, headed, new_figure, note, size, wrapped

EXACT = ("generalized_histogram", "obvious_answer", "stability")  # the gap alone determines the law of their output
SHOWN = ("gaussian", "sinh_normal_tight", "truncated_laplace", "")
MARKS = {  # where the lines of both algorithms coincide, their markers alternate
    "generalized_histogram": {"markevery": (0, 6), "fillstyle": "none"},
    "obvious_answer": {"markevery": (3, 6), "fillstyle": "full"},
}
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
    if mechanism.promise.rho_omega is not None:
        rho, omega = mechanism.promise.rho_omega
        for order in np.geomspace(1.05, min(omega, 40.0), 25):
            value, promised = exact.worst_renyi(pairs, order).estimate, rho * order
            yield base | {"kind": "renyi", "x": order, "spent": value, "promised": promised}


def privacy_figure(spending: pd.DataFrame, looks):
    """Draw delta(epsilon) over the guaranteed delta above, D_order / (rho order) below, and a column for each noise.

    Noises whose guarantee bounds a Renyi divergence come first. The panels below the others have no axes.
    """
    told = set(spending.loc[spending["kind"] == "renyi", "noise"])
    rows = spending.drop_duplicates("series").sort_values("noise", key=lambda noise: ~noise.isin(told), kind="stable")
    columns = {_column(row): row for row in rows.to_dict("records")}
    figure, grid = new_figure(2, len(columns), 2.8 * len(columns) + 0.8, 5.6, sharex="row", sharey="row")
    for (profile, divergence), (title, first) in zip(grid.T, columns.items()):
        own = spending[spending["noise"] == first["noise"]]
        for label, rows in own.groupby("series", sort=False):
            style = looks[label] | MARKS.get(rows["algorithm"].iloc[0], {"markevery": 6})
            for axes, kind in ((profile, "delta"), (divergence, "renyi")):
                part = rows[rows["kind"] == kind]
                axes.plot(part["x"], part["spent"] / part["promised"].where(part["promised"] > 0), **style)
        for axes in (profile, divergence):
            axes.axhline(1, color=GREY, **PROMISED)
        profile.set(xlabel="ε (nats)", title=title)
        divergence.set(xlabel="order α", xscale="log")
        if first["noise"] not in told:
            divergence.set_visible(False)
            note(figure, "none", "(ε, δ)-DP promises no Rényi divergence")
    grid[0, 0].set_ylabel("δ(ε) over what is promised")
    grid[1, 0].set_ylabel("$D_\\alpha$ over the promised ρα")
    for row, kind in zip(grid, ("delta", "renyi")):
        row[0].set_ylim(*_range(spending[spending["kind"] == kind]))
    keys: dict[str, Style] = {
        series.ALGORITHMS[name]: {"color": GREY} | MARKS[name] | {"linestyle": series.DASHES.get((name, "tight"), "-")}
        for name in MARKS
        if (spending["algorithm"] == name).any()
    }
    keys["promised: δ(ε) of the noise of its queries, and ρα"] = {"color": GREY} | PROMISED
    figure.set_figheight(figure.get_figheight() + 0.1)
    legend_below(figure, keys, 2)
    note(figure, "kind", "exact, the worst over neighbours; nothing here is simulated")
    headed(figure, _finding(spending))
    return figure


def _column(row) -> str:
    """Return the title of a row's column: its noise, or the name of a method without noise."""
    label = row["series"].partition(", ")[2] if row["noise"] else row["series"]
    return "\n".join(wrapped(short(label), 30))


def _range(spending) -> tuple[float, float]:
    """Return the ends of the axis of a share of what is promised, which begins a little below the least value."""
    shares = (spending["spent"] / spending["promised"])[spending["promised"] > 0]
    least = shares.min() if len(shares) else 0.0
    return max(np.floor(10 * least) / 10 - 0.1, 0.0), 1.05


def _finding(spending) -> str:
    """Return in words which share of the promised Renyi divergence is spent."""
    k, rho = spending["k"].iloc[0], spending["rho"].iloc[0]
    told = []
    for _, rows in spending[spending["kind"] == "renyi"].groupby("noise", sort=False):
        shares, name = rows["spent"] / rows["promised"], short(rows["series"].iloc[0].partition(", ")[2])
        told.append(f"{span(shares, '{:.0%}'.format)} with {name}")
    at = f"at k = {size(k)} and ρ = {rho:g}"
    if not told:
        return f"No Rényi divergence is promised by the selections {at}"
    return f"Private selection {at} spends only {listed(told)} of the Rényi divergence that it promises"
