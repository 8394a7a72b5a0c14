"""Random allocation: simulated delta and epsilon against exact brackets, and against Poisson sampling."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pandas as pd

from tcdp_sim.accounting import Additive, Ledger, Sampled
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.allocation.ratio_sums import dominated, dominating
from tcdp_sim.exact.losses.lists import bracket
from tcdp_sim.exact.losses.questions import Question, delta_question, epsilon_question
from tcdp_sim.experiments.laws import WEIGHTS
from tcdp_sim.experiments.ledger.inverse import epsilon_interval
from tcdp_sim.mechanisms.allocation import Allocation
from tcdp_sim.noise import Gaussian
from tcdp_sim.report.looks import direction_look, line_of, marks_of
from tcdp_sim.report.plots import GREY, captioned, headed, line_key, new_figure, note, plain_log_axis, points
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import NUMBERS, Cell, Row
from tcdp_sim.store import columns

DELTA = ("delta_from_below", "delta_from_above")
EPSILON = ("epsilon_from_below", "epsilon_from_above")
POISSON = ("poisson_delta", "poisson_epsilon")
LABELS = ("sigma", "steps", "participations", "direction", "trials")
LOOKS = {"adding": direction_look("forward"), "removing": direction_look("backward")}
POISSON_LOOK = {"color": GREY, "linestyle": ":", "linewidth": 1.6}
MOST_PROFILES = 6  # panels of profiles
_CLOSE, _SMALL = 1e-4, 1e-6  # relative tolerance of an answer, and the least epsilon to which it is relative
NOTHING = Bounds(np.nan, np.nan, np.nan)


@lru_cache(maxsize=4)
def _delta(mechanism: Allocation) -> Bounds:
    if mechanism.participations > 1:
        return NOTHING
    return _ends(mechanism, delta_question(mechanism.epsilon, lambda high: _CLOSE * high))


@lru_cache(maxsize=4)
def _epsilon(mechanism: Allocation) -> Bounds:
    if mechanism.participations > 1 or mechanism.delta is None:
        return NOTHING
    return _ends(mechanism, epsilon_question(mechanism.delta, lambda high: _CLOSE * max(high, _SMALL)))


def _ends(mechanism: Allocation, question: Question) -> Bounds:
    """Return the bracket for one direction, from laws that reveal less and more."""
    low, high = (
        bracket([(getattr(pair(mechanism.sigma, mechanism.steps), mechanism.direction), 1)], question)[end]
        for end, pair in enumerate((dominated, dominating))
    )
    return Bounds(min(low, high), 0.5 * (low + high), high)


def _poisson(mechanism: Allocation) -> Ledger:
    """Return the ledger of Poisson sampling at the same rate, in both directions."""
    step = Sampled(Additive(Gaussian(mechanism.sigma)), mechanism.participations / mechanism.steps)
    return Ledger([(step, mechanism.steps)], "add_remove")


def _delta_below(mechanism: Allocation) -> float:
    return _delta(mechanism).lower


def _delta_above(mechanism: Allocation) -> float:
    return _delta(mechanism).upper


def _epsilon_below(mechanism: Allocation) -> float:
    return _epsilon(mechanism).lower


def _epsilon_above(mechanism: Allocation) -> float:
    return _epsilon(mechanism).upper


def _poisson_delta(mechanism: Allocation) -> float:
    return _poisson(mechanism).delta(mechanism.epsilon, 1e-2).upper if mechanism.delta is None else np.nan


def _poisson_epsilon(mechanism: Allocation) -> float:
    return np.nan if mechanism.delta is None else _poisson(mechanism).epsilon(mechanism.delta, 1e-3).upper


_VALUES = (_delta_below, _delta_above, _epsilon_below, _epsilon_above, _poisson_delta, _poisson_epsilon)
EXACT = dict(zip((*DELTA, *EPSILON, *POISSON), _VALUES))
BOUND = {columns.mean("hockey_stick"): _delta_above}
UNKNOWN = {
    columns.mean("hockey_stick"): "delta is bracketed for one participation alone",
    columns.mean("slope"): "the brackets are of delta, and not of its derivative",
    **{columns.quantile(name): WEIGHTS for name in ("hockey_stick", "slope")},
}
UNITS = {name: "nats" if "epsilon" in name else "1" for name in EXACT}


def rows(cell: Cell) -> Iterator[Row]:
    """Yield a row for each quantity of a cell: "delta" at the epsilon `at`, and "epsilon" at the delta `at`.

    - `simulated`, `mcse`, `lower`, `upper`: the simulated number, its standard error and its 95% interval (normal
      approximation). Epsilon is in nats.
    - `exact_low`, `exact_high`: the ends of the exact bracket in this direction, for one participation; NaN for more.
    - `exact`: the number in the bracket that is closest to the simulated one, with which it is compared.
    - `poisson`: the same quantity of Poisson sampling at the same rate, rounded up, for the worse direction.
    """
    mechanism = cell.mechanism
    labels = {name: getattr(mechanism, name, None) for name in LABELS[:-1]} | cell.only("trials")
    delta = cell.mean("hockey_stick")
    numbers = (*delta[:2], *np.clip(delta[2:], 0, 1).tolist())
    skewness = {"skewness": cell.skewness("hockey_stick")}
    yield (
        labels | {"quantity": "delta", "at": mechanism.epsilon} | _compared(cell, numbers, DELTA, POISSON[0]) | skewness
    )
    if mechanism.delta is not None:
        bend = min(abs(np.log(delta[0] / mechanism.delta)), 1.0) if delta[0] > 0 else 1.0  # losses have a density
        numbers = epsilon_interval(mechanism.epsilon, mechanism.delta, delta, cell.mean("slope"), bend)
        found = _compared(cell, numbers, EPSILON, POISSON[1])
        yield labels | {"quantity": "epsilon", "at": mechanism.delta} | found | skewness


def _compared(cell: Cell, numbers: tuple[float, ...], names: tuple[str, ...], poisson: str) -> Row:
    low, high, other = (cell.get(name + columns.EXACT, np.nan) for name in (*names, poisson))
    ends = {"exact": float(np.clip(numbers[0], low, high)), "exact_low": low, "exact_high": high, "poisson": other}
    return dict(zip(NUMBERS, numbers)) | ends


def report(table: pd.DataFrame, console) -> None:
    """Print the simulated epsilons with exact ones and the epsilons of Poisson sampling, and how well they agree."""
    for delta, part in table[table["quantity"] == "epsilon"].groupby("at"):
        headings = ("sigma", "steps", "k", "direction", "simulated", "± MCSE", "exact, from", "to", "Poisson")
        texts = map(_terminal_row, part.to_dict("records"))
        console.print(terminal_table(f"ε at δ = {delta:g} (nats)", headings, texts), soft_wrap=False)
    console.print("Poisson: sampling at the same rate, the worse direction.")
    console.print(agreement("value", *(table[name] for name in (*NUMBERS, "exact")), things="numbers"))


def _terminal_row(row) -> list[str]:
    ends = ("" if np.isnan(row[end]) else f"{row[end]:.5g}" for end in ("exact_low", "exact_high", "poisson"))
    labels = (f"{row['sigma']:g}", f"{row['steps']:,}", f"{row['participations']}", row["direction"])
    return [*labels, f"{row['simulated']:.4g}", f"{row['mcse']:.1g}", *ends]


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw epsilon against the number of steps, and delta against epsilon."""
    epsilon = table[table["quantity"] == "epsilon"]
    deltas = epsilon["at"].unique()
    for delta, part in epsilon.groupby("at"):
        name = "epsilon_vs_steps" + (f"_delta_{delta:g}" if len(deltas) > 1 else "")
        yield name, captioned(_steps_figure(part), part, "ε in nats"), part
    profile = table[(table["quantity"] == "delta") & table["poisson"].notna()]
    if len(profile):
        yield "profile", captioned(_profile_figure(profile), profile, "ε in nats"), profile


