"""The assertion that a mechanism keeps its claim, for tests: it fails if two independent audits refute the claim."""

from collections.abc import Callable
from typing import Any

from tcdp_sim.audits import arguments, repeated, run
from tcdp_sim.audits.report import AuditReport
from tcdp_sim.core.errors import UserError, whole
from tcdp_sim.core.log import Tell
from tcdp_sim.privacy import Guarantee

SECOND = 1 << 64  # added to the seed of the second audit, so that no random stream is used twice


def assert_private(
    mechanism: Callable[..., Any],
    claim: Guarantee,
    *,
    neighbours: Any,
    seconds: float = 20.0,
    level: float = 0.999,
    seed: int = 0,
    tell: Tell = lambda _: None,
) -> AuditReport:
    """Raise AssertionError if two independent audits refute the privacy claim of a mechanism.

    In pytest, use the fixture of the same name, which the package brings. Each audit errs with a probability of at most
    1 - level, so a true claim fails with a probability of at most (1 - level)^2: 1e-6 by default.

    Parameters
    ----------
    mechanism : callable
        A function (data, rng, trials) or (data, rng), as for `tcdp_sim.audit`.
    claim : Guarantee
        The guarantee that the mechanism claims.
    neighbours : Neighbours or list of (data, other)
        The neighbouring inputs, as for `tcdp_sim.audit`.
    seconds : float
        The time of the first audit. A second one of the same length follows only if the first refutes the claim.
    level : float
        The confidence level of each audit, in (0, 1).
    seed : int
        Seed of the random numbers, from 0 to 2^64 - 1. Another seed draws other outputs.
    tell : callable
        Receives each notice of the audits as a line.

    Returns
    -------
    AuditReport
        The report of the audit that did not refute the claim.

    Raises
    ------
    AssertionError
        If both audits refute the claim, with the event, the counts, and a script that repeats the audit.

    Warns
    -----
    WeakAudit
        If the audit has tested nothing, has tried ordinary records alone, or could not have found twice the claim. The
        summary of pytest shows it.

    Examples
    --------
    >>> from tcdp_sim.audits import assert_private, records
    >>> from tcdp_sim.privacy import PureDP
    >>> def count(data, rng, trials):
    ...     return len(data) + rng.laplace(0, 1, trials)
    >>> report = assert_private(count, PureDP(1.0), neighbours=records([1, 2, 3], domain=[9]), seconds=2)
    >>> report.refuted
    False
    """
    __tracebackhide__ = True
    reports = audited(mechanism, claim, neighbours, seconds, level, seed, tell)
    return passed(mechanism, reports, stacklevel=4)


def audited(
    mechanism: Callable[..., Any],
    claim: Guarantee,
    neighbours: Any,
    seconds: float,
    level: float,
    seed: int,
    tell: Tell,
) -> list[AuditReport]:
    """Return the report of an audit, and that of a second one if the first refutes the claim. Raises UserError."""
    __tracebackhide__ = True
    reports = []
    try:
        seed = whole("seed", seed, 0, SECOND - 1)
        for each in (seed, seed + SECOND):
            given = (mechanism, neighbours, claim, None, seconds, level, each, "output", True, False, None, "results")
            report = run.run(arguments.checked(*given), "serial", tell)
            reports.append(report)
            if not report.refuted:
                break
    except ValueError as mistake:
        raise UserError(str(mistake)) from None  # so that a test shows its own lines and no others
    return reports


def passed(mechanism: Callable[..., Any], reports: list[AuditReport], stacklevel: int) -> AuditReport:
    """Return the last report, with a warning if it is weak. Raises AssertionError if it refutes the claim."""
    __tracebackhide__ = True
    if reports[-1].refuted:
        raise AssertionError(failure(mechanism, *reports))
    reports[-1].warn(stacklevel)
    return reports[-1]


def failure(mechanism: Callable[..., Any], first: AuditReport, second: AuditReport) -> str:
    """Return the message of a failed assertion: both reports, and a script that repeats the first audit."""
    refuted = f"two independent audits refute the claim {first.claimed}"
    shown = f"{first.measure} >= {first.bound:.6g} and {second.bound:.6g}"
    lines = [f"{refuted}: {shown} (false alarm: at most {(1 - first.level) ** 2:.0e})", str(first)]
    return "\n".join([*lines, f"the second audit: {second.verdict}", "", *repeated.script(mechanism, first)])
