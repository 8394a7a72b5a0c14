"""The contract of a mechanism: the results of `simulate` are declared, in range, and a function of the stream alone."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tcdp_sim.core.streams import generator
from tcdp_sim.mechanisms.base import Mechanism
from tcdp_sim.privacy import Guarantee

STREAM = "c0" * 32  # of the trials that are checked
_TRIALS, _LEAST = 200, 2  # of a check, at most and at least
_NUMBERS = 1e6  # that are drawn for it, about


def _count(mechanism: Mechanism) -> int:
    """Return the number of trials of a check, so that a mechanism with much work has few."""
    return int(min(max(_NUMBERS / mechanism.work, _LEAST), _TRIALS))


def broken(mechanism: Mechanism) -> Iterator[str]:
    """Yield one line for each way in which a mechanism breaks the contract; nothing is stored."""
    name = type(mechanism).__name__
    if mechanism.guarantee is not None and not isinstance(mechanism.guarantee, Guarantee):
        yield f"{name}.guarantee is {mechanism.guarantee!r}; valid: an object of tcdp_sim.privacy, or None"
    if not mechanism.work > 0:
        yield f"{name}.work is {mechanism.work!r}; valid: the numbers drawn per trial, > 0"
        return
    try:
        trials, again = (mechanism.simulate(generator(0, STREAM, 0), _count(mechanism)) for _ in range(2))
    except Exception as problem:  # a foreign class may raise anything
        reason = " ".join(f"{type(problem).__name__}: {problem}".split())
        yield f"{name}.simulate raises {reason}; valid: a dict of arrays, one for each observable and event"
        return
    yield from _declared(mechanism, trials, "simulate")
    if mechanism.knows_losses() and not mechanism.unknown_loss:
        losses = mechanism.draw_losses(generator(0, STREAM, 1), _count(mechanism))
        yield from _declared(mechanism, losses, "draw_losses")
    for each in sorted(trials.keys() & again.keys()):
        if not _same(trials[each], again[each]):
            yield f"{name}.simulate gives other values of {each!r} from the same stream; valid: all randomness from rng"
    for observable in mechanism.thresholds:
        if observable not in mechanism.observables:
            yield f"{name}.thresholds names {observable!r}; valid: {', '.join(mechanism.observables)}"


def same_trials(one: Mechanism, other: Mechanism) -> bool:
    """Return True if two mechanisms give the same trials from the same stream."""
    first, second = (each.simulate(generator(0, STREAM, 0), _count(one)) for each in (one, other))
    return first.keys() == second.keys() and all(_same(first[name], second[name]) for name in first)


def _same(one: Any, other: Any) -> bool:
    return np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f")


def _declared(mechanism: Mechanism, trials: Any, method: str) -> Iterator[str]:
    """Check names, shapes, types and ranges of the trials that a method draws."""
    name, declared = f"{type(mechanism).__name__}.{method}", {*mechanism.observables, *mechanism.events}
    count = _count(mechanism)
    for each in sorted(trials.keys() - declared):
        yield f"{name} yields {each!r}, which is not declared; valid: {', '.join(sorted(declared))}"
    for each, value in trials.items():
        found = np.asarray(value)
        kinds = "b" if each in mechanism.events else "fiu"
        if found.shape != (count,) or found.dtype.kind not in kinds:
            right = f"shape ({count},) of {'bool' if kinds == 'b' else 'float64'}"
            yield f"{name} yields {each!r} of shape {found.shape} and type {found.dtype}; valid: {right}"
        elif about := mechanism.observables.get(each):
            outside = found[(found < about.least) | (found > about.most)]
            if len(outside):
                right = f"{about.least:g} to {about.most:g}, the range that it declares"
                yield f"{name} yields {each} = {float(outside[0]):.6g}; valid: {right}"
