"""A user's own function of a generator and of the axes, as a mechanism that a sweep simulates."""

from tcdp_sim.mechanisms.functions.calls import Call, calling, listed
from tcdp_sim.mechanisms.functions.mechanism import NAME, UserFunction, at, law_of, needs_code, point_text, shipped

__all__ = ["NAME", "Call", "UserFunction", "at", "calling", "law_of", "listed", "needs_code", "point_text", "shipped"]
