"""Relative errors against the true sum, and policies of transformed releases divided by policies of equal RMSE."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim.experiments.per_record.series import label_order, panels, styles, with_caption
from tcdp_sim.report.findings import listed
from tcdp_sim.report.plots import GREY, KIND, headed, line_key, new_figure, note, points

WIDTHS = (0.8, 1.5, 2.4)  # line widths of three sums
SHOWN = {"median": "median |error| / q", "q95": "95% quantile of |error| / q"}


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw (a) relative error against the true sum, (b) policies of transformed releases over equal-RMSE noise."""
    if not len(table):
        return
    looks = styles(table)
    drawn, ratios = (table[table["figure"] == name].dropna(axis=1, how="all") for name in ("error", "equal_rmse"))
    if drawn["sum"].nunique() > 1:
        yield "error_vs_sum", with_caption(_error(drawn, looks), drawn, "errors over the true sum"), drawn
    if len(ratios):
        yield "equal_rmse", with_caption(_equal_rmse(ratios, looks), ratios, "policies in nats"), ratios


def _error(drawn: pd.DataFrame, looks: dict[str, Any]) -> Any:
    settings = list(panels(drawn))
    figure, grid = new_figure(len(settings), 2, 9.6, 3.7 * len(settings) + 1.2, sharex=True, sharey="row")
    for row, (title, part) in zip(grid, settings):
        for axes, (what, heading) in zip(row, SHOWN.items()):
            _curves(axes, part, what, looks)
            axes.set(xscale="log", yscale="log", title=heading)
        row[0].set_ylabel(f"error over the true sum\n({title})" if len(settings) > 1 else "error over the true sum")
    for axes in grid[-1]:
        axes.set_xlabel("true sum q (values)")
    keys = {name: line_key(**looks[name], linestyle="-") for name in label_order(drawn)}
    note(figure, "kind", f"{KIND}; dots: 10% of the sum")
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=3)
    if len(settings) == 1:
        note(figure, "setting", settings[0][0])
    headed(figure, _least_median(settings[0][1]))
    return figure


def _least_median(part: pd.DataFrame) -> str:
    """Return the title: the releases of the least median error at the smallest and at the largest sum."""
    told = []
    for total in (part["sum"].min(), part["sum"].max()):
        here = part[part["sum"] == total]
        row = here.loc[here["median_exact"].idxmin()] if here["median_exact"].notna().any() else here.iloc[0]
        told.append(f"{row['label']} ({row['median_exact']:.2g} of a sum of {total:.3g})")
    return f"The least median error is that of {listed(told)}"


def _curves(axes: Any, part: pd.DataFrame, what: str, looks: dict[str, Any]) -> None:
    for name, rows in part.groupby("label", sort=False):
        rows, look = rows.sort_values("sum"), looks[str(name)]
        points(axes, rows["sum"], rows[what], rows[f"{what}_lower"], rows[f"{what}_upper"], **look)
        axes.plot(rows["sum"], rows[f"{what}_exact"], color=look["color"])
    axes.axhline(0.1, color=GREY, linewidth=0.8, linestyle=":")


def _equal_rmse(ratios: pd.DataFrame, looks: dict[str, Any]) -> Any:
    settings = list(panels(ratios))
    figure, grid = new_figure(1, len(settings), max(4.8 * len(settings), 7.6), 4.8, sharey=True)
    widths: dict[float, float] = {}
    for axes, (title, part) in zip(grid[0], settings):
        sums = np.sort(part["sum"].unique())
        shown = sums[np.unique(np.linspace(0, len(sums) - 1, 3).astype(int))]
        widths |= dict(zip(shown, WIDTHS))
        for name, total in part[["label", "sum"]].drop_duplicates().itertuples(index=False):
            rows = part[(part["label"] == name) & (part["sum"] == total)]
            if total in widths:
                axes.plot(rows["at"], rows["policy_ratio"], color=looks[name]["color"], linewidth=widths[total])
        axes.axhline(1, color="#000000", linewidth=0.9, linestyle="--")
        axes.axvspan(1, part["at"].max(), color=GREY, alpha=0.15, linewidth=0)
        axes.set(xscale="log", yscale="log", title=title, xlabel="influence of the record over the sum, t / q")
        axes.set_xlim(part["at"].min(), part["at"].max())
    grid[0, 0].set_ylabel("policy over that of Gaussian noise of equal RMSE")
    keys = {name: line_key(looks[name]["color"]) for name in label_order(ratios)}
    keys |= {f"q = {total:.3g}": line_key(linewidth=width) for total, width in sorted(widths.items())}
    keys["Gaussian noise of the same RMSE"] = line_key("#000000", linestyle="--", linewidth=0.9)
    keys["t > q: no record of the sum"] = line_key(linewidth=7, alpha=0.3)
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=3)
    least = ratios.loc[ratios["at"] <= 1, "policy_ratio"].min()
    what = "A mean-unbiased transformation costs every record of the sum at least"
    headed(figure, f"{what} {least:.3g} times as much privacy as Gaussian noise of the same RMSE")
    return figure
