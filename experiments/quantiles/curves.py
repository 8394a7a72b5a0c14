"""Errors against the number of quantiles or against the budget, a panel for each domain."""

from tcdp_sim.experiments.quantiles.looks import NAMES, legend_keys
from tcdp_sim.report.findings import listed
from tcdp_sim.report.looks import method_look
from tcdp_sim.report.plots import GREY, headed, line_key, new_figure, plain_log_axis, points, power_of_two
from tcdp_sim.store import columns

SPAN = 1e5  # ratio of the largest and the least error that is drawn
UNIT = "rank errors in records; a line that leaves its panel leads to nearly 0; none: no error is below n / 4"
LABELS = {"m": "number of quantiles m", "epsilon": "ε of pure DP (nats)", "rho": "ρ of zCDP"}


def error_curves(part, axis: str):
    """Draw mean rank errors of all methods against a column of the table, simulated and exact."""
    domains, places = list(dict.fromkeys(part["log2_k"])), sorted(part[axis].unique())
    figure, grid = new_figure(1, len(domains), max(1.4 + 4.2 * len(domains), 7.4), 4.4)
    for axes, log2_k in zip(grid[0], domains):
        cells = part[part["log2_k"] == log2_k]
        for method, each in cells.groupby("method", sort=False):
            each, look = each.sort_values(axis), method_look(str(method))
            ends = (each[f"mean_rank_error{end}"] for end in ("", columns.LOWER, columns.UPPER))
            points(axes, each[axis], *ends, **look)
            axes.plot(each[axis], each["mean_rank_error"], color=look["color"], linewidth=0.7, alpha=0.6)
            axes.plot(each[axis], each["mean_rank_error_exact"], color=look["color"], linewidth=2.4, alpha=0.6)
        axes.set(xscale="log", yscale="log", xlabel=LABELS[axis])
        axes.set_xticks(places, [f"{place:.3g}" for place in places])
        axes.set_xticks([], minor=True)
        quantiles = "" if axis == "m" else f", m = {cells['m'].max()}"
        axes.set_title(f"{cells['domain'].iloc[0]} in [0, {power_of_two(log2_k)}), n = {cells['n'].max():,}{quantiles}")
        plain_log_axis(axes)
        top = cells[f"mean_rank_error{columns.UPPER}"].max()
        axes.set_ylim(max(axes.get_ylim()[0], top / SPAN), 1.6 * top)
    grid[0][0].set_ylabel("mean rank error (records)")
    keys = legend_keys(part["method"].unique())
    if part["mean_rank_error_exact"].notna().any():
        keys["thick lines: exact; markers: simulated, 95%"] = line_key(GREY, linewidth=2.4)
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2 if len(domains) == 1 else 3)
    headed(figure, _for_most_quantiles(part) if axis == "m" else _along_budget(part, axis))
    return figure


def _best(part):
    """Return the row of the least error in each domain."""
    return part.loc[part.groupby("log2_k", sort=False)["mean_rank_error"].idxmin()]


def _for_most_quantiles(part) -> str:
    """Return the title: the best method for the most quantiles, in each domain."""
    best = _best(part[part["m"] == part["m"].max()])
    wins = listed(f"{NAMES[row.method]} on domains of {power_of_two(row.log2_k)}" for row in best.itertuples())
    return f"The least error of {best['m'].iloc[0]} quantiles under {best['guarantee'].iloc[0]} is that of {wins}"


def _along_budget(part, axis: str) -> str:
    """Return the title: the best method for the least and for the largest budget, in each domain."""
    low, high = part[axis].min(), part[axis].max()
    first, last = (_best(part[part[axis] == value]) for value in (low, high))
    names = ([_name(row) for row in best.itertuples()] for best in (first, last))
    wins = listed(
        f"{a if a == b else f'{a}, then {b},'} on domains of {power_of_two(log2_k)}"
        for a, b, log2_k in zip(*names, first["log2_k"])
    )
    sign = {"epsilon": "ε", "rho": "ρ"}[axis]
    quantiles = f"{part['m'].iloc[0]} quantiles"
    return f"From {sign} = {low:g} to {high:g} the method of least error for {quantiles} is {wins}"


def _name(row) -> str:
    """Return the name of the method of a row, or "none" if ends of the domain would be as good."""
    return NAMES[row.method] if row.mean_rank_error < row.n / 4 else "none"
