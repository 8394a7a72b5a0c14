"""Sums of skewed records, overall or by group, released with more protection for small records than for large ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import real
from tcdp_sim.mechanisms.base import EVERY, Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.record_axes import (
    RELEASE_AXES,
    built_release,
    is_true,
    population_of,
    release_law,
    release_uses,
)
from tcdp_sim.per_record import Release, TransformedRelease
from tcdp_sim.per_record.clipped import ContributionRelease

TOLERANCE = 0.1  # a sum with at most this relative error is close
UNGROUPED = "none"  # the value of group_by for one sum of all records
MOST_AT_ONCE = 2_000_000  # releases in memory at a time
LARGEST = 1e150  # larger errors are recorded as infinite


@dataclass(frozen=True, eq=False)
class PerRecordSum(Mechanism):
    """One release of each sum, and its error: the released sum minus the true sum, in the units of the values.

    A record is in one group, so it has the policy of one release. One sum yields its error. Several sums yield the
    median of the relative errors and the shares of groups that are close or negative. Squared errors are recorded only
    if the fourth moment of the release is finite, because otherwise the mean of squared errors has no standard error.

    Source: Finley et al. (2024) [Fin24].

    `answers`: the numbers that noise is added to, one per group, each at least 0; for a clipped release the clipped
    sums. `truths`: the true sums, if they differ from `answers`. `nonnegative`: True if released sums below 0 become 0.
    Transformed releases have an option of their own for that.
    """

    release: Release
    answers: tuple[float, ...]
    truths: tuple[float, ...] | None = None
    nonnegative: bool = False

    name = "per_record_sum"
    unknown_losses = MappingProxyType(
        {EVERY: "The loss depends on the record; the experiment per_record_policy draws it for a given influence."}
    )
    version = 1
    neighbours = "add_remove"
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
            _check_whole(release, "answer", np.array(law["answers"]))
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
        """None, because the guarantee depends on the record: see the policy of the release."""

    @property
    def work(self) -> float:
        return 2.0 * len(self.answers)

    @property
    def true_sums(self) -> tuple[float, ...]:
        """The true sums, which errors are measured against."""
        return self.answers if self.truths is None else self.truths

    @cached_property
    def has_squared_error(self) -> bool:
        """True if there is one sum and the mean of its squared errors has a standard error."""
        return len(self.answers) == 1 and bool(np.isfinite(self.release.kurtosis(self.answers[0])))

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        truths = np.array(self.true_sums)
        if len(truths) == 1:
            return self._of_one(self._releases(rng, trials)[:, 0], truths[0])
        size = max(MOST_AT_ONCE // len(truths), 1)
        parts = [self._of_groups(self._releases(rng, min(size, trials - i)), truths) for i in range(0, trials, size)]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _releases(self, rng: np.random.Generator, trials: int) -> Floats:
        """Return independent releases of all groups, shape (trials, groups)."""
        answers = np.array(self.answers)
        released = np.asarray(self.release.sample(q=answers, size=(trials, len(answers)), rng=rng))
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
    """Return |error| / truth; for a true sum of 0 it is 0 without error, else inf."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(size == 0, 0.0, size / truth)


def _summable(draws: Floats) -> Floats:
    """Return the draws with those beyond +-LARGEST made infinite.

    The squares of larger draws would overflow, and their means would not show it.
    """
    return np.where(np.abs(draws) > LARGEST, np.copysign(np.inf, draws), draws)


def _answer(release: Release, answer: Any) -> float:
    """Return a true sum >= 0; ValueError for a release whose error depends on the records."""
    if isinstance(release, ContributionRelease) and getattr(release, "rule", "") != "full":
        raise ValueError(
            f"answer = {answer} is not valid with {release!r}, which loses an amount that depends on the records; "
            "valid: a population"
        )
    return real("answer", answer, 0, closed=True)


def _check_whole(release: Release, name: str, values: Floats) -> None:
    """Raise ValueError if discrete noise cannot protect a value, because it is not on its lattice."""
    noise: Any = getattr(release, "noise", None)
    if noise is None or not noise.is_discrete:
        return
    for value in np.unique(values):
        if noise.steps_of(value) is None:
            valid = f"valid: multiples of {noise.step_length:g}"
            raise ValueError(f"{name} = {value:g} is not valid for {noise!r}; {valid}")


def _sums(release: Release, point: Point, options: Options) -> dict[str, Any]:
    """Return the sums of the population's groups, and the treatment of rows that did not fit."""
    group_by = point.get("group_by")
    population = population_of(point, options, None if group_by in (None, UNGROUPED) else str(group_by))
    _check_whole(release, f"population = {point['population']}: a record", population.values)
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
