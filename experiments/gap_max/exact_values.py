"""The exact values that belong to a simulated cell, and the orders of growth that theory predicts."""

import json
from functools import cache
from typing import Any, cast

import numpy as np

from tcdp_sim import exact
from tcdp_sim.experiments import losses
from tcdp_sim.mechanisms.gap_max import GapMax
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee, PureDP
from tcdp_sim.selection.baselines import SparseVector, Stability
from tcdp_sim.store import columns
from tcdp_sim.store.exact_values import at_each_level

BETA = 0.05
LEVELS = (0.5, 1 - BETA)  # success probabilities whose exact gap is published; each costs a root search


def rebuilt(row) -> GapMax:
    """Return the mechanism of a row of the table."""
    return GapMax.build(json.loads(row["law"]), None)


def exact_arguments(mechanism: GapMax):
    """Return (algorithm, its noise or epsilon, delta or None), which is how `tcdp_sim.exact` names the mechanism."""
    selection, algorithm = mechanism.calibrated, mechanism.algorithm
    if isinstance(selection, Stability):
        return algorithm, selection.noise, selection.delta
    if isinstance(selection, SparseVector):
        return algorithm, selection.epsilon, None
    if algorithm in ("exponential_mechanism", "permute_and_flip"):
        return algorithm, 2 / cast(Any, selection).noise.scale, None
    return ("noisy_max" if algorithm.startswith("noisy_max") else algorithm), cast(Any, selection).noise, None


@cache
def required(algorithm, noise, delta, k, beta, m) -> float:
    """Return the exact required gap, in counts."""
    return exact.required_gap(algorithm, noise, k, beta, m, delta=delta).estimate


@cache
def failure(algorithm, noise, delta, k, gap, m) -> float:
    """Return the exact failure probability."""
    return exact.selection_failure(algorithm, noise, gap, k, m, delta=delta).estimate


def _needed_gap(mechanism: GapMax, level: float) -> float:
    if level not in LEVELS:
        return np.nan
    return required(*exact_arguments(mechanism), mechanism.k, round(1 - level, 12), mechanism.m)


def _top_selected(mechanism: GapMax) -> float:
    return 1 - failure(*exact_arguments(mechanism), mechanism.k, mechanism.gap, mechanism.m)


def _failure_at(label: str):
    def chance(mechanism: GapMax) -> float:
        gap = mechanism.thresholds["needed_gap"].get(label)
        return np.nan if gap is None else failure(*exact_arguments(mechanism), mechanism.k, gap, mechanism.m)

    return chance


def _claimed_at_proved(mechanism: GapMax) -> float:
    if "proved" not in mechanism.thresholds["needed_gap"]:
        return np.nan
    return 1 / mechanism.k if mechanism.algorithm == "obvious_answer" else mechanism.beta


@cache
def _outputs(algorithm, noise, delta, k, gap, neighbour_gap) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the losses of the kinds of outputs, and their probabilities on the data and on the neighbour."""
    pair = exact.output_pair(algorithm, noise, k, gap, neighbour_gap, delta=delta)
    possible = (pair.p.estimate > 0) | (pair.q.estimate > 0)  # in floats
    p, q, times = (each[possible] for each in np.broadcast_arrays(pair.p.estimate, pair.q.estimate, pair.times))
    with np.errstate(divide="ignore"):
        return np.log(p) - np.log(q), p * times, q * times


def _outputs_of(mechanism: GapMax) -> losses.Atoms:
    """Return the same for a mechanism. Raises ValueError for sparse vector, whose law is not computed."""
    if isinstance(mechanism.calibrated, SparseVector):
        raise ValueError("the law of the loss of sparse vector is not computed")
    return _outputs(*exact_arguments(mechanism), mechanism.k, mechanism.gap, mechanism.neighbour_gap)


NEEDED = columns.quantile("needed_gap")
EXCEEDS = {label: columns.exceeds("needed_gap", label) for label in ("proved", "theorem_20")}
EXACT = {
    NEEDED: at_each_level(_needed_gap),
    "top_selected": _top_selected,
    **{name: _failure_at(label) for label, name in EXCEEDS.items()},
}
_LAWS = losses.laws_of_atoms(_outputs_of)
EXACT |= _LAWS.exact
SURVIVAL, DELTA, PROMISED = _LAWS.survival, _LAWS.delta, losses.PROMISED
UNKNOWN = {
    columns.mean("needed_gap"): "it is the integral of the failure probability over all gaps, which is not computed",
    NEEDED: f"only the levels {LEVELS[0]:g} and {LEVELS[1]:g} are solved for, since each costs a search over gaps",
    **losses.UNKNOWN,
}
BOUND = {EXCEEDS["proved"]: _claimed_at_proved}


def gap_scale(guarantee: Guarantee, k: float) -> float:
    """Return the order of the gap that a notion of privacy needs, in counts, without its constant.

    - pure DP: log k / epsilon
    - approximate DP: log(min(k, 1/delta)) / epsilon
    - zCDP: sqrt(log k / rho)
    - tCDP: omega log(1 + sqrt(log k) / (omega sqrt rho))

    The source is Bun, Dwork, Rothblum, Steinke (2018), Proposition 5 and Section 5.
    """
    if isinstance(guarantee, TCDP):
        return guarantee.omega * np.log1p(np.sqrt(np.log(k) / guarantee.rho) / guarantee.omega)
    if isinstance(guarantee, ZCDP):
        return float(np.sqrt(np.log(k) / guarantee.rho))
    if isinstance(guarantee, ApproxDP):
        return min(np.log(k), -np.log(guarantee.delta)) / guarantee.epsilon
    return np.log(k) / cast(PureDP, guarantee).epsilon
