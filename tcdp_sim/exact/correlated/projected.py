"""Laws of one coordinate of the output of a matrix mechanism, as mixtures that reveal less than the whole output.

Along a direction with no negative entry, the record moves the output by s >= 0, at random. The likelihood ratio of the
mixture of N(s, 1) to N(0, 1) rises with the coordinate, so that thresholds are the best tests in both directions. A
smaller s lowers the power of each threshold. So moves may be rounded down.
"""

from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.exact.correlated.participations import MinSeparation
from tcdp_sim.exact.mixtures import Mixture
from tcdp_sim.noise import Gaussian

_ATOMS = 24
_CELLS = 2048  # of the sum of moves
_MOST_NUMBERS = 2 * 10**7
_LOWERED = 1 - 1e-9  # above the rounding errors of moves and probabilities
_RARE = 1e-12  # probability of the largest moves, which are lowered to the next one
_MOST_NOISE = 1e6  # over the largest move: rounding hides the losses of more noise


def of_bins(gram: Floats, sigma: float) -> Mixture | None:
    """Return the law along the longest move; None if no move is large enough."""
    first = int(np.argmax(np.diag(gram)))
    moves: Floats = gram[first] * (_LOWERED / float(np.sqrt(gram[first, first])))
    ascending: Floats = np.sort(moves)
    return _mixture(ascending, np.full(len(gram), 1.0 / len(gram)), sigma)


def of_steps(moves: Floats, participation: MinSeparation, sigma: float) -> Mixture | None:
    """Return the law along a direction in which the steps move the output by `moves` >= 0, at random."""
    p, b = participation.probability, participation.separation
    n, moves = len(moves), moves * _LOWERED
    cells = int(np.clip(_MOST_NUMBERS // (n + b), _ATOMS, _CELLS))
    step = max(float(np.sort(moves)[::-1][: -(-n // b)].sum()) / cells, 1e-300)
    places = np.floor(moves / step).astype(int)
    law = np.zeros((n + b, cells + 2))  # of the sum of the moves from step i on, for a record that is free then
    law[n:, 0] = 1.0
    for i in range(n - 1, -1, -1):
        law[i] = (1 - p) * law[i + 1]
        law[i, places[i] :] += p * law[i + b, : law.shape[1] - places[i]]
    weights = law[0] if not participation.warm else (law[0] + p * law[1:b].sum(axis=0)) / (1 + (b - 1) * p)
    return _mixture(step * np.arange(len(weights), dtype=float), weights, sigma)


def _mixture(moves: Floats, weights: Any, sigma: float) -> Mixture | None:
    """Return the mixture of few moves, each rounded down. `moves`: ascending."""
    likely = moves[np.cumsum(weights[::-1])[::-1] > _RARE]
    if not likely[-1] * _MOST_NOISE > sigma:
        return None
    edges = np.linspace(likely[0], likely[-1], _ATOMS)
    atom = np.clip(np.searchsorted(edges, moves, side="right") - 1, 0, _ATOMS - 1)
    masses = np.bincount(atom, weights, _ATOMS)
    kept = masses > 0
    shifts, masses = edges[kept] * _LOWERED, masses[kept] / masses.sum()
    return Mixture(Gaussian(sigma), tuple(shifts.tolist()), tuple(masses.tolist()))
