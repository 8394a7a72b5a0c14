"""The printed policy of additive noise over the exact one, at the same largest loss."""

from functools import cache
from math import e, nan

import numpy as np
from scipy.optimize import brentq

from tcdp_sim.experiments.per_record_policy.exact_values import label, policy
from tcdp_sim.noise import ExponentialPolylogarithmic, GeneralizedGaussian, Laplace, Noise
from tcdp_sim.per_record import AdditiveRelease
from tcdp_sim.results.rows import Row

NOISES: tuple[Noise, ...] = (
    Laplace(1.0),
    GeneralizedGaussian(1.0, 0.5),
    GeneralizedGaussian(1.0, 0.25),
    *(ExponentialPolylogarithmic(1.0, 1.0, 1.0, rate) for rate in (1.2, 2.0, 4.0)),
    *(ExponentialPolylogarithmic(1.0, 2.0, e, rate) for rate in (0.3, 1.0, 4.0)),
)
LOSSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)  # nats
_REACH = 700.0  # range of the log of influences that are floats


def influence_at(release: AdditiveRelease, loss: float) -> float:
    """Return the influence at which a record's largest loss is `loss` nats, in the units of the noise's scale."""

    def excess(log_t: float) -> float:
        return float(np.log(max(release.pure_policy(np.exp(log_t)), 1e-300) / loss))

    return float(np.exp(brentq(excess, -_REACH, _REACH, xtol=1e-13)))


def looseness(noise: Noise, loss: float) -> float:
    """Return the printed over the exact zCDP policy, where the largest loss is `loss` nats."""
    release = AdditiveRelease(noise)
    influence = influence_at(release, loss)
    return float(release.policy(influence)) / policy(release, influence)


@cache
def rows() -> list[Row]:
    """Return a row for every noise and loss: `label`, `pure` (the loss, in nats) and `looseness`.

    `release` is the noise's family and `power` its power (NaN without one).
    """
    return [
        {"label": label(AdditiveRelease(noise)), "release": noise.family, "power": getattr(noise, "power", nan)}
        | {"pure": loss, "looseness": looseness(noise, loss)}
        for noise in NOISES
        for loss in LOSSES
    ]
