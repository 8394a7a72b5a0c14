"""The protocol that every noise distribution of the package follows."""

from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from typing import ClassVar

import numpy as np


class Noise(ABC):
    """A continuous distribution on the reals, symmetric about zero: additive noise in counts.

    Methods are vectorised over their argument and over array-valued parameters, which broadcast as in
    scipy.stats; scalars in, scalars out. Everything is accurate to about 1e-12 relative from the centre to
    tail probabilities of 1e-300; use the log forms and `sf`/`isf` in the upper tail.
    Probabilities outside [0, 1] and NaN give NaN.

    A subclass gives `logpdf`, `sf`, `logsf`, `isf`, `var` and `sample`; the rest follows by symmetry. What more it
    should say: `log_concave`, without which some guarantees are refused, and `privacy_loss` without cancellation,
    without which losses are known to some 1e-13 only, bounds are as much wider, and what has no bounds is refused.
    """

    family: ClassVar[str]

    @property
    def log_concave(self) -> bool:
        """Whether the log density is known to be concave: then the loss falls, and a larger shift tells more."""
        return False

    @property
    def gives_loss(self) -> bool:
        """Whether `privacy_loss` is its own, good to its last digits, and not the difference of log densities."""
        return type(self).privacy_loss is not Noise.privacy_loss

    def need_loss(self) -> None:
        """Raise ValueError unless `gives_loss`."""
        if not self.gives_loss:
            raise ValueError(
                f"noise = {self!r} has no privacy_loss of its own, and the difference of its log densities loses "
                "digits; valid: a noise that gives privacy_loss in closed form"
            )

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
        return tuple(getattr(self, field.name) for field in fields(self)) if is_dataclass(self) else ()

    def _freeze(self, **checked) -> None:
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _identity(self) -> tuple:
        if not is_dataclass(self):
            return type(self), id(self)  # its parameters are not known
        return type(self), *(np.asarray(value).tobytes() + str(np.shape(value)).encode() for value in self._values())

    def __eq__(self, other):
        return isinstance(other, Noise) and self._identity() == other._identity()

    def __hash__(self):
        return hash(self._identity())
