"""Exact draws of the m largest of k iid draws, at a cost of O(m) that does not depend on k.

Let P_(1) > P_(2) > ... be the order statistics of k uniforms. -log P_(1) is exponential with rate k, and given the
first i of them the next is the largest of k - i uniforms below P_(i): its -log adds an exponential of rate k - i
(Renyi 1953). The noise's inverse survival function takes each from there, as in `extremes`.
"""

import numpy as np

from tcdp_sim.core.arrays import Floats, Shape
from tcdp_sim.core.errors import real
from tcdp_sim.samplers.extremes import MAX_COUNT, Drawable, _exponential, _upper


def sample_top(noise: Drawable, rng: np.random.Generator, count: float, m: int, size: Shape = ()) -> Floats:
    """Draws of the m largest of `count` iid draws of the noise, jointly: shape (*size, m), descending, in counts.

    count: a whole number, or any real beyond 2^53, up to 1e300 (the law needs count - m + 1 >= 1); m: whole,
    1 <= m <= count; size: an integer or a tuple. Raises ValueError. For m = 1 the same stream as `sample_max`.
    """
    count = real("count", count, 1, MAX_COUNT, closed=True, finite=False)
    if not isinstance(m, int | np.integer) or isinstance(m, bool) or not 1 <= m <= count:
        raise ValueError(f"m = {m!r} is not valid; valid: a whole number from 1 to count = {count:g}")
    if count != np.floor(count):
        raise ValueError(f"count = {count:g} is not valid; valid: a whole number of draws")
    shape = (*((size,) if isinstance(size, int | np.integer) else size), m)
    steps = _exponential(rng, shape) / (count - np.arange(m))
    return _upper(noise, np.cumsum(steps, axis=-1))
