"""What a mechanism of the gallery is."""

from abc import ABC, abstractmethod
from functools import lru_cache

import numpy as np

from audit_gallery.laws.best_event import largest_loss, log_ratio


class Known(ABC):
    """A mechanism whose law is known. Simulated by __call__; all else comes from the law alone.

    data, other: vectors of query answers, shapes (d,). outputs: what __call__ returns, shape (trials, ...).
    """

    @abstractmethod
    def __call__(self, data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        """`trials` independent outputs on `data`, shape (trials, ...)."""

    @abstractmethod
    def log_likelihood_ratio(self, outputs: np.ndarray, data: np.ndarray, other: np.ndarray) -> np.ndarray:
        """log(P(output on data) / P(output on other)) in nats, shape (trials,); +-inf where one cannot give it."""

    @abstractmethod
    def cells(self, data: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of the same cells of outputs under both inputs: shapes (cells,)."""

    @abstractmethod
    def epsilon(self, data: np.ndarray, other: np.ndarray) -> float:
        """The largest log likelihood ratio that an output can have: the exact epsilon of the pair, in this order."""


class Discrete(Known):
    """A mechanism with few outputs: a table of their probabilities is its law."""

    @abstractmethod
    def numbers(self, outputs: np.ndarray, d: int) -> np.ndarray:
        """Every output's place in the table, shape (trials,); d: the length of the input."""

    @abstractmethod
    def probabilities(self, data: np.ndarray) -> np.ndarray:
        """The table: shape (outputs,)."""

    def cells(self, data: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _table(self, tuple(map(float, data))), _table(self, tuple(map(float, other)))

    def log_likelihood_ratio(self, outputs: np.ndarray, data: np.ndarray, other: np.ndarray) -> np.ndarray:
        return log_ratio(*self.cells(data, other))[self.numbers(outputs, len(data))]

    def epsilon(self, data: np.ndarray, other: np.ndarray) -> float:
        return largest_loss(*self.cells(data, other))


@lru_cache(maxsize=64)
def _table(mechanism: Discrete, data: tuple[float, ...]) -> np.ndarray:
    return mechanism.probabilities(np.array(data))
