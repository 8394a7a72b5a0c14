"""From how many bins on tCDP beats zCDP: sinh-normal noise against the Gaussian at equal privacy."""

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr
from rich import box
from rich.table import Table
from scipy.optimize import brentq

from tcdp_sim import config, exact
from tcdp_sim.calibration import LargestError, calibrate
from tcdp_sim.plots import GREY, line_key, new_figure, points, series_styles
from tcdp_sim.privacy import TCDP, ZCDP
from tcdp_sim.results import cell_mechanism, chances_of_quantile
from tcdp_sim.summary import INTERVAL

LEVEL = 0.95
LARGEST_K = 1e300
# How much smaller than the Gaussian's its error has to be. Tightly calibrated noise has the Gaussian as its limit and
# never loses to it (but for the slack of its certificate), so that only a clear win says anything.
GAINS = {"paper": (0.0,), "tight": (0.01, 0.1)}


def reference(flat: xr.Dataset) -> pd.DataFrame:
    """One row a cell: the 95% quantile of the largest error over that of the Gaussian with the same rho and k.

    Columns `ratio...` (simulated over exact Gaussian, with MCSE and 95% interval), `ratio_exact`; `crossover_<gain>`:
    the k from which the noise, calibrated for that k, is better by that fraction (inf: beyond 1e300 bins).
    """
    ragged = [name for name in flat.dims if name not in ("cell", "quantile")]
    simulated = flat.drop_dims(ragged).sel(quantile=LEVEL).to_dataframe()
    table = pd.DataFrame([_row(cell_mechanism(flat, i), row) for i, row in enumerate(simulated.to_dict("records"))])
    exact_errors = table["ratio_exact"] * simulated["linf_error_quantile"].to_numpy() / table["ratio"]
    return table.assign(ratio_p_value=chances_of_quantile(flat, "linf_error", LEVEL, exact_errors))


def _row(mechanism, ds):
    law = json.loads(ds["law"])
    rho = law["target"]["rho"]
    gaussian = exact.max_abs_quantile(calibrate("gaussian", ZCDP(rho), coordinates=2), mechanism.bins, LEVEL).estimate
    labels = ("data", "noise", "k", "rho", "omega_sqrt_rho", "omega", "guarantee", "noise_law", "trials")
    row = {name: ds[name] for name in labels if name in ds}
    row["accounting"] = law["noise"]["calibration"]
    row |= {f"ratio{end}": ds[f"linf_error_quantile{end}"] / gaussian for end in INTERVAL}
    row["ratio_exact"] = exact.max_abs_quantile(mechanism.noise, mechanism.bins, LEVEL).estimate / gaussian
    if law["noise"]["family"] == "sinh_normal":
        for gain in GAINS[row["accounting"]]:
            row[f"crossover_{gain:g}"] = crossover(rho, law["target"]["omega"], row["accounting"], gain)
    return row


def crossover(rho: float, omega: float, method: str, gain: float) -> float:
    """The k from which sinh-normal noise calibrated to (rho, omega)-tCDP for k bins beats the Gaussian by `gain`.

    Errors are 95% quantiles of the largest of k, two bins changing by one. method: "paper" or "tight"; 0 <= gain < 1
    is a fraction. Within 1% of k; inf if it is beyond 1e300, 1 if it wins everywhere. Raises ValueError outside
    the theorem's precondition.
    """
    gaussian = calibrate("gaussian", ZCDP(rho), coordinates=2)

    def behind(log10_k):
        error = LargestError(min(10.0**log10_k, LARGEST_K), LEVEL)
        noise = calibrate("sinh_normal", TCDP(rho, omega), 1.0, method, coordinates=2, objective=error)
        return error(noise) / error(gaussian) - (1 - gain)

    if behind(0.0) <= 0:
        return 1.0
    if behind(300.0) > 0:
        return np.inf
    return float(10 ** brentq(behind, 0, 300, xtol=2e-3))


def report(table: pd.DataFrame, console) -> None:
    """The crossovers on the terminal."""
    columns = [name for name in table if name.startswith("crossover_")]
    title = "number of bins k from which sinh-normal noise beats the Gaussian at equal privacy"
    out = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for heading in ("constants", "ρ", "ω√ρ", "ω", *(_said(float(name.split("_")[1])) for name in columns)):
        out.add_column(heading, justify="right")
    rows = table.dropna(subset=columns, how="all").drop_duplicates(["accounting", "rho", "omega"])
    for row in rows.sort_values(["accounting", "rho", "omega"]).to_dict("records"):
        scaled = row["omega"] * np.sqrt(row["rho"])
        found = ("" if np.isnan(row[name]) else _short(row[name]) for name in columns)
        out.add_row(row["accounting"], f"{row['rho']:g}", f"{scaled:g}", f"{row['omega']:.4g}", *found)
    console.print(out, soft_wrap=False)


