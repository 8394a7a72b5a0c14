"""T1 written independently, for exact joint laws of the points of a few noisy windows."""

import numpy as np
from scipy.stats import norm


def gap_law(gap, scale):
    """Return P[max(0, gap + round(scale N(0, 1))) = i] for i = 0, 1, ..."""
    reach = int(9 * scale) + 2
    steps = np.arange(-reach, reach + 1)
    p = norm.cdf((steps + 0.5) / scale) - norm.cdf((steps - 0.5) / scale)
    return np.bincount(np.maximum(0, gap + steps), weights=p)


def order_statistics(xs, start, m):
    """Return the records of ranks start + 1, ..., start + m of sorted xs. The last record is repeated for ever."""
    return tuple(xs[min(i, len(xs) - 1)] for i in range(start, start + m))


def point_laws(xs, m, starts, kernel):
    """Return the law of a window's point for every start 0, ..., starts - 1, as rows."""
    return np.array([kernel(order_statistics(xs, start, m)) for start in range(starts)])


def joint(laws, gaps, m, count):
    """Return P[z_1, ..., z_count] for windows of m records after independent gaps, with `laws` from `point_laws`."""
    size = len(laws)
    move = sum(p * np.eye(size, k=length) for length, p in enumerate(gaps))
    reached = np.eye(1, size)
    for _ in range(count):
        starts = reached @ move
        found = (starts[:, None, :] * laws.T).reshape(-1, size)
        reached = np.zeros_like(found)
        reached[:, m:] = found[:, :-m]
    return reached.sum(axis=1)


def joint_of_one_gap(laws, gaps, m, count):
    """Return P[z_1, ..., z_count] if a single draw were used for all gaps."""
    total = 0.0
    for length, p in enumerate(gaps):
        law = np.array([p])
        for i in range(count):
            law = np.multiply.outer(law, laws[(i + 1) * length + i * m]).ravel()
        total = total + law
    return total
