"""Noise distributions by name. The modules of this folder define the families."""

from tcdp_sim.core import registry
from tcdp_sim.noise.arsinh_normal import ArsinhNormal
from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.discrete import DiscreteNoise, LossAtoms
from tcdp_sim.noise.discrete_gaussian import DiscreteGaussian
from tcdp_sim.noise.discrete_laplace import DiscreteLaplace
from tcdp_sim.noise.dithered import Dithered
from tcdp_sim.noise.dithered_lattice import DitheredLattice
from tcdp_sim.noise.exponential_polylogarithmic import ExponentialPolylogarithmic
from tcdp_sim.noise.gaussian import Gaussian
from tcdp_sim.noise.generalized_gaussian import GeneralizedGaussian
from tcdp_sim.noise.laplace import Laplace
from tcdp_sim.noise.laplace_log_normal import LaplaceLogNormal
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.noise.objectives import Objective
from tcdp_sim.noise.rounded_families import RoundedGaussian, RoundedLaplace, RoundedSinhNormal, RoundedSinhSquared
from tcdp_sim.noise.sinh_normal import SinhNormal
from tcdp_sim.noise.sinh_squared import SinhSquared
from tcdp_sim.noise.student_t import StudentT
from tcdp_sim.noise.truncated_laplace import TruncatedLaplace
from tcdp_sim.noise.uniform_log_normal import UniformLogNormal

FAMILIES: dict[str, type[Noise]] = registry.defined(__name__, Noise, "family")

__all__ = [
    "FAMILIES",
    "ArsinhNormal",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DiscreteNoise",
    "Dithered",
    "DitheredLattice",
    "ExponentialPolylogarithmic",
    "Gaussian",
    "GeneralizedGaussian",
    "Laplace",
    "LaplaceLogNormal",
    "LatticeNoise",
    "LossAtoms",
    "Noise",
    "Objective",
    "RoundedGaussian",
    "RoundedLaplace",
    "RoundedSinhNormal",
    "RoundedSinhSquared",
    "SinhNormal",
    "SinhSquared",
    "StudentT",
    "TruncatedLaplace",
    "UniformLogNormal",
]
