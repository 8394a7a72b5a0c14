"""Noise distributions, by name."""

from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.gaussian import Gaussian
from tcdp_sim.noise.laplace import Laplace
from tcdp_sim.noise.sinh_normal import SinhNormal
from tcdp_sim.noise.truncated_laplace import TruncatedLaplace

FAMILIES: dict[str, type[Noise]] = {noise.family: noise for noise in (Gaussian, Laplace, TruncatedLaplace, SinhNormal)}

__all__ = ["FAMILIES", "Gaussian", "Laplace", "Noise", "SinhNormal", "TruncatedLaplace"]
