"""Accounting for lists of unequal releases: exact epsilon and delta, Renyi divergences, trade-offs and attack risks."""

from tcdp_sim.accounting.ledger import Ledger
from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.bounded_range import BoundedRange, BoundedRangePair, PermuteAndFlip
from tcdp_sim.accounting.releases.claimed import Claimed
from tcdp_sim.accounting.releases.distributions import Distributions
from tcdp_sim.accounting.releases.randomised_response import RandomisedResponse
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.accounting.releases.sampled import Sampled
from tcdp_sim.accounting.releases.thresholded import Thresholded
from tcdp_sim.accounting.rho import tight_rho

__all__ = [
    "Additive",
    "BoundedRange",
    "BoundedRangePair",
    "Claimed",
    "Distributions",
    "Ledger",
    "PermuteAndFlip",
    "RandomisedResponse",
    "Release",
    "Sampled",
    "Thresholded",
    "tight_rho",
]
