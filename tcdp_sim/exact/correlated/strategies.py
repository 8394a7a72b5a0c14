"""Strategies of matrix mechanisms: lower-triangular matrices C >= 0 of which C x + noise is released.

A record that takes part in the steps of a set moves the output by the sum of their columns of C, each times a vector of
length 1 at most. No entry is negative, so no columns cancel each other, and the longest move is that of equal vectors.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import real, whole

MOST_STEPS, MOST_ROWS = 10**5, 2048
EPS = 2.0**-52
_ROUNDED = 1e-10  # of the entries of a strategy that is computed from a factorisation


class Strategy(ABC):
    """A lower-triangular matrix C >= 0 with one column for each step."""

    steps: int

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of diagonals, the main one and those below, that are not 0."""

    @property
    @abstractmethod
    def lengths(self) -> Floats:
        """The Euclidean length of each column, rounded up, shape (steps,)."""

    @property
    def falls(self) -> bool:
        """True if C is a Toeplitz matrix whose entries do not rise below the diagonal."""
        return False

    @abstractmethod
    def gram(self, period: int) -> Floats:
        """Return the inner products of the moves of records in steps i, i + period, ..., shape (period, period)."""

    @abstractmethod
    def columns(self) -> Floats:
        """Return C, shape (steps, steps)."""

    @abstractmethod
    def pulled(self, z: Floats) -> Floats:
        """Return C' z for each row z, shape (trials, steps)."""

    @abstractmethod
    def pushed(self, x: Floats) -> Floats:
        """Return C x for each row x, shape (trials, steps)."""

    @abstractmethod
    def variances(self) -> Floats:
        """Return the variance of each prefix sum for noise of variance 1 on C x, shape (steps,)."""


class _Toeplitz(Strategy):
    """A strategy whose columns are one column, shifted down."""

    column: Floats

    @property
    def width(self) -> int:
        return len(self.column)

    @property
    def lengths(self) -> Floats:
        squares = np.cumsum(self.column**2)
        longest = np.minimum(np.arange(self.steps, 0, -1), self.width)
        return np.sqrt(squares[longest - 1]) * (1 + 4 * self.width * EPS)

    @property
    def falls(self) -> bool:
        return bool((np.diff(self.column) <= 0).all())

    def gram(self, period: int) -> Floats:
        n, move = self.steps, np.zeros(self.steps)  # of a record in steps 0, period, ...
        for start in range(0, n, period):
            size = min(self.width, n - start)
            move[start : start + size] += self.column[:size]
        gram = np.zeros((period, period))
        for apart in range(min(period, n)):
            products = np.cumsum(move[: n - apart] * move[apart:])
            later = np.arange(apart, min(period, n))
            gram[later, later - apart] = gram[later - apart, later] = products[n - 1 - later]
        return gram

    def columns(self) -> Floats:
        matrix = np.zeros((self.steps, self.steps))
        for below, entry in enumerate(self.column.tolist()):
            np.fill_diagonal(matrix[below:], entry)
        return matrix

    def pulled(self, z: Floats) -> Floats:
        found = np.zeros_like(z)
        for below, entry in enumerate(self.column.tolist()):
            found[:, : self.steps - below] += entry * z[:, below:]
        return found

    def pushed(self, x: Floats) -> Floats:
        found = np.zeros_like(x)
        for below, entry in enumerate(self.column.tolist()):
            found[:, below:] += entry * x[:, : self.steps - below]
        return found

    def variances(self) -> Floats:
        return np.cumsum(np.cumsum(_inverse(self.column, self.steps)) ** 2)


@dataclass(frozen=True)
class Bands(_Toeplitz):
    """The first diagonals of the square root of the matrix of prefix sums, as a strategy of correlated noise.

    One band is independent noise in each step, as in DP-SGD. As many bands as steps are the whole square root.

    Source: Choquette-Choo et al. (2023) [Cho23], for bands; Bennett (1977) [Ben77], for the square root.

    Parameters
    ----------
    bands : int
        The number of diagonals that are not 0, from 1 to `steps`.
    steps : int
        The number of steps of the run, from 1 to 10^5.

    Examples
    --------
    >>> Bands(3, 100).column
    array([1.   , 0.5  , 0.375])
    """

    bands: int
    steps: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", whole("steps", self.steps, 1, MOST_STEPS))
        object.__setattr__(self, "bands", whole("bands", self.bands, 1, self.steps))

    @cached_property
    def column(self) -> Floats:  # type: ignore[override]
        """The entries of the first column that are not 0, shape (bands,)."""
        return np.cumprod(np.concatenate([[1.0], 1 - 0.5 / np.arange(1.0, self.bands)]))


@dataclass(frozen=True, repr=False)
class Column(_Toeplitz):
    """A Toeplitz strategy by its first column."""

    entries: tuple[float, ...]

    def __post_init__(self) -> None:
        entries = np.ravel(real("strategy", self.entries, 0, closed=True))
        if not 1 <= len(entries) <= MOST_STEPS or not entries[0] > 0:
            raise ValueError(f"strategy has {len(entries)} entries; valid: 1 to {MOST_STEPS:,}, the first one above 0")
        object.__setattr__(self, "entries", tuple(entries.tolist()))

    def __repr__(self) -> str:
        return f"Column({len(self.entries)} entries)"

    @property
    def steps(self) -> int:  # type: ignore[override]
        """The number of steps."""
        return len(self.entries)

    @cached_property
    def column(self) -> Floats:  # type: ignore[override]
        """The entries up to the last one that is not 0."""
        return np.trim_zeros(np.array(self.entries), "b")


