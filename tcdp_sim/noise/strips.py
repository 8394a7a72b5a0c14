"""Exact draws from a symmetric unimodal density, in the time of a table look-up.

The law is cut into strips of equal probability at its own quantiles. Below the density, every strip but the outermost
ones contains a rectangle up to the density at the outer edge. The edges are so close that the rectangle is nearly all
of the strip. One uniform draw chooses the strip, the rectangle or the rest, and the place in the rectangle. The rest is
on average less than a hundredth of the strip, and is drawn by rejection. Strips in which rejection takes long are drawn
by inversion: the outermost ones, with their tails to the end of the floats, and those with a high step of the density.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.noise.distribution import Distribution

COUNT = 2048  # a power of two, so that a uniform draw splits without rounding
_BLOCK = 8192  # draws at a time, few enough to stay in the cache
_MOST_TRIES = 32.0  # expected trials of a rejection


@dataclass(frozen=True)
class Strips:
    """The strips of probability 1 / COUNT of a symmetric unimodal noise with scalar parameters, ascending."""

    inner: Floats  # edges nearer to the centre, in counts; shape (COUNT,)
    outer: Floats
    least: Floats  # density at the outer edge, and at the inner one
    most: Floats
    share: Floats  # the rectangle's share of the strip's probability; 0 where all of the strip is drawn by inversion
    slope: Floats  # slope of the draw in the uniform number, within the rectangle
    pdf: Callable[[Floats], Floats]
    isf_log: Callable[[Floats], Floats]

    def fill(self, out: Floats, *, rng: np.random.Generator) -> None:
        """Fill `out` with independent draws, in C order."""
        flat = out.reshape(-1) if out.flags.c_contiguous else np.empty(out.size)
        rest = [self._rectangles(rng, flat[start : start + _BLOCK]) for start in range(0, flat.size, _BLOCK)]
        if rest:
            places = np.concatenate([i * _BLOCK + place for i, (place, _) in enumerate(rest)])
            flat[places] = self._rest(rng, np.concatenate([strip for _, strip in rest]))
        if not out.flags.c_contiguous:
            out[...] = flat.reshape(out.shape)

    def _rectangles(self, rng: np.random.Generator, out: Floats) -> tuple[Ints, Ints]:
        """Fill `out`, and return the places at which the draw lies outside of its rectangle, with their strips."""
        rng.random(out=out)
        out *= COUNT
        strip = out.astype(np.intp)
        out -= strip
        rest = np.flatnonzero(out >= self.share.take(strip))
        out *= self.slope.take(strip)
        out += self.inner.take(strip)
        return rest, strip[rest]

    def _rest(self, rng: np.random.Generator, strip: Ints) -> Floats:
        """Return draws from the strips, without their rectangles."""
        x = np.empty(strip.size)
        inverted = self.share[strip] == 0
        x[inverted] = self._inverted(rng, strip[inverted])
        todo = np.flatnonzero(~inverted)
        while todo.size:
            here = strip[todo]
            x[todo] = self.inner[here] + (self.outer - self.inner)[here] * rng.random(todo.size)
            height = self.least[here] + (self.most - self.least)[here] * rng.random(todo.size)
            todo = todo[height > self.pdf(x[todo])]
        return x

    def _inverted(self, rng: np.random.Generator, strip: Ints) -> Floats:
        """Return draws from all of the strips, by the quantiles of a uniform tail within the strip."""
        further = np.minimum(strip, COUNT - 1 - strip)  # number of strips beyond
        log_p = -rng.standard_exponential(strip.size)  # of the tail, in units of a strip
        log_p = np.where(further == 0, log_p, np.log(further + np.exp(log_p))) - np.log(COUNT)
        return np.copysign(self.isf_log(log_p), self.outer[strip])


def strips(noise: Distribution) -> Strips:
    """Return the strips of a symmetric noise.

    The support must be unbounded and the density must decrease away from 0. The noise must have an accurate `isf`.
    """
    edge = noise.isf(0.5 - np.arange(COUNT // 2) / COUNT)  # from 0 to the last one
    further = np.append(edge[1:], np.inf)
    width, least, most = np.append(np.diff(edge), 0.0), noise.pdf(further), noise.pdf(edge)
    share = (COUNT * width * least).clip(0, 1)
    share[COUNT * width * (most - least) > _MOST_TRIES] = 0
    slope = np.divide(width, share, out=np.zeros_like(width), where=share > 0)
    return Strips(
        inner=_both_sides(edge, -1),
        outer=_both_sides(further, -1),
        least=_both_sides(least, 1),
        most=_both_sides(most, 1),
        share=_both_sides(share, 1),
        slope=_both_sides(slope, -1),
        pdf=noise.pdf,
        isf_log=noise.isf_log,
    )


def _both_sides(right: Floats, sign: int) -> Floats:
    """Return the values of all strips from the values of the right half, with that sign on the left."""
    return np.concatenate([sign * right[::-1], right])
