"""The outputs of a mechanism: one array where they are alike, else a list of objects; exceptions are outputs too."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tcdp_sim.core.exits import ended
from tcdp_sim.core.texts import printable, said

NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


@dataclass(frozen=True)
class Raised:
    """An exception that a mechanism raised in place of an output. Equal if the types have the same name.

    `message` is the first one seen, for people.
    """

    name: str
    message: str = field(default="", compare=False)

    def __repr__(self) -> str:
        return f"raised {self.name}"


@dataclass(frozen=True, eq=False)
class Caught:
    """A sampler whose exceptions are outputs (`Raised`).

    If a call for many trials fails, each trial gets a call of its own, because a claim is about single outputs.
    """

    sampler: Callable[[Any, np.random.Generator, int], Any]

    def __call__(self, data: Any, rng: np.random.Generator, trials: int) -> Any:
        try:
            return self.sampler(data, rng, trials)
        except Exception as problem:  # a mechanism may raise anything
            if trials == 1:
                return [raised(problem)]
            return [self(data, rng, 1)[0] for _ in range(trials)]


@dataclass(frozen=True, eq=False)
class OneByOne:
    """A mechanism (data, rng) -> one output as a sampler, which calls it once for each trial.

    `catches` makes exceptions outputs.
    """

    mechanism: Callable[[Any, np.random.Generator], Any]
    catches: bool = False

    def __call__(self, data: Any, rng: np.random.Generator, trials: int) -> list[Any]:
        return [self._one(data, rng) for _ in range(trials)]

    def _one(self, data: Any, rng: np.random.Generator) -> Any:
        if not self.catches:
            return self.mechanism(data, rng)
        try:
            return self.mechanism(data, rng)
        except Exception as problem:  # a mechanism may raise anything
            return raised(problem)


def raised(problem: BaseException) -> Raised:
    """Return an exception as an output."""
    return Raised(type(problem).__name__, printable(" ".join(said(problem).split())))


def called(sampler: Callable[..., Any], data: Any, rng: np.random.Generator, trials: int) -> Any:
    """Return the outputs of a sampler, as `alike` gives them. Raises ValueError for another number of outputs.

    Warnings of the mechanism do not concern the audit.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return alike(sampler(data, rng, trials), trials)
        except (SystemExit, KeyboardInterrupt) as stop:
            raise ended(stop, "the mechanism") from stop


def alike(outputs: Any, trials: int) -> Any:
    """Return outputs as an array with the first axis for trials, or as a list of objects if they are not alike.

    A dict of columns and a frame give one dict for each trial. Raises ValueError for another number of outputs.
    """
    if isinstance(outputs, Mapping):
        outputs = _rows({name: list(column) for name, column in outputs.items()}, trials)
    elif type(outputs).__module__.split(".")[0] == "pandas":
        outputs = outputs.to_dict("records") if hasattr(outputs, "columns") else outputs.to_list()
    elif isinstance(outputs, np.ndarray) and outputs.dtype.kind in "biufUS" and outputs.ndim:
        return _checked(outputs, trials)
    elif isinstance(outputs, np.ndarray) and outputs.ndim:
        outputs = list(outputs)
    if not isinstance(outputs, list):
        raise ValueError(f"the output is of type {type(outputs).__name__}; valid: {trials} outputs, one for each trial")
    if len(outputs) != trials:
        raise ValueError(f"there are {len(outputs)} outputs; valid: {trials}, one for each trial")
    return _checked(np.array(outputs), trials) if regular(outputs) else outputs


def _rows(columns: dict[Any, list[Any]], trials: int) -> list[dict[Any, Any]]:
    """Return one dict for each trial. Raises ValueError unless all columns have as many values."""
    if not columns or any(len(column) != trials for column in columns.values()):
        raise ValueError(f"a column of the outputs has another length; valid: {trials}, one value for each trial")
    return [dict(zip(columns, values)) for values in zip(*columns.values())]


def regular(outputs: list[Any]) -> bool:
    """Return True if the outputs fit one array as they are: all numbers, all texts, or rows of these."""
    kinds = {_kind(output) for output in outputs}
    return len(kinds) == 1 and kinds != {None}


def _kind(output: Any) -> Any:
    """Return the kind of an output, which others must have to share an array, or None."""
    if isinstance(output, NUMBERS):
        return float
    if isinstance(output, str | bytes):
        return type(output)
    if isinstance(output, np.ndarray):
        return ("array", output.shape, output.dtype.kind in "biuf") if output.dtype.kind in "biufUS" else None
    if isinstance(output, list | tuple) and len(output) and type(output) in (list, tuple):
        inner = {_kind(each) for each in output}
        return ("row", len(output), *inner) if inner in ({float}, {str}) else None
    return None


def _checked(outputs: Any, trials: int) -> Any:
    """Return an array of outputs. Raises ValueError unless there is one for each trial."""
    if len(outputs) != trials or outputs.size == 0:
        raise ValueError(f"outputs have shape {outputs.shape}; valid: ({trials}, ...), one for each trial")
    if outputs.dtype.kind not in "biufUS":
        raise ValueError(f"outputs are of type {outputs.dtype}; valid: numbers, booleans, texts, or a list of objects")
    return outputs


def joined(blocks: list[Any]) -> Any:
    """Return blocks of outputs one after the other: an array if all are arrays of one shape, else a list."""
    if all(isinstance(block, np.ndarray) for block in blocks):
        kinds = {(block.shape[1:], block.dtype.kind in "US") for block in blocks}
        if len(kinds) == 1:
            return np.concatenate(blocks)
    return [output for block in blocks for output in block]


def same(first: Any, second: Any) -> bool:
    """Return True if two draws of outputs are equal in all bits."""
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return first.dtype == second.dtype and first.tobytes() == second.tobytes()
    return type(first) is type(second) and len(first) == len(second) and all(map(_same, first, second))


def _same(one: Any, other: Any) -> bool:
    """Return True if two outputs are equal, or print alike."""
    try:
        if type(one) is type(other) and bool(np.all(np.asarray(one == other))):
            return True
    except (ValueError, TypeError):  # of containers of arrays
        pass
    return repr(one) == repr(other)
