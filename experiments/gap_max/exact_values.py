"""The exact values that belong to a simulated cell, and the scales that theory predicts."""

import json
from functools import cache

import numpy as np

from tcdp_sim import exact
from tcdp_sim.mechanisms import GapMax
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee
from tcdp_sim.selection.baselines import SparseVector, Stability

BETA = 0.05


def rebuilt(row) -> GapMax:
    """The mechanism of a row of the table."""
    return GapMax.build(json.loads(row["law"]), None)


def exact_arguments(mechanism: GapMax):
    """(algorithm, its noise or epsilon, delta or None) by which `tcdp_sim.exact` knows the mechanism."""
    selection, algorithm = mechanism.calibrated, mechanism.algorithm
    if isinstance(selection, Stability):
        return algorithm, selection.noise, selection.delta
    if isinstance(selection, SparseVector):
        return algorithm, selection.epsilon, None
    if algorithm in ("exponential_mechanism", "permute_and_flip"):
        return algorithm, 2 / selection.noise.scale, None
    return ("noisy_max" if algorithm.startswith("noisy_max") else algorithm), selection.noise, None


@cache
def required(algorithm, noise, delta, k, beta, m) -> float:
    """The exact required gap, in counts."""
    return exact.required_gap(algorithm, noise, k, beta, m, delta=delta).estimate


@cache
def failure(algorithm, noise, delta, k, gap, m) -> float:
    """The exact failure probability."""
    return exact.selection_failure(algorithm, noise, gap, k, m, delta=delta).estimate


def gap_scale(promise: Guarantee, k: float) -> float:
    """The order of the gap that a notion of privacy needs, in counts, without its constant.

    log k / epsilon, log(min(k, 1/delta)) / epsilon, sqrt(log k / rho), omega log(1 + sqrt(log k) / (omega sqrt rho)).
    Source: Bun-Dwork-Rothblum-Steinke 2018, Proposition 5 and Section 5.
    """
    if isinstance(promise, TCDP):
        return promise.omega * np.log1p(np.sqrt(np.log(k) / promise.rho) / promise.omega)
    if isinstance(promise, ZCDP):
        return float(np.sqrt(np.log(k) / promise.rho))
    if isinstance(promise, ApproxDP):
        return min(np.log(k), -np.log(promise.delta)) / promise.epsilon
    return np.log(k) / promise.epsilon
