"""Evidence as it is kept: records of the journal's format that count only for the code and runs that they came from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from tcdp_sim.claims import Evidence, Growth, Point, Proof, Side, Simulated
from tcdp_sim.numerics import Bounds
from tcdp_sim.store import journal

FORMAT = 1


@dataclass(frozen=True)
class Origin:
    """What a record hangs on: id of the claim, or name of the exhibit; budget; digests of the code and of the runs."""

    what: str
    budget: str
    code: str
    runs: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Text that is the same for equal origins alone."""
        return json.dumps([FORMAT, self.what, self.budget, self.code, sorted(self.runs.items())])


class Records:
    """The records in a folder. damaged: stretches that could not be read, whose content counts as missing."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._known: dict[str, Any] = {}
        self._writer: journal.Writer | None = None
        self.damaged = 0
        for _, _, payload in journal.read(folder):
            if payload is None or not self._take(payload):
                self.damaged += 1

    def evidence(self, origin: Origin) -> Evidence | None:
        """The evidence of that origin, if there is any."""
        content = self._known.get(origin.key)
        return None if content is None else _evidence(content)

    def table(self, origin: Origin) -> pd.DataFrame | None:
        """The table of that origin, if there is any."""
        content = self._known.get(origin.key)
        return None if content is None else _table(content)

    def keep(self, origin: Origin, content: Evidence | pd.DataFrame) -> None:
        """Append a record. Raises OSError."""
        plain = _plain_evidence(content) if isinstance(content, Evidence) else _plain_table(content)
        payload = json.dumps({"origin": origin.key, "content": plain}).encode()
        if self._writer is None:
            self._writer = journal.Writer(self._folder)
        self._writer.append(payload)
        self._take(payload)

    def close(self) -> None:
        """All that was kept, onto the disk. Raises OSError."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _take(self, payload: bytes) -> bool:
        """Whether it is a record of this format, which is then known."""
        try:
            record = json.loads(payload)
            self._known[record["origin"]] = record["content"]
        except (ValueError, KeyError, TypeError):
            return False
        return True


def _plain_evidence(evidence: Evidence) -> dict[str, Any]:
    texts = ("measures", "universe", "why", "vacuous", "reason")
    points = [[p.where, p.at.hex(), _plain_side(p.left), _plain_side(p.right)] for p in evidence.points]
    plain = {name: getattr(evidence, name) for name in texts}
    about = {"tolerance": float(evidence.tolerance).hex(), "growth": evidence.growth, "proof": evidence.proof}
    return plain | about | {"points": points}


def _evidence(plain: Mapping[str, Any]) -> Evidence:
    points = [Point(where, _side(left), _side(right), float.fromhex(at)) for where, at, left, right in plain["points"]]
    kept = {name: plain[name] for name in ("measures", "universe", "why", "vacuous", "reason")}
    proof = Proof(plain["proof"]) if plain["proof"] else None
    tolerance = float.fromhex(plain["tolerance"])
    return Evidence(points, proof=proof, tolerance=tolerance, growth=Growth(plain["growth"]), **kept)


def _plain_side(side: Side) -> list[Any]:
    ends = [end.hex() for end in side[:3]]
    return [*ends, float(side.mcse).hex(), int(side.trials)] if isinstance(side, Simulated) else ends


def _side(plain: list[Any]) -> Side:
    lower, estimate, upper = (float.fromhex(end) for end in plain[:3])
    if len(plain) == 3:
        return Bounds(lower, estimate, upper)
    return Simulated(lower, estimate, upper, float.fromhex(plain[3]), int(plain[4]))


def _plain_table(table: pd.DataFrame) -> dict[str, Any]:
    """Column -> [whether it is of numbers, its values]."""
    plain = {}
    for name in table:
        is_number = pd.api.types.is_numeric_dtype(table[name])
        plain[str(name)] = [is_number, [float(x).hex() if is_number else str(x) for x in table[name]]]
    return plain


def _table(plain: Mapping[str, Any]) -> pd.DataFrame:
    return pd.DataFrame({k: [float.fromhex(x) for x in v] if n else list(v) for k, (n, v) in plain.items()})
