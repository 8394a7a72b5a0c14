"""The base class of values that their parameters determine: equality, hashes, and the shape of arrays of parameters."""

from dataclasses import fields, is_dataclass
from functools import lru_cache
from struct import pack
from typing import Any

import numpy as np


class Parametric:
    """A frozen dataclass whose fields are numbers, or arrays of numbers that broadcast against each other.

    Two values are equal if they are of the same class and their parameters agree in every bit. A subclass is declared
    with `@dataclass(frozen=True, eq=False)`, so that it keeps this equality.

    `shape`: the shape to which the parameters broadcast, ``()`` for plain numbers.
    """

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        """Return the names of the parameters, ("scale",) for most noises."""
        known: Any = cls
        return _names(known, "__dataclass_fields__" in vars(cls))

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape to which the parameters broadcast, () for plain numbers."""
        return np.broadcast_shapes(*(np.shape(value) for value in self._values()))

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.parameters())

    def _freeze(self, **checked: Any) -> None:
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _identity(self) -> tuple[Any, ...]:
        if not is_dataclass(self):
            return type(self), id(self)  # its parameters are not known
        return type(self), *map(_bits, self._values())

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is type(self) and self._identity() == other._identity())

    def __hash__(self) -> int:
        return hash(self._identity())


@lru_cache(maxsize=1024)
def _names(cls: Any, declared: bool) -> tuple[str, ...]:
    """Return the fields. A class that is not yet declared a dataclass has the names of its base."""
    return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else ()


def _bits(value: Any) -> bytes:
    """Return bytes that differ for different numbers and for arrays of different shapes."""
    if isinstance(value, float):
        return pack("d", value) + b"()"  # as below, but quicker
    return np.asarray(value).tobytes() + str(np.shape(value)).encode()
