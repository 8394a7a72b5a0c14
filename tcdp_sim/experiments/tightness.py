"""How tight the guarantees of sinh-normal noise are: Renyi divergences over what Theorem 17 and Corollary 18 claim."""

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr
from rich import box
from rich.table import Table
from scipy.optimize import brentq

from tcdp_sim import exact
from tcdp_sim.errors import UserError, real
from tcdp_sim.mechanisms import PrivacyLoss
from tcdp_sim.noise import Noise, SinhNormal
from tcdp_sim.plots import GREY, WRONG, line_key, new_figure, plain_log_axis, points, series_styles
from tcdp_sim.results import cell_mechanism, mean_interval

ORDERS = 24  # at which the largest ratio is looked for: it is smooth, and largest at an end
FINE = 100  # points of the exact curves
THEOREM, COROLLARY, TIGHT = "Theorem 17", "Corollary 18", "calibrated tightly"
PRINTED = 16  # Theorem 17: where Gaussian noise of the same scale is rho-zCDP, it claims (16 rho, omega)-tCDP
PRINTED_FROM, PROVED_FROM = 0.125, np.sqrt(0.5)  # omega sqrt(rho) in Corollary 18: as printed, as its proof needs
INFINITE = {"color": GREY, "linestyle": ":", "linewidth": 1.6}


def worst_ratio(noise: Noise, rho: float, omega: float, coordinates: int = 1, shift: float = 1.0) -> float:
    """The largest of coordinates D_alpha / (rho alpha), 1 <= alpha <= omega; (rho, omega)-tCDP is that it is at most 1.

    D_alpha: the Renyi divergence of `noise` from itself moved by `shift` (counts), by quadrature; coordinates: how many
    are moved. rho > 0; omega >= 1. Infinite where the divergence is. Raises ValueError.
    """
    orders = np.geomspace(1, real("omega", omega, 1, closed=True), ORDERS)
    divergences = exact.renyi_divergence(noise, shift, orders).estimate
    return float((coordinates * divergences / (real("rho", rho, 0) * orders)).max())


def corollary_18(rho: float, omega: float) -> SinhNormal:
    """The noise that Corollary 18 adds to every bin of a histogram for (rho, omega)-tCDP, whether that holds or not."""
    return SinhNormal(scale=4 / np.sqrt(real("rho", rho, 0)), knee=8 * omega)


def false_below(rho: float) -> float:
    """The omega sqrt(rho) below which Corollary 18 is false: moving two bins by one costs more than it claims (E4).

    To 1e-9; NaN where it is true for every omega > 1 (rho > 0.029). 0 < rho < 1/2.
    """
    root = np.sqrt(real("rho", rho, 0, 0.5))

    def excess(scaled):
        omega = max(scaled / root, 1.0)
        return np.log(worst_ratio(corollary_18(rho, omega), rho, omega, 2))

    least = max(root, 0.05)
    return float(brentq(excess, least, PROVED_FROM, xtol=1e-9)) if excess(least) > 0 else np.nan


def reference(flat: xr.Dataset) -> pd.DataFrame:
    """One row a cell, then those of the exact curves (trials = 0).

    `claim`: "Corollary 18" for a noise whose scale and knee are given, read as (16 / scale^2, knee / 8)-tCDP of two
    bins; else what it was calibrated by, of one query. `ratio...`: coordinates D_order / (rho order), simulated, with
    MCSE and 95% interval; `ratio_exact`; `worst`: the largest exact ratio over the orders below omega;
    `infinite_from`: the order from which the divergence is infinite. Raises UserError for a noise of another family.
    """
    cells = flat.drop_dims([name for name in flat.dims if name != "cell"]).to_dataframe().to_dict("records")
    rows, curves = [], {}
    for i, cell in enumerate(cells):
        mechanism = cell_mechanism(flat, i)
        told = _claimed(cell, mechanism)
        rows.append(told | {"trials": cell["trials"]} | _simulated(cell, mechanism, told))
        curves.setdefault((told["claim"], told["noise_law"]), (told, mechanism.noise))
    worst, omegas = {}, {}
    for key, (told, noise) in curves.items():
        worst[key] = worst_ratio(noise, told["rho"], told["omega"], told["coordinates"])
        if told["claim"] == COROLLARY:
            omegas.setdefault(told["rho"], []).append(told["omega"])
        else:
            rows += _by_order(told, noise)
    rows = [row | {"worst": worst[row["claim"], row["noise_law"]]} for row in rows]
    return pd.DataFrame(rows + [row for rho, known in omegas.items() for row in _by_omega(rho, known)])


