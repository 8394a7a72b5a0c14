"""The union of two studies: settings that have the cells and trials of both."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tcdp_sim.core.axes import Axis
from tcdp_sim.core.errors import UserError
from tcdp_sim.mechanisms import UserFunction, mechanism_class
from tcdp_sim.study import blocks, sweeps
from tcdp_sim.study.points import KEYWORDS, LOG10, axis_values
from tcdp_sim.study.settings import Settings
from tcdp_sim.study.study import Study, prepare

MERGED = "merged"  # the block of `also` that holds the cells of another run
ALIKE = (
    "mechanism",
    "share",
    "losses",
)  # these keys are part of the law of every cell, and a run has one value of each


def union(ours: Study, theirs: Study) -> Study:
    """Return a study that has the cells and the numbers of trials of both studies.

    The result is `ours` itself if it already has them all. The order of the two studies has no effect, unless one of
    them has all cells: then its order of cells stays. Raises UserError if no settings are found that have exactly the
    cells of both.
    """
    _refuse_others(ours.settings, theirs.settings)
    _refuse_unknown(ours, theirs)
    amount = _amount(ours.settings, theirs.settings)
    here, there = _cells(ours), _cells(theirs)
    for candidate in _candidates(ours.settings, theirs.settings, here, there):
        study = _laid_out(candidate.model_copy(update=amount))
        if study is not None and _cells(study) == here | there:
            return study
    extra = f"{theirs.folder} has {len(there - here)} cells that {ours.folder} has not"
    how = "`tcdp-sim merge WORDS FOLDER` with the words of a sweep that has them, once for each folder, shows all"
    raise UserError(f"{extra}, and no sweep was found that has just those of both; {how}")


def _refuse_others(ours: Settings, theirs: Settings) -> None:
    """Raise UserError if the laws of all cells differ, because one run cannot show both."""
    for key in ALIKE:
        mine, other = getattr(ours, key), getattr(theirs, key)
        if mine != other:
            differing = f"{key} = {_text(other)} there, {_text(mine)} here"
            compare = f"`tcdp-sim diff {ours.folder} {theirs.folder}` compares them"
            raise UserError(
                f"{theirs.folder} is of another study ({differing}), and one run cannot show both; {compare}"
            )


def _refuse_unknown(*both: Study) -> None:
    """Raise UserError for a sweep over a function without identity: its cells have the ids of any other such function.

    The ids hold no source then, so that two folders would seem to be of one study.
    """
    for study in both:
        function = study.settings.options.get("function") if study.mechanism.name == UserFunction.name else None
        if function and function["source"] is None:
            name = f"{function['module']}:{function['name']}"
            raise UserError(
                f"{study.folder} cannot be merged: nobody can tell whether its function {name} is the one of the other "
                "folder (it is a lambda, carries other objects, or draws from another generator); simulate all cells "
                "in one sweep"
            )


def _text(value: Any) -> str:
    return json.dumps(value, default=str)


def _amount(ours: Settings, theirs: Settings) -> dict[str, Any]:
    """Return the keys that decide the number of trials: the larger numbers, and the target that one study has."""
    targets = {key: _target(key, ours, theirs) for key in ("target_mcse", "target")}
    if all(targets.values()):
        raise UserError(f"{theirs.folder} and {ours.folder} have a target and a target_mcse; give one of them to both")
    return {
        "trials": max(ours.trials, theirs.trials),
        "max_trials": max(ours.max_trials, theirs.max_trials),
        **targets,
        "invalid": "skip" if "skip" in (ours.invalid, theirs.invalid) else "refuse",
    }


def _target(key: str, ours: Settings, theirs: Settings) -> Any:
    """Return the target that one study has under a key, None if none has. Raises UserError for two different ones."""
    found = [getattr(each, key) for each in (ours, theirs) if getattr(each, key)]
    if len(found) == 2 and found[0] != found[1]:
        given = f"{key} = {_text(found[1])} there, {_text(found[0])} here"
        one = f"`tcdp-sim merge WORDS {theirs.folder}` with the {key} that both are to meet among the words"
        raise UserError(f"{theirs.folder} and {ours.folder} have different targets ({given}); give one: {one}")
    return found[0] if found else None


def _candidates(ours: Settings, theirs: Settings, here: set[bytes], there: set[bytes]) -> Iterator[Settings]:
    """Yield settings that may have the cells of both, the simplest first, all with the name and place of `ours`."""
    if there <= here:
        yield ours
    elif here <= there:
        yield _with_sweep_of(ours, theirs)
    if ours.mechanism["name"] == UserFunction.name:
        yield from _sweeps_of_both(ours, theirs)
        return
    first, second = sorted((ours, _with_sweep_of(ours, theirs)), key=lambda each: _text([each.sweep, each.also]))
    if (sweep := _joined(first, second)) is not None and first.also == second.also:
        yield first.model_copy(update={"sweep": sweep})
    yield _with_blocks_of(first, second)
    yield _with_blocks_of(second, first)


def _sweeps_of_both(ours: Settings, theirs: Settings) -> Iterator[Settings]:
    """Yield settings of a sweep over a user's function: the axes with the values of both, else the cells of both."""
    first, second = sorted((ours, theirs), key=lambda each: _text([each.sweep, each.also]))
    lists = [{key: _as_list(value) for key, value in each.sweep.items()} for each in (first, second)]
    if first.also == second.also and lists[0].keys() == lists[1].keys():
        joined = {key: _plain_in_order(lists[0][key], lists[1][key]) for key in lists[0] if key not in KEYWORDS}
        same = {key: first.sweep[key] for key in KEYWORDS if key in first.sweep}
        if all(second.sweep.get(key) == value for key, value in same.items()):
            yield ours.model_copy(update={"sweep": joined | same, "also": first.also})
    points = [point for each in (first, second) for point in sweeps.points_of_settings(each)]
    yield ours.model_copy(update={"sweep": {"cells": points}, "also": {}})


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _with_sweep_of(ours: Settings, theirs: Settings) -> Settings:
    """Return our settings with the keys of the others that decide their cells."""
    return ours.model_copy(update={key: getattr(theirs, key) for key in ("sweep", "also", "data", "experiment")})


