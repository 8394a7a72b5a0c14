"""T2: a whole CDF from medians of medians. The data are cut at a private median, then each part is cut again."""

from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from tcdp_sim.core.arrays import Ints, Objects
from tcdp_sim.core.errors import UserError
from tcdp_sim.ordered.interior.ledger import Step, rho_and_omega
from tcdp_sim.ordered.interior.records_needed import FAILURE
from tcdp_sim.ordered.thresholds.finder import Finder
from tcdp_sim.ordered.thresholds.records import SMALL, Records
from tcdp_sim.ordered.thresholds.step_cdf import StepCdf, window
from tcdp_sim.privacy import TCDP, Guarantee

A_SORTED_RECORD = 6  # the measured cost of blurring and sorting a record, in random numbers of 10 ns


@dataclass(frozen=True)
class Medians:
    """A plan of 2^rounds - 1 cuts by `rounds` rounds of halving.

    Every record gets `bits` random low bits, which make ties rare. So the finder works on a domain of k 2^bits
    elements. A node holds the records in (low, high], public numbers, and its window is the middle m of their ranks.
    Adding or removing a record changes the window by at most one substitution. A substitution touches at most two nodes
    of a level, and one at the root.
    """

    n: int
    rounds: int
    bits: int
    finder: Finder

    @property
    def ledger(self) -> tuple[Step, ...]:
        """The ledger of 2 rounds - 1 changed windows.

        The nodes of a level hold disjoint data, and the random bits cost nothing.
        """
        ends = [f"level {level}, {end}" for level in range(1, self.rounds) for end in ("old place", "new place")]
        cost, inner = self.finder.guarantee, self.finder.ledger
        return tuple(Step(name, cost, "one changed window", inner=inner) for name in ("level 0", *ends))

    @property
    def error_bound(self) -> float:
        """The largest error over all j, in records, if every window's point is interior."""
        half = self.finder.m // 2 + 1
        return (2 * self.rounds + 1) / 3 * half + self.n / 2 ** (self.rounds + 1) + 1

    def work(self, data: Records) -> float:
        """Return the forecast cost of one release, in random numbers. It is right within a factor of about 2."""
        points = 2**self.rounds - 1
        return A_SORTED_RECORD * data.n + points * self.finder.work(self.finder.m)  # blurred records are distinct

    def run(self, data: Records, *, rng: np.random.Generator) -> StepCdf:
        """Return the step function of one release."""
        low_bits = rng.integers(0, 2**self.bits, self.n)
        kind = np.int64 if self.finder.k <= SMALL else object
        blurred = np.sort((data.sorted.astype(kind) << self.bits) + low_bits)
        cuts: list[int] = []
        self._cut(blurred, -1, self.finder.k - 1, self.rounds, cuts, rng)
        parts = 2**self.rounds
        estimates = tuple((i + 0.5) * self.n / parts for i in range(parts))
        return StepCdf(tuple(sorted(cut >> self.bits for cut in cuts)), estimates, self.n)

    def _cut(
        self, local: Ints | Objects, low: int, high: int, rounds: int, cuts: list[int], rng: np.random.Generator
    ) -> None:
        """Cut the records in (low, high], then cut both parts in the remaining rounds."""
        if rounds == 0:
            return
        m = self.finder.m
        cut = high
        if low < high:
            start = len(local) // 2 - m // 2
            element = self.finder.find(window(local, start, m, low + 1, high), rng=rng)
            cut = min(max(element, low + 1), high)
        cuts.append(cut)
        inside = int(np.searchsorted(local, cut, side="right"))
        self._cut(local[:inside], low, cut, rounds - 1, cuts, rng)
        self._cut(local[inside:], cut, high, rounds - 1, cuts, rng)


def plan_medians(
    rounds: int,
    n: int,
    k: int,
    guarantee: Guarantee,
    failure: float = FAILURE,
    size: int | None = None,
    family: str = "sinh_normal",
    calibration: str = "tight",
) -> Medians:
    """Return a plan to halve n records in {0, ..., k - 1} in `rounds` rounds (1 to 12), at this guarantee together.

    All windows have the given `size`. By default it is the size that is proved to suffice for all of them with
    probability 1 - failure, but at most n. Raises UserError if an argument is not valid.
    """
    rho, omega = rho_and_omega(guarantee)
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= 12:
        raise UserError(f"rounds = {rounds!r} is not valid; valid: a whole number from 1 to 12")
    if n < 1:
        raise UserError(f"n = {n} is not valid; valid: at least 1 record")
    bits = min(2 * ceil(log2(n)) + 20 if n > 1 else 20, 62)
    spare = 62 - (k - 1).bit_length()
    bits = spare if 2 * log2(n) < spare < bits else bits  # use machine integers if ties stay rare enough
    finder_arguments = (k << bits, TCDP(rho / (2 * rounds - 1), omega), failure / (2**rounds - 1))
    wide = Finder(*finder_arguments, None, family, calibration)
    size = min(wide.needed, n) if size is None else size
    return Medians(n, rounds, bits, Finder(*finder_arguments, size, family, calibration))
