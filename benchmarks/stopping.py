"""Measure the coverage of every rule that stops a cell, and write the table of docs/explained/monte_carlo.md."""

import argparse
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import exp, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim.results.sweeps import joined
from tcdp_sim.statistics import contradictions
from tcdp_sim.sweeps import exact, memory
from tcdp_sim.sweeps import run as sweeps
from tcdp_sim.sweeps.arguments import checked

PAGE = Path(__file__).parents[1] / "docs" / "explained" / "monte_carlo.md"
START, END = "<!-- written by make bench-stopping -->\n", "<!-- end -->\n"
CELLS, SWEEPS = 19, 106  # of a sweep, and of a row: 2,014 numbers, or pairs of them
FAILURE = 0.05  # of each comparison: of a sweep CELLS times as much
LEAST, CHUNK, MOST, EVENTS = 500, 500, 10_000, 50
EFFECT = 0.1  # standard deviations between the mean and what it is compared with
Draw = Callable[[np.random.Generator, int], np.ndarray]
HEADINGS = ("rule", "law", "trials", "coverage", "wrong decisions", "false alarms")
SIGMA = 1.5


@dataclass(frozen=True)
class Law:
    """A law of a trial with mean and standard deviation, and whether it is an event."""

    draw: Draw
    mean: float
    deviation: float
    event: bool = False


LAWS = {
    "normal": Law(lambda rng, n: 1 + rng.standard_normal(n), 1.0, 1.0),
    "exponential": Law(lambda rng, n: rng.standard_exponential(n), 1.0, 1.0),
    "lognormal, σ = 1.5": Law(
        lambda rng, n: np.exp(SIGMA * rng.standard_normal(n) - SIGMA**2 / 2), 1.0, sqrt(exp(SIGMA**2) - 1)
    ),
    "event, p = 0.01": Law(lambda rng, n: rng.random(n) < 0.01, 0.01, sqrt(0.01 * 0.99), True),
}


@dataclass(frozen=True)
class Rule:
    """A rule in words, the keys of a sweep for a law, and what the cells of the second arm differ by.

    `arms` is the number of cells that are compared with each other, and `effect` the distance of what is compared, in
    standard deviations.
    """

    words: str
    keys: Callable[[Law], Mapping[str, Any]]
    arms: int = 1
    effect: float = 0.0


def _threshold(effect: float) -> Callable[[Law], Mapping[str, Any]]:
    def keys(law: Law) -> Mapping[str, Any]:
        return {"target": {"x": {"threshold": law.mean + effect * law.deviation, "failure": FAILURE * CELLS}}}

    return keys


def _across(_: Law) -> Mapping[str, Any]:
    return {"target": {"x": {"across": "arm", "failure": FAILURE * CELLS}}}


def _mcse(law: Law) -> Mapping[str, Any]:
    return {"target_mcse": {"x": {"absolute": law.deviation / sqrt(8 * LEAST)}}}


RULES = (
    Rule("fixed trials", lambda _: {"trials": 8 * LEAST}),
    Rule("`target_mcse`", _mcse),
    Rule("`threshold`, at the mean", _threshold(0.0)),
    Rule(f"`threshold`, {EFFECT:g} sd above", _threshold(EFFECT), effect=EFFECT),
    Rule("`across`, equal means", _across, 2),
    Rule(f"`across`, {EFFECT:g} sd apart", _across, 2, EFFECT),
    Rule(f"`events: {EVENTS}`", lambda _: {"target": {"x": {"events": EVENTS}}}),
)


@dataclass(frozen=True)
class Measured:
    """The results of a rule for a law: mean trials, and shares of intervals, of comparisons and of single numbers.

    `wrong` is NaN without a comparison.
    """

    trials: float
    coverage: float
    wrong: float
    alarms: float


def measured(rule: Rule, law: Law, sweeps_made: int = SWEEPS, first: int = 0) -> Measured:
    """Return the results of so many sweeps, whose seeds begin with `first`."""
    other = law if law.event else LAWS["normal"]

    def function(rng: np.random.Generator, trials: int, cell: int, arm: int) -> dict[str, np.ndarray]:
        own = other if arm and rule.arms > 1 else law
        if own.event:
            return {"x": rng.random(trials) < own.mean + arm * rule.effect * own.deviation}
        return {"x": own.draw(rng, trials) + arm * rule.effect * law.deviation}

    axes = {"cell": range(CELLS), "arm": range(rule.arms)}
    parts = [_columns(function, axes, law, rule, seed) for seed in range(first, first + sweeps_made)]
    table = pd.concat([part for part, _ in parts], ignore_index=True)
    states = [state for _, each in parts for state in each]
    covered = (table["x_lower"] <= table["x_exact"]) & (table["x_exact"] <= table["x_upper"])
    alarms = [len(contradictions.find(table.iloc[[i]])) > 0 for i in range(len(table))]
    wrong = [_is_wrong(state, rule) for state in states]
    shares = [float(np.mean(each)) if each else np.nan for each in (covered.tolist(), wrong, alarms)]
    return Measured(float(table["trials"].mean()), *shares)


