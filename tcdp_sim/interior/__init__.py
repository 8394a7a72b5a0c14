"""Interior points of private data over ordered domains of any size, and what is made of them: medians, quantiles, CDFs.

Source: Bun-Dwork-Rothblum-Steinke 2018, Section 5.3 (Problem 24, Theorem 25), worked out: constants, ledgers, proofs.
Neighbours substitute one record; the number of records n is public. Weights and depths are in records.
"""

from tcdp_sim.interior.budget import best_split, ledger, parts, recipe, recommended_split
from tcdp_sim.interior.profile import LevelProfile
from tcdp_sim.interior.queries import Answer, private_cdf, private_interior_point, private_quantiles
from tcdp_sim.interior.records import Records
from tcdp_sim.interior.release import Draws, Recipe, outputs, sample
from tcdp_sim.interior.requirement import required_n, tcdp_least_n, thresholds, zcdp_least_n
from tcdp_sim.interior.shapes import SHAPES, hard_data

__all__ = [
    "SHAPES",
    "Answer",
    "Draws",
    "LevelProfile",
    "Recipe",
    "Records",
    "best_split",
    "hard_data",
    "ledger",
    "outputs",
    "parts",
    "private_cdf",
    "private_interior_point",
    "private_quantiles",
    "recipe",
    "recommended_split",
    "required_n",
    "sample",
    "tcdp_least_n",
    "thresholds",
    "zcdp_least_n",
]
