"""A private histogram of a random subsample, rescaled: its errors, and the remaining privacy loss of one record."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.calibration import VARIANCE, calibrate, equal_privacy
from tcdp_sim.core import registry
from tcdp_sim.core.arrays import Floats, Reals
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import UserError, choice, real
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.axes import DATA, DELTA, NOISE, SAMPLING_FRACTION, SCHEME, SIZES, TCDP_TARGET, K
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.losses import LOSSES, NEIGHBOUR
from tcdp_sim.noise import Noise
from tcdp_sim.noise.objectives import spec_objective
from tcdp_sim.privacy import ApproxDP, Guarantee
from tcdp_sim.privacy.amplification.schemes import SCHEMES, known_scheme, log_unmixed
from tcdp_sim.samplers import sample_extremes
from tcdp_sim.samplers.importance_sampling import ImportanceSampler, fit_importance_sampler
from tcdp_sim.samplers.losses import noise_nodes
from tcdp_sim.samplers.subsamples import Sampling, realised_fraction

TILE = 2**15
WITH_THRESHOLD = "a threshold"  # the case without a privacy loss on the neighbour
CALIBRATED = ("poisson", "without_replacement")
FINAL_EPSILON = Axis("epsilon", "of the subsampled mechanism, in place of its base's rho", "nats", "above 0")


@dataclass(frozen=True, eq=False)
class SubsampledHistogram(Mechanism):
    """A histogram of a subsample with independent noise in every bin, divided by the sampling fraction.

    Errors are measured against the counts of all records and come from sampling and noise. A trial also draws the
    privacy loss L of one record: the log of ((1-s) Q + s P) over Q at an output drawn from this mixture. With
    `threshold` a trial yields two other numbers, with the means P[L > threshold] and E[(1 - e^(threshold - L))_+], by
    importance sampling.

    - `promise`: the guarantee of the base, or of the subsampled histogram if the point gives epsilon.
    - `counts`: the records in each occupied bin, shape (m,).
    - `bins`: the number of bins, whole, up to 1e300.
    - `fraction`: the sampling probability of each record for a Poisson scheme, else the number of draws over the number
      of records.
    - `draws_losses`: True if a run also draws the privacy loss of outputs on the neighbour, as `loss_pair` says.
    """

    noise: Noise
    promise: Guarantee
    counts: np.ndarray
    bins: float
    scheme: str
    fraction: float
    threshold: float | None = None
    path: str = "counts"
    draws_losses: bool = False

    name = "subsampled"
    loss_pair = (
        "The data have a record more than the neighbour, which the sample has with the sampling probability, and which "
        "moves one bin by one. For Poisson sampling all neighbours are alike; under substitution a second bin moves, "
        "which is left out."
    )
    unknown_losses = MappingProxyType(
        {WITH_THRESHOLD: "The trials are functions of the record's privacy loss already, by importance sampling."}
    )
    version = 2
    axes = declared(
        *(NOISE, DATA, K, *TCDP_TARGET, FINAL_EPSILON, DELTA, *SIZES, SCHEME, SAMPLING_FRACTION),
        Axis("threshold", "privacy loss whose exceedance is counted", "nats", "a number"),
    )
    required = ("noise", "data", "k", "scheme", "sampling_fraction")
    options = ("path",)
    neighbours = "of the scheme: add_remove for poisson and hybrid, else substitute"
    observables = MappingProxyType(
        {
            "linf_error": Observable("counts", "largest absolute error over all bins"),
            "square_error": Observable("counts^2", "mean square error over the occupied bins"),
            "square_sampling_error": Observable("counts^2", "the mean square of what sampling alone makes of it"),
            "square_noise_error": Observable("counts^2", "the mean square of what noise alone makes of it"),
            "records_drawn": Observable("records", "size of the subsample"),
            "privacy_loss": Observable("nats", "privacy loss of one record"),
            NEIGHBOUR: LOSSES[NEIGHBOUR],
            "loss_tail": Observable("1", "its mean is P[privacy loss > threshold]"),
            "hockey_stick": Observable("1", "its mean is delta(threshold)"),
        }
    )
    events = MappingProxyType({})

    @classmethod
    def blurs_counts(cls, point: Point) -> bool:
        return True

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        if point.get("noise") is None:
            raise UserError("sweep.noise is missing; base = histogram needs one, such as gaussian")
        threshold = ("threshold",) if point.get("threshold") is not None else ()
        axes = noise_axes.given_size(point["noise"], point) or noise_axes.target_axes(_wanted(point))
        return ("base", "noise", "data", "k", "scheme", "sampling_fraction", *axes, *threshold)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        scheme = point["scheme"]
        choice("scheme", scheme, SCHEMES)
        s = real("sampling_fraction", point["sampling_fraction"], 0, 1, finite=False)
        s = realised_fraction(s, scheme, int(counts.counts.sum()))
        law = {
            "mechanism": cls.name,
            "version": cls.version,
            **_noise_law(point, scheme, s),
            "bins": real("k", point["k"], 1, 1e300, closed=True, finite=False),
            "counts": counts.digest,
            "scheme": scheme,
            "sampling_fraction": s,
            "path": options["path"],
        }
        if point.get("threshold") is not None:
            law["threshold"] = real("threshold", point["threshold"], -np.inf)
        return law

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        guarantee = ApproxDP(**law["target"]) if "epsilon" in law["target"] else noise_axes.guarantee_of(law)
        how = (law["scheme"], law["sampling_fraction"], law.get("threshold"), law["path"])
        noise = noise_axes.built(law["noise"]["family"], law["parameters"])
        records = np.asarray(counts, dtype=np.int64)
        return cls(noise, guarantee, records, law["bins"], *how, law.get("draws_losses", False))

    def __post_init__(self) -> None:
        _ = self.sampling  # raises for data that cannot be sampled

    @cached_property
    def sampling(self) -> Sampling:
        """The distribution of subsamples."""
        return Sampling(self.counts, self.scheme, self.fraction, self.path)

    @property
    def guarantee(self) -> Guarantee:
        return self.promise

    @property
    def work(self) -> float:
        if self.threshold is not None:
            return 30.0
        return 12.0 + 3 * len(self.counts) + self.sampling.work

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        if self.threshold is not None:
            return {name: draws.sample(trials, rng=rng) for name, draws in self._rare.items()}
        out = {name: np.empty(trials) for name in ("linf_error", *_PARTS, "records_drawn")}
        rows = max(1, TILE // len(self.counts))
        for start in range(0, trials, rows):
            part = slice(start, min(start + rows, trials))
            for name, values in self._errors(rng, part.stop - start).items():
                out[name][part] = values
        y = self.noise.sample(size=trials, rng=rng) + (rng.random(trials) < self.fraction)
        return out | {"privacy_loss": self._loss(y)}

    @property
    def unknown_loss(self) -> str:
        return WITH_THRESHOLD if self.threshold is not None else ""

    def draw_losses(self, rng: np.random.Generator, trials: int) -> Draws:
        """Return the losses of outputs on the neighbour; `simulate` draws the losses of outputs on the data."""
        return {NEIGHBOUR: np.asarray(self._loss(self.noise.sample(size=trials, rng=rng)))}

    def _errors(self, rng: np.random.Generator, size: int) -> Draws:
        drawn = self.sampling.draw(size, rng=rng)
        sampling, noise = drawn / self.fraction - self.counts, np.empty(drawn.shape)
        self.noise.fill(out=noise, rng=rng)
        noise /= self.fraction
        total = sampling + noise
        linf = np.abs(total).max(axis=1)
        if self.bins > len(self.counts):
            low, high = sample_extremes(self.noise, self.bins - len(self.counts), size, rng=rng)
            linf = np.maximum(linf, np.maximum(-low, high) / self.fraction)
        mean_squares = {name: np.mean(part * part, axis=1) for name, part in zip(_PARTS, (total, sampling, noise))}
        return {"linf_error": linf, "records_drawn": drawn.sum(axis=1), **mean_squares}

    def _loss(self, y: Reals) -> Reals:
        """Return log((1-s) q + s p) - log q at y, where p is the density of the noise moved by one."""
        s = self.fraction
        with np.errstate(over="ignore", invalid="ignore"):  # NaN where both densities are zero
            rise = -self._dense.privacy_loss(y, 1.0)
            return np.logaddexp(np.log1p(-s) if s < 1 else -np.inf, np.log(s) + rise)

    @cached_property
    def _dense(self) -> Noise:
        return self.noise.with_density()

    @cached_property
    def _rare(self) -> Mapping[str, ImportanceSampler]:
        noise = self._dense

        def log_density(y: Reals) -> Reals:
            kept = np.log1p(-self.fraction) if self.fraction < 1 else -np.inf
            return np.logaddexp(kept + noise.logpdf(y), np.log(self.fraction) + noise.logpdf(y - 1))

        def tail(y: Reals) -> Reals:
            return np.where(self._loss(y) > self.threshold, log_density(y), -np.inf)

        def profile(y: Reals) -> Reals:
            gap = self._loss(y) - self.threshold
            return np.where(gap > 0, log_density(y) + np.log(-np.expm1(-gap)), -np.inf)

        nodes = noise_nodes(noise, 1.0)
        nodes = np.concatenate([nodes, _jumps(lambda y: self._loss(y) > self.threshold, nodes)])
        return {
            "loss_tail": fit_importance_sampler(tail, nodes),
            "hockey_stick": fit_importance_sampler(profile, nodes),
        }


def _jumps(holds: Callable[[Floats], NDArray[np.bool_]], nodes: Floats) -> Floats:
    """Return points on both sides of each place between two nodes where a condition changes, one rounding apart.

    A step of the proposal across a jump would give rare zeros, which a few thousand trials may miss altogether.
    """
    x = np.unique(nodes)
    at = np.flatnonzero(np.diff(holds(x)))
    low, high, before = x[at], x[at + 1], holds(x[at])
    for _ in range(64):
        middle = 0.5 * (low + high)
        same = holds(middle) == before
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.concatenate([low, high])


_PARTS = ("square_error", "square_sampling_error", "square_noise_error")


def _wanted(point: Point) -> tuple[str, ...]:
    """Return the parameters of the target: epsilon and delta if epsilon is given, else the parameters of the noise."""
    return ("epsilon", "delta") if point.get("epsilon") is not None else noise_axes.depends_on(point["noise"])


def _noise_law(point: Point, scheme: str, s: float) -> dict[str, Any]:
    """Return the noise of a point as plain data: noise, parameters and target, which is the base's or the release's."""
    spec = point["noise"]
    if noise_axes.given_size(spec, point):
        return noise_axes.noise_law(spec, point, coordinates=_coordinates(scheme))
    target = noise_axes.target(spec["family"], _wanted(point), point)
    noise = _calibrated(spec, target, scheme, s, point["k"])
    return {"noise": noise_axes.named(spec), "parameters": noise_axes.parameters(noise), "target": target}


def _coordinates(scheme: str) -> int:
    """Return the number of bins that change by one between neighbours of the base."""
    return 2 if known_scheme(scheme).base == "substitute" else 1


def _calibrated(spec: Mapping[str, Any], target: Mapping[str, float], scheme: str, s: float, k: float) -> Noise:
    """Return the noise for the base's target, or for the epsilon and delta of the subsampled histogram.

    By Theorems 8 and 9 of Balle, Barthe and Gaboardi (2018) [BBG18], the base profile delta(eps) becomes exactly s
    delta at log(1 + s (e^eps - 1)). So the noise must meet (log(1 + (e^epsilon - 1) / s), delta / s). A noise with
    several forms is chosen for the least variance, and lattice noise for the least error over k bins.
    """
    family, coordinates = spec["family"], _coordinates(scheme)
    objective = spec_objective(spec, k) if registry.noise(family).is_optimized else VARIANCE
    given: dict[str, Any] = {"coordinates": coordinates, "objective": objective, "step": noise_axes.step(spec)}
    if "epsilon" not in target:
        guarantee, method = (
            equal_privacy(family, target["rho"], target.get("omega"), target.get("delta")),
            spec["calibration"],
        )
        return calibrate(family, guarantee, 1.0, method, **given).noise
    if scheme not in CALIBRATED:
        raise ValueError(f"scheme = {scheme!r} cannot be calibrated to epsilon; valid: {', '.join(CALIBRATED)}, or rho")
    epsilon, delta = real("epsilon", target["epsilon"], 0), real("delta", target["delta"], 0, 1)
    if delta >= s:
        raise ValueError(
            f"delta = {delta:g} is not valid; valid: below sampling_fraction = {s:g}, above which no noise is needed"
        )
    base = ApproxDP(log_unmixed(s, epsilon), delta / s)
    return calibrate(family, base, 1.0, "tight", **given).noise
