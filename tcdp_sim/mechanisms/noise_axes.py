"""The noise of a sweep point: the axes that it depends on, its target, and its conversion to plain data and back.

A spec is the content of a file in conf/noise: family, calibration, objective and step. The target is the set of privacy
parameters that the noise is calibrated to.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import lru_cache
from math import log
from typing import Any

from tcdp_sim.calibration import calibrate, calibrate_unequal, equal_privacy
from tcdp_sim.calibration.given_noise import need_kept
from tcdp_sim.core import own_noises, registry
from tcdp_sim.core.errors import real, scalar
from tcdp_sim.mechanisms.axes import OMEGA, OMEGA_FORMS, SCALE, SIGMA
from tcdp_sim.mechanisms.kept_noises import kept
from tcdp_sim.noise import Noise, Objective
from tcdp_sim.noise.discrete import DiscreteNoise
from tcdp_sim.noise.missing import defines
from tcdp_sim.noise.objectives import spec_objective
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee, PureDP

Point = Mapping[str, Any]
Spec = Mapping[str, Any]
GIVEN = "given"  # the calibration of a noise whose parameters a point gives
LARGEST_LOG = 690.0  # of rho
ROUNDING = 2e-15  # of rho, relative
KEPT = 64  # calibrated noises kept in memory while cells are laid out
_GUARANTEES: Mapping[str, Any] = {kind.__name__: kind for kind in (PureDP, ApproxDP, ZCDP, TCDP)}
_NOTIONS = {  # what a user's noise whose target needs these numbers can meet
    "omega": "(rho, omega)-tCDP with finite omega and no zCDP",
    "delta": "(epsilon, delta)-DP alone",
}
_GAUSSIAN = ("gaussian", "rounded_gaussian", "discrete_gaussian")
_AXES = {OMEGA.name: OMEGA_FORMS}  # the axes that give the same parameter of a target


def depends_on(spec: Spec | None) -> tuple[str, ...]:
    """Return the parameters of a target that a noise depends on; nothing if there is no noise.

    Raises UserError for an unknown family.
    """
    return () if spec is None else tuple(registry.noise(spec["family"]).depends_on)


def target_axes(parameters: Iterable[str]) -> tuple[str, ...]:
    """Return the sweep axes that give these parameters of a target."""
    return tuple(axis for parameter in parameters for axis in _AXES.get(parameter, (parameter,)))


def target(who: str, parameters: Iterable[str], point: Point) -> dict[str, float]:
    """Return the point's values of these parameters; ValueError names the first one that the sweep lacks."""
    given = {name: point.get(name) for name in parameters}
    for name, value in given.items():
        if value is None:
            raise ValueError(f"{who} needs {name}, which the sweep does not give")
    return given  # type: ignore[return-value]


def target_of(spec: Spec, point: Point) -> dict[str, float]:
    """Return the target of a spec's noise at a point. The ValueError of `target` says why a user's noise needs more."""
    try:
        return target(spec["family"], depends_on(spec), point)
    except ValueError as lacking:
        needed = next((name for name in ("omega", "delta") if name in depends_on(spec)), "")
        reason = f"; {spec['family']} meets {_NOTIONS[needed]}" if needed and own_noises.find(spec["family"]) else ""
        raise ValueError(f"{lacking}{reason}") from None


def named(spec: Spec, calibration: str | None = None) -> dict[str, str]:
    """Return the entry of a noise in a law: its family and its calibration.

    `calibration` replaces the calibration of the spec.
    """
    return {"family": spec["family"], "calibration": calibration or spec["calibration"]}


def calibrated(spec: Spec, guarantee: Guarantee, *, coordinates: int = 1, k: float = 1) -> Noise:
    """Return the noise of a spec that keeps the guarantee when this number of coordinates change by one each.

    `k` is the number of noisy values, for a noise that is tuned to it. Raises ValueError if no such noise is known.
    """
    objective = spec_objective(spec, k)
    family, method = spec["family"], spec["calibration"]
    given: dict[str, Any] = {"coordinates": coordinates, "objective": objective, "step": step(spec)}
    return calibrate(family, guarantee, 1.0, method, **given).noise


