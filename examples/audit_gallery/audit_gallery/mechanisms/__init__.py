"""The gallery's mechanisms: callables (data, rng, trials) -> outputs, with exact likelihood ratios if known."""

from audit_gallery.mechanisms.base import Known
from audit_gallery.mechanisms.floating_point import InvertedLaplace, SnappedLaplace
from audit_gallery.mechanisms.geometric import TruncatedGeometric
from audit_gallery.mechanisms.laplace import LaplaceVector, RepeatedLaplace
from audit_gallery.mechanisms.noisy_max import NoisyMaxIndex, NoisyMaxValue
from audit_gallery.mechanisms.rappor import Rappor
from audit_gallery.mechanisms.sparse_vector import FirstValueSearch, NoiselessSearch, SparseVector

__all__ = [
    "FirstValueSearch",
    "InvertedLaplace",
    "Known",
    "LaplaceVector",
    "NoiselessSearch",
    "NoisyMaxIndex",
    "NoisyMaxValue",
    "Rappor",
    "RepeatedLaplace",
    "SnappedLaplace",
    "SparseVector",
    "TruncatedGeometric",
]
