"""The privacy loss of additive noise: what an output says about which of two neighbours it came from."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from tcdp_sim.calibration import DEPENDS_ON, LargestError, calibrate, equal_privacy
from tcdp_sim.errors import choice, real
from tcdp_sim.mechanisms.base import Mechanism, Observable
from tcdp_sim.noise import FAMILIES, Noise
from tcdp_sim.privacy import Guarantee
from tcdp_sim.samplers import Importance, hockey_stick_draws, loss_tail_draws, renyi_excess_draws


@dataclass(frozen=True, eq=False)
class PrivacyLoss(Mechanism):
    """L(y) = log(P(y) / Q(y)), y ~ P: P is the law of one query's noise, Q of the same noise moved by `shift`.

    The noise is calibrated to the promise for a query of sensitivity 1 (neighbours: any relation under which it has
    that); shift: how far two data sets are apart, in counts, > 0 (2: a group of two).
    Without epsilon and order a trial is one draw of the loss itself (+inf where Q cannot give y: counted as not
    finite). With epsilon (nats, of any sign) it yields two numbers with means P[L > epsilon] and
    delta(epsilon) = E[(1 - e^(epsilon - L))_+]; with order > 1 one with mean E[e^((order - 1) L)] - 1. Those are
    drawn by importance sampling: their relative standard error does not grow as the means go to 1e-300. Where the
    moment is infinite, or above 1e150, every trial is inf.
    """

    noise: Noise
    promise: Guarantee
    shift: float = 1.0
    epsilon: float | None = None
    order: float | None = None

    name = "privacy_loss"
    version = 1
    axes = ("noise", "rho", "omega", "omega_sqrt_rho", "delta", "shift", "epsilon", "order")
    required = ("noise", "rho", "shift")
    options = ()
    observables = MappingProxyType(
        {
            "privacy_loss": Observable("nats", "privacy loss"),
            "loss_tail": Observable("1", "its mean is P[privacy loss > epsilon]"),
            "hockey_stick": Observable("1", "its mean is the hockey-stick divergence delta(epsilon)"),
            "renyi_excess": Observable("1", "its mean is exp((order - 1) D_order) - 1, D the Renyi divergence"),
        }
    )
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point):
        target = _target(point["noise"])
        omega = ("omega", "omega_sqrt_rho") if "omega" in target else ()
        delta = ("delta",) if "delta" in target else ()
        asked = tuple(name for name in ("epsilon", "order") if point.get(name) is not None)
        return ("noise", "rho", "shift", *omega, *delta, *asked)

    @classmethod
    def law(cls, point, options, counts):
        noise = point["noise"]
        for name in _target(noise):
            if point.get(name) is None:
                raise ValueError(f"{noise['family']} needs {name}, which the sweep does not give")
        target = {name: point[name] for name in _target(noise)}
        promise = equal_privacy(noise["family"], **target)
        given = {"objective": LargestError(**noise["objective"])} if "objective" in noise else {}
        calibrated = calibrate(noise["family"], promise, 1.0, noise["calibration"], **given)
        law = {
            "mechanism": cls.name,
            "version": cls.version,
            "noise": {"family": noise["family"], "calibration": noise["calibration"]},
            "parameters": asdict(calibrated),
            "target": target,
            "shift": real("shift", point["shift"], 0),
        }
        if point.get("epsilon") is not None:
            law["epsilon"] = real("epsilon", point["epsilon"], -np.inf)
        if point.get("order") is not None:
            law["order"] = real("order", point["order"], 1)
        return law

    @classmethod
    def build(cls, law, counts):
        family = law["noise"]["family"]
        noise, promise = FAMILIES[family](**law["parameters"]), equal_privacy(family, **law["target"])
        return cls(noise, promise, law["shift"], law.get("epsilon"), law.get("order"))

    @property
    def guarantee(self):
        return self.promise

    @property
    def thresholds(self):
        return {}

    @property
    def work(self):
        return 3.0 + 30.0 * (self.epsilon is not None) + 15.0 * (self.order is not None)

    @cached_property
    def _integrals(self) -> Mapping[str, Importance]:
        found = {}
        if self.epsilon is not None:
            found["loss_tail"] = loss_tail_draws(self.noise, self.shift, self.epsilon)
            found["hockey_stick"] = hockey_stick_draws(self.noise, self.shift, self.epsilon)
        if self.order is not None:
            found["renyi_excess"] = renyi_excess_draws(self.noise, self.shift, self.order)
        return found

    def simulate(self, rng, trials):
        if self._integrals:
            return {name: integral.sample(rng, trials) for name, integral in self._integrals.items()}
        return {"privacy_loss": self.noise.privacy_loss(self.noise.sample(rng, trials), self.shift)}


def _target(noise) -> tuple[str, ...]:
    """The parameters of the target that the noise depends on."""
    return DEPENDS_ON[choice("noise.family", noise["family"], DEPENDS_ON)]
