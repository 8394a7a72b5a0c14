"""Noise classes of the user's own in a sweep: from Python objects, or from FILE.py:CLASS in words.

A config has the name of such a noise in its sweep, and under `noises` a record of it: the place of the class, its
family, how it is calibrated, and the digest of its source. The code itself is in no config.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tcdp_sim.core.errors import UserError

AXIS = "noise"
KEY = "noises"  # the key of a config with the records
Records = dict[str, dict[str, Any]]
_PLACE = re.compile(r".*\.py:[\w.]+", re.DOTALL)


def completed(config: Mapping[str, Any], words: Sequence[str], known: Records | None = None) -> dict[str, Any]:
    """Return a composed config with names in place of FILE.py:CLASS, and with the records of these noises.

    The classes are loaded. `known` has the records of classes from Python. Raises UserError for a class that no word
    names: a file is data, and brings no code.
    """
    if config.get(KEY):
        raise UserError(f"config: {KEY!r} is not a key; a class is named in the words: sweep.noise=[FILE.py:CLASS]")
    records = dict(known or {})

    def name(value: Any, where: str) -> Any:
        if not (isinstance(value, str) and _PLACE.fullmatch(value)):
            return value
        if not any(re.search(rf"(?<![\w./~-]){re.escape(value)}(?![\w.])", word) for word in words):
            raise UserError(
                f"{where} = {value} is code, which no file brings; give it in words too: {where}={value}", where
            )
        from tcdp_sim.study import noise_classes  # slow to import, and few studies have such a noise

        return noise_classes.load(value, records)

    resolved = with_names(config, name)
    return resolved | ({KEY: records} if records else {})


def of_objects(keys: Mapping[str, Any]) -> tuple[dict[str, Any], list[str], Records]:
    """Return the keys of a call from Python with names in place of classes and objects, for `completed`.

    The other results are these names, which no file has brought, and the records of the classes and objects.
    """
    from tcdp_sim.study import noise_classes

    records: Records = {}
    names: list[str] = []

    def name(value: Any, _: str) -> Any:
        names.append(str(value))
        return noise_classes.of_object(value, records)

    return with_names(keys, name), names, records


def places(config: Mapping[str, Any]) -> list[str]:
    """Return FILE.py:CLASS of each of the user's noises of a config."""
    return sorted({record["place"] for record in config.get(KEY, {}).values()})


def in_places(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config with FILE.py:CLASS in place of the names of the user's noises, and without their records."""
    records = config.get(KEY, {})
    kept = {key: value for key, value in config.items() if key != KEY}
    return with_names(kept, lambda name, _: records[name]["place"] if name in records else name)


def with_names(keys: Mapping[str, Any], name: Callable[[Any, str], Any]) -> dict[str, Any]:
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
