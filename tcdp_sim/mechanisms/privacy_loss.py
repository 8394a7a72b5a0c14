"""The privacy loss of additive noise: what an output says about which of two neighbours it came from."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import real
from tcdp_sim.mechanisms.axes import ORDER, POSITIVE
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.noise import NOISE_AXES, built_noise, noise_law, noise_uses
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import Guarantee
from tcdp_sim.samplers import Importance, hockey_stick_draws, loss_tail_draws, renyi_excess_draws
from tcdp_sim.samplers.importance import LARGEST


@dataclass(frozen=True, eq=False)
class PrivacyLoss(Mechanism):
    """L(y) = log(P(y) / Q(y)), y ~ P: P is the law of one query's noise, Q of the same noise moved by `shift`.

    The noise is calibrated to the promise for a query of sensitivity 1 (neighbours: any relation under which it has
    that), or its parameters are given and there is no promise; shift: how far two data sets are apart, in counts, > 0
    (2: a group of two).
    Without epsilon and order a trial is one draw of the loss itself (+inf where Q cannot give y: counted as not
    finite). With epsilon (nats, of any sign) it yields two numbers with means P[L > epsilon] and
    delta(epsilon) = E[(1 - e^(epsilon - L))_+]; with order > 1 one with mean E[e^((order - 1) L)] - 1. Those are
    drawn by importance sampling: their relative standard error does not grow as the means go to 1e-300. Where the
    moment is infinite, or above 1e150, every trial is inf.
    """

    noise: Noise
    promise: Guarantee | None
    shift: float = 1.0
    epsilon: float | None = None
    order: float | None = None

    name = "privacy_loss"
    version = 1
    largest = LARGEST  # above it a mean is drawn as inf
    axes = declared(
        *NOISE_AXES,
        Axis("shift", "distance of the answers on two neighbours", "counts", POSITIVE),
        Axis("epsilon", "privacy loss: argument of the tail and of the privacy profile", "nats", "a number"),
        ORDER,
    )
    required = ("noise", "shift")
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
    def uses(cls, point: Point) -> tuple[str, ...]:
        given = tuple(name for name in ("epsilon", "order") if point.get(name) is not None)
        return (*noise_uses(point), "shift", *given)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        law = {"mechanism": cls.name, "version": cls.version} | noise_law(point)
        law["shift"] = real("shift", point["shift"], 0)
        if point.get("epsilon") is not None:
            law["epsilon"] = real("epsilon", point["epsilon"], -np.inf)
        if point.get("order") is not None:
            law["order"] = real("order", point["order"], 1)
        return law

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        return cls(*built_noise(law), law["shift"], law.get("epsilon"), law.get("order"))

    @property
    def guarantee(self) -> Guarantee | None:
        return self.promise

    @property
    def work(self) -> float:
        return 3.0 + 30.0 * (self.epsilon is not None) + 15.0 * (self.order is not None)

    @cached_property
    def _integrals(self) -> Mapping[str, Importance]:
        integrals = {}
        if self.epsilon is not None:
            integrals["loss_tail"] = loss_tail_draws(self.noise, self.shift, self.epsilon)
            integrals["hockey_stick"] = hockey_stick_draws(self.noise, self.shift, self.epsilon)
        if self.order is not None:
            integrals["renyi_excess"] = renyi_excess_draws(self.noise, self.shift, self.order)
        return integrals

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        if self._integrals:
            return {name: integral.sample(rng, trials) for name, integral in self._integrals.items()}
        self.noise.need_loss()
        return {"privacy_loss": self.noise.privacy_loss(self.noise.sample(rng, trials), self.shift)}
