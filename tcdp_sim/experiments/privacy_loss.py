"""The privacy loss of every notion's noise: its law, its tail, delta(epsilon) and Renyi curve, beside the promises."""

import json
from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr
from rich import box
from rich.markup import escape
from rich.table import Table

from tcdp_sim import config, exact
from tcdp_sim.mechanisms import PrivacyLoss
from tcdp_sim.plots import COLOURS, MARKERS, line_key, new_figure, points
from tcdp_sim.privacy import RDP, ZCDP, ApproxDP, Guarantee, delta_at, group, loss_tail_bound, renyi_bound
from tcdp_sim.results import cell_mechanism, mean_interval

GREY = "#555555"
FINE = 200  # points of the exact curves
LABELS = ("noise", "rho", "omega_sqrt_rho", "omega", "delta", "shift", "guarantee", "noise_law")
QUANTITIES = {  # name -> (what it is a function of, title on the terminal)
    "quantile": ("level", "Quantiles of the privacy loss L (nats)"),
    "tail": ("epsilon", "P[L > epsilon]"),
    "profile": ("epsilon", "delta(epsilon)"),
    "renyi": ("order", "Renyi divergence (nats)"),
}


def reference(flat: xr.Dataset) -> pd.DataFrame:
    """Long form: one row for each quantity of a cell, then the exact curves on finer grids (trials = 0).

    `quantity`: "quantile" of the loss in nats at the level `at`; "tail", P[L > at]; "profile", delta(at); "renyi", the
    divergence of order `at` in nats. `simulated` with `mcse` and 95% interval `lower`, `upper`; `exact`; `promised`:
    the most that the noise's guarantee allows (NaN where it says nothing).
    """
    rows, curves = [], {}
    cells = flat.drop_dims([name for name in flat.dims if name != "cell"]).to_dataframe().to_dict("records")
    for i, cell in enumerate(cells):
        mechanism = cell_mechanism(flat, i)
        labels = {name: cell[name] for name in LABELS if name in cell}
        labels["accounting"] = json.loads(cell["law"])["noise"]["calibration"]
        for quantity, at, found in _simulated(mechanism, cell, flat.isel(cell=i)):
            rows += _rows(labels | {"trials": cell["trials"]}, mechanism, quantity, at, found)
            curves.setdefault((repr(labels), quantity), (labels, mechanism, []))[-1].extend(at)
    for (_, quantity), (labels, mechanism, seen) in curves.items():
        at = (np.geomspace if quantity == "renyi" else np.linspace)(min(seen), max(seen), FINE)
        rows += _rows(labels | {"trials": 0}, mechanism, quantity, at, np.full((4, FINE), np.nan))
    return pd.DataFrame(rows)


def _rows(labels, mechanism, quantity, at, found):
    columns = {"at": at} | dict(zip(("simulated", "mcse", "lower", "upper"), found))
    columns |= {"exact": _exact(mechanism, quantity, at), "promised": _promised(mechanism, quantity, at)}
    numbers = (dict(zip(columns, map(float, row))) for row in zip(*columns.values()))
    return [labels | {"quantity": quantity} | row for row in numbers]


def _simulated(mechanism: PrivacyLoss, cell, ds) -> Iterator[tuple]:
    """(quantity, its arguments, (estimates, MCSEs, lower, upper)) for everything that the cell simulated."""
    if mechanism.epsilon is not None:
        for quantity, name in (("tail", "loss_tail"), ("profile", "hockey_stick")):
            estimate, mcse, low, high = mean_interval(cell, name)
            ends = np.clip([low, high], 0, 1)
            yield quantity, np.array([mechanism.epsilon]), np.array([[estimate], [mcse], [ends[0]], [ends[1]]])
    if mechanism.order is not None:
        yield "renyi", np.array([mechanism.order]), _divergence(mechanism.order, cell)
    if mechanism.epsilon is None and mechanism.order is None:
        found = [ds[f"privacy_loss_quantile{end}"].values for end in ("", "_mcse", "_lower", "_upper")]
        yield "quantile", ds["quantile"].values, np.array(found)