def _claimed(cell, mechanism: PrivacyLoss) -> dict:
    """What is claimed for a cell's noise, and where its divergence becomes infinite."""
    noise, law = mechanism.noise, json.loads(cell["law"])
    if not isinstance(noise, SinhNormal) or mechanism.order is None:
        valid = "sinh_normal, sinh_normal_tight or a scale and a knee, and an order"
        raise UserError(f"experiment tightness has no use for {noise}; valid: {valid}")
    claim, coordinates = {"paper": (THEOREM, 1), "tight": (TIGHT, 1), "given": (COROLLARY, 2)}[
        law["noise"]["calibration"]
    ]
    rho, omega = 16 / noise.scale**2, noise.knee / 8
    if "target" in law:
        rho, omega = law["target"]["rho"], law["target"]["omega"]
    if mechanism.shift != 1:
        raise UserError(f"experiment tightness has no use for shift = {mechanism.shift:g}; valid: 1, the sensitivity")
    if omega < 1:
        raise UserError(f"{noise} stands for omega = knee / 8 = {omega:.4g} in Corollary 18; valid: knee > 8")
    return {
        "claim": claim,
        "noise": cell["noise"],
        "noise_law": cell["noise_law"],
        "scale": noise.scale,
        "knee": noise.knee,
        "coordinates": coordinates,
        "rho": rho,
        "omega": omega,
        "omega_sqrt_rho": omega * np.sqrt(rho),
        "infinite_from": exact.max_order(noise, 1.0),
    }


def _simulated(cell, mechanism: PrivacyLoss, told) -> dict:
    """The ratio from the mean of e^((order - 1) L) - 1, which is inf where it is infinite or above 1e150."""
    order, trials = mechanism.order, cell["trials"]
    per_nat = told["coordinates"] / (told["rho"] * order)
    divergence = exact.renyi_divergence(mechanism.noise, 1.0, order).estimate
    row = {"order": order, "ratio_exact": per_nat * divergence}
    if cell["renyi_excess_nonfinite"] == trials > 0:
        least = per_nat * np.log(PrivacyLoss.largest) / (order - 1)
        return row | {"ratio": np.inf, "ratio_mcse": 0.0, "ratio_lower": least, "ratio_upper": np.inf}
    mean, mcse, lower, upper = mean_interval(cell, "renyi_excess")
    ends = np.maximum([lower, mean, upper], 0)
    low, middle, high = per_nat * np.log1p(ends) / (order - 1)
    error = per_nat * mcse / (1 + mean) / (order - 1)
    return row | {"ratio": middle, "ratio_mcse": error, "ratio_lower": low, "ratio_upper": high}


