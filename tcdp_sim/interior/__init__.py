"""Private interior points over an ordered domain of any size.

Source: Bun-Dwork-Rothblum-Steinke 2018, Section 5.3 (Problem 24, Theorem 25). The package adds constants, ledgers and
proofs. Neighbours substitute one record; the number of records n is public. Weights and depths are in records.
"""

from tcdp_sim.interior.budget import best_split, ledger, parts, recipe, recommended_split
from tcdp_sim.interior.level_profile import LevelProfile
from tcdp_sim.interior.records_needed import required_n, tcdp_least_n, thresholds, zcdp_least_n
from tcdp_sim.interior.release import Draws, Recipe, outputs, sample

__all__ = [
    "Draws",
    "LevelProfile",
    "Recipe",
    "best_split",
    "ledger",
    "outputs",
    "parts",
    "recipe",
    "recommended_split",
    "required_n",
    "sample",
    "tcdp_least_n",
    "thresholds",
    "zcdp_least_n",
]
