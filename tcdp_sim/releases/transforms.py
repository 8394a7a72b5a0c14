"""Transformations f of the answer before Gaussian noise is added: f(q + offset), concave and increasing."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import scalar


class Transform(ABC):
    """f(q + offset) of an answer q >= 0; the scale of the noise is in units of f."""

    offset: float

    @abstractmethod
    def forward(self, q: Any) -> Reals:
        """f(q + offset)."""

    @abstractmethod
    def rise(self, step: Any, start: Any = 0.0) -> Reals:
        """f(start + step + offset) - f(start + offset), without cancellation for step far below start + offset."""


@dataclass(frozen=True)
class Identity(Transform):
    """f(x) = x: Gaussian noise on the answer itself."""

    offset = 0.0

    def forward(self, q: Any) -> Reals:
        return np.add(q, 0.0)

    def rise(self, step: Any, start: Any = 0.0) -> Reals:
        return np.add(step, 0.0)


@dataclass(frozen=True)
class Root(Transform):
    """f(x) = x^(1/degree), degree >= 1 (below it f is not concave, and the policy false); offset >= 0 in counts.

    Source: Finley et al. 2024, Section 4. Degree 2 gives a policy that is linear in t; slower ones need more.
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
    """f(x) = log x; offset > 0 in counts, without which one record at q = 0 would give everything away."""

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
