"""Figures of lists of releases: delta(epsilon) of each list, and simulated numbers over exact ones."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tcdp_sim.report.looks import DIRECTIONS, direction_look, line_of, marks_of
from tcdp_sim.report.plots import DARK, GREY, captioned, headed, line_key, new_figure, note, points

SIMULATED = {"color": DARK, "marker": "o", "linestyle": "none"}
BRACKET = {"color": GREY, "linewidth": 4.0}
ACROSS = 4  # panels
OPEN = 1e-3  # share of the upper end of a bracket below which its lower end says nothing, and is not drawn
LOSSES = "losses in nats"


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw (a) delta(epsilon) of each list, (b) the simulated numbers over the exact ones."""
    profile = table[table["quantity"] == "delta"]
    yield "profiles", captioned(_profiles(profile), profile, LOSSES), profile
    drawn = table[table["trials"] > 0]
    yield "agreement", captioned(_agreement(drawn), drawn, LOSSES), drawn


def _profiles(table):
    names = list(dict.fromkeys(table["list"]))
    columns = min(ACROSS, len(names))
    rows = -(-len(names) // columns)
    figure, grid = new_figure(rows, columns, max(2.5 * columns, 4.6), 2.1 * rows + 0.8)
    seen = []
    for axes, name in zip(grid.flat, names):
        for direction in DIRECTIONS:
            part = table[(table["list"] == name) & (table["direction"] == direction)].sort_values("at")
            if not len(part):
                continue
            look, curve, drawn = direction_look(direction), part[part["trials"] == 0], part[part["trials"] > 0]
            open_end = curve["exact_low"] < OPEN * curve["exact_high"]
            if open_end.any():
                note(
                    figure, f"open {name}", f"no lower end at {open_end.sum()} points of {str(name).replace('_', ' ')}"
                )
            for end in (curve["exact_high"], curve["exact_low"].mask(open_end)):
                axes.plot(curve["at"], end, linewidth=0.9, **line_of(look))
            points(axes, *(drawn[key] for key in ("at", "simulated", "lower", "upper")), **marks_of(look))
            seen.append(direction)
        shown = table[table["list"] == name]
        low = shown["simulated"].dropna()
        axes.set(
            yscale="log",
            ylim=(0.1 * max(low[low > 0].min() if (low > 0).any() else 0.1, 1e-300), 1),
            title=str(name).replace("_", " "),
        )
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel("δ(ε)")
    for axes in grid.flat[max(len(names) - columns, 0) : len(names)]:
        axes.set_xlabel("ε (nats)")
    keys = {f"simulated, {one}": line_key(**direction_look(one)) for one in DIRECTIONS if one in seen}
    keys["lines: both ends of the ledger's bracket"] = line_key(GREY, linewidth=0.9)
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2)
    headed(figure, f"Of the simulated δ(ε) of all lists, {_met(table[table['trials'] > 0])}")
    return figure


def _agreement(table):
    kinds = [kind for kind in ("delta", "epsilon") if (table["quantity"] == kind).any()]
    table = table.assign(line=table["list"].where(table["direction"] == "forward", table["list"] + ", backward"))
    names = list(dict.fromkeys(table["line"]))
    height = 1.6 + 0.42 * len(names)
    figure, grid = new_figure(1, len(kinds), 2.0 + 3.6 * len(kinds), height, sharey=True)
    for axes, kind in zip(grid[0], kinds):
        part = table[table["quantity"] == kind].copy()
        for name, rows in part.groupby("line", sort=False):
            offsets = np.linspace(-0.28, 0.28, len(rows)) if len(rows) > 1 else [0.0]
            place = names.index(str(name)) + np.asarray(offsets)
            middle = 0.5 * (rows["exact_low"] + rows["exact_high"]).to_numpy()
            over = {key: 100 * (rows[key].to_numpy() / middle - 1) for key in rows if key in ENDS}
            left, right = over["simulated"] - over["lower"], over["upper"] - over["simulated"]
            axes.hlines(place, over["exact_low"], over["exact_high"], **BRACKET)
            bars = {"elinewidth": 1.0, "capsize": 1.5}
            axes.errorbar(over["simulated"], place, xerr=np.maximum([left, right], 0), **SIMULATED, **bars)
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set(
            xlabel="distance from the middle of the bracket (%)", title={"delta": "δ at ε", "epsilon": "ε at δ"}[kind]
        )
    keys = {
        "simulated, 95% interval": line_key(**SIMULATED),
        "the ledger's bracket": line_key(**BRACKET),
    }
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2)
    note(figure, "order", "within a list from large δ to small")
    headed(figure, f"Of the simulated numbers of all lists, {_met(table)}")
    return figure


def _met(drawn) -> str:
    """Return in words how many of the simulated intervals meet the ledger's bracket."""
    known = drawn[drawn["exact_low"].notna() & drawn["lower"].notna()]
    met = (known["lower"] <= known["exact_high"]) & (known["upper"] >= known["exact_low"])
    return f"{met.sum()} of {len(known)} 95% intervals meet the ledger's bracket"


ENDS = ("simulated", "lower", "upper", "exact_low", "exact_high")
