"""The protocol that every noise distribution of the package follows."""

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import ClassVar

import numpy as np


class Noise(ABC):
    """A continuous distribution on the reals, symmetric about zero: additive noise in counts.

    Methods are vectorised over their argument and over array-valued parameters, which broadcast as in
    scipy.stats; scalars in, scalars out. Everything is accurate to about 1e-12 relative from the centre to
    tail probabilities of 1e-300; use the log forms and `sf`/`isf` in the upper tail.
    Probabilities outside [0, 1] and NaN give NaN.

    A subclass gives `logpdf`, `sf`, `logsf`, `isf`, `var` and `sample`; the rest follows by symmetry.
    """

    family: ClassVar[str]

    @abstractmethod
    def logpdf(self, x):
        """Natural log of the density at x."""

    @abstractmethod
    def sf(self, x):
        """P[Z > x]."""

    @abstractmethod
    def logsf(self, x):
        """log P[Z > x]."""

    @abstractmethod
    def isf(self, p):
        """The x with P[Z > x] = p."""

    @abstractmethod
    def var(self):
        """Variance, in counts squared."""

    @abstractmethod
    def sample(self, rng: np.random.Generator, size=None):
        """Independent draws of shape `size` (default: the shape of the parameters)."""

    def pdf(self, x):
        """Density at x."""
        return np.exp(self.logpdf(x))

    def cdf(self, x):
        """P[Z <= x]."""
        return self.sf(np.negative(x, dtype=np.float64))  # in floats: -uint wraps round

    def logcdf(self, x):
        """log P[Z <= x]."""
        return self.logsf(np.negative(x, dtype=np.float64))

    def ppf(self, p):
        """The x with P[Z <= x] = p."""
        return -self.isf(p)

    def mean(self):
        """Zero, of the shape of the parameters."""
        return np.zeros(self.shape)[()]

    def fill(self, rng: np.random.Generator, out: np.ndarray) -> None:
        """Fill `out` with independent draws, in C order; the same stream as `sample` of its shape."""
        out[...] = self.sample(rng, out.shape)

    def privacy_loss(self, y, shift):
        """log of the ratio of the densities at output y of the noise centred at 0 and at `shift`, in nats.

        +inf where only the first can produce y, -inf where only the second can, NaN where neither can.
        """
        with np.errstate(invalid="ignore"):
            return self.logpdf(y) - self.logpdf(np.subtract(y, shift, dtype=np.float64))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape to which the parameters broadcast; () for scalars."""
        return np.broadcast_shapes(*(np.shape(value) for value in self._values()))

    def _values(self) -> tuple:
        return tuple(getattr(self, field.name) for field in fields(self))

    def _freeze(self, **checked) -> None:
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _identity(self) -> tuple:
        return type(self), *(np.asarray(value).tobytes() + str(np.shape(value)).encode() for value in self._values())

    def __eq__(self, other):
        return isinstance(other, Noise) and self._identity() == other._identity()

    def __hash__(self):
        return hash(self._identity())
