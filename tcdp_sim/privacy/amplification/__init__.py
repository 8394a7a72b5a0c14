"""Privacy amplification by subsampling: the guarantee of a mechanism that runs on a random subsample of its records."""

from tcdp_sim.privacy.amplification.amplify import amplify
from tcdp_sim.privacy.amplification.profiles import amplified_profile, group_delta
from tcdp_sim.privacy.amplification.schemes import SCHEMES, draw_count_probabilities, draw_sizes, inclusion_probability

__all__ = [
    "SCHEMES",
    "amplified_profile",
    "amplify",
    "draw_count_probabilities",
    "draw_sizes",
    "group_delta",
    "inclusion_probability",
]
