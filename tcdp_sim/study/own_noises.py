"""Noise classes of the user's own in a sweep: from Python objects, or from FILE.py:CLASS in words.

A config has the name of such a noise in its sweep, and under `noises` a record of it: the place of the class, its
family, how it is calibrated, and the digest of its source. The code itself is in no config.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

from tcdp_sim.core import own_noises, registry, user_files
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.identity import identity
from tcdp_sim.core.own_noises import Own
from tcdp_sim.core.texts import show
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.noise import FAMILIES, Noise
from tcdp_sim.noise.guard import is_foreign
from tcdp_sim.study import groups

AXIS = "noise"
KEY = "noises"  # the key of a config with the records
Records = dict[str, dict[str, Any]]
VALID = "valid: a class that derives from tcdp_sim.noise.Noise, or an object of one"
_PLACE = re.compile(r".*\.py:[\w.]+", re.DOTALL)
_BETWEEN_WORDS = re.compile(r"[\[\]{},=\s'\"]+")


def of_words(config: Mapping[str, Any], words: Sequence[str]) -> dict[str, Any]:
    """Return a composed config with names in place of FILE.py:CLASS, and with the records of these noises.

    The classes are loaded. Raises UserError for a class that no word names: a file is data, and brings no code.
    """
    typed = {text for word in words for text in _BETWEEN_WORDS.split(word)}
    return _resolved(config, typed)


def of_objects(keys: Mapping[str, Any]) -> tuple[dict[str, Any], Records, set[str]]:
    """Return the keys of a call from Python with names in place of classes and objects, and the records of these.

    The texts FILE.py:CLASS in the keys are the third result, for `of_call`.
    """
    records: Records = {}
    typed: set[str] = set()

    def name(value: Any, where: str) -> Any:
        if isinstance(value, Noise | type):
            return _read(value, _place_of(value), records)
        if isinstance(value, str):
            typed.add(value)
        return value

    return _with_names(keys, name), records, typed


def of_call(config: Mapping[str, Any], records: Records, typed: Collection[str]) -> dict[str, Any]:
    """Return the composed config of a call from Python, completed as in `of_words`."""
    return _resolved(config, typed, records)


def places(config: Mapping[str, Any]) -> list[str]:
    """Return FILE.py:CLASS of each of the user's noises of a config."""
    return sorted({record["place"] for record in config.get(KEY, {}).values()})


def in_places(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config with FILE.py:CLASS in place of the names of the user's noises, and without their records."""
    records = config.get(KEY, {})
    kept = {key: value for key, value in config.items() if key != KEY}
    return _with_names(kept, lambda name, _: records[name]["place"] if name in records else name)


def load(places: str | Sequence[str]) -> None:
    """Load the classes FILE.py:CLASS, for a run whose folder names them. Raises UserError."""
    for place in [places] if isinstance(places, str) else places:
        _read(user_files.load(place), place, {})


def _resolved(config: Mapping[str, Any], typed: Collection[str], known: Records | None = None) -> dict[str, Any]:
    if config.get(KEY):
        raise UserError(f"config: {KEY!r} is not a key; a class is named in the words: sweep.noise=[FILE.py:CLASS]")
    records = dict(known or {})

    def name(value: Any, where: str) -> Any:
        if not (isinstance(value, str) and _PLACE.fullmatch(value)):
            return value
        if value not in typed:
            raise UserError(f"{where} = {value} is code, which no file brings; give it in words too: {where}={value}")
        return _read(user_files.load(value), value, records)

    resolved = _with_names(config, name)
    return resolved | ({KEY: records} if records else {})


def _with_names(keys: Mapping[str, Any], name: Callable[[Any, str], Any]) -> dict[str, Any]:
    """Return the keys of a study with `name` of each noise in the blocks of its sweep."""
    return {key: _in_block(value, name, key) if key in ("sweep", "also") else value for key, value in keys.items()}


def _in_block(block: Any, name: Callable[[Any, str], Any], where: str) -> Any:
    if isinstance(block, list | tuple):
        return [_in_block(each, name, where) for each in block]
    if not isinstance(block, Mapping):
        return block
    found = {}
    for key, value in block.items():
        place = f"{where}.{key}"
        if key != AXIS:
            found[key] = _in_block(value, name, place) if isinstance(value, Mapping | list | tuple) else value
        else:
            found[key] = (
                [name(each, place) for each in value] if isinstance(value, list | tuple) else name(value, place)
            )
    return found


def _place_of(thing: Any) -> str:
    """Return FILE.py:CLASS of a class or of the class of an object, as a command would name it."""
    kind = thing if isinstance(thing, type) else type(thing)
    home = user_files.home_of(kind) or kind.__module__
    return f"{home.replace('.', '/')}.py:{kind.__qualname__}"


def _read(thing: Any, place: str, records: Records) -> str:
    """Return the name of the noise of a class or object, let this process use it, and add its record.

    Raises UserError if it is no noise of which cells can be known.
    """
    kind = thing if isinstance(thing, type) else type(thing)
    if not issubclass(kind, Noise):
        raise UserError(f"{place} is not a noise: it is {show(thing)}; {VALID}")
    if not is_foreign(kind):
        return _of_package(thing, kind, place, records)
    _check(kind, place)
    known = identity(kind, user_files.home_of(kind))
    if known is None:
        raise UserError(
            f"{place} cannot be identified (it has no source, or reads more than plain data), so no number could be "
            "kept under its name; put the class into a file"
        )
    own_noises.bring(Own(kind.family, kind, known["source"]))
    return _recorded(thing, place, known["source"], records)


def _check(kind: type[Noise], place: str) -> None:
    """Raise UserError unless a class gives what every noise does, and a family of its own."""
    if lacking := sorted(kind.__abstractmethods__):
        raise UserError(f"{place} has no {lacking[0]}, which every noise gives")
    family = getattr(kind, "family", None)
    if not (isinstance(family, str) and family.isidentifier()):
        raise UserError(f'{place} has family = {family!r}; valid: a name such as family = "{kind.__name__.lower()}"')
    if family in (*FAMILIES, *groups.options("noise"), *registry.plug_ins("noise")):
        raise UserError(f"{place} calls itself {family!r}, a name that is taken; valid: family = another name")
    if not (is_dataclass(kind) and kind.parameters()):
        raise UserError(
            f"{place} has no parameters; valid: a class under @dataclass(frozen=True, eq=False) with fields"
        )


def _of_package(thing: Any, kind: type[Noise], place: str, records: Records) -> str:
    """Return the name of a noise of the package."""
    if not isinstance(thing, type):
        return _recorded(thing, place, "", records)
    if kind.family not in groups.options("noise"):
        raise UserError(f"{place} is no name of sweep.noise; valid: {', '.join(groups.options('noise'))}, or an object")
    return str(kind.family)


def _shown(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _recorded(thing: Any, place: str, source: str, records: Records) -> str:
    """Add the record of a noise, and return its name: an object's states its parameters."""
    record: dict[str, Any] = {"family": thing.family, "calibration": "tight", "place": place, "source": source}
    name = thing.family
    if not isinstance(thing, type):
        given = noise_axes.parameters(thing)
        name = f"{name}({', '.join(f'{key}={_shown(value)}' for key, value in given.items())})"
        record |= {"calibration": "given", "parameters": given}
    if records.get(name, {}).get("source", source) != source:
        raise UserError(
            f"{place} and {records[name]['place']} have one name, {name}; valid: a family of its own for each"
        )
    records[name] = record | {"label": name}
    return str(name)
