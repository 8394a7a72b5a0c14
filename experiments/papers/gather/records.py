"""Points and tables as stored records, which are valid only for the code and the runs that they came from."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.judge.evidence import Point, Side
from tcdp_sim.statistics.intervals import Simulated
from tcdp_sim.store import journal

FORMAT = 2
Content = tuple[Point, ...] | pd.DataFrame | str  # points of a claim, the table of an exhibit, a drawn figure


@dataclass(frozen=True)
class Origin:
    """The origin of a record: id of the claim or name of the exhibit, budget, digests of the code and of the runs."""

    what: str
    budget: str
    code: str
    runs: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Text that is the same for equal origins alone."""
        return json.dumps([FORMAT, self.what, self.budget, self.code, sorted(self.runs.items())])


class Records:
    """The records in a folder. `damaged` are stretches that are unreadable or not valid; their content is missing."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._known: dict[str, Any] = {}
        self._writer: journal.Writer | None = None
        self.damaged = 0
        for _, _, payload in journal.read(folder):
            if payload is None or not self._take(payload):
                self.damaged += 1

    def get(self, origin: Origin) -> Any:
        """Return the content that was kept under that origin, or None if there is none."""
        return self._known.get(origin.key)

    def keep(self, origin: Origin, content: Content) -> None:
        """Append a record. Raise OSError if it cannot be written."""
        payload = json.dumps({"origin": origin.key, **_plain(content)}).encode()
        if self._writer is None:
            self._writer = journal.Writer(self._folder)
        self._writer.append(payload)
        self._take(payload)

    def close(self) -> None:
        """Write all kept records to disk. Raise OSError if that fails."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _take(self, payload: bytes) -> bool:
        """Return whether it is a valid record, which is then known."""
        try:
            record = json.loads(payload)
            origin = record["origin"]
            content = _content(record)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            return False
        if not isinstance(origin, str):
            return False
        self._known[origin] = content
        return True


def _plain(content: Content) -> dict[str, Any]:
    if isinstance(content, str):
        return {"text": content}
    if isinstance(content, pd.DataFrame):
        return {"table": _plain_table(content)}
    return {"points": [_plain_point(point) for point in content]}


def _plain_point(point: Point) -> list[Any]:
    return [point.where, point.at.hex(), _plain_side(point.left), _plain_side(point.right), *[True] * point.box]


def _content(record: Mapping[str, Any]) -> Content:
    """Return the content of a record. Raise KeyError, ValueError, TypeError or AttributeError if it is not valid."""
    if "text" in record:
        return _text(record["text"])
    return _table(record["table"]) if "table" in record else _points(record["points"])


def _points(plain: Any) -> tuple[Point, ...]:
    """Return the points of a record. Raise ValueError, TypeError or AttributeError if they are not valid."""
    if not isinstance(plain, list):
        raise ValueError("points are no list")
    return tuple(_point(*parts) for parts in plain)


def _point(where: Any, at: Any, left: Any, right: Any, box: Any = False) -> Point:
    if type(box) is not bool:
        raise ValueError("whether a point stands for a box is neither true nor false")
    return Point(_text(where), _side(left), _side(right), float.fromhex(at), box)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a name is no text")
    return value


def _plain_side(side: Side) -> list[Any]:
    ends = [end.hex() for end in side[:3]]
    return [*ends, float(side.mcse).hex(), int(side.trials)] if isinstance(side, Simulated) else ends


def _side(plain: list[Any]) -> Side:
    """Return a side, checked in form and meaning: ordered ends, a standard error >= 0, a trial or more."""
    lower, estimate, upper = (float.fromhex(end) for end in plain[:3])
    if not lower <= estimate <= upper:
        raise ValueError("the ends of a side are not in order")
    if len(plain) == 3:
        return Bounds(lower, estimate, upper)
    mcse, trials = float.fromhex(plain[3]), plain[4]
    if len(plain) != 5 or type(trials) is not int or trials < 1 or not mcse >= 0:
        raise ValueError("a simulated side has no standard error or no trials")
    return Simulated(lower, estimate, upper, mcse, trials)


def _plain_table(table: pd.DataFrame) -> dict[str, Any]:
    """Return column -> [whether it has numbers, its values]."""
    plain = {}
    for name in table:
        is_number = pd.api.types.is_numeric_dtype(table[name])
        plain[str(name)] = [is_number, [float(x).hex() if is_number else str(x) for x in table[name]]]
    return plain


def points_digest(points: Sequence[Point]) -> str:
    """Return a digest of all names, places and ends of points."""
    return hashlib.blake2b(json.dumps(_plain(tuple(points))).encode(), digest_size=16).hexdigest()


def digest_of(table: pd.DataFrame) -> str:
    """Return a digest of all names and values of a table."""
    return hashlib.blake2b(json.dumps(_plain_table(table)).encode(), digest_size=16).hexdigest()


def _table(plain: Mapping[str, Any]) -> pd.DataFrame:
    """Return the table of a record. Raise ValueError, TypeError or AttributeError if it is not valid."""
    return pd.DataFrame({k: [float.fromhex(x) for x in v] if n else list(v) for k, (n, v) in plain.items()})
