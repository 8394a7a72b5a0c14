"""The examples on which every noise family is tested. A new family: add its entry here, and its tests exist.

Each family has at least two scalar examples, which should cover its regimes; the tests stack them into
array-valued parameters as well.
"""

import numpy as np

from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, SinhSquared, TruncatedLaplace

EXAMPLES = {
    "gaussian": (Gaussian(1), Gaussian(2.5), Gaussian(1e-3), Gaussian(1e3)),
    "laplace": (Laplace(1), Laplace(2.5), Laplace(1e-3), Laplace(1e3)),
    "truncated_laplace": (
        TruncatedLaplace(1, 30),
        TruncatedLaplace(2, 1),
        TruncatedLaplace(0.5, 3),
        TruncatedLaplace(1, 1e3),
        TruncatedLaplace(1, 1e-3),
    ),
    "sinh_normal": (
        SinhNormal(2, 5),
        SinhNormal(3, 3),
        SinhNormal(4, 1),  # two modes
        SinhNormal(1, 1e3),
        SinhNormal(1e3, 1),
        SinhNormal(1e-3, 1e3),
    ),
    "sinh_squared": (
        SinhSquared(2, 5),
        SinhSquared(3, 3),
        SinhSquared(8, 2),  # Corollary 18 where its window begins
        SinhSquared(1, 1e3),
        SinhSquared(1e3, 1),
        SinhSquared(1e-3, 1e3),
    ),
}
# Noises that no name alone calibrates; their tests are test_per_record_noises.py.
PER_RECORD = {"generalized_gaussian", "exponential_polylogarithmic"}
# Noises for smooth sensitivity, which no name alone calibrates either; their tests are test_smooth_noises.py.
SMOOTH = {"arsinh_normal", "uniform_log_normal", "laplace_log_normal", "student_t"}

# Noises on lattices, whose tables convex optimisation finds; their tests are test_lattice_noise.py and its neighbour.
LATTICES = {"lattice", "dithered_lattice"}
UNCALIBRATED = PER_RECORD | SMOOTH
APART = UNCALIBRATED | LATTICES  # all that have files of their own
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
    """Points from the centre to both tails of 1e-299, ascending, and outside a bounded support."""
    upper = noise.isf(TAILS[1:])
    tiny = 1e-9 * noise.isf(0.1)
    return np.unique(np.concatenate([-upper, [-tiny, 0.0, tiny], upper, [1.5 * upper[0], -1.5 * upper[0]]]))


def stacked(family):
    """The family's noise with array-valued parameters: its examples in a column."""
    noises = EXAMPLES[family]
    names = noises[0].__dataclass_fields__
    return type(noises[0])(**{name: np.array([[getattr(noise, name)] for noise in noises]) for name in names})
