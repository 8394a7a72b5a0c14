"""Figures of success against n, and of the n for 95% success against k."""

from itertools import takewhile
from typing import Any

import numpy as np

from tcdp_sim.bounds.lower import interior_records
from tcdp_sim.core.texts import blank
from tcdp_sim.experiments.interior_point.series import GOAL, PLAIN, groups, label, least_n, like_for_like, worst
from tcdp_sim.ordered.interior import methods, records_needed, stability_histogram
from tcdp_sim.ordered.interior.ledger import exponential_epsilon
from tcdp_sim.privacy import TCDP, ZCDP
from tcdp_sim.report.findings import listed
from tcdp_sim.report.labels import End, label_ends, short
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import line_of, marks_of
from tcdp_sim.report.plots import headed, limit_styles, new_figure, note, plain_log_axis, points, power_of_two, wrapped
from tcdp_sim.report.thinning import some_levels

LIMITS = limit_styles(["no zCDP algorithm can do with fewer", "no tCDP algorithm can do with fewer"])
LIMITS["no tCDP algorithm can do with fewer"]["linestyle"] = (0, (12, 3))  # dots mark the weaker guarantee
EASY = {"color": "#999999", "linestyle": ":", "linewidth": 1.4}
AT_GOAL = {"color": "#555555", "linestyle": "--", "linewidth": 0.8}
WEAKER_PROVED = {"color": "#888888", "linestyle": ":", "linewidth": 1.2}
SEEN = "As simulated on the hardest data set"
SURE = "As proved to suffice on every data set"
MOST_DOMAINS = 4  # in the figure of success
NONE = f"No method reaches {GOAL:.0%} success on the hardest of the data sets"
PROVED = (*(set(methods.ONE_TREE) - set(methods.UNPROVED)), *methods.RECURSIONS)  # the others have lines of their own


def success_figure(table, styles):
    """Draw P[interior point] on the hardest data set against n.

    There is a column for each of up to MOST_DOMAINS k. Noises in one level are compared above, methods below.
    """
    domains = some_levels(table["log2_k"], MOST_DOMAINS)
    single = {key for key in styles if key[0] == PLAIN}
    best = _best_single(table, single)
    shown = [keys for keys in (single, {key for key in styles if key[0] != PLAIN} | {best}) if keys - {best}]
    shown = shown or [single]
    figure, grid = new_figure(
        len(shown), len(domains), 3.1 * len(domains) + 0.6, 2.9 * len(shown) + 0.3, sharex="col", sharey=True
    )
    for column, log2_k in zip(grid.T, domains):
        here = table[table["log2_k"] == log2_k]
        curves = list(groups(worst(here)))
        for axes, keys in zip(column, shown):
            for key, part in curves:
                if key in keys:
                    _curve(axes, part, styles[key])
            axes.axhline(GOAL, **AT_GOAL)
            axes.set(ylim=(-0.03, 1.03), xscale="log")
            _plain_ticks(axes, here["n"])
        if PLAIN in set(here["method"]):
            easy = here[(here["shape"] == "point") & (here["method"] == PLAIN)]
            easy = easy[easy["noise"] == easy["noise"].iloc[0]].sort_values("n") if len(easy) else easy
            column[0].plot(easy["n"], easy["success"], **EASY)
        column[0].set_title(f"k = {power_of_two(log2_k)}")
        column[-1].set_xlabel("records n")
    for axes in grid[:, 0]:
        axes.set_ylabel("P[interior point],\nhardest data set")
    legend_below(figure, {style["label"]: _look(style) for style in styles.values()}, 2)
    note(figure, "kind", "markers: simulated, 95% interval; the lines join them")
    note(figure, "goal", f"dashed: {GOAL:.0%}; dots: one level on n equal records, because easy data flatter")
    if len(domains) < (count := table["log2_k"].nunique()):
        note(figure, "panels", f"{len(domains)} of {count} values of k")
    headed(figure, _largest_success(table, domains))
    return figure


def _best_single(table, single):
    """Return the series of one level that needs the fewest records on the largest domain where one is known."""
    needed = like_for_like(least_n(table)).sort_values(["log2_k", "n95"], ascending=[False, True])
    known = [key for key, _ in groups(needed) if key in single]
    return known[0] if known else next(iter(single), None)


def _largest_success(table, domains) -> str:
    """Return the title: the method that needs the fewest records on the smallest and on the largest domain."""
    best = _fewest(least_n(table))
    told = [_in_words(best[log2_k]) for log2_k in dict.fromkeys((domains[0], domains[-1])) if log2_k in best]
    return _fewest_in_words(table["rho"].iloc[0], listed(told)) if told else NONE


def _fewest(needed) -> dict[float, Any]:
    """Return log2 k -> the row of the method that needs the fewest records there, in ascending order."""
    known = like_for_like(needed)
    best = known.loc[known.groupby("log2_k")["n95"].idxmin()]
    return {row["log2_k"]: row for row in best.to_dict("records")}


def _in_words(row) -> str:
    return f"{row['n95']:.3g} at k = {power_of_two(row['log2_k'])} by {_name(row)}"


def _name(row) -> str:
    return short(label(row["method"], "" if blank(row["noise"]) else row["noise_label"], ""))


