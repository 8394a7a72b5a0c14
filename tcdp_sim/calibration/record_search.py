"""The search for the scale and the shape of a release that meets anchors (influence, value).

Upper ends of the values are compared with the anchors.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from math import exp, inf, log
from typing import Any

import numpy as np

from tcdp_sim.calibration.outward_search import extremes, first_computable, increasing_root, largest_root
from tcdp_sim.calibration.record_measures import Accounting, largest_loss
from tcdp_sim.core.arrays import Floats
from tcdp_sim.per_record import BoundedLossFamily, Release, ReleaseFamily
from tcdp_sim.per_record.families import Anchor, Parameters, Shapes

_FIRST_WIDENING, _ATTEMPTS = 2.5e-13, 12  # relative; it grows fourfold each time, to 1e-6 at most
_LEAST_RATIO = 1e-6  # least ratio of a value to its target that is told apart from 0
_LEAST_VALUE = 1e-300
_NEWTON, _MET, _STEP = {"xtol": 1e-11, "maxfev": 40}, 1e-8, 1e-4
_DIGITS = 36.0  # log of the largest ratio of two floats whose sum differs from the larger one


class NoShapeError(ValueError):
    """An error for two anchors that no shape meets."""


@dataclass(frozen=True)
class Search(ABC):
    """A search among the releases of one family with fixed other parameters, under one accounting."""

    family: type[ReleaseFamily]
    accounting: Accounting
    parameters: Parameters

    @abstractmethod
    def scale(self, anchor: Anchor, shape: Parameters) -> float:
        """Return the scale at which the anchor is met."""

    @abstractmethod
    def excess(self, release: Release, anchor: Anchor) -> float:
        """Return an increasing function of the value at the anchor, which is zero if the anchor is met."""

    def build(self, scale: float, shape: Parameters) -> Release:
        """Return the release of that scale. Raises ValueError if the scale is too extreme for floats."""
        if not 1e-300 < scale < 1e300:
            raise ValueError(f"scale = {scale:g} would meet the anchors but is outside (1e-300, 1e300)")
        return self.family.release(scale, **self.parameters, **shape)

    def release(self, anchors: tuple[Anchor, ...], shape: Parameters) -> Release:
        """Return the release that meets one anchor with the given shape, or two anchors with a shape of its own.

        Pass {} for a family without a shape. The scale is widened by as little as necessary until the upper ends meet
        the anchors. Raises NoShapeError if no shape meets two anchors.
        """
        if len(anchors) == 2:
            shape = {self.family.shape: self.shape(*anchors)}
        scale = self.scale(anchors[0], shape)
        for attempt in range(_ATTEMPTS):
            release = self.build(scale * (1 + (_FIRST_WIDENING * 4**attempt if attempt else 0.0)), shape)
            if all(self.accounting.value(release, t) <= value for t, value in anchors):
                return release
        raise ValueError(f"no release is confirmed to meet anchors = {anchors} (accounting = {self.accounting.name})")

    def shape(self, first: Anchor, second: Anchor, start: float | None = None) -> float:
        """Return the largest shape that meets both anchors, searched from `start`.

        Raises NoShapeError if there is none.
        """
        shapes = self._shapes(first, second)

        @cache
        def release(u: float) -> Release:
            parameters = {self.family.shape: shapes.at(u)}
            return self.build(self.scale(first, parameters), parameters)

        @cache
        def excess(u: float) -> float:
            return self.excess(release(u), second)

        @cache
        def level(u: float) -> float:
            return log(max(self.accounting.value(release(u), second[0]), _LEAST_VALUE))

        starts = (shapes.start,) if start is None else (start, shapes.start)
        begin = first_computable(excess, [shapes.place(each) for each in starts])
        place = largest_root(excess, begin, *shapes.range())
        if place is None:
            least, most = (exp(end) for end in extremes(level, begin, *shapes.range()))
            raise NoShapeError(
                f"anchors = {(first, second)} are not feasible for {self.family.name} "
                f"(accounting = {self.accounting.name}); "
                f"valid with the first one: {least:.6g} <= value at {second[0]:g} <= {most:.6g}"
            )
        return shapes.at(place)

    def _shapes(self, first: Anchor, second: Anchor) -> Shapes:
        return self.family.shapes(self.parameters, second[0], self.accounting.least_loss(first[1]))


class ByShift(Search):
    """A search for Gaussian noise that a record shifts. The value follows from the shift in units of the scale."""

    def scale(self, anchor: Anchor, shape: Parameters) -> float:
        t, value = anchor
        return self.accounting.deviations(self.build(1.0, shape), t) / self.accounting.gaussian_shift(value)

    def excess(self, release: Release, anchor: Anchor) -> float:
        t, value = anchor
        return log(self.accounting.deviations(release, t) / self.accounting.gaussian_shift(value))


class ByScale(Search):
    """A search over the scale of discrete noise, whose value at an influence depends on both."""

    def scale(self, anchor: Anchor, shape: Parameters) -> float:
        t, value = anchor
        noise: Any = self.build(t, shape).worst_shift(t)[0]
        noise.need_steps("influence", t)
        bounded = noise.largest_loss(t) < inf
        least = self.accounting.least_loss(value) if bounded else 0.0
        if bounded and self.accounting.by_largest_loss:
            return t / least
        start = log(least) if least else 0.0

        def excess(log_more: float) -> float:
            return self.excess(self.build(t / (least + exp(log_more)), shape), anchor)

        log_more = increasing_root(excess, start - bounded, start - _DIGITS, start + _DIGITS)
        if log_more is None:
            raise ValueError(f"value = {value:g} is out of reach for {self.family.name} at influence {t:g}")
        return t / (least + exp(log_more))

    def excess(self, release: Release, anchor: Anchor) -> float:
        t, value = anchor
        return log(max(self.accounting.ratio(release, t, value), _LEAST_RATIO))


class ByLoss(Search):
    """A search for additive noise under an accounting that is a function of its largest loss."""

    family: type[BoundedLossFamily]

    def scale(self, anchor: Anchor, shape: Parameters) -> float:
        t, value = anchor
        return t / self._distance(self.accounting.least_loss(value), shape)

    def excess(self, release: Release, anchor: Anchor) -> float:
        t, value = anchor
        return log(largest_loss(release, t) / self.accounting.least_loss(value))

    def _distance(self, loss: float, shape: Parameters) -> float:
        """Return the influence in scales at which the largest loss is `loss`.

        Raises ValueError if it is no usable float.
        """
        distance = self.family.reach(loss, {**self.parameters, **shape})
        if not 1e-300 < distance < 1e300:
            raise ValueError(f"a largest loss of {loss:g} is met at {distance:g} scales, outside (1e-300, 1e300)")
        return distance


class ByValue(ByLoss):
    """A search for additive noise under an accounting by quadrature.

    The search is over the largest loss, from the least one up.
    """

    def scale(self, anchor: Anchor, shape: Parameters) -> float:
        t, value = anchor
        unit, least = self.build(1.0, shape), self.accounting.least_loss(value)

        def excess(log_more: float) -> float:
            return self.excess(unit, (self._distance(least + exp(log_more), shape), value))

        log_more = increasing_root(excess, log(least) - 1, log(least) - _DIGITS, log(least) + _DIGITS)
        if log_more is None:
            raise ValueError(f"value = {value:g} is out of reach for {unit}: quadrature finds no such loss")
        return t / self._distance(least + exp(log_more), shape)

    def excess(self, release: Release, anchor: Anchor) -> float:
        t, value = anchor
        return log(max(self.accounting.ratio(release, t, value), _LEAST_RATIO))

    def shape(self, first: Anchor, second: Anchor, start: float | None = None) -> float:
        """Return the largest shape that meets both anchors.

        The search starts at the shape that would be right if the value were a function of the largest loss.
        """
        closed = Accounting("printed" if self.accounting.name == "zcdp" else "pure", self.accounting.delta)
        try:
            start = ByLoss(self.family, closed, self.parameters).shape(first, second)
        except NoShapeError:
            start = self._shapes(first, second).start
        try:
            shape = self._both_at_once(first, second, start)
        except ValueError:  # some release on the way is out of reach
            shape = None
        return super().shape(first, second, start) if shape is None else shape

    def _both_at_once(self, first: Anchor, second: Anchor, start: float) -> float | None:
        """Return the largest shape by Newton's method in shape and largest loss, or None if the method fails.

        It is several times as fast as the nested search.
        """
        (t, value), ratio = first, second[0] / first[0]
        shapes, least = self._shapes(first, second), self.accounting.least_loss(value)

        def excesses(x: Floats) -> list[float]:
            shape = {self.family.shape: shapes.at(x[0])}
            distance, unit = self._distance(least + exp(x[1]), shape), self.build(1.0, shape)
            return [self.excess(unit, anchor) for anchor in ((distance, value), (distance * ratio, second[1]))]

        shape = {self.family.shape: start}
        loss = largest_loss(self.build(self.scale(first, shape), shape), t)
        begin = [shapes.place(start), log(max(loss - least, least * exp(-_DIGITS)))]
        from scipy.optimize import root  # slow to import

        found = root(excesses, begin, options=_NEWTON)
        low, high = shapes.range()
        if max(map(abs, excesses(found.x))) > _MET or not low < found.x[0] < high:
            return None
        slopes = [np.subtract(excesses(found.x + step), excesses(found.x)) / _STEP for step in _STEP * np.eye(2)]
        rises = np.linalg.det(slopes) * slopes[1][0] < 0  # sign of the second excess's slope where the first stays 0
        return shapes.at(float(found.x[0])) if rises else None


def search(family: type[ReleaseFamily], accounting: str, delta: float, parameters: Parameters) -> Search:
    """Return the search that calibrates a family in a currency.

    Raises ValueError if the two do not go together, and for an unknown currency.
    """
    currency = Accounting(accounting, delta)
    if issubclass(family, BoundedLossFamily):
        return (ByLoss if currency.by_largest_loss else ByValue)(family, currency, parameters)
    if accounting == "pure" and not (family.on_lattice and largest_loss(family.release(1.0, **parameters), 1.0) < inf):
        raise ValueError(
            f"accounting = 'pure' is not valid for {family.name}: the loss of Gaussian noise has no bound; "
            "valid: printed, zcdp, approx_dp"
        )
    return (ByScale if family.on_lattice else ByShift)(family, currency, parameters)
