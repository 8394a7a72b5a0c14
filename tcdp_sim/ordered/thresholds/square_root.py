"""A CDF by the square-root factorisation of prefix sums: the best zCDP release in closed form under substitution."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2, sqrt

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError
from tcdp_sim.noise import Gaussian
from tcdp_sim.ordered.interior.ledger import Step
from tcdp_sim.ordered.prefix_sums import SquareRoot
from tcdp_sim.ordered.prefix_sums.factorisation import MOST_BINS
from tcdp_sim.ordered.prefix_sums.sparse_square_root import MOST_PLACES, SparseSquareRoot
from tcdp_sim.privacy import ZCDP

WHOLE = 2**12  # bins up to which all prefix sums are drawn
A_CALL = 4000  # the fixed cost of a draw, in random numbers of 10 ns


@dataclass(frozen=True)
class SquareRootCdf:
    """The prefix sums L (R counts + noise) with the square root L = R of their matrix: rho-zCDP by Gaussian noise.

    Neighbours substitute a record, and the number of records is public. Domains have up to 2^500 elements. Beyond
    4,000,000 elements, at most 4,096 prefix sums are drawn at a time.
    """

    k: int
    rho: float

    def __post_init__(self) -> None:
        if not 2 <= self.k <= 2**500:
            raise UserError(f"a square root of k = 2^{log2(self.k):.4g} bins is not valid; valid: 2 <= k <= 2^500")

    @cached_property
    def scale(self) -> float:
        """The standard deviation of a noise, in records."""
        whole = SquareRoot(self.k, "substitute") if self.k <= WHOLE else SparseSquareRoot(self.k)
        return whole.sensitivity / sqrt(2 * self.rho)

    @property
    def ledger(self) -> tuple[Step, ...]:
        """The ledger, with one line: Gaussian noise at a Euclidean sensitivity of 1."""
        noise = Gaussian(1 / sqrt(2 * self.rho))
        return (Step("square-root factorisation", ZCDP(self.rho), "Euclidean distance of columns", noise=noise),)

    def work(self, places: int) -> float:
        """Return the forecast cost of one draw of `errors` at so many places, in random numbers."""
        if self._draws_all(places):
            return A_CALL + 3 * self.k + 0.4 * self.k * log2(self.k)
        return A_CALL + 3 * places + 0.05 * places**2

    def errors(self, places: Sequence[int], *, rng: np.random.Generator) -> Floats:
        """Return one draw of the errors of F at these ascending elements, in records. They do not depend on the data.

        Raises UserError if there are too many places for the domain.
        """
        if self._draws_all(len(places)):
            everywhere = SquareRoot(self.k, "substitute").errors(rng.standard_normal((1, self.k)))[0]
            everywhere[-1] = 0.0
            return np.asarray(self.scale * everywhere[np.asarray(places, dtype=np.int64)])
        if len(places) > MOST_PLACES:
            raise UserError(
                f"square_root draws at most {MOST_PLACES:,} prefix sums of a domain of more than {MOST_BINS:,} "
                f"elements, and the records need {len(places):,}; choose tree_2 or tree_16"
            )
        factor = SparseSquareRoot(self.k).factor(places)
        return np.asarray(self.scale * (factor @ rng.standard_normal(len(places))))

    def _draws_all(self, places: int) -> bool:
        return self.k <= (MOST_BINS if places > MOST_PLACES else WHOLE)