def _divergence(order, cell):
    """The divergence of an order from the mean of e^((order - 1) L) - 1, which is inf if infinite or above 1e150."""
    if cell["renyi_excess_nonfinite"] == cell["trials"] > 0:
        return np.array([[np.inf], [0.0], [np.log(PrivacyLoss.largest) / (order - 1)], [np.inf]])
    mean, mcse, low, high = mean_interval(cell, "renyi_excess")
    ends = np.maximum([low, mean, high], 0)
    low, middle, high = np.log1p(ends) / (order - 1)
    return np.array([[middle], [mcse / (1 + mean) / (order - 1)], [low], [high]])


def _exact(mechanism: PrivacyLoss, quantity, at):
    noise, shift = mechanism.noise, mechanism.shift
    if quantity == "profile":
        return exact.hockey_stick(noise, shift, at).estimate
    if quantity == "renyi":
        return exact.renyi_divergence(noise, shift, at).estimate
    losses = exact.PrivacyLossDistribution(noise, shift)
    return losses.sf(at) if quantity == "tail" else losses.ppf(at)


def _promised(mechanism: PrivacyLoss, quantity, at):
    promise = _promise(mechanism)
    if promise is None or quantity == "quantile" or (quantity == "renyi" and isinstance(promise, ApproxDP)):
        return np.full(len(at), np.nan)
    if quantity == "profile":
        return [delta_at(promise, x) if x >= 0 else np.nan for x in at]
    bound = partial(loss_tail_bound, promise) if quantity == "tail" else renyi_bound(promise)
    return [bound(x) for x in at]


def _promise(mechanism: PrivacyLoss) -> Guarantee | None:
    """The promise at the mechanism's shift: its own up to 1, that for groups beyond; None where nothing is promised."""
    if mechanism.promise is None:
        return None
    try:
        return mechanism.promise if mechanism.shift <= 1 else group(mechanism.promise, int(np.ceil(mechanism.shift)))
    except ValueError:
        return None


