"""The questions to ask about outputs of any kind, found in the outputs of a pilot."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from tcdp_sim.audits.outputs import Raised
from tcdp_sim.audits.reading import MISSING, Path, Question, Reader, at, is_number, label, members, plain

MOST_LABELS = 32  # the most frequent labels, keys and members that get a question each
MOST_PLACES = 16  # elements of a list that are looked at one by one
MOST_QUESTIONS = 64
DEEPEST = 6  # levels of nested containers


def reader(outputs: Sequence[Any]) -> Reader:
    """Return a reader of outputs like these, with at most MOST_QUESTIONS questions. Raises ValueError.

    Questions about the whole output and its large parts come first.
    """
    found = sorted(_questions((), [plain(output) for output in outputs], "output"), key=lambda each: len(each.path))
    asked = tuple(dict.fromkeys(found[:MOST_QUESTIONS]))
    return Reader(asked or (Question((), "present", None, "there is output", "there is no output"),))


def _questions(path: Path, parts: list[Any], name: str) -> Iterator[Question]:
    """Yield questions about the part of each output at a path; `name` is the part in words."""
    there = [part for part in parts if part is not MISSING]
    if 0 < len(there) < len(parts):
        yield Question(path, "present", None, f"there is {name}", f"there is no {name}")
    numbers = [part for part in there if is_number(part)]
    if numbers:
        yield Question(path, "number", None, name)
        if any(part != part for part in numbers):
            yield Question(path, "nan", None, f"{name} is NaN", f"{name} is not NaN")
    containers = [part for part in there if isinstance(part, Mapping | list | tuple | AbstractSet)]
    yield from _of_labels(path, [part for part in there if not is_number(part)], len(numbers), name)
    if containers and len(path) < DEEPEST:
        yield from _of_containers(path, parts, containers, name)


def _of_labels(path: Path, parts: list[Any], numbers: int, name: str) -> Iterator[Question]:
    """Yield a question for each frequent label, and the length of texts. Raises ValueError for unknown objects."""
    simple = [part for part in parts if not isinstance(part, Mapping | list | tuple | AbstractSet)]
    for part in simple:
        if not isinstance(part, str | bytes | bool | Raised | None) and _address(part):
            raise ValueError(f"{name} is of type {type(part).__name__}; valid: numbers, texts, None and containers")
    counts = Counter(label(part) for part in simple)
    counts.pop(MISSING, None)
    asked = _frequent(counts.elements())
    if not numbers and len(asked) == len(counts) and len(simple) == len(parts):
        asked = asked[:-1]  # the last label is what all others are not
    for value in asked:
        yield Question(path, "is", value, *_is(name, value[1]))
    if len(counts) > MOST_LABELS and any(isinstance(part, str | bytes) for part in simple):
        yield Question(path, "length", None, f"length of {name}")


def _is(name: str, value: Any) -> tuple[str, str]:
    """Return a label's question in words, and its opposite."""
    if isinstance(value, Raised):
        return f"the mechanism raises {value.name}", f"the mechanism does not raise {value.name}"
    return f"{name} = {value!r}", f"{name} != {value!r}"


def _address(part: Any) -> bool:
    """Return True for an object that is compared by its address alone, which carries no information."""
    own: Any = type(part)
    return bool(own.__eq__ is object.__eq__) or label(part) is MISSING


def _of_containers(path: Path, parts: list[Any], containers: list[Any], name: str) -> Iterator[Question]:
    """Yield questions about the length, the members and the elements of containers."""
    sizes = {len(part) for part in containers}
    if len(sizes) > 1:
        yield Question(path, "length", None, f"length of {name}")
    loose = [part for part in containers if len(sizes) > 1 or isinstance(part, AbstractSet)]
    for value in _frequent(value for part in loose for value in members(part) if not is_number(value[1])):
        yield Question(path, "has", value, f"{value[1]!r} in {name}", f"{value[1]!r} not in {name}")
    lists = [part for part in containers if isinstance(part, list | tuple)]
    if any(len(part) > 1 and all(map(is_number, part)) for part in lists):
        yield Question(path, "sum", None, f"sum of {name}")
    keys: list[Any] = list(range(min(max(map(len, lists), default=0), MOST_PLACES)))
    keys += _frequent(key for part in containers if isinstance(part, Mapping) for key in part)
    for key in keys:
        inner = [plain(at(part, key)) for part in parts]
        yield from _questions((*path, key), inner, f"{name}[{key!r}]")


def _frequent(values: Any) -> list[Any]:
    """Return the most frequent values in an order that depends on nothing else."""
    counts = Counter(values)
    return sorted(counts, key=lambda value: (-counts[value], repr(value)))[:MOST_LABELS]


def needed(sides: Sequence[Any]) -> bool:
    """Return True if outputs of these draws need a reader: no arrays of one kind, NaN, or few labels."""
    if not all(isinstance(side, np.ndarray) for side in sides):
        return True
    texts = {side.dtype.kind in "US" for side in sides}
    if len(texts) > 1 or len({side.shape[1:] for side in sides}) > 1:
        return True
    if texts == {True}:
        return sides[0].ndim == 1 and len(np.unique(np.concatenate(sides))) <= MOST_LABELS
    return any(side.dtype.kind == "f" and bool(np.isnan(side).any()) for side in sides)
