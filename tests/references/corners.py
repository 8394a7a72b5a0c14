"""Examples of all noise families, those of other test files among them, and the values at which functions break."""

import numpy as np
from noise_examples import ALL

from tcdp_sim.noise import FAMILIES
from tcdp_sim.noise.arsinh_normal import ArsinhNormal
from tcdp_sim.noise.dithered_lattice import DitheredLattice
from tcdp_sim.noise.exponential_polylogarithmic import ExponentialPolylogarithmic
from tcdp_sim.noise.generalized_gaussian import GeneralizedGaussian
from tcdp_sim.noise.laplace_log_normal import LaplaceLogNormal
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.noise.student_t import StudentT
from tcdp_sim.noise.uniform_log_normal import UniformLogNormal

TABLE = (-1.0, -1.5, -2.5)
NOISES = [
    *ALL,
    ArsinhNormal(1.0, 0.5),
    ArsinhNormal(1.0, 3.0),
    DitheredLattice(0.0, TABLE, 0.3),
    DitheredLattice(0.5, TABLE, 2.0, scale=3.0),
    ExponentialPolylogarithmic(1.0, 2.0, 5.0, 3.0),
    ExponentialPolylogarithmic(1.0, 1.0, 5.0, 3.5),
    GeneralizedGaussian(1.0, 1.0),
    GeneralizedGaussian(3.0, 0.3),
    GeneralizedGaussian(1.0, 0.02),
    LaplaceLogNormal(1.0, 0.5),
    LaplaceLogNormal(2.0, 5.0),
    LatticeNoise(0.0, TABLE, 0.3),
    LatticeNoise(0.5, TABLE, 2.0),
    StudentT(1.0, 3.0),
    StudentT(1.0, 1.0),
    UniformLogNormal(1.0, 0.5),
    UniformLogNormal(1.0, 3.0),
]
assert {noise.family for noise in NOISES} == set(FAMILIES)

LARGEST = np.finfo(float).max
POINTS = (0.0, -0.0, 5e-324, 1e-308, 1e-300, 1e-16, 1.0, 1e16, 1e154, 1e300, 1e308, LARGEST, np.inf)
POINTS = (*POINTS, *(-x for x in POINTS), np.nan)
CHANCES = (0.0, 5e-324, 1e-308, 1e-300, 1e-17, 0.25, 0.5, 0.75, 1 - 2**-53, 1.0, np.nan, -1.0, 2.0)
LOGS = (-np.inf, -LARGEST, -1e300, -1e10, -745.0, -600.0, -1.0, -1e-17, 0.0)
SHIFTS = (1e-300, 1e-9, 1.0, 1e9, 1e300)
