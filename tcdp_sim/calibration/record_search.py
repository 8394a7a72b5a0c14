"""The scale and the shape of a release that meet anchors (influence, value), values certified from above."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

from scipy.optimize import brentq

from tcdp_sim.calibration.accounting import Accounting, largest_loss
from tcdp_sim.calibration.record_families import Parameters, RecordFamily
from tcdp_sim.releases import Release

Anchor = tuple[float, float]
Increasing = Callable[[float], float]
_XTOL = 1e-11  # of logs
_FIRST_STEP, _GROWTH, _LEAST_STEP = 0.4, 1.6, 0.02  # of logs
_FIRST_WIDENING, _ATTEMPTS = 2.5e-13, 12  # relative, fourfold each time: at most 1e-6
_AT_AN_END = 1e-9  # of the log of a value: a shape that near an end of its range is that end
_LEAST_RATIO = 1e-6  # of a value to its target: below, only that it is too small matters
_DIGITS = 36.0  # log of the ratios of floats that still add up


class NoShapeError(ValueError):
    """No shape meets both anchors; `least` and `most` are the values at the second one that some shape has."""

    def __init__(self, least: float, most: float) -> None:
        super().__init__(f"valid: {least:g} <= second value <= {most:g}")
        self.least, self.most = least, most


@dataclass(frozen=True)
class Search(ABC):
    """For the releases of one family, by their parameters without scale and shape, in one currency."""

    family: RecordFamily
    accounting: Accounting
    parameters: Parameters

    @abstractmethod
    def scale(self, anchor: Anchor, shape: Parameters) -> float:
        """The scale at which the anchor is met."""

    @abstractmethod
    def excess(self, release: Release, anchor: Anchor) -> float:
        """An increasing function of the value at the anchor, zero where it is met."""

    def build(self, scale: float, shape: Parameters) -> Release:
        """The release of that scale; ValueError for one that is not a float to compute with."""
        if not 1e-300 < scale < 1e300:
            raise ValueError(f"scale = {scale:g} would meet the anchors, but is not a float to compute with")
        return self.family.build(scale=scale, **self.parameters, **shape)

    def shape(self, first: Anchor, second: Anchor, start: float | None = None) -> float:
        """The shape with which both anchors are met, searched from `start`; NoShapeError if none does."""
        shapes = self.family.shapes(self.parameters, second[0], self.accounting.least_loss(first[1]))
        begin = shapes.place(shapes.start if start is None else start)

        def excess(u: float) -> float:
            return self.excess(self._with_first(first, shapes.at(u)), second)

        best = _crossing(excess, begin, *shapes.range())
        if abs(best.value) > _AT_AN_END:
            ends = (_crossing(lambda u: side + 0 * excess(u), begin, *shapes.range()).at for side in (1.0, -1.0))
            releases = (self._with_first(first, shapes.at(end)) for end in ends)
            raise NoShapeError(*(self.accounting.value(release, second[0]) for release in releases))
        return shapes.at(best.at)

    def _with_first(self, first: Anchor, shape: float) -> Release:
        parameters = {self.family.shape: shape}
        return self.build(self.scale(first, parameters), parameters)


class ByShift(Search):
    """Gaussian noise that a record shifts: the value is known from the shift in scales."""

    def scale(self, anchor: Anchor, shape: Parameters) -> float:
        t, value = anchor
        return self.accounting.deviations(self.build(1.0, shape), t) / self.accounting.gaussian_shift(value)

    def excess(self, release: Release, anchor: Anchor) -> float:
        t, value = anchor
        return log(self.accounting.deviations(release, t) / self.accounting.gaussian_shift(value))


class ByLoss(Search):
    """Additive noise in a currency that is a function of its largest loss."""

    def scale(self, anchor: Anchor, shape: Parameters) -> float:
        t, value = anchor
        return t / self._distance(self.accounting.least_loss(value), shape)

    def excess(self, release: Release, anchor: Anchor) -> float:
        t, value = anchor
        return log(largest_loss(release, t) / self.accounting.least_loss(value))

    def _distance(self, loss: float, shape: Parameters) -> float:
        """The influence in scales at which the largest loss is `loss`; ValueError if that is not a float."""
        assert self.family.reach is not None
        distance = self.family.reach(loss, {**self.parameters, **shape})
        if not 1e-300 < distance < 1e300:
            raise ValueError(f"a largest loss of {loss:g} is met at {distance:g} scales, too far to compute with")
        return distance


class ByValue(ByLoss):
    """Additive noise in a currency that takes quadrature: its largest loss is searched, from the least one on."""

    def scale(self, anchor: Anchor, shape: Parameters) -> float:
        t, value = anchor
        unit, least = self.build(1.0, shape), self.accounting.least_loss(value)

        def excess(log_more: float) -> float:
            return self.excess(unit, (self._distance(least + exp(log_more), shape), value))

        start = log(least)
        best = _crossing(excess, start - 1, start - _DIGITS, start + _DIGITS)
        if abs(best.value) > _AT_AN_END:
            raise ValueError(f"value {value:g} is out of reach of quadrature for {unit}")
        return t / self._distance(least + exp(best.at), shape)

    def excess(self, release: Release, anchor: Anchor) -> float:
        t, value = anchor
        return log(max(self.accounting.ratio(release, t, value), _LEAST_RATIO))

    def shape(self, first: Anchor, second: Anchor, start: float | None = None) -> float:
        """From the shape that would do if the value were a function of the largest loss."""
        closed = Accounting("printed" if self.accounting.name == "zcdp" else "pure", self.accounting.delta)
        try:
            start = ByLoss(self.family, closed, self.parameters).shape(first, second)
        except NoShapeError:
            start = None
        return super().shape(first, second, start)


def certified(search: Search, anchors: tuple[Anchor, ...], scale: float, shape: Parameters) -> Release:
    """The release of that scale, wider by as little as it takes to be certified at all anchors."""
    for attempt in range(_ATTEMPTS):
        release = search.build(scale * (1 + (_FIRST_WIDENING * 4**attempt if attempt else 0.0)), shape)
        if all(search.accounting.value(release, t) <= value for t, value in anchors):
            return release
    raise ValueError(f"nothing is certified at anchors = {anchors}, accounting = {search.accounting.name}")


class _Crossing(NamedTuple):
    """Where an increasing function is nearest to zero, and what it is there."""

    at: float
    value: float


def _crossing(excess: Increasing, start: float, low: float, high: float) -> _Crossing:
    """Where an increasing function on [low, high] crosses zero, searched outwards from `start`.

    Where it does not cross: an end, or the last place before that at which the function does not raise ValueError.
    """
    u = min(max(start, low), high)
    here, step, growth = excess(u), _FIRST_STEP, _GROWTH
    side = -1 if here > 0 else 1
    end = high if side > 0 else low
    while here * side < 0 and u != end and step > _LEAST_STEP:
        after = min(max(u + side * step, low), high)
        try:
            there = excess(after)
        except ValueError:
            step, growth = step / 4, 1.0
            continue
        if there * side >= 0:
            return _Crossing(brentq(excess, u, after, xtol=_XTOL), 0.0)
        u, here, step = after, there, growth * step
    return _Crossing(u, here)
