"""Trials by which code, data and environment show themselves: whoever goes on with a sweep must draw them again.

They stand in the head of each journal file, so that parts and resumes are compared. A worker repeats the driver's
trials before its first task. They reveal what no source shows: a data file, the environment, a library.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tcdp_sim.core.streams import fingerprint, generator
from tcdp_sim.store import provenance

if TYPE_CHECKING:
    from tcdp_sim.mechanisms.base import Draws
    from tcdp_sim.mechanisms.functions import Call

KEY = "shown"  # of a head
CLOSE = 1e-9  # relative distance of two numbers that differ by their last bits
Head = Mapping[str, Any]


@cache
def numerics() -> str:
    """Return what the last bits of this process depend on: elementary functions, linear algebra and its threads."""
    return _numerics(fingerprint(), provenance.blas())


def _numerics(functions: Any, libraries: Any) -> str:
    return json.dumps([functions, sorted(json.dumps(each, sort_keys=True) for each in libraries)])


@dataclass(frozen=True, eq=False)
class Shown:
    """Some trials of a point, drawn from one of its streams by a process with these `numerics`."""

    point: Mapping[str, Any]
    seed: int
    stream: str
    draws: "Draws"
    numerics: str = field(default_factory=numerics)

    @property
    def where(self) -> str:
        """Words that name the point, "" for a sweep without axes."""
        words = " ".join(f"{axis}={value}" for axis, value in self.point.items())
        return f" at {words}" if words else ""

    def repeats(self, call: "Call") -> bool:
        """Return True if this process draws the same numbers. Raises what the function raises."""
        trials = len(next(iter(self.draws.values())))
        found = call(generator(self.seed, self.stream, 0), trials, self.point)
        return self.equals(Shown(self.point, self.seed, self.stream, found))

    def equals(self, other: "Shown") -> bool:
        """Return True for the same numbers: the same bits, or with other numerics all but the last of them."""
        close = 0.0 if self.numerics == other.numerics else CLOSE
        return self.draws.keys() == other.draws.keys() and all(
            np.array_equal(values, other.draws[name])  # takes a tenth of the time
            or (values.shape == other.draws[name].shape and np.allclose(values, other.draws[name], close, 0, True))
            for name, values in self.draws.items()
        )

    @property
    def plain(self) -> dict[str, Any]:
        """The trials as plain data. Every number is written as a float64."""
        draws = {name: base64.b64encode(values.astype("<f8").tobytes()).decode() for name, values in self.draws.items()}
        return {"point": dict(self.point), "seed": str(self.seed), "stream": self.stream, "draws": draws}


def of_head(head: Head) -> Iterator[Shown]:
    """Yield the trials that a head shows."""
    for each in head.get(KEY, ()):
        draws = {name: np.frombuffer(base64.b64decode(text), "<f8") for name, text in each["draws"].items()}
        theirs = _numerics(head.get("numerics_fingerprint"), head.get("blas", ()))
        yield Shown(each["point"], int(each["seed"]), each["stream"], draws, theirs)


def joined(heads: Iterable[Head]) -> dict[str, Any]:
    """Return the part of a head that shows all trials of these heads, each once."""
    every = {json.dumps(each, sort_keys=True): each for head in heads for each in head.get(KEY, ())}
    return {KEY: list(every.values())}


def disagreeing(heads: Iterable[Head], repeated: Callable[[Shown], bool]) -> list[Head]:
    """Return the heads with trials that are not repeated. Trials that several heads show are repeated once."""
    known: dict[str, bool] = {}

    def is_known(each: Shown) -> bool:
        key = json.dumps([each.plain, each.numerics], sort_keys=True)
        if key not in known:
            known[key] = repeated(each)
        return known[key]

    return [head for head in heads if not all(map(is_known, of_head(head)))]


def contradicting(heads: Iterable[Head]) -> tuple[Head, Head, Shown] | None:
    """Return two heads with different trials of one point and stream, and the second's trials; None if all agree."""
    first: dict[str, tuple[Head, Shown]] = {}
    for head in heads:
        for shown in of_head(head):
            key = json.dumps([shown.point, str(shown.seed), shown.stream], sort_keys=True)
            other, before = first.setdefault(key, (head, shown))
            if not shown.equals(before):
                return other, head, shown
    return None
