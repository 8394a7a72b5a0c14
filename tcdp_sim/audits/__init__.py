"""Audits of privacy claims: lower confidence bounds from a mechanism's outputs alone."""

from tcdp_sim.audits.ledgers import LedgerMechanism
from tcdp_sim.audits.pairs import answer_pairs
from tcdp_sim.audits.report import AuditReport

__all__ = ["AuditReport", "LedgerMechanism", "answer_pairs"]