def _steps_figure(part):
    delta = part["at"].iloc[0]
    often = part["participations"].unique()
    shown = part[part["participations"] == often.min()].copy()
    sigmas = list(dict.fromkeys(shown["sigma"]))
    figure, grid = new_figure(1, len(sigmas), 1.6 + 3.1 * len(sigmas), 3.9)
    for axes, sigma in zip(grid[0], sigmas):
        cells = shown[shown["sigma"] == sigma].sort_values("steps")
        for direction, look in LOOKS.items():
            way = cells[cells["direction"] == direction]
            if len(way):
                axes.plot(way["steps"], way["exact_high"], linewidth=1.4, **line_of(look))
                ends = (way[name] for name in ("simulated", "lower", "upper"))
                points(axes, way["steps"], *ends, **marks_of(look))
        axes.plot(cells["steps"], cells["poisson"], **POISSON_LOOK)
        axes.set(xscale="log", yscale="log", xlabel="number of steps t", title=f"σ = {sigma:g}")
        plain_log_axis(axes)
    grid[0][0].set_ylabel(f"ε (nats) at δ = {delta:g}")
    _legend(figure)
    if len(often) > 1:
        note(figure, "left out", f"records of {often.min():g} step{'s' if often.min() > 1 else ''} alone, not of more")
    steps = _steps(often.min())
    headed(figure, f"ε of Poisson sampling at the same rate is {_over(shown)} that of a record in {steps} of t")
    return figure


