"""The choice of tilt, window and grid for a sum of losses, from crude atoms. It affects widths only, not soundness."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.numerics import root
from tcdp_sim.exact.losses.atoms import Atoms
from tcdp_sim.exact.losses.convolved import Window

_BINS_PER_SPREAD = 20  # near the mean; bins further off have a width of a 20th of the distance
_BINS_FAR_OFF, _TAIL = 4, 40.0  # per spread, and how far in spreads
_BINS_PER_FOLD = 8  # towards the largest loss, where the distance to it falls by e
_NEAREST = 1e-12  # spreads
_NEAR_MEAN = 8.0  # spreads: a largest loss so near may have a mass that matters
_TILTS = np.geomspace(1e-3, 1e5, 20)  # over the standard deviation of the sum
_FLATTER = np.array([0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
_STEEPER = np.array([1.05, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0, 4.0, 6.0])
_EQUAL = 0.05
_MOST_GAP = 9.0  # in nats, of rounding over the answer
_SATURATED = 0.2  # in nats: the mass of all sums but the largest, beside that of the largest
_USUAL = float(np.log(0.9))  # log of a delta above which the saddle point fails
_FLATTEST = 1.2  # of the shortest window: one with a flatter tilt may be longer by this factor
_CENTRE = 0.1  # standard deviations: a saddle point so near the mean is not corrected
_PHANTOM = 22.0  # folded mass is at most e^-22 of delta


@dataclass(frozen=True)
class Crude:
    """The sum of the crude laws of a list, of each (atoms, times)."""

    laws: tuple[tuple[Atoms, int], ...]

    @cached_property
    def _flat(self) -> tuple[Floats, Floats, Ints]:
        """Losses and logs of masses of every law in binned form, one law after the other, and where each begins."""
        binned = [_binned(atoms) for atoms, _ in self.laws]
        starts = np.cumsum([0] + [len(loss) for loss, _ in binned[:-1]]).astype(np.int64)
        return np.concatenate([loss for loss, _ in binned]), np.concatenate([log for _, log in binned]), starts

    def cut(self, rare: float) -> "Crude":
        """Return the laws without their largest losses, whose mass in each release is at most `rare`."""
        return Crude(tuple((_cut(atoms, rare), times) for atoms, times in self.laws))

    @cached_property
    def finite(self) -> bool:
        """True if all losses may be finite."""
        return all(len(atoms.loss) and atoms.mass.sum() > 0 for atoms, _ in self.laws)

    @cached_property
    def _times(self) -> Floats:
        return np.array([times for _, times in self.laws], dtype=np.float64)

    def cumulants(self, theta: float) -> tuple[float, float, float]:
        """Return K, K' and K'' of the sum at a tilt."""
        value, first, second = self._cumulants(np.array([theta])).ravel().tolist()
        return value, first, second

    def _cumulants(self, thetas: Floats) -> Floats:
        """Return K, K' and K'' of the sum at several tilts, shape (3, n)."""
        loss, log_mass, starts = self._flat
        logs = log_mass + thetas[:, None] * loss
        top = np.maximum.reduceat(logs, starts, axis=1)
        size = np.diff(np.append(starts, len(loss)))
        weight = np.exp(logs - np.repeat(top, size, axis=1))
        total = np.add.reduceat(weight, starts, axis=1)
        mean = np.add.reduceat(weight * loss, starts, axis=1) / total
        square = np.add.reduceat(weight * (loss - np.repeat(mean, size, axis=1)) ** 2, starts, axis=1) / total
        return np.stack([(self._times * part).sum(axis=1) for part in (top + np.log(total), mean, square)])

    def _values(self, thetas: Floats) -> Floats:
        """Return K at several tilts."""
        loss, log_mass, starts = self._flat
        logs = log_mass + thetas[:, None] * loss
        top = np.maximum.reduceat(logs, starts, axis=1)
        weight = np.exp(logs - np.repeat(top, np.diff(np.append(starts, len(loss))), axis=1))
        return np.asarray((self._times * (top + np.log(np.add.reduceat(weight, starts, axis=1)))).sum(axis=1))

    @property
    def releases(self) -> int:
        """The number of releases."""
        return sum(times for _, times in self.laws)

    @cached_property
    def spread(self) -> float:
        """The standard deviation of the sum, or a part of the mean if all losses are equal."""
        _, mean, square = self.cumulants(0.0)
        deviation = float(np.sqrt(square))
        return deviation if deviation > 1e-6 * abs(mean) else max(_EQUAL * abs(mean), 1e-150)

    @cached_property
    def _table(self) -> tuple[Floats, Floats]:
        """Tilts and the cumulants there, shape (3, n)."""
        tilts = _TILTS / self.spread
        return tilts, self._cumulants(tilts)

    @cached_property
    def _steepest(self) -> float:
        """The least tilt of the table that leaves almost only the largest sum. Steeper ones enlarge rounding alone."""
        loss, log_mass, starts = self._flat
        ends = np.append(starts[1:], len(loss)) - 1
        tilts, (values, _, _) = self._table
        rest = values - float(self._times @ log_mass[ends]) - tilts * float(self._times @ loss[ends])
        return float(tilts[int(np.argmax(rest < _SATURATED))] if (rest < _SATURATED).any() else tilts[-1])

    def tilt_of(self, epsilon: float) -> float:
        """Return the tilt under which the sum has the mean epsilon, or the nearest one of the table."""
        return min(self._tilt(lambda _, mean, __, ___: mean - epsilon), self._steepest)

    def _tilt(self, rising: Callable[[float, float, float, float], float]) -> float:
        """Return the tilt at which a function of K, K', K'' and the tilt, which rises with it, is 0."""
        tilts, cumulants = self._table
        values = [
            rising(value, mean, square, theta)
            for theta, (value, mean, square) in zip(tilts.tolist(), cumulants.T.tolist())
        ]
        above = next((i for i, value in enumerate(values) if value > 0), None)
        if above is None or above == 0:
            return float(tilts[0 if above == 0 else -1])
        ends = np.log(tilts[above - 1 : above + 1])

        def at(x: float) -> float:
            value, mean, square = self.cumulants(float(np.exp(x)))
            return rising(value, mean, square, float(np.exp(x)))

        low, high = float(ends[0]), float(ends[1])
        if not at(low) <= 0 <= at(high):  # where rounding decides
            return float(np.exp(0.5 * (low + high)))
        return float(np.exp(root(at, low, high, 1e-3)))

    def log_delta(self, epsilon: float) -> float:
        """Return an estimate of log delta(epsilon), by a saddle point."""
        theta = self.tilt_of(epsilon)
        value, _, square = self.cumulants(theta)
        return value - theta * epsilon - self._log_factor(theta, square)

    def epsilon(self, log_delta: float) -> float:
        """Return an estimate of epsilon >= 0 at a delta, by a saddle point and at most Chernoff's bound."""

        def fallen(value: float, mean: float, square: float, theta: float) -> float:
            return log_delta - (value - theta * mean - self._log_factor(theta, square))

        if log_delta > _USUAL:  # about the quantile of a normal law
            _, mean, square = self.cumulants(0.0)
            return max(mean - float(np.sqrt(square) * ndtri(np.exp(log_delta))), 0.0)
        tilts, (values, means, squares) = self._table
        if fallen(values[0], means[0], squares[0], tilts[0]) > 0:
            return 0.0
        chernoff = float(((values - log_delta) / tilts).min())
        return max(min(self.cumulants(self._tilt(fallen))[1], chernoff), 0.0)

    def quantile(self, probability: float, base: float) -> float:
        """Return an estimate of the value that the sum reaches with a probability, under the law with the tilt `base`.

        The tilt -1 gives the law under Q.
        """
        deviations, means = self._deviations(base, -float(ndtri(probability)), 0)
        return float(np.interp(-ndtri(probability), deviations, means))

    def tail(self, value: float, base: float) -> float:
        """Return an estimate of the probability that the sum reaches a value, under the law with the tilt `base`."""
        deviations, means = self._deviations(base, value, 1)
        return float(ndtr(-np.interp(value, means, deviations)))

    def _deviations(self, base: float, target: float, which: int) -> tuple[Floats, Floats]:
        """Return normal deviations and values of the sum that are as rare, close together near one of either kind.

        They are saddle points, with the r* of Lugannani and Rice.
        """
        tilts = np.concatenate([-_TILTS[::-1], _TILTS]) / self.spread
        for _ in range(3):
            found = self._saddles(base, tilts)
            place = int(np.clip(np.searchsorted(found[which], target), 1, len(tilts) - 1))
            tilts = np.linspace(tilts[place - 1], tilts[place], len(_TILTS))
        return found

    def _saddles(self, base: float, tilts: Floats) -> tuple[Floats, Floats]:
        values, means, squares = self._cumulants(base + tilts)
        rate = tilts * means - (values - self._values(np.array([base]))[0])
        w = np.sign(tilts) * np.sqrt(2 * np.maximum(rate, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = np.log(tilts * np.sqrt(squares) / w) / w
        half = 0.5 * np.abs(w)
        w = w + np.where(half > _CENTRE, np.clip(np.nan_to_num(moved), -half, half), 0.0)
        return np.maximum.accumulate(w), np.maximum.accumulate(means)

    def _log_factor(self, theta: float, square: float) -> float:
        # of a density e^(-theta y) (1 - e^-y), normal with this variance about y = 0
        return float(np.log(1 + theta * np.sqrt(2 * np.pi * square)) + np.log1p(theta))

    def window(self, epsilon: float, log_delta: float, step: float, margin: float) -> tuple[Window, float]:
        """Return the shortest window for delta near epsilon, and its length in nats.

        `margin` is the distance below epsilon from which on delta is needed.
        """
        best = None
        steep = self.tilt_of(epsilon)
        want = _PHANTOM - log_delta
        spread = np.sqrt(2 * max(want, 1.0)) / self.spread
        downs = -spread * np.array([0.25, 0.5, 1.0, 2.0])
        lows = self._values(downs)
        tilts = np.maximum(_FLATTER * steep, 0.02 / self.spread)
        values = self._values(tilts)
        far = max(2 * spread, 4 * tilts[-1])
        ups = np.sort(np.concatenate([_STEEPER * steep, _STEEPER * tilts[-1], np.geomspace(2 * tilts[-1], far, 10)]))
        highs = self._values(ups)
        deep = float(np.max((-want - lows) / -downs))  # P[S <= deep] <= e^-want, by the best of the tilts
        for start in (epsilon - margin, min(deep, epsilon - margin)):
            log_probability = np.minimum(lows - downs * start, 0.0)
            flatter = int(np.argmin(log_probability))
            for theta, value in zip(tilts, values):
                if value - theta * epsilon - log_delta > _MOST_GAP and theta != tilts[-1]:
                    continue
                below = max(want + log_probability[flatter], 0.0) / theta
                steeper = ups > 1.01 * theta
                above = (highs - ups * start + want)[steeper] / (ups[steeper] - theta)
                which = int(np.argmax(above <= _FLATTEST * above.min()))  # crude laws say little of steep tilts
                length = max(below, float(above[which]), margin) + 4 * step
                if best is None or length < best[1]:
                    best = Window(theta, start, 0, float(ups[steeper][which]), float(downs[flatter])), length
        assert best is not None
        return best


def _binned(atoms: Atoms) -> tuple[Floats, Floats]:
    """Return fewer atoms, close against the standard deviation or their distance from the mean, and logs of masses."""
    total = atoms.mass.sum()
    mean = (atoms.mass * atoms.loss).sum() / total
    spread = np.sqrt((atoms.mass * (atoms.loss - mean) ** 2).sum() / total)
    with np.errstate(divide="ignore"):
        if len(atoms.loss) < 64 or not spread > 1e-12 * abs(mean):
            return atoms.loss, np.log(atoms.mass)
        place = (atoms.loss - mean) / spread
        changes = np.diff(np.floor(_BINS_PER_SPREAD * np.arcsinh(place)), prepend=-np.inf) != 0
        # a tilted normal law has the same spread anywhere, so bins stay narrow as far as its tails have floats
        changes |= np.diff(np.floor(_BINS_FAR_OFF * np.clip(place, -_TAIL, _TAIL)), prepend=-np.inf) != 0
        below = np.maximum(atoms.loss[-1] - atoms.loss, _NEAREST * spread) / spread
        if atoms.loss[-1] - mean < _NEAR_MEAN * spread:
            changes |= np.diff(np.floor(_BINS_PER_FOLD * np.log(below)), prepend=-np.inf) != 0
        starts = np.flatnonzero(changes)
        mass = np.add.reduceat(atoms.mass, starts)
        loss = np.add.reduceat(atoms.mass * atoms.loss, starts) / np.where(mass > 0, mass, 1.0)
        kept = mass > 0
        return loss[kept], np.log(mass[kept])


def _cut(atoms: Atoms, rare: float) -> Atoms:
    above = np.cumsum(atoms.mass[::-1])[::-1]
    kept = max(int(np.count_nonzero(above > rare)), 1)
    return Atoms(atoms.loss[:kept], atoms.mass[:kept], atoms.lost)


def common_grid(lattices: list[tuple[float, int]], step: float, others: bool) -> float:
    """Return a step of at most about `step` with as many of the lattices on it as possible.

    lattices: the spacing and the number of releases of each; the heaviest go first. If all are on it and there are no
    `others`, the grid need not be finer than the lattices.
    """
    base = 0.0
    for spacing, _ in sorted(lattices, key=lambda each: -each[1]):
        if spacing > 0:
            common = _divisor(base, spacing) if base else spacing
            if common >= step / 4:
                base = common
            else:
                others = True
    base = _averaged(base, [spacing for spacing, _ in lattices])
    if base and not others:
        return base
    return base / max(np.ceil(base / step), 1.0) if base else step


def _averaged(base: float, spacings: list[float]) -> float:
    """Return a common divisor with the rounding errors of Euclid's algorithm averaged out."""
    steps = np.array([spacing / base for spacing in spacings]) if base else np.zeros(0)
    on = np.abs(steps - np.rint(steps)) < 1e-9 * np.maximum(steps, 1.0)
    return base * float(steps[on].sum() / np.rint(steps[on]).sum()) if steps[on].any() else base


def _divisor(a: float, b: float) -> float:
    """Return the greatest common divisor of two floats, or a tiny number if they have none."""
    small, large = min(a, b), max(a, b)
    least = 1e-9 * small
    while small > least:
        rest = large - small * np.rint(large / small)
        small, large = abs(rest), small
    return large if small <= 1e-12 * max(a, b) else small
