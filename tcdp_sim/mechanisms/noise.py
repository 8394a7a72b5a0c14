"""One draw of a noise that is calibrated to a target, or whose parameters are given."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from types import MappingProxyType
from typing import Any

from tcdp_sim.calibration import DEPENDS_ON, LargestError, calibrate, equal_privacy
from tcdp_sim.errors import choice
from tcdp_sim.mechanisms.base import Mechanism, Observable
from tcdp_sim.noise import FAMILIES, Noise
from tcdp_sim.privacy import Guarantee

NOISE_AXES = ("noise", "rho", "omega", "omega_sqrt_rho", "delta", "scale", "knee", "bound")


def noise_uses(point: Mapping[str, Any]) -> tuple[str, ...]:
    """The axes of a sweep point that its noise depends on: its own parameters if they are given, else its target."""
    if given := _given(point):
        return ("noise", *given)
    target = _target(point)
    omega = ("omega", "omega_sqrt_rho") if "omega" in target else ()
    return ("noise", "rho", *omega, *(("delta",) if "delta" in target else ()))


def noise_law(point: Mapping[str, Any]) -> dict[str, Any]:
    """The noise of a sweep point as plain data: family, calibration ("given" without one), parameters, target.

    The target is what the noise is calibrated to for a query of sensitivity 1; a noise whose parameters (`scale`,
    `knee`, `bound`, in counts) are given has none and promises nothing. Raises ValueError if something is missing.
    """
    noise = point["noise"]
    family = noise["family"]
    if given := _given(point):
        _complete(family, given, point)
        parameters = asdict(FAMILIES[family](**{name: point[name] for name in given}))
        return {"noise": {"family": family, "calibration": "given"}, "parameters": parameters}
    names = _target(point)
    _complete(family, names, point)
    target = {name: point[name] for name in names}
    promise = equal_privacy(family, **target)
    calibrated = calibrate(family, promise, 1.0, noise["calibration"], **_objective(noise))
    said = {"family": family, "calibration": noise["calibration"]}
    return {"noise": said, "parameters": asdict(calibrated), "target": target}


def built_noise(law: Mapping[str, Any]) -> tuple[Noise, Guarantee | None]:
    """The inverse of `noise_law`: the noise and what it promises, None if its parameters were given."""
    family = law["noise"]["family"]
    promise = equal_privacy(family, **law["target"]) if "target" in law else None
    return FAMILIES[family](**law["parameters"]), promise


def _given(point) -> tuple[str, ...]:
    """The family's own parameters, if the point gives any of them."""
    names = tuple(field.name for field in fields(FAMILIES[choice("noise.family", point["noise"]["family"], FAMILIES)]))
    return names if any(point.get(name) is not None for name in names) else ()


def _target(point) -> tuple[str, ...]:
    return DEPENDS_ON[choice("noise.family", point["noise"]["family"], DEPENDS_ON)]


def _objective(noise):
    """What a tight calibration minimises, as keywords; the k of a noise that is tuned to k is one here: one query."""
    if "objective" not in noise:
        return {}
    wanted = dict(noise["objective"])
    return {"objective": LargestError(**wanted | {"count": 1 if wanted["count"] == "k" else wanted["count"]})}


def _complete(family, names, point):
    for name in names:
        if point.get(name) is None:
            raise ValueError(f"{family} needs {name}, which the sweep does not give")


@dataclass(frozen=True, eq=False)
class NoiseDraw(Mechanism):
    """A trial is one draw Z of the noise, in counts, and Z^2. promise: None where the parameters were given."""

    noise: Noise
    promise: Guarantee | None

    name = "noise"
    version = 1
    axes = NOISE_AXES
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
    def uses(cls, point):
        return noise_uses(point)

    @classmethod
    def law(cls, point, options, counts):
        return {"mechanism": cls.name, "version": cls.version} | noise_law(point)

    @classmethod
    def build(cls, law, counts):
        return cls(*built_noise(law))

    @property
    def guarantee(self):
        return self.promise

    @property
    def work(self):
        return 2.0

    def simulate(self, rng, trials):
        z = self.noise.sample(rng, trials)
        return {"noise": z, "squared_noise": z * z}
