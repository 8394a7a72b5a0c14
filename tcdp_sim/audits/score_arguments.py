"""Validation of the arguments of an audit from scores."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest

from tcdp_sim.audits import claims, stated_curves
from tcdp_sim.audits.claims import Measure
from tcdp_sim.audits.rank_bounds import DIRECTIONS
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import ArgumentError, UserError, scalar, unmasked

RUNS = ("many", "one")
FEWEST_CANARIES = 4
FAIR = 1e-6  # canaries of one run are refused if fair coins are so uneven with at most this probability


@dataclass(frozen=True, eq=False)
class ScoreAudit:
    """The checked arguments of an audit from scores.

    - directions: "inside" if scores may be larger inside, "outside" if they may be larger outside.
    - delta: the delta at which epsilon is bounded.
    - sequential: True if the audit is repeated while scores arrive, which are in the order of their arrival.
    """

    inside: Floats
    outside: Floats
    claim: Any
    measure: Measure
    delta: float
    level: float
    directions: tuple[str, ...]
    runs: str
    sequential: bool

    @property
    def failure(self) -> float:
        """The probability, 1 - level, with which some number of the report may be too large."""
        return 1 - self.level


def checked(
    inside: Any, outside: Any, claim: Any, level: Any, delta: Any, larger: Any, runs: Any, sequential: Any
) -> ScoreAudit:
    """Return the arguments of `tcdp_sim.audit_scores` after checking them. Raises UserError."""
    if larger is not None and larger not in DIRECTIONS:
        raise UserError(f"larger = {larger!r} is not valid; valid: 'inside', 'outside', None for unknown", "larger")
    check_runs(runs)
    if not isinstance(sequential, bool):
        raise UserError(f"sequential = {sequential!r} is not valid; valid: True, False", "sequential")
    if sequential and runs == "one":
        raise UserError("sequential = True is not valid for one run, whose scores are there at once", "sequential")
    claim = stated_curves.of(claim) or claim
    measure = claims.measure(claim)
    try:
        level = scalar("level", level, 0, 1)
        delta = None if delta is None else scalar("delta", delta, 0, 1, closed=True)
    except ValueError as mistake:
        raise UserError(str(mistake)) from None
    if measure.quantity == "epsilon" and claim is not None and delta not in (None, measure.delta):
        raise UserError(f"delta = {delta:g} is not that of the claim {claim}; valid: no delta", "delta")
    scores = _scores("inside", inside), _scores("outside", outside)
    if runs == "one":
        measure = claims.of_one_run(claim, measure, 1 - level)
        _check_canaries(measure, claim, *map(len, scores))
    at = measure.delta if measure.quantity == "epsilon" and delta is None else delta or 0.0
    if claim is None:
        measure = epsilon_at(at)
    sides = DIRECTIONS if larger is None else (larger,)
    return ScoreAudit(*scores, claim, measure, at, level, sides, runs, sequential)


def check_runs(runs: Any) -> None:
    """Raise UserError unless this is "many" or "one"."""
    if runs not in RUNS:
        raise UserError(f"runs = {runs!r} is not valid; valid: 'many', 'one'", "runs")


def epsilon_at(delta: float) -> Measure:
    """Return epsilon at a delta as a number to measure, without a claim."""
    return Measure("epsilon", f"epsilon at delta = {delta:g}" if delta else "epsilon", delta=delta)


def _scores(name: str, values: Any) -> Floats:
    """Return scores as floats of shape (n,), n >= 2. Raises UserError."""
    try:
        unmasked(name, values)
    except ArgumentError as mistake:
        raise UserError(f"{mistake}, and -inf or inf for an output that the mechanism withheld", name) from None
    try:
        array = np.asarray(values)
        scores = array.astype(np.float64) if array.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        scores = None
    if scores is None or scores.ndim != 1 or len(scores) < 2:
        raise UserError(f"{name} is not valid; valid: at least two scores, one number for each run", name)
    if missing := int(np.isnan(scores).sum()):
        valid = "numbers, and -inf or inf for an output that the mechanism withheld"
        raise UserError(f"{name}: {missing:,} of {len(scores):,} scores are missing (NaN); valid: {valid}", name)
    return scores


def _check_canaries(measure: Measure, claim: Any, inside: int, outside: int) -> None:
    """Raise UserError unless these can be canaries of one run and the claim is about epsilon."""
    if measure.quantity not in ("epsilon", "mu", "digits"):
        valid = "valid: PureDP, ApproxDP, GaussianDP, a whole curve, None"
        raise UserError(f"claim = {claim} is not valid for one run, which bounds epsilon or mu; {valid}", "claim")
    canaries = inside + outside
    if canaries < FEWEST_CANARIES:
        raise UserError(f"there are {canaries} canaries; valid: at least {FEWEST_CANARIES}", "inside")
    if binomtest(inside, canaries).pvalue < FAIR:
        valid = "each canary is inside with probability 1/2, by a coin of its own"
        raise UserError(f"{inside:,} of {canaries:,} canaries are inside, which no fair coins give; valid: {valid}")
