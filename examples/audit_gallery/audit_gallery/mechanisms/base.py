"""The base classes of the gallery's mechanisms."""

from abc import ABC, abstractmethod
from functools import lru_cache

import numpy as np

from audit_gallery.laws.best_event import largest_loss, log_ratio


class Exact(ABC):
    """A mechanism whose epsilon is known. `data` and `other` are vectors of query answers, shapes (d,)."""

    @abstractmethod
    def __call__(self, data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        """Return `trials` independent outputs on `data`, shape (trials, ...)."""

    @abstractmethod
    def epsilon(self, data: np.ndarray, other: np.ndarray) -> float:
        """Return the largest log likelihood ratio of an output: the exact epsilon of the pair, in this order."""


class Known(Exact):
    """A mechanism whose law is known.

    `__call__` simulates it, and every other method uses the law alone. `outputs` are results of `__call__`, shape
    (trials, ...).
    """

    @abstractmethod
    def log_likelihood_ratio(self, outputs: np.ndarray, data: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return log(P(output on data) / P(output on other)) in nats, shape (trials,); +-inf where one is 0."""

    @abstractmethod
    def cells(self, data: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the probabilities of the same cells of outputs under both inputs: shapes (cells,)."""


class Discrete(Known):
    """A mechanism with few outputs, whose law is a table of their probabilities."""

    @abstractmethod
    def numbers(self, outputs: np.ndarray, d: int) -> np.ndarray:
        """Return every output's place in the table, shape (trials,), for inputs of length d."""

    @abstractmethod
    def probabilities(self, data: np.ndarray) -> np.ndarray:
        """Return the table, shape (outputs,)."""

    def cells(self, data: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _table(self, tuple(map(float, data))), _table(self, tuple(map(float, other)))

    def log_likelihood_ratio(self, outputs: np.ndarray, data: np.ndarray, other: np.ndarray) -> np.ndarray:
        return log_ratio(*self.cells(data, other))[self.numbers(outputs, len(data))]

    def epsilon(self, data: np.ndarray, other: np.ndarray) -> float:
        return largest_loss(*self.cells(data, other))


@lru_cache(maxsize=64)
def _table(mechanism: Discrete, data: tuple[float, ...]) -> np.ndarray:
    return mechanism.probabilities(np.array(data))
