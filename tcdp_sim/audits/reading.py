"""Outputs of any kind as columns of numbers, with words for each column.

A `Reader` is plain data: a list of questions about an output and its parts. It is made from a pilot (`layout.py`) and
sent to workers. An output that no pilot has shown gets an answer to every question too.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from tcdp_sim.audits.outputs import NUMBERS, Raised
from tcdp_sim.core.arrays import Floats


class _Missing:
    """The part that an output does not have."""

    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()
Path = tuple[Hashable, ...]  # the keys and places that lead from an output to a part of it


@dataclass(frozen=True)
class Question:
    """A question about a part of an output, whose answer is a number.

    - path: the keys and places that lead to the part.
    - kind: "number", "sum", "length", "nan", "is", "has" or "present".
    - value: the label that the part is or has.
    - words, opposite: the question in words. A yes or no has an opposite, a number has none.
    """

    path: Path
    kind: str
    value: Any
    words: str
    opposite: str = ""

    def answers(self, parts: Sequence[Any]) -> Floats:
        """Return the answer for each part, shape (trials,); a part that has none gives -inf, or no."""
        one = _ANSWERS[self.kind]
        return np.array([one(part, self.value) for part in parts], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Reader:
    """A table of outputs: one column for each question."""

    questions: tuple[Question, ...]

    def __call__(self, outputs: Any) -> Floats:
        """Return the answers for each output, shape (trials, questions)."""
        if isinstance(outputs, np.ndarray) and outputs.ndim == 1 and outputs.dtype.kind in "US":
            different, which = np.unique(outputs, return_inverse=True)
            return self(different.tolist())[which]
        parts: dict[Path, Sequence[Any]] = {(): [plain(output) for output in outputs]}
        columns = [question.answers(_parts(question.path, parts)) for question in self.questions]
        return np.stack(columns, axis=1) if columns else np.zeros((len(outputs), 0))


@dataclass(frozen=True, eq=False)
class Regular:
    """Outputs of one shape and type, which need no reader.

    Texts are cut to the length of the pilot's longest. An output of another kind, such as an exception that no pilot
    has shown, counts as -inf in all its numbers, or as an empty text.
    """

    shape: tuple[int, ...]
    dtype: str

    def __call__(self, outputs: Any) -> Any:
        """Return the outputs as an array without NaN, which counts as -inf."""
        if isinstance(outputs, np.ndarray) and outputs.shape[1:] == self.shape and self._fits(outputs.dtype):
            if outputs.dtype.kind in "US":
                return outputs.astype(self.dtype)
            nan = outputs.dtype.kind == "f" and np.isnan(outputs).any()
            return np.where(np.isnan(outputs), -np.inf, outputs) if nan else outputs
        texts = np.dtype(self.dtype).kind in "US"
        found = np.full((len(outputs), *self.shape), "" if texts else -np.inf, self.dtype if texts else np.float64)
        for place, output in enumerate(outputs):
            one = np.asarray(output) if isinstance(output, (str, bytes, list, tuple, np.ndarray, *NUMBERS)) else None
            if one is not None and one.shape == self.shape and self._fits(one.dtype):
                found[place] = one
        return found if texts else np.where(np.isnan(found), -np.inf, found)

    def _fits(self, dtype: Any) -> bool:
        return (dtype.kind in "US") == (np.dtype(self.dtype).kind in "US") and dtype.kind in "biufUS"


def plain(output: Any) -> Any:
    """Return an output in plain containers: frames, series, records and dataclasses as dicts, arrays as lists."""
    if isinstance(output, np.ndarray | np.generic):
        return output.tolist()
    if type(output).__module__.split(".")[0] == "pandas" and hasattr(output, "iloc"):
        return _of_frame(output)
    if isinstance(output, Raised):
        return output
    if is_dataclass(output) and not isinstance(output, type):
        return {field.name: getattr(output, field.name) for field in fields(output)}
    if isinstance(output, tuple) and hasattr(output, "_asdict"):
        return output._asdict()
    return output


def _of_frame(output: Any) -> Any:
    """Return a series with labels as a dict, another one as a list; a frame as a dict of columns, or of its rows."""
    labelled = type(output.index).__name__ != "RangeIndex" and output.index.is_unique
    if not hasattr(output, "columns"):
        return dict(zip(output.index.tolist(), output.tolist())) if labelled else output.tolist()
    if labelled:
        return {label: dict(zip(output.columns, row)) for label, row in zip(output.index.tolist(), _row_list(output))}
    texts = [name for name in output.columns if output[name].dtype.kind not in "biuf"]
    if len(texts) == 1 and output[texts[0]].is_unique and len(output.columns) > 1:
        return _of_frame(output.set_index(texts[0]))
    return {name: output[name].tolist() for name in output.columns}


def _row_list(frame: Any) -> list[Any]:
    return list(zip(*(frame[name].tolist() for name in frame.columns))) or [()] * len(frame)


def _parts(path: Path, known: dict[Path, Sequence[Any]]) -> Sequence[Any]:
    """Return the part of each output at a path."""
    if path not in known:
        key = path[-1]
        known[path] = [plain(at(part, key)) for part in _parts(path[:-1], known)]
    return known[path]


def at(part: Any, key: Hashable) -> Any:
    """Return the value at a key of a dict or at a place of a list or tuple, or MISSING."""
    if isinstance(part, Mapping):
        return part.get(key, MISSING)
    if isinstance(part, list | tuple) and isinstance(key, int) and key < len(part):
        return part[key]
    return MISSING


def is_number(part: Any) -> bool:
    """Return True for a number that is no truth value."""
    return isinstance(part, NUMBERS) and not isinstance(part, bool | np.bool_)


def label(part: Any) -> Any:
    """Return a part as a label: itself with its type if it is hashable, else MISSING."""
    if part is MISSING or not isinstance(part, Hashable):
        return MISSING
    try:
        hash(part)
    except TypeError:  # a tuple with a list
        return MISSING
    return (type(part).__name__, part)


def members(part: Any) -> Iterable[Any]:
    """Return the labels that a list, tuple or set contains, without repetition."""
    return {label(each) for each in part} - {MISSING} if isinstance(part, list | tuple | AbstractSet) else ()


def _number(part: Any, _: Any) -> float:
    return float(part) if isinstance(part, NUMBERS) and part == part else -np.inf


def _sum(part: Any, _: Any) -> float:
    total = sum(map(float, part)) if isinstance(part, list | tuple) and all(map(is_number, part)) else -np.inf
    return total if total == total else -np.inf


_ANSWERS: dict[str, Callable[[Any, Any], float]] = {
    "number": _number,
    "sum": _sum,
    "length": lambda part, _: float(len(part)) if isinstance(part, Sized) else -np.inf,
    "nan": lambda part, _: float(is_number(part) and part != part),
    "is": lambda part, value: float(label(part) == value),
    "has": lambda part, value: float(value in members(part)),
    "present": lambda part, _: float(part is not MISSING),
}
