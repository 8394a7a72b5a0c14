"""Figures of training runs."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim.report.looks import line_of, marks_of, series_styles
from tcdp_sim.report.plots import GREY, headed, line_key, new_figure, note, plain_log_axis, points, rounded

NAMES = {
    "poisson": "Poisson samples",
    "poisson_cut": "Poisson samples that are cut",
    "fixed_size": "subsets of fixed size (substitution)",
    "balls_in_bins": "balls in bins, anew in each epoch",
    "same_bins": "balls in bins, the same in each epoch",
    "shuffle_each_epoch": "shuffled in each epoch",
    "shuffle_once": "shuffled once",
    "no_shuffle": "known order",
}
LOOKS = series_styles((name, "") for name in NAMES)
PRINTED = {"color": GREY, "linestyle": ":", "linewidth": 1.8}
SHADE = 0.18
WIDE = 1.02  # ratio of two ends that a band shows
MOST_PANELS = 4
LOWEST = 1e-15  # delta that a profile shows
ONE_PERCENT = 1e4  # draws for a relative error of 1%, over the squared relative standard deviation of a draw
SETTINGS = ["steps", "epochs", "sigma"]


def parts(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the name of each figure that the table has cells for, and its rows."""
    plain = table["most"].isna() & (table["group"] == 1)
    epsilon, delta = (table[(table["quantity"] == name) & plain] for name in ("epsilon", "delta"))
    yield from _if_varied("three_epsilons", epsilon, "sigma", ["steps", "epochs", "at", "sampler"])
    yield from _if_varied("needed_noise", epsilon[epsilon["needed"].notna()], "steps", ["sigma", "at", "sampler"])
    yield from _if_varied("profiles", delta[delta["printed"].isna()], "at", [*SETTINGS, "sampler"])
    cut = table[(table["quantity"] == "epsilon") & table["most"].notna()]
    yield from _if_varied("cut_samples", cut, "most", [*SETTINGS, "at", "batch"])
    rare = delta[(delta["draws"] > 0) & (delta["simulated_delta"] > 0)]
    yield from _if_varied("draws", rare, "simulated_delta", ["sampler", *SETTINGS])


