"""Figures of policies against the influence, the looseness of printed policies, and (epsilon, delta) at equal zCDP."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from tcdp_sim.experiments.per_record.series import label_order
from tcdp_sim.experiments.per_record.series import styles as release_styles
from tcdp_sim.report.labels import End, label_ends
from tcdp_sim.report.looks import DASHES, FILLS, line_of, marks_of
from tcdp_sim.report.plots import DARK, GREY, captioned, headed, line_key, new_figure, plain_log_axis, points

PRINTED = {"linewidth": 0.8, "alpha": 0.75, "linestyle": (0, (4, 1.5))}
DELTA = 1e-6  # the number stands at this delta
LOWEST = 1e-12  # least delta on the axis
CLOSE = 1.25  # two epsilons with a smaller ratio are written as one


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw (a) policies against the influence, (b) printed over exact against the largest loss, (c) delta(epsilon)."""
    styles = release_styles(table[table["quantity"] == "curve"])
    policies = table[table["quantity"].isin(["supremum", "curve", "record"])]
    if (policies["quantity"] == "curve").any():
        yield "policies", captioned(_policies(policies, styles), policies, _unit(table)), policies
    loose = table[table["quantity"] == "looseness"]
    yield "looseness", captioned(_looseness(loose), loose, "losses in nats; exact values"), loose
    profiles = table[table["quantity"].isin(["profile", "profile_curve", "epsilon"])]
    if len(profiles):
        yield "epsilon_delta", captioned(_profiles(profiles, styles), profiles, _unit(table)), profiles


def _unit(table: pd.DataFrame) -> str:
    """Return the caption's words: the unit, and the origin of anchors and influences."""
    illustration = "influences are read off the records: an illustration, not to be released"
    confidential = table["note"].fillna("").ne("").any()
    return "losses in nats" + (f"; {illustration}" if confidential else "")


def _policies(part: pd.DataFrame, styles: dict[str, Any]) -> Any:
    figure, grid = new_figure(1, 1, 7.2, 5.4)
    axes = grid[0, 0]
    curves, drawn = part[part["quantity"] == "curve"], part[part["quantity"] == "supremum"]
    for name, style in styles.items():
        curve, own = (rows[rows["label"] == name] for rows in (curves, drawn))
        axes.plot(curve["t"], curve["printed"], color=style["color"], **PRINTED)
        axes.plot(curve["t"], curve["policy"], **line_of(style))
        points(axes, own["t"], own["simulated"], own["lower"], own["upper"], **marks_of(style))
    low, high = curves["policy"].min(), curves["printed"].max()
    axes.set(xscale="log", yscale="log", ylim=(max(low, 1e-9 * high) / 20, 2 * high))
    _rug(axes, part[part["quantity"] == "record"])
    factor = (curves["printed"] / curves["policy"]).max()
    axes.set(xlabel="influence t of the record: the most it changes the answer (counts)")
    axes.set(ylabel="zCDP of the record: sup over orders of $D_\\alpha/\\alpha$ (nats)")
    headed(figure, f"Printed policies are up to {factor:.3g} times what a record really gives away")
    keys = {name: line_key(**style) for name, style in styles.items()}
    keys["printed policy"] = line_key(GREY, **PRINTED)
    keys["exact (line); simulated, 95% interval (markers)"] = line_key(GREY, marker="o")
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2)
    return figure


def _rug(axes: Any, records: pd.DataFrame) -> None:
    """Draw a stroke at the value of each record, darker where there are many."""
    if not len(records):
        return
    for t, count in zip(records["t"], records["count"]):
        axes.axvline(t, ymax=0.035, color="#000000", linewidth=0.5, alpha=min(1.0, 0.25 + 0.05 * count))
    place = {"xycoords": "axes fraction", "fontsize": 7.5, "color": GREY, "ha": "right"}
    axes.annotate(f"{int(records['count'].sum()):,} records", (0.99, 0.045), **place)


