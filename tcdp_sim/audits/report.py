"""What an audit has found, for people and for programs."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Scores:
    """How the scores of the sample that chose lie: counts of each input's outputs in cells; for the figure."""

    words: str
    edges: Floats
    first: Ints
    second: Ints


@dataclass(frozen=True, eq=False)
class AuditReport:
    """What an audit shows, with probability `level` for all that it has tried.

    bound: the lower confidence bound on `measure`, >= 0, inf where every number is refuted; claim, refuted: the
    guarantee, and whether the bound is above it; violation: the smallest true number on this event that would have
    been found about every second time (NaN without a claim). pair, pair_index: the two inputs;
    event: in words, or why none is;
    holds: outputs -> yes or no, where it is an event; toward: which input makes it likelier, "first" or "second";
    hits: outputs of the first and of the second input in it, of `trials` each (cells of a moment: see `counts`);
    drawn: outputs of each input in all stages, of which `resumed` were there already; reproducible: whether the
    mechanism is a function of its rng; notes: what was said on the way; folder: where it is kept.
    """

    measure: str
    claim: Guarantee | None
    level: float
    trials: int
    seed: int
    drawn: int
    resumed: int
    reproducible: bool
    notes: tuple[str, ...]
    folder: Path | None
    bound: float = 0.0
    refuted: bool = False
    violation: float = float("nan")
    pair: tuple[Any, Any] | None = None
    pair_index: int = -1
    event: str = "none"
    holds: Callable[[Any], Any] | None = None
    toward: str = ""
    hits: tuple[int, int] = (0, 0)
    counts: tuple[Any, Any] = ((), ())
    scores: Scores | None = None

    @property
    def epsilon(self) -> float:
        """The bound on epsilon; NaN where another number is measured."""
        return self.bound if self.measure.startswith("epsilon") else float("nan")

    @property
    def rho(self) -> float:
        """The bound on rho of zCDP or tCDP; NaN where another number is measured."""
        return self.bound if self.measure.startswith("rho") else float("nan")

    @property
    def verdict(self) -> str:
        """One line: refuted, not refuted, or no claim; with the numbers."""
        shown = f"{self.measure} >= {self.bound:.6g} at level {self.level:g}"
        if self.claim is None:
            return f"no claim: {shown}"
        if self.refuted:
            return f"{self.claim} is refuted: {shown}"
        least = f"; {self.violation:.4g} or more would have been found" if np.isfinite(self.violation) else ""
        return f"{self.claim} is not refuted: {shown}{least}"

    def __str__(self) -> str:
        lines = [self.verdict]
        if self.pair is not None:
            data, other = (np.array2string(np.asarray(side), threshold=12, precision=6) for side in self.pair)
            lines.append(f"pair {self.pair_index}: {data} and {other}")
            lines.append(f"event: {self.event}; likelier under the {self.toward}")
            lines.append(self._sample)
        return "\n".join([*lines, *self.notes])

    @property
    def _sample(self) -> str:
        if self.holds is None:
            return f"means of {self.trials:,} outputs of each input"
        return f"hits: {self.hits[0]:,} and {self.hits[1]:,} of {self.trials:,} each"

    def about(self) -> dict[str, Any]:
        """What `audit.json` holds: plain data, NaN as None, infinite numbers as "inf" and "-inf", bytes as text."""
        sides = None if self.pair is None else [_as_json(np.asarray(side).tolist()) for side in self.pair]
        plain = {name: _as_json(getattr(self, name)) for name in _PLAIN}
        return {**plain, "claim": str(self.claim) if self.claim else None, "verdict": self.verdict, "pair": sides}

    def figure(self) -> "Figure":
        """The scores' distributions under both inputs, with the event marked."""
        from tcdp_sim.audits.drawing import figure

        return figure(self)


def _as_json(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_as_json(each) for each in value]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return value


_PLAIN: tuple[str, ...] = (
    "measure",
    "bound",
    "refuted",
    "violation",
    "level",
    "trials",
    "pair_index",
    "event",
    "toward",
    "hits",
)
_PLAIN += ("drawn", "seed", "reproducible", "notes")