def _if_varied(name: str, part: pd.DataFrame, axis: str, fixed: list[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of the settings in which the axis has several values, if there are any."""
    if len(part):
        kept = part[part.groupby(fixed, dropna=False)[axis].transform("nunique") > 1]
        if len(kept):
            yield name, kept


def _band(axes, rows: pd.DataFrame, x: str, low: str, high: str, look: dict[str, Any]) -> None:
    """Draw both ends of a bracket, and shade what lies between them if they differ visibly."""
    rows = rows.sort_values(x)
    axes.plot(rows[x], rows[high], linewidth=1.4, **line_of(look))
    if (rows[high] > WIDE * rows[low]).any():
        axes.plot(rows[x], rows[low], linewidth=0.9, **line_of(look))
        axes.fill_between(rows[x], rows[low], rows[high], color=look["color"], alpha=SHADE, linewidth=0)


def _simulated(axes, rows: pd.DataFrame, x: str, look: dict[str, Any]) -> None:
    points(axes, rows[x], *(rows[name] for name in ("simulated", "lower", "upper")), markersize=4, **marks_of(look))


def _legend(figure, samplers: list[str], more: dict[str, Any]) -> None:
    keys = {NAMES[name]: line_key(**LOOKS[name]) for name in samplers} | more
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2 if figure.get_figwidth() > 7 else 1)


def _samplers(part: pd.DataFrame) -> list[str]:
    return [name for name in NAMES if name in set(part["sampler"])]


KEYS = {
    "ε that libraries print": line_key(**PRINTED),
    "shaded: proved ends; markers: simulated": line_key(GREY, linestyle="none"),
}


def _three(part: pd.DataFrame) -> Any:
    """Draw the proved ends of epsilon against the noise, with the printed one, a panel for each number of epochs."""
    panels = list(part.groupby(["steps", "epochs", "at"]))
    shown = panels[:MOST_PANELS]
    figure, grid = new_figure(1, len(shown), max(2.0 + 3.0 * len(shown), 6.2), 5.0)
    for axes, (_, rows) in zip(grid[0], shown):
        steps, epochs, delta = rows.iloc[0][["steps", "epochs", "at"]]
        for sampler in _samplers(rows):
            own = rows[rows["sampler"] == sampler]
            _band(axes, own, "sigma", "least", "largest", LOOKS[sampler])
            _simulated(axes, own, "sigma", LOOKS[sampler])
        printed = rows.drop_duplicates("sigma").sort_values("sigma")
        axes.plot(printed["sigma"], printed["printed"], **PRINTED)
        title = f"{epochs} epoch{'s' if epochs > 1 else ''} of {steps:,} steps, δ = {delta:g}"
        axes.set(yscale="log", xlabel="noise multiplier σ", title=title)
        plain_log_axis(axes)
    grid[0][0].set_ylabel("ε (nats)")
    if len(shown) < len(panels):
        note(figure, "left out", f"{len(shown)} of {len(panels)} settings")
    _legend(figure, _samplers(part), KEYS)
    headed(figure, _three_found(part))
    return figure


def _three_found(part: pd.DataFrame) -> str:
    over = part[part["least"] > part["printed"]]
    if over.empty:
        return "No run here is proved to have more than the printed ε"
    ratios = (over["least"] / over["printed"]).to_numpy()
    worst = str(over["sampler"].iloc[int(ratios.argmax())])
    return f"The ε of a run is at least {rounded(ratios.max(), 2)} times the printed one ({NAMES[worst]})"


def _needed(part: pd.DataFrame) -> Any:
    """Draw the noise that proves the printed epsilon, against the number of steps."""
    figure, grid = new_figure(1, 1, 5.6, 4.2)
    axes, widest = grid[0][0], part.iloc[0]
    part = part[(part["sigma"] == widest["sigma"]) & (part["at"] == widest["at"])]
    for sampler in _samplers(part):
        own = part[part["sampler"] == sampler].sort_values("steps")
        axes.plot(own["steps"], own["needed"], markersize=4, **LOOKS[sampler])
    axes.axhline(widest["sigma"], **PRINTED)
    axes.set(xscale="log", yscale="log", xlabel="steps T of the one epoch", ylabel="noise multiplier that is needed")
    plain_log_axis(axes)
    _legend(figure, _samplers(part), {"Poisson samples, by definition": line_key(**PRINTED)})
    factor = part["needed"].max() / widest["sigma"]
    goal = f"the ε that Poisson samples have at σ = {widest['sigma']:g} (δ = {widest['at']:g})"
    headed(figure, f"A proof of {goal} takes up to {rounded(factor, 2)} times the noise")
    return figure


def _profiles(part: pd.DataFrame) -> Any:
    """Draw delta(epsilon) of the samplers at the first setting."""
    first = part.iloc[0]
    part = part[(part[SETTINGS] == first[SETTINGS]).all(axis=1)]
    figure, grid = new_figure(1, 1, 6.2, 4.6)
    axes = grid[0][0]
    for sampler in _samplers(part):
        own = part[part["sampler"] == sampler]
        _band(axes, own, "at", "exact_low", "exact_high", LOOKS[sampler])
        _simulated(axes, own[own["simulated"] > 0], "at", LOOKS[sampler])
    least = part["simulated"][part["simulated"] > 0].min()
    axes.set(yscale="log", xlabel="ε (nats)", ylabel="δ(ε)", ylim=(0.3 * max(least, LOWEST), 1))
    _legend(figure, _samplers(part), {name: KEYS[name] for name in list(KEYS)[1:]})
    at = f"σ = {first['sigma']:g}, {first['epochs']} × {first['steps']:,} steps"
    headed(figure, f"{_spread(part)} ({at})")
    return figure


def _spread(part: pd.DataFrame) -> str:
    """Return in words how far apart samplers are at the largest epsilon at which all have a positive delta."""
    alive = part[part["simulated"] > LOWEST].groupby("at").filter(lambda rows: len(rows) == part["sampler"].nunique())
    if alive.empty:
        return f"No ε has a simulated δ above {LOWEST:g} for all samplers"
    rows = alive[alive["at"] == alive["at"].max()]
    ratio = rows["simulated"].max() / rows["simulated"].min()
    return f"At ε = {rows['at'].iloc[0]:g} the largest simulated δ of a sampler is {ratio:.2g} times the least one"


def _cut(part: pd.DataFrame) -> Any:
    """Draw epsilon against the largest number of records that are used."""
    first = part.iloc[0]
    part = part[(part[[*SETTINGS, "at", "batch"]] == first[[*SETTINGS, "at", "batch"]]).all(axis=1)]
    figure, grid = new_figure(1, 1, 5.8, 4.2)
    axes, rows = grid[0][0], part.sort_values("most")
    _band(axes, rows, "most", "least", "largest", LOOKS["poisson_cut"])
    _simulated(axes, rows, "most", LOOKS["poisson_cut"])
    axes.plot(rows["most"], rows["printed"], **PRINTED)
    axes.set(xlabel="most records that are used of a sample", ylabel=f"ε (nats) at δ = {first['at']:g}", yscale="log")
    plain_log_axis(axes)
    _legend(figure, ["poisson_cut"], KEYS)
    close = rows[rows["largest"] < 1.01 * rows["printed"]]
    mean = f"a mean of {first['batch']:g}"
    found = f"cutting at {close['most'].min():g} records" if len(close) else "no cut here"
    headed(figure, f"With {mean} records in a sample, {found} has a proved ε within 1% of the printed one")
    return figure


def _draws(part: pd.DataFrame) -> Any:
    """Draw the draws for a relative error of 1% against delta, by importance sampling and by plain runs."""
    figure, grid = new_figure(1, 1, 5.8, 4.4)
    axes = grid[0][0]
    for sampler in _samplers(part):
        own = part[part["sampler"] == sampler].sort_values("simulated_delta")
        axes.plot(own["simulated_delta"], own["draws"], markersize=4, **LOOKS[sampler])
    ends = np.array([part["simulated_delta"].min(), part["simulated_delta"].max()])
    axes.plot(ends, ONE_PERCENT / ends, **PRINTED)
    axes.set(xscale="log", yscale="log", xlabel="δ", ylabel="draws for a relative error of 1%")
    _legend(figure, _samplers(part), {f"plain runs, at most: {ONE_PERCENT:,.0f} / δ": line_key(**PRINTED)})
    rare = part.iloc[int(part["simulated_delta"].to_numpy().argmin())]
    factor = rounded(ONE_PERCENT / rare["simulated_delta"] / rare["draws"], 1)
    at = f"δ = {rare['simulated_delta']:.1g} ({NAMES[rare['sampler']]})"
    headed(figure, f"At {at} importance sampling needs up to {factor} times fewer draws than plain runs")
    return figure


FIGURES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "three_epsilons": _three,
    "needed_noise": _needed,
    "profiles": _profiles,
    "cut_samples": _cut,
    "draws": _draws,
}
UNITS = {
    "three_epsilons": "ε in nats",
    "needed_noise": "noise over the clipping length",
    "profiles": "ε in nats",
    "cut_samples": "ε in nats",
    "draws": "a draw is one run",
}
