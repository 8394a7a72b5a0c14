"""Families of releases: what a release of each is made of, and what anchors decide of it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log
from typing import Any, ClassVar

from tcdp_sim.core.axes import Axis
from tcdp_sim.releases.base import Release

Parameters = Mapping[str, Any]
Anchor = tuple[float, float]  # influence, value
ACCOUNTINGS = ("printed", "zcdp", "approx_dp", "pure")  # currencies of a record's privacy
MOST_LOG = 650.0  # of influence over scale: both are floats, and so is the noise's median
LEAST_OFFSET = 1e-290
OFFSET = Axis("offset", "number that is added before a root or a logarithm is taken", "1", "at least 0")


@dataclass(frozen=True)
class Shapes:
    """The range of a shape, least <= shape <= most, searched from `start` on the scale of log(shape - base)."""

    least: float
    most: float
    start: float
    base: float = 0.0

    def place(self, shape: float) -> float:
        """Return the place of a shape on the scale that is searched; a shape that is `base` is at its lower end."""
        return log(max(shape - self.base, LEAST_OFFSET))

    def range(self) -> tuple[float, float]:
        """Return the ends of that scale."""
        return self.place(self.least), self.place(self.most)

    def at(self, place: float) -> float:
        """Return the shape at a place, at the ends exactly."""
        low, high = self.range()
        return self.least if place <= low else self.most if place >= high else self.base + exp(place)


class ReleaseFamily(ABC):
    """Releases with a scale, which one anchor decides, and perhaps a shape, which a second one decides.

    An anchor is a record's influence, in the units of the answer, and what that record may lose, in nats. The noise of
    a plain ReleaseFamily is Gaussian, and a record only shifts it; other noise has a BoundedLossFamily.
    """

    name: ClassVar[str]
    parameters: ClassVar[tuple[Axis, ...]] = ()  # beside the scale, the shape among them
    required: ClassVar[tuple[str, ...]] = ()  # those without which there is no release; the others have a default
    shape: ClassVar[str] = ""  # the parameter that a second anchor decides, "" for none
    example: ClassVar[float] = 1.0  # a valid value of the shape
    shape_of_one_anchor: ClassVar[float | None] = None  # the shape's value with one anchor, if it has a default there

    @classmethod
    @abstractmethod
    def release(cls, scale: float, **parameters: Any) -> Release:
        """Return the release with all of these parameters; ValueError if one is not valid."""

    @classmethod
    def shapes(cls, parameters: Parameters, influence: float, loss: float) -> Shapes:
        """Return the range of the shape that is searched.

        parameters: the others; influence: of the second anchor, the larger one; loss: the least one, in nats, that the
        first anchor admits.
        """
        raise NotImplementedError(f"{cls.name} has a shape and does not say in which range")

    @classmethod
    def optional(cls) -> dict[str, Any]:
        """Return the parameters that are neither required nor the shape, with their defaults."""
        return {axis.name: axis.default for axis in cls.parameters if axis.name not in (*cls.required, cls.shape)}

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the parameters that need not be given with a scale, and their defaults."""
        shape = {} if cls.shape_of_one_anchor is None else {cls.shape: cls.shape_of_one_anchor}
        return cls.optional() | shape


class BoundedLossFamily(ReleaseFamily):
    """Additive noise whose privacy loss is bounded by a function of a record's influence over the scale."""

    @classmethod
    @abstractmethod
    def reach(cls, loss: float, parameters: Parameters) -> float:
        """Return the influence, in scales, at which the largest privacy loss is `loss` nats; inf if it is no float."""
