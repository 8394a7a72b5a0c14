"""Lower bounds on the error of every factorisation mechanism with Gaussian noise."""

from math import sqrt

import numpy as np

from tcdp_sim.privacy.relation import Relation, known_relation


def least_root_mean_square(k: int, relation: str) -> float:
    """Return a lower bound on the root mean square error of prefix sums by any factorisation of sensitivity 1.

    The bound is for noise of variance 1. With Gaussian noise for rho-zCDP it is multiplied by 1 / sqrt(2 rho).

    Source: Henzinger et al. (2023) [HUU23] (addition and removal).

    Parameters
    ----------
    k : int
        The number of bins, at least 2.
    relation : {"add_remove", "substitute"}
        The neighbouring relation. Under substitution the number of records is public.

    Returns
    -------
    float
        The lower bound, in counts.

    Notes
    -----
    Let L R be a factorisation of the matrix P of prefix sums. The sum of the singular values of P is at most the
    product of the Frobenius norms of L and R. The norm of R is at most sqrt(k) times its longest column. The singular
    values of P are 1 / (2 sin((2j - 1) pi / (4k + 2))).

    Under substitution R may be replaced by R C, where C subtracts the mean of a row. The squared norm of R C is the
    mean over pairs of columns of their squared distances, times k / 2 (k - 1) / k. P C has the singular values of the
    covariance of a Brownian bridge, 1 / (2 sin(j pi / 2k)).

    Examples
    --------
    >>> round(least_root_mean_square(1, "add_remove"), 12)
    1.0
    """
    if known_relation(relation) == Relation.ADD_REMOVE:
        j = np.arange(1, k + 1)
        return float((0.5 / np.sin((2 * j - 1) * np.pi / (4 * k + 2))).sum() / k)
    j = np.arange(1, k)
    return float((0.5 / np.sin(j * np.pi / (2 * k))).sum() * sqrt(2 / (k * max(k - 1, 1))))
