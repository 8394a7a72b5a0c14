"""Accounting for lists of unequal releases: exact epsilon and delta, Renyi divergences, trade-offs and attack risks.

A name is imported when it is used, so that a part of the package does not load all of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tcdp_sim.accounting.chosen import Chosen
    from tcdp_sim.accounting.count_releases import CountReleases, counts_ledger
    from tcdp_sim.accounting.filters import Filter
    from tcdp_sim.accounting.grids import ledger_grid
    from tcdp_sim.accounting.ledger import Ledger
    from tcdp_sim.accounting.odometer import Odometer
    from tcdp_sim.accounting.planning.plan import plan_budget
    from tcdp_sim.accounting.planning.result import BudgetPlan
    from tcdp_sim.accounting.planning.selections import QuantileTarget, SelectionTarget
    from tcdp_sim.accounting.planning.targets import CountTarget, DeviationTarget, Target
    from tcdp_sim.accounting.releases.additive import Additive
    from tcdp_sim.accounting.releases.allocated import Allocated
    from tcdp_sim.accounting.releases.bounded_range import BoundedRange, BoundedRangePair, PermuteAndFlip
    from tcdp_sim.accounting.releases.claimed import Claimed
    from tcdp_sim.accounting.releases.distributions import Distributions
    from tcdp_sim.accounting.releases.matrix import MatrixMechanism
    from tcdp_sim.accounting.releases.mixtures import MixturePair
    from tcdp_sim.accounting.releases.randomised_response import RandomisedResponse
    from tcdp_sim.accounting.releases.release import Release
    from tcdp_sim.accounting.releases.sampled import Sampled
    from tcdp_sim.accounting.releases.shuffled import Shuffled
    from tcdp_sim.accounting.releases.thresholded import Thresholded
    from tcdp_sim.accounting.rho import tight_rho
    from tcdp_sim.accounting.training import TrainingReport, training_noise, training_report
    from tcdp_sim.accounting.variance_factors import variance_factor
    from tcdp_sim.exact.correlated.participations import Cyclic, Fixed, MinSeparation, SameBin
    from tcdp_sim.exact.correlated.strategies import Bands

__all__ = [
    "Additive",
    "Allocated",
    "Bands",
    "BoundedRange",
    "BoundedRangePair",
    "BudgetPlan",
    "Chosen",
    "Claimed",
    "CountReleases",
    "CountTarget",
    "Cyclic",
    "DeviationTarget",
    "Distributions",
    "Filter",
    "Fixed",
    "Ledger",
    "MatrixMechanism",
    "MinSeparation",
    "MixturePair",
    "Odometer",
    "PermuteAndFlip",
    "QuantileTarget",
    "RandomisedResponse",
    "Release",
    "SameBin",
    "Sampled",
    "SelectionTarget",
    "Shuffled",
    "Target",
    "Thresholded",
    "TrainingReport",
    "counts_ledger",
    "ledger_grid",
    "plan_budget",
    "tight_rho",
    "training_noise",
    "training_report",
    "variance_factor",
]

_HOMES = {  # module -> its public names
    "tcdp_sim.accounting.chosen": "Chosen",
    "tcdp_sim.accounting.count_releases": "CountReleases counts_ledger",
    "tcdp_sim.accounting.filters": "Filter",
    "tcdp_sim.accounting.grids": "ledger_grid",
    "tcdp_sim.accounting.ledger": "Ledger",
    "tcdp_sim.accounting.odometer": "Odometer",
    "tcdp_sim.accounting.planning.plan": "plan_budget",
    "tcdp_sim.accounting.planning.result": "BudgetPlan",
    "tcdp_sim.accounting.planning.selections": "QuantileTarget SelectionTarget",
    "tcdp_sim.accounting.planning.targets": "CountTarget DeviationTarget Target",
    "tcdp_sim.accounting.releases.additive": "Additive",
    "tcdp_sim.accounting.releases.allocated": "Allocated",
    "tcdp_sim.accounting.releases.bounded_range": "BoundedRange BoundedRangePair PermuteAndFlip",
    "tcdp_sim.accounting.releases.claimed": "Claimed",
    "tcdp_sim.accounting.releases.distributions": "Distributions",
    "tcdp_sim.accounting.releases.matrix": "MatrixMechanism",
    "tcdp_sim.accounting.releases.mixtures": "MixturePair",
    "tcdp_sim.accounting.releases.randomised_response": "RandomisedResponse",
    "tcdp_sim.accounting.releases.release": "Release",
    "tcdp_sim.accounting.releases.sampled": "Sampled",
    "tcdp_sim.accounting.releases.shuffled": "Shuffled",
    "tcdp_sim.accounting.releases.thresholded": "Thresholded",
    "tcdp_sim.accounting.rho": "tight_rho",
    "tcdp_sim.accounting.training": "TrainingReport training_noise training_report",
    "tcdp_sim.accounting.variance_factors": "variance_factor",
    "tcdp_sim.exact.correlated.participations": "Cyclic Fixed MinSeparation SameBin",
    "tcdp_sim.exact.correlated.strategies": "Bands",
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
