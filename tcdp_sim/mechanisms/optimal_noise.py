"""The best additive noise that there can be, in all bins of a histogram: its largest error."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.core.axes import declared
from tcdp_sim.core.errors import real, whole
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.axes import TCDP_TARGET, K
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import TCDP, ZCDP, Guarantee
from tcdp_sim.samplers import sample_abs_max

LEVEL = 0.95  # of the quantile that is least
_EXACT_INTEGERS = 2.0**53


@dataclass(frozen=True, eq=False)
class OptimalNoise(Mechanism):
    """iid noise in k bins, two of which change by one: the noise with the least 95% quantile of the largest error.

    promise: (rho, omega)-tCDP; rho-zCDP where omega is infinite or not given. least, quantile: certified bounds on
    that quantile of the best noise of all, in counts; `quantile`, a multiple of 1/2, is that of `noise`. k: whole, 1 to
    1e300. The driver finds the noise, and its table is part of the law. Neighbours substitute one record.
    """

    noise: Noise
    promise: Guarantee
    k: float
    least: float
    quantile: float

    name = "optimal_noise"
    version = 1
    axes = declared(*TCDP_TARGET, K)
    required = ("rho", "k")
    options = ()
    observables = MappingProxyType({"linf_error": Observable("counts", "largest absolute error over all bins")})
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return tuple(cls.axes)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        from tcdp_sim.optimal import (  # the driver's alone: it knows exact divergences
            LargestError,
            optimal_noise,
        )

        k = real("k", point["k"], 1, 1e300, closed=True, finite=False)
        k = whole("k", k, 1, _EXACT_INTEGERS) if k < _EXACT_INTEGERS else k
        target = {
            name: float(point[name]) for name in ("rho", "omega") if point.get(name, np.inf) not in (None, np.inf)
        }
        best = optimal_noise(_promise(target), LargestError(k, LEVEL), coordinates=2)
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
        return cls(noise, _promise(law["target"]), law["k"], law["least"], law["quantile"])

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
        return {"linf_error": np.abs(sample_abs_max(self.noise, rng, self.k, trials))}


def _promise(target: dict[str, float]) -> Guarantee:
    return TCDP(target["rho"], target["omega"]) if "omega" in target else ZCDP(target["rho"])
