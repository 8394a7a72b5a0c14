"""The exact law of privacy losses that runs draw with their errors, for noise on coordinates that move by one.

`EXACT`, `SURVIVAL` and `DELTA` are for mechanisms with the attributes `noise` and `moves`, the number of these
coordinates, None if it is not known. Other experiments make their own with `laws_of_moves`, or with `laws_of_atoms`
from losses with positive probabilities. `UNKNOWN` says why cells have no exact value.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tcdp_sim import exact
from tcdp_sim.experiments.laws import quantiles_of_atoms
from tcdp_sim.mechanisms.losses import LOSS, NEIGHBOUR
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import delta_at
from tcdp_sim.store import columns

Atoms = tuple[np.ndarray, np.ndarray, np.ndarray]
MEAN, MEAN_ON_NEIGHBOUR = columns.mean(LOSS), columns.mean(NEIGHBOUR)
QUANTILES, QUANTILES_ON_NEIGHBOUR = columns.quantile(LOSS), columns.quantile(NEIGHBOUR)
_LAW = "the law of the loss is not computed for every method, noise and pair of neighbours"
_SUM = "the exact tail of a sum of several coordinates' losses (tcdp_sim.distribution has it) is not inverted"
UNKNOWN = {
    **dict.fromkeys((MEAN, MEAN_ON_NEIGHBOUR), _LAW),
    **dict.fromkeys((QUANTILES, QUANTILES_ON_NEIGHBOUR), f"{_LAW}, and {_SUM}"),
}
_BELOW = 1e-9  # relative: losses on a lattice are known to their rounding
_ZERO = 1e-200  # a loss so near to 0 is 0, and its sign says whether it counts


def promised_delta(mechanism: Any, epsilons: np.ndarray) -> np.ndarray:
    """Return the delta that the mechanism's guarantee gives at each of `epsilons`; NaN below 0."""
    return np.array([delta_at(mechanism.guarantee, float(each)) if each >= 0 else np.nan for each in epsilons])


def between_atoms(losses: np.ndarray) -> np.ndarray:
    """Return losses a little larger, so that rounding does not decide whether an atom at one of them exceeds it.

    An atom at a loss does not exceed it. It exceeds a loss that is less by 2e-9 of it, or by 1e-300 at 0.
    """
    at_zero = np.where(losses < 0, -_BELOW, _BELOW)
    return np.where(np.abs(losses) < _ZERO, at_zero, losses + _BELOW * np.abs(losses))