def _over(part) -> str:
    """Return in words how many times as much Poisson sampling loses as random allocation, in its worse direction."""
    lost = part.assign(lost=part["exact_high"].fillna(part["simulated"]))
    each = lost.groupby(["sigma", "steps", "participations", "at"]).agg({"poisson": "max", "lost": "max"})
    ratios = (each["poisson"] / each["lost"]).where(each["lost"] > 0).dropna()
    ends = dict.fromkeys(f"{end:.3g}" for end in (ratios.min(), ratios.max()) if np.isfinite(end))
    return f"{' to '.join(ends)} times"


def _profile_figure(part):
    """Draw a panel for each sigma, number of steps and of participations, up to MOST_PROFILES."""
    cells = list(part.groupby(["sigma", "steps", "participations"], sort=False))
    shown = cells[:MOST_PROFILES]
    columns = min(len(shown), 3)
    lines = -(-len(shown) // columns)
    figure, grid = new_figure(
        lines, columns, max(5.6, 3.1 * columns), 0.6 + 3.6 * lines if columns == 1 else 3.2 * lines
    )
    for axes in grid.flat[len(shown) :]:
        axes.set_axis_off()
    for axes, ((sigma, steps, often), rows) in zip(grid.flat, shown):
        _profile(axes, rows)
        if len(shown) > 1:
            axes.set_title(f"σ = {sigma:g}, {often:g} of {steps:,} steps")
    if len(shown) < len(cells):
        note(figure, "left out", f"{len(shown)} of {len(cells)} settings")
    _legend(figure)
    headed(figure, f"δ of Poisson sampling at the same rate is {_over(part)} that of {_where(part)}")
    return figure


def _where(part) -> str:
    """Return in words which random steps the rows are about."""
    row = part.iloc[0]
    if len(part[["sigma", "steps", "participations"]].drop_duplicates()) > 1:
        return "random steps"
    return f"{_steps(row['participations'])} of {row['steps']:,}, σ = {row['sigma']:g}"


def _steps(participations: float) -> str:
    """Return a number of random steps in words."""
    return "one random step" if participations == 1 else f"{participations:g} random steps"


def _profile(axes, part):
    for direction, look in LOOKS.items():
        way = part[part["direction"] == direction].sort_values("at")
        if len(way):
            axes.plot(way["at"], way["exact_high"], linewidth=1.4, **line_of(look))
            ends = (way[name] for name in ("simulated", "lower", "upper"))
            points(axes, way["at"], *ends, **marks_of(look))
    other = part.drop_duplicates("at").sort_values("at")
    axes.plot(other["at"], other["poisson"], **POISSON_LOOK)
    least = part["simulated"][part["simulated"] > 0].min()
    axes.set(yscale="log", xlabel="ε (nats)", ylabel="δ(ε)", ylim=(0.3 * max(least, 1e-12), 1))


def _legend(figure):
    names = {"adding": "with the record against without", "removing": "without the record against with"}
    keys = {names[way]: line_key(**look) for way, look in LOOKS.items()}
    keys["Poisson sampling at the same rate, the worse direction"] = line_key(**POISSON_LOOK)
    keys["lines: exact; markers: simulated, 95%"] = line_key(GREY, linestyle="none")
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=1)
