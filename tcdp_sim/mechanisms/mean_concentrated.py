"""Answers by randomised response, which are mean-concentrated DP, and a bit of their number, which is less so."""

from dataclasses import dataclass
from functools import cached_property
from math import expm1, tanh
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from scipy.special import gammaln

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import real, whole
from tcdp_sim.mechanisms.axes import POSITIVE
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.losses import LOSS, LOSSES, NEIGHBOUR
from tcdp_sim.privacy import MeanConcentratedDP

MOST_ANSWERS = 10_000
MOST_EPSILON = 20.0  # nats; beyond, an answer is a lie with a probability that no simulation sees


@dataclass(frozen=True, eq=False)
class MeanConcentrated(Mechanism):
    """The number of ones among answers by randomised response to one question, and whether it reaches a cut.

    Each answer is the record's bit with odds e^epsilon. The release is the number of ones. Its privacy loss is the sum
    of independent losses, epsilon or -epsilon. So the loss has the mean mu = answers epsilon tanh(epsilon/2), and it is
    tau-subgaussian around it for tau^2 = 2 mu and for no smaller tau (Kearns and Saul). The bit, "the number is at
    least the cut", is a function of the release. In trials the record's bit is one. Neighbours substitute the record.

    Source: Dwork and Rothblum (2016) [DR16]; Kearns and Saul (1998) [KS98].

    `answers`: the number of answers, from 1 to 10,000. `epsilon`: the parameter of each answer, in nats, above 0 and at
    most 20. `cut`: the least number of ones with which the bit is one, from 1 to `answers`.
    """

    answers: int
    epsilon: float
    cut: int
    draws_losses: bool = False

    name = "mean_concentrated"
    loss_pair = "The bit of the record is one on the data and zero on the neighbour; all neighbours are alike."
    version = 1
    axes = declared(
        Axis("answers", "number of answers", "1", f"a whole number from 1 to {MOST_ANSWERS}", default=12),
        Axis("epsilon", "parameter of each answer", "nats", f"{POSITIVE}, at most {MOST_EPSILON:g}"),
        Axis("cut", "least number of ones with which the bit is one", "1", "a whole number from 1 to answers"),
    )
    required = ("epsilon", "cut")
    options = ()
    observables = MappingProxyType({"loss": Observable("nats", "privacy loss of the number of ones"), **LOSSES})
    events = MappingProxyType({"bit": "the number of ones is at least the cut"})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return tuple(cls.axes)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        answers = whole("answers", 12 if point.get("answers") is None else point["answers"], 1, MOST_ANSWERS)
        epsilon = real("epsilon", point["epsilon"], 0)
        if epsilon > MOST_EPSILON:
            raise ValueError(f"epsilon = {epsilon:g} is not valid; valid: above 0, at most {MOST_EPSILON:g}")
        law = {"mechanism": cls.name, "version": cls.version, "answers": answers, "epsilon": epsilon}
        return law | {"cut": whole("cut", point["cut"], 1, answers)}

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        return cls(int(law["answers"]), law["epsilon"], int(law["cut"]), law.get("draws_losses", False))

    @property
    def guarantee(self) -> MeanConcentratedDP:
        mean = self.answers * self.epsilon * tanh(self.epsilon / 2)
        return MeanConcentratedDP(mean, (2 * mean) ** 0.5)

    @property
    def work(self) -> float:
        return 2.0

    @cached_property
    def log_law(self) -> Floats:
        """The log probabilities of 0, 1, ..., `answers` ones if the record's bit is one."""
        ones = np.arange(self.answers + 1.0)
        log_ways = gammaln(self.answers + 1) - gammaln(ones + 1) - gammaln(self.answers - ones + 1)
        return np.asarray(
            log_ways - np.log1p(np.exp(-self.epsilon)) * self.answers - self.epsilon * (self.answers - ones)
        )

    @property
    def log_bits(self) -> tuple[Floats, Floats]:
        """The log probabilities of the bit being zero and one, if the record's bit is one, and if it is zero."""
        parts = (self.log_law, self.log_law[::-1])
        first, second = (_two(law[: self.cut], law[self.cut :]) for law in parts)
        return first, second

    @property
    def bit_losses(self) -> Floats:
        """The privacy losses of the bit being zero and one, in nats, if the record's bit is one."""
        one, zero = self.log_bits
        return one - zero

    @property
    def probability(self) -> float:
        """The probability that an answer is the record's bit."""
        return 1 / (2 + expm1(-self.epsilon))

    def draw_losses(self, rng: np.random.Generator, trials: int) -> Draws:
        ones = (rng.binomial(self.answers, each, size=trials) for each in (self.probability, 1 - self.probability))
        return {name: self.epsilon * (2.0 * each - self.answers) for name, each in zip((LOSS, NEIGHBOUR), ones)}

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        ones = rng.binomial(self.answers, self.probability, size=trials)
        return {"loss": self.epsilon * (2.0 * ones - self.answers), "bit": ones >= self.cut}


def _two(below: Floats, above: Floats) -> Floats:
    """Return the logs of two sums of probabilities that add up to 1, the larger one from the smaller."""
    sums = np.array([np.logaddexp.reduce(below), np.logaddexp.reduce(above)])
    smaller = int(np.argmin(sums))
    sums[1 - smaller] = np.log1p(-np.exp(sums[smaller]))
    return sums
