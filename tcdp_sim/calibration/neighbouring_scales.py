"""The pairs of stretched and shifted noises that two neighbours can have, and finitely many that stand for all of them.

M(x) = f(x) + S(x) Z with S(x') within e^(+-t) of S(x) and |f(x) - f(x')| <= min(S(x), S(x')). In units of S(x), and of
noise Z = X / s, the neighbour has e^tau X + shift with |tau| <= t and |shift| <= s min(1, e^tau). This region is mapped
to itself if the neighbours change places, so one direction of the divergence is enough. Two facts are derived here for
noises with `log_concave_size`:

1. At fixed tau every f-divergence grows with |shift|. An f-divergence is a mixture of hockey-stick divergences of both
   directions, hence of terms such as 1 - (integral of min(p, c q)). That integral is one over u of the length of
   {p > u} and {c q > u} together. These are two intervals with centres 0 and `shift`, whose overlap shrinks as the
   centres move apart.
2. At fixed shift (a - 1) D_a(X || e^tau X + shift) is convex in tau. With u = log|x - shift| we have, up to a constant,
   log q = h(u - tau) - u. The log density h of log|X| is concave, so log q is concave in tau at every x. Hence
   log E_P[(p / q)^(a - 1)] is convex, because it is the log of an integral of log-convex functions.

So over tau in [0, t] the worst pair is (0, s) or (t, s). For tau < 0 the interval [-t, 0] is cut into cells. On each
cell the shift is at most the shift of its inner end. By 1 and 2 the worst pair is the outer end with that shift, or
lies in the cell before.
"""

from itertools import pairwise

import numpy as np

Pair = tuple[float, float]  # log-scale, shift
CELLS = 20  # the cells cost 0.2% of the standard deviation at a smoothing of 0.05
_FINER = 1.2  # power of the distance to the far end, where cells must be narrow


def cells(smoothing: float) -> list[float]:
    """Return the ends 0 = c_0 < ... < c_CELLS = smoothing of cells that become narrower towards the end."""
    shares = np.arange(CELLS, -1, -1) / CELLS
    return [float(each) for each in smoothing * (1 - shares**_FINER)]


def main_pairs(smoothing: float, shift: float) -> list[Pair]:
    """Return three pairs that neighbours can have and that are the worst ones or nearly so."""
    return [(0.0, shift), (smoothing, shift), (-smoothing, shift * np.exp(-smoothing))]


def covering_pairs(smoothing: float, shift: float) -> list[Pair]:
    """Return pairs the worst of which is at least as bad, at every order, as any pair that neighbours can have."""
    ends = cells(smoothing)
    outer = [(-far, shift * np.exp(-near)) for near, far in pairwise(ends)]
    return [*reversed(outer), (smoothing, shift), (0.0, shift)]  # the pairs most likely to fail come first


def box_pairs(smoothing: float, shift: float) -> list[Pair]:
    """Return the corners that cover all |tau| <= smoothing and |shift| <= `shift` by 1 and 2, neighbours or not."""
    return [(smoothing, shift), (-smoothing, shift)]


def covering_cells(smoothing: float, shift: float) -> list[tuple[Pair, float]]:
    """Return cells of log-scales that cover the pairs of neighbours, each with its largest shift."""
    ends = cells(smoothing)
    outside = [((near, far), shift) for near, far in pairwise(ends)]
    inside = [((-near, -far), shift * float(np.exp(-near))) for near, far in pairwise(ends)]
    return outside + inside


def box_cells(smoothing: float, shift: float) -> list[tuple[Pair, float]]:
    """Return cells of log-scales that cover the whole box, each with its largest shift."""
    ends = cells(smoothing)
    return [((sign * near, sign * far), shift) for sign in (1, -1) for near, far in pairwise(ends)]
