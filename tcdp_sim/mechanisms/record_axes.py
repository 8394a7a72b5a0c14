"""The release of a sweep point: its parameters, or the anchors that it is calibrated to; as plain data and back.

An anchor is an influence and what a record of that influence may lose. An influence is a number or one of WORDS, which
is read off the population: such an anchor is confidential, and a study of it an illustration.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from math import ceil, exp
from typing import Any

import numpy as np

from tcdp_sim import calibration
from tcdp_sim.core import registry
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError, choice, known, real
from tcdp_sim.data.skewed import Population, skewed_records
from tcdp_sim.mechanisms.base import Options, Point
from tcdp_sim.releases import (
    AdditiveRelease,
    ClippedRelease,
    Log,
    Release,
    Root,
    Transform,
    TransformedRelease,
    UnitSplitRelease,
)

WORDS = {  # of influence -> quantile of the population
    **{"min": 0.0, "p10": 0.1, "p25": 0.25, "median": 0.5, "p75": 0.75},
    **{"p90": 0.9, "p95": 0.95, "p99": 0.99, "max": 1.0},
}
ANCHOR_AXES = ("accounting", "delta", "population", "influence_low", "value_low", "influence_high", "value_high")
PARAMETER_AXES = (
    *("power", "rate", "offset", "degree", "clip", "threshold", "rule", "pieces", "exponent"),
    *("estimator", "nonnegative"),
)
RELEASE_AXES = ("release", *ANCHOR_AXES, "scale", *PARAMETER_AXES)
Data = dict[str, Any]


@dataclass(frozen=True)
class Family:
    """A family of releases: the parameters besides `scale`, and the one that a second anchor decides, if any."""

    parameters: tuple[str, ...] = ()
    shape: str | None = None


_TRANSFORMED = ("estimator", "nonnegative")
FAMILIES = {
    "gaussian": Family(),
    "laplace": Family(),
    "generalized_gaussian": Family(("power",), "power"),
    "exponential_polylogarithmic": Family(("power", "rate", "offset"), "rate"),
    "square_root": Family(("offset", *_TRANSFORMED), "offset"),
    "fourth_root": Family(("offset", *_TRANSFORMED), "offset"),
    "root": Family(("degree", "offset", *_TRANSFORMED), "offset"),
    "log": Family(("offset", *_TRANSFORMED), "offset"),
    "clipped": Family(("clip",)),
    "unit_splitting": Family(("threshold", "rule", "pieces", "exponent")),
}


def release_uses(point: Point) -> tuple[str, ...]:
    """The axes of a point that its release depends on; UserError or ValueError for an unknown release."""
    family = _family(point)
    given = tuple(name for name in family.parameters if point.get(name) is not None)
    if point.get("scale") is not None:
        return ("release", "scale", *given)
    low = ("influence_low", "value_low") if _has_two_anchors(point) else ()
    delta = ("delta",) if point.get("accounting") == "approx_dp" else ()
    population = ("population",) if is_illustration(point) else ()
    return ("release", "accounting", *delta, *population, *low, "influence_high", "value_high", *given)


def is_illustration(point: Point) -> bool:
    """Whether the release is calibrated at influences that are read off confidential data."""
    names = ("influence_high", "influence_low") if _has_two_anchors(point) else ("influence_high",)
    return point.get("scale") is None and any(point.get(name) in WORDS for name in names)


def release_law(point: Point, values: Floats | None = None) -> Data:
    """The release of a point as plain data: what `built_release` takes. ValueError for what is missing or not valid.

    `release` is one of FAMILIES. With `scale` its parameters are given. Else it is calibrated: by `accounting`, to
    `value_high` at `influence_high`; also to `value_low` at `influence_low`, where both that and the family's shape
    (power, rate, offset) are free. values: of the population's records, for influences in WORDS.
    """
    family = _family(point)
    given = {name: point[name] for name in family.parameters if point.get(name) is not None}
    if "nonnegative" in given:
        given["nonnegative"] = is_true(point, "nonnegative")
    if point.get("scale") is not None:
        return _data(_direct(point["release"], real("scale", point["scale"], 0), given))
    accounting = choice("accounting", _needed(point, "accounting"), ("printed", "zcdp", "approx_dp", "pure"))
    delta = real("delta", _needed(point, "delta"), 0, 1) if accounting == "approx_dp" else None
    both = ("low", "high") if _has_two_anchors(point) else ("high",)
    anchors = tuple(_anchor(point, end, values) for end in both)
    return dict(_calibrated(point["release"], anchors, accounting, delta, tuple(given.items())))


def influence_of(name: str, value: Any, values: Floats | None = None) -> float:
    """A number > 0, or the quantile (inverted CDF) of the values that one of WORDS names; ValueError for others."""
    if not isinstance(value, str):
        return real(name, value, 0)
    choice(name, value, WORDS)
    if values is None:
        raise ValueError(f"{name} = {value} needs population, which the sweep does not give")
    ordered = np.sort(values)
    quantile = float(ordered[max(ceil(WORDS[value] * len(ordered)), 1) - 1])
    if not quantile > 0:
        raise ValueError(f"{name} = {value} is {quantile:g} in this population; valid: an influence above 0")
    return quantile


def population_of(point: Point, options: Options, group_by: str | None = None) -> Population:
    """The point's population, one of the option `populations`; UserError or ValueError for a bad one."""
    known = options.get("populations")
    if not isinstance(known, Mapping):
        raise UserError(f"mechanism.populations = {known!r} is not valid; valid: names and what each of them is")
    if point.get("population") is None:
        raise ValueError(
            f"what is read off records (a sum, an influence such as median) needs population, which the sweep does not "
            f"give; valid: {', '.join(map(str, known))}"
        )
    name = choice("population", point["population"], known)
    if not isinstance(known[name], Mapping):
        raise UserError(f"mechanism.populations.{name} = {known[name]!r} is not valid; valid: file, path or shape, ...")
    return _population(name, json.dumps(known[name]), group_by, _stamp(known[name].get("path")))


