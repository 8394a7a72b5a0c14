"""The command `tcdp-sim schema`, which prints a JSON schema (draft 2020-12) of the files of studies, for editors."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tcdp_sim.cli.describe import valid_values
from tcdp_sim.core import registry
from tcdp_sim.core.axes import Axis
from tcdp_sim.core.figure_options import FORMATS, NARROWEST, WIDEST
from tcdp_sim.mechanisms import Mechanism, mechanism_class
from tcdp_sim.study import groups
from tcdp_sim.study.blocks import NO_AXES
from tcdp_sim.study.points import LOG10
from tcdp_sim.study.settings import Settings

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
ABOUT = "A study of tcdp_sim in a file: `tcdp-sim run FILE.yaml` runs it. Nothing in the file is composed or run."
CONDITION = r"^\s*\w+\s*(<=|>=|==|!=|<|>)\s*\S+\s*$"
DEFAULT = "histogram"  # the experiment, and its mechanism, of a file that names none
TYPES = {bool: "boolean", int: "number", float: "number"}  # of defaults; other keys may have values of several types
SOURCES = ("shape", "file", "path")  # a data set with a name of the user's has one of these keys
NUMBER: Schema = {"type": "number"}
TEXT: Schema = {"type": "string"}
RANGE = {
    "type": "object",
    "description": "a range of values",
    "properties": {
        "from": NUMBER | {"description": "first value"},
        "to": NUMBER | {"description": "last value"},
        "num": {"type": "integer", "minimum": 1, "description": "number of values"},
        "scale": {"enum": ["linear", "log"], "description": "equal differences (the default), or equal ratios"},
    },
    "required": ["from", "to", "num"],
    "additionalProperties": False,
}
TARGET = {
    "description": "the standard error to reach",
    "type": "object",
    "properties": {kind: {"type": "number", "exclusiveMinimum": 0} for kind in ("absolute", "relative")},
    "minProperties": 1,
    "maxProperties": 1,
    "additionalProperties": False,
}
FAILURE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
DECISIONS = {
    "description": "what is decided about a number",
    "type": "object",
    "oneOf": [
        {
            "properties": {
                "across": TEXT,
                "within": {"type": ["number", "null"], "exclusiveMinimum": 0},
                "failure": FAILURE,
            },
            "required": ["across"],
            "additionalProperties": False,
        },
        {
            "properties": {"threshold": NUMBER, "failure": FAILURE},
            "required": ["threshold"],
            "additionalProperties": False,
        },
        {
            "properties": {"events": {"type": "integer", "minimum": 1}},
            "required": ["events"],
            "additionalProperties": False,
        },
    ],
}
FIGURES = {
    "width": {"type": ["number", "null"], "minimum": NARROWEST, "maximum": WIDEST, "description": "inches"},
    "title": {"type": "boolean"},
    "format": {"enum": [*FORMATS]},
}


def text() -> str:
    """Return the schema as JSON. It knows the experiments, mechanisms, axes and noises that are installed here."""
    return json.dumps(schema(), indent=1, ensure_ascii=False)


def schema() -> Schema:
    """Return the schema of the files of studies as plain data."""
    mechanisms = {name: mechanism_class(name) for name in registry.names("mechanism")}
    definitions: Schema = {"range": RANGE}
    for name, mechanism in mechanisms.items():
        definitions |= {**_axes(mechanism), f"sweep_{name}": _sweep(mechanism), f"block_{name}": _block(mechanism)}
    return {
        "$schema": DIALECT,
        "title": "tcdp_sim study",
        "description": ABOUT,
        "type": "object",
        "minProperties": 1,
        "properties": _properties(),
        "additionalProperties": False,
        "allOf": [_with_mechanism(mechanism) for mechanism in mechanisms.values()],
        "$defs": definitions,
    }


def _properties() -> Schema:
    """Return the schemas of the keys that every study has. Those of sweeps and blocks depend on the mechanism."""
    own = Settings.model_json_schema()["properties"]
    comments = {line.partition(":")[0]: line.partition(" # ")[2] for line in groups.general_keys()}
    found = {key: _without(own[key], "title", "description") for key in comments}
    found["figures"] = _section(FIGURES)
    found["name"] = {"type": ["string", "integer"]}
    found["trials"] = {"anyOf": [found["trials"], {"type": "string", "pattern": r"^\+\d"}]}
    found["target_mcse"] = {"type": ["object", "null"], "additionalProperties": TARGET}
    found["target"] = {"type": ["object", "null"], "additionalProperties": DECISIONS}
    found["share"] = {"anyOf": [found["share"], TEXT, {"type": "null"}]}
    for key, comment in comments.items():
        found[key] |= {"description": comment or f"{key} of the run"}
    also = {"type": ["object", "null"], "description": "further blocks by name; their keys replace those of sweep"}
    sweep = {"type": ["object", "null"], "description": "the axes of the study, which are multiplied out"}
    experiment = {"name": TEXT, "question": TEXT, "axes": {"type": ["object", "null"]}}
    return {
        "experiment": _options("experiment", [_section(experiment)]),
        "sweep": sweep,
        "also": also,
        "data": _options("data", [_data(option) for option in groups.options("data")]),
        "mechanism": _options("mechanism", [_named("mechanism", option) for option in groups.options("mechanism")]),
        "cluster": _options("cluster", [_named("cluster", option) for option in groups.options("cluster")]),
        **found,
    }


def _options(group: str, sections: list[Schema]) -> Schema:
    """Return the schema of a group: the name of an option, or its keys."""
    about = f"the {group}: a name, or keys"
    return {"description": about, "anyOf": [{"enum": groups.options(group)}, {"type": "null"}, *sections]}


def _named(group: str, option: str) -> Schema:
    """Return the schema of the keys of an option; `name` is the name of the option."""
    return _section(_keys(group, option) | {"name": {"const": option}})


def _data(option: str) -> Schema:
    """Return the schema of the keys of a data set, which may have a name of the user's if it states its source."""
    spec = groups.named("data", option)
    source = next(key for key in SOURCES if key in spec)
    same = {} if source == "path" else {source: {"const": spec[source]}}
    own = {"anyOf": [{"properties": {"name": {"const": option}}}, {"required": [source]}]}
    return _section(_keys("data", option) | {"name": TEXT} | same) | own


