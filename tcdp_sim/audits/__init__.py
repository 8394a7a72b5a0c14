"""Audits of privacy claims: lower confidence bounds from a mechanism's outputs alone."""

from tcdp_sim.audits.ledgers import LedgerMechanism
from tcdp_sim.audits.neighbours import Neighbours, answers, records
from tcdp_sim.audits.pairs import answer_pairs
from tcdp_sim.audits.report import AuditReport

__all__ = ["AuditReport", "LedgerMechanism", "Neighbours", "answer_pairs", "answers", "records"]
