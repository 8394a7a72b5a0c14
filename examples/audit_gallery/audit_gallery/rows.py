"""The rows of the gallery's table: a mechanism, its claim, its inputs, and published results."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log

import numpy as np

from audit_gallery import mechanisms as m
from audit_gallery.laws.best_event import BestEvent, best_event
from audit_gallery.mechanisms.base import Exact
from tcdp_sim.audits import answer_pairs
from tcdp_sim.privacy import PureDP

Pair = tuple[np.ndarray, np.ndarray]

EPSILON = 0.1
HALF = EPSILON / 2  # the share of a sparse vector search's threshold, and that of its queries


@dataclass(frozen=True)
class Published:
    """Published results: DP-Sniper's bounds (logistic regression with its seconds, network), StatDP's estimate."""

    logistic: float | None = None
    seconds: int | None = None
    network: float | None = None
    statdp: float | None = None


@dataclass(frozen=True)
class Row:
    """One mechanism, sound or broken.

    `pairs` are neighbours, which are tried both ways. If `bits` is true, the audit reads outputs bit by bit. The page
    has a bound from `trials` outputs of each input, at a confidence level. `library` is true for mechanisms of others.
    """

    name: str
    mechanism: Callable
    claim: object
    pairs: list[Pair]
    sound: bool
    says: str
    published: Published = Published()
    bits: bool = False
    trials: int = 200_000_000
    level: float = 0.9
    library: bool = False

    @property
    def law(self) -> m.Known | None:
        """The mechanism itself if its exact law is known."""
        return self.mechanism if isinstance(self.mechanism, m.Known) else None

    @property
    def has_ratios(self) -> bool:
        """True if the mechanism gives likelihood ratios."""
        return hasattr(self.mechanism, "log_likelihood_ratio")

    def directed(self) -> list[Pair]:
        """Return every pair both ways."""
        return [pair for x, y in self.pairs for pair in ((x, y), (y, x))]

    def epsilon(self) -> float | None:
        """Return the exact epsilon over the pairs in nats, or None if it is unknown."""
        if isinstance(self.mechanism, m.InvertedLaplace):
            return inf  # outputs that one input alone can give
        known = isinstance(self.mechanism, Exact)
        return max(self.mechanism.epsilon(*pair) for pair in self.directed()) if known else None

    def best(self, samples: float, level: float) -> BestEvent | None:
        """Return the best event of the exact law over the pairs, with its bound from `samples` outputs."""
        if self.law is None:
            return None
        events = (best_event(*self.law.cells(*pair), samples, level) for pair in self.directed())
        return max(events, key=lambda event: event.epsilon)


def rows() -> list[Row]:
    """Return the rows that need no other library, in the order of the table."""
    return [*_laplace(), *_noisy_max(), *_sparse_vector(), *_bits(), *_floating_point()]


def _laplace() -> list[Row]:
    claim = PureDP(EPSILON)
    return [
        Row("laplace", m.LaplaceVector(1 / EPSILON), claim, answer_pairs(1), True,
            "one number with Laplace noise of scale 1/ε", Published(0.0968, 20, 0.0976, 0.100)),
        Row("laplace_parallel", m.RepeatedLaplace(20 / EPSILON, 20), claim, answer_pairs(1), True,
            "20 releases with Laplace noise of scale 20/ε", Published(0.035, 96, 0.0299, 0.013)),
        Row("truncated_geometric", m.TruncatedGeometric(5, 3), claim, answer_pairs(1), False,
            "a count with two-sided geometric noise, where the base of a logarithm was misread",
            Published(0.1156, 18, 0.1155, 0.117)),
        Row("noisy_hist_1", m.LaplaceVector(1 / EPSILON), claim, answer_pairs(5, one=True), True,
            "5 counts with Laplace noise of scale 1/ε", Published(0.0978, 35, 0.0977, 0.099)),
        Row("noisy_hist_2", m.LaplaceVector(EPSILON), claim, answer_pairs(5, one=True), False,
            "5 counts with Laplace noise of scale ε instead of 1/ε", Published(4.602, 38, 4.602, 10.00)),
    ]  # fmt: skip


def _noisy_max() -> list[Row]:
    claim, pairs, scale = PureDP(EPSILON), answer_pairs(5), 2 / EPSILON
    return [
        Row("noisy_max_1", m.NoisyMaxIndex("laplace", scale), claim, pairs, True,
            "the index of the largest of 5 answers with Laplace noise", Published(0.0923, 59, 0.0925, 0.092)),
        Row("noisy_max_2", m.NoisyMaxIndex("exponential", scale), claim, pairs, True,
            "the index of the largest of 5 answers with exponential noise", Published(0.0975, 56, 0.0979, 0.100)),
        Row("noisy_max_4", m.NoisyMaxValue(scale), claim, pairs, False,
            "the largest of 5 answers with exponential noise, instead of its index",
            Published(0.3463, 60, 0.3534, 0.199)),
    ]  # fmt: skip


def _sparse_vector() -> list[Row]:
    claim, pairs = PureDP(EPSILON), answer_pairs(10)
    return [
        Row("svt_1", m.SparseVector(1.0, 1 / HALF, 2 / HALF, 1), claim, pairs, True,
            "the sparse vector technique up to one positive answer", Published(0.0858, 118, 0.0858, 0.030)),
        Row("svt_2", m.SparseVector(1.0, 1 / HALF, 2 / HALF, 1, redraws=True), claim, pairs, True,
            "the sparse vector technique up to one positive answer, with a new noisy threshold after a positive answer",
            Published(0.0859, 148, 0.0852, 0.041)),
        Row("svt_3", m.FirstValueSearch(1.0, 1 / HALF), claim, pairs, False,
            "the sparse vector technique that releases the noisy value of the first positive answer",
            Published(0.1716, 150, 0.1822, 0.179)),
        Row("svt_5", m.NoiselessSearch(1.0, 1 / HALF), claim, pairs, False,
            "the sparse vector technique without noise on the queries, which never stops",
            Published(1.761, 56, 1.761, 14.31)),
        Row("svt_6", m.SparseVector(1.0, 1 / HALF, 1 / HALF, None), claim, pairs, False,
            "the sparse vector technique that never stops, with noise that ignores the number of positive answers",
            Published(0.272, 91, 0.2698, 0.322)),
    ]  # fmt: skip


def _bits() -> list[Row]:
    """Return the rows of RAPPOR, with the claims of the paper's theorems for 4 hashes.

    The claims are 4 times the loss of a pair of bits, and 8 times the loss of a bit.
    """
    report, lasting = 4 * 2 * log(0.5125 / 0.4875), 2 * 4 * log(0.525 / 0.475)
    return [
        Row("rappor", m.Rappor(0.75, 0.45, 0.55), PureDP(report), answer_pairs(1), True,
            "a Bloom filter's bits through randomised response twice, with inputs that differ in 6 bits",
            Published(0.293, 130, 0.3008, 0.242)),
        Row("one_time_rappor", m.Rappor(0.95), PureDP(lasting), answer_pairs(1), True,
            "a Bloom filter's bits through randomised response once, with inputs that differ in 6 bits",
            Published(0.5978, 80, 0.5999, 0.471)),
    ]  # fmt: skip


def _floating_point() -> list[Row]:
    claim, pairs = PureDP(EPSILON), answer_pairs(1)
    return [
        Row("inverted_laplace", m.InvertedLaplace(1 / EPSILON), claim, pairs, False,
            "one number with Laplace noise computed as the logarithm of a 53-bit uniform number",
            Published(network=0.2521, seconds=1800), bits=True),
        Row("snapped_laplace", m.SnappedLaplace(EPSILON, 100.0), claim, pairs, True,
            "one number with Laplace noise, rounded to a coarse grid", Published(network=0.0979), bits=True),
    ]  # fmt: skip