def _by_order(told, noise) -> list[dict]:
    """The exact curve of one noise, from order 1 to 1e-4 before where it becomes infinite."""
    beyond = told["infinite_from"] - 1
    orders = 1 + beyond * np.concatenate([np.linspace(0, 0.9, FINE), 1 - np.geomspace(0.09, 1e-4, FINE // 4)])
    ratios = exact.renyi_divergence(noise, 1.0, orders).estimate / (told["rho"] * orders)
    return [told | {"trials": 0, "order": a, "ratio_exact": r} for a, r in zip(orders.tolist(), ratios.tolist())]


def _by_omega(rho, known: list[float]) -> list[dict]:
    """The exact curve of Corollary 18 at one rho, over the omegas that were simulated."""
    rows = []
    for omega in np.geomspace(min(known), max(known), FINE if min(known) < max(known) else 1).tolist():
        noise = corollary_18(rho, omega)
        names = {"claim": COROLLARY, "noise_law": repr(noise), "scale": noise.scale, "knee": noise.knee}
        said = {"coordinates": 2, "rho": rho, "omega": omega, "omega_sqrt_rho": omega * np.sqrt(rho)}
        found = {"infinite_from": exact.max_order(noise, 1.0), "worst": worst_ratio(noise, rho, omega, 2)}
        rows.append(names | said | found | {"trials": 0})
    return rows


def report(table: pd.DataFrame, console) -> None:
    """The constants on the terminal, and how well simulation and exact values agree over all cells."""
    drawn = table[table["trials"] > 0]
    theorem, corollary = drawn[drawn["claim"] != COROLLARY], drawn[drawn["claim"] == COROLLARY]
    if len(theorem):
        console.print(_constants(theorem), soft_wrap=False)
    if len(corollary):
        console.print(_windows(corollary), soft_wrap=False)
        for rho in corollary["rho"].unique():
            edge = false_below(rho) if rho < 0.5 else np.nan
            said = "nowhere for omega > 1" if np.isnan(edge) else f"for ω√ρ < {edge:.5f}"
            console.print(f"ρ = {rho:.3g}: Corollary 18 is false {said}; printed for ω√ρ >= 0.125, proved from 0.7071.")
    random = drawn[drawn["ratio_mcse"] > 0]
    outside = int((~random["ratio_exact"].between(random["ratio_lower"], random["ratio_upper"])).sum())
    distance = ((random["ratio"] - random["ratio_exact"]) / random["ratio_mcse"]).abs().max()
    fixed = drawn[~(drawn["ratio_mcse"] > 0)]
    agree = int(fixed["ratio_exact"].between(fixed["ratio_lower"], fixed["ratio_upper"]).sum())
    console.print(
        f"The exact value is outside the simulated 95% interval in {outside} of {len(random)} cells; by chance about "
        f"{0.05 * len(random):.0f} are expected. Largest distance: {distance:.1f} standard errors. Of {len(fixed)} "
        f"cells that were infinite in every trial, {agree} are."
    )


def _constants(rows):
    out = _new_table("One query: D/(ρα) at a simulated α <= ω, its largest, and where it is infinite")
    for heading in ("noise", "ω√ρ", "ω", "α", "simulated", "±", "exact", "largest", "tight c", "α*/ω"):
        out.add_column(heading, justify="right", no_wrap=True)
    for _, cells in rows.groupby(["claim", "rho", "omega"], sort=False):
        below = _below(cells)
        row = (below if len(below) else cells).sort_values("order").iloc[-1 if len(below) else 0]
        constant = f"{PRINTED * row['worst']:.4f}" if row["claim"] == THEOREM else ""
        out.add_row(
            *({THEOREM: "Thm 17", TIGHT: "tight"}[row["claim"]], f"{row['omega_sqrt_rho']:.3g}"),
            *(f"{row['omega']:.4g}", f"{row['order']:.4g}", f"{row['ratio']:.5f}", f"{row['ratio_mcse']:.0e}"),
            *(f"{row['ratio_exact']:.5f}", f"{row['worst']:.5f}", constant),
            f"{row['infinite_from'] / row['omega']:.3f}",
        )
    return out


def _windows(rows):
    out = _new_table("Corollary 18: 2D/(ρα), the divergence of a histogram over its claim")
    for heading in ("ρ", "ω√ρ", "α", "simulated", "±", "exact", "largest", "the claim"):
        out.add_column(heading, justify="right", no_wrap=True)
    for row in _highest(rows).to_dict("records"):
        out.add_row(
            *(f"{row['rho']:.3g}", f"{row['omega_sqrt_rho']:.4g}", f"{row['order']:.4g}", f"{row['ratio']:.4f}"),
            *(f"{row['ratio_mcse']:.0e}", f"{row['ratio_exact']:.4f}", f"{row['worst']:.4f}"),
            _verdict(row),
        )
    return out


def _below(rows):
    """The rows of orders for which something is claimed."""
    return rows[rows["order"] <= rows["omega"] * (1 + 1e-9)]


def _highest(rows):
    """Of every rho and omega of Corollary 18 the highest order that counts."""
    return _below(rows).sort_values(["rho", "omega", "order"]).drop_duplicates(["rho", "omega"], keep="last")


def _new_table(title):
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))


def _verdict(row) -> str:
    scaled = row["omega_sqrt_rho"] * (1 + 1e-9)
    if scaled < PRINTED_FROM:
        return "not made"
    if row["worst"] > 1:
        return "FALSE"
    return "proved" if scaled >= PROVED_FROM else "true, unproved"


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """(a) Theorem 17's ratio against the order, (b) Corollary 18's largest one against omega sqrt(rho); a rho each."""
    for given, name, draw in ((False, "theorem_17", _by_order_figure), (True, "corollary_18", _by_omega_figure)):
        part = table[(table["claim"] == COROLLARY) == given]
        for rho, rows in part.groupby("rho", sort=False):
            yield name + f"_rho_{rho:.4g}" * (part["rho"].nunique() > 1), draw(rows, rho), rows


def _by_order_figure(part, rho):
    figure, grid = new_figure(1, 1, 7.8, 5.6)
    axes = grid[0, 0]
    axes.fill_between([0, 1], 0.01, 1, color="#009E73", alpha=0.12, linewidth=0)
    named = {_series_name(row): rows for row, rows in _groups(part)}
    styles = series_styles([(name, rows["claim"].iloc[0]) for name, rows in named.items()])
    for name, rows in named.items():
        style, rows = styles[name], rows.sort_values("order")
        drawn, curve = rows[(rows["trials"] > 0) & np.isfinite(rows["ratio"])], rows[rows["trials"] == 0]
        omega, end = rows["omega"].iloc[0], rows["infinite_from"].iloc[0]
        marks = {"color": style["color"], "marker": style["marker"]}
        x = drawn["order"] / omega
        points(axes, x, drawn["ratio"], drawn["ratio_lower"], drawn["ratio_upper"], **marks)
        axes.plot(curve["order"] / omega, curve["ratio_exact"], color=style["color"], linestyle=style["linestyle"])
        axes.plot([end / omega] * 2, [curve["ratio_exact"].iloc[-1], 10], **INFINITE | {"color": style["color"]})
    axes.axhline(1, color=GREY, linewidth=1.2)
    axes.annotate("claimed: at most 1 for α < ω", (0.03, 1.04), color=GREY, fontsize=8)
    if (part["claim"] == THEOREM).any():
        axes.axhline(1 / PRINTED, color=GREY, linewidth=0.9, linestyle=(0, (1, 2)))
        axes.annotate("1/16: Gaussian of the same scale", (0.03, 0.96 / PRINTED), color=GREY, fontsize=8, va="top")
    far = max((rows["infinite_from"] / rows["omega"]).max() for rows in named.values())
    plain_log_axis(axes)
    axes.set(xlim=(0, 1.04 * far), xlabel="order over the claimed limit, α / ω")
    axes.set(ylim=(0.045, 2), ylabel=r"$D_\alpha\,/\,(\rho\,\alpha)$")
    axes.set_title(f"Divergence of sinh-normal noise, over what is claimed (ρ = {rho:.4g})")
    keys = {name: line_key(**style) for name, style in styles.items()}
    keys["exact; markers: simulated, 95% interval"] = line_key(GREY)
    keys["α*: infinite from here on"] = line_key(**INFINITE)
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2)
    return figure


