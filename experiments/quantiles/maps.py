"""Maps of the best method over the numbers of records and of quantiles, one for each domain."""

import numpy as np

from tcdp_sim.experiments.quantiles.looks import NAMES, SHORT
from tcdp_sim.report.findings import listed
from tcdp_sim.report.looks import method_look
from tcdp_sim.report.plots import headed, new_figure, power_of_two

UNIT = "numbers: mean rank error over n / (m + 1); ×: error of the second method over it"


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
    best = part.loc[part.groupby(["log2_k", "n", "m"])["mean_rank_error"].idxmin(), "method"].value_counts()
    wins = listed(f"{NAMES[method]} in {count}" for method, count in best.items())
    promise = part.loc[part["omega"].isna(), "guarantee"].iloc[0] if part["omega"].isna().any() else "tCDP"
    headed(figure, f"Under {promise} the least mean rank error in {best.sum()} cells is that of {wins}")
    return figure


def _square(axes, x, y, found):
    from matplotlib.patches import Rectangle

    best = found.iloc[0]
    colour = method_look(best["method"])["color"]
    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, alpha=0.35, edgecolor="white", linewidth=2))
    share = best["mean_rank_error"] * (best["m"] + 1) / best["n"]
    text = f"{SHORT[best['method']]}\n{share:.2g}"
    if len(found) > 1:
        second = found.iloc[1]
        off = second["mean_rank_error"] - best["mean_rank_error"]
        clear = off > 1.96 * np.hypot(best["mean_rank_error_mcse"], second["mean_rank_error_mcse"])
        ratio = second["mean_rank_error"] / best["mean_rank_error"] if clear and best["mean_rank_error"] else np.nan
        text += f"\n{'' if clear else '≈ '}{SHORT[second['method']]}" + (f" ×{ratio:.2g}" if ratio > 0 else "")
    axes.text(x, y, text, ha="center", va="center", fontsize=7.5)
