"""The exact errors that the study shows with simulated ones, where a law is known and cheap enough."""

import numpy as np

from tcdp_sim.exact.quantiles import joint_mean_error, joint_success, recursive_mean_error, single_law
from tcdp_sim.mechanisms.quantiles import Quantiles
from tcdp_sim.ordered.quantiles import Independent, Joint, Line, Recursive

MOST_JOINT = 2e7  # m n^2, up to which exact values of joint selections are computed
MOST_RECURSIVE = 5e6  # n^2, the same for three recursive selections
MOST_SINGLE = 1e7  # m n, the same for independent selections


def _laws(method: Independent, line: Line) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the law of the rank error of each independent exponential mechanism, before outputs are sorted."""
    unit = 1.0 if line.kind == "integers" else 0.0
    each = zip(method.levels, method.eta)
    return [single_law(line.values, line.k, unit, level, eta) for level, eta in each]


def exact_mean(mechanism: Quantiles) -> float:
    """Return the exact mean rank error, in records, or NaN."""
    method, line = mechanism.method, mechanism.line
    if isinstance(method, Independent) and method.m == 1:
        return float(np.mean([errors @ probabilities for errors, probabilities in _laws(method, line)]))
    if line.kind == "integers":
        return np.nan
    if isinstance(method, Joint) and method.m * line.n**2 <= MOST_JOINT:
        return joint_mean_error(line.gaps, method.levels, method.eta)
    if isinstance(method, Recursive) and method.m <= 3 and line.n**2 <= MOST_RECURSIVE:
        etas = {node.middle: method.eta(node) for nodes in method.nodes for node in nodes}
        return recursive_mean_error(line.gaps, method.levels, tuple(etas[j + 1] for j in range(method.m)))
    return np.nan


def mean_bound(mechanism: Quantiles) -> float:
    """Return the exact mean before outputs are sorted, which no sorting increases, or NaN."""
    method, line = mechanism.method, mechanism.line
    if not isinstance(method, Independent) or method.m * line.n > MOST_SINGLE:
        return np.nan
    return float(np.mean([errors @ probabilities for errors, probabilities in _laws(method, line)]))


def exact_success(mechanism: Quantiles) -> float:
    """Return the exact probability that all rank errors are at most alpha n, or NaN."""
    method, line, radius = mechanism.method, mechanism.line, mechanism.alpha * mechanism.line.n
    if method.m == 1 and isinstance(method, Independent):
        errors, probabilities = _laws(method, line)[0]
        return float(probabilities[errors <= radius].sum())
    if isinstance(method, Joint) and line.kind == "reals" and method.m * line.n**2 <= MOST_JOINT:
        return joint_success(line.gaps, method.levels, method.eta, radius)
    return np.nan
