"""The exact laws of the privacy losses of trees and prefix sums, which are those of one count with Gaussian noise."""

from types import SimpleNamespace

import numpy as np

from tcdp_sim.experiments import losses
from tcdp_sim.mechanisms import Thresholds
from tcdp_sim.mechanisms.losses import LOSS, NEIGHBOUR


def _of_count(mechanism: Thresholds) -> SimpleNamespace:
    """Return the noise of the count, as `experiments.losses` asks for it. Raises ValueError for another method."""
    if not mechanism.moves:
        raise ValueError("the law of the loss is computed for trees and prefix sums")
    return SimpleNamespace(noise=mechanism.count_noise, moves=mechanism.moves)


def _mean(under: str):
    def mean(mechanism: Thresholds) -> float:
        if not (mechanism.draws_losses and mechanism.moves):
            return np.nan
        return mechanism.promise.rho if under == "P" else -mechanism.promise.rho

    return mean


def _survival(under: str):
    def survival(mechanism: Thresholds, at: np.ndarray) -> np.ndarray:
        return losses.survival(_of_count(mechanism), at, under)

    return survival


def delta(mechanism: Thresholds, epsilons: np.ndarray) -> np.ndarray:
    """Return delta(epsilon) at each of `epsilons`."""
    return losses.delta(_of_count(mechanism), epsilons)


EXACT = {losses.MEAN: _mean("P"), losses.MEAN_ON_NEIGHBOUR: _mean("Q")}
SURVIVAL, DELTA = {LOSS: _survival("P"), NEIGHBOUR: _survival("Q")}, {LOSS: delta}
PROMISED = losses.PROMISED
