"""Exact probabilities of the top bin of a noisy histogram, by quadrature."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.errors import real
from tcdp_sim.core.numerics import Bounds, integrate
from tcdp_sim.exact.extremes import log_all_below
from tcdp_sim.exact.resolution import resolved
from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.discrete import CLOSE

# Upper tail probabilities of the noise at which panels start: they resolve any peak from the centre to the first.
# Less is left out than any probability of interest: the top bin of k = 1e100 stays there with about 1e-100.
_TAILS = np.concatenate([10.0 ** -np.array([300, 200, 140, 100, 70, 50, 35, 25, 18, 12, 8, 5, 3, 2]), [0.05, 0.2]])
_ROUNDING = 1e-11  # relative, of the integrand
_BLOCK = 2**16  # points of a lattice in memory at once
_MOST_POINTS = 2**22  # of a lattice that are summed
_KINKS = 64  # number of bins next below the top whose kinks are edges


def top_stays_probability(noise: Noise, counts: Sequence[int] | Ints, k: float) -> Bounds:
    """Return P[a bin that is truly largest is largest in the release], with independent noise in every bin.

    If several bins share the largest count, any of them counts. A bin that ties with another one's release is not on
    top of it. Noise on a lattice makes such ties.

    Derived here: an integral over the largest noise among the bins at the top.

    Parameters
    ----------
    noise : Noise
        The noise of each bin.
    counts : sequence of int
        The counts of the occupied bins, in any order, at least one.
    k : float
        The size of the domain, at least len(counts).

    Returns
    -------
    Bounds
        The probability.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(float(top_stays_probability(Gaussian(1.0), [5, 5], 2).estimate), 6)
    1.0
    """
    gaps, ties, others, empty = _ranked(counts, k)
    reach = 2 * noise.isf(_TAILS[0])  # a bin this far below never wins, to within the mass left out
    near = gaps < reach
    gaps, others = gaps[near], others[near]
    losing = _losing(noise, gaps, others)

    def winner(z: Floats, log_chance: Floats, top: float) -> Floats:
        return np.exp(log_chance + losing(z) + _log_power(noise, z + _below(noise, np.array(top)), empty))

    return _expectation(noise, winner, ties, counts, gaps)


def spurious_wins_probability(noise: Noise, counts: Sequence[int] | Ints, k: float) -> Bounds:
    """Return P[some empty bin overtakes every bin that is truly largest in the release].

    Derived here: an integral over the largest noise among the bins at the top.

    Parameters
    ----------
    noise : Noise
        The noise of each bin.
    counts : sequence of int
        The counts of the occupied bins, in any order, at least one.
    k : float
        The size of the domain, at least len(counts).

    Returns
    -------
    Bounds
        The probability.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(float(spurious_wins_probability(Gaussian(1.0), [0], 4).estimate), 6)
    0.75
    """
    gaps, ties, _, empty = _ranked(counts, k)

    def overtaken(z: Floats, log_chance: Floats, top: float) -> Floats:
        log_below = _log_power(noise, z + top, empty)
        return np.exp(log_chance) * -np.expm1(log_below)

    return _expectation(noise, overtaken, ties, counts, gaps)


def _ranked(counts: Sequence[int] | Ints, k: float) -> tuple[Floats, int, Floats, float]:
    """Return the distinct gaps below the top count, the ties at the top, the gap multiplicities and the empty bins."""
    k = real("k", k, max(len(counts), 1), closed=True)
    values, times = np.unique(np.asarray(real("counts", counts, -np.inf)), return_counts=True)
    return values[-1] - values[:-1], times[-1], times[:-1].astype(float), k - times.sum()


def _log_density(noise: Noise, z: Floats, ties: int) -> Floats:
    """Return the log density of the largest noise among the `ties` top bins."""
    return np.log(ties) + noise.logpdf(z) + _log_power(noise, z, ties - 1)


def _log_power(noise: Noise, z: Floats, power: float) -> Floats:
    return log_all_below(noise, z, power) if power > 0 else np.zeros_like(z)


def _losing(noise: Noise, gaps: Floats, others: Floats) -> Callable[[Floats], Floats]:
    """Return the function of z that is log P[every other occupied bin stays strictly below the top's release].

    For noise on a lattice the points z are numbered from the last one, `_end`, downwards: a table of the distribution
    function at every point serves all bins.
    """
    moves = _below(noise, gaps)
    if not noise.is_discrete:
        return lambda z: log_all_below(noise, z + moves[:, None], others[:, None]).sum(axis=0)
    step, end = _step(noise), _end(noise)
    last = end + moves.max(initial=0.0)
    first = -end + moves.min(initial=0.0)
    points = first + np.arange(round((last - first) / step) + 1.0) * step
    below = np.concatenate([log_all_below(noise, each, 1.0) for each in _blocks(points)])
    ahead = np.rint(moves / step).astype(int)

    def losing(z: Floats) -> Floats:
        at = np.rint((z - first) / step).astype(int)
        return sum((times * below[at + move] for times, move in zip(others, ahead)), np.zeros(z.shape))

    return losing


def _below(noise: Noise, gap: Floats) -> Floats:
    """Return the largest move of z that stays strictly below z + gap: on a lattice one of whole steps."""
    if not noise.is_discrete:
        return gap
    step = _step(noise)
    return np.asarray((np.ceil(gap / step - CLOSE) - 1) * step)


def _blocks(z: Floats) -> Iterator[Floats]:
    return (z[first : first + _BLOCK] for first in range(0, z.size, _BLOCK))


def _end(noise: Noise) -> float:
    """Return the last point of a lattice that is summed. Raises ValueError if there are too many before it."""
    end = float(noise.isf(_TAILS[0]))
    if 2 * end / _step(noise) > _MOST_POINTS:
        valid = f"valid: at most {_MOST_POINTS:,}, a wider step"
        raise ValueError(f"the exact top bin with {noise!r} is a sum of {2 * end / _step(noise):.3g} terms; {valid}")
    return end


def _step(noise: Noise) -> float:
    """Return the distance of neighbouring points of a discrete noise."""
    return noise.step_length or 1.0


def _log_mass(noise: Noise, z: Floats, ties: int) -> Floats:
    """Return log P[the largest of `ties` draws is z] at points of a lattice."""
    with np.errstate(divide="ignore", invalid="ignore"):
        at_most, less = ties * noise.logcdf(z), ties * noise.logcdf(z - _step(noise))
        return np.asarray(np.where(less > -np.inf, at_most + np.log(-np.expm1(less - at_most)), at_most))


def _expectation(
    noise: Noise, f: Callable[[Floats, Floats, float], Floats], ties: int, counts: Sequence[int] | Ints, gaps: Floats
) -> Bounds:
    """Return the integral of f(z, log density at z, top) over all but the two tails beyond the first of _TAILS.

    f takes the largest noise z of the `ties` top bins. For noise on a lattice the integral is a sum.
    """
    top = float(np.max(counts))
    if noise.is_discrete:
        end = _end(noise)
        points = np.arange(round(2 * end / _step(noise)) + 1.0) * _step(noise) - end
        value = sum(float(f(z, _log_mass(noise, z, ties), top).sum()) for z in _blocks(points))
        left_out = 2 * ties * _TAILS[0]
        return Bounds(value * (1 - _ROUNDING), value, value * (1 + _ROUNDING) + left_out).clipped(0.0, 1.0)
    levels = noise.isf(_TAILS)
    edges = resolved(noise, np.concatenate([-levels, [0.0], levels]))
    kinks = noise.kinks
    shifted = [edges - top, edges - gaps.min(initial=np.inf), *(kinks - gap for gap in np.sort(gaps)[:_KINKS])]
    inside = np.concatenate(shifted)
    inside = inside[(inside > edges.min()) & (inside < edges.max())]
    with np.errstate(invalid="ignore", under="ignore"):
        low, middle, high = integrate(
            lambda z: f(z, _log_density(noise, z, ties), top), np.concatenate([edges, inside]), relative=1e-9
        )
    rounding = _ROUNDING * middle
    left_out = 2 * len(counts) * max(_TAILS[0], float(noise.sf(edges.max())))
    return Bounds(low - rounding, middle, high + rounding + left_out).clipped(0.0, 1.0)
