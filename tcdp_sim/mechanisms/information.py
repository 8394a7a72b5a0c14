"""The mutual information between n equal records and a noisy answer, one count or a histogram."""

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from scipy.special import entr, logsumexp

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import real, whole
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.axes import DELTA, NOISE, SIZES, TCDP_TARGET, K
from tcdp_sim.mechanisms.base import EVERY, Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import Guarantee

MOST_BINS = 100_000
TILE = 2**18  # numbers drawn at a time


@dataclass(frozen=True, eq=False)
class Information(Mechanism):
    """A release on n equal records of a random value U, and the information that it gives about U.

    With k = 1, U is a fair bit and the release is the number of ones plus noise (sensitivity 1). With k >= 2, U is
    uniform on k bins and the release is the histogram plus independent noise in every bin (two bins change by one). A
    trial yields D_1(law of U given the release || law of U) in nats. The mean of this number is the mutual information
    I(X; M(X)) of the records X and the release. Neighbours substitute one record.

    Source: Bun and Steinke (2016), Section 6 [BS16].

    `n`: the number of records, at least 1. `k`: the number of bins, from 2 to 100,000; 1 for one count of a fair bit.
    """

    noise: Noise
    promise: Guarantee
    n: int
    k: int

    name = "information"
    unknown_losses = MappingProxyType({EVERY: "The release is that of a histogram, whose experiment draws the loss."})
    version = 1
    axes = declared(
        NOISE,
        *TCDP_TARGET,
        DELTA,
        *SIZES,
        Axis("n", "number of records, which are equal", "records", "a whole number from 1 to 1e15"),
        replace(K, meaning="number of bins; 1: one count of a fair bit", valid=f"a whole number from 1 to {MOST_BINS}"),
    )
    required = ("noise", "rho", "n", "k")
    options = ()
    observables = MappingProxyType({"information": Observable("nats", "mutual information of records and release")})
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return ("noise", "n", "k", *noise_axes.axes_of(point["noise"], point))

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        k = whole("k", point["k"], 1, MOST_BINS)
        noise = noise_axes.noise_law(point["noise"], point, coordinates=1 if k == 1 else 2, k=k)
        return {"mechanism": cls.name, "version": cls.version, **noise, "n": whole("n", point["n"], 1, 1e15), "k": k}

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        noise = noise_axes.built(law["noise"]["family"], law["parameters"])
        return cls(noise, noise_axes.guarantee_of(law), int(real("n", law["n"], 0)), int(real("k", law["k"], 0)))

    @property
    def guarantee(self) -> Guarantee:
        return self.promise

    @property
    def work(self) -> float:
        return 4.0 * self.k

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        if self.k == 1:
            return {"information": self._of_a_bit(rng, trials)}
        rows = max(TILE // self.k, 1)
        sizes = [min(rows, trials - start) for start in range(0, trials, rows)]
        return {"information": np.concatenate([self._of_a_bin(rng, size) for size in sizes])}

    def _of_a_bit(self, rng: np.random.Generator, trials: int) -> Floats:
        """Return the trials for k = 1, with a release that is noise around 0.

        By symmetry the number has the same law where the release is noise around n.
        """
        loss = self.noise.privacy_loss(self.noise.sample(size=trials, rng=rng), self.n)
        probability = 1 / (1 + np.exp(-np.abs(loss)))
        return np.maximum(np.log(2) - entr(probability) - entr(1 - probability), 0.0)

    def _of_a_bin(self, rng: np.random.Generator, trials: int) -> Floats:
        """Return the trials for k >= 2, with all records in the first bin.

        By symmetry the number has the same law for every bin.
        """
        release = self.noise.sample(size=(trials, self.k), rng=rng)
        release[:, 0] += self.n
        with np.errstate(invalid="ignore"):
            weight = -self.noise.privacy_loss(release, self.n)  # log-odds of each bin, up to a constant
            weight -= logsumexp(weight, axis=1, keepdims=True)
            nats = np.log(self.k) - entr(np.exp(weight)).sum(axis=1)
        return np.where(np.isnan(nats), np.log(self.k), np.maximum(nats, 0.0))  # only one bin can give the release
