"""Accounting for lists of unequal releases: exact epsilon and delta, Renyi divergences, trade-offs and attack risks."""

from tcdp_sim.accounting.count_releases import CountReleases, continuous_epsilon, counts_ledger
from tcdp_sim.accounting.filters import Filter
from tcdp_sim.accounting.ledger import Ledger
from tcdp_sim.accounting.odometer import Odometer
from tcdp_sim.accounting.planning.plan import plan_budget
from tcdp_sim.accounting.planning.result import BudgetPlan, PlannedRelease
from tcdp_sim.accounting.planning.selections import QuantileTarget, SelectionTarget
from tcdp_sim.accounting.planning.targets import CountTarget, DeviationTarget, Target
from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.bounded_range import BoundedRange, BoundedRangePair, PermuteAndFlip
from tcdp_sim.accounting.releases.claimed import Claimed
from tcdp_sim.accounting.releases.distributions import Distributions
from tcdp_sim.accounting.releases.randomised_response import RandomisedResponse
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.accounting.releases.sampled import Sampled
from tcdp_sim.accounting.releases.thresholded import Thresholded
from tcdp_sim.accounting.rho import tight_rho
from tcdp_sim.accounting.variance_factor import VarianceFactor, variance_factor

__all__ = [
    "Additive",
    "BoundedRange",
    "BoundedRangePair",
    "BudgetPlan",
    "Claimed",
    "CountReleases",
    "CountTarget",
    "DeviationTarget",
    "Distributions",
    "Filter",
    "Ledger",
    "Odometer",
    "PermuteAndFlip",
    "PlannedRelease",
    "QuantileTarget",
    "RandomisedResponse",
    "Release",
    "Sampled",
    "SelectionTarget",
    "Target",
    "Thresholded",
    "VarianceFactor",
    "continuous_epsilon",
    "counts_ledger",
    "plan_budget",
    "tight_rho",
    "variance_factor",
]