def step(spec: Spec) -> float:
    """Return the distance of neighbouring points of a spec's noise on a lattice, in counts."""
    return scalar("step", spec.get("step", 1.0), 0)


def given_size(spec: Spec, point: Point) -> tuple[str, ...]:
    """Return the axis that gives the noise by its parameter in place of a target; nothing if the point has none.

    `sigma` is for Gaussian noise, also rounded or discrete, and comes first; `scale` is for noises with this parameter.
    """
    if "parameters" in spec:
        return ()
    kind: type[Noise] = registry.noise(spec["family"])
    sizes = [SIGMA.name] if spec["family"] in _GAUSSIAN else []
    sizes += [SCALE.name] if SCALE.name in kind.parameters() else []
    return tuple(axis for axis in sizes if point.get(axis) is not None)[:1]


def is_given(noise: Any) -> bool:
    """Return True for the entry of a noise in a law if its parameters were given."""
    return isinstance(noise, Mapping) and noise.get("calibration") == GIVEN


def axes_of(spec: Spec, point: Point) -> tuple[str, ...]:
    """Return the axes that the noise of a point depends on: its size, or the axes of its target."""
    return given_size(spec, point) or target_axes(depends_on(spec))


def own_names(family: str, values: Mapping[str, float]) -> dict[str, float]:
    """Return parameters by the names that a family has for them: `sigma` is the `scale` of Gaussian noise."""
    own = registry.noise(family).parameters()
    return {name if name in own else SCALE.name: value for name, value in values.items()}


def of_size(spec: Spec, point: Point, coordinates: int) -> tuple[Noise, dict[str, float]]:
    """Return the noise whose parameter the point gives, and the target that it meets by its family's theorem.

    Raises ValueError for a noise with more than one parameter.
    """
    (axis,) = given_size(spec, point)
    family, size = spec["family"], real(axis, point[axis], 0)
    kind: type[Noise] = registry.noise(family)
    if kind.depends_on != ("rho",) or not defines(kind, "by_theorem"):
        wanted = " and ".join(kind.depends_on)
        raise ValueError(f"{axis} alone says nothing about the guarantee of {family}; valid: {wanted}")
    ((name, _),) = own_names(family, {axis: size}).items()

    def by_theorem(rho: float) -> float:
        return float(getattr(kind.by_theorem(kind.equal_privacy(rho), 1.0, coordinates), name))

    power = log(by_theorem(1.0) / by_theorem(16.0)) / log(16.0)  # a theorem's size is a power of 1 / rho
    log_rho = (log(by_theorem(1.0)) - log(size)) / power
    if not abs(log_rho) < LARGEST_LOG:
        raise ValueError(f"{axis} = {size:g} is out of range; valid: a noise whose rho is a float")
    rho = (by_theorem(1.0) / size) ** (1 / power)
    short = float(f"{rho:.10g}")  # such as 0.5; another rho is rounded up
    rho = short if abs(short - rho) <= ROUNDING * rho else rho * (1 + ROUNDING)
    step_named = {"step": step(spec)} if "step" in kind.parameters() else {}
    noise = kind(**{name: size} | step_named)
    if isinstance(noise, DiscreteNoise):
        noise.need_steps("sensitivity", 1.0)
    return noise, {"rho": rho}


def noise_law(spec: Spec, point: Point, *, coordinates: int = 1, k: float = 1) -> dict[str, Any]:
    """Return the noise of a point as plain data: noise, parameters and target.

    The noise is calibrated to the target, or its parameter is given and the target follows from it. Raises the errors
    of `target` and `calibrated`.
    """
    if given_size(spec, point):
        noise, wanted = of_size(spec, point, coordinates)
        return {"noise": named(spec, GIVEN), "parameters": parameters(noise), "target": wanted}
    wanted = target_of(spec, point)
    noise_class: type[Noise] = registry.noise(spec["family"])
    if given := spec.get("parameters"):
        need_kept(built(spec["family"], given), noise_class.equal_privacy(**wanted), coordinates)
        return {"noise": named(spec), "parameters": dict(given), "target": wanted}
    asked = (*wanted.items(),), spec["calibration"], coordinates, spec_objective(spec, k), step(spec)

    def search() -> Mapping[str, Any]:
        return parameters(_noise_for(noise_class, *asked))

    def build(**known: Any) -> Mapping[str, Any]:
        return parameters(noise_class(**known))  # in their usual order, which the digests of a run depend on

    name = _name(spec["family"], *asked)
    found = kept(name, build, search) if name else search()
    return {"noise": named(spec), "parameters": dict(found), "target": wanted}


