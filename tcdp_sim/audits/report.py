"""The report of an audit, for people and for programs."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.texts import in_html
from tcdp_sim.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Scores:
    """The distribution of the scores in the sample that chose the event, for the figure.

    `first` and `second` count each input's outputs in the cells between `edges`.
    """

    words: str
    edges: Floats
    first: Ints
    second: Ints


@dataclass(frozen=True, eq=False)
class AuditReport:
    """The result of an audit, correct at confidence level `level` for everything the audit has tried.

    Attributes
    ----------
    measure : str
        The bounded number in words, such as "epsilon at delta = 1e-05".
    claim : Guarantee or None
        The claimed guarantee.
    level : float
        The confidence level, in (0, 1).
    trials : int
        Outputs of each input that the bound is computed from.
    seed : int
        The seed of all random streams.
    drawn : int
        Outputs of each input in all stages together.
    resumed : int
        How many of these were stored by an earlier call.
    reproducible : bool
        False if the mechanism uses randomness from outside its `rng`.
    notes : tuple of str
        The notices that were printed during the audit.
    folder : Path or None
        The folder with the stored counts.
    bound : float
        The lower confidence bound on `measure`, in nats, at least 0; inf if every value is refuted.
    refuted : bool
        True if the bound exceeds the claim.
    violation : float
        The smallest true value on this event that would have been found about every second time; NaN without a claim.
    pair, pair_index : tuple of ndarray, int
        The two inputs and their place in the list of pairs.
    event : str
        The event in words, or the reason why there is none.
    holds : callable or None
        The event as a function from outputs to booleans; None if the bound comes from a moment.
    toward : str
        The input that makes the event likelier, "first" or "second".
    hits : tuple of int
        Outputs of the first and of the second input in the event, out of `trials` each.
    counts : tuple of ndarray
        The counts in the cells that the bound is computed from, for each input.
    scores : Scores or None
        The distribution of the scores, for the figure.

    Examples
    --------
    >>> import numpy as np
    >>> import tcdp_sim
    >>> from tcdp_sim.privacy import PureDP
    >>> def too_precise(data, rng, trials):
    ...     return data[0] + rng.laplace(0, 1, trials)
    >>> report = tcdp_sim.audit(too_precise, claim=PureDP(0.1), trials=10_000)
    >>> report.refuted
    True
    >>> 0.8 < report.epsilon < 1.0
    True
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
        """The bound on epsilon, NaN if another number is measured."""
        return self.bound if self.measure.startswith("epsilon") else float("nan")

    @property
    def rho(self) -> float:
        """The bound on rho of zCDP or tCDP, NaN if another number is measured."""
        return self.bound if self.measure.startswith("rho") else float("nan")

    @property
    def verdict(self) -> str:
        """One line that says refuted, not refuted or no claim, with the numbers."""
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

    def _repr_html_(self) -> str:
        """Return the report for a notebook."""
        return in_html(str(self).splitlines())

    @property
    def _sample(self) -> str:
        if self.holds is None:
            return f"means of {self.trials:,} outputs of each input"
        return f"hits: {self.hits[0]:,} and {self.hits[1]:,} of {self.trials:,} each"

    def about(self) -> dict[str, Any]:
        """Return the content of `audit.json`: plain data, NaN as None, infinities and bytes as text."""
        sides = None if self.pair is None else [_as_json(np.asarray(side).tolist()) for side in self.pair]
        plain = {name: _as_json(getattr(self, name)) for name in _PLAIN}
        return {**plain, "claim": str(self.claim) if self.claim else None, "verdict": self.verdict, "pair": sides}

    def figure(self) -> "Figure":
        """Return a matplotlib figure of the scores under both inputs, with the event shaded."""
        from tcdp_sim.audits.drawing import figure

        return figure(self)


def _as_json(value: Any) -> Any:
    """Return a value as JSON can hold it."""
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
