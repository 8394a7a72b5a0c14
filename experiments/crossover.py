"""The number of bins k from which tCDP beats zCDP: sinh-normal against Gaussian noise at equal privacy."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from tcdp_sim import exact
from tcdp_sim.calibration import LargestError, calibrate
from tcdp_sim.experiments.histogram import exact_values
from tcdp_sim.privacy import TCDP, ZCDP
from tcdp_sim.report.findings import listed
from tcdp_sim.report.labels import End, label_ends
from tcdp_sim.report.looks import Series, level_styles, line_of, marks_of, noise_styles
from tcdp_sim.report.plots import (
    BREAK_AT,
    BREAK_SHARES,
    GREY,
    KIND,
    broken_log10_axis,
    captioned,
    headed,
    line_key,
    log10_pieces,
    new_figure,
    note,
    points,
    rounded,
)
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns

LEVEL = 0.95
LARGEST_K = 1e300
BEYOND = 400  # the place of crossovers beyond log10 k = 300 on the axis
UPWARD = r"$\uparrow$"  # the marker of crossovers beyond the axis
# The gain over Gaussian noise that counts as a win. Tightly calibrated noise has Gaussian noise as its limit and never
# loses to it, apart from the slack of its certificate, so only a clear win is informative.
GAINS = {"paper": (0.0,), "tight": (0.01, 0.1)}
FIRST = f"crossover_{GAINS['tight'][0]:g}"


GAUSSIAN = {"color": GREY, "linewidth": 1.2, "linestyle": "-"}
LABELS = ("data", "noise", "k", "rho", "omega_sqrt_rho", "omega", "guarantee", "noise_law", "trials")
LINF = columns.quantile("linf_error")


_RANKING = "this study asks for the largest error alone, and the experiment histogram has the chance of such a ranking"
EXACT = exact_values.OF_ERRORS
BOUND = exact_values.BOUND
UNKNOWN = {**exact_values.UNKNOWN, "top_stays": _RANKING, "spurious_wins": _RANKING}


def rows(cell: Cell) -> Row:
    """Return one row: the 95% quantile of the largest error, in units of the Gaussian one at the same rho and k.

    - `ratio...`: the simulated quantile over the exact Gaussian one, with MCSE and 95% interval.
    - `crossover_<gain>`: the k from which the noise, calibrated for that k, is better by that fraction; inf beyond
      1e300.
    """
    noise, target = cell.law["noise"], cell.law["target"]
    row = cell.only(*LABELS) | {"accounting": noise["calibration"]}
    errors = cell.numbers(LINF, "ratio", LEVEL)
    gaussian = calibrate("gaussian", ZCDP(target["rho"]), coordinates=2).noise
    own = exact.max_abs_quantile(gaussian, cell.mechanism.bins, LEVEL).estimate
    row |= {name: error / own for name, error in errors.items()}
    if noise["family"] == "sinh_normal":
        for gain in GAINS[row["accounting"]]:
            row[f"crossover_{gain:g}"] = crossover(target["rho"], target["omega"], row["accounting"], gain)
    return row | cell.noise | {"ratio_p_value": cell.p_value("linf_error", LEVEL, errors["ratio" + columns.EXACT])}


def crossover(rho: float, omega: float, method: str, gain: float) -> float:
    """Return the k from which sinh-normal noise with (rho, omega)-tCDP for k bins beats Gaussian noise by `gain`.

    Errors are 95% quantiles of the largest of k errors, and neighbours change two bins by one. `method` is "paper" or
    "tight", and `gain` is a fraction in [0, 1). The result is within 1% of k. It is 1 if the noise wins everywhere and
    inf if the crossover lies beyond 1e300. The function raises ValueError outside the theorem's precondition.
    """
    gaussian = calibrate("gaussian", ZCDP(rho), coordinates=2).noise

    def behind(log10_k):
        error = LargestError(min(10.0**log10_k, LARGEST_K), LEVEL)
        noise = calibrate("sinh_normal", TCDP(rho, omega), 1.0, method, coordinates=2, objective=error).noise
        return error(noise) / error(gaussian) - (1 - gain)

    if behind(0.0) <= 0:
        return 1.0
    if behind(300.0) > 0:
        return np.inf
    return float(10 ** brentq(behind, 0, 300, xtol=2e-3))


def report(table: pd.DataFrame, console) -> None:
    """Print the crossovers, and how well simulation and exact values agree over all cells."""
    crossovers = [name for name in map(str, table) if name.startswith("crossover_")]
    title = "number of bins k from which sinh-normal noise beats the Gaussian at equal privacy"
    headings = ("constants", "ρ", "ω√ρ", "ω", *(_smaller(float(name.split("_")[1])) for name in crossovers))
    cells = table.dropna(subset=crossovers, how="all").drop_duplicates(["accounting", "rho", "omega"])
    rows = []
    for row in cells.sort_values(["accounting", "rho", "omega"]).to_dict("records"):
        scaled = row["omega"] * np.sqrt(row["rho"])
        bins = ("" if np.isnan(row[name]) else _short(row[name]) for name in crossovers)
        rows.append((row["accounting"], f"{row['rho']:g}", f"{scaled:g}", f"{row['omega']:.4g}", *bins))
    console.print(terminal_table(title, headings, rows), soft_wrap=False)
    console.print(agreement("ratio", *(table["ratio" + end] for end in columns.WITH_EXACT)))


def _smaller(gain):
    return f"smaller by {gain:.0%}" if gain else "smaller"


def _short(k):
    return "> 1e300" if np.isinf(k) else f"{k:.0f}" if k < 1e4 else f"{k:.2g}"


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw (a) the error in units of the Gaussian error against k, (b) the crossover against omega sqrt(rho)."""
    for rho in sorted(table["rho"].unique()):
        part = table[table["rho"] == rho]
        part = part.assign(scaled=part["omega"] * np.sqrt(rho))
        suffix = f"_rho_{rho:g}" if table["rho"].nunique() > 1 else ""
        unit = "errors are 95% quantiles of the largest of k, in counts"
        yield f"error_over_gaussian{suffix}", captioned(_ratios(part, rho), part, unit), part
        if part["scaled"].nunique() > 1:
            yield f"crossover{suffix}", captioned(_crossovers(part, rho), part, unit), part


