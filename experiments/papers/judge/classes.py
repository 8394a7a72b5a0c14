"""The class of a claim: the meaning of its verdict for the paper."""

from enum import StrEnum

from tcdp_sim.experiments.papers.judge.verdict import Verdict


class ClaimClass(StrEnum):
    """The meaning of a verdict for the paper. Each claim declares one, and people review it."""

    HOLDS = "holds"
    CONSISTENT = "consistent"
    OPEN = "open"
    NOT_CHECKABLE = "not checkable"
    FALSE = "false"  # a numbered statement, under its own hypotheses, with a counter-example in ball arithmetic
    PROOF_GAP = "proof gap"  # the statement stands or is open, but a step of its proof does not hold
    HYPOTHESIS_MISSING = "hypothesis missing"  # true where it is meant; the printed domain is too large
    MISPRINT = "misprint"  # a slip that the paper's own other lines settle
    INFORMAL = "informal"  # "roughly", "think of", "informally": a comparison, no verdict
    TEXT_DAMAGED = "text damaged"  # the text at hand does not allow a verdict
    OURS = "ours"  # a sentence of this project, suggested by the paper


MEANINGS = {
    ClaimClass.HOLDS: "the statement holds, for all cases where a proof or a box is named and else on the points tried",
    ClaimClass.CONSISTENT: "an asymptotic statement that agrees with the exact values as far as they were computed",
    ClaimClass.OPEN: "the evidence does not decide",
    ClaimClass.NOT_CHECKABLE: "a definition, or a statement that no computation decides",
    ClaimClass.FALSE: "a numbered statement that fails under its own hypotheses, confirmed in ball arithmetic",
    ClaimClass.PROOF_GAP: "the statement stands or is open, but a step of its proof does not hold",
    ClaimClass.HYPOTHESIS_MISSING: "the statement is true where it is meant, but the printed domain is too large",
    ClaimClass.MISPRINT: "a misprint or slip that other lines of the same paper settle",
    ClaimClass.INFORMAL: "the paper says it informally, so that a comparison is shown and no verdict",
    ClaimClass.TEXT_DAMAGED: "the text at hand is damaged here, so that it cannot be judged",
    ClaimClass.OURS: "a sentence of this project that the paper suggests, and not a statement of the paper",
}
PLAIN = {  # the classes that repeat the verdict, and the only verdict that allows each
    ClaimClass.HOLDS: Verdict.HOLDS,
    ClaimClass.CONSISTENT: Verdict.CONSISTENT,
    ClaimClass.OPEN: Verdict.OPEN,
    ClaimClass.NOT_CHECKABLE: Verdict.NOT_CHECKABLE,
    ClaimClass.FALSE: Verdict.FALSE,
}


def shown_class(declared: ClaimClass, verdict: Verdict, confirmed: bool) -> ClaimClass:
    """Return the class that the page shows: the declared one, or `open` where the verdict does not support it.

    `confirmed` is True if ball arithmetic keeps the two sides of the counter-example apart. A declared class can weaken
    a verdict, because a false sentence may be a misprint. It cannot create one: nothing is `holds` unless the judge
    finds it to hold, and nothing is `false` without a confirmed counter-example.
    """
    if declared not in PLAIN:
        return declared
    supported = PLAIN[declared] is verdict and (declared is not ClaimClass.FALSE or confirmed)
    return declared if supported else ClaimClass.OPEN
