"""The noise of a sweep point: the axes that it depends on, its target, the calibrated noise as plain data and back.

A spec is what conf/noise says of a noise (family, calibration, objective); the target is what it is calibrated to.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from tcdp_sim.calibration import calibrate, equal_privacy, spec_objective
from tcdp_sim.core import registry
from tcdp_sim.mechanisms.axes import OMEGA, OMEGA_FORMS
from tcdp_sim.noise import Noise, Objective
from tcdp_sim.privacy import Guarantee

Point = Mapping[str, Any]
Spec = Mapping[str, Any]
KEPT = 64  # calibrated noises that are kept while cells are laid out
_AXES = {OMEGA.name: OMEGA_FORMS}  # a parameter of a target that several axes give


def depends_on(spec: Spec | None) -> tuple[str, ...]:
    """The parameters of a target that a noise depends on; none for no noise. UserError for an unknown family."""
    return () if spec is None else tuple(registry.noise(spec["family"]).depends_on)


def target_axes(parameters: Iterable[str]) -> tuple[str, ...]:
    """The sweep axes by which these parameters of a target are given."""
    return tuple(axis for parameter in parameters for axis in _AXES.get(parameter, (parameter,)))


def target(who: str, parameters: Iterable[str], point: Point) -> dict[str, float]:
    """The point's values of these parameters; ValueError naming the first that `who` needs and the sweep lacks."""
    given = {name: point.get(name) for name in parameters}
    for name, value in given.items():
        if value is None:
            raise ValueError(f"{who} needs {name}, which the sweep does not give")
    return given  # type: ignore[return-value]


def named(spec: Spec, calibration: str | None = None) -> dict[str, str]:
    """What a law says of a noise besides its parameters; calibration: in place of the spec's own."""
    return {"family": spec["family"], "calibration": calibration or spec["calibration"]}


def calibrated(spec: Spec, promise: Guarantee, *, coordinates: int = 1, k: float = 1) -> Noise:
    """The noise of a spec that keeps the promise when so many numbers change by one.

    k: how many numbers are blurred, for a noise that is tuned to it. ValueError where no such noise is known.
    """
    objective = spec_objective(spec, k)
    family, method = spec["family"], spec["calibration"]
    return calibrate(family, promise, 1.0, method, coordinates=coordinates, objective=objective).noise


def noise_law(spec: Spec, point: Point, *, coordinates: int = 1, k: float = 1) -> dict[str, Any]:
    """The calibrated noise of a point as plain data: noise, parameters, target; raises as `target` and `calibrated`."""
    wanted = target(spec["family"], depends_on(spec), point)
    noise_class: type[Noise] = registry.noise(spec["family"])
    asked = (*wanted.items(),), spec["calibration"], coordinates, spec_objective(spec, k)
    return {"noise": named(spec), "parameters": parameters(_noise_for(noise_class, *asked)), "target": wanted}


@lru_cache(maxsize=KEPT, typed=True)  # along an axis such as k all cells have one noise
def _noise_for(
    noise_class: type[Noise],
    wanted: tuple[tuple[str, float], ...],
    calibration: str,
    coordinates: int,
    objective: Objective,
) -> Noise:
    promise = noise_class.equal_privacy(**dict(wanted))
    return calibrate(noise_class.family, promise, 1.0, calibration, coordinates=coordinates, objective=objective).noise


def parameters(noise: Noise) -> dict[str, Any]:
    """The noise's own parameters, by name, as plain data: a table is a list of numbers."""
    values: dict[str, Any] = asdict(noise)  # type: ignore[call-overload]
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def built(family: str, values: Mapping[str, float]) -> Noise:
    """The noise of a family with these parameters."""
    noise: Noise = registry.noise(family)(**values)
    return noise


def promised(law: Mapping[str, Any]) -> Guarantee:
    """The guarantee of a law's noise at its target."""
    return equal_privacy(law["noise"]["family"], **law["target"])
