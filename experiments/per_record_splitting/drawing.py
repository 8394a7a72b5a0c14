"""Figures of unit splitting and Gaussian noise: laws, policies and errors, and the paper's claims over the truth."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from tcdp_sim.report.labels import End, label_ends
from tcdp_sim.report.looks import DASHES, FILLS, lighter, line_of, marks_of, release_look
from tcdp_sim.report.plots import DARK, GREY, KIND, WRONG, captioned, headed, line_key, new_figure, note, points

ILLUSTRATION = "calibrated to the largest record: an illustration, not to be released"
PRINTED = {"linewidth": 1.0, "linestyle": (0, (4, 1.5))}
VERDICTS = {"a bound, loose": (GREY, "o"), "wrong, or false in words": (WRONG, "X")}  # colour and marker


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw (a) quantiles against the normal law, (b) policies, (c) errors by contribution, (d) printed over true."""
    styles = _styles(table["series"].dropna().unique())
    unit = "errors in the units of the values" + f"; {ILLUSTRATION}" * bool(table["note"].fillna("").ne("").any())
    laws = table[table["quantity"] == "quantile"]
    if len(laws):
        laws = laws[(laws["value_high"] == laws["value_high"].max()) | laws["value_high"].isna().all()]
        yield "splitting_law", captioned(_laws(laws, styles), laws, unit), laws
    policies = table[table["quantity"] == "policy"]
    yield "splitting_policy", captioned(_policies(policies, styles), policies, "one piece costs 1"), policies
    errors = table[table["quantity"].isin(["rmse", "clipped"])]
    if errors["most"].notna().any():
        yield "splitting_error", captioned(_errors(errors, styles), errors, unit), errors
    claims = table[table["quantity"] == "claim"]
    yield "claims", captioned(_claims(claims), claims, "printed over computed"), claims


def _styles(names: Iterable[str]) -> dict[str, Any]:
    """Return the style of each series. Gaussian noise looks as in other figures, and splitting rules differ."""
    styles = {"Gaussian": release_look("gaussian"), "clipped": release_look("clipped")}
    names = list(names)
    rules = [name for name in names if name not in styles]
    for nth, name in enumerate(rules):
        look = release_look("unit_splitting")
        shade = lighter(look["color"], 0.5 * nth / max(len(rules) - 1, 1))
        styles[name] = look | {"color": shade, "fillstyle": FILLS[nth % len(FILLS)], "linestyle": DASHES[1 + nth % 7]}
    return {name: {"linestyle": "-"} | styles[name] for name in names}


def _laws(part: pd.DataFrame, styles: dict[str, Any]) -> Any:
    """Draw the quantiles on the left, and simulated minus exact normal quantiles on the right."""
    figure, grid = new_figure(1, 2, 11.0, 4.2)
    off, whole = grid[0]
    ends, inside = [], []
    for i, (name, rows) in enumerate(_one_each(part)):
        x = ndtri(rows["at"].to_numpy())
        whole.plot(x, rows["exact"], **line_of(styles[name]))
        points(whole, x, rows["simulated"], rows["lower"], rows["upper"], **marks_of(styles[name]))
        ends.append(End(name, name, x[-1], rows["exact"].iloc[-1], styles[name]))
        distances = [(rows[end] - rows["exact"]) / rows["scale"] for end in ("simulated", "lower", "upper")]
        points(off, x + 0.05 * (i - 2.5), *distances, **marks_of(styles[name]))
        inside.append((rows["lower"] <= rows["exact"]) & (rows["exact"] <= rows["upper"]))
    off.axhline(0, color=DARK, linewidth=0.8)
    whole.set(xlabel="quantile of the standard normal law", ylabel="quantile of released minus true sum (values)")
    whole.ticklabel_format(axis="y", useMathText=True)
    off.set(xlabel="quantile of the standard normal law (series side by side)")
    off.set(ylabel="simulated minus exact quantile (scales of the noise)")
    label_ends(whole, ends)
    note(figure, "kind", KIND)
    held = np.concatenate(inside)
    found = f"{held.sum()} of {held.size} intervals (95%) contain the normal quantile"
    headed(figure, f"Unit splitting is Gaussian noise on a clipped sum, and {found}")
    return figure


