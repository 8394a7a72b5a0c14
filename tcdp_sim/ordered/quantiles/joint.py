"""All quantiles from one exponential mechanism: JointExp (Gillenwater, Joseph, Kulesza 2021 [GJK21])."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.ordered.quantiles.equal_shares import EqualShares
from tcdp_sim.ordered.quantiles.line import Gaps, Line, Values
from tcdp_sim.ordered.quantiles.log_sums import laplace_sums

TILE = 2**20  # log-weights looked at together


@dataclass(frozen=True)
class Joint(EqualShares):
    """JointExp: one exponential mechanism for all quantiles together.

    Ascending outputs z_1, ..., z_m have density in proportion to exp(-eta sum_j |n_j - n p_j|). Here n_j is the number
    of records between z_{j-1} and z_j, and p_j is the difference of their levels, for j = 1 to m + 1. Records on
    integers are first moved to uniform places within their units, as in `Recursive`.

    Sensitivity. Addition of a record changes one n_j by 1 and every n p_j by p_j. So the sum changes by at most
    (1 - p_j) + (1 - p_j), and the losses have a range of 4 eta (1 - min p). Substitution changes two n_j by 1, and the
    range is 4 eta. `epsilon` is the range.

    The sampler is exact. A forward pass computes log-weights of "quantile j is the last one in gap i" in O(m n + m^2 n)
    operations. Its sums over the gap before are convolutions with a two-sided exponential, which two prefix sums give.
    A backward pass draws one quantile after the other. For reals the forward pass is shared by all trials. On integers
    every trial has its own gaps, so it costs a forward pass per trial.

    The parameters are those of `Method` and this one.

    Source: Gillenwater et al. (2021) [GJK21] (from its introduction and published code).

    Parameters
    ----------
    epsilon : float
        The range of the losses, in nats.

    Examples
    --------
    >>> from tcdp_sim.privacy import PureDP
    >>> method = Joint.of((0.25, 0.5, 0.75), "add_remove", PureDP(1.0))
    >>> round(method.eta, 6)  # 1 / (4 * 3/4)
    0.333333
    """

    @staticmethod
    def releases_of(m: int) -> int:
        return 1

    @property
    def shares(self) -> Floats:
        """The differences of neighbouring levels, of 0 and 1 too, shape (m + 1,)."""
        return np.diff([0.0, *self.levels, 1.0])

    @property
    def eta(self) -> float:
        """The log-probability lost per record."""
        moves = 2 * (1 - float(self.shares.min())) if self.relation == "add_remove" else 2.0
        return self.epsilon / (2 * moves)

    def work(self, line: Line) -> float:
        forward = (30.0 + self.m) * self.m * line.n
        return forward if line.kind == "integers" else 2.0 * self.m * line.n + 100

    def sample(self, line: Line, trials: int, *, rng: np.random.Generator) -> Values:
        if line.kind == "reals":
            return self._draw(Gaps.of(line, trials, rng=rng), trials, rng)
        return np.concatenate([self._draw(Gaps.of(line, 1, rng=rng), 1, rng) for _ in range(trials)])

    def _draw(self, gaps: Gaps, trials: int, rng: np.random.Generator) -> Values:
        """Return trials on the same gaps."""
        with np.errstate(divide="ignore"):
            gap = self.draw_gaps(np.log(gaps.sizes[0]), trials, rng=rng)
        rows = np.zeros(gap.shape, dtype=np.int64)
        return np.sort(gaps.outputs(rows, gap, gaps.sizes[0, gap] * rng.random(gap.shape)), axis=1)

    def draw_gaps(self, logs: Floats, trials: int, *, rng: np.random.Generator) -> Ints:
        """Return the gaps of the quantiles in independent trials, ascending, shape (trials, m).

        `logs` has the logarithms of the lengths of the n + 1 gaps.
        """
        n = len(logs) - 1
        targets = n * self.shares
        enter, leave = self.forward(logs)
        gap = np.full((trials, self.m), -1)
        to, current = np.full(trials, n), np.full(trials, self.m)  # the gap of the quantile after, and the next number
        for j in range(self.m, 0, -1):
            active = np.flatnonzero(current == j)
            if not len(active):
                continue
            at = _before(leave[j - 1], to[active], targets[j], self.eta, j == self.m, rng)
            gap[active, j - 1] = at
            current[active] = j - self._together(logs, enter, j, at, rng)
            to[active] = at
        for j in range(self.m - 2, -1, -1):  # a quantile without a gap shares that of the next one
            gap[:, j] = np.where(gap[:, j] < 0, gap[:, j + 1], gap[:, j])
        return gap

    def forward(self, logs: Floats) -> tuple[Floats, Floats]:
        """Return log-weights of "quantile j + 1 is the first one in gap i", and of "j is the last one in gap i".

        Both have shape (m, n + 1). Row j of the first array sums over the first j quantiles, row j - 1 of the second
        one over the first j.
        """
        n, m = len(logs) - 1, self.m
        targets = n * self.shares
        enter, leave = np.empty((m, n + 1)), np.empty((m, n + 1))
        enter[0] = -self.eta * np.abs(np.arange(n + 1) - targets[0])
        for j in range(1, m + 1):
            leave[j - 1] = _log_sum(self._blocks(logs, enter, j, slice(None)))
            if j < m:
                enter[j] = laplace_sums(leave[j - 1], targets[j], self.eta)
        return enter, leave

    def _blocks(self, logs: Floats, enter: Floats, j: int, at: Ints | slice) -> Floats:
        """Return log-weights that the quantiles i + 1 to j are all in one gap and no others, rows i = 0 to j - 1."""
        together = np.arange(j, 0, -1)[:, None]  # j - i
        empty = len(logs[:-1]) * np.cumsum(self.shares)[:j]  # the records that level i + 1 asks for
        lost = self.eta * (empty[-1] - empty)[:, None]  # those asked for between quantiles in one gap
        weights = together * logs[at]
        weights += enter[:j, at]
        weights -= gammaln(together + 1) + lost
        return np.asarray(weights)

    def _together(self, logs: Floats, enter: Floats, j: int, at: Ints, rng: np.random.Generator) -> Ints:
        """Return how many quantiles share the gap `at` with quantile j, the last one in it, itself included."""
        weights = self._blocks(logs, enter, j, at)
        edges = np.cumsum(np.exp(weights - weights.max(axis=0)), axis=0)
        return j - (edges < edges[-1] * rng.random(len(at))).sum(axis=0)


def _log_sum(logs: Floats) -> Floats:
    """Return the logarithm of the sum of exponentials over the first axis. The array is overwritten."""
    top = logs.max(axis=0)
    logs -= np.where(np.isfinite(top), top, 0.0)
    np.exp(logs, out=logs)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(logs.sum(axis=0)))


def _before(leave: Floats, to: Ints, target: float, eta: float, final: bool, rng: np.random.Generator) -> Ints:
    """Return the gap of the quantile before, for each gap `to`, below it unless `to` is the end of the line."""
    chosen, n = np.empty(len(to), dtype=np.int64), len(leave)
    order = np.argsort(to, kind="stable")
    ends, begins = np.unique(to[order], return_index=True)
    groups = np.split(order, begins[1:])
    size = max(TILE // n, 1)
    for start in range(0, len(ends), size):
        part = ends[start : start + size, None]
        score = leave - eta * np.abs(part - np.arange(n) - target)
        if not final:
            score[np.arange(n) >= part] = -np.inf
        edges = np.cumsum(np.exp(score - score.max(axis=1, keepdims=True)), axis=1)
        for row, group in zip(edges, groups[start : start + size]):
            chosen[group] = np.searchsorted(row, row[-1] * rng.random(len(group)), side="right")
    return np.minimum(chosen, n - 1)
