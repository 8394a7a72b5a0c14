"""Errors against the number of quantiles or against the budget, a panel for each domain."""

from tcdp_sim.experiments.quantiles.looks import NAMES, SHORT, legend_keys, look
from tcdp_sim.report.plots import GREY, line_key, new_figure, plain_log_axis, points
from tcdp_sim.store import columns

LABELS = {"m": "number of quantiles m", "epsilon": "ε of pure DP (nats)", "rho": "ρ of zCDP"}


def error_curves(part, axis: str):
    """Draw mean rank errors of all methods against a column of the table, simulated and exact."""
    domains, places = list(dict.fromkeys(part["log2_k"])), sorted(part[axis].unique())
    figure, grid = new_figure(1, len(domains), max(1.4 + 4.2 * len(domains), 7.4), 4.4)
    for axes, log2_k in zip(grid[0], domains):
        cells = part[part["log2_k"] == log2_k]
        for method, each in cells.groupby("method", sort=False):
            each, (colour, marker) = each.sort_values(axis), look(method)
            ends = (each[f"mean_rank_error{end}"] for end in ("", columns.LOWER, columns.UPPER))
            points(axes, each[axis], *ends, color=colour, marker=marker)
            axes.plot(each[axis], each["mean_rank_error"], color=colour, linewidth=0.7, alpha=0.6)
            axes.plot(each[axis], each["mean_rank_error_exact"], color=colour, linewidth=2.4, alpha=0.6)
        axes.set(xscale="log", yscale="log", xlabel=LABELS[axis])
        axes.set_xticks(places, [f"{place:.3g}" for place in places])
        axes.set_xticks([], minor=True)
        quantiles = "" if axis == "m" else f", m = {cells['m'].max()}"
        axes.set_title(f"{cells['domain'].iloc[0]} in [0, 2^{log2_k}), n = {cells['n'].max():,}{quantiles}")
        plain_log_axis(axes)
    grid[0][0].set_ylabel("mean rank error (records)")
    keys = legend_keys(part["method"].unique()) | {
        "thick lines: exact; markers: simulated, 95%": line_key(GREY, linewidth=2.4)
    }
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2 if len(domains) == 1 else 3)
    figure.suptitle(_for_most_quantiles(part) if axis == "m" else _along_budget(part, axis), fontsize=10.5)
    return figure


def _best(part):
    """Return the row of the least error in each domain."""
    return part.loc[part.groupby("log2_k", sort=False)["mean_rank_error"].idxmin()]


def _for_most_quantiles(part) -> str:
    """Return the title: the best method for the most quantiles, in each domain."""
    best = _best(part[part["m"] == part["m"].max()])
    wins = "; ".join(f"{NAMES[row.method]} in 2^{row.log2_k}" for row in best.itertuples())
    return f"Least error of {best['m'].iloc[0]} quantiles under {best['guarantee'].iloc[0]}: {wins}"


def _along_budget(part, axis: str) -> str:
    """Return the title: the best method for the least and the largest budget, in each domain."""
    sign = {"epsilon": "ε", "rho": "ρ"}[axis]
    ends = {value: _best(part[part[axis] == value]) for value in (part[axis].min(), part[axis].max())}
    wins = []
    for log2_k in dict.fromkeys(part["log2_k"]):
        rows = [(value, best[best["log2_k"] == log2_k].iloc[0]) for value, best in ends.items()]
        each = (f"{SHORT[row['method']]} ({row['mean_rank_error']:.2g}) at {sign} = {value:g}" for value, row in rows)
        wins.append(f"2^{log2_k}: {', '.join(each)}")
    return f"Least error of {part['m'].iloc[0]} quantiles in {'; '.join(wins)}"
