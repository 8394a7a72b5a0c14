"""Figures of success against n, and of the n for 95% success against k."""

import numpy as np

from tcdp_sim.bounds.lower import interior_records
from tcdp_sim.experiments.interior_point.series import GOAL, groups, like_for_like, worst
from tcdp_sim.interior import methods, records_needed, stability_histogram
from tcdp_sim.interior.ledger import exponential_epsilon
from tcdp_sim.privacy import TCDP, ZCDP
from tcdp_sim.report.looks import line_of, marks_of
from tcdp_sim.report.plots import limit_styles, line_key, new_figure, plain_log_axis, points

LIMITS = limit_styles(["no zCDP algorithm can do with fewer", "no tCDP algorithm can do with fewer"])
LIMITS["no tCDP algorithm can do with fewer"]["linestyle"] = (0, (12, 3))  # dots mark the weaker guarantee
PROVED = (*(set(methods.ONE_TREE) - set(methods.UNPROVED)), *methods.RECURSIONS)  # the others have lines of their own


def success_figure(table, styles):
    """Draw P[interior point] on the hardest data set against n, with a panel for each k."""
    domains = sorted(table["log2_k"].unique())
    rows = -(-len(domains) // 3)
    figure, grid = new_figure(rows, 3, 12.0, 3.0 * rows + 1.6, sharey=True)
    for axes in grid.flat[len(domains) :]:
        axes.set_axis_off()
    for axes, log2_k in zip(grid.flat, domains):
        here = table[table["log2_k"] == log2_k]
        for key, part in groups(worst(here)):
            _curve(axes, part, styles[key])
        easy = here[(here["shape"] == "point") & (here["method"] == "one_level")]
        easy = easy[easy["noise"] == easy["noise"].iloc[0]].sort_values("n") if len(easy) else easy
        axes.plot(easy["n"], easy["success"], color="#999999", linestyle=":", linewidth=1.4)
        axes.axhline(GOAL, color="#555555", linewidth=0.8, linestyle="--")
        axes.set(title=f"k = 2^{log2_k:.0f}", ylim=(-0.03, 1.03), xlabel="records n", xscale="log")
        _plain_ticks(axes, here["n"])
    for axes in grid[:, 0]:
        axes.set_ylabel("P[interior point], hardest data set")
    handles, labels = _keys(styles)
    handles += [line_key("#999999", linestyle=":", linewidth=1.4), line_key(linestyle="--", linewidth=0.8)]
    labels += ["one level on n equal records: easy data flatter", "95%"]
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    rho = table["rho"].iloc[0]
    figure.suptitle(f"Success on the hardest of the data sets at equal privacy, ρ = {rho:g} (bars: 95%)", fontsize=11)
    return figure


def _keys(styles):
    """Return (handles, labels) of the series for a legend."""
    looks = [{name: value for name, value in style.items() if name != "label"} for style in styles.values()]
    return [line_key(**look) for look in looks], [style["label"] for style in styles.values()]


def _plain_ticks(axes, n):
    ticks = [digit * 10**power for power in range(5) for digit in (1, 2, 5)]
    axes.set_xticks([tick for tick in ticks if n.min() <= tick <= n.max()])
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")


def _curve(axes, part, style):
    part = part.sort_values("n")
    points(axes, part["n"], part["success"], part["success_lower"], part["success_upper"], **marks_of(style))
    axes.plot(part["n"], part["success"], linewidth=0.9, **line_of(style))


def needed_figure(needed, styles):
    """Draw the n for 95% success of `series.least_n` against log2 log2 k, with the proved n and the lower bounds."""
    figure, grid = new_figure(1, 1, 10.4, 7.0)
    axes = grid[0, 0]
    for key, part in groups(needed.sort_values("log2_k")):
        x, style = np.log2(part["log2_k"]), styles[key]
        kept = {name: value for name, value in style.items() if name != "label"}
        axes.plot(x, part["n95"], linewidth=1.2, **kept)
        points(axes, x, part["n95"], part["n95_lower"], part["n95_upper"], color=style["color"])
        if key[0] in PROVED:
            axes.plot(x, part["required_n"], color=style["color"], linestyle="--", linewidth=0.8)
    _lower_bounds(axes, needed)
    _exact_zcdp(axes, needed, styles)
    axes.set(xlabel="log2 log2 k", ylabel="records n")
    rho = needed["rho"].iloc[0]
    wins = _search_wins(needed)
    loses = f"\nup to k = 2^{wins:g} the zCDP binary search needs the fewest records" if wins else ""
    title = f"Records for an interior point with probability 95%, ρ = {rho:g} (markers: simulated, bars: 95%)"
    axes.set_title(f"{title}{loses}")
    plain_log_axis(axes)
    handles, labels = _keys(styles)
    keys = {
        "proved to suffice on every data set (zCDP methods: exact)": line_key(linestyle="--", linewidth=0.8),
        **{label: line_key(**style) for label, style in LIMITS.items()},
        f"WEAKER guarantee, (ε, {stability_histogram.DELTA:g})-DP: proved to suffice": line_key(
            "#888888", linestyle=":"
        ),
    }
    figure.legend([*handles, *keys.values()], [*labels, *keys], loc="outside lower center", ncols=2)
    return figure


def _search_wins(needed) -> float:
    """Return the largest log2 k up to which the simulated binary search needs the fewest records, or 0."""
    known = like_for_like(needed)
    best = known.loc[known.groupby("log2_k")["n95"].idxmin()].sort_values("log2_k")
    lost = best["log2_k"][best["method"] != "binary_search"].min()
    won = best["log2_k"][~(best["log2_k"] >= lost)]
    return float(won.max()) if len(won) else 0.0


def _exact_zcdp(axes, needed, styles):
    """Draw the records that the zCDP methods need by their formulas, also where they are too many to simulate."""
    least = {
        "exponential": lambda rho, v: records_needed.exponential_required_records(
            exponential_epsilon(rho, "tight"), v, 1 - GOAL
        ),
        "binary_search": lambda rho, v: records_needed.binary_search_required_records(rho, round(v), 1 - GOAL),
    }
    log2_k = np.geomspace(needed["log2_k"].min(), needed["log2_k"].max(), 60)
    for key, style in styles.items():
        if key[0] in least:
            n = [least[key[0]](needed["rho"].iloc[0], v) for v in log2_k]
            axes.plot(np.log2(log2_k), n, color=style["color"], linestyle="--", linewidth=0.8)


def _lower_bounds(axes, needed):
    rho, omegas = needed["rho"].iloc[0], needed["omega"].dropna().unique()
    log2_k = np.geomspace(needed["log2_k"].min(), needed["log2_k"].max(), 60)
    x = np.log2(log2_k)
    zcdp, tcdp = LIMITS.values()
    axes.plot(x, interior_records(ZCDP(float(rho)), log2_k, 1 - GOAL), **zcdp)
    for omega in omegas:
        guarantee = TCDP(float(rho), float(omega))
        axes.plot(x, interior_records(guarantee, log2_k, 1 - GOAL), **tcdp)
        promise = stability_histogram.implied(guarantee)
        weaker = [stability_histogram.required_records(promise, v) for v in log2_k]
        axes.plot(x, weaker, color="#888888", linestyle=":", linewidth=1.2)
