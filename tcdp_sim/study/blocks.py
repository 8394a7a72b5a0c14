"""The blocks of a study: each says which values its axes have.

A block is a mapping from axes to values. A study has the block `sweep` and the further blocks of `also`. The values of
an axis come from the last of these sources that gives them:

1. the suggestions of the chosen data set,
2. the suggestions of the experiment,
3. the suggestions of a data set that the block itself names,
4. `sweep`, which holds in every block,
5. the block itself.

A block of `also` may have conditions. With `only_with: x` it is part of the study only if `sweep.data`, by default the
chosen data set, is x. With `unless_given: [k, rho]` it is part of the study only if `sweep` gives none of these axes.
With `blocks: [...]` it stands for several blocks, each of which completes it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tcdp_sim.core.errors import UserError, known
from tcdp_sim.mechanisms import mechanism_class
from tcdp_sim.mechanisms.axes import COMMON, DATA, OMEGA_FORMS, PUBLISHED
from tcdp_sim.study import groups
from tcdp_sim.study.points import KEYWORDS, LOG10
from tcdp_sim.study.settings import Settings

DEFAULT_DATA = "one_bin"  # as in config.yaml
S_FORMS = tuple(name for pair in PUBLISHED.items() for name in pair)  # either name gives the axis
_WITH_NAMES = ("zip", "where", "cells", "unless_given", "blocks")  # keys whose values hold names of axes
NO_AXES = ("only_with", "unless_given", "blocks")


def blocks(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return the axes of every block by the block's name. Raises UserError for a value that is not a block."""
    completed = {"sweep": _completed(settings, {})}
    for name, block in _further(settings).items():
        if _absence(settings, name, block) is None:
            completed |= {
                where: _completed(settings, own, f"{where}.data") for where, own in _parts(f"also.{name}", block)
            }
    return completed


def absent_blocks(settings: Settings) -> list[str]:
    """Return a line for each block of `also` that its conditions leave out of the study. The line gives the reason."""
    reasons = {name: _absence(settings, name, block) for name, block in _further(settings).items()}
    return [f"also.{name} is not part of this study: {reason}" for name, reason in reasons.items() if reason]


def sweep_of(settings: Settings) -> dict[str, Any]:
    """Return `sweep`, with the chosen data set if the mechanism reads one and the sweep does not mention data.

    The axes that most mechanisms have come first, in a fixed order, because the order of the axes decides the order of
    the cells.
    """
    sweep = spelled_out(settings, "sweep", dict(_mapping("sweep", settings.sweep)))
    if DATA.name in mechanism_class(settings.mechanism["name"]).axes:
        sweep.setdefault(DATA.name, settings.data.get("name"))
    first = {key: sweep[key] for axis in COMMON for key in (axis, f"{LOG10}{axis}") if key in sweep}
    return first | sweep


def data_spec(settings: Settings, name: str) -> Mapping[str, Any]:
    """Return the spec of a data set by name: the chosen data set or one of conf/data."""
    return settings.data if name == str(settings.data.get("name")) else groups.named("data", name)


def spelled_out(settings: Settings, where: str, block: Any) -> Any:
    """Return a block, or a part of one, with the names of axes in place of their short names.

    Raises UserError if both give values.
    """
    axes = mechanism_class(settings.mechanism["name"]).axes
    names = {axis.short: axis.name for axis in axes.values() if axis.short and axis.short not in axes}
    return _renamed(block, names, where) if names else block


def _renamed(part: Any, names: Mapping[str, str], where: str) -> Any:
    if isinstance(part, str):
        return re.sub(r"^\s*\w+", lambda word: names.get(word[0].strip(), word[0]), part)  # also of a condition
    if isinstance(part, list | tuple):
        return [_renamed(each, names, where) for each in part]
    if not isinstance(part, Mapping):
        return part
    found: dict[Any, Any] = {}
    for key, value in part.items():
        exponent, name = (LOG10, key[len(LOG10) :]) if str(key).startswith(LOG10) else ("", key)
        whole = f"{exponent}{names.get(name, name)}"
        if found.get(whole) is not None and value is not None:
            raise UserError(f"{where}: the axis {whole} is given twice, also as {key}", where)
        if value is not None or whole not in found:
            found[whole] = _renamed(value, names, f"{where}.{key}") if key in _WITH_NAMES else value
    return found


