"""The privacy loss of additive noise on two neighbouring inputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import real
from tcdp_sim.mechanisms.axes import ORDER, POSITIVE
from tcdp_sim.mechanisms.base import EVERY, Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.noise import NOISE_AXES, built_noise, noise_law, noise_uses
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import Guarantee
from tcdp_sim.samplers.importance_sampling import LARGEST, ImportanceSampler
from tcdp_sim.samplers.losses import hockey_stick_draws, loss_tail_draws, renyi_excess_draws


@dataclass(frozen=True, eq=False)
class PrivacyLoss(Mechanism):
    """The privacy loss of additive noise: L(y) = log(P(y) / Q(y)) for an output y drawn from P.

    P is the law of the noise on one query, and Q is the same law moved by `shift`. The neighbouring relation is any
    under which the query has sensitivity 1.

    A trial yields one draw of the loss, in nats, if neither epsilon nor order is given; the draw is inf if Q cannot
    give y. With epsilon it yields two numbers with the means P[L > epsilon] and
    delta(epsilon) = E[(1 - e^(epsilon - L))_+]. With order it yields one with the mean E[e^((order - 1) L)] - 1. These
    numbers are drawn by importance sampling. The relative standard error does not grow even as the means fall to
    1e-300. If the moment is infinite or above 1e150, every trial is inf.

    Source: Bun et al. (2018), Section 2 [BDRS18].

    `promise`: the guarantee that the noise is calibrated to at sensitivity 1; None if its parameters were given.
    `shift`: the distance of the answers on two data sets, in counts, above 0; 2 for a group of two records. `epsilon`:
    the privacy loss at which tail and profile are taken, in nats, of any sign. `order`: the order of the Renyi
    divergence, above 1.
    """

    noise: Noise
    promise: Guarantee | None
    shift: float = 1.0
    epsilon: float | None = None
    order: float | None = None

    name = "privacy_loss"
    unknown_losses = MappingProxyType({EVERY: "The trials are the privacy loss already, or functions of it."})
    version = 1
    largest = LARGEST  # larger means are drawn as inf
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
    def _integrals(self) -> Mapping[str, ImportanceSampler]:
        integrals = {}
        if self.epsilon is not None:
            integrals["loss_tail"] = loss_tail_draws(self.noise, self.shift, self.epsilon)
            integrals["hockey_stick"] = hockey_stick_draws(self.noise, self.shift, self.epsilon)
        if self.order is not None:
            integrals["renyi_excess"] = renyi_excess_draws(self.noise, self.shift, self.order)
        return integrals

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        if self._integrals:
            return {name: integral.sample(trials, rng=rng) for name, integral in self._integrals.items()}
        self.noise.need_loss()
        return {"privacy_loss": self.noise.privacy_loss(self.noise.sample(size=trials, rng=rng), self.shift)}
