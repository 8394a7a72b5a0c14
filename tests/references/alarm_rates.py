"""How often the alarm is raised for right exact values, and how often it misses a wrong one, for twelve laws.

`python tests/references/alarm_rates.py` prints the table of docs/explained/alarm.md.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import betaincinv

from tcdp_sim.statistics import contradictions

CELLS = 100  # numbers in a table, of which one is wrong where misses are counted
TABLES = 200
OFF = 6.0  # standard errors of the wrong exact value
NORMAL = 1.959963984540054
PROBABILITIES = (1e-4, 0.01, 0.5, 0.99, 1 - 1e-4)


class Law(NamedTuple):
    """How trials are drawn, their mean and standard deviation, and whether they are events."""

    draw: Callable[[np.random.Generator, tuple[int, int]], Any]
    mean: float
    deviation: float
    is_event: bool = False


def two(usual: float, rare: float, chance: float) -> Law:
    """A law of two values."""

    def draw(rng, shape):
        return np.where(rng.random(shape) < chance, rare, usual)

    return Law(draw, usual + chance * (rare - usual), abs(rare - usual) * np.sqrt(chance * (1 - chance)))


def with_nan(rng, shape):
    """Normal numbers, a tenth of which are NaN."""
    return np.where(rng.random(shape) < 0.1, np.nan, rng.normal(1, 1, shape))


LAWS = {
    "normal": Law(lambda rng, shape: rng.normal(1, 1, shape), 1.0, 1.0),
    "exponential": Law(lambda rng, shape: rng.standard_exponential(shape), 1.0, 1.0),
    "lognormal": Law(
        lambda rng, shape: np.exp(rng.standard_normal(shape)), np.exp(0.5), np.sqrt(np.e * (np.e - 1))
    ),  # sigma = 1
    "Pareto": Law(lambda rng, shape: 1 + rng.pareto(3, shape), 1.5, np.sqrt(0.75)),  # P[X > x] = x^-3
    "rare large": two(0.0, 50.0, 0.02),
    "rare small": two(1.0, 0.0, 0.02),
    "constant": Law(lambda rng, shape: np.full(shape, 2.0), 2.0, 0.0),
    "signed, mean near 0": Law(lambda rng, shape: rng.laplace(1e-3, 1, shape), 1e-3, np.sqrt(2)),
    "discrete": Law(lambda rng, shape: rng.poisson(0.5, shape).astype(float), 0.5, np.sqrt(0.5)),
    "bounded": Law(lambda rng, shape: rng.beta(0.5, 2, shape), 0.2, np.sqrt(0.16 / 3.5)),
    "with NaN": Law(with_nan, 1.0, 1 / np.sqrt(0.9)),
} | {
    f"event, p = {p:g}": Law(lambda rng, shape, p=p: rng.random(shape) < p, p, np.sqrt(p * (1 - p)), True)
    for p in PROBABILITIES
}


def table_of(law: Law, trials: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return the table that the alarm reads, with right exact values."""
    x = law.draw(rng, (CELLS, trials)).astype(float)
    finite = np.isfinite(x)
    n = finite.sum(axis=1)
    if law.is_event:
        hits = x.sum(axis=1)
        lower = np.where(hits > 0, betaincinv(np.maximum(hits, 1), trials - hits + 1, 0.025), 0)
        upper = np.where(hits < trials, betaincinv(hits + 1, np.maximum(trials - hits, 1), 0.975), 1)
        share = hits / trials
        ends = {"x_mcse": np.sqrt(share * (1 - share) / trials), "x_lower": lower, "x_upper": upper}
        return pd.DataFrame({"x": share, "trials": trials, "x_exact": law.mean} | ends)
    mean = np.nanmean(x, axis=1)
    off = x - mean[:, None]
    second, third = np.nanmean(off**2, axis=1), np.nanmean(off**3, axis=1)
    mcse = np.sqrt(second / (n - 1))
    with np.errstate(invalid="ignore"):
        skewness = np.where(second > 0, third / second**1.5, 0.0)
    ends = {"x_lower": mean - NORMAL * mcse, "x_upper": mean + NORMAL * mcse}
    equal = np.nanmin(x, axis=1) == np.nanmax(x, axis=1)
    ends = {name: np.where(equal, np.nan, end) for name, end in ends.items()}
    about = {"x_mcse": mcse, "x_skewness": skewness, "x_nonfinite": trials - n, "trials": trials, "x_exact": law.mean}
    return pd.DataFrame({"x": mean} | about | ends)


class Rates(NamedTuple):
    """The shares of tables with a false alarm, and of those that miss a value above or below the right one."""

    false: float
    above: float
    below: float


def rates(name: str, trials: int, tables: int = TABLES, seed: int = 5) -> Rates:
    """Return the rates for a law; NaN for misses if it has no standard error, or no value is wrong by so much."""
    law, rng = LAWS[name], np.random.default_rng([seed, list(LAWS).index(name), trials])
    counts = np.zeros(3)
    for _ in range(tables):
        table = table_of(law, trials, rng)
        counts[0] += len(contradictions.find(table)) > 0
        for side, sign in ((1, 1), (2, -1)):
            wrong = table["x_exact"].copy()
            wrong[0] += sign * OFF * law.deviation / np.sqrt(trials)
            counts[side] += 0 not in contradictions.find(table.assign(x_exact=wrong))["row"].to_numpy()
    found = counts / tables
    for side, sign in ((1, 1), (2, -1)):
        value = law.mean + sign * OFF * law.deviation / np.sqrt(trials)
        if not law.deviation or (law.is_event and not 0 <= value <= 1):
            found[side] = np.nan
    return Rates(*found)


def main() -> None:
    """Print the table in Markdown."""
    print("| law | trials | false alarms | misses, exact value too large | misses, too small |")
    print("|---|---|---|---|---|")
    for name in LAWS:
        for trials in (1000, 10_000):
            texts = ("-" if np.isnan(rate) else f"{rate:.1%}" for rate in rates(name, trials))
            print(f"| {name} | {trials:,} | {' | '.join(texts)} |", flush=True)


if __name__ == "__main__":
    main()
