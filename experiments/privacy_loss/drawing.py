"""Figures of the privacy losses of every noise: tail, profile, Renyi curve and law, inside the guarantees' bounds."""

from collections.abc import Iterator
from functools import partial
from math import isnan

import numpy as np
import pandas as pd

from tcdp_sim.privacy import RDP, ZCDP, loss_tail_bound
from tcdp_sim.report.labels import short
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import Series, line_of, marks_of, noise_styles
from tcdp_sim.report.plots import GREY, KIND, captioned, headed, new_figure, note, points, rounded_in

SIGNS = {"rho": "ρ =", "omega": "ω =", "delta": "δ =", "shift": "shift"}
LEVEL = 0.95  # of the quantile in the title of the law
ALLOWED = {"color": GREY, "linestyle": (0, (6, 1)), "linewidth": 0.8, "alpha": 0.8}


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw (a) the tail under each notion, (b) delta(epsilon), (c) the Renyi curve, (d) the law; at the middle rho."""
    table = middle_rho(table)
    table = table.assign(series=_named(table), guarantee=table["guarantee"].replace("None", "no promise"))
    styles = noise_styles(_series_of(row) for row in table.drop_duplicates("series").to_dict("records"))
    for quantity, name, draw in (
        ("tail", "loss_tail", _tail),
        ("profile", "delta_epsilon", _profile),
        ("renyi", "renyi_curve", _renyi),
        ("quantile", "loss_law", _law),
    ):
        part = table[table["quantity"] == quantity]
        if len(part):
            yield name, captioned(draw(part, styles), part, "losses in nats"), part.drop(columns="series")


def _series_of(row) -> Series:
    variant = row["series"].removeprefix(row["noise_label"])
    return Series(row["series"], row["noise"], row["noise_family"], row["noise_calibration"], variant)


def middle_rho(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows at the middle rho, and the rows of noises without rho because their parameters are given."""
    rho = np.sort(table["rho"].dropna().unique())
    return table[table["rho"].isna() | (table["rho"] == rho[len(rho) // 2])] if len(rho) else table


def _named(table):
    """Return the name of each row's line: its noise and, where they differ, omega, delta and shift."""
    names = table["noise_label"].copy()
    for name, sign in SIGNS.items():
        if name != "rho" and name in table and table[name].nunique() > 1:
            names += table[name].map(lambda value, sign=sign: "" if isnan(value) else f", {sign} {value:.4g}")
    return names


def _series(part, styles):
    """Yield (style, simulated rows, rows of the exact curve) of each line."""
    for name, rows in part.groupby("series", sort=False):
        rows = rows.sort_values("at", kind="stable")
        yield styles[name], rows[rows["trials"] > 0], rows[rows["trials"] == 0]


def _points_and_curve(axes, style, drawn, curve):
    """Draw markers for simulated values and a line for exact ones."""
    points(axes, drawn["at"], drawn["simulated"], drawn["lower"], drawn["upper"], **marks_of(style))
    axes.plot(curve["at"], curve["exact"], **line_of(style))


def _on_log_axis(part):
    """Return the rows with zeros of lines moved far below the axis and zeros of markers removed."""
    zero = part["simulated"] == 0
    gone = {name: part[name].where(~zero) for name in ("simulated", "lower", "upper")}
    low = {name: part[name].clip(lower=1e-300) for name in ("exact", "promised")}
    return part.assign(**gone, **low)


def _tail(part, styles):
    """Draw one panel for each guarantee with its envelope. All of them are tail bounds."""
    title, part = _shares("The tail of the privacy loss", part, 1e-12), _on_log_axis(part)
    shifts = "" if part["shift"].nunique() == 1 else part["shift"].map(lambda shift: f", shift {shift:g}")
    panels = list(part.groupby(part["guarantee"] + shifts, sort=False))
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure, grid = new_figure(rows, columns, max(4.4 * columns, 7.0), 3.0 * rows + 1.2, sharex=True, sharey=True)
    for axes, (name, panel) in zip(grid.flat, panels):
        for style, drawn, curve in _series(panel, styles):
            _points_and_curve(axes, style, drawn, curve)
            axes.plot(curve["at"], curve["promised"], **ALLOWED)
        for style, bound in _neighbouring_notions(panel):
            axes.plot(curve["at"], [bound(t) for t in curve["at"]], **ALLOWED | style)
        axes.set(yscale="log", ylim=(1e-12, 2), title=rounded_in(str(name), 4))
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel("P[L > t]")
    for axes in grid.flat[max(len(panels) - columns, 0) : len(panels)]:  # the lowest of every column
        axes.set_xlabel("privacy loss t (nats)")
        axes.tick_params(labelbottom=True)
    keys = {"the most that the guarantee allows": ALLOWED}
    if any(_neighbouring_notions(panel) for _, panel in panels):
        keys["ρ-zCDP allows"] = ALLOWED | {"linestyle": ":"}
        keys["(ω, ρω)-Rényi DP allows"] = ALLOWED | {"linestyle": "-."}
    _legend(figure, part, styles, keys)
    _note_least(figure, part, 1e-12)
    headed(figure, title)
    return figure


def _shares(what: str, part, floor: float) -> str:
    """Return a title: the largest share of its guaranteed privacy loss that a noise reaches above the floor.

    It names the noises of the largest and of the smallest such share.
    """
    curves = part[(part["trials"] == 0) & (part["exact"] > floor)]
    largest = (curves["exact"] / curves["promised"]).groupby(curves["series"], sort=False).max().dropna()
    if not len(largest):
        return f"No guarantee here bounds {what[0].lower()}{what[1:]}"
    most, least = (
        f"{largest[name]:.0%} of what its guarantee allows with {short(str(name))}"
        for name in (largest.idxmax(), largest.idxmin())
    )
    least = least.replace(" of what its guarantee allows", "")
    return f"{what} reaches {most}" + (f", and at most {least}" if len(largest) > 1 else "")


def _note_least(figure, part, floor: float) -> None:
    """Let the caption state the smallest simulated probability above the floor of the axis, and the trials."""
    drawn = part[(part["trials"] > 0) & (part["simulated"] > floor)]
    if len(drawn):
        least = f"down to {drawn['simulated'].min():.0e} by importance sampling"
        note(figure, "rare", f"{drawn['trials'].max():,} trials for each marker show probabilities {least}")


def _neighbouring_notions(panel):
    first = panel.iloc[0]
    if not first["guarantee"].endswith("tCDP") or first["shift"] > 1:
        return []
    rho, omega = first["rho"], first["omega"]
    return [
        ({"linestyle": ":"}, partial(loss_tail_bound, ZCDP(rho))),
        ({"linestyle": "-."}, partial(loss_tail_bound, RDP(omega, rho * omega))),
    ]


def _profile(part, styles):
    figure, grid = new_figure(1, 1, 6.8, 5.2)
    axes = grid[0, 0]
    for style, drawn, curve in _series(_on_log_axis(part), styles):
        _points_and_curve(axes, style, drawn, curve)
        axes.plot(curve["at"], curve["promised"], **ALLOWED | {"color": style["color"]})
    axes.set(yscale="log", ylim=(1e-14, 2), xlabel="ε (nats)", ylabel="δ(ε)")
    headed(figure, _shares("δ(ε)", part, 1e-14))
    _legend(figure, part, styles, {"the most that the guarantee allows": ALLOWED})
    _note_least(figure, part, 1e-14)
    return figure


def _renyi(part, styles):
    figure, grid = new_figure(1, 1, 6.8, 5.0)
    axes = grid[0, 0]
    scale = part["rho"].fillna(1) * part["at"] * part["shift"] ** 2
    ratios = {name: part[name] / scale for name in ("simulated", "lower", "upper")}
    part = part.assign(**ratios, exact=(part["exact"] / scale).clip(upper=1e3))  # an infinite line goes straight up
    for style, drawn, curve in _series(part, styles):
        drawn = drawn[np.isfinite(drawn["simulated"])]
        if len(drawn):
            _points_and_curve(axes, style, drawn, curve)
    axes.axhline(1, **ALLOWED)
    for omega in (part["omega"] / part["shift"].clip(lower=1)).dropna().unique():
        axes.axvline(omega, color=GREY, linestyle=":", linewidth=0.9)
        axes.annotate(f" ω = {omega:.4g}", (omega, 0.95), xycoords=("data", "axes fraction"), fontsize=8)
    rho, grown = "ρ " if part["rho"].notna().any() else "", "" if (part["shift"] == 1).all() else " · shift²"
    axes.set(xscale="log", ylim=(0, 2), xlabel="order α", ylabel=f"$D_\\alpha$ / ({rho}α{grown})")
    headed(figure, _largest_below(part))
    finite = part[part["trials"].eq(0) | np.isfinite(part["simulated"])]
    shown = finite[finite["trials"] > 0]
    _legend(figure, shown, styles, {"the most that tCDP allows for α < ω": ALLOWED})
    if missing := [name for name in part["series"].unique() if name not in set(shown["series"])]:
        note(figure, "infinite", f"not drawn, because infinite at every order: {', '.join(map(short, missing))}")
    return figure


def _largest_below(part) -> str:
    """Return the title: the noises of the largest and the smallest ratio below every omega. `exact` holds ratios."""
    limits = (part["omega"] / part["shift"].clip(lower=1)).dropna()
    limit = limits.min() if len(limits) else np.inf
    below = part[(part["trials"] == 0) & (part["at"] < limit) & (part["exact"] < 1e3)]
    largest = below.groupby("series", sort=False)["exact"].max()
    where = f"up to order {limit:.4g}" if np.isfinite(limit) else "at all orders drawn"
    if not len(largest):
        return f"No Rényi divergence is finite {where}"
    most, least = (f"{largest[name]:.2g} with {short(str(name))}" for name in (largest.idxmax(), largest.idxmin()))
    told = f"The Rényi divergence {where} is at most {most.replace(' with', ' times ρα with', 1)}"
    return told + (f", and {least}" if len(largest) > 1 else "")


def _law(part, styles):
    figure, grid = new_figure(1, 1, 6.8, 5.0)
    axes = grid[0, 0]
    for style, drawn, curve in _series(part, styles):
        drawn = drawn[np.isfinite(drawn["simulated"])]  # infinite quantiles are off the axes
        left, right = drawn["simulated"] - drawn["lower"], drawn["upper"] - drawn["simulated"]
        whiskers = {"xerr": [left, right], "linestyle": "none", "capsize": 1.5}
        axes.errorbar(drawn["simulated"], drawn["at"], **whiskers, **marks_of(style))
        axes.plot(curve["exact"], curve["at"], **line_of(style))
    axes.set(xlabel="privacy loss l (nats)", ylabel="P[L ≤ l]")
    headed(figure, _high_losses(part))
    _legend(figure, part, styles, {})
    return figure


def _high_losses(part) -> str:
    """Return the title: the noises with the smallest and the largest 95% quantile of the privacy loss."""
    curves = part[part["trials"] == 0].sort_values("at")
    high = {
        short(str(name)): float(np.interp(LEVEL, rows["at"], rows["exact"]))
        for name, rows in curves.groupby("series", sort=False)
    }
    finite = {name: value for name, value in high.items() if np.isfinite(value)}
    if not finite:
        return "No quantile of the privacy loss is known exactly"
    least, most = (f"{choose(finite.values()):.3g} nats with" for choose in (min, max))
    told = f"The {LEVEL:.0%} quantile of the privacy loss is {least} {min(finite, key=finite.__getitem__)}"
    return told + (f", and {most} {max(finite, key=finite.__getitem__)}" if len(finite) > 1 else "")


def _legend(figure, part, styles, keys):
    """Draw a legend of the series of `part` and of `keys` (label -> style)."""
    legend_below(figure, {name: styles[name] for name in part["series"].unique()} | keys, 2)
    note(figure, "kind", KIND)
    if part["shift"].nunique() == 1:
        note(figure, "shift", f"shift {part['shift'].iloc[0]:g}")
