"""Distributed Monte Carlo experiments for differential privacy under truncated concentrated DP.

For notebooks and scripts: run, plan, draw, open_results, simulate (see `tcdp_sim.api`), imported when they are used.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # not from typing: importing this package imports nothing else
if TYPE_CHECKING:
    from tcdp_sim.api import Failure, Plan, UserError, draw, open_results, plan, run, simulate

__all__ = ["Failure", "Plan", "UserError", "draw", "open_results", "plan", "run", "simulate"]


def __getattr__(name: str):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tcdp_sim import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