@lru_cache(maxsize=8)
def _population(name: str, spec: str, group_by: str | None, stamp: object) -> Population:
    """Of many cells with one population it is read once, as long as its file does not change."""
    return skewed_records(name, json.loads(spec), group_by)


def _stamp(path: Any) -> object:
    try:
        about = os.stat(path)
    except (OSError, TypeError, ValueError):
        return None  # the reader says what is wrong with it
    return about.st_mtime_ns, about.st_size


def population_values(point: Point, options: Options) -> Floats:
    """The values of all records of the point's population; errors as for `population_of`."""
    return population_of(point, options).values


def is_true(point: Point, axis: str) -> bool:
    """A yes or no of a sweep, where values are texts or numbers; no where it is not given."""
    value = point.get(axis)
    return (
        value is not None
        and {"true": True, "false": False, 1: True, 0: False}[choice(axis, value, ("true", "false", 1, 0))]
    )


def built_release(data: Mapping[str, Any]) -> Release:
    """The release that plain data of `release_law` stands for."""
    rest = {name: value for name, value in data.items() if name != "form"}
    if data["form"] == "additive":
        return AdditiveRelease(registry.noise(rest.pop("noise"))(**rest))
    if data["form"] == "transformed":
        transform = _TRANSFORMS[rest.pop("transform")](**rest.pop("of"))
        return TransformedRelease(transform, **rest)
    return _FORMS[data["form"]](**rest)


_TRANSFORMS: dict[str, type[Transform]] = {"root": Root, "log": Log}
_FORMS: dict[str, Any] = {"clipped": ClippedRelease, "unit_splitting": UnitSplitRelease}


def _data(release: Release) -> Data:
    """The inverse of `built_release`."""
    if isinstance(release, AdditiveRelease):
        noise: Any = release.noise
        return {"form": "additive", "noise": noise.family} | asdict(noise)
    if isinstance(release, TransformedRelease):
        name = next(name for name, kind in _TRANSFORMS.items() if type(release.transform) is kind)
        rest = {name: getattr(release, name) for name in ("scale", "estimator", "nonnegative")}
        return {"form": "transformed", "transform": name, "of": asdict(release.transform)} | rest  # type: ignore[call-overload]
    form = next(form for form, kind in _FORMS.items() if type(release) is kind)
    known = {name: value for name, value in asdict(release).items() if value is not None}  # type: ignore[call-overload]
    return {"form": form} | known


def _family(point: Point) -> Family:
    return FAMILIES[known("release", point.get("release"), FAMILIES)]


def _has_two_anchors(point: Point) -> bool:
    shape = _family(point).shape
    return shape is not None and point.get(shape) is None and point.get("value_low") is not None


def _anchor(point: Point, end: str, values: Floats | None) -> tuple[float, float]:
    value = real(f"value_{end}", _needed(point, f"value_{end}"), 0)
    return influence_of(f"influence_{end}", _needed(point, f"influence_{end}"), values), value


def _needed(point: Point, name: str) -> Any:
    if point.get(name) is None:
        raise ValueError(f"release {point['release']} needs {name} (or scale), which the sweep does not give")
    return point[name]


@lru_cache(maxsize=4096)
def _calibrated(family: str, anchors: Any, accounting: str, delta: float | None, given: Any) -> Data:
    """Of many cells with one release it is calibrated once."""
    more = {} if delta is None else {"delta": delta}
    return _data(calibration.calibrate_records(family, anchors, accounting, **more, **dict(given)).release)


def _direct(family: str, scale: float, given: Mapping[str, Any]) -> Release:
    """The release whose parameters are all given; ValueError for one that is missing."""
    if family in _TRANSFORMED_BY:
        rest = {name: value for name, value in given.items() if name in _TRANSFORMED}
        return TransformedRelease(_TRANSFORMED_BY[family](given), scale, **rest)
    if family in _FORMS:
        _complete(family, given, {"clip", "threshold"} & set(FAMILIES[family].parameters))
        return _FORMS[family](scale=scale, **given)  # type: ignore[no-any-return]
    noise = registry.noise(family)
    _complete(family, given, set(noise.parameters()) - {"scale", "offset"})
    if "offset" in noise.parameters():
        given = {"offset": exp(given["power"] - 1)} | dict(given)  # the least that is valid, and 1 at power 1
    return AdditiveRelease(noise(scale=scale, **given))


def _complete(family: str, given: Mapping[str, Any], needed: set[str]) -> None:
    for name in sorted(needed - set(given)):
        raise ValueError(f"release {family} with scale needs {name}, which the sweep does not give")


def _root(degree: float | None, given: Mapping[str, Any]) -> Transform:
    if degree is None:
        _complete("root", given, {"degree"})
    return Root(given["degree"] if degree is None else degree, given.get("offset", 0.0))


def _log(given: Mapping[str, Any]) -> Transform:
    _complete("log", given, {"offset"})
    return Log(given["offset"])


_TRANSFORMED_BY: dict[str, Any] = {
    "square_root": lambda given: _root(2, given),
    "fourth_root": lambda given: _root(4, given),
    "root": lambda given: _root(None, given),
    "log": _log,
}
