"""The release of a sweep point: its axes, and its conversion to plain data and back.

A release is given by its parameters or by the anchors that it is calibrated to. An anchor is an influence and the
largest privacy loss of a record of that influence. An influence is a number or one of WORDS, which names a quantile of
the population. Such an anchor is confidential, so a study that uses it is an illustration only.
"""

import json
import os
from collections.abc import Mapping
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np

from tcdp_sim import calibration
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import UserError, choice, known, real
from tcdp_sim.data.skewed import Population, skewed_records
from tcdp_sim.mechanisms.axes import DELTA, POSITIVE
from tcdp_sim.mechanisms.base import Options, Point
from tcdp_sim.per_record import FORMS, RELEASE_FAMILIES, Release, ReleaseFamily
from tcdp_sim.per_record.families import ACCOUNTINGS

WORDS = {  # word for an influence -> level of the population's quantile
    **{"min": 0.0, "p10": 0.1, "p25": 0.25, "median": 0.5, "p75": 0.75},
    **{"p90": 0.9, "p95": 0.95, "p99": 0.99, "max": 1.0},
}
INFLUENCE = f"above 0, or of the population: {', '.join(WORDS)}"
_PUBLISHED = (  # tables list the parameters of releases in this order; others follow
    *("power", "rate", "offset", "degree", "clip", "threshold", "rule", "pieces", "exponent"),
    *("estimator", "nonnegative"),
)


def _parameter_axes() -> tuple[Axis, ...]:
    """Return the axes of the parameters of all families, each once."""
    axes = declared(*(axis for family in RELEASE_FAMILIES.values() for axis in family.parameters))
    first = [axes[name] for name in _PUBLISHED]
    return (*first, *(axis for name, axis in axes.items() if name not in _PUBLISHED))


RELEASE_AXES = (
    Axis("release", "how one number is released", "", ", ".join(RELEASE_FAMILIES), "text"),
    Axis("accounting", "what of a record's privacy is counted", valid=", ".join(ACCOUNTINGS), kind="text"),
    DELTA,
    Axis(
        "population",
        "records: what is summed, and where influences in words are read",
        "",
        "a name in mechanism.populations",
        "text",
    ),
    Axis(
        "influence_low",
        "influence of the smaller of two records that a release is calibrated at",
        "counts",
        INFLUENCE,
        words=tuple(WORDS),
    ),
    Axis("value_low", "privacy that this record may lose, by the accounting", "nats", POSITIVE),
    Axis(
        "influence_high",
        "influence of the larger record that a release is calibrated at",
        "counts",
        INFLUENCE,
        words=tuple(WORDS),
    ),
    Axis("value_high", "privacy that this record may lose, by the accounting", "nats", POSITIVE),
    Axis("scale", "scale of the release's noise, in place of accounting and records", "counts", POSITIVE),
    *_parameter_axes(),
)
Data = dict[str, Any]


def release_uses(point: Point) -> tuple[str, ...]:
    """Return the axes of a point that its release depends on.

    Raises UserError or ValueError for an unknown release.
    """
    given = tuple(_given(point))
    if point.get("scale") is not None:
        return ("release", "scale", *given)
    low = ("influence_low", "value_low") if _has_two_anchors(point) else ()
    delta = ("delta",) if point.get("accounting") == "approx_dp" else ()
    population = ("population",) if is_illustration(point) else ()
    return ("release", "accounting", *delta, *population, *low, "influence_high", "value_high", *given)


def is_illustration(point: Point) -> bool:
    """Return True if the release is calibrated at influences that are computed from confidential data."""
    names = ("influence_high", "influence_low") if _has_two_anchors(point) else ("influence_high",)
    return point.get("scale") is None and any(point.get(name) in WORDS for name in names)


def release_law(point: Point, values: Floats | None = None) -> Data:
    """Return the release of a point as plain data, which `built_release` turns back into a release.

    The point's `release` is one of RELEASE_FAMILIES. If the point gives `scale`, it must give the other parameters too.
    Otherwise the release is calibrated by `accounting` to `value_high` at `influence_high`. If the family's shape
    (power, rate or offset) is not given, it is also calibrated to `value_low` at `influence_low`. `values` holds the
    population's records, for influences in WORDS. Raises ValueError if a value is missing or not valid.
    """
    given = _given(point)
    if "nonnegative" in given:
        given["nonnegative"] = is_true(point, "nonnegative")
    if point.get("scale") is not None:
        return _direct(point["release"], real("scale", point["scale"], 0), given).as_data()
    accounting = choice("accounting", _needed(point, "accounting"), ACCOUNTINGS)
    delta = real("delta", _needed(point, "delta"), 0, 1) if accounting == "approx_dp" else None
    both = ("low", "high") if _has_two_anchors(point) else ("high",)
    anchors = tuple(_anchor(point, end, values) for end in both)
    return dict(_calibrated(point["release"], anchors, accounting, delta, tuple(given.items())))


