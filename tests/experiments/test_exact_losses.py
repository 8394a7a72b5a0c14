"""The exact chance of a drawn privacy loss, at its atoms and just below them, in both worlds, against the draws."""

from types import SimpleNamespace

import numpy as np
import pytest

from tcdp_sim.experiments import gap_max, losses
from tcdp_sim.mechanisms.gap_max import GapMax
from tcdp_sim.mechanisms.losses import LOSS, NEIGHBOUR, of_moves
from tcdp_sim.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    RoundedGaussian,
    RoundedLaplace,
    TruncatedLaplace,
)
from tcdp_sim.privacy import PureDP
from tcdp_sim.selection import ObviousAnswer, Stability, exponential_mechanism, permute_and_flip

TRIALS = 200_000
FAR = 5 * np.sqrt(0.25 / TRIALS)  # five standard errors: 6e-7 each
NOISES = (
    DiscreteGaussian(1.3),
    DiscreteLaplace(1.7),
    Gaussian(1.3),
    Laplace(1.7),
    RoundedGaussian(1.3),
    RoundedLaplace(1.3),
    TruncatedLaplace(1.7, 6.0),
)
SELECTIONS = {
    "obvious_answer": ObviousAnswer(Gaussian(3.0)),
    "stability": Stability(Laplace(2.0), 0.01),
    "exponential_mechanism": exponential_mechanism(0.7),
    "permute_and_flip": permute_and_flip(0.7),
}


def questions(values):
    """Yield values that come often, and 0: as they are, and just below, as `distribution` asks at edges of bins."""
    finite = values[np.isfinite(values)]
    rounded, times = np.unique(np.round(finite, 9), return_counts=True)
    for each in [*rounded[np.argsort(-times)[:6]], 0.0]:
        value = finite[np.argmin(np.abs(finite - each))]
        value = value if abs(value - each) < 1e-8 else each
        yield value, (values > value + 1e-8)
        yield value - 2e-9 * abs(value) if value else -1e-300, (values > value - 1e-8)


def agrees(drawn, laws, mechanism):
    for name in (LOSS, NEIGHBOUR):
        for at, above in questions(drawn[name]):
            exact = laws[name](mechanism, np.array([at]))[0]
            assert abs(exact - above.mean()) <= FAR, (name, at)


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.family)
def test_losses_of_two_bins(noise):
    drawn = of_moves(noise, 2, TRIALS, rng=np.random.default_rng(0))
    agrees(drawn, losses.SURVIVAL, SimpleNamespace(noise=noise, moves=2))


@pytest.mark.parametrize("gap", [0.5, 9.0])
@pytest.mark.parametrize("name", SELECTIONS)
def test_losses_of_selections(name, gap):
    mechanism = GapMax(name, SELECTIONS[name], PureDP(0.7), gap, 20.0)
    agrees(mechanism.draw_losses(np.random.default_rng(0), TRIALS), gap_max.SURVIVAL, mechanism)


def test_nothing_that_moves_has_no_loss():
    still = SimpleNamespace(noise=Gaussian(1.0), moves=0)
    for law in losses.SURVIVAL.values():
        assert law(still, np.array([-1.0, -1e-300, 0.0, 1.0])).tolist() == [1, 1, 0, 0]
    assert losses.DELTA[LOSS](still, np.array([-np.log(2), 0.0, 1.0])).tolist() == pytest.approx([0.5, 0, 0])