def _joined(first: Settings, second: Settings) -> dict[Any, Any] | None:
    """Return a sweep in which each axis has the values of both; None if one of them leaves an axis to a suggestion."""
    axes, sweeps = mechanism_class(first.mechanism["name"]).axes, [blocks.sweep_of(each) for each in (first, second)]
    joined: dict[Any, Any] = sweeps[0] | sweeps[1]
    for key in list(joined):
        if sweeps[0].get(key) == sweeps[1].get(key):
            continue
        name = key.removeprefix(LOG10)
        mine, other = (_values(sweep, axes[name]) if name in axes else None for sweep in sweeps)
        if mine is None or other is None:
            return None
        joined |= {f"{LOG10}{name}": None} if f"{LOG10}{name}" in joined else {}
        joined[name] = _in_order(mine, other)
    return joined


def _values(sweep: Mapping[Any, Any], axis: Axis) -> list[Any] | None:
    for key in (axis.name, f"{LOG10}{axis.name}"):
        if sweep.get(key) is not None:
            return axis_values(axis, key, sweep[key])
    return None


def _in_order(mine: list[Any], other: list[Any]) -> list[Any]:
    """Return the values of both. One that has them all keeps its order; else numbers ascend and names follow."""
    for one, rest in ((mine, other), (other, mine)):
        if set(rest) <= set(one):
            return one
    return sorted({*mine, *other}, key=lambda value: (isinstance(value, str), value))


def _plain_in_order(mine: list[Any], other: list[Any]) -> list[Any]:
    """Return the plain values of both: numbers ascend, all others are in order of appearance."""
    every = list({_text(value): value for value in [*mine, *other]}.values())
    return sorted(every) if all(type(value) in (int, float) for value in every) else every


def _with_blocks_of(first: Settings, second: Settings) -> Settings:
    """Return the first settings with the blocks of the second as a block of `also` that gives all of its axes."""
    further = [{"zip": [], "where": []} | block for block in blocks.blocks(second).values()]
    before = first.also.get(MERGED) or {}
    listed = [block for block in before.get("blocks", ()) if block not in further]
    return first.model_copy(update={"also": {**first.also, MERGED: {**before, "blocks": listed + further}}})


def _laid_out(settings: Settings) -> Study | None:
    try:
        return prepare(settings)
    except UserError:  # for example because zipped axes have different lengths now
        return None


def _cells(study: Study) -> set[bytes]:
    """Return a digest of the law and coordinates of each cell."""
    return {
        hashlib.blake2b(
            repr((cell.id, sorted((axis, value) for axis, value in cell.coords.items() if value is not None))).encode(),
            digest_size=16,
        ).digest()
        for cell in study.plan.cells
    }
