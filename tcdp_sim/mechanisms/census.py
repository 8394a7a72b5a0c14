"""Counts by level and query with discrete Gaussian noise, as a statistical agency releases them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import sqrt
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import choice, real
from tcdp_sim.data.count_lists import CELLS, CountList, count_list
from tcdp_sim.mechanisms.axes import DELTA
from tcdp_sim.mechanisms.base import EVERY, Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.noise import DiscreteGaussian
from tcdp_sim.privacy import ZCDP, Guarantee

VARIANCES = ("published", "best", "simple")
_COLUMNS = ("levels", "queries", "sigma_squared", "shift", "times")


@dataclass(frozen=True, eq=False)
class Census(Mechanism):
    """Histograms of counts with discrete Gaussian noise of unequal sizes, by level and query.

    A trial draws the noise of one cell of each shown histogram.

    - `releases`: all histograms that are released, with the noise that is used.
    - `delta`: the delta at which epsilon is accounted for, in (0, 1).
    - `shown`: the histograms whose errors are simulated, by their place in the list.
    - `variances`: the origin of the noise: the list itself, or the list with all sigma^2 multiplied by the factor at
      which the exact epsilon is the one that a conversion gives for the list itself. "best" is the best conversion
      of rho-zCDP, "simple" is rho + 2 sqrt(rho log(1 / delta)).
    - `factor`: the factor.
    """

    releases: CountList
    delta: float
    shown: tuple[int, ...]
    variances: str = "published"
    factor: float = 1.0

    name = "census"
    unknown_losses = MappingProxyType(
        {EVERY: "A trial draws a cell of each shown histogram, and the promise is for the whole list."}
    )
    version = 1
    axes = declared(
        Axis("list", "list of released histograms", "", "a name in mechanism.lists", "text"),
        DELTA,
        Axis("variances", "origin of the noise", "", ", ".join(VARIANCES), "text", "published"),
        Axis("level", "level whose errors are simulated", "", "all, or a level of the list", "text", "all"),
        Axis("query", "query whose errors are simulated", "", "all, or a query of the list", "text", "all"),
    )
    required = ("list", "delta")
    options = ("lists",)
    observables = MappingProxyType(
        {
            "largest_error": Observable("counts", "largest absolute error, one count of each shown histogram", 0),
            "mean_square_error": Observable("counts^2", "mean squared error, one count of each shown histogram", 0),
        }
    )
    events = MappingProxyType({})

    def __post_init__(self) -> None:
        choice("variances", self.variances, VARIANCES)

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return tuple(cls.axes)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        known = options["lists"]
        if not isinstance(known, Mapping):
            raise ValueError(f"mechanism.lists = {known!r} is not valid; valid: a mapping from names to tables")
        name = choice("list", point["list"], known)
        if not isinstance(known[name], Mapping):
            raise ValueError(
                f"mechanism.lists.{name} = {known[name]!r} is not valid; valid: file or path, relation, ..."
            )
        releases, delta = count_list(name, known[name]), real("delta", point["delta"], 0, 1)
        asked = {axis: str(point.get(axis) or cls.axes[axis].default) for axis in ("variances", "level", "query")}
        choice("variances", asked["variances"], VARIANCES)
        shown = releases.places(asked["level"], asked["query"])
        if not shown:
            where = f"level {asked['level']!r} and query {asked['query']!r}"
            raise ValueError(f"list {name} has no histogram of {where}; valid: all, or names of its table")
        factor = 1.0 if asked["variances"] == "published" else _factor(releases, delta, asked["variances"])
        law = {"mechanism": cls.name, "version": cls.version, "relation": releases.relation, "delta": float(delta)}
        law |= {"variances": asked["variances"], "factor": factor, "shown": shown}
        return law | {column: list(getattr(releases, column)) for column in _COLUMNS}

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        columns = {column: tuple(law[column]) for column in _COLUMNS}
        releases = CountList(**columns, relation=law["relation"])
        return cls(releases, law["delta"], tuple(law["shown"]), law["variances"], law["factor"])

    @property
    def sigma_squared(self) -> tuple[float, ...]:
        """The parameter sigma^2 of the noise that is used, of every histogram."""
        return tuple(self.factor * variance for variance in self.releases.sigma_squared)

    @property
    def guarantee(self) -> Guarantee:
        cells, rows = CELLS[self.releases.relation], (self.sigma_squared, self.releases.shift, self.releases.times)
        return ZCDP(sum(cells * times * shift**2 / (2 * variance) for variance, shift, times in zip(*rows)))

    @property
    def work(self) -> float:
        return 2.0 * len(self.shown)

    @cached_property
    def noises(self) -> tuple[DiscreteGaussian, ...]:
        """The noise of each shown histogram."""
        return tuple(DiscreteGaussian(sqrt(self.sigma_squared[place])) for place in self.shown)

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        largest, square = np.zeros(trials), np.zeros(trials)
        for noise in self.noises:
            drawn = np.asarray(noise.sample(size=trials, rng=rng))
            np.maximum(largest, np.abs(drawn), out=largest)
            square += drawn * drawn
        return {"largest_error": largest, "mean_square_error": square / len(self.noises)}


@lru_cache(maxsize=64)
def _factor(releases: CountList, delta: float, variances: str) -> float:
    """Return the factor of all sigma^2 at which the exact epsilon equals the epsilon of the conversion, from above."""
    from tcdp_sim.accounting import CountReleases, variance_factor  # no simulation needs them, so they load late

    whole = CountReleases(releases.sigma_squared, releases.relation, releases.shift, releases.times)
    return variance_factor(whole, whole.conversions(delta)[variances], delta).factor
