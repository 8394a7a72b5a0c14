"""Threshold queries on a random subsample of ordered records: a CDF or a median of all of them."""

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
from tcdp_sim.mechanisms.base import EVERY, Draws, Law, Mechanism, Options, Point
from tcdp_sim.mechanisms.losses import LOSSES
from tcdp_sim.mechanisms.thresholds import Thresholds
from tcdp_sim.ordered.thresholds.noisy_tree import search_rank
from tcdp_sim.ordered.thresholds.records import Records
from tcdp_sim.ordered.thresholds.step_cdf import StepCdf
from tcdp_sim.privacy.amplification.schemes import SCHEMES, known_scheme
from tcdp_sim.samplers.subsamples import Sampling, realised_fraction

FITTING = tuple(name for name, scheme in SCHEMES.items() if scheme.base == "substitute")


@dataclass(frozen=True, eq=False)
class SubsampledThresholds(Thresholds):
    """A method of `Thresholds` that runs on a subsample, with its counts divided by the sampling fraction.

    It is judged by all records. A trial draws a subsample and runs the method once.

    `scheme`: one of FITTING: the methods need a public and fixed subsample size. `fraction`: the number of draws over
    the number of records.
    """

    scheme: str = "without_replacement"
    fraction: float = 1.0
    path: str = "counts"

    name = "subsampled"
    observables = MappingProxyType(
        {name: about for name, about in Thresholds.observables.items() if name not in LOSSES}
    )
    draw_losses = Mechanism.draw_losses
    unknown_loss = Mechanism.unknown_loss
    loss_pair = ""
    unknown_losses = MappingProxyType(
        {EVERY: "The probability of an output is a sum over all subsamples, which is not written down."}
    )
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
            reason = f"scheme = {scheme!r} does not fit base = thresholds, which needs a fixed, public subsample size"
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
        _ = built.plan  # the driver refuses an impossible budget here, before a worker does
        return built

    @cached_property
    def sampling(self) -> Sampling:
        """The distribution of subsamples."""
        return Sampling(self.records.counts, self.scheme, self.fraction, self.path)

    @property
    def thresholds(self) -> Mapping[str, Mapping[str, float]]:
        return MappingProxyType({})  # the proved bound concerns the subsample only

    @cached_property
    def plan(self) -> Any:
        """The method's plan for subsamples, presented as a plan for all records."""
        drawn = Records([0], [self.sampling.draws], self.records.k)  # a plan depends on the number of records only
        fields = {name: getattr(self, name) for name in Thresholds.__dataclass_fields__}
        return _OnSamples(self, Thresholds(**fields | {"records": drawn}).plan)

    def sample(self, *, rng: np.random.Generator) -> Records:
        """Return one subsample."""
        drawn = self.sampling.draw(1, rng=rng)[0]
        return Records(self.records.values[drawn > 0].tolist(), drawn[drawn > 0], self.records.k)

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        if self.method != "binary_search":
            return super().simulate(rng, trials)
        inner, rho = (self.sampling.draws + 1) // 2, self.promise.rho
        medians = [
            search_rank(self.sample(rng=rng).sorted, inner, self.records.k, rho, 1, rng=rng)[0] for _ in range(trials)
        ]
        return self._median_errors(medians, (self.records.n + 1) // 2)


@dataclass(frozen=True)
class _OnSamples:
    """A plan that draws a new subsample for every run and rescales its counts to all records."""

    of: SubsampledThresholds
    inner: Any

    def work(self, data: Any) -> float:
        """Return the forecast cost of a release on a subsample, in random numbers. `data` is as for the inner plan."""
        return float(self.inner.work(data)) + self.of.sampling.work

    def run(self, records: Records, *, rng: np.random.Generator) -> StepCdf:
        cdf: StepCdf = self.inner.run(self.of.sample(rng=rng), rng=rng)
        return replace(cdf, estimates=tuple(x / self.of.fraction for x in cdf.estimates), n=records.n)

    def errors(self, places: NDArray[np.float64], *, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the errors of a noisy tree's rescaled ranks at these places."""
        noisy_ranks = self.of.sample(rng=rng).ranks(places) + self.inner.errors(places, rng=rng)
        return np.asarray(noisy_ranks / self.of.fraction - self.of.records.ranks(places))
