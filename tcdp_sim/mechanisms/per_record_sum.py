"""Sums of skewed records, in all or by group, released so that small records are protected more than large ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import real
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.record_axes import (
    RELEASE_AXES,
    built_release,
    is_true,
    population_of,
    release_law,
    release_uses,
)
from tcdp_sim.releases import Release, TransformedRelease
from tcdp_sim.releases.clipped import ContributionRelease

TOLERANCE = 0.1  # relative error of a sum that is close enough
UNGROUPED = "none"  # group_by of one sum of all records, in a list with columns
MOST_AT_ONCE = 2_000_000  # releases in memory
LARGEST = 1e150  # an error beyond it is drawn as infinite


@dataclass(frozen=True, eq=False)
class PerRecordSum(Mechanism):
    """One release of each sum; errors are released minus true sum, in the units of the values.

    answers: what noise is added to, one a group (for a clipped release the sums of what is left of the records), each
    >= 0; truths: the true sums, if they differ. nonnegative: releases below 0 become 0 (transformed releases have that
    in themselves). A record is in one group, so that its policy is that of one release.
    One sum yields its error, several yield what is said of all of them: the median of the relative errors, and the
    share of groups that are close. Squared errors are recorded where the fourth moment of the release is finite: else
    their mean has no standard error.
    """

    release: Release
    answers: tuple[float, ...]
    truths: tuple[float, ...] | None = None
    nonnegative: bool = False

    name = "per_record_sum"
    version = 1
    neighbours = "add-remove"
    axes = declared(
        *RELEASE_AXES,
        Axis("group_by", "column whose values are the groups that sums are of", "", f"a name, or {UNGROUPED}", "text"),
        Axis("answer", "true sum, in place of a population's", "values", "at least 0"),
    )
    required = ("release",)
    options = ("populations",)
    observables = MappingProxyType(
        {
            "error": Observable("values", "released minus true sum"),
            "abs_error": Observable("values", "absolute error of the sum"),
            "relative_error": Observable("1", "absolute error over the true sum"),
            "squared_error": Observable("values^2", "squared error of the sum"),
            "median_relative_error": Observable("1", "median over groups of the absolute error over the true sum"),
            "share_within_10_percent": Observable("1", "share of groups released to 10% of their true sum", 0, 1),
            "share_negative": Observable("1", "share of groups whose released sum is below 0", 0, 1),
        }
    )
    events = MappingProxyType(
        {"negative": "the released sum is below 0", "within_10_percent": "the error is at most 10% of the true sum"}
    )

    @classmethod
    def check_options(cls, options: Options) -> None:
        if not isinstance(options.get("populations"), Mapping):
            population_of({}, options)

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        if point.get("answer") is not None:
            sums: tuple[str, ...] = ("answer",)
        else:
            sums = ("population", "group_by")
        clamped = ("nonnegative",) if point.get("nonnegative") is not None else ()
        return tuple(dict.fromkeys((*release_uses(point), *sums, *clamped)))

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        everybody = population_of(point, options) if "population" in cls.uses(point) else None
        released = release_law(point, None if everybody is None else everybody.values)
        law: dict[str, Any] = {"mechanism": cls.name, "version": cls.version, "release": released}
        release = built_release(released)
        if point.get("answer") is not None:
            law["answers"] = [_answer(release, point["answer"])]
        else:
            law |= _sums(release, point, options)
        if is_true(point, "nonnegative") and not isinstance(release, TransformedRelease):
            law["nonnegative"] = True
        return law

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        truths = tuple(law["truths"]) if "truths" in law else None
        return cls(built_release(law["release"]), tuple(law["answers"]), truths, law.get("nonnegative", False))

    @property
    def guarantee(self) -> None:
        """None: what is promised depends on the record, by the release's policy."""

    @property
    def work(self) -> float:
        return 2.0 * len(self.answers)

    @property
    def true_sums(self) -> tuple[float, ...]:
        """What errors are measured against."""
        return self.answers if self.truths is None else self.truths

    @cached_property
    def has_squared_error(self) -> bool:
        """Whether a mean of squared errors has a standard error; of one sum alone it is recorded."""
        return len(self.answers) == 1 and bool(np.isfinite(self.release.kurtosis(self.answers[0])))

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        truths = np.array(self.true_sums)
        if len(truths) == 1:
            return self._of_one(self._releases(rng, trials)[:, 0], truths[0])
        size = max(MOST_AT_ONCE // len(truths), 1)
        parts = [self._of_groups(self._releases(rng, min(size, trials - i)), truths) for i in range(0, trials, size)]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _releases(self, rng: np.random.Generator, trials: int) -> Floats:
        """Shape (trials, groups)."""
        answers = np.array(self.answers)
        released = np.asarray(self.release.sample(rng, answers, (trials, len(answers))))
        return np.maximum(released, 0.0) if self.nonnegative else released

    def _of_one(self, released: Floats, truth: float) -> Draws:
        error = released - truth
        size = np.abs(error)
        draws = {"error": error, "abs_error": size, "relative_error": _relative(size, truth)}
        if self.has_squared_error:
            draws["squared_error"] = _summable(error) ** 2
        draws = {name: _summable(draw) for name, draw in draws.items()}
        return draws | {"negative": released < 0, "within_10_percent": size <= TOLERANCE * truth}

    def _of_groups(self, released: Floats, truths: Floats) -> Draws:
        size = np.abs(released - truths)
        return {
            "median_relative_error": _summable(np.median(_relative(size, truths), axis=1)),
            "share_within_10_percent": (size <= TOLERANCE * truths).mean(axis=1),
            "share_negative": (released < 0).mean(axis=1),
        }


def _relative(size: Floats, truth: Any) -> Floats:
    """|error| / truth; of a true sum of 0 it is 0 without error, else inf."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(size == 0, 0.0, size / truth)


def _summable(draws: Floats) -> Floats:
    """The draws, those beyond LARGEST as infinite: their squares would be no floats, and no mean could tell of them."""
    return np.where(np.abs(draws) > LARGEST, np.copysign(np.inf, draws), draws)


def _answer(release: Release, answer: Any) -> float:
    """A true sum >= 0 that stands by itself; ValueError for releases whose error depends on the records."""
    if isinstance(release, ContributionRelease) and getattr(release, "rule", "") != "full":
        raise ValueError(
            f"answer = {answer} is not valid with {release!r}, which loses an amount that depends on the records; "
            "valid: a population"
        )
    return real("answer", answer, 0, closed=True)


def _sums(release: Release, point: Point, options: Options) -> dict[str, Any]:
    """The sums of the population's groups, and what was done to rows that did not fit."""
    group_by = point.get("group_by")
    population = population_of(point, options, None if group_by in (None, UNGROUPED) else str(group_by))
    law: dict[str, Any] = {"answers": list(population.sums)}
    if isinstance(release, ContributionRelease):
        answers = list(population.sums_of(release.contribution(population.values)))
        if answers != law["answers"]:
            law |= {"answers": answers, "truths": law["answers"]}
    if population.left_out:
        law["left_out"] = dict(population.left_out)
    if population.persons:
        law["persons"] = len(population.values)
    return law
