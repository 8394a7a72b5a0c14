"""Threshold queries on a random subsample of ordered records: a CDF or a median of all of them, from a few."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.core.axes import declared
from tcdp_sim.core.errors import UserError, choice, real
from tcdp_sim.mechanisms.axes import SAMPLING_FRACTION, SCHEME
from tcdp_sim.mechanisms.base import Draws, Law, Options, Point
from tcdp_sim.mechanisms.thresholds import Thresholds
from tcdp_sim.privacy.amplification.schemes import SCHEMES, known_scheme
from tcdp_sim.samplers.subsamples import Sampling, realised_fraction
from tcdp_sim.thresholds.noisy_tree import search_rank
from tcdp_sim.thresholds.records import Records
from tcdp_sim.thresholds.step_cdf import StepCdf

FITTING = tuple(name for name, scheme in SCHEMES.items() if scheme.base == "substitute")


@dataclass(frozen=True, eq=False)
class SubsampledThresholds(Thresholds):
    """A method of `Thresholds`, planned for and run on a subsample; its counts over s are judged by all records.

    scheme: one of FITTING: a subsample's size is public and fixed, as the methods need. fraction: s, a whole number of
    draws over the number of records. A trial draws a subsample and runs the method once.
    """

    scheme: str = "without_replacement"
    fraction: float = 1.0
    path: str = "counts"

    name = "subsampled"
    version = 1
    axes = declared(*Thresholds.axes.values(), SCHEME, SAMPLING_FRACTION)
    required = (*Thresholds.required, "scheme", "sampling_fraction")  # type: ignore[assignment]
    options = (*Thresholds.options, "path")  # type: ignore[assignment]

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        for name in ("method", "records", "rho"):
            if point.get(name) is None:
                raise UserError(f"sweep.{name} is missing; base = thresholds needs it")
        return ("base", "scheme", "sampling_fraction", *super().uses(point))

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        scheme = choice("scheme", point["scheme"], SCHEMES)
        if known_scheme(scheme).base != "substitute":
            reason = f"scheme = {scheme!r} does not fit base = thresholds, whose subsamples are of a fixed, public size"
            raise ValueError(f"{reason}; valid: {', '.join(FITTING)}")
        law = super().law(point, options, counts)
        s = real("sampling_fraction", point["sampling_fraction"], 0, 1, finite=False)
        s = realised_fraction(s, scheme, sum(int(text) for text in law["counts"].split()))
        sampling = {"base": "thresholds", "base_version": Thresholds.version, "scheme": scheme, "sampling_fraction": s}
        return law | sampling | {"path": options["path"]}

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        whole = Thresholds.build(law, counts)
        given = {name: getattr(whole, name) for name in Thresholds.__dataclass_fields__}
        built = cls(**given, scheme=law["scheme"], fraction=law["sampling_fraction"], path=law["path"])
        _ = built.plan  # a budget that cannot be had is refused now, not on a worker
        return built

    @cached_property
    def sampling(self) -> Sampling:
        """How subsamples are drawn."""
        return Sampling(self.records.counts, self.scheme, self.fraction, self.path)

    @property
    def thresholds(self) -> Mapping[str, Mapping[str, float]]:
        return MappingProxyType({})  # what is proved is about the subsample

    @cached_property
    def plan(self) -> Any:
        """The method's plan for subsamples, told as if it were one for all records: every use draws a subsample."""
        drawn = Records([0], [self.sampling.draws], self.records.k)  # plans depend on how many there are
        fields = {name: getattr(self, name) for name in Thresholds.__dataclass_fields__}
        return _OnSamples(self, Thresholds(**fields | {"records": drawn}).plan)

    def sample(self, rng: np.random.Generator) -> Records:
        """One subsample."""
        drawn = self.sampling.draw(rng, 1)[0]
        return Records(self.records.values[drawn > 0].tolist(), drawn[drawn > 0], self.records.k)

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        if self.method != "binary_search":
            return super().simulate(rng, trials)
        inner, rho = (self.sampling.draws + 1) // 2, self.promise.rho
        medians = [search_rank(self.sample(rng).sorted, inner, self.records.k, rho, rng, 1)[0] for _ in range(trials)]
        return self._median_errors(medians, (self.records.n + 1) // 2)


@dataclass(frozen=True)
class _OnSamples:
    """A plan whose runs and errors are those of subsamples, in numbers of all records."""

    of: SubsampledThresholds
    inner: Any

    def run(self, records: Records, rng: np.random.Generator) -> StepCdf:
        cdf: StepCdf = self.inner.run(self.of.sample(rng), rng)
        return replace(cdf, estimates=tuple(x / self.of.fraction for x in cdf.estimates), n=records.n)

    def errors(self, places: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Of a noisy tree: what it tells at these places less the truth."""
        noisy_ranks = self.of.sample(rng).ranks(places) + self.inner.errors(places, rng)
        return np.asarray(noisy_ranks / self.of.fraction - self.of.records.ranks(places))
