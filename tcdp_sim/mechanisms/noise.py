"""One draw of a noise, calibrated to a target or given by its parameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.core import registry
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.axes import DELTA, NOISE, POSITIVE, SIGMA, SIZES, TCDP_TARGET
from tcdp_sim.mechanisms.base import EVERY, Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import Guarantee

NOISE_AXES = (
    NOISE,
    *TCDP_TARGET,
    DELTA,
    *SIZES,
    Axis("knee", "parameter of sinh-normal noise, in place of a target", "counts", POSITIVE),
    Axis("bound", "parameter of truncated Laplace noise, in place of a target", "counts", POSITIVE),
)


def noise_uses(point: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the axes of a sweep point that its noise depends on.

    These are the noise's own parameters if the point gives them, else the parameters of its target.
    """
    if "parameters" in point["noise"]:
        return ("noise",)
    return ("noise", *(_given(point) or noise_axes.target_axes(noise_axes.depends_on(point["noise"]))))


def noise_law(point: Mapping[str, Any]) -> dict[str, Any]:
    """Return the noise of a sweep point as plain data: family, calibration, parameters and target.

    The noise is calibrated to the target for a query of sensitivity 1. A noise that the point gives by its parameters
    (`scale`, `knee` or `bound`, in counts) has the calibration "given", has no target and no guarantee. Raises
    ValueError if the point lacks a value.
    """
    spec = point["noise"]
    if parameters := spec.get("parameters"):
        return {"noise": noise_axes.named(spec), "parameters": dict(parameters)}
    if given := _given(point):
        values = noise_axes.target(spec["family"], given, point)
        noise = noise_axes.built(spec["family"], noise_axes.own_names(spec["family"], values))
        return {"noise": noise_axes.named(spec, noise_axes.GIVEN), "parameters": noise_axes.parameters(noise)}
    return noise_axes.noise_law(spec, point)  # a noise that is tuned to k is tuned to one query here


def built_noise(law: Mapping[str, Any]) -> tuple[Noise, Guarantee | None]:
    """Return the noise of plain data from `noise_law` and its guarantee, which is None for given parameters."""
    guarantee = noise_axes.guarantee_of(law) if "target" in law else None
    return noise_axes.built(law["noise"]["family"], law["parameters"]), guarantee


def _given(point: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the axes of the family's parameters if the point gives any of them, else nothing."""
    if (size := noise_axes.given_size(point["noise"], point)) == (SIGMA.name,):
        return size
    noise_class: type[Noise] = registry.noise(point["noise"]["family"])
    given = [name for name in noise_class.parameters() if point.get(name) is not None]
    optional = [name for name in noise_class.parameters() if hasattr(noise_class, name)]  # as the step of a lattice
    return tuple(name for name in noise_class.parameters() if name in given or name not in optional) if given else ()


@dataclass(frozen=True, eq=False)
class NoiseDraw(Mechanism):
    """A single draw Z of a noise. A trial yields Z, in counts, and Z^2.

    Parameters
    ----------
    noise : Noise
        The noise.
    promise : Guarantee or None
        The guarantee for a query of sensitivity 1; None if the parameters of the noise were given.

    Examples
    --------
    >>> import numpy as np
    >>> from tcdp_sim.noise import Gaussian
    >>> draws = NoiseDraw(Gaussian(2.0), None).simulate(np.random.default_rng(0), 10)
    >>> bool((draws["squared_noise"] == draws["noise"] ** 2).all())
    True
    """

    noise: Noise
    promise: Guarantee | None

    name = "noise"
    unknown_losses = MappingProxyType(
        {EVERY: "A single draw has no data; the experiment privacy_loss draws the loss of the same noise."}
    )
    version = 1
    axes = declared(*NOISE_AXES)
    required = ("noise",)
    options = ()
    observables = MappingProxyType(
        {
            "noise": Observable("counts", "noise"),
            "squared_noise": Observable("counts^2", "squared noise, whose mean is the variance"),
        }
    )
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return noise_uses(point)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        return {"mechanism": cls.name, "version": cls.version} | noise_law(point)

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        return cls(*built_noise(law))

    @property
    def guarantee(self) -> Guarantee | None:
        return self.promise

    @property
    def work(self) -> float:
        return 2.0

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        z = self.noise.sample(size=trials, rng=rng)
        return {"noise": z, "squared_noise": z * z}