def influence_of(name: str, value: Any, values: Floats | None = None) -> float:
    """Return an influence above 0: a given number, or a quantile of the values that one of WORDS names.

    The quantile is a value of the inverted CDF. Raises ValueError for anything else.
    """
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
    """Return the point's population, one of the option `populations`.

    Raises UserError or ValueError for a population that is missing or not valid.
    """
    known = options.get("populations")
    if not isinstance(known, Mapping):
        raise UserError(f"mechanism.populations = {known!r} is not valid; valid: a mapping from names to data sources")
    if point.get("population") is None:
        raise ValueError(
            f"a sum, or an influence such as median, needs population, which the sweep does not give; "
            f"valid: {', '.join(map(str, known))}"
        )
    name = choice("population", point["population"], known)
    if not isinstance(known[name], Mapping):
        raise UserError(f"mechanism.populations.{name} = {known[name]!r} is not valid; valid: file, path or shape, ...")
    return _population(name, json.dumps(known[name]), group_by, _stamp(known[name].get("path")))


@lru_cache(maxsize=8)
def _population(name: str, spec: str, group_by: str | None, stamp: object) -> Population:
    """Return a population, which is read once for all cells as long as its file does not change."""
    return skewed_records(name, json.loads(spec), group_by)


def _stamp(path: Any) -> object:
    try:
        about = os.stat(path)
    except (OSError, TypeError, ValueError):
        return None  # the reader reports the error
    return about.st_mtime_ns, about.st_size


def population_values(point: Point, options: Options) -> Floats:
    """Return the values of all records of the point's population; errors as for `population_of`."""
    return population_of(point, options).values


def is_true(point: Point, axis: str) -> bool:
    """Return the truth value of a sweep's yes or no, given as text or number; False if it is not given."""
    value = point.get(axis)
    return (
        value is not None
        and {"true": True, "false": False, 1: True, 0: False}[choice(axis, value, ("true", "false", 1, 0))]
    )


def built_release(data: Mapping[str, Any]) -> Release:
    """Return the release of plain data made by `release_law`."""
    parameters = dict(data)
    return FORMS[parameters.pop("form")].of_data(parameters)


def _family(point: Point) -> type[ReleaseFamily]:
    return RELEASE_FAMILIES[known("release", point.get("release"), RELEASE_FAMILIES)]


def _given(point: Point) -> Data:
    """Return the parameters of the release that the point gives besides the scale."""
    return {axis.name: point[axis.name] for axis in _family(point).parameters if point.get(axis.name) is not None}


def _has_two_anchors(point: Point) -> bool:
    shape = _family(point).shape
    return bool(shape) and point.get(shape) is None and point.get("value_low") is not None


def _anchor(point: Point, end: str, values: Floats | None) -> tuple[float, float]:
    value = real(f"value_{end}", _needed(point, f"value_{end}"), 0)
    return influence_of(f"influence_{end}", _needed(point, f"influence_{end}"), values), value


def _needed(point: Point, name: str) -> Any:
    if point.get(name) is None:
        raise ValueError(f"release {point['release']} needs {name} (or scale), which the sweep does not give")
    return point[name]


@lru_cache(maxsize=4096)
def _calibrated(family: str, anchors: Any, accounting: str, delta: float | None, given: Any) -> Data:
    """Return the calibrated release as plain data, computed once for all cells that share it."""
    more = {} if delta is None else {"delta": delta}
    return calibration.calibrate_records(family, anchors, accounting, **more, **dict(given)).release.as_data()


def _direct(family: str, scale: float, given: Mapping[str, Any]) -> Release:
    """Return the release whose parameters are all given; ValueError for one that is missing."""
    kind = RELEASE_FAMILIES[family]
    complete = kind.defaults() | dict(given)
    for name in sorted(axis.name for axis in kind.parameters if axis.name not in complete):
        raise ValueError(f"release {family} with scale needs {name}, which the sweep does not give")
    return kind.release(scale, **complete)
