"""An empirical audit of a selection: a lower confidence bound on epsilon from its outputs on two neighbours."""

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from tcdp_sim.core.errors import real
from tcdp_sim.selection.algorithms import NO_ANSWER, Selection
from tcdp_sim.selection.scores import Scores


class SelectionAudit(NamedTuple):
    """The lower bound on epsilon in nats (0 if nothing is shown), the event that shows it, and its confidence level."""

    epsilon: float
    event: str
    level: float


def audit_selection(
    method: Selection, first: Scores, second: Scores, rng, trials: int, delta: float = 0.0, level: float = 0.95
) -> SelectionAudit:
    """Return a bound that is at most epsilon with probability >= level if `method` is (epsilon, delta)-DP.

    first, second: neighbours, the same candidates with scores that differ by at most the sensitivity; ValueError
    otherwise. Events: every listed candidate, "one of the others", "no answer", and their complements, in both
    directions; each probability has exact (Clopper-Pearson) bounds, at a confidence that covers all of them at once.
    From P[E] >= low and Q[E] <= high follows epsilon >= log((low - delta) / high).
    """
    _check_neighbours(first, second)
    delta, doubt = real("delta", delta, 0, 1, closed=True), 1 - real("level", level, 0, 1)
    outcomes = np.arange(NO_ANSWER, len(first.listed) + 1)
    hits = [(method.select(s, trials, rng=rng)[:, 0][:, None] == outcomes).sum(axis=0) for s in (first, second)]
    (low_p, high_p), (low_q, high_q) = (_bounds(h, trials, doubt / (4 * len(outcomes))) for h in hits)
    best = SelectionAudit(0.0, "none", level)
    names = ["no answer", *(f"candidate {i}" for i in outcomes[1:-1]), "one of the others"]
    for low, high, said in (
        *((low_p, high_q, "{} on the first"), (low_q, high_p, "{} on the second")),
        *((1 - high_p, 1 - low_q, "not {} on the first"), (1 - high_q, 1 - low_p, "not {} on the second")),
    ):
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.log(np.maximum(low - delta, 0) / high)
        i = int(np.argmax(found))
        if found[i] > best.epsilon:
            best = SelectionAudit(float(found[i]), said.format(names[i]), level)
    return best


def _bounds(hits, trials, doubt):
    """Return one-sided Clopper-Pearson bounds, each wrong with probability at most `doubt`."""
    low = np.where(hits == 0, 0.0, betaincinv(np.maximum(hits, 1), trials - hits + 1, doubt))
    high = np.where(hits == trials, 1.0, betaincinv(hits + 1, np.maximum(trials - hits, 1), 1 - doubt))
    return low, high


def _check_neighbours(first: Scores, second: Scores):
    if (len(first.listed), first.others, first.sensitivity) != (len(second.listed), second.others, second.sensitivity):
        raise ValueError("the two score vectors are not neighbours; valid: the same candidates, the same sensitivity")
    change = np.abs(np.append(first.listed - second.listed, first.level - second.level)).max()
    if change > first.sensitivity * (1 + 1e-12):
        raise ValueError(f"a score changes by {change:g}; valid: at most the sensitivity, {first.sensitivity:g}")