def _one_each(part: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the release with the smallest error in each series."""
    for name, rows in part.groupby("series", sort=False):
        best = rows[rows["exact_rmse"] == rows["exact_rmse"].min()]
        yield str(name), best.drop_duplicates("at").sort_values("at")


def _policies(part: pd.DataFrame, styles: dict[str, Any]) -> Any:
    """Draw a panel for each rule: the staircase of the number of pieces above the exact cost of a record's value."""
    names = [str(name) for name in part["series"].unique()]
    figure, grid = new_figure(1, len(names), 3.2 * len(names), 3.6, sharey=True)
    for axes, name in zip(grid[0], names):
        rows, colour = part[part["series"] == name], styles[name]["color"]
        axes.plot(rows["at"], rows["policy"], color=colour, linewidth=1.6)
        axes.plot(rows["at"], rows["printed"], color=GREY, **PRINTED)
        title = f"{name} at 5 pieces" if name == "split, capped" else name
        axes.set(xscale="log", yscale="log", xlabel="value over the size of a piece, v / T", title=title)
    grid[0, 0].set_ylabel("zCDP of the record over that of one piece")
    keys = {"exact: (what is counted / T)²": line_key(DARK, linewidth=1.6)}
    keys["printed: (number of pieces)²"] = line_key(GREY, **PRINTED)
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2)
    headed(figure, "The printed policy of unit splitting is a staircase above what a record really costs")
    return figure


def _errors(part: pd.DataFrame, styles: dict[str, Any]) -> Any:
    """Draw the RMSE against the largest contribution of a record, with a panel for each policy of the largest one."""
    values = sorted(part["value_high"].dropna().unique(), reverse=True)[:3]
    figure, grid = new_figure(1, len(values), 3.6 * len(values) + 0.8, 4.4, sharey=True)
    named: dict[str, Any] = {}
    for axes, value in zip(grid[0], values):
        panel = part[part["value_high"] == value]
        curve = panel[panel["quantity"] == "clipped"]
        axes.plot(curve["most"], curve["exact_rmse"], color=styles["clipped"]["color"])
        axes.plot(curve["most"], -curve["exact_bias"], color=GREY, linewidth=0.9, linestyle=":")
        for key, rows in panel[panel["quantity"] == "rmse"].groupby("series", sort=False):
            name = str(key)
            named[name] = styles[name]
            points(axes, rows["most"], rows["simulated"], rows["lower"], rows["upper"], **marks_of(styles[name]))
        best = curve.loc[curve["exact_rmse"].idxmin()] if len(curve) else None
        about = "" if best is None else f"\nbest clip {best['most']:.3g}: RMSE {best['exact_rmse']:.3g}"
        axes.set(xscale="log", yscale="log", xlabel="most that a record counts")
        axes.set_title(f"P = {value:g} at the largest record{about}")
    grid[0, 0].set_ylabel("root mean squared error of the sum")
    keys = {name: line_key(**marks_of(style), linestyle="none") for name, style in named.items()}
    keys["clipped, exact"] = line_key(styles["clipped"]["color"])
    keys["what clipping loses, exact"] = line_key(GREY, linewidth=0.9, linestyle=":")
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=3)
    headed(figure, "Unit splitting has the error of a sum that is clipped at the most that a record counts")
    return figure


def _claims(part: pd.DataFrame) -> Any:
    """Draw a dot at printed over true for each printed number that is not simply right."""
    fine = part["verdict"].isin(["right", "tight"])
    rows = part[~fine & (part["factor"] > 0)].iloc[::-1].reset_index(drop=True)
    figure, grid = new_figure(1, 1, 8.4, 0.2 * len(rows) + 1.7)
    axes = grid[0, 0]
    wrong = rows["verdict"].isin(["wrong", "FALSE"])
    axes.axvline(1, color=DARK, linewidth=0.8)
    for (colour, marker), own in zip(VERDICTS.values(), (rows[~wrong], rows[wrong])):
        factor = own["factor"]
        axes.hlines(own.index, np.minimum(factor, 1), np.maximum(factor, 1), color=colour, linewidth=1.2)
        axes.scatter(factor, own.index, color=colour, marker=marker, s=18, zorder=3)
    axes.set_yticks(rows.index, rows["where"] + ": " + rows["claim"], fontsize=7)
    axes.set(xscale="log", ylim=(-1, len(rows)), xlabel="printed / computed")
    axes.grid(axis="y", visible=False)
    handles = [line_key(colour, marker=marker, linestyle="none") for colour, marker in VERDICTS.values()]
    figure.legend(handles, VERDICTS, loc="outside lower center", ncols=2)
    if count := (~fine).sum() - len(rows):
        note(figure, "left out", f"{count} more have no ratio")
    headed(figure, f"Of {len(part)} printed numbers in Finley et al. (2024) {(~fine).sum()} are loose or wrong")
    return figure
