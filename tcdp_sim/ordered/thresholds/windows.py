"""T1: a whole CDF from interior points of windows that begin at noisy ranks, after Bun-Nissim-Stemmer-Vadhan 2015."""

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, exp, expm1, floor, inf, log, log1p, sqrt

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from tcdp_sim.core.errors import UserError
from tcdp_sim.ordered.interior.ledger import Step, rho_and_omega
from tcdp_sim.ordered.interior.records_needed import FAILURE
from tcdp_sim.ordered.thresholds.finder import Finder
from tcdp_sim.ordered.thresholds.records import Records
from tcdp_sim.ordered.thresholds.step_cdf import StepCdf, window
from tcdp_sim.privacy import TCDP, ZCDP, Guarantee

GAP_SHARE = 0.1  # share of rho for the starts of the windows
GAP_SCALES = 6.0  # the least gap in standard deviations of its noise; it may need to be longer
SPARE = 1e-4  # share of rho for failed moves, which determines the length of the gaps
ROUNDING = 1e-14  # relative allowance for rounding of the exponents below, which nearly cancel
MOST_WINDOWS = 31


@dataclass(frozen=True)
class Windows:
    """A plan of `count` windows of m records each, separated by gaps of max(0, gap + round(scale N(0, 1))) records.

    Substituting a record moves the ranks between its old and its new place by one. A coupling that follows the past
    keeps all windows equal but two: the gap after the first changed window is moved by one, and moved back after the
    second. If a gap is clamped at 0, the move fails and is tried again, at the cost of one more changed window.
    """

    n: int
    count: int
    gap: int
    scale: float
    finder: Finder

    @property
    def ledger(self) -> tuple[Step, ...]:
        """The ledger: two changed windows, two moved gaps, and failed moves."""
        point = self.finder.guarantee
        move = 1 / (2 * self.scale**2)
        return (
            *(Step(f"changed window {i}", point, "one substitution in it") for i in (1, 2)),
            *(Step(f"moved gap {i}", ZCDP(move), "Gaussian moved by one, rounded") for i in (1, 2)),
            Step("failed moves", TCDP(max(self._failed, 1e-300), self._omega), "gaps clamped at zero"),
        )

    @property
    def _omega(self) -> float:
        return rho_and_omega(self.finder.target)[1]

    @property
    def _failed(self) -> float:
        return failed_moves(self.finder.guarantee.rho, self._omega, self.gap, self.scale)

    @property
    def starts(self) -> list[float]:
        """The ranks before which the windows begin if the noise is zero."""
        return [i * self.gap + (i - 1) * self.finder.m for i in range(1, self.count + 1)]

    @property
    def error_bound(self) -> float:
        """The largest error over all j, in records.

        It holds with probability at least 1 - FAILURE - the failure probability of the plan.
        """
        drift = self.scale * sqrt(2 * self.count * log(2 * self.count / FAILURE)) + 0.5 * self.count
        return (2 * self.finder.m + self.gap) / 2 + drift

    def work(self, data: Records) -> float:
        """Return the forecast cost of one release, in random numbers. It is right within a factor of about 2."""
        return self.count * self.finder.work(data.distinct_among(self.finder.m))

    def run(self, data: Records, *, rng: np.random.Generator) -> StepCdf:
        """Return the step function of one release."""
        m, reached, breakpoints = self.finder.m, 0, []
        for step in np.rint(self.scale * rng.standard_normal(self.count)).astype(np.int64).tolist():
            start = reached + max(0, self.gap + step)
            breakpoints.append(self.finder.find(window(data.sorted, start, m, 0, self.finder.k - 1), rng=rng))
            reached = start + m
        starts = self.starts
        between = [(a + b + m) / 2 for a, b in pairwise(starts)]
        estimates = ((starts[0] + m) / 2, *between, (starts[-1] + self.n) / 2)
        return StepCdf(tuple(np.maximum.accumulate(np.array(breakpoints, dtype=object)).tolist()), estimates, self.n)


def failed_moves(rho: float, omega: float, gap: int, scale: float) -> float:
    """Return the rho of failed moves where a point costs rho; inf if a gap is too short for any bound.

    It is 2 log((1 - q) / (1 - q e^y)) / a at the order omega, where it is largest. Here a = order (order - 1),
    y = a (rho + the rho of a move), and q is the probability that a gap, tilted by the order, is clamped.
    """
    each = rho + 1 / (2 * scale**2)
    top = omega * (omega - 1) * each
    log_risk = float(log_ndtr(-(gap - 0.5 - (omega - 1)) / scale)) + top * (1 + ROUNDING)  # log of q e^y
    if log_risk > -1e-3:
        return inf
    return 2 * each / top * exp(log_risk) * -expm1(-top) / -expm1(log_risk)


def _least_gap(rho: float, omega: float, scale: float, spare: float) -> int:
    """Return a gap at which failed moves cost at most `spare`. It is the least one up to one standard deviation."""
    each = rho + 1 / (2 * scale**2)
    top = omega * (omega - 1) * each
    odds = spare * top / (2 * each * -expm1(-top))  # q e^y over 1 - q e^y
    log_risk = min(log(odds) - log1p(odds), -0.01)
    reach = float(-ndtri_exp(log_risk - top * (1 + 2 * ROUNDING)))
    return max(ceil(GAP_SCALES * scale + omega), ceil(scale * reach + omega))


def plan_windows(
    n: int,
    k: int,
    guarantee: Guarantee,
    failure: float = FAILURE,
    family: str = "sinh_normal",
    calibration: str = "tight",
    most: int = MOST_WINDOWS,
) -> Windows:
    """Return a plan of as many windows as n records hold, at most `most`, at this guarantee together.

    Each window is as large as is proved to suffice for all to have interior points with probability 1 - failure. Raises
    UserError if n records do not hold one window.
    """
    rho, omega = rho_and_omega(guarantee)
    move = GAP_SHARE * rho / 2
    scale = 1 / sqrt(2 * move)
    if not (1 < omega < inf):
        reason = "windows have sinh-normal noise, and with omega = inf failed moves cost too much"
        raise UserError(f"omega = {omega:g} is not valid: {reason}; valid: TCDP with finite omega")
    point = (rho * (1 - SPARE) - 2 * move) / 2
    least = _least_gap(point, omega, scale, SPARE * rho)
    count = most
    while count:
        finder = Finder(k, TCDP(point, omega), failure / count, None, family, calibration)
        held = floor(n / (finder.needed + least))
        if held >= count:
            return Windows(n, count, max(least, floor(n / count) - finder.needed), scale, finder)
        count = min(max(held, 1), count - 1)
    raise UserError(f"n = {n} records hold no window; valid: n >= {finder.needed + least} at this budget and domain")