def _name(family: str, wanted: Any, calibration: str, coordinates: int, objective: Objective, step: float) -> str:
    """Return the text by which a run keeps a noise; "" for one by a theorem, which is quick, and for one of a plug-in.

    `spec_objective` returns dataclasses, whose texts state their parameters. The source of a user's own class counts.
    """
    if calibration != "tight" or family in registry.plug_ins("noise"):
        return ""
    own = own_noises.find(family)
    return repr((family, wanted, coordinates, objective, step, *([own.source] if own else [])))


def unequal_noise_law(
    spec: Spec, point: Point, largest: float, distance: float, coordinates: int, k: float = 1
) -> dict[str, Any]:
    """Return the same for a query whose coordinates move by unequal amounts, as `calibrate_unequal` takes them.

    Raises ValueError for a noise that is calibrated by a theorem, or to another guarantee than TCDP.
    """
    wanted = target_of(spec, point)
    guarantee = registry.noise(spec["family"]).equal_privacy(**wanted)
    if spec["calibration"] != "tight":
        raise ValueError(f"calibration {spec['calibration']} of {spec['family']} is for equal moves; valid: tight")
    found = calibrate_unequal(spec["family"], guarantee, largest, distance, coordinates, spec_objective(spec, k))
    return {"noise": named(spec), "parameters": parameters(found.noise), "target": wanted}


@lru_cache(maxsize=KEPT, typed=True)  # all cells along an axis such as k share one noise
def _noise_for(
    noise_class: type[Noise],
    wanted: tuple[tuple[str, float], ...],
    calibration: str,
    coordinates: int,
    objective: Objective,
    step: float,
) -> Noise:
    guarantee = noise_class.equal_privacy(**dict(wanted))
    given: dict[str, Any] = {"coordinates": coordinates, "objective": objective, "step": step}
    return calibrate(noise_class.family, guarantee, 1.0, calibration, **given).noise


def parameters(noise: Noise) -> dict[str, Any]:
    """Return the noise's parameters as plain data, by name; a tuple becomes a list of numbers."""
    values: dict[str, Any] = asdict(noise)  # type: ignore[call-overload]
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def built(family: str, values: Mapping[str, float]) -> Noise:
    """Return the noise of a family with these parameters."""
    noise: Noise = registry.noise(family)(**values)
    return noise


def guarantee_of(law: Mapping[str, Any]) -> Guarantee:
    """Return the guarantee of a law's noise at its target."""
    if not own_noises.is_here(law):
        kind, numbers = law[own_noises.PROMISE]
        return _GUARANTEES[kind](**numbers)
    return equal_privacy(law["noise"]["family"], **law["target"])


def kept_for_readers(law: Mapping[str, Any], thresholds: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Return the values that a law of a user's own noise keeps for readers of results who lack its class."""
    found: dict[str, Any] = {own_noises.THRESHOLDS: {name: dict(each) for name, each in thresholds.items()}}
    if "target" in law and isinstance(law.get("noise"), Mapping):
        guarantee = guarantee_of(law)
        found[own_noises.PROMISE] = [type(guarantee).__name__, asdict(guarantee)]  # type: ignore[call-overload]
    return found


def is_isotropic(spec: Spec) -> bool:
    """Return True if the noise of a spec protects a query by its Euclidean sensitivity."""
    noise_class: type[Noise] = registry.noise(spec["family"])
    return noise_class.isotropic
