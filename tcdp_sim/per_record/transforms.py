"""Transformations f of the answer before Gaussian noise is added. Each f(q + offset) is concave and increasing."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import scalar


class Transform(ABC):
    """A concave and increasing transformation f(q + offset) of an answer q >= 0.

    The noise is in the units of f.

    Source: Finley et al. (2024), Section 4 [Fin24].

    Attributes
    ----------
    offset : float
        The number that is added to the answer first, in the units of the answer.

    Examples
    --------
    >>> from tcdp_sim.per_record import Log, Root
    >>> float(Root(2, offset=1.0).forward(8.0)), float(Log(1.0).forward(0.0))
    (3.0, 0.0)
    """

    offset: float

    @abstractmethod
    def forward(self, q: Any) -> Reals:
        """Return f(q + offset)."""

    @abstractmethod
    def rise(self, step: Any, start: Any = 0.0) -> Reals:
        """Return f(start + step + offset) - f(start + offset).

        There is no cancellation for a step far below start + offset.
        """


@dataclass(frozen=True)
class Identity(Transform):
    """The identity f(x) = x: Gaussian noise on the answer itself.

    Source: Finley et al. (2024), Section 4 [Fin24].

    Examples
    --------
    >>> float(Identity().rise(3.0))
    3.0
    """

    offset = 0.0

    def forward(self, q: Any) -> Reals:
        return np.add(q, 0.0)

    def rise(self, step: Any, start: Any = 0.0) -> Reals:
        return np.add(step, 0.0)


@dataclass(frozen=True)
class Root(Transform):
    """The root f(x) = x^(1/degree).

    Degree 2 gives a policy that is linear in the influence. Policies that grow more slowly need a higher degree.

    Source: Finley et al. (2024), Section 4 [Fin24].

    Parameters
    ----------
    degree : float
        The degree, at least 1. Below 1 the function f is not concave, and the policy would be false.
    offset : float
        The number that is added to the answer first, in the units of the answer, at least 0.

    Examples
    --------
    >>> float(Root(2).rise(9.0))
    3.0
    """

    degree: float
    offset: float = 0.0

    def __post_init__(self) -> None:
        try:
            degree = scalar("degree", self.degree, 1, closed=True)
        except ValueError as mistake:
            raise ValueError(f"{mistake} (below 1 the root is convex and its policy false)") from None
        object.__setattr__(self, "degree", degree)
        object.__setattr__(self, "offset", scalar("offset", self.offset, 0, closed=True))

    def forward(self, q: Any) -> Reals:
        return np.power(np.add(q, self.offset), 1 / self.degree)

    def rise(self, step: Any, start: Any = 0.0) -> Reals:
        step, base = np.asarray(step, dtype=np.float64), np.add(start, self.offset)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            ratio = step / base
            near = np.power(base, 1 / self.degree) * np.expm1(np.log1p(ratio) / self.degree)
            far = np.power(step, 1 / self.degree) - np.power(base, 1 / self.degree)
            return np.where(np.isfinite(ratio), near, far)[()]


@dataclass(frozen=True)
class Log(Transform):
    """The logarithm f(x) = log x.

    Source: Finley et al. (2024), Section 4 [Fin24].

    Parameters
    ----------
    offset : float
        The number that is added to the answer first, in the units of the answer, above 0. Without it the policy at
        q = 0 would be infinite.

    Examples
    --------
    >>> round(float(Log(1.0).rise(1.0)), 4)
    0.6931
    """

    offset: float

    def __post_init__(self) -> None:
        try:
            offset = scalar("offset", self.offset, 0)
        except ValueError as mistake:
            raise ValueError(f"{mistake} (at 0 the policy of the logarithm is infinite)") from None
        object.__setattr__(self, "offset", offset)

    def forward(self, q: Any) -> Reals:
        return np.log(np.add(q, self.offset))

    def rise(self, step: Any, start: Any = 0.0) -> Reals:
        step, base = np.asarray(step, dtype=np.float64), np.add(start, self.offset)
        with np.errstate(divide="ignore", over="ignore"):
            ratio = step / base
            return np.where(np.isinf(ratio), np.log(step) - np.log(base), np.log1p(ratio))[()]
