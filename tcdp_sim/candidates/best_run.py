"""The profile of the best of a random number of private runs, from the profile of a run.

Let f(x) = E x^K for the number K of runs. P and Q are the laws of a run's output on neighbours. If a run's output is
worse than y with the probabilities F under P and x under Q, the best output has the densities f'(F) dP and f'(x) dQ.
Whatever the order of outputs, F <= B(x) = inf over a of H(a) + a x, the power of the best test, with the profile H of
the run at a = e^e. So the profile of the best run at epsilon is at most

    E_P Psi(e^epsilon dQ/dP),   Psi(v) = max over x of (f'(B(x)) - f'(x) v)+.

Psi is convex and falls to 0, so it is a sum of terms w (1 - v / t)+, and the bound is the sum of w H(e^epsilon / t).
Nor is it larger than the mean number of runs times H(1), as all runs together reveal no more at epsilon = 0. A lower
end is what one order reveals: outputs with the largest loss of a set of the best test are the best of that set, and all
outputs outside of it are better. Derived here.
"""

import numpy as np

from tcdp_sim.candidates.tries import Tries
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import ULP

_BETTER = np.unique(np.concatenate([np.linspace(0, 1, 4001), np.geomspace(1e-12, 1, 8001)]))
_RANKS = 1 - _BETTER[::-1]
_ROUNDING = 1e-12  # relative, of sums of some hundred positive terms
_ERRORS = np.concatenate([np.geomspace(1e-40, 0.5, 81), 1 - np.geomspace(1e-9, 0.5, 81)[:-1]])  # also tried
_ORDERS = 24  # that a lower end tries


def mirrored(places: Floats, there: Floats, back: Floats) -> tuple[Floats, Floats]:
    """Return epsilons from -e to e and the profile there, from both directions: H(a) = 1 - a + a H_back(1 / a)."""
    below = places[:0:-1]
    return np.concatenate([-below, places]), np.concatenate([-np.expm1(-below) + np.exp(-below) * back[:0:-1], there])


def best_profile(tries: Tries, places: Floats, high: Floats, epsilons: Floats) -> Floats:
    """Return upper ends of the profile of the best run at epsilons, from those of a run at places from -e to e."""
    weights, bends = _bends(tries, places, high)
    at = epsilons[:, None] - np.log(bends)
    error = _ROUNDING + 8 * ULP * tries.steepness  # f' changes by its steepness times the rounding of a rank
    found = (_on_chords(places, high, at) * weights).sum(axis=1) * (1 + error)
    advantage = tries.mean * _on_chords(places, high, np.zeros(1)) * (1 + error)  # of all runs together, or more
    below = np.exp(np.minimum(epsilons, 0.0))
    return np.minimum(np.minimum(found, 1 - below + below * advantage), 1.0)


def largest_bend(tries: Tries, places: Floats, high: Floats) -> float:
    """Return the largest factor by which the choice raises the ratio of densities."""
    return float(_bends(tries, places, high)[1].max())