def _is_wrong(decided: str, rule: Rule) -> bool:
    """Return True for a decision against the truth: the mean, or that of the first arm, is the smaller one."""
    return decided == "larger" or (decided == "smaller" and not rule.effect)


def _columns(function: Any, axes: Any, law: Law, rule: Rule, seed: int) -> tuple[pd.DataFrame, list[str]]:
    """Return the numbers of a sweep as `contradictions.find` reads them, and the decisions of its comparisons."""
    keys = {"trials": LEAST, "chunk": CHUNK, "max_trials": MOST, "seed": seed} | dict(rule.keys(law))
    sweep, _ = sweeps.prepared(checked(function, axes, **keys), warnings.warn)
    problems = memory.Problems(sweep, lambda line: None)
    data = joined(memory.simulated(sweep, problems))
    name = exact.quantity(sweep, "x")
    truth = [law.mean + point["arm"] * rule.effect * law.deviation for point in sweep.points.values()]
    columns = {"trials": data["trials"][1], "x_exact": truth, "x": data[name][1]}
    columns |= {f"x{end}": data[name + end][1] for end in ("_mcse", "_lower", "_upper")}
    if not law.event:
        columns |= {"x_skewness": exact.skewness(data, "x"), "x_nonfinite": data["x_nonfinite"][1]}
    states = problems.compared.states if problems.compared else ()
    return pd.DataFrame(columns), [state.decided for state in states if not state.comparison.target.events]


def rows() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table."""
    for rule in RULES:
        for name, law in LAWS.items():
            if law.event or not rule.words.startswith("`events"):
                found = measured(rule, law)
                wrong = "" if np.isnan(found.wrong) else f"{found.wrong:.1%}"
                yield rule.words, name, f"{found.trials:,.0f}", f"{found.coverage:.1%}", wrong, f"{found.alarms:.1%}"


def power(seed: int = 0) -> str:
    """Return a sentence about five estimators of a centre under twelve conditions."""
    import tcdp_sim

    draws = {
        "normal": lambda rng, size: rng.standard_normal(size),
        "Laplace": lambda rng, size: rng.laplace(size=size),
        "t with 3 degrees": lambda rng, size: rng.standard_t(3, size),
        "contaminated": lambda rng, size: rng.standard_normal(size) * np.where(rng.random(size) < 0.1, 5, 1),
    }

    def squared(rng: np.random.Generator, trials: int, estimator: str, law: str, n: int) -> dict[str, np.ndarray]:
        x = np.sort(draws[law](rng, (trials, n)), axis=1)
        cut = n // 4
        found = {
            "mean": lambda: x.mean(axis=1),
            "median": lambda: x[:, n // 2],
            "trimmed mean": lambda: x[:, cut : n - cut].mean(axis=1),
            "midhinge": lambda: (x[:, cut] + x[:, n - 1 - cut]) / 2,
            "midrange": lambda: (x[:, 0] + x[:, -1]) / 2,
        }
        return {"error": found[estimator]() ** 2}

    estimators = ["mean", "median", "trimmed mean", "midhinge", "midrange"]
    axes = {"estimator": estimators, "law": list(draws), "n": [11, 31, 101]}
    keys: dict[str, Any] = {"trials": 1000, "chunk": 1000, "max_trials": 100_000, "share": "estimator", "seed": seed}
    found = tcdp_sim.sweep(squared, axes, target={"error": {"across": "estimator"}}, **keys)
    decided = [row["decided"] != "undecided" for row in json.loads(found.attrs["comparisons"])]
    used = float(found["trials"].mean()) / keys["max_trials"]
    return (
        "Five estimators of a centre (mean, median, trimmed mean, midhinge, midrange) were compared for four laws and\n"
        f"three sample sizes, with common random numbers. {sum(decided)} of {len(decided)} comparisons were "
        f"decided with\n{used:.0%} of the {keys['max_trials']:,} trials allowed.\n"
    )


def section() -> str:
    """Return the measured part of the page."""
    table = [HEADINGS, ("---",) * len(HEADINGS), *rows()]
    lines = "".join(f"| {' | '.join(row)} |\n" for row in table)
    about = (
        f"Each row has {CELLS * SWEEPS:,} repetitions, with {LEAST} trials at least and {MOST:,} at most, in chunks "
        f"of {CHUNK}.\nA decision may be wrong with probability {FAILURE:.0%}. The law is compared with a normal one "
        "of the same mean, the\nevent with another event. A false alarm is an exact value that the alarm for one "
        "number denies.\n"
    )
    return f"{about}\n{lines}\n{power()}"


def replaced(page: str, text: str) -> str:
    """Return a page with another measured part."""
    before, _, rest = page.partition(START)
    return f"{before}{START}\n{text}\n{END}{rest.partition(END)[2]}"


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m benchmarks.stopping", description=__doc__)
    words.add_argument("--page", type=Path, default=PAGE)
    given = words.parse_args()
    text = section()
    given.page.write_text(replaced(given.page.read_text("utf-8"), text), "utf-8")
    print(text)


if __name__ == "__main__":
    main()
