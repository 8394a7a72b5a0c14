"""The JSON schema of the files of `tcdp-sim account`, for editors."""

import inspect
import json
from typing import Any

from tcdp_sim.accounting import training_report
from tcdp_sim.accounting.statements.plain import KINDS
from tcdp_sim.accounting.training import SAMPLERS
from tcdp_sim.cli.account import KEYS, PUBLISHER
from tcdp_sim.core import registry
from tcdp_sim.privacy.relation import Relation

Schema = dict[str, Any]
NUMBER: Schema = {"type": "number"}
POSITIVE: Schema = {"type": "number", "exclusiveMinimum": 0}
RATE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
TIMES: Schema = {"type": "integer", "minimum": 1, "description": "the number of such releases"}
ABOUT = "What these releases reveal together: `tcdp-sim account FILE.yaml`. Instead of releases, a training run."
TEXTS = {
    "title": "the title of the page",
    "unit": "what one record is, such as one person",
    "population": "whose records these are",
    "period": "the time that the records are of",
    "contact": "who answers questions",
}


def text() -> str:
    """Return the schema as JSON, with the kinds of noise that are installed here."""
    return json.dumps(schema(), indent=1, ensure_ascii=False)


def schema() -> Schema:
    """Return the schema of the files as plain data."""
    asked = {"anyOf": [NUMBER, {"type": "array", "items": NUMBER}, {"type": "string"}]}
    found = {
        "releases": {"type": "array", "minItems": 1, "items": {"anyOf": _releases()}},
        "training": _section(_training(), ["sampler", "records", "batch", "epochs"])
        | {"oneOf": [{"required": ["sigma"]}, {"required": ["epsilon"]}]},
        "relation": {"enum": list(map(str, Relation)), "description": "the neighbouring relation"},
        "delta": asked | {"description": "deltas at which epsilon is asked for"},
        "epsilon": asked | {"description": "epsilons at which delta is asked for"},
        **{key: {"type": ["string", "number"], "description": TEXTS[key]} for key in PUBLISHER},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tcdp_sim account",
        "description": ABOUT,
        "oneOf": [{"required": ["releases"]}, {"required": ["training"]}],
        **_section({key: found[key] for key in KEYS}, []),
    }


def _section(properties: Schema, required: list[str]) -> Schema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _releases() -> list[Schema]:
    """Return the schemas of all forms of a release, the common ones first."""
    epsilon = {"epsilon": POSITIVE, "delta": RATE}
    vector = {"type": "array", "items": RATE}
    return [
        *(_additive(name) for name in registry.names("noise")),
        _section({"response": POSITIVE, "k": {"type": "integer", "minimum": 2}, "times": TIMES}, ["response"]),
        _section({"bounded_range": POSITIVE, "larger_loss": POSITIVE, "times": TIMES}, ["bounded_range"]),
        _section(epsilon | {"times": TIMES}, ["epsilon"]),
        _section({"p": vector, "q": vector, "times": TIMES}, ["p", "q"]),
        {"type": "object", "properties": {"kind": {"enum": [*KINDS]}, "times": TIMES}, "required": ["kind"]},
        {"type": "object", "properties": {"parts": {"type": "array"}, "times": TIMES}, "required": ["parts"]},
    ]


def _additive(family: str) -> Schema:
    """Return the schema of an answer with noise of a family."""
    noise: Any = registry.noise(family, "noise")
    own = {name: POSITIVE for name in noise.parameters()}
    also = {"sensitivity": POSITIVE, "sampled": RATE | {"description": "the Poisson rate"}, "times": TIMES}
    return _section({"noise": {"const": family}, **own, **also}, ["noise"])


def _training() -> Schema:
    """Return the schemas of the arguments of a report of training."""
    whole = {"type": "integer", "minimum": 1}
    kinds: Schema = {
        "sampler": {"enum": [*SAMPLERS], "description": "how batches are chosen"},
        "sigma": POSITIVE | {"description": "the noise multiplier"},
        "epsilon": POSITIVE | {"description": "the epsilon for which the noise multiplier is found"},
        "delta": {"anyOf": [NUMBER, {"type": "array", "items": NUMBER}]},
        "drop_last": {"type": "boolean"},
    }
    return kinds | {name: kinds.get(name, whole) for name in inspect.signature(training_report).parameters}
