"""The factorisation with the least mean square error, with a lower bound that proves it."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import sqrt

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.ordered.prefix_sums.factorisation import Factorisation
from tcdp_sim.privacy.relation import Relation, known_relation

MOST_BINS = 512  # a step decomposes a k x k matrix
MOST_STEPS = 1000
STEP = 2.0  # the exponent of a step; 2 takes half as many steps as 1
GAP = 1e-7  # relative, at which the search ends


@dataclass(frozen=True)
class Optimum(Factorisation):
    """The factorisation with the least mean square error among all factorisations with Gaussian noise.

    For weights v of the bins with sum 1, let U S V' be the singular value decomposition of P diag(v)^(1/2), where P is
    the matrix of prefix sums. R = S^(1/2) V' diag(v)^(-1/2) and L = U S^(1/2) are a factorisation. The trace of S,
    divided by the root of k, is a lower bound on the root mean square error of every factorisation with sensitivity 1,
    for any v. At the fixed point of v -> diag(V S V') / trace(S) the factorisation attains it. `root_mean_square` gives
    both, so that no proof of convergence is needed.

    Source: Denisov et al. (2022) [DMRST22].

    Parameters
    ----------
    k : int
        The number of bins, from 2 to 512.
    relation : {"add_remove"}
        The neighbouring relation. No optimum under substitution is implemented.

    Examples
    --------
    >>> best = Optimum(16, "add_remove")
    >>> lower, upper = best.root_mean_square
    >>> 0 <= upper / lower - 1 < 1e-6
    True
    """

    k: int
    relation: str = "add_remove"

    def __post_init__(self) -> None:
        if not 2 <= self.k <= MOST_BINS:
            raise ValueError(f"k = {self.k} is not valid for method=optimal; valid: 2 to {MOST_BINS}")
        if known_relation(self.relation) != Relation.ADD_REMOVE:
            raise ValueError(f"neighbours = {self.relation} is not valid for method=optimal; valid: add_remove")

    @property
    def noises(self) -> int:
        return self.k

    @cached_property
    def factors(self) -> tuple[Floats, Floats, float]:
        """L, R and the lower bound on the root mean square error at sensitivity 1."""
        return _factors(self.k)

    @property
    def sensitivity(self) -> float:
        columns = np.square(self.factors[1]).sum(axis=0)
        return sqrt(columns.max()) * (1 + 1e-13 * self.k)

    @property
    def largest_move(self) -> float:
        return float(np.abs(self.factors[1]).max()) * (1 + 1e-13 * self.k)

    @property
    def root_mean_square(self) -> tuple[float, float]:
        """The root mean square error of the best factorisation and of this one, for noise of variance 1 a unit."""
        return self.factors[2], sqrt(self.variances().mean()) * self.sensitivity

    def variances(self) -> Floats:
        return np.asarray(np.square(self.factors[0]).sum(axis=1))

    def errors(self, z: Floats) -> Floats:
        return np.asarray(z @ self.factors[0].T)


@lru_cache(maxsize=4)
def _factors(k: int) -> tuple[Floats, Floats, float]:
    """Return L, R and the lower bound, from the fixed point of the weights."""
    from scipy import linalg  # slow to import

    ends = np.arange(k)
    gram = k - np.maximum.outer(ends, ends).astype(np.float64)  # P' P
    v, lower = np.full(k, 1 / k), 0.0
    for _ in range(MOST_STEPS):
        root = np.sqrt(v)
        squares, vectors = linalg.eigh(root[:, None] * gram * root, check_finite=False)
        s = np.sqrt(squares)
        wanted, trace = np.square(vectors) @ s, s.sum()
        lower = max(lower, float(trace) / sqrt(k))
        if np.sqrt((wanted / v).max() / trace) - 1 <= GAP:  # the longest column against its bound
            break
        v *= (wanted / (v * trace)) ** STEP
        v /= v.sum()
    right = np.sqrt(s)[:, None] * vectors.T / root
    left = np.cumsum(root[:, None] * vectors, axis=0) / np.sqrt(s)  # P diag(v)^(1/2) V S^(-1/2)
    return left, right, lower * (1 - 1e-12 * k)
