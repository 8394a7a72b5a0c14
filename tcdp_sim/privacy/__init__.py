"""Definitions of privacy."""

from tcdp_sim.privacy.definitions import TCDP, ZCDP, ApproxDP, Guarantee, PureDP

__all__ = ["TCDP", "ZCDP", "ApproxDP", "Guarantee", "PureDP"]
