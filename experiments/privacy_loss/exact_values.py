"""The exact values of a privacy loss, and the most that the noise's guarantee allows."""

from functools import cache, partial

import numpy as np

from tcdp_sim import exact
from tcdp_sim.experiments.laws import WEIGHTS
from tcdp_sim.mechanisms.privacy_loss import PrivacyLoss
from tcdp_sim.privacy import Guarantee, delta_at, group_privacy, loss_tail_bound, renyi_bound
from tcdp_sim.store import columns

LOSS = columns.quantile("privacy_loss")
TAIL, PROFILE, EXCESS = map(columns.mean, ("loss_tail", "hockey_stick", "renyi_excess"))
RENYI = "renyi_divergence"  # computed from the mean of renyi_excess; no trial yields it


def exact_value(mechanism: PrivacyLoss, quantity: str, at) -> np.ndarray:
    """Return the exact values of a quantity at each of `at`.

    The argument is the level of a quantile, the epsilon of a tail or profile, and the order of a Renyi divergence.
    """
    noise, shift = mechanism.noise, mechanism.shift
    if quantity == "profile":
        return exact.hockey_stick(noise, shift, at).estimate
    if quantity == "renyi":
        return exact.renyi_divergence(noise, shift, at).estimate
    losses = exact.PrivacyLossDistribution(noise, shift)
    return losses.sf(at) if quantity == "tail" else losses.ppf(at)


def promised(mechanism: PrivacyLoss, quantity: str, at) -> np.ndarray:
    """Return the most that the guarantee allows at each of `at`; NaN where it gives no bound."""
    guarantee = _guarantee(mechanism)
    if guarantee is None or quantity == "quantile" or (quantity == "renyi" and guarantee.is_approx):
        return np.full(len(at), np.nan)
    if quantity == "profile":
        return np.array([_delta(guarantee, float(x)) for x in at])
    bound = partial(loss_tail_bound, guarantee) if quantity == "tail" else renyi_bound(guarantee)
    return np.array([bound(x) for x in at], dtype=float)


@cache  # noises share promises, and a run reads its table at its end and once more for figures
def _delta(guarantee: Guarantee, epsilon: float) -> float:
    return delta_at(guarantee, epsilon) if epsilon >= 0 else np.nan


def _guarantee(mechanism: PrivacyLoss) -> Guarantee | None:
    """Return the guarantee at the mechanism's shift, for groups if it exceeds 1; None where nothing is promised."""
    if mechanism.promise is None:
        return None
    try:
        return (
            mechanism.promise
            if mechanism.shift <= 1
            else group_privacy(mechanism.promise, int(np.ceil(mechanism.shift)))
        )
    except ValueError:
        return None


def _at_the_cells(function, quantity: str):
    """Return a function of a mechanism: the value at its epsilon or order, NaN for a mechanism without one."""

    def value(mechanism: PrivacyLoss) -> float:
        at = mechanism.order if quantity == "renyi" else mechanism.epsilon
        return np.nan if at is None else float(function(mechanism, quantity, np.array([at]))[0])

    value.__doc__ = "Renyi divergence of the cell's order" if quantity == "renyi" else None
    return value


def _quantiles(mechanism: PrivacyLoss):
    plain = mechanism.epsilon is None and mechanism.order is None
    return exact_value(mechanism, "quantile", columns.QUANTILES) if plain else np.nan


def _mean(mechanism: PrivacyLoss) -> float:
    if mechanism.epsilon is not None or mechanism.order is not None:
        return np.nan
    return exact.PrivacyLossDistribution(mechanism.noise, mechanism.shift).mean().estimate


def _excess(mechanism: PrivacyLoss) -> float:
    if mechanism.order is None:
        return np.nan
    with np.errstate(over="ignore"):
        divergence = exact_value(mechanism, "renyi", np.array([mechanism.order]))[0]
        return float(np.expm1((mechanism.order - 1) * divergence))


def survival(mechanism: PrivacyLoss, losses: np.ndarray) -> np.ndarray:
    """Return the probability that the privacy loss exceeds each of `losses`."""
    return np.asarray(exact_value(mechanism, "tail", losses))


def delta(mechanism: PrivacyLoss, epsilons: np.ndarray) -> np.ndarray:
    """Return delta(epsilon) at each of `epsilons`."""
    return np.asarray(exact_value(mechanism, "profile", epsilons))


def promised_delta(mechanism: PrivacyLoss, epsilons: np.ndarray) -> np.ndarray:
    """Return the most that the guarantee allows for delta(epsilon) at each of `epsilons`."""
    return promised(mechanism, "profile", epsilons)


SURVIVAL, DELTA, PROMISED = {"privacy_loss": survival}, {"privacy_loss": delta}, {"privacy_loss": promised_delta}
_ARGUMENTS = {TAIL: "tail", PROFILE: "profile", RENYI: "renyi"}
EXACT = {name: _at_the_cells(exact_value, quantity) for name, quantity in _ARGUMENTS.items()}
EXACT |= {LOSS: _quantiles, EXCESS: _excess, columns.mean("privacy_loss"): _mean}
UNKNOWN = {columns.quantile(name): WEIGHTS for name in ("loss_tail", "hockey_stick", "renyi_excess")}
BOUND = {name: _at_the_cells(promised, quantity) for name, quantity in _ARGUMENTS.items()}
UNITS = {RENYI: "nats"}