def _bends(tries: Tries, places: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return w and t of Psi, with B from above at ranks. Between two of them f'(B) is at most that of the upper one."""
    power = np.full(len(_RANKS), 1.0)
    for each, a in zip(high.tolist(), np.exp(places).tolist()):
        np.minimum(power, (each + a * _RANKS) * (1 + _ROUNDING), out=power)
    lines = _envelope(tries.slope(1 - power[1:]), tries.slope(_BETTER[:0:-1]))
    starts, falls = lines.T
    bends = np.append(np.diff(starts) / np.diff(falls), starts[-1] / falls[-1])
    return np.append(-np.diff(falls), falls[-1]) * bends, bends


def _envelope(starts: Floats, falls: Floats) -> Floats:
    """Return the lines start - fall v that are the largest ones somewhere in v >= 0 and above 0, the steepest first."""
    kept: list[tuple[float, float]] = []
    for fall, start in sorted(zip(falls.tolist(), starts.tolist()), reverse=True):
        while kept and start >= kept[-1][0]:
            kept.pop()
        if kept and start * kept[-1][1] <= kept[-1][0] * fall:  # it is the larger one only below 0
            continue
        while len(kept) > 1 and _is_below(kept[-2], kept[-1], (start, fall)):
            kept.pop()
        kept.append((start, fall))
    return np.array(kept)


def _is_below(first: tuple[float, float], middle: tuple[float, float], last: tuple[float, float]) -> bool:
    """Return True if the middle line is nowhere above both others."""
    return (first[0] - middle[0]) * (first[1] - last[1]) >= (first[0] - last[0]) * (first[1] - middle[1])


def _on_chords(places: Floats, high: Floats, at: Floats) -> Floats:
    """Return upper ends of a convex profile between its places, 1 before them, and its last value behind them."""
    a = np.exp(places)
    cell = np.clip(np.searchsorted(places, at, side="right") - 1, 0, len(places) - 2)
    share = (np.exp(np.minimum(at, places[-1])) - a[cell]) / (a[cell + 1] - a[cell])
    return np.where(at < places[0], 1.0, high[cell] + (high[cell + 1] - high[cell]) * np.clip(share, 0.0, 1.0))


def powers_of_tests(places: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return type I errors, ascending, and lower ends of the powers of the best tests, from ends of the profile.

    On a cell the convex profile lies above the chords of both neighbouring cells. So it lies above a line through
    points: its lower ends, and the places where those chords meet.
    """
    a = np.exp(places)
    middle = 0.5 * (low + high)
    errors = np.maximum(-np.diff(middle) / np.diff(a), 0.0)
    left = np.append(-1.0, (low[1:-1] - high[:-2]) / (a[1:-1] - a[:-2]))  # slopes before each cell; at first of 1 - a
    right = np.append((high[2:] - low[1:-1]) / (a[2:] - a[1:-1]), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = (low[1:] - low[:-1] + left * a[:-1] - right * a[1:]) / (left - right)
    inside = (meet > a[:-1]) & (meet < a[1:]) & (left < right)
    heights = low[:-1] + left * (meet - a[:-1])
    x = np.concatenate([a, meet[inside], [1 - low[0], a[-1]]])
    y = np.concatenate([low, heights[inside], [low[0], 0.0]])
    errors = np.unique(np.concatenate([errors[(errors > 0) & (errors < 1)], _ERRORS]))
    powers = ((y + errors[:, None] * x).min(axis=1)) * (1 - _ROUNDING)
    return errors, np.clip(np.maximum.accumulate(np.maximum(powers, errors)), 0.0, 1.0)


def best_cells(tries: Tries, errors: Floats, powers: Floats) -> list[tuple[Floats, Floats]]:
    """Return pairs of laws (P, Q) on cells that the best run attains, one for each of a few orders of the outputs.

    The first cell has the largest loss. The powers may be too small: then the best run has better tests than the pair.
    """
    sets = _envelope(tries.slope(1 - powers), tries.slope(1 - errors))
    chosen = sets[np.unique(np.linspace(0, len(sets) - 1, _ORDERS).astype(int)), 1]
    ranks = np.flatnonzero(np.isin(tries.slope(1 - errors), chosen))
    return [_merged(_masses(tries, powers, rank), _masses(tries, errors, rank), tries.none) for rank in ranks.tolist()]


def _masses(tries: Tries, shares: Floats, rank: int) -> Floats:
    """Return the masses of the best run in nested sets up to a rank, the largest loss best, and in all better ones."""
    inner = np.append(0.0, shares[: rank + 1])
    outside = 1 - shares[rank]
    return np.append(tries.mass(outside + inner[:-1], np.diff(inner)), tries.mass(np.zeros(1), np.array([outside])))


def _merged(p: Floats, q: Floats, none: float) -> tuple[Floats, Floats]:
    """Return cells whose ratio p / q falls, by merging neighbours, and the cell of no run.

    Powers below the truth give tests below the best ones in the order of the sets, and not in another order.
    """
    kept: list[tuple[float, float]] = []
    for x, y in zip(p.tolist(), q.tolist()):
        while kept and x * kept[-1][1] >= kept[-1][0] * y:
            x, y = x + kept[-1][0], y + kept[-1][1]
            kept.pop()
        kept.append((x, y))
    cells = np.array([*kept, (none, none)])
    return cells[:, 0], cells[:, 1]