def _said(gain):
    return f"smaller by {gain:.0%}" if gain else "smaller"


def _short(k):
    return "> 1e300" if np.isinf(k) else f"{k:.0f}" if k < 1e4 else f"{k:.2g}"


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """(a) the error over the Gaussian's against k, (b) the crossover against omega sqrt(rho), for each rho."""
    for rho, part in table.groupby("rho"):
        part = part.assign(scaled=part["omega"] * np.sqrt(rho))
        suffix = f"_rho_{rho:g}" if table["rho"].nunique() > 1 else ""
        yield f"error_over_gaussian{suffix}", _ratios(part, rho), part
        if part["scaled"].nunique() > 1:
            yield f"crossover{suffix}", _crossovers(part, rho), part


def _ratios(part, rho):
    noises = [name for name in part["noise"].unique() if part.loc[part["noise"] == name, "scaled"].notna().any()]
    figure, grid = new_figure(1, max(len(noises), 1), 10.0, 4.8, sharex=True)
    levels = np.sort(part["scaled"].dropna().unique())
    styles = series_styles([(f"ω√ρ = {scaled:.3g}", scaled) for scaled in levels])
    for axes, name in zip(grid.flat, noises):
        for scaled, style in zip(levels, styles.values()):
            cells = part[(part["noise"] == name) & (part["scaled"] == scaled)].sort_values("k")
            marks = {key: value for key, value in style.items() if key != "linestyle"}
            x = np.log10(cells["k"])
            points(axes, x, cells["ratio"], cells["ratio_lower"], cells["ratio_upper"], **marks)
            axes.plot(x, cells["ratio_exact"], color=style["color"], linestyle=style["linestyle"])
        axes.axhline(1, color=GREY, linewidth=1.2)
        axes.annotate("Gaussian", (0.01, 1), xycoords=("axes fraction", "data"), va="bottom", color=GREY, fontsize=8)
        axes.set(yscale="log", xlabel="number of bins k", title=config.named("noise", name)["label"])
        _exponents(axes.xaxis, axes.set_xscale, 12, (0, 3, 6, 9, 12, 50, 100, 300))
        ticks = [t for t in (0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4) if axes.get_ylim()[0] <= t <= axes.get_ylim()[1]]
        axes.set_yticks(ticks, [f"{t:g}" for t in ticks])
        axes.set_yticks([], minor=True)
    grid[0, 0].set_ylabel("largest error over the Gaussian's (95% quantiles)")
    figure.legend([line_key(**style) for style in styles.values()], list(styles), loc="outside lower center", ncols=4)
    told = f"Lines: exact; markers: simulated, 95% interval. ρ = {rho:g}, every noise at equal privacy"
    figure.suptitle(told, fontsize=11)
    return figure


def _exponents(axis, set_scale, even, ticks):
    """An axis of log10 k, even up to 10^`even` and compressed beyond; the log axes of matplotlib end before 1e300."""
    set_scale("symlog", linthresh=even, linscale=1.5)
    axis.set_ticks(ticks)
    axis.set_major_formatter(lambda exponent, _: f"$10^{{{exponent:g}}}$")


def _crossovers(part, rho):
    figure, grid = new_figure(1, 1, 7.8, 4.6)
    axes = grid[0, 0]
    wanted = [(method, gain) for method in GAINS for gain in GAINS[method] if (part["accounting"] == method).any()]
    said = {"paper": "the paper's constants (Cor. 18)", "tight": "calibrated tightly"}
    styles = series_styles([(f"{said[method]}: {_said(gain)}", method) for method, gain in wanted])
    for (method, gain), (label, style) in zip(wanted, styles.items()):
        rows = part[part["accounting"] == method].drop_duplicates("scaled").sort_values("scaled")
        finite = rows[np.isfinite(rows[f"crossover_{gain:g}"])]
        axes.plot(finite["scaled"], np.log10(finite[f"crossover_{gain:g}"]), label=label, **style)
    for exponent, text in ((6, "a million bins"), (80, "atoms in the universe")):
        axes.axhline(exponent, color="#BBBBBB", linewidth=0.7, linestyle=":")
        axes.annotate(text, (0.99, exponent), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=7.5)
    axes.set(xlabel="ω√ρ", ylabel="number of bins k")
    _exponents(axes.yaxis, axes.set_yscale, 10, (0, 2, 4, 6, 8, 10, 20, 50, 100, 200, 300))
    axes.set_ylim(0, 300)
    axes.set_title(f"From how many bins on tCDP beats zCDP (95% quantile of the largest error, ρ = {rho:g})")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