def _ratios(part, rho):
    noises = [name for name in part["noise"].unique() if part.loc[part["noise"] == name, "scaled"].notna().any()]
    pieces = log10_pieces(np.log10(part["k"].min()), np.log10(part["k"].max()))
    shares = [BREAK_SHARES[piece] for _ in noises for piece in pieces]
    figure, grid = new_figure(1, max(len(shares), 1), 12.0, 4.6, width_ratios=shares or None)
    levels = np.sort(part["scaled"].dropna().unique())
    styles = level_styles(f"ω√ρ = {scaled:.3g}" for scaled in levels)
    for i, name in enumerate(noises):
        rows = part[part["noise"] == name]
        panels = grid[0, i * len(pieces) : (i + 1) * len(pieces)]
        for axes in panels:
            _ratio_lines(axes, rows, levels, styles.values())
        broken_log10_axis("x", dict(zip(pieces, panels)), "number of bins k")
        panels[0].set_title(rows["noise_label"].iloc[0], loc="left")
        label_ends(panels[-1], _ratio_ends(rows, styles, levels))
    grid[0, 0].set_ylabel("largest error over the Gaussian's (ratio of 95% quantiles)")
    note(figure, "kind", KIND)
    note(figure, "drawn", "noise in k bins is not listed: its largest value is drawn from its exact law")
    headed(figure, _shortest(part, noises, rho))
    return figure


def _ratio_ends(rows, styles, levels) -> list[End]:
    """Return the ends of the lines of one noise, and of the line of Gaussian noise."""
    ends = []
    for (label, style), scaled in zip(styles.items(), levels):
        own = rows[rows["scaled"] == scaled].sort_values("k")
        if len(own):
            ends.append(End(label, label, np.log10(own["k"].iloc[-1]), own["ratio_exact"].iloc[-1], style))
    return [*ends, End("Gaussian noise", "Gaussian noise", np.log10(rows["k"].max()), 1.0, GAUSSIAN)]


def _shortest(part, noises, rho) -> str:
    """Return in words the ratios of each noise at the largest simulated number of bins up to 10^12."""
    near = part[part["k"] <= 10.0**BREAK_AT * (1 + 1e-9)]
    k = (near if len(near) else part)["k"].max()
    told = []
    for name in noises:
        rows = part[(part["noise"] == name) & (part["k"] == k)]
        if len(rows):
            ratios = f"{rows['ratio_exact'].min():.2g} to {rows['ratio_exact'].max():.2g}"
            told.append(f"{ratios} with {rows['noise_label'].iloc[0]}")
    bins = f"$10^{{{np.log10(k):.3g}}}$"
    times = f"The largest error of k = {bins} bins at ρ = {rho:g} is that of Gaussian noise times"
    return f"{times} {listed(told)}" if told else f"No noise here is compared with Gaussian noise at ρ = {rho:g}"