def report(table: pd.DataFrame, console) -> None:
    """A digest on the terminal, and how well simulation and exact values agree over all rows."""
    drawn = table[table["trials"] > 0]
    for quantity, part in drawn.groupby("quantity", sort=False):
        levels = np.sort(part["at"].unique())
        part = part[part["at"].isin(levels[np.unique([len(levels) // 4, (3 * len(levels)) // 4])])]
        console.print(_terminal_table(quantity, _middle_rho(part)), soft_wrap=False)
    console.print(f"{len(drawn)} simulated numbers in all: see the CSV files beside the figures.")
    console.print(_agreement(drawn))


def _middle_rho(table):
    """The rows at the middle rho, and those of noises that have none because their parameters are given."""
    rho = np.sort(table["rho"].dropna().unique())
    return table[table["rho"].isna() | (table["rho"] == rho[len(rho) // 2])] if len(rho) else table


def _terminal_table(quantity, rows):
    argument, title = QUANTITIES[quantity]
    title += "".join(f", ρ = {rho:.3g}" for rho in rows["rho"].dropna().unique())
    out = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    out.add_column("noise", no_wrap=True)
    for heading in (argument, "simulated", "± MCSE", "exact", "promised"):
        out.add_column(heading, justify="right", no_wrap=True)
    for row in rows.sort_values("at", kind="stable").to_dict("records"):
        omega = "" if row["omega"] != row["omega"] else f" ω={row['omega']:.4g}"
        numbers = [f"{row['at']:.3g}", f"{row['simulated']:.4g}", f"{row['mcse']:.2g}", f"{row['exact']:.4g}"]
        promised = "" if row["promised"] != row["promised"] else f"{row['promised']:.3g}"
        out.add_row(escape(row["noise"] + omega), *numbers, promised)
    return out


def _agreement(drawn) -> str:
    within = drawn["exact"].between(drawn["lower"], drawn["upper"])
    random = drawn["mcse"] > 0
    distance = ((drawn["simulated"] - drawn["exact"]) / drawn["mcse"])[random].abs().max()
    return (
        f"The exact value is outside the simulated 95% interval in {int((random & ~within).sum())} of "
        f"{int(random.sum())}; by chance about {0.05 * random.sum():.0f} are expected. Largest distance: "
        f"{distance:.1f} standard errors. Of {int((~random).sum())} whose trials are all 0 or all infinite, "
        f"{int((~random & within).sum())} agree."
    )


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """(a) the tail under each notion, (b) delta(epsilon), (c) the Renyi curve, (d) the law; at the middle rho."""
    table = _middle_rho(table)
    table = table.assign(series=_named(table), guarantee=table["guarantee"].replace("None", "no promise"))
    styles = {
        name: {"label": name, "color": COLOURS[i % len(COLOURS)], "marker": MARKERS[(i + i // 8) % len(MARKERS)]}
        for i, name in enumerate(table["series"].unique())
    }
    for quantity, name, draw in (
        ("tail", "loss_tail", _tail),
        ("profile", "delta_epsilon", _profile),
        ("renyi", "renyi_curve", _renyi),
        ("quantile", "loss_law", _law),
    ):
        part = table[table["quantity"] == quantity]
        if len(part):
            yield name, draw(part, styles), part.drop(columns="series")


def _named(table):
    """What each row's line is called: its noise and, where they differ, omega and shift."""
    names = table["noise"].map(lambda noise: config.named("noise", noise)["label"])
    if table["omega"].nunique() > 1:
        names += table["omega"].map(lambda omega: "" if omega != omega else f", ω = {omega:.4g}")
    if table["shift"].nunique() > 1:
        names += table["shift"].map(lambda shift: f", shift {shift:g}")
    return names


def _series(part, styles):
    """(style, simulated rows, rows of the exact curve) of each line."""
    for name, rows in part.groupby("series", sort=False):
        rows = rows.sort_values("at", kind="stable")
        yield styles[name], rows[rows["trials"] > 0], rows[rows["trials"] == 0]


def _shown(axes, style, drawn, curve):
    """Markers for what is simulated, a line for what is exact."""
    points(axes, drawn["at"], drawn["simulated"], drawn["lower"], drawn["upper"], **style)
    axes.plot(curve["at"], curve["exact"], color=style["color"])


def _on_log_axis(part):
    """Zeros far below the axis, so that a line that ends falls to its bottom; no markers and intervals there."""
    zero = part["simulated"] == 0
    gone = {name: part[name].where(~zero) for name in ("simulated", "lower", "upper")}
    low = {name: part[name].clip(lower=1e-300) for name in ("exact", "promised")}
    return part.assign(**gone, **low)


def _tail(part, styles):
    """One panel for each guarantee, with its envelope; those of zCDP and Renyi DP beside that of tCDP."""
    part = _on_log_axis(part)
    shifts = "" if part["shift"].nunique() == 1 else part["shift"].map(lambda shift: f", shift {shift:g}")
    panels = list(part.groupby(part["guarantee"] + shifts, sort=False))
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure, grid = new_figure(rows, columns, max(4.4 * columns, 7.0), 3.0 * rows + 1.2, sharex=True, sharey=True)
    for axes, (title, panel) in zip(grid.flat, panels):
        for style, drawn, curve in _series(panel, styles):
            _shown(axes, style, drawn, curve)
            axes.plot(curve["at"], curve["promised"], color=GREY, linestyle="--")
        for style, bound in _neighbouring_notions(panel):
            axes.plot(curve["at"], [bound(t) for t in curve["at"]], color=GREY, linewidth=0.9, **style)
        axes.set(yscale="log", ylim=(1e-12, 2), title=title)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel("P[L > t]")
    for axes in grid.flat[max(len(panels) - columns, 0) : len(panels)]:  # the lowest of every column
        axes.set_xlabel("privacy loss t (nats)")
        axes.tick_params(labelbottom=True)
    keys = {"the most that the guarantee allows": line_key(GREY, linestyle="--")}
    if any(_neighbouring_notions(panel) for _, panel in panels):
        keys["ρ-zCDP allows"] = line_key(GREY, linestyle=":", linewidth=0.9)
        keys["(ω, ρω)-Rényi DP allows"] = line_key(GREY, linestyle="-.", linewidth=0.9)
    _legend(figure, grid.flat[: len(panels)], keys)
    figure.suptitle("Tails of the privacy loss: what each notion allows, and what its noise does", fontsize=11)
    return figure


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
        _shown(axes, style, drawn, curve)
        axes.plot(curve["at"], curve["promised"], color=style["color"], linestyle="--", linewidth=0.8)
    axes.set(yscale="log", ylim=(1e-14, 2), xlabel="ε (nats)", ylabel="δ(ε)")
    axes.set_title("Privacy profiles: what every noise leaks beyond ε")
    keys = {"the most that the guarantee allows": line_key(GREY, linestyle="--", linewidth=0.8)}
    _legend(figure, [axes], keys)
    return figure


def _renyi(part, styles):
    figure, grid = new_figure(1, 1, 6.8, 5.0)
    axes = grid[0, 0]
    scale = part["rho"].fillna(1) * part["at"] * part["shift"] ** 2
    ratios = {name: part[name] / scale for name in ("simulated", "lower", "upper")}
    part = part.assign(**ratios, exact=(part["exact"] / scale).clip(upper=1e3))  # infinite: straight up
    for style, drawn, curve in _series(part, styles):
        drawn = drawn[np.isfinite(drawn["simulated"])]
        if len(drawn):  # truncated Laplace noise has no finite divergence
            _shown(axes, style, drawn, curve)
    axes.axhline(1, color=GREY, linestyle="--", linewidth=0.9)
    for omega in (part["omega"] / part["shift"].clip(lower=1)).dropna().unique():
        axes.axvline(omega, color=GREY, linestyle=":", linewidth=0.9)
        axes.annotate(f" ω = {omega:.4g}", (omega, 0.95), xycoords=("data", "axes fraction"), fontsize=8)
    rho, grown = "ρ " if part["rho"].notna().any() else "", "" if (part["shift"] == 1).all() else " · shift²"
    axes.set(xscale="log", ylim=(0, 2), xlabel="order α", ylabel=f"$D_\\alpha$ / ({rho}α{grown})")
    axes.set_title("Rényi divergences, over what (ρ, ω)-tCDP allows up to order ω" + (grown and " / shift"))
    _legend(figure, [axes], {"the most that tCDP allows for α < ω": line_key(GREY, linestyle="--", linewidth=0.9)})
    return figure


def _law(part, styles):
    figure, grid = new_figure(1, 1, 6.8, 5.0)
    axes = grid[0, 0]
    for style, drawn, curve in _series(part, styles):
        left, right = drawn["simulated"] - drawn["lower"], drawn["upper"] - drawn["simulated"]
        axes.errorbar(drawn["simulated"], drawn["at"], xerr=[left, right], linestyle="none", capsize=1.5, **style)
        axes.plot(curve["exact"], curve["at"], color=style["color"])
    axes.set(xlabel="privacy loss l (nats)", ylabel="P[L ≤ l]", title="The law of the privacy loss")
    _legend(figure, [axes], {})
    return figure


def _legend(figure, all_axes, keys):
    found = {}
    for axes in all_axes:
        handles, labels = axes.get_legend_handles_labels()
        found |= dict(zip(labels, handles))
    found |= {"exact (markers: simulated, 95% interval)": line_key(GREY)} | keys
    figure.legend(found.values(), found, loc="outside lower center", ncols=2)
