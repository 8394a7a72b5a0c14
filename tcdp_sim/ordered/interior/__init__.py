"""Private interior points over an ordered domain of any size.

Source: Bun-Dwork-Rothblum-Steinke 2018 [BDRS18], Section 5.3 (Problem 24, Theorem 25). The package adds constants,
ledgers and proofs. Neighbours substitute one record; the number of records n is public. Weights and depths are in
records.
"""

from tcdp_sim.ordered.interior.budget import split_budget
from tcdp_sim.ordered.interior.level_profile import LevelProfile
from tcdp_sim.ordered.interior.lower_bounds import tcdp_least_n, zcdp_least_n
from tcdp_sim.ordered.interior.records_needed import required_records
from tcdp_sim.ordered.interior.release import sample

__all__ = [
    "LevelProfile",
    "required_records",
    "sample",
    "split_budget",
    "tcdp_least_n",
    "zcdp_least_n",
]
