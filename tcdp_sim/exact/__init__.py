"""Exact laws of one mechanism, with which the simulations must agree. Every answer is Bounds(lower, estimate, upper).

The one exception is `Estimate`, a simulated number whose interval holds with a confidence level.

The joint privacy of several releases, or of one release on a sample, is the question of `tcdp_sim.accounting`.

A name is imported when it is used, so that a part of the package does not load all of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tcdp_sim.core.estimates import Estimate
    from tcdp_sim.core.numerics import Bounds
    from tcdp_sim.exact.candidates import (
        best_candidate_probabilities,
        best_of_tries,
        divergence_in_worst_order,
        divergence_of_best,
        divergence_of_candidates,
        noisy_best_probabilities,
        permute_and_flip_probabilities,
    )
    from tcdp_sim.exact.extremes import max_abs_quantile, max_abs_sf, max_quantile
    from tcdp_sim.exact.identities import profile_from_losses, renyi_from_profile
    from tcdp_sim.exact.information import mutual_information
    from tcdp_sim.exact.information_of_histograms import histogram_information
    from tcdp_sim.exact.losses.distribution import PrivacyLossDistribution
    from tcdp_sim.exact.mixtures import Mixture, subsampled
    from tcdp_sim.exact.per_record import record_epsilon, record_policy, record_profile, record_renyi
    from tcdp_sim.exact.products import product_loss_sf, product_profile
    from tcdp_sim.exact.profile import hockey_stick
    from tcdp_sim.exact.ranking import spurious_wins_probability, top_stays_probability
    from tcdp_sim.exact.renyi.affine import affine_divergence
    from tcdp_sim.exact.renyi.divergence import renyi_divergence
    from tcdp_sim.exact.renyi.kernels import max_order
    from tcdp_sim.exact.selection.outputs import delta_of_outputs, divergence_of_outputs, selection_distribution
    from tcdp_sim.exact.selection.privacy import output_pair, worst_delta, worst_pairs, worst_renyi
    from tcdp_sim.exact.selection.success import required_gap, selection_failure, selection_probability
    from tcdp_sim.exact.subsampling import equilateral_renyi

__all__ = [
    "Bounds",
    "Estimate",
    "Mixture",
    "PrivacyLossDistribution",
    "affine_divergence",
    "best_candidate_probabilities",
    "best_of_tries",
    "delta_of_outputs",
    "divergence_in_worst_order",
    "divergence_of_best",
    "divergence_of_candidates",
    "divergence_of_outputs",
    "equilateral_renyi",
    "histogram_information",
    "hockey_stick",
    "max_abs_quantile",
    "max_abs_sf",
    "max_order",
    "max_quantile",
    "mutual_information",
    "noisy_best_probabilities",
    "output_pair",
    "permute_and_flip_probabilities",
    "product_loss_sf",
    "product_profile",
    "profile_from_losses",
    "record_epsilon",
    "record_policy",
    "record_profile",
    "record_renyi",
    "renyi_divergence",
    "renyi_from_profile",
    "required_gap",
    "selection_distribution",
    "selection_failure",
    "selection_probability",
    "spurious_wins_probability",
    "subsampled",
    "top_stays_probability",
    "worst_delta",
    "worst_pairs",
    "worst_renyi",
]

_HOMES = {  # module -> its public names
    "tcdp_sim.core.estimates": "Estimate",
    "tcdp_sim.core.numerics": "Bounds",
    "tcdp_sim.exact.candidates": (
        "best_candidate_probabilities best_of_tries divergence_in_worst_order divergence_of_best "
        "divergence_of_candidates noisy_best_probabilities permute_and_flip_probabilities"
    ),
    "tcdp_sim.exact.extremes": "max_abs_quantile max_abs_sf max_quantile",
    "tcdp_sim.exact.information_of_histograms": "histogram_information",
    "tcdp_sim.exact.identities": "profile_from_losses renyi_from_profile",
    "tcdp_sim.exact.information": "mutual_information",
    "tcdp_sim.exact.losses.distribution": "PrivacyLossDistribution",
    "tcdp_sim.exact.mixtures": "Mixture subsampled",
    "tcdp_sim.exact.per_record": "record_epsilon record_policy record_profile record_renyi",
    "tcdp_sim.exact.products": "product_loss_sf product_profile",
    "tcdp_sim.exact.profile": "hockey_stick",
    "tcdp_sim.exact.ranking": "spurious_wins_probability top_stays_probability",
    "tcdp_sim.exact.renyi.affine": "affine_divergence",
    "tcdp_sim.exact.renyi.divergence": "renyi_divergence",
    "tcdp_sim.exact.renyi.kernels": "max_order",
    "tcdp_sim.exact.selection.outputs": "delta_of_outputs divergence_of_outputs selection_distribution",
    "tcdp_sim.exact.selection.privacy": "output_pair worst_delta worst_pairs worst_renyi",
    "tcdp_sim.exact.selection.success": "required_gap selection_failure selection_probability",
    "tcdp_sim.exact.subsampling": "equilateral_renyi",
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
