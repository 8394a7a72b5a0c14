"""The exact laws of the privacy losses of quantiles: of independent selections, and of noisy counts."""

from typing import Any

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.experiments import losses
from tcdp_sim.mechanisms.losses import LOSS, NEIGHBOUR
from tcdp_sim.mechanisms.losses_of_quantiles import neighbour_of
from tcdp_sim.mechanisms.quantiles import Quantiles
from tcdp_sim.ordered.quantiles import Independent, Line

MOST_SINGLE = 1e7  # m n, up to which exact values of independent selections are computed


def atoms(method: Any, line: Line, j: int) -> losses.Atoms:
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


def _one(mechanism: Quantiles) -> losses.Atoms:
    """Return the law of the loss of one independent selection. Raises ValueError for several."""
    if not _is_known(mechanism) or mechanism.method.m > 1:
        raise ValueError("the law of the loss is computed for one independent selection and for noisy counts")
    return atoms(mechanism.method, mechanism.line, 0)


def _counts(mechanism: Quantiles) -> losses.Moved:
    """Return the noise of counts that move. Raises ValueError for a method without any."""
    if mechanism.moves is None:
        raise ValueError("the law of the loss is computed for one independent selection and for noisy counts")
    return losses.Moved(getattr(mechanism.method, "noise"), mechanism.moves, mechanism.step)  # noqa: B009 (of counts)


_ONE, _COUNTS = losses.laws_of_atoms(_one), losses.laws_of_moves(_counts)


def _law_of(mechanism: Quantiles) -> losses.Laws:
    return _ONE if isinstance(mechanism.method, Independent) else _COUNTS


def _mean(name: str, world: int):
    """Return the mean of a loss in one of the worlds, which for independent selections is the sum of theirs."""

    def mean(mechanism: Quantiles) -> float:
        if not (mechanism.draws_losses and _is_known(mechanism)):
            return _COUNTS.exact[name](mechanism)
        laws = (atoms(mechanism.method, mechanism.line, j) for j in range(mechanism.method.m))
        return sum(losses.mean_of_atoms(law[0], law[1 + world]) for law in laws)

    return mean


def _levels(name: str):
    return lambda mechanism: _law_of(mechanism).exact[name](mechanism)


def _survival(name: str):
    return lambda mechanism, at: _law_of(mechanism).survival[name](mechanism, at)


def delta(mechanism: Quantiles, epsilons: np.ndarray) -> np.ndarray:
    """Return delta(epsilon) at each of `epsilons`."""
    return np.asarray(_law_of(mechanism).delta[LOSS](mechanism, epsilons))


EXACT = {name: _mean(name, world) for world, name in enumerate((losses.MEAN, losses.MEAN_ON_NEIGHBOUR))}
EXACT |= {name: _levels(name) for name in (losses.QUANTILES, losses.QUANTILES_ON_NEIGHBOUR)}
SURVIVAL, DELTA = {name: _survival(name) for name in (LOSS, NEIGHBOUR)}, {LOSS: delta}
PROMISED = losses.PROMISED
