"""The optimal additive noise for a histogram, and its largest error."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.core.axes import declared
from tcdp_sim.core.errors import real, whole
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.axes import TCDP_TARGET, K
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.losses import BY_NOISE, LOSSES, of_moves, unknown_of_noise
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import TCDP, ZCDP, Guarantee
from tcdp_sim.samplers import sample_abs_max

LEVEL = 0.95  # the noise is optimal for the quantile at this level
_EXACT_INTEGERS = 2.0**53


@dataclass(frozen=True, eq=False)
class OptimalNoise(Mechanism):
    """The noise with the least 95% quantile of the largest error, drawn independently in k bins.

    Neighbours substitute one record, so two bins change by one. The driver computes the noise, and its table of
    probabilities is part of the law.

    Source: Bun et al. (2018) [BDRS18] (the guarantee; the optimal noise is derived here).

    - `noise`: the optimal noise found, in counts.
    - `promise`: (rho, omega)-tCDP, or rho-zCDP if omega is infinite or not given.
    - `k`: the number of bins, whole, from 1 to 1e300.
    - `least`: the lower bound on that quantile for every additive noise with this guarantee, in counts.
    - `quantile`: the quantile of `noise`, a multiple of 1/2 count, and so an upper bound on the optimum.
    """

    noise: Noise
    promise: Guarantee
    k: float
    least: float
    quantile: float
    draws_losses: bool = False

    name = "optimal_noise"
    loss_pair = "One bin goes up by one and another one down by one; all neighbours are alike."
    unknown_losses = BY_NOISE
    version = 1
    axes = declared(*TCDP_TARGET, K)
    required = ("rho", "k")
    options = ()
    observables = MappingProxyType(
        {"linf_error": Observable("counts", "largest absolute error over all bins"), **LOSSES}
    )
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return tuple(cls.axes)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        from tcdp_sim.calibration.optimal import (  # only the driver needs it, and it imports exact divergences
            LargestError,
            optimal_noise,
        )

        k = real("k", point["k"], 1, 1e300, closed=True, finite=False)
        k = whole("k", k, 1, _EXACT_INTEGERS) if k < _EXACT_INTEGERS else k
        given = {name: point.get(name) for name in ("rho", "omega")}
        target = {name: real(name, value, 0) for name, value in given.items() if value not in (None, np.inf)}
        best = optimal_noise(_guarantee(target), LargestError(k, LEVEL), coordinates=2)
        noise, least = best.noise, best.bounds
        return {
            "mechanism": cls.name,
            "version": cls.version,
            "noise": {"family": noise.family, "calibration": "optimal"},
            "parameters": noise_axes.parameters(noise),
            "target": target,
            "k": k,
            "least": least.lower,
            "quantile": least.upper,
        }

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        noise = noise_axes.built(law["noise"]["family"], law["parameters"])
        return cls(
            noise, _guarantee(law["target"]), law["k"], law["least"], law["quantile"], law.get("draws_losses", False)
        )

    @property
    def guarantee(self) -> Guarantee:
        return self.promise

    @property
    def thresholds(self) -> dict[str, dict[str, float]]:
        return {"linf_error": {"optimum": self.quantile}}

    @property
    def work(self) -> float:
        return 2.0

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        return {"linf_error": np.abs(sample_abs_max(self.noise, self.k, trials, rng=rng))}

    @property
    def moves(self) -> int:
        """The number of bins that change between neighbours, by one each: none if there is a single bin."""
        return 2 if self.k > 1 else 0

    @property
    def unknown_loss(self) -> str:
        return unknown_of_noise(self.noise, self.moves)

    def draw_losses(self, rng: np.random.Generator, trials: int) -> Draws:
        return of_moves(self.noise, self.moves, trials, rng=rng)


def _guarantee(target: dict[str, float]) -> Guarantee:
    return TCDP(target["rho"], target["omega"]) if "omega" in target else ZCDP(target["rho"])
