"""The table of examples on which every noise family is tested. An entry here is all that a new family needs.

Each family has at least two scalar examples, which should cover its regimes; the tests stack them into
array-valued parameters as well. Its oracle stands in noise_references.py.
"""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.noise import (
    ArsinhNormal,
    DiscreteGaussian,
    DiscreteLaplace,
    DitheredLattice,
    ExponentialPolylogarithmic,
    Gaussian,
    GeneralizedGaussian,
    Laplace,
    LaplaceLogNormal,
    LatticeNoise,
    Noise,
    RoundedGaussian,
    RoundedLaplace,
    RoundedSinhNormal,
    RoundedSinhSquared,
    SinhNormal,
    SinhSquared,
    StudentT,
    TruncatedLaplace,
    UniformLogNormal,
)


@dataclass(frozen=True)
class Entry:
    """The examples of one family.

    - apart: the file that tests a family whose parameters do not broadcast. The contract tests skip such a family, and
      only the tests of corners use its examples.
    - by_name: True if `calibrate` needs no more than the family's name.
    """

    noises: tuple[Noise, ...]
    apart: str = ""
    by_name: bool = True


def per_record(*noises, by_name=False):
    return Entry(noises, "test_per_record_noises.py", by_name=by_name)


def smooth(*noises):
    return Entry(noises, "test_smooth_noises.py", by_name=False)


def lattice(*noises):
    """Return the entry of a noise whose table convex optimisation finds."""
    return Entry(noises, "test_lattice_noise.py")


def discrete(*noises):
    """Entry of a noise on a lattice in closed form."""
    return Entry(noises, "test_discrete_noises.py")


LOG_MASSES = (-1.0, -1.5, -2.5)
TABLE = {
    "gaussian": Entry((Gaussian(1), Gaussian(2.5), Gaussian(1e-3), Gaussian(1e3))),
    "laplace": Entry((Laplace(1), Laplace(2.5), Laplace(1e-3), Laplace(1e3))),
    "truncated_laplace": Entry(
        (
            TruncatedLaplace(1, 30),
            TruncatedLaplace(2, 1),
            TruncatedLaplace(0.5, 3),
            TruncatedLaplace(1, 1e3),
            TruncatedLaplace(1, 1e-3),
        )
    ),
    "sinh_normal": Entry(
        (
            SinhNormal(2, 5),
            SinhNormal(3, 3),
            SinhNormal(4, 1),  # two modes
            SinhNormal(1, 1e3),
            SinhNormal(1e3, 1),
            SinhNormal(1e-3, 1e3),
        )
    ),
    "sinh_squared": Entry(
        (
            SinhSquared(2, 5),
            SinhSquared(3, 3),
            SinhSquared(8, 2),  # Corollary 18 where its window begins
            SinhSquared(1, 1e3),
            SinhSquared(1e3, 1),
            SinhSquared(1e-3, 1e3),
        )
    ),
    "discrete_gaussian": discrete(
        DiscreteGaussian(0.05),
        DiscreteGaussian(0.7),
        DiscreteGaussian(5.0),
        DiscreteGaussian(300.0),
        DiscreteGaussian(2.0, step=0.1),
    ),
    "discrete_laplace": discrete(
        DiscreteLaplace(0.1), DiscreteLaplace(3.0), DiscreteLaplace(1e4), DiscreteLaplace(2.0, step=0.3)
    ),
    "rounded_gaussian": discrete(
        RoundedGaussian(0.2), RoundedGaussian(3.0), RoundedGaussian(100.0), RoundedGaussian(2.0, step=0.1)
    ),
    "rounded_laplace": discrete(
        RoundedLaplace(0.2), RoundedLaplace(3.0), RoundedLaplace(100.0), RoundedLaplace(2.0, step=0.3)
    ),
    "rounded_sinh_normal": discrete(RoundedSinhNormal(4.0, 20.0), RoundedSinhNormal(3.0, 3.0, step=0.5)),
    "rounded_sinh_squared": discrete(RoundedSinhSquared(4.0, 20.0), RoundedSinhSquared(6.0, 6.0, step=0.5)),
    "arsinh_normal": smooth(ArsinhNormal(1.0, 0.5), ArsinhNormal(1.0, 3.0)),
    "dithered_lattice": lattice(
        DitheredLattice(0.0, LOG_MASSES, 0.3), DitheredLattice(0.5, LOG_MASSES, 2.0, scale=3.0)
    ),
    "exponential_polylogarithmic": per_record(
        ExponentialPolylogarithmic(1.0, 2.0, 5.0, 3.0), ExponentialPolylogarithmic(1.0, 1.0, 5.0, 3.5)
    ),
    "generalized_gaussian": per_record(
        GeneralizedGaussian(1.0, 1.0), GeneralizedGaussian(3.0, 0.3), GeneralizedGaussian(1.0, 0.02), by_name=True
    ),
    "laplace_log_normal": smooth(LaplaceLogNormal(1.0, 0.5), LaplaceLogNormal(2.0, 5.0)),
    "lattice": lattice(LatticeNoise(0.0, LOG_MASSES, 0.3), LatticeNoise(0.5, LOG_MASSES, 2.0)),
    "student_t": smooth(StudentT(1.0, 3.0), StudentT(1.0, 1.0)),
    "uniform_log_normal": smooth(UniformLogNormal(1.0, 0.5), UniformLogNormal(1.0, 3.0)),
}
EVERY = [noise for entry in TABLE.values() for noise in entry.noises]
EXAMPLES = {family: entry.noises for family, entry in TABLE.items() if not entry.apart}  # under the contract tests
ALL = [noise for noises in EXAMPLES.values() for noise in noises]

# Tail probabilities from the centre to 1e-300, and close to one half from both sides.
TAILS = np.array(
    [
        1e-300,
        1e-299,
        1e-200,
        1e-100,
        1e-50,
        1e-20,
        1e-10,
        1e-5,
        1e-3,
        0.02,
        0.1,
        0.24,
        0.26,
        0.4,
        0.49,
        0.5 - 1e-9,
    ]
)
PROBABILITIES = np.concatenate([TAILS, [0.5], 1 - TAILS[TAILS > 1e-15][::-1]])


def points(noise):
    """Return ascending points from one tail of 1e-299 to the other, and points outside a bounded support."""
    upper = noise.isf(TAILS[1:])
    tiny = 1e-9 * noise.isf(0.1)
    return np.unique(np.concatenate([-upper, [-tiny, 0.0, tiny], upper, [1.5 * upper[0], -1.5 * upper[0]]]))


def stacked(family):
    """Return the family's noise with array-valued parameters: its examples in a column."""
    noises = EXAMPLES[family]
    names = noises[0].__dataclass_fields__
    return type(noises[0])(**{name: np.array([[getattr(noise, name)] for noise in noises]) for name in names})
