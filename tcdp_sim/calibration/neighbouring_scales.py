"""Which stretched and shifted noises two neighbours can have, and finitely many that stand for all of them.

M(x) = f(x) + S(x) Z, with S(x') within e^(+-t) of S(x), and |f(x) - f(x')| <= min(S(x), S(x')). In units of S(x), and
of noise Z = X / s, the neighbour has e^tau X + shift with |tau| <= t and |shift| <= s min(1, e^tau): a region that goes
into itself when the pair is turned round, so one direction of the divergence is enough. Derived here, for noises with
`log_concave_size`:

1. At fixed tau every f-divergence grows with |shift|. It is a mixture of hockey-stick divergences, of either
   direction, so of terms 1 - (integral of min(p, c q)), or the like; and that integral is one over u of the length of
   {p > u} and {c q > u} together, two intervals with centres 0 and `shift`, which overlap the less the further apart.
2. At fixed shift (a - 1) D_a(X || e^tau X + shift) is convex in tau. With u = log|x - shift|, log q = h(u - tau) - u
   and a constant, h the log density of log|X|, which is concave: so log q is concave in tau at every x, and
   log E_P[(p / q)^(a - 1)] convex, as that of an integral of log-convex functions.

So over tau in [0, t] the worst pair is (0, s) or (t, s). For tau < 0, [-t, 0] is cut into cells, and on each of them
the shift is at most that of its inner end: by 1 and 2 its outer end with that shift, or the cell before, is worst.
"""

from itertools import pairwise

import numpy as np

Pair = tuple[float, float]  # log-scale, shift
CELLS = 20  # which cost a fifth of a percent of the standard deviation at a smoothing of 0.05
_FINER = 1.2  # power of the distance to the far end, where cells have to be narrow


def cells(smoothing: float) -> list[float]:
    """0 = c_0 < ... < c_CELLS = smoothing, narrower towards the end."""
    shares = np.arange(CELLS, -1, -1) / CELLS
    return [float(each) for each in smoothing * (1 - shares**_FINER)]


def main_pairs(smoothing: float, shift: float) -> list[Pair]:
    """Three pairs that neighbours can have, the worst ones or nearly so."""
    return [(0.0, shift), (smoothing, shift), (-smoothing, shift * np.exp(-smoothing))]


def covering_pairs(smoothing: float, shift: float) -> list[Pair]:
    """Pairs the worst of which is at least as bad, at every order, as any that neighbours can have."""
    ends = cells(smoothing)
    outer = [(-far, shift * np.exp(-near)) for near, far in pairwise(ends)]
    return [*reversed(outer), (smoothing, shift), (0.0, shift)]  # those that fail first come first


def box_pairs(smoothing: float, shift: float) -> list[Pair]:
    """The same for all |tau| <= smoothing and |shift| <= `shift`, neighbours or not: its corners, by 1 and 2."""
    return [(smoothing, shift), (-smoothing, shift)]


def covering_cells(smoothing: float, shift: float) -> list[tuple[Pair, float]]:
    """((log-scales), shift) of cells that cover the pairs of neighbours, each with its largest shift."""
    ends = cells(smoothing)
    outside = [((near, far), shift) for near, far in pairwise(ends)]
    inside = [((-near, -far), shift * float(np.exp(-near))) for near, far in pairwise(ends)]
    return outside + inside


def box_cells(smoothing: float, shift: float) -> list[tuple[Pair, float]]:
    """The same for the whole box."""
    ends = cells(smoothing)
    return [((sign * near, sign * far), shift) for sign in (1, -1) for near, far in pairwise(ends)]
