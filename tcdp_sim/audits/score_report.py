"""The report of an audit from scores, of independent runs or of one run."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tcdp_sim.audits import band_divergence, claims, rank_bounds
from tcdp_sim.audits.rank_bounds import Events
from tcdp_sim.audits.report import AuditReport, as_json
from tcdp_sim.audits.tradeoff import TradeOff
from tcdp_sim.core.errors import scalar


@dataclass(frozen=True, eq=False)
class ScoreReport(AuditReport):
    """The result of an audit from scores. All of its numbers hold together at its level.

    It has the attributes of `AuditReport`, and these. `trials` is the smaller number of scores, and `toward` is
    "inside" or "outside". `hits` counts the scores inside and outside in the event. For the canaries of one run it
    counts the correct guesses and all guesses, and `violation` is NaN.

    Attributes
    ----------
    sizes : tuple of int
        The numbers of scores inside and outside.
    runs : str
        "many" for scores of independent runs, "one" for the canaries of one run.
    bounds : dict of str to float
        The lower confidence bound on each number in words: epsilon at the delta of the report, mu of Gaussian DP, rho
        of zCDP, and the number that the claim bounds. One run bounds one of them alone.
    events : Events or None
        The events that were counted, with the ends of their probabilities; None for one run.

    Examples
    --------
    >>> import numpy as np
    >>> import tcdp_sim
    >>> from tcdp_sim.audits import GaussianDP
    >>> rng = np.random.default_rng(1)
    >>> report = tcdp_sim.audit_scores(rng.normal(2, 1, 1000), rng.normal(0, 1, 1000), claim=GaussianDP(1.0))
    >>> report.refuted
    True
    >>> 1.5 < report.bounds["mu of Gaussian DP"] < 2
    True
    """

    inputs: ClassVar[tuple[str, str]] = ("inside", "outside")
    sizes: tuple[int, int] = (0, 0)
    runs: str = "many"
    bounds: dict[str, float] = field(default_factory=dict)
    events: Events | None = None

    @property
    def epsilon(self) -> float:
        """The bound on epsilon at the delta of the report, in nats; NaN for one run that bounds another number."""
        return next((bound for words, bound in self.bounds.items() if words.startswith("epsilon")), float("nan"))

    @property
    def rho(self) -> float:
        """The bound on rho: of tCDP if that is claimed, else of zCDP; NaN for one run."""
        return self.bound if self.measure.startswith("rho") else self.bounds.get("rho of zCDP", float("nan"))

    @property
    def mu(self) -> float:
        """The bound on mu of Gaussian DP, NaN for one run that bounds another number."""
        return self.bounds.get("mu of Gaussian DP", float("nan"))

    def epsilon_at(self, delta: float) -> float:
        """Return the lower confidence bound on epsilon at a delta in [0, 1), in nats.

        It holds together with all other numbers of the report. Raises ValueError, also for one run, which has a bound
        at the delta of the report alone.
        """
        if self.events is None:
            raise ValueError("epsilon_at needs scores of independent runs; valid: another audit with delta=")
        delta = scalar("delta", delta, 0, 1, closed=True)
        return bound_on(claims.Measure("epsilon", "epsilon", delta=delta), self.events)

    @property
    def tradeoff(self) -> TradeOff | None:
        """The trade-off curve of the tests of the score, with bands that hold for all of them; None for one run."""
        if self.events is None:
            return None
        favoured = "inside" if not self.toward or self._favours_first else "outside"
        tried = self.events.of_direction(favoured)  # empty if scores were said to be larger on the other side
        return (tried if len(tried.inside) else self.events).tradeoff()

    @property
    def _ground(self) -> str:
        inside, outside = self.sizes
        what = "scores" if self.runs == "many" else "canaries of one run"
        return f"{inside:,} {what} inside and {outside:,} outside"

    @property
    def _sample(self) -> str:
        if self.runs == "one":
            return f"guesses: {self.hits[0]:,} of {self.hits[1]:,} are correct"
        together = "; other thresholds add to the bound" if self.measure.startswith(("rho", "Renyi")) else ""
        sides = zip(self.hits, self.sizes, self.inputs)
        return f"hits: {' and '.join(f'{hits:,} of {size:,} {side}' for hits, size, side in sides)}{together}"

    def _weaknesses(self) -> Iterator[str]:
        if not self.tested:
            yield "all scores are equal: the audit has tested nothing; give scores that tell runs apart"
        elif not self.finds_double:
            yield "the audit could not have found twice the claim: give more scores, or scores that tell more"

    def __str__(self) -> str:
        lines = [self.verdict]
        if self.toward:
            lines.append(f"event: {self.event}; likelier {self.toward}" if self.runs == "many" else self.event)
            lines.append(self._sample)
        if others := [f"{words} >= {bound:.6g}" for words, bound in self.bounds.items() if words != self.measure]:
            lines.append(f"also, all at level {self.level:g} together: {', '.join(others)}")
        return "\n".join([*lines, *self.notes, *self.weaknesses])

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data: NaN as None, infinities as text, and the band of the trade-off curve."""
        curve = self.tradeoff
        band = None if curve is None else {name: each.tolist() for name, each in vars(curve).items()}
        bounds = {words: as_json(bound) for words, bound in self.bounds.items()}
        return super().to_dict() | {"runs": self.runs, "sizes": list(self.sizes), "bounds": bounds, "band": band}


def bound_on(one: claims.Measure, events: Events) -> float:
    """Return the lower bound that all events together show on a number, at least 0."""
    together = band_divergence.bound(one, events) if one.orders else 0.0
    return max(0.0, together, float(rank_bounds.of_each(one, events).max()))