@dataclass(frozen=True, repr=False)
class Triangle(Strategy):
    """A strategy by the rows of its matrix, each up to the diagonal."""

    rows: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        rows = tuple(tuple(np.ravel(real("strategy", row, 0, closed=True)).tolist()) for row in self.rows)
        if not 1 <= len(rows) <= MOST_ROWS or any(len(row) != i + 1 or not row[i] > 0 for i, row in enumerate(rows)):
            what = f"a lower triangle of 1 to {MOST_ROWS:,} rows with entries >= 0 and a diagonal above 0"
            raise ValueError(f"strategy is no matrix that can be used; valid: {what}")
        object.__setattr__(self, "rows", rows)

    def __repr__(self) -> str:
        return f"Triangle({len(self.rows)} rows)"

    @property
    def steps(self) -> int:  # type: ignore[override]
        """The number of steps."""
        return len(self.rows)

    @cached_property
    def _matrix(self) -> Floats:
        matrix = np.zeros((self.steps, self.steps))
        for i, row in enumerate(self.rows):
            matrix[i, : i + 1] = row
        return matrix

    @cached_property
    def width(self) -> int:
        row, column = np.nonzero(self._matrix)
        return int((row - column).max()) + 1

    @property
    def lengths(self) -> Floats:
        return np.asarray(np.linalg.norm(self._matrix, axis=0)) * (1 + 4 * self.steps * EPS)

    def gram(self, period: int) -> Floats:
        moves = np.zeros((self.steps, period))
        for start in range(0, self.steps, period):
            part = self._matrix[:, start : start + period]
            moves[:, : part.shape[1]] += part
        return moves.T @ moves

    def columns(self) -> Floats:
        return self._matrix

    def pulled(self, z: Floats) -> Floats:
        return z @ self._matrix

    def pushed(self, x: Floats) -> Floats:
        return x @ self._matrix.T

    def variances(self) -> Floats:
        from scipy.linalg import solve_triangular  # slow to import

        sums = solve_triangular(self._matrix.T, np.tri(self.steps).T)  # the transpose of (prefix sums) C^-1
        return np.asarray(np.square(sums).sum(axis=0))


def strategy_of(given: Any) -> Strategy:
    """Return the strategy that a user gives: a strategy, a column, a matrix or a factorisation of prefix sums."""
    if isinstance(given, Strategy):
        return given
    if hasattr(given, "errors") and hasattr(given, "noises"):
        return _of_factorisation(given)
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        valid = "Bands(4, 100), the first column of a Toeplitz matrix, a matrix, or SquareRoot(100, 'add_remove')"
        raise ValueError(f"strategy = {given!r} is not valid; valid: {valid}")
    array = np.asarray(given)
    if array.ndim == 1:
        return Column(tuple(array.tolist()))
    if array.ndim != 2 or array.shape[0] != array.shape[1] or np.any(np.triu(array, 1) != 0):
        raise ValueError(f"strategy has the shape {array.shape}; valid: a column, or a lower-triangular square matrix")
    return Triangle(tuple(tuple(row[: i + 1]) for i, row in enumerate(array.tolist())))


def _of_factorisation(given: Any) -> Strategy:
    """Return the strategy R of a factorisation L R of the prefix sums with a lower-triangular L."""
    k, entries = int(given.k), getattr(given, "coefficients", None)
    if given.relation != "add_remove":
        raise ValueError(f"strategy = {given!r} is not valid; valid: relation = 'add_remove'")
    if entries is not None and not hasattr(given, "weights"):
        return Column(tuple(np.asarray(entries, float).tolist()))
    if given.noises != k or k > MOST_ROWS:
        raise ValueError(f"strategy = {given!r} is not valid; valid: at most {MOST_ROWS:,} steps, one noise for each")
    left = given.errors(np.eye(k)).T
    if np.abs(np.triu(left, 1)).max(initial=0.0) > _ROUNDED:
        raise ValueError(
            f"strategy = {given!r} is not lower-triangular; valid: SquareRoot, WeightedSquareRoot, EachBin"
        )
    from scipy.linalg import solve_triangular  # slow to import

    right = np.tril(solve_triangular(np.tril(left), np.tri(k), lower=True))
    right[np.abs(right) < _ROUNDED * np.abs(right).max()] = 0.0
    return strategy_of(right)


def _inverse(column: Floats, size: int) -> Floats:
    """Return the first coefficients of the inverse of a power series, by Newton's method."""
    from scipy.signal import fftconvolve, lfilter  # slow to import

    if len(column) <= 64:
        impulse = np.zeros(size)
        impulse[0] = 1.0
        return np.asarray(lfilter([1.0], column, impulse))
    inverse = np.array([1 / column[0]])
    while len(inverse) < size:
        length = min(2 * len(inverse), size)
        square = fftconvolve(inverse, inverse)[:length]
        product = fftconvolve(square, column[:length])[:length]
        inverse = 2 * np.pad(inverse, (0, length - len(inverse))) - product
    return inverse