def _section(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _keys(group: str, option: str) -> Schema:
    """Return the schemas of the keys in the yaml file of an option, described by the comments behind them."""
    comments = dict(re.findall(r"^(\w+):.*? # (.*)$", groups.text(group, option), re.MULTILINE))
    return {
        key: ({"type": TYPES[type(value)]} if type(value) in TYPES else {})
        | ({"description": comments[key]} if key in comments else {})
        for key, value in groups.named(group, option).items()
    }


def _axes(mechanism: type[Mechanism]) -> Schema:
    """Return the schemas of the keys that give axes of a mechanism."""
    axes = mechanism.axes.values()
    return {f"{mechanism.name}_{name}": _axis(axis, name) for axis in axes for name in _names(axis)}


def _sweep(mechanism: type[Mechanism], more: Schema | None = None) -> Schema:
    """Return the schema of a sweep: its axes, also by their exponents, and the keys that choose points."""
    names = [name for axis in mechanism.axes.values() for name in _names(axis)]
    axes = {name: {"$ref": f"#/$defs/{mechanism.name}_{name}"} for name in names}
    groups_of_axes = _list({"anyOf": [_list({"enum": names}), {"enum": names}]})
    condition = {"type": "string", "pattern": CONDITION}
    point = {"type": "object", "propertyNames": {"enum": names}}
    keywords = {
        "zip": _or_null(groups_of_axes, "axes that advance together, such as [[k, rho]]"),
        "where": _or_null(_one_or_several(condition), 'conditions that all must hold, such as "k <= 1e6"'),
        "cells": _or_null(_list(point), "single points, each of which completes the axes"),
    }
    whole = _section(axes | keywords | (more or {}))
    return whole | {"type": ["object", "null"]}


def _block(mechanism: type[Mechanism]) -> Schema:
    """Return the schema of a block of `also`."""
    only_with, unless_given, blocks = NO_AXES
    return _sweep(
        mechanism,
        {
            only_with: _or_null(TEXT, "the data set with which the block is part of the study"),
            unless_given: _or_null(_list(TEXT), "keys of sweep without which the block is part of the study"),
            blocks: _or_null(
                _list({"$ref": f"#/$defs/sweep_{mechanism.name}"}), "several blocks, each of which completes this one"
            ),
        },
    )


def _names(axis: Axis) -> list[str]:
    names = [axis.name, axis.short] if axis.short else [axis.name]
    return [*names, *(f"{LOG10}{name}" for name in names)] if axis.has_exponent else names


def _axis(axis: Axis, name: str) -> Schema:
    """Return the schema of a key that gives an axis: a value, a list or a range, or null."""
    unit = f" ({axis.unit})" if axis.unit not in ("", "1") else ""
    valid = f"; valid: {values}" if (values := valid_values(axis)) else ""
    if name.startswith(LOG10) and name != axis.name:
        return _or_null(_one_or_several(NUMBER, ranges=True), f"exponents of {axis.name} to base 10: {axis.meaning}")
    return _or_null(_one_or_several(_value(axis), axis.has_exponent), f"{axis.meaning}{unit}{valid}")


def _value(axis: Axis) -> Schema:
    """Return the schema of one value of an axis."""
    if axis.has_exponent:
        return {"anyOf": [NUMBER, {"enum": list(axis.words)}]} if axis.words else NUMBER
    if axis.kind == "flag":
        return {"enum": [True, False, "true", "false", 0, 1]}
    if axis.kind == "option" and axis.name != "data":  # users may name their data
        return {"enum": groups.options(axis.name)}
    return {"enum": list(axis.choices)} if axis.choices else {"type": ["string", "integer"]}


def _one_or_several(one: Schema, ranges: bool = False) -> Schema:
    several = _list(one) | {"minItems": 1}
    return {"anyOf": [one, several, *([{"$ref": "#/$defs/range"}] if ranges else [])]}


def _list(one: Schema) -> Schema:
    return {"type": "array", "items": one}


def _or_null(one: Schema, description: str) -> Schema:
    kinds = one["anyOf"] if set(one) == {"anyOf"} else [one]
    return {"description": description, "anyOf": [*kinds, {"type": "null"}]}


def _with_mechanism(mechanism: type[Mechanism]) -> Schema:
    """Return the condition that a study has this mechanism, and the schemas of its sweep, blocks and targets then."""
    name = mechanism.name
    block = {"$ref": f"#/$defs/block_{name}"}
    targets = {"enum": [*mechanism.observables, *mechanism.events]}
    experiments = [option for option in groups.options("experiment") if _mechanism_of(option) == name]
    by_experiment = [_chooses("experiment", experiments)]
    by_experiment += [{"not": _chooses("experiment")}] if name == DEFAULT else []
    return {
        "if": {
            "anyOf": [
                _chooses("mechanism", [name]),
                {"anyOf": by_experiment, "not": _chooses("mechanism")},
            ]
        },
        "then": {
            "properties": {
                "sweep": {"$ref": f"#/$defs/sweep_{name}"},
                "also": {"additionalProperties": block},
                "target_mcse": {"propertyNames": targets},
                "target": {"propertyNames": targets},
            }
        },
    }


def _chooses(group: str, options: Iterable[str] | None = None) -> Schema:
    """Return the condition that a study chooses one of these options of a group, or any."""
    name = TEXT if options is None else {"enum": list(options)}
    keys = {"type": "object", "required": ["name"], "properties": {"name": name}}
    return {"required": [group], "properties": {group: {"anyOf": [name, keys]}}}


def _mechanism_of(experiment: str) -> str:
    """Return the mechanism that the yaml file of an experiment chooses."""
    for line in groups.named("experiment", experiment).get("defaults", ()):
        if isinstance(line, Mapping) and "override /mechanism" in line:
            return str(line["override /mechanism"])
    return DEFAULT


def _without(schema: Mapping[str, Any], *keys: str) -> Schema:
    return {key: value for key, value in schema.items() if key not in keys}
