"""Figures of released counts: formulas against the exact epsilon, variances at equal privacy, and errors by level."""

from collections.abc import Iterator

import pandas as pd

from tcdp_sim.report.findings import span
from tcdp_sim.report.looks import method_look
from tcdp_sim.report.plots import (
    DARK,
    GREY,
    WRONG,
    captioned,
    headed,
    line_key,
    new_figure,
    note,
    plain_log_axis,
    points,
)

FORMULAS = {  # name -> (legend, look)
    "simple": ("ρ + 2√(ρ log 1/δ)", method_look("simple_conversion")),
    "best": ("best conversion of ρ-zCDP", method_look("best_conversion")),
    "continuous": ("continuous Gaussian noise: no bound", method_look("continuous")),
}
VARIANCES = {
    "published": ("published variances", method_look("published")),
    "best": ("ε of the best conversion", method_look("best_conversion")),
    "simple": ("ε = ρ + 2√(ρ log 1/δ)", method_look("simple_conversion")),
}
PUBLISHED = "published"
SMALLEST = 1e-4  # per cent: the axis is linear below


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw (a) formulas against the exact epsilon, and the variances at equal privacy, (b) errors by level."""
    whole = table.drop_duplicates(["list", "delta", "variances"])
    own, reduced = (whole[(whole["variances"] == "published") == flag] for flag in (True, False))
    if len(own):
        drawn = pd.concat([own, reduced])
        yield "epsilon", captioned(_epsilons(own, reduced), drawn.drop(columns="rho"), "ε in nats"), drawn
    single = table[table["shown"] == 1]
    for name, part in single.groupby("list", sort=False):
        yield f"errors_{name}", captioned(_errors(part, str(name)), part.drop(columns="rho"), "errors in counts"), part


def _label(row, deltas: int) -> str:
    name = str(row["list"]).replace("_", " ")
    return f"{name}, δ = {row['delta']:.0e}" if deltas > 1 else name


def _epsilons(own, reduced):
    count = max(len(own), 3)
    figure, grid = new_figure(1, 1 + bool(len(reduced)), 5.2 + 4.6 * bool(len(reduced)), 1.8 + 0.26 * count)
    axes = grid[0, 0]
    deltas = own["delta"].nunique()
    for i, row in enumerate(own.to_dict("records")):
        for name, (_, look) in FORMULAS.items():
            low, high = (100 * (row[f"epsilon_{name}"] / row[f"epsilon_{end}"] - 1) for end in ("high", "low"))
            wrong = name == "continuous" and high < 0
            if low <= 0 <= high:
                low = high = 0.0
            mark = look | {"markersize": 5.5, "linestyle": "none"} | ({"color": WRONG} if wrong else {})
            axes.plot([(low + high) / 2], [i], **mark)
            axes.plot([low, high], [i, i], color=DARK, linewidth=1.0)  # the excess over a bracket of epsilon
    axes.axvline(0, color=GREY, linewidth=1.0)
    axes.axvspan(-100, 0, color=WRONG, alpha=0.06, linewidth=0)
    axes.set_xscale("symlog", linthresh=SMALLEST)
    axes.set(xlim=(-1, 30), xlabel="excess over the exact ε (%)")
    ticks = [-0.1, -0.001, 0, 0.001, 0.1, 1, 10]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_yticks(range(len(own)), [_label(row, deltas) for row in own.to_dict("records")])
    axes.set_ylim(len(own) - 0.5, -0.5)
    axes.set_title("What formulas say (red: proved to be too low)")
    keys = {text: line_key(**look, linestyle="none") for text, look in FORMULAS.values()}
    if len(reduced):
        keys |= _cuts(grid[0, 1], reduced)
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2)
    headed(figure, _finding(own, reduced))
    return figure


def _finding(own, reduced) -> str:
    """Return the title: how far the best conversion is above the exact epsilon, and what the difference is worth."""
    excess = _range(own["epsilon_best"] / own["epsilon_high"] - 1)
    worth = f", and equal privacy allows variances smaller by {_range(1 - reduced['factor'])}" if len(reduced) else ""
    return f"The best conversion of ρ-zCDP is {excess} above the exact ε{worth}"


def _range(shares) -> str:
    """Return the range of some shares as text, in percent."""
    return " to ".join(dict.fromkeys(f"{100 * share:.2g}%" for share in (shares.min(), shares.max())))


def _cuts(axes, reduced) -> dict:
    """Draw the shares by which variances can fall, and return the keys of the legend."""
    deltas = reduced["delta"].nunique()
    names = list(dict.fromkeys(_label(row, deltas) for row in reduced.to_dict("records")))
    keys = {}
    for name, rows in reduced.groupby("variances", sort=False):
        text, look = VARIANCES[str(name)]
        offset = -0.19 if name == "best" else 0.19
        places = [names.index(_label(row, deltas)) + offset for row in rows.to_dict("records")]
        shares = 100 * (1 - rows["factor"].to_numpy())
        axes.barh(places, shares, height=0.36, color=look["color"])
        for place, share in zip(places, shares):
            axes.annotate(f"{share:.2f}%", (share, place), (3, 0), textcoords="offset points", va="center", fontsize=7)
        keys[f"exact ε = {text.removeprefix('ε of the ').removeprefix('ε = ')}"] = line_key(look["color"], linewidth=6)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set(xlim=(0, 1.18 * max(100 * (1 - reduced["factor"].min()), 1)), xlabel="all σ² smaller by (%)")
    axes.set_title("Variances at equal privacy")
    return keys


def _errors(part, name):
    queries, levels = list(part["query"].unique()), list(part["level"].unique())
    order = sorted(
        levels, key=lambda level: (-part.loc[part["level"] == level, "query"].nunique(), levels.index(level))
    )
    levels = levels if len(order) == len(levels) else order
    part = part.assign(place=[levels.index(level) for level in part["level"]], unit=1.0)
    compared = _over_published(part)
    rows = 1 + bool(len(compared))
    figure, grid = new_figure(rows, len(queries), 3.5 * len(queries) + 0.6, 1.0 + 2.6 * rows, sharex=True, sharey="row")
    first = part["variances"].iloc[0] if compared.empty else PUBLISHED
    for (query, own), column in zip(part.groupby("query", sort=False), grid.T):
        _marks(column[0], own[own["variances"] == first], [str(first)])
        if len(compared):
            _marks(column[1], compared[compared["query"] == query], [*VARIANCES][1:])
            column[1].axhline(1, color=VARIANCES[PUBLISHED][1]["color"], linewidth=0.9)
        column[-1].set_xticks(range(len(levels)), [str(level).replace("_", "\n") for level in levels])
        column[-1].set_xlim(-0.5, len(levels) - 0.5)
        column[0].set_title(query)
        plain_log_axis(column[0])
    grid[0, 0].set_ylabel("root mean squared\nerror (counts)")
    if len(compared):
        grid[1, 0].set_ylabel("error over that of\npublished variances")
    handles = {label: handle for axes in grid.flat for handle, label in zip(*axes.get_legend_handles_labels())}
    handles["exact"] = line_key(GREY, linewidth=0.9)
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=4)
    data = name.replace("_", " ")
    note(figure, "kind", "errors before post-processing; bars: 95% intervals")
    headed(figure, _gain(part, data))
    return figure


def _over_published(part) -> pd.DataFrame:
    """Return the rows of other variances, with the exact error under published variances as their `unit`."""
    place = ["query", "level"]
    units = part[part["variances"] == PUBLISHED].drop_duplicates(place).set_index(place)["rms_error_exact"]
    others = part[part["variances"] != PUBLISHED].drop(columns="unit")
    return others.join(units.rename("unit"), on=place).dropna(subset="unit") if len(units) else others.iloc[:0]


def _marks(axes, rows, names) -> None:
    """Draw simulated and exact errors over their units, the markers side by side at each level."""
    shift = 0.16 / max(len(names) - 1, 1)
    for nth, name in enumerate(names):
        own = rows[rows["variances"] == name].sort_values("place")
        text, look = VARIANCES[name]
        x = own["place"] + shift * (2 * nth - len(names) + 1)
        simulated, low, high, exact = (
            own[f"rms_error{end}"] / own["unit"] for end in ("", "_lower", "_upper", "_exact")
        )
        axes.hlines(exact, x - 0.13, x + 0.13, color=look["color"], linewidth=0.9)
        if len(own):
            points(axes, x, simulated, low, high, **look, label=text)


def _gain(part, data: str) -> str:
    """Return the title: how much smaller errors are at equal privacy, or the errors if that was not studied."""
    errors = part.pivot_table(index=["query", "level"], columns="variances", values="rms_error_exact")
    others = [name for name in ("best", "simple") if name in errors and "published" in errors]
    if not others:
        ends = span(part["rms_error_exact"], "{:.3g}".format)
        return f"The root mean squared errors of the counts of {data} are {ends}"
    smaller = pd.concat([1 - errors[name] / errors["published"] for name in others]).dropna()
    return f"At the ε that a conversion of ρ-zCDP gives, errors of {data} are smaller by {_range(smaller)}"
