"""A pure DP mechanism from a zCDP one, by a net that is a packing: Theorem 32 of Bun and Steinke."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil, pi, sqrt
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import real, whole
from tcdp_sim.mechanisms.axes import POSITIVE, RHO
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.losses import LOSSES, of_outputs
from tcdp_sim.privacy import Guarantee, PureDP

MOST_VALUES = 100
MOST_SUMS = 20_000_000  # number of answers that all n' records can have
BLOCK = 2**17  # number of answers whose laws are computed at a time


@dataclass(frozen=True, eq=False)
class PureFromZCDP(Mechanism):
    """A mean of n' records, released under pure DP on a net of the means of n records.

    A record is one of `values` equidistant numbers in [0, 1], and q is the mean.

    - M adds Gaussian noise to the mean of n records. It is rho-zCDP and has the mean absolute error alpha.
    - The net T has points more than 4 alpha apart, and every mean of n records is within 4 alpha of one.
    - M' is the exponential mechanism on T, on n' = ceil(4 (rho n^2 + 1) / (epsilon alpha)) records. The probability of
      y is proportional to exp(-epsilon n' |q(x) - y| / 2), so it depends on the sum of the records alone.

    A trial uses a data set on which the mean error of M' is largest. Neighbours substitute one record.

    Source: Bun and Steinke (2016), Theorem 32 [BS16].

    `rho`: the zCDP parameter of M, at most 1/(n sqrt(pi)), which is alpha^2 >= rho. `epsilon`: the parameter of pure
    DP, in nats. `values`: the number of values of a record, from 2 to 100.
    """

    n: int
    rho: float
    epsilon: float
    values: int
    draws_losses: bool = False

    name = "pure_from_zcdp"
    loss_pair = (
        "A record goes from one end of its range to the other, up or down, whichever has the larger loss; the data are "
        "the worst for the error, and other data may reveal more (`epsilon_spent`)."
    )
    version = 1
    axes = declared(
        Axis("n", "number of records of the zCDP mechanism", "records", "a whole number from 1 to 1e6"),
        RHO,
        Axis("epsilon", "parameter of pure DP", "nats", POSITIVE),
        Axis("values", "number of values of a record", "1", f"a whole number from 2 to {MOST_VALUES}", default=12),
    )
    required = ("n", "epsilon")
    options = ()
    observables = MappingProxyType(
        {
            "pure_error": Observable("1", "absolute error of the pure DP mechanism on the worst data set", 0, 1),
            "zcdp_error": Observable("1", "absolute error of the zCDP mechanism", 0),
            **LOSSES,
        }
    )
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return tuple(cls.axes)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        n = whole("n", point["n"], 1, 1e6)
        most = 1 / (n * sqrt(pi))
        given = point.get("rho")
        rho = most if given is None else real("rho", given, 0)
        if rho > most:
            raise ValueError(f"rho = {rho:g} is not valid; Theorem 32 needs rho <= alpha^2, so rho <= {most:.6g} here")
        epsilon = real("epsilon", point["epsilon"], 0)
        values = whole("values", 12 if point.get("values") is None else point["values"], 2, MOST_VALUES)
        sums = cls(n, rho, epsilon, values).sums
        if sums > MOST_SUMS:
            raise ValueError(f"n = {n:g} is not valid: all {sums:,} sums of n' records are tried; valid: {MOST_SUMS:,}")
        law = {"mechanism": cls.name, "version": cls.version, "n": n, "rho": rho, "epsilon": epsilon}
        return law | {"values": values}

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        return cls(int(law["n"]), law["rho"], law["epsilon"], int(law["values"]), law.get("draws_losses", False))

    @property
    def guarantee(self) -> Guarantee:
        return PureDP(self.epsilon)

    @property
    def work(self) -> float:
        return 2.0

    @property
    def alpha(self) -> float:
        """The mean absolute error of M, whose Gaussian noise has the scale 1/(n sqrt(2 rho))."""
        return 1 / (self.n * sqrt(pi * self.rho))

    @property
    def records(self) -> int:
        """The number n' of records of M'."""
        return ceil(4 / (self.epsilon * self.alpha) * (self.rho * self.n**2 + 1))

    @property
    def sums(self) -> int:
        """The number of sums that n' records can have, in steps of the records' values."""
        return (self.values - 1) * self.records + 1

    @cached_property
    def net(self) -> Floats:
        """The points of T in [0, 1], ascending: means of n records, each the least one above 4 alpha from the last."""
        cells = (self.values - 1) * self.n
        step = int(4 * self.alpha * cells) + 1
        return np.arange(0, cells + 1, step) / cells

    def answers(self, sums: Any) -> Floats:
        """Return the means of n' records with these sums, which are whole, in steps of the records' values."""
        return np.asarray(sums / (self.sums - 1))

    def log_laws(self, sums: Any) -> Floats:
        """Return the log probability of each point of T, shape (len(sums), len(net))."""
        weight = -0.5 * self.epsilon * self.records * np.abs(self.answers(sums)[:, None] - self.net)
        return np.asarray(weight - logsumexp(weight, axis=1, keepdims=True))

    def mean_errors(self, sums: Any) -> Floats:
        """Return the mean absolute error of M' on data sets with these sums."""
        away = np.abs(self.answers(sums)[:, None] - self.net)
        return np.asarray((np.exp(self.log_laws(sums)) * away).sum(axis=1))

    def blocks(self, overlap: int = 0) -> Iterator[Floats]:
        """Yield all sums in blocks, each of which begins with the last `overlap` sums of the one before."""
        for start in range(0, self.sums, BLOCK):
            yield np.arange(max(start - overlap, 0), min(start + BLOCK, self.sums), dtype=float)

    @cached_property
    def worst_sum(self) -> float:
        """The sum of n' records at which the mean error of M' is largest."""
        worst = (block[np.argmax(self.mean_errors(block))] for block in self.blocks())
        return float(max(worst, key=lambda total: self.mean_errors(np.array([total]))[0]))

    @cached_property
    def pair(self) -> Floats:
        """The log probabilities of the points of T on the worst data set and on the neighbour of a privacy loss."""
        sums = self.worst_sum + np.array([0, self.values - 1, 1 - self.values])
        own, *others = self.log_laws(sums[(sums >= 0) & (sums < self.sums)])
        return np.array([own, max(others, key=lambda other: np.abs(own - other).max())])

    def draw_losses(self, rng: np.random.Generator, trials: int) -> Draws:
        p, q = np.exp(self.pair)
        return of_outputs(p, q, *(rng.choice(len(self.net), size=trials, p=each) for each in (p, q)))

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        worst = np.array([self.worst_sum])
        drawn = rng.choice(self.net, size=trials, p=np.exp(self.log_laws(worst)[0]))
        noise = rng.standard_normal(trials) / (self.n * sqrt(2 * self.rho))
        return {"pure_error": np.abs(drawn - self.answers(worst)[0]), "zcdp_error": np.abs(noise)}
