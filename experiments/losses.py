"""The exact law of privacy losses that runs draw beside their errors, for noise on coordinates that move by one.

The mechanisms have the attributes `noise` and `moves`, the number of these coordinates, None if it is not known. They
may have `step`, the distance of a move if that is not one. Other experiments use the functions of atoms, which are
losses with positive probabilities.
"""

from typing import Any

import numpy as np

from tcdp_sim import exact
from tcdp_sim.mechanisms.losses import LOSS, NEIGHBOUR
from tcdp_sim.privacy import delta_at
from tcdp_sim.store import columns

MEAN, MEAN_ON_NEIGHBOUR = columns.mean(LOSS), columns.mean(NEIGHBOUR)
_BELOW = 1e-9  # relative: losses on a lattice are known to their rounding
_ZERO = 1e-200  # a loss so near to 0 is 0, and its sign says whether it counts


def promised_delta(mechanism: Any, epsilons: np.ndarray) -> np.ndarray:
    """Return the delta that the mechanism's guarantee promises at each of `epsilons`; NaN below 0."""
    return np.array([delta_at(mechanism.guarantee, float(each)) if each >= 0 else np.nan for each in epsilons])


def between_atoms(losses: np.ndarray) -> np.ndarray:
    """Return losses a little larger, so that rounding does not decide whether an atom at one of them exceeds it.

    An atom at a loss does not exceed it. It exceeds a loss that is less by 2e-9 of it, or by 1e-300 at 0.
    """
    at_zero = np.where(losses < 0, -_BELOW, _BELOW)
    return np.where(np.abs(losses) < _ZERO, at_zero, losses + _BELOW * np.abs(losses))


def survival_of_atoms(loss: np.ndarray, chances: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """Return the probability that a loss with these atoms and their `chances` exceeds each of `losses`."""
    return np.where(loss > between_atoms(losses)[:, None], chances, 0.0).sum(axis=1)


def delta_of_atoms(p: np.ndarray, q: np.ndarray, epsilons: np.ndarray) -> np.ndarray:
    """Return delta(epsilon) of two laws on the same outcomes, at each of `epsilons`."""
    return np.maximum(p - np.exp(epsilons)[:, None] * q, 0.0).sum(axis=1)


def mean_of_atoms(loss: np.ndarray, chances: np.ndarray) -> float:
    """Return the mean of the finite losses of a law with these atoms and their `chances`."""
    finite = np.isfinite(loss) & (chances > 0)
    return float(loss[finite] @ chances[finite] / chances[finite].sum())


def survival(mechanism: Any, losses: np.ndarray, under: str = "P") -> np.ndarray:
    """Return the probability that the loss exceeds each of `losses`."""
    if not mechanism.moves:
        return np.where(losses < 0, 1.0, 0.0)
    at = between_atoms(losses)
    return np.asarray(exact.product_loss_sf(mechanism.noise, _step(mechanism), at, mechanism.moves, under).estimate)


def survival_on_neighbour(mechanism: Any, losses: np.ndarray) -> np.ndarray:
    """Return the same for outputs on the neighbour."""
    return survival(mechanism, losses, "Q")


def delta(mechanism: Any, epsilons: np.ndarray) -> np.ndarray:
    """Return delta(epsilon) at each of `epsilons`."""
    if not mechanism.moves:
        return np.maximum(1 - np.exp(epsilons), 0.0)
    return np.array([_profile(mechanism, float(each)) for each in epsilons])


def _step(mechanism: Any) -> float:
    return float(getattr(mechanism, "step", 1.0))


def _profile(mechanism: Any, epsilon: float) -> float:
    return exact.product_profile(mechanism.noise, _step(mechanism), epsilon, mechanism.moves).estimate


def mean(mechanism: Any) -> float:
    """Return the mean of the loss, which is the Kullback-Leibler divergence; NaN unless a run draws losses."""
    if not mechanism.draws_losses or mechanism.moves is None:
        return np.nan
    one = exact.PrivacyLossDistribution(mechanism.noise, _step(mechanism))
    return mechanism.moves * float(one.mean().estimate) if mechanism.moves else 0.0


def mean_on_neighbour(mechanism: Any) -> float:
    """Return the mean of the same ratio for outputs on the neighbour."""
    return -mean(mechanism)


EXACT = {MEAN: mean, MEAN_ON_NEIGHBOUR: mean_on_neighbour}
SURVIVAL = {LOSS: survival, NEIGHBOUR: survival_on_neighbour}
DELTA, PROMISED = {LOSS: delta}, {LOSS: promised_delta}