def _further(settings: Settings) -> dict[str, Mapping[str, Any]]:
    """Return the blocks of `also` without those that are null."""
    further = _mapping("also", settings.also)
    blocks = {name: _mapping(f"also.{name}", block) for name, block in further.items() if block is not None}
    return {name: spelled_out(settings, f"also.{name}", block) for name, block in blocks.items()}


def _parts(where: str, block: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and axes of the block, or of each block that it lists."""
    own = {key: value for key, value in block.items() if key not in NO_AXES}
    listed = block.get("blocks")
    if listed is None:
        yield where, own
        return
    if not isinstance(listed, list):
        raise UserError(
            f"{where}.blocks = {listed!r} is not valid; valid: a list of blocks: [{{k: 10}}, {{k: 20}}]",
            f"{where}.blocks",
        )
    for i, one in enumerate(listed):
        yield f"{where}.blocks[{i}]", with_axes(own, _mapping(f"{where}.blocks[{i}]", one))


def _absence(settings: Settings, name: str, block: Mapping[str, Any]) -> str | None:
    """Return the reason why the block is not part of the study, or None if it is."""
    sweep, wanted, unless = sweep_of(settings), block.get("only_with"), block.get("unless_given")
    keys = unless if isinstance(unless, list) else [None]
    valid = {*mechanism_class(settings.mechanism["name"]).axes, *COMMON, *KEYWORDS, *sweep}
    if unless is not None and not all(isinstance(key, str) and key.removeprefix(LOG10) in valid for key in keys):
        raise UserError(
            f"also.{name}.unless_given = {unless!r} is not valid; valid: a list of keys of sweep: [k, rho]",
            f"also.{name}.unless_given",
        )
    if wanted is not None and wanted != sweep.get(DATA.name):
        if wanted != settings.data.get("name"):
            known(f"also.{name}.only_with", wanted, groups.options("data"))
        return f"it goes with data {wanted}"
    for key, value in sweep.items():
        if value is not None and key.removeprefix(LOG10) in (unless or ()):
            return f"sweep.{key} is given"
    return None


def _completed(settings: Settings, own: Mapping[str, Any], where: str = "sweep.data") -> dict[str, Any]:
    """Return a block with the axes that come from the other sources. The module's docstring gives their order."""
    experiment = _mapping("experiment.axes", settings.experiment.axes)
    sweep = sweep_of(settings)
    chosen = _suggested(settings, sweep, "sweep.data")
    if isinstance(own.get("data"), str):
        suggested = with_axes(experiment, _suggested(settings, own, where))
    else:
        suggested = with_axes(chosen, experiment)
    return with_axes(with_axes(suggested, sweep), own)


def _suggested(settings: Settings, block: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Return the axes that the block's data set suggests.

    If the block lists several data sets, these are the axes of the chosen one. A block without data gets none.
    """
    name = block.get("data")
    if name is None:
        return {}  # the mechanism reads no data
    if isinstance(name, str) and name != str(settings.data.get("name")):
        spec = groups.named("data", known(where, name, groups.options("data")))
        return _mapping(f"{where}.axes", spec.get("axes") or {})
    return _mapping("data.axes", settings.data.get("axes") or {})


def _mapping(where: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UserError(f"{where} = {value!r} is not valid; valid: keys and their values, such as {{k: 10}}", where)
    for key in value:
        if not isinstance(key, str):
            raise UserError(f"{where}: {key!r} is not a key; valid: text, such as k in {{k: 10}}", where)
    return value


def with_axes(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` updated with `over`. An axis given as log10_x replaces x, and x replaces log10_x."""
    given = {key.removeprefix(LOG10) for key, value in over.items() if value is not None}
    for forms in (OMEGA_FORMS, S_FORMS):
        given |= set(forms) if given & set(forms) else set()
    kept = {key: value for key, value in base.items() if key.removeprefix(LOG10) not in given}
    return kept | {key: value for key, value in over.items() if value is not None}