def survival_of_atoms(loss: np.ndarray, probabilities: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """Return the probability that a loss with these atoms and their `probabilities` exceeds each of `losses`."""
    return np.where(loss > between_atoms(losses)[:, None], probabilities, 0.0).sum(axis=1)


def delta_of_atoms(p: np.ndarray, q: np.ndarray, epsilons: np.ndarray) -> np.ndarray:
    """Return delta(epsilon) of two laws on the same outcomes, at each of `epsilons`."""
    return np.maximum(p - np.exp(epsilons)[:, None] * q, 0.0).sum(axis=1)


def mean_of_atoms(loss: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the mean of the finite losses of a law with these atoms and their `probabilities`."""
    finite = np.isfinite(loss) & (probabilities > 0)
    return float(loss[finite] @ probabilities[finite] / probabilities[finite].sum())


class Moved(NamedTuple):
    """Coordinates that move by `step`, and the noise of each."""

    noise: Noise
    moves: int
    step: float = 1.0


class Laws(NamedTuple):
    """The exact means, tails and delta(epsilon) of the losses of an experiment, by their names."""

    exact: Mapping[str, Any]
    survival: Mapping[str, Any]
    delta: Mapping[str, Any]


def laws_of_atoms(atoms: Callable[[Any], Atoms]) -> Laws:
    """Return the laws of losses with finitely many values.

    `atoms` returns the losses of a mechanism's outputs, and the probabilities on the data and on the neighbour. It
    raises ValueError where the law is not known.
    """

    def mean(place: int) -> Callable[[Any], float]:
        def value(mechanism: Any) -> float:
            found = atoms(mechanism)
            return mean_of_atoms(found[0], found[place])

        return lambda mechanism: _known(value, mechanism)

    def survival(place: int) -> Callable[[Any, np.ndarray], np.ndarray]:
        def probabilities(mechanism: Any, at: np.ndarray) -> np.ndarray:
            found = atoms(mechanism)
            return survival_of_atoms(found[0], found[place], at)

        return probabilities

    def quantiles(place: int) -> Callable[[Any], np.ndarray]:
        def value(mechanism: Any) -> np.ndarray:
            found = atoms(mechanism)
            there = found[place] > 0
            return quantiles_of_atoms(found[0][there], found[place][there])

        return lambda mechanism: _known(value, mechanism)

    delta = lambda mechanism, epsilons: delta_of_atoms(*atoms(mechanism)[1:], epsilons)  # noqa: E731
    return _laws(mean, quantiles, survival, delta, (1, 2))


def laws_of_moves(moved: Callable[[Any], Moved]) -> Laws:
    """Return the laws of losses of noise on coordinates that move; `moved` raises ValueError where they are not known.

    The mean on the data is the Kullback-Leibler divergence. On the neighbour it is the negative one.
    """

    def mean(under: str) -> Callable[[Any], float]:
        sign = 1 if under == "P" else -1
        return lambda mechanism: _known(lambda each: sign * _divergence(moved(each)), mechanism)

    def survival(under: str) -> Callable[[Any, np.ndarray], np.ndarray]:
        return lambda mechanism, at: _survival(moved(mechanism), at, under)

    def quantiles(under: str) -> Callable[[Any], np.ndarray]:
        return lambda mechanism: _known(lambda each: _quantiles(moved(each), under), mechanism)

    return _laws(mean, quantiles, survival, lambda mechanism, epsilons: _delta(moved(mechanism), epsilons), ("P", "Q"))


def _laws(mean: Any, quantiles: Any, survival: Any, delta: Any, worlds: Any) -> Laws:
    data, neighbour = worlds
    tails = {LOSS: survival(data), NEIGHBOUR: survival(neighbour)}
    means = {MEAN: mean(data), MEAN_ON_NEIGHBOUR: mean(neighbour)}
    levels = {QUANTILES: quantiles(data), QUANTILES_ON_NEIGHBOUR: quantiles(neighbour)}
    return Laws(means | levels, tails, {LOSS: delta})


def _known(value: Callable[[Any], Any], mechanism: Any) -> Any:
    """Return a mean or quantiles, NaN if they are not known or if the run draws no losses."""
    try:
        return value(mechanism) if mechanism.draws_losses else np.nan
    except ValueError:
        return np.nan


def _survival(moved: Moved, losses: np.ndarray, under: str) -> np.ndarray:
    if not moved.moves:
        return np.where(losses < 0, 1.0, 0.0)
    at = between_atoms(losses)
    return np.asarray(exact.product_loss_sf(moved.noise, moved.step, at, moved.moves, under).estimate)


def _quantiles(moved: Moved, under: str) -> np.ndarray:
    """Return the quantiles of the loss of at most one coordinate; under Q it is the negative loss with P's law."""
    if moved.moves > 1:
        raise ValueError("the tail of a sum of losses is not inverted")
    if not moved.moves:
        return np.zeros(len(columns.QUANTILES))
    law = exact.PrivacyLossDistribution(moved.noise, moved.step)
    return np.asarray(law.ppf(columns.QUANTILES) if under == "P" else -law.ppf(1 - columns.QUANTILES))


def _delta(moved: Moved, epsilons: np.ndarray) -> np.ndarray:
    if not moved.moves:
        return np.maximum(1 - np.exp(epsilons), 0.0)
    profile = (exact.product_profile(moved.noise, moved.step, float(each), moved.moves) for each in epsilons)
    return np.array([each.estimate for each in profile])


@lru_cache(maxsize=512)  # cells differ in k more often than in their noise, and two means use one divergence
def _divergence(moved: Moved) -> float:
    if not moved.moves:
        return 0.0
    return moved.moves * float(exact.PrivacyLossDistribution(moved.noise, moved.step).mean().estimate)


def _own(mechanism: Any) -> Moved:
    """Return the moved coordinates of a mechanism with `noise` and `moves`. Raises ValueError if `moves` is None."""
    if mechanism.moves is None:
        raise ValueError("the worst neighbours are not known")
    return Moved(mechanism.noise, mechanism.moves)


EXACT, SURVIVAL, DELTA = laws_of_moves(_own)
PROMISED = {LOSS: promised_delta}