def _groups(part):
    for _, rows in part.groupby("noise_law", sort=False):
        yield rows.iloc[0], rows


def _series_name(row) -> str:
    at = f"ω√ρ = {row['omega_sqrt_rho']:.3g}"
    if row["claim"] == THEOREM:
        return f"{THEOREM}, {at}: its {PRINTED} could be {PRINTED * row['worst']:.3g}"
    return f"{row['claim']}, {at}: reaches {row['worst']:.3g}"


def _by_omega_figure(part, rho):
    figure, grid = new_figure(1, 1, 7.8, 4.8)
    axes = grid[0, 0]
    drawn = _highest(part[part["trials"] > 0])
    curve = part[part["trials"] == 0].sort_values("omega")
    low, high = curve["omega_sqrt_rho"].min() / 1.05, max(curve["omega_sqrt_rho"].max(), 1.0) * 1.05
    edge = false_below(rho) if rho < 0.5 else np.nan
    bad = edge if edge > PRINTED_FROM else PRINTED_FROM
    for start, end, colour, text in (
        (low, PRINTED_FROM, "#FFFFFF", "not\nclaimed"),
        (PRINTED_FROM, bad, WRONG, "claimed,\nbut FALSE"),
        (bad, PROVED_FROM, GREY, "claimed and true,\nbut the proof does not reach here"),
        (PROVED_FROM, high, "#009E73", "proved:\nω ≥ 1/√(2ρ)"),
    ):
        if max(start, low) < end:
            axes.axvspan(max(start, low), end, color=colour, alpha=0.13, linewidth=0)
            axes.annotate(text, (np.sqrt(max(start, low) * end), 5.4), ha="center", va="top", fontsize=8)
    axes.plot(curve["omega_sqrt_rho"], curve["worst"], color="#0072B2", label="exact, worst order below ω")
    told = {"color": "#0072B2", "marker": "o", "label": "simulated at the highest order, 95% interval"}
    points(axes, drawn["omega_sqrt_rho"], drawn["ratio"], drawn["ratio_lower"], drawn["ratio_upper"], **told)
    axes.axhline(1, color=GREY, linewidth=1.2)
    told = {"ha": "right", "color": GREY, "fontsize": 8}
    axes.annotate("claimed: at most 1 ", (high, 1), (0, 3), textcoords="offset points", **told)
    if edge > low:
        axes.annotate(f"ω√ρ = {edge:.4f}", (edge, 1), (6, 6), textcoords="offset points", fontsize=8, color=WRONG)
    axes.set_xscale("log")
    ticks = [t for t in (0.1, 0.125, 0.2, 0.3, 0.5, 0.7071, 1, 2, 5, 10) if low <= t <= high]
    axes.set_xticks(ticks, ["1/√2" if t == 0.7071 else "1/8" if t == 0.125 else f"{t:g}" for t in ticks])
    axes.set_xticks([], minor=True)
    plain_log_axis(axes)
    axes.set(xlim=(low, high), xlabel="ω√ρ")
    axes.set(ylim=(0.05, 6), ylabel=r"largest of $2\,D_\alpha\,/\,(\rho\,\alpha)$ for α < ω")
    axes.set_title(f"Corollary 18: what its histogram costs, over what it claims (ρ = {rho:.4g})")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
