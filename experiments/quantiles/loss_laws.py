"""The exact laws of the privacy losses of quantiles: of independent selections, and of noisy counts."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.experiments import losses
from tcdp_sim.mechanisms import Quantiles
from tcdp_sim.mechanisms.losses import LOSS, NEIGHBOUR
from tcdp_sim.mechanisms.losses_of_quantiles import neighbour_of
from tcdp_sim.quantiles import Independent, Line

MOST_SINGLE = 1e7  # m n, up to which exact values of independent selections are computed
Atoms = tuple[np.ndarray, np.ndarray, np.ndarray]  # losses, and the probabilities on the data and on the neighbour


def atoms(method: Any, line: Line, j: int) -> Atoms:
    """Return the law of the loss of the j-th independent selection, on the pieces that the records of both cut."""
    lines = line, neighbour_of(line, method.relation)
    points = np.unique(np.concatenate([each.values for each in lines]))
    unit = 1.0 if line.kind == "integers" else 0.0
    inner, last = (points[1:] - points[:-1]).astype(float), float(line.k - points[-1].item())
    gaps = np.concatenate([[float(points[0])], np.append(inner, last) - unit])
    size = np.concatenate([np.full(len(points), unit), gaps])
    kept, logs = size > 0, []
    for each in lines:
        below, upto = each.ranks(points)
        inside, target = np.append(0, upto), method.levels[j] * each.n
        low, high = np.concatenate([below, inside])[kept], np.concatenate([upto, inside])[kept]
        score = np.log(size[kept]) - method.eta[j] * np.maximum(np.maximum(target - high, low - target), 0.0)
        logs.append(score - logsumexp(score))
    return logs[0] - logs[1], np.exp(logs[0]), np.exp(logs[1])


def _is_known(mechanism: Quantiles) -> bool:
    method = mechanism.method
    return isinstance(method, Independent) and method.m * mechanism.line.n <= MOST_SINGLE


def _of_counts(mechanism: Quantiles) -> SimpleNamespace:
    """Return the noise of counts that move, as `experiments.losses` asks for it. Raises ValueError without any."""
    if mechanism.moves is None:
        raise ValueError("the law of the loss is computed for one independent selection and for noisy counts")
    about = {"moves": mechanism.moves, "step": mechanism.step, "draws_losses": mechanism.draws_losses}
    return SimpleNamespace(noise=getattr(mechanism.method, "noise"), **about)  # noqa: B009 (a method with counts)


def _mean(under: str):
    def mean(mechanism: Quantiles) -> float:
        if not mechanism.draws_losses or not (_is_known(mechanism) or mechanism.moves):
            return np.nan
        if mechanism.moves:
            return (1 if under == "P" else -1) * losses.mean(_of_counts(mechanism))
        method, line = mechanism.method, mechanism.line
        laws = (atoms(method, line, j) for j in range(method.m))
        return float(sum(law[0] @ law[1 + "PQ".index(under)] for law in laws))

    return mean


def _survival(under: str):
    def survival(mechanism: Quantiles, at: np.ndarray) -> np.ndarray:
        if not _is_known(mechanism) or mechanism.method.m > 1:
            return losses.survival(_of_counts(mechanism), at, under)
        law = atoms(mechanism.method, mechanism.line, 0)
        return losses.survival_of_atoms(law[0], law[1 + "PQ".index(under)], at)

    return survival


def delta(mechanism: Quantiles, epsilons: np.ndarray) -> np.ndarray:
    """Return delta(epsilon) at each of `epsilons`."""
    if not _is_known(mechanism) or mechanism.method.m > 1:
        return losses.delta(_of_counts(mechanism), epsilons)
    return losses.delta_of_atoms(*atoms(mechanism.method, mechanism.line, 0)[1:], epsilons)


EXACT = {losses.MEAN: _mean("P"), losses.MEAN_ON_NEIGHBOUR: _mean("Q")}
SURVIVAL, DELTA = {LOSS: _survival("P"), NEIGHBOUR: _survival("Q")}, {LOSS: delta}
PROMISED = losses.PROMISED
