"""Distributed Monte Carlo experiments for differential privacy under truncated concentrated DP.

For notebooks and scripts: run, plan, draw, table, distribution, open_results, simulate, sweep, check, audit,
audit_scores (see `tcdp_sim.api`). They are imported when they are used.
"""

from tcdp_sim.core.version import __version__

TYPE_CHECKING = False  # not from typing: importing this package imports nothing else
if TYPE_CHECKING:
    from tcdp_sim.api import (
        AuditReport,
        Contradiction,
        Failure,
        Plan,
        UserError,
        audit,
        audit_scores,
        check,
        distribution,
        draw,
        open_results,
        plan,
        run,
        simulate,
        sweep,
        table,
    )

__all__ = [
    "AuditReport",
    "Contradiction",
    "Failure",
    "Plan",
    "UserError",
    "__version__",
    "audit",
    "audit_scores",
    "check",
    "distribution",
    "draw",
    "open_results",
    "plan",
    "run",
    "simulate",
    "sweep",
    "table",
]


def __getattr__(name: str):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tcdp_sim import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