def _looseness(part: pd.DataFrame) -> Any:
    figure, grid = new_figure(1, 1, 7.0, 4.8)
    axes = grid[0, 0]
    ends = []
    for name, look in release_styles(part).items():  # variants of a release differ in filling and dashes
        style = look | {"linestyle": DASHES[FILLS.index(look["fillstyle"])]}
        rows = part[part["label"] == name].sort_values("pure")
        axes.plot(rows["pure"], rows["looseness"], **style)
        ends.append(End(name, name, rows["pure"].iloc[-1], rows["looseness"].iloc[-1], style))
    plain_log_axis(axes)
    axes.set(xscale="log", xlabel="largest loss P of the record (nats)")
    axes.set(ylabel="printed zCDP, P tanh(P/2), over the exact one")
    label_ends(axes, ends)
    headed(figure, f"The printed policy of additive noise is 1 to {part['looseness'].max():.3g} times the exact one")
    return figure


def _profiles(part: pd.DataFrame, styles: dict[str, Any]) -> Any:
    """Draw a panel for the smallest and the largest influence, with the releases of one common printed zCDP there."""
    sizes = sorted({part["t"].min(), part["t"].max()})
    figure, grid = new_figure(1, len(sizes), 4.6 * len(sizes) + 0.6, 4.8, sharey=True)
    named: dict[str, Any] = {}
    for axes, t in zip(grid[0], sizes):
        panel = _equally_printed(part[part["t"] == t])
        for name in label_order(panel):
            named[name] = styles[name]
            _profile(axes, panel[panel["label"] == name], styles[name])
        _mark_epsilons(axes, panel.loc[panel["quantity"] == "epsilon", "exact"])
        printed, count = panel["printed"].iloc[0], panel["label"].nunique()
        axes.axhline(DELTA, color=GREY, linewidth=0.8, linestyle=":")
        axes.set(xscale="log", yscale="log", ylim=(LOWEST, 2), xlabel="ε (nats)")
        title = f"record of t = {t:.4g}: {count} releases" if count > 1 else f"record of t = {t:.4g}"
        axes.set_title(f"{title} printed as {printed:.3g}-zCDP")
    grid[0, 0].set_ylabel("δ(ε)")
    keys = {name: line_key(**style) for name, style in named.items()}
    keys["exact (line); simulated, 95% interval (markers)"] = line_key(GREY, marker="o")
    keys[f"ε at δ = {DELTA:g}, where its number stands"] = line_key(GREY, linestyle=":")
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2)
    headed(figure, "Equal printed zCDP is not equal (ε, δ)")
    return figure


def _equally_printed(panel: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the largest set of releases whose printed zCDP agrees to three digits."""
    panel = panel.assign(digits=panel["printed"].map(lambda value: f"{value:.3g}"))
    counts = panel.groupby("digits", sort=False)["label"].nunique()
    return panel[panel["digits"] == counts.idxmax()]


def _profile(axes: Any, rows: pd.DataFrame, style: dict[str, Any]) -> None:
    curve = rows[rows["quantity"] == "profile_curve"].sort_values("at")
    drawn = rows[(rows["quantity"] == "profile") & (rows["simulated"] > LOWEST)]
    axes.plot(curve["at"], curve["exact"].clip(lower=1e-300), **line_of(style))
    points(axes, drawn["at"], drawn["simulated"], drawn["lower"], drawn["upper"], **marks_of(style))


def _mark_epsilons(axes: Any, epsilons: pd.Series) -> None:
    """Write a number where the curves cross DELTA: one for each curve, or one for a group of close curves."""
    groups: list[list[float]] = []
    for epsilon in sorted(epsilons):
        if groups and epsilon < CLOSE * groups[-1][0]:
            groups[-1].append(epsilon)
        else:
            groups.append([epsilon])
    place = {"textcoords": "offset points", "rotation": 90, "fontsize": 7.5, "ha": "right", "va": "top", "color": DARK}
    for group in groups:
        texts = dict.fromkeys(f"{epsilon:.4g}" for epsilon in (group[0], group[-1]))
        axes.annotate("ε = " + " to ".join(texts), (group[0], DELTA), (-2, -3), **place)
