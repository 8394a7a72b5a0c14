"""Noise distributions by name. The modules of this folder define the families.

A name is imported when it is used, so that a part of the package does not load all of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tcdp_sim.noise.base import Noise

if TYPE_CHECKING:
    from tcdp_sim.noise.arsinh_normal import ArsinhNormal
    from tcdp_sim.noise.discrete import DiscreteNoise
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

    #: The noise families of the package, by name.
    FAMILIES: dict[str, type[Noise]]

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

_HOMES = {  # module -> its public names
    "tcdp_sim.noise.arsinh_normal": "ArsinhNormal",
    "tcdp_sim.noise.discrete": "DiscreteNoise",
    "tcdp_sim.noise.discrete_gaussian": "DiscreteGaussian",
    "tcdp_sim.noise.discrete_laplace": "DiscreteLaplace",
    "tcdp_sim.noise.dithered": "Dithered",
    "tcdp_sim.noise.dithered_lattice": "DitheredLattice",
    "tcdp_sim.noise.exponential_polylogarithmic": "ExponentialPolylogarithmic",
    "tcdp_sim.noise.gaussian": "Gaussian",
    "tcdp_sim.noise.generalized_gaussian": "GeneralizedGaussian",
    "tcdp_sim.noise.laplace": "Laplace",
    "tcdp_sim.noise.laplace_log_normal": "LaplaceLogNormal",
    "tcdp_sim.noise.lattice": "LatticeNoise",
    "tcdp_sim.noise.objectives": "Objective",
    "tcdp_sim.noise.rounded_families": "RoundedGaussian RoundedLaplace RoundedSinhNormal RoundedSinhSquared",
    "tcdp_sim.noise.sinh_normal": "SinhNormal",
    "tcdp_sim.noise.sinh_squared": "SinhSquared",
    "tcdp_sim.noise.student_t": "StudentT",
    "tcdp_sim.noise.truncated_laplace": "TruncatedLaplace",
    "tcdp_sim.noise.uniform_log_normal": "UniformLogNormal",
}


def __getattr__(name: str) -> Any:
    if name == "FAMILIES":
        return _families()
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _families() -> dict[str, type[Noise]]:
    """Return the classes by the names of their families, and keep them."""
    from tcdp_sim.core import registry

    found: dict[str, type[Noise]] = registry.defined(__name__, Noise, "family")
    globals()["FAMILIES"] = found
    return found