def _look(style):
    """Return a style without its label."""
    return {name: value for name, value in style.items() if name != "label"}


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
    """Draw the n for 95% success of `series.least_n` against log2 log2 k, as simulated above and as proved below."""
    figure, grid = new_figure(2, 1, 10.6, 9.4, sharex=True)
    seen, proved = grid[:, 0]
    ends, sure = [], []
    for key, part in groups(needed.sort_values("log2_k")):
        x, style = np.log2(part["log2_k"]), styles[key]
        seen.plot(x, part["n95"], linewidth=1.2, **_look(style))
        points(seen, x, part["n95"], part["n95_lower"], part["n95_upper"], color=style["color"])
        ends.append(_end(style["label"], x, part["n95"], _look(style)))
        if key[0] in PROVED:
            look = marks_of(style) | {"linestyle": "--", "linewidth": 1.0}
            proved.plot(x, part["required_n"], **look)
            sure.append(_end(style["label"], x, part["required_n"], look))
    exact = {end.name: end for end in _exact_zcdp(seen, needed, styles)}
    ends = [exact.get(end.name, end) for end in ends] + _lower_bounds(seen, needed)
    sure += [*_exact_zcdp(proved, needed, styles), *_lower_bounds(proved, needed), *_weaker(proved, needed)]
    domains = np.sort(needed["log2_k"].unique())
    proved.set_xticks(np.log2(domains), [f"$2^{{{log2_k:g}}}$" for log2_k in domains])
    proved.set_xlabel("number of elements k of the domain (log log axis)")
    for axes, title, labelled in ((seen, SEEN, ends), (proved, SURE, sure)):
        axes.set(ylabel=f"records n for {GOAL:.0%} success", title=title)
        plain_log_axis(axes)
        label_ends(axes, labelled)
    note(figure, "kind", "markers with 95% intervals; thin dashes: exact records of zCDP methods")
    headed(figure, _needed_title(needed))
    return figure


def _end(name, x, y, style) -> End:
    """Return the end of a line, at its last finite point."""
    last = np.flatnonzero(np.isfinite(np.asarray(y, dtype=float)))
    at = last[-1] if len(last) else -1
    return End(name, "\n".join(wrapped(short(name), 36)), np.asarray(x)[at], np.asarray(y, dtype=float)[at], style)


def _needed_title(needed) -> str:
    """Return the title: the methods that need the fewest records on the smaller domains and on the largest one."""
    best = _fewest(needed)
    if not best:
        return NONE
    told = _fewest_in_words(needed["rho"].iloc[0], _in_words(best[max(best)]))
    wins = _search_wins(best)
    return f"{told}, and up to k = {power_of_two(wins)} by the zCDP binary search" if wins else told


def _fewest_in_words(rho: float, told: str) -> str:
    """Return the title that names the fewest records. A weaker guarantee does not count, because it may need fewer."""
    return f"Under the guarantees of ρ = {rho:g} the fewest simulated records for {GOAL:.0%} success are {told}"


def _search_wins(best) -> float:
    """Return the largest log2 k up to which the binary search needs the fewest records, or 0."""
    won = takewhile(lambda log2_k: best[log2_k]["method"] == "binary_search", best)
    return float(max(won, default=0.0))


def _exact_zcdp(axes, needed, styles) -> list[End]:
    """Draw the records that the zCDP methods need by their formulas, also where they are too many to simulate.

    Return the ends of the lines.
    """
    least = {
        "exponential": lambda rho, v: records_needed.exponential_required_records(
            exponential_epsilon(rho, "tight"), v, 1 - GOAL
        ),
        "binary_search": lambda rho, v: records_needed.binary_search_required_records(rho, round(v), 1 - GOAL),
    }
    log2_k = np.geomspace(needed["log2_k"].min(), needed["log2_k"].max(), 60)
    ends = []
    for key, style in styles.items():
        if key[0] in least:
            n = [least[key[0]](needed["rho"].iloc[0], v) for v in log2_k]
            axes.plot(np.log2(log2_k), n, color=style["color"], linestyle="--", linewidth=0.8)
            ends.append(_end(style["label"], np.log2(log2_k), n, _look(style)))
    return ends


def _lower_bounds(axes, needed) -> list[End]:
    """Draw the lower bounds on n of every mechanism. Return the ends of the lines."""
    rho, omegas = needed["rho"].iloc[0], needed["omega"].dropna().unique()
    log2_k = np.geomspace(needed["log2_k"].min(), needed["log2_k"].max(), 60)
    x = np.log2(log2_k)
    zcdp, tcdp = LIMITS
    limit = interior_records(ZCDP(float(rho)), log2_k, 1 - GOAL)
    axes.plot(x, limit, **LIMITS[zcdp])
    ends = [_end(zcdp, x, limit, LIMITS[zcdp])]
    for omega in omegas:
        guarantee, several = TCDP(float(rho), float(omega)), f", ω = {omega:.3g}" if len(omegas) > 1 else ""
        limit = interior_records(guarantee, log2_k, 1 - GOAL)
        axes.plot(x, limit, **LIMITS[tcdp])
        ends.append(_end(tcdp + several, x, limit, LIMITS[tcdp]))
    return ends


def _weaker(axes, needed) -> list[End]:
    """Draw the n proved to suffice under the weaker guarantee. Return the ends of the lines."""
    rho, omegas = needed["rho"].iloc[0], needed["omega"].dropna().unique()
    log2_k = np.geomspace(needed["log2_k"].min(), needed["log2_k"].max(), 60)
    x, ends = np.log2(log2_k), []
    for omega in omegas:
        guarantee, several = TCDP(float(rho), float(omega)), f", ω = {omega:.3g}" if len(omegas) > 1 else ""
        promise = stability_histogram.implied(guarantee)
        weaker = [stability_histogram.required_records(promise, v) for v in log2_k]
        axes.plot(x, weaker, **WEAKER_PROVED)
        name = f"WEAKER guarantee, (ε, {stability_histogram.DELTA:g})-DP"
        ends.append(_end(name + several, x, weaker, WEAKER_PROVED))
    return ends