def _first_wins(part, rho) -> str:
    """Return in words from how many bins on tight tCDP has the smaller error, at the ends of the omegas."""
    tight = part[part["accounting"] == "tight"].sort_values("scaled")
    if not len(tight) or not np.isfinite(tight[FIRST]).any():
        return f"No number of bins is known from which tight tCDP beats zCDP by {GAINS['tight'][0]:.0%} at ρ = {rho:g}"
    ends = tight[np.isfinite(tight[FIRST])].drop_duplicates("scaled").iloc[[0, -1]].drop_duplicates("scaled")
    told = [f"{rounded(np.ceil(row[FIRST]), 2)} bins (ω√ρ = {row['scaled']:.3g})" for row in ends.to_dict("records")]
    return f"At ρ = {rho:g} tightly calibrated tCDP beats zCDP by {GAINS['tight'][0]:.0%} from {listed(told)} on"


def _ratio_lines(axes, part, levels, styles):
    for scaled, style in zip(levels, styles):
        cells = part[part["scaled"] == scaled].sort_values("k")
        x = np.log10(cells["k"])
        points(axes, x, cells["ratio"], cells["ratio_lower"], cells["ratio_upper"], **marks_of(style))
        axes.plot(x, cells["ratio_exact"], **line_of(style))
    axes.axhline(1, **GAUSSIAN)
    axes.set_yscale("log")
    ticks = [t for t in (0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4) if axes.get_ylim()[0] <= t <= axes.get_ylim()[1]]
    axes.set_yticks(ticks, [f"{t:g}" for t in ticks])
    axes.set_yticks([], minor=True)


def _crossovers(part, rho):
    wanted = [(method, gain) for method in GAINS for gain in GAINS[method] if (part["accounting"] == method).any()]
    methods = {"paper": "the paper's constants (Cor. 18)", "tight": "calibrated tightly"}
    styles = noise_styles(
        Series(f"{methods[method]}: {_smaller(gain)}", method, "sinh_normal", method, f"{gain:g}")
        for method, gain in wanted
    )
    exponents_of = {}
    for method, gain in wanted:
        rows = part[part["accounting"] == method].drop_duplicates("scaled").sort_values("scaled")
        exponents_of[method, gain] = rows["scaled"], np.log10(rows[f"crossover_{gain:g}"])
    known = np.concatenate([exponents for _, exponents in exponents_of.values()])
    pieces = log10_pieces(0, 300 if (known > BREAK_AT).any() else BREAK_AT)
    figure, grid = new_figure(
        len(pieces), 1, 7.8, 5.4, sharex=True, height_ratios=[BREAK_SHARES[p] for p in pieces][::-1]
    )
    for axes in grid[:, 0]:
        for (label, style), (scaled, exponents) in zip(styles.items(), exponents_of.values()):
            finite = np.isfinite(exponents)
            axes.plot(scaled[finite], exponents[finite], label=label, **style)
            beyond = {"marker": UPWARD, "markersize": 8, "linestyle": "none"}
            axes.plot(scaled[~finite], np.full((~finite).sum(), BEYOND), color=style["color"], **beyond)
        for exponent, text in ((6, "a million bins"), (80, "atoms in the universe")):
            axes.axhline(exponent, color="#BBBBBB", linewidth=0.7, linestyle=":")
            where = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "bottom", "annotation_clip": True}
            axes.annotate(text, (0.99, exponent), fontsize=7.5, **where)
    broken_log10_axis("y", dict(zip(pieces, grid[::-1, 0])), "number of bins k")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    if np.isinf(known).any():
        grid[0, 0].set_ylim(top=BEYOND * 1.2)
        handles.append(line_key(GREY, marker=UPWARD, markersize=8, linestyle="none"))
        labels.append("not up to $10^{300}$ bins; beyond, nothing was looked for")
    grid[-1, 0].set_xlabel("ω√ρ")
    headed(figure, _first_wins(part, rho))
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure
