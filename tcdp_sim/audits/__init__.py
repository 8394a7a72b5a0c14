"""Audits: is the privacy claim of this mechanism true? Lower confidence bounds from its outputs alone."""

from tcdp_sim.audits.pairs import answer_pairs
from tcdp_sim.audits.report import AuditReport

__all__ = ["AuditReport", "answer_pairs"]
