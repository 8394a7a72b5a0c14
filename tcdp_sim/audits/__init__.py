"""Audits of privacy claims: lower confidence bounds from a mechanism's outputs alone.

A name is imported when it is used, so that the plug-in for pytest loads nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tcdp_sim.audits.assertion import assert_private
    from tcdp_sim.audits.ledgers import LedgerMechanism
    from tcdp_sim.audits.neighbours import Neighbours, answers, records
    from tcdp_sim.audits.pairs import answer_pairs
    from tcdp_sim.audits.report import AuditReport, WeakAudit
    from tcdp_sim.audits.score_report import ScoreReport
    from tcdp_sim.audits.tradeoff import GaussianDP

_HOMES = {
    "AuditReport": "report",
    "GaussianDP": "tradeoff",
    "LedgerMechanism": "ledgers",
    "Neighbours": "neighbours",
    "ScoreReport": "score_report",
    "WeakAudit": "report",
    "answer_pairs": "pairs",
    "answers": "neighbours",
    "assert_private": "assertion",
    "records": "neighbours",
}

__all__ = [
    "AuditReport",
    "GaussianDP",
    "LedgerMechanism",
    "Neighbours",
    "ScoreReport",
    "WeakAudit",
    "answer_pairs",
    "answers",
    "assert_private",
    "records",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
