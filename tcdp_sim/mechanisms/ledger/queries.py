"""Queries of adaptive analysts: each asks for answer after answer until it has seen enough."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.core.arrays import Floats
from tcdp_sim.noise import Gaussian


class Query(Protocol):
    """A kind of query."""

    @property
    def most(self) -> int: ...

    def lengths(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the numbers of answers that so many queries need, if all of them may be asked for."""

    def specs(self) -> list[dict[str, Any]]:
        """Return the release of each answer, as `read_list` writes releases."""


@dataclass(frozen=True)
class Refining:
    """A question on the sign of a count less a threshold, by one Gaussian answer after the other, each twice as exact.

    The query ends as soon as an answer is three standard deviations from zero, or with the last scale.

    `distances`: the possible values of the difference, equally likely, in counts.
    """

    distances: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
    scales: tuple[float, ...] = (8.0, 4.0, 2.0, 1.0)
    sure = 3.0

    @property
    def most(self) -> int:
        return len(self.scales)

    def lengths(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        truth = np.asarray(self.distances)[rng.integers(len(self.distances), size=size)]
        clear = [np.abs(truth + _drawn(scale, size, rng)) > self.sure * scale for scale in self.scales[:-1]]
        return _first([*clear, np.ones(size, bool)])

    def specs(self) -> list[dict[str, Any]]:
        return [_gaussian(scale) for scale in self.scales]


@dataclass(frozen=True)
class Screening:
    """A rough count of a candidate, and an exact one if the rough one passes a threshold.

    `share`: the share of the candidates that have the count `large`; the others have none. `large`, `threshold`,
    `rough`, `fine`: that count, the threshold, and the scales of the noises, in counts.
    """

    share: float = 0.1
    large: float = 30.0
    threshold: float = 16.0
    rough: float = 8.0
    fine: float = 2.0
    most = 2

    def lengths(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        truth = self.large * (rng.random(size) < self.share)
        return _first([truth + _drawn(self.rough, size, rng) <= self.threshold, np.ones(size, bool)])

    def specs(self) -> list[dict[str, Any]]:
        return [_gaussian(self.rough), _gaussian(self.fine)]


@dataclass(frozen=True)
class Voting:
    """A question with two answers, by one randomised response after the other until one answer leads.

    `lead`: the difference of the counts of both answers that ends the query. `most`: the number of responses that ends
    it at the latest.
    """

    epsilon: float = 0.25
    lead: int = 5
    most: int = 24

    def lengths(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        true = rng.random((self.most, size)) < 1 / (1 + np.exp(-self.epsilon))
        led = np.abs(np.cumsum(2 * true - 1, axis=0)) >= self.lead
        led[-1] = True
        return _first(list(led))

    def specs(self) -> list[dict[str, Any]]:
        return [{"response": self.epsilon, "k": 2}] * self.most


QUERIES: dict[str, Query] = {"screening": Screening(), "refining": Refining(), "voting": Voting()}


def _drawn(scale: float, size: int, rng: np.random.Generator) -> Floats:
    return np.asarray(Gaussian(scale).sample(size, rng=rng), np.float64)


def _gaussian(scale: float) -> dict[str, Any]:
    return {"noise": "gaussian", "scale": scale, "sensitivity": 1.0}


def _first(ended: list[Any]) -> NDArray[np.int64]:
    """Return the number of the first answer, from 1, at which each query has ended."""
    return np.argmax(np.stack(ended), axis=0) + 1
