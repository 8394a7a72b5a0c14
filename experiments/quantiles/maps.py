"""Maps of the best method over the numbers of records and of quantiles, one for each domain."""

import numpy as np

from tcdp_sim.experiments.quantiles.looks import NAMES, SHORT
from tcdp_sim.report.findings import listed, wins
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import Style, method_look
from tcdp_sim.report.plots import headed, new_figure, power_of_two

UNIT = (
    "numbers: mean rank error over n / (m + 1); below them the second method, and ×: its error over the best one's; "
    "≈: no difference beyond chance"
)
LIGHT = 0.35  # opacity of squares


def best_method_map(part):
    """Draw squares with the method of the least mean rank error, for the rows of one guarantee and shape."""
    domains = list(dict.fromkeys(part["log2_k"]))
    sizes, counts = sorted(part["n"].unique()), sorted(part["m"].unique())
    figure, grid = new_figure(
        1, len(domains), max(1.5 + 0.85 * len(sizes) * len(domains), 7.4), 1.9 + 0.75 * len(counts)
    )
    for axes, log2_k in zip(grid[0], domains):
        cells = part[part["log2_k"] == log2_k]
        for x, n in enumerate(sizes):
            for y, m in enumerate(counts):
                found = cells[(cells["n"] == n) & (cells["m"] == m)].sort_values("mean_rank_error", kind="stable")
                if len(found):
                    _square(axes, x, y, found)
        axes.set(xlim=(-0.5, len(sizes) - 0.5), ylim=(-0.5, len(counts) - 0.5), xlabel="records n")
        axes.set_xticks(range(len(sizes)), [f"{n:,}" for n in sizes])
        axes.set_yticks(range(len(counts)), [f"{m}" for m in counts])
        axes.set_title(f"{cells['domain'].iloc[0]} in [0, {power_of_two(log2_k)})")
        axes.grid(False)
    grid[0][0].set_ylabel("quantiles m")
    cells = [found.sort_values("mean_rank_error", kind="stable") for _, found in part.groupby(["log2_k", "n", "m"])]
    clear = sum(len(found) > 1 and _is_clear(found.iloc[0], found.iloc[1]) for found in cells)
    best = wins([str(found["method"].iloc[0]) for found in cells])
    shown = [method for method in NAMES if any(method in set(found["method"].head(2)) for found in cells)]
    legend_below(figure, {f"{SHORT[method]}: {NAMES[method]}": _swatch(method) for method in shown}, 3)
    told = listed(f"{NAMES[method].replace(',', '')} in {count}" for method, count in best)
    promise = part.loc[part["omega"].isna(), "guarantee"].iloc[0] if part["omega"].isna().any() else "tCDP"
    sure = f"{clear} of {len(cells)} cells beyond chance"
    headed(figure, f"Under {promise} the least mean rank error is that of {told}, in {sure}")
    return figure


def _swatch(method: str) -> Style:
    """Return the sample of a method in the legend: the colour of its squares."""
    return {"color": method_look(method)["color"], "alpha": LIGHT, "linewidth": 8, "linestyle": "-"}


def _is_clear(best, second) -> bool:
    """Return True if the error of the second method is larger beyond chance."""
    off = second["mean_rank_error"] - best["mean_rank_error"]
    return bool(off > 1.96 * np.hypot(best["mean_rank_error_mcse"], second["mean_rank_error_mcse"]))


def _square(axes, x, y, found):
    from matplotlib.patches import Rectangle

    best = found.iloc[0]
    colour = method_look(best["method"])["color"]
    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, alpha=LIGHT, edgecolor="white", linewidth=2))
    share = best["mean_rank_error"] * (best["m"] + 1) / best["n"]
    text = f"{SHORT[best['method']]}\n{share:.2g}"
    if len(found) > 1:
        second = found.iloc[1]
        clear = _is_clear(best, second)
        ratio = second["mean_rank_error"] / best["mean_rank_error"] if clear and best["mean_rank_error"] else np.nan
        text += f"\n{'' if clear else '≈ '}{SHORT[second['method']]}" + (f" ×{ratio:.2g}" if ratio > 0 else "")
    axes.text(x, y, text, ha="center", va="center", fontsize=7.5)
