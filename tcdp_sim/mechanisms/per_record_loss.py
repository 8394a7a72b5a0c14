"""The privacy loss of one record under a release."""

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
from tcdp_sim.mechanisms.record_axes import (
    INFLUENCE,
    RELEASE_AXES,
    WORDS,
    built_release,
    influence_of,
    population_values,
    release_law,
    release_uses,
)
from tcdp_sim.noise import Noise
from tcdp_sim.per_record import Release
from tcdp_sim.privacy import Guarantee, PerRecordZCDP
from tcdp_sim.samplers.importance_sampling import LARGEST, ImportanceSampler
from tcdp_sim.samplers.record_losses import (
    record_hockey_stick_draws,
    record_loss_tail_draws,
    record_renyi_excess_draws,
)


@dataclass(frozen=True, eq=False)
class PerRecordLoss(Mechanism):
    """The privacy loss of one record: L(y) = log(P(y) / Q(y)) for an output y drawn from P.

    P and Q are the laws of a release without and with a record of the given influence. For a transformed release the
    answer without the record is 0, where the record is hidden least.

    A trial yields one draw of the loss, in nats, if neither epsilon nor order is given. With epsilon it yields two
    numbers with the means P[L > epsilon] and delta(epsilon) = E[(1 - e^(epsilon - L))_+]. With order it yields one with
    the mean E[e^((order - 1) L)] - 1. These numbers are drawn by importance sampling. The relative standard error grows
    neither for small influences nor for large orders. If the moment is infinite or above 1e150, every trial is inf.

    Source: Finley et al. (2024) [Fin24].

    `influence`: the largest change of the answer by the record, in the units of the answer, above 0. `epsilon`: the
    privacy loss at which tail and profile are taken, in nats, above 0. `order`: the order of the Renyi divergence,
    above 1.
    """

    release: Release
    influence: float
    epsilon: float | None = None
    order: float | None = None

    name = "per_record_loss"
    unknown_losses = MappingProxyType(
        {EVERY: "The trials are the privacy loss of a record already, or functions of it."}
    )
    version = 1
    neighbours = "add_remove"
    largest = LARGEST  # larger means are drawn as inf
    axes = declared(
        *RELEASE_AXES,
        Axis("influence", "largest change of the answer by the record", "counts", INFLUENCE, words=tuple(WORDS)),
        Axis("epsilon", "privacy loss: argument of the tail and of the privacy profile", "nats", POSITIVE),
        ORDER,
    )
    required = ("release", "influence")
    options = ("populations",)
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
        word = ("population",) if point["influence"] in WORDS else ()
        return tuple(dict.fromkeys((*release_uses(point), "influence", *word, *given)))

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        values = population_values(point, options) if "population" in cls.uses(point) else None
        law: dict[str, Any] = {"mechanism": cls.name, "version": cls.version, "release": release_law(point, values)}
        law["influence"] = influence_of("influence", point["influence"], values)
        for name, low in (("epsilon", 0), ("order", 1)):
            if point.get(name) is not None:
                law[name] = real(name, point[name], low)
        return law

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        return cls(built_release(law["release"]), law["influence"], law.get("epsilon"), law.get("order"))

    @property
    def guarantee(self) -> Guarantee:
        """The printed zCDP policy of the release at the influence."""
        return PerRecordZCDP(lambda t: float(self.release.policy(t))).at(self.influence)

    @property
    def work(self) -> float:
        return 3.0 + 60.0 * (self.epsilon is not None) + 30.0 * (self.order is not None)

    @cached_property
    def hidden_by(self) -> tuple[Noise, float]:
        """The noise that hides the record, and the largest shift of the noise by the record."""
        return self.release.worst_shift(self.influence)

    @cached_property
    def _integrals(self) -> Mapping[str, ImportanceSampler]:
        integrals = {}
        if self.epsilon is not None:
            integrals["loss_tail"] = record_loss_tail_draws(*self.hidden_by, self.epsilon)
            integrals["hockey_stick"] = record_hockey_stick_draws(*self.hidden_by, self.epsilon)
        if self.order is not None:
            integrals["renyi_excess"] = record_renyi_excess_draws(*self.hidden_by, self.order)
        return integrals

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        if self._integrals:
            return {name: integral.sample(trials, rng=rng) for name, integral in self._integrals.items()}
        noise, shift = self.hidden_by
        noise.need_loss()
        return {"privacy_loss": noise.privacy_loss(noise.sample(size=trials, rng=rng), shift)}
