"""The figure of adaptive analysts: queries answered and budget wasted, under a filter and with a split budget."""

import numpy as np

from tcdp_sim.report.findings import span
from tcdp_sim.report.looks import method_look
from tcdp_sim.report.plots import GREY, headed, line_key, new_figure, note, plain_log_axis, points

WAYS = {  # ending of a quantity -> (legend, name in looks, dashes)
    "": ("filter", "filter", "-"),
    "_split": ("budget split in advance", "split", "--"),
}
PANELS = {"answered": "queries answered", "wasted": "share of the budget that\nanswers nothing (%)"}
TITLES = {
    "screening": "screening: rough counts,\nexact ones where large",
    "refining": "refining: ever more exact,\nuntil the sign is clear",
    "voting": "voting: responses, until\none side leads",
}


def filters(table):
    """Draw the means of every analyst against the budget, with exact values as lines."""
    names = list(dict.fromkeys(table["analyst"]))
    figure, grid = new_figure(2, len(names), max(2.9 * len(names), 4.6), 5.4, sharex=True)
    for column, name in enumerate(names):
        for row, quantity in enumerate(PANELS):
            axes, unit = grid[row, column], 100 if quantity == "wasted" else 1
            for ending, (label, way, dashes) in WAYS.items():
                look = method_look(way)
                part = table[(table["analyst"] == name) & (table["quantity"] == quantity + ending)].sort_values("rho")
                numbers = (unit * part[key] for key in ("simulated", "lower", "upper"))
                points(axes, part["rho"], *numbers, label=label, **look)
                axes.plot(part["rho"], unit * part["exact"], color=look["color"], linestyle=dashes, linewidth=0.9)
            if quantity == "answered":
                plain_log_axis(axes)
                axes.set_title(TITLES.get(name, name))
            else:
                axes.set(xscale="log", xlabel="budget ρ (nats)")
                ticks = np.unique(table.loc[table["analyst"] == name, "rho"])
                axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
                axes.set_xticks([], minor=True)
    for row, label in enumerate(PANELS.values()):
        grid[row, 0].set_ylabel(label)
    keys = {text: line_key(**method_look(way), linestyle=dashes) for text, way, dashes in WAYS.values()}
    keys["exact, at the budgets shown"] = line_key(GREY, linewidth=0.9)
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=3)
    note(figure, "kind", "bars: 95% intervals")
    headed(figure, _gained(table))
    return figure


def _gained(table) -> str:
    """Return the title: how many times as many queries a filter answers as a budget that is split in advance."""
    means = table.pivot_table(index=["analyst", "rho"], columns="quantity", values="simulated")
    ratios = means["answered"] / means["answered_split"]
    times = span(ratios, "{:.2g}".format)
    return f"A filter answers adaptive analysts {times} times as many queries as the same budget split in advance"
