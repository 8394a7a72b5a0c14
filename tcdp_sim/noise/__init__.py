"""Noise distributions, by name: the families are what the files of this folder define."""

from tcdp_sim import registry
from tcdp_sim.noise.base import Noise, Objective
from tcdp_sim.noise.exponential_polylogarithmic import ExponentialPolylogarithmic
from tcdp_sim.noise.gaussian import Gaussian
from tcdp_sim.noise.generalized_gaussian import GeneralizedGaussian
from tcdp_sim.noise.laplace import Laplace
from tcdp_sim.noise.sinh_normal import SinhNormal
from tcdp_sim.noise.truncated_laplace import TruncatedLaplace

FAMILIES: dict[str, type[Noise]] = registry.defined(__name__, Noise, "family")

__all__ = [
    "FAMILIES",
    "ExponentialPolylogarithmic",
    "Gaussian",
    "GeneralizedGaussian",
    "Laplace",
    "Noise",
    "Objective",
    "SinhNormal",
    "TruncatedLaplace",
]
