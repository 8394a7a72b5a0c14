"""Private interior points over an ordered domain of any size.

Source: Bun-Dwork-Rothblum-Steinke 2018, Section 5.3 (Problem 24, Theorem 25). The package adds constants, ledgers and
proofs. Neighbours substitute one record; the number of records n is public. Weights and depths are in records.
"""

from tcdp_sim.interior.budget import best_split, ledger, recommended_split, release_parameters, split_budget
from tcdp_sim.interior.level_profile import LevelProfile
from tcdp_sim.interior.lower_bounds import tcdp_least_n, zcdp_least_n
from tcdp_sim.interior.records_needed import BudgetSplit, required_records, thresholds
from tcdp_sim.interior.release import Draws, ReleaseParameters, released_points, sample

__all__ = [
    "BudgetSplit",
    "Draws",
    "LevelProfile",
    "ReleaseParameters",
    "best_split",
    "ledger",
    "recommended_split",
    "release_parameters",
    "released_points",
    "required_records",
    "sample",
    "split_budget",
    "tcdp_least_n",
    "thresholds",
    "zcdp_least_n",
]
