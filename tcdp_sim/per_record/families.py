"""Families of releases: the release for given parameters, and the parameters that anchors determine."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log
from typing import Any, ClassVar

from tcdp_sim.core.axes import Axis
from tcdp_sim.per_record.base import Release

Parameters = Mapping[str, Any]
Anchor = tuple[float, float]  # influence, value
ACCOUNTINGS = ("printed", "zcdp", "approx_dp", "pure")  # definitions of a record's privacy
MOST_LOG = 650.0  # log(influence / scale) stays below this, so that the noise's median is a finite float
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
        """Return the place of a shape on the searched scale; the shape `base` is at its lower end."""
        return log(max(shape - self.base, LEAST_OFFSET))

    def range(self) -> tuple[float, float]:
        """Return the two ends of the searched scale."""
        return self.place(self.least), self.place(self.most)

    def at(self, place: float) -> float:
        """Return the shape at a place; at the ends it is exactly `least` or `most`."""
        low, high = self.range()
        return self.least if place <= low else self.most if place >= high else self.base + exp(place)


class ReleaseFamily(ABC):
    """A family of releases with a scale and perhaps a shape, which one or two anchors determine.

    An anchor is a pair: a record's influence (in the units of the answer) and the largest privacy loss of that record
    (in nats). The noise of a plain ReleaseFamily is Gaussian, and a record only shifts it. Families with other noise
    derive from BoundedLossFamily.

    Source: Finley et al. (2024) [Fin24].

    Attributes
    ----------
    name : str
        The name of the family in the axis `release`.
    parameters : tuple of Axis
        The parameters besides the scale, including the shape.
    required : tuple of str
        The parameters without a default.
    shape : str
        The name of the parameter that a second anchor determines, "" for none.
    example : float
        A valid value of the shape.
    shape_of_one_anchor : float or None
        The default value of the shape with one anchor, if there is one.
    on_lattice : bool
        True if the noise is discrete. Then influences and answers are whole numbers, and the privacy of a record
        depends on the scale and the influence, not on their ratio alone.

    Examples
    --------
    >>> from tcdp_sim.per_record import RELEASE_FAMILIES
    >>> RELEASE_FAMILIES["gaussian"].release(2.0)
    AdditiveRelease(noise=Gaussian(scale=2.0))
    """

    name: ClassVar[str]
    parameters: ClassVar[tuple[Axis, ...]] = ()
    required: ClassVar[tuple[str, ...]] = ()
    shape: ClassVar[str] = ""
    example: ClassVar[float] = 1.0
    shape_of_one_anchor: ClassVar[float | None] = None
    on_lattice: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def release(cls, scale: float, **parameters: Any) -> Release:
        """Return the release with all of these parameters; ValueError if one is not valid."""

    @classmethod
    def shapes(cls, parameters: Parameters, influence: float, loss: float) -> Shapes:
        """Return the range in which the shape is searched.

        Parameters
        ----------
        parameters : mapping
            The values of the other parameters.
        influence : float
            The influence of the second anchor, the larger one.
        loss : float
            The least privacy loss that the first anchor admits, in nats.

        Returns
        -------
        Shapes
            The range.
        """
        raise ValueError(f"release {cls.name} has a shape but no range for it; define `shapes` in its class")

    @classmethod
    def optional(cls) -> dict[str, Any]:
        """Return the parameters that are neither required nor the shape, with their defaults."""
        return {axis.name: axis.default for axis in cls.parameters if axis.name not in (*cls.required, cls.shape)}

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the parameters that need not be given along with a scale, with their defaults."""
        shape = {} if cls.shape_of_one_anchor is None else {cls.shape: cls.shape_of_one_anchor}
        return cls.optional() | shape


class BoundedLossFamily(ReleaseFamily):
    """A family of additive releases whose privacy loss is bounded by a function of influence over scale.

    Source: Finley et al. (2024), Section 5 [Fin24].

    Examples
    --------
    >>> from tcdp_sim.per_record import RELEASE_FAMILIES
    >>> RELEASE_FAMILIES["laplace"].reach(2.0, {})
    2.0
    """

    @classmethod
    @abstractmethod
    def reach(cls, loss: float, parameters: Parameters) -> float:
        """Return the influence, in scales, at which the largest privacy loss is `loss` nats; inf if it overflows."""
