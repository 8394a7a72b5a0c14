"""A private histogram: independent noise in every bin of a declared domain."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.bounds.accuracy import histogram_error_bound
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.axes import declared
from tcdp_sim.core.errors import UserError, choice, real, unmasked
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.axes import DATA, DELTA, NOISE, SIZES, TCDP_TARGET, K
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point, check_beta
from tcdp_sim.mechanisms.losses import BY_NOISE, LOSSES, of_moves, unknown_of_noise
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import Guarantee
from tcdp_sim.samplers import sample_extremes

TILE = 2**15  # numbers drawn at a time: they fit the second-level cache and hide the overhead of a call
DENSE_BINS = 1e7
SAMPLINGS = ("order_statistics", "dense")


@dataclass(frozen=True, eq=False)
class Histogram(Mechanism):
    """A histogram with independent noise in every bin of a declared domain.

    Neighbours substitute one record, so two bins change by one. Occupied bins are drawn one by one. The empty bins are
    represented by their smallest and largest noise, which are drawn jointly and exactly at a cost that does not depend
    on the number of bins. Where releases tie, as lattice noise makes them do, no bin is on top and none overtakes.

    Source: Bun et al. (2018), Section 4.1 [BDRS18].

    Parameters
    ----------
    noise : Noise
        The noise in a bin, in counts.
    promise : Guarantee
        The guarantee that the noise is calibrated to.
    counts : array_like of int
        The records in each occupied bin, shape (m,), positive and in descending order.
    bins : float
        The number of bins in the public domain, whole, from max(m, 1) to 1e300.
    beta : float
        The failure probability of the papers' bounds on the largest error, in (0, 1).
    sampling : str
        "order_statistics", or "dense" to draw every bin: the same law by the plain algorithm, up to 1e7 bins.
    bounds : mapping of str to float
        The papers' bounds on the largest error, in counts, by label.
    draws_losses : bool
        True if a run also draws privacy losses. Every pair of neighbours has the same law of the loss, since two bins
        change by one (with a single bin nothing changes).

    Examples
    --------
    >>> import numpy as np
    >>> from tcdp_sim.noise import Gaussian
    >>> from tcdp_sim.privacy import ZCDP
    >>> histogram = Histogram(Gaussian(10.0), ZCDP(0.01), np.array([5000, 30]), 1e12)
    >>> draws = histogram.simulate(np.random.default_rng(0), 1000)
    >>> bool(draws["top_stays"].all()), bool(60 < np.median(draws["linf_error"]) < 80)
    (True, True)
    """

    noise: Noise
    promise: Guarantee
    counts: np.ndarray
    bins: float
    beta: float = 0.05
    sampling: str = "order_statistics"
    bounds: Mapping[str, float] = field(default_factory=dict)
    draws_losses: bool = False

    name = "histogram"
    loss_pair = "One bin goes up by one and another one down by one; all neighbours are alike."
    unknown_losses = BY_NOISE
    version = 1
    axes = declared(NOISE, DATA, K, *TCDP_TARGET, DELTA, *SIZES)
    required = ("noise", "data", "k", "rho")
    options = ("sampling", "beta")
    observables = MappingProxyType(
        {
            "linf_error": Observable("counts", "largest absolute error over all bins"),
            "mean_abs_error": Observable("counts", "mean absolute error over the occupied bins"),
            "rms_error": Observable("counts", "root-mean-square error over the occupied bins"),
            "spurious_max": Observable("counts", "largest noisy count among the empty bins"),
            **LOSSES,
        }
    )
    events = MappingProxyType(
        {
            "top_stays": "a bin that is truly largest is largest in the release",
            "spurious_wins": "an empty bin overtakes every bin that is truly largest",
        }
    )

    def __post_init__(self) -> None:
        given = np.asarray(unmasked("counts", self.counts))
        whole = given.dtype.kind in "iu" or not given.size  # a fraction is refused instead of being truncated
        counts = given.astype(np.int64) if whole else np.zeros(1)
        if counts.ndim != 1 or (counts < 1).any() or (counts[1:] > counts[:-1]).any():
            raise ValueError("counts are not valid; valid: positive whole numbers in descending order")
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)
        real("k", self.bins, max(len(counts), 1), 1e300, closed=True, finite=False)
        real("beta", self.beta, 0, 1)
        choice("sampling", self.sampling, SAMPLINGS)
        if self.sampling == "dense" and self.bins > DENSE_BINS:
            raise ValueError(f"k = {self.bins:g} is not valid for sampling=dense; valid: k <= 1e7")
        if self.bins != np.floor(self.bins):
            raise ValueError(f"k = {self.bins:g} is not valid; valid: a whole number of bins")

    @classmethod
    def check_options(cls, options: Options) -> None:
        check_beta(options)
        if (sampling := options["sampling"]) not in SAMPLINGS:
            raise UserError(f"mechanism.sampling = {sampling!r} is not known; valid: {', '.join(SAMPLINGS)}")

    @classmethod
    def blurs_counts(cls, point: Point) -> bool:
        return True

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return ("noise", "data", "k", *noise_axes.axes_of(point["noise"], point))

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        return {
            "mechanism": cls.name,
            "version": cls.version,
            **noise_axes.noise_law(point["noise"], point, coordinates=2, k=point["k"]),  # two bins change by one
            "bins": real("k", point["k"], 1, 1e300, closed=True, finite=False),
            "counts": counts.digest,
            "beta": real("beta", options["beta"], 0, 1),
            "sampling": options["sampling"],
        }

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        noise = noise_axes.built(law["noise"]["family"], law["parameters"])
        bins, beta = law["bins"], real("beta", law["beta"], 0, 1)  # beta is checked before its logarithm is taken
        bounds = {"bound": histogram_error_bound(noise, bins, beta)}
        printed = noise.printed_radius(law["target"]["rho"], bins, beta)
        bounds |= {} if printed is None else {"printed": printed}
        return cls(
            noise,
            noise_axes.guarantee_of(law),
            counts,
            bins,
            beta,
            law["sampling"],
            bounds,
            law.get("draws_losses", False),
        )

    @property
    def guarantee(self) -> Guarantee:
        return self.promise

    @property
    def thresholds(self) -> Mapping[str, Mapping[str, float]]:
        return {"linf_error": self.bounds}

    @property
    def empty(self) -> float:
        """The number of bins that hold no record."""
        return self.bins - len(self.counts)

    @property
    def work(self) -> float:
        return 12.0 + (self.bins if self.sampling == "dense" else len(self.counts))

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        if self.sampling == "dense":
            return self._summarise(*self._draw(rng, trials, int(self.bins)))
        low = high = np.full(trials, -np.inf)
        if self.empty >= 1:
            low, high = sample_extremes(self.noise, self.empty, trials, rng=rng)
            low = -low
        linf, sums, top, other, _ = self._draw(rng, trials, len(self.counts))
        return self._summarise(np.maximum(linf, np.maximum(low, high)), sums, top, other, high)

    @property
    def moves(self) -> int:
        """The number of bins that change between neighbours, by one each: none if there is a single bin."""
        return 2 if self.bins > 1 else 0

    @property
    def unknown_loss(self) -> str:
        return unknown_of_noise(self.noise, self.moves)

    def draw_losses(self, rng: np.random.Generator, trials: int) -> Draws:
        return of_moves(self.noise, self.moves, trials, rng=rng)

    def _summarise(
        self,
        linf: NDArray[np.float64],
        sums: NDArray[np.float64],
        top: NDArray[np.float64],
        other: NDArray[np.float64],
        spurious: NDArray[np.float64],
    ) -> Draws:
        m = len(self.counts)
        out: Draws = {"linf_error": linf}
        if m:
            out["mean_abs_error"] = sums[0] / m
            out["rms_error"] = np.sqrt(sums[1] / m)
        if self.empty >= 1:
            out["spurious_max"] = spurious
        if m:
            out["top_stays"] = top > np.maximum(other, spurious)
            out["spurious_wins"] = spurious > top
        return out

    def _draw(self, rng: np.random.Generator, trials: int, columns: int) -> tuple[Floats, ...]:
        """Return statistics of the first `columns` bins: largest error, sums, top, runner-up and largest empty bin.

        The columns are ordered: the bins that share the largest count, the other occupied bins, the empty bins.
        """
        m = len(self.counts)
        ties = int(np.count_nonzero(self.counts == self.counts[0])) if m else 0
        linf, top, other, spurious = (np.full(trials, -np.inf) for _ in range(4))
        sums = np.zeros((2, trials))
        rows = max(1, TILE // max(columns, 1))
        noise = np.empty((min(rows, trials), columns))
        scratch = np.empty_like(noise)
        for start in range(0, trials if columns else 0, rows):
            rows_now = slice(start, min(start + rows, trials))
            z = noise[: rows_now.stop - start]
            size = scratch[: len(z)]
            self.noise.fill(out=z, rng=rng)
            np.abs(z, out=size).max(axis=1, out=linf[rows_now])
            size[:, :m].sum(axis=1, out=sums[0, rows_now])
            np.square(z[:, :m], out=size[:, :m]).sum(axis=1, out=sums[1, rows_now])
            if m:
                z[:, :m] += self.counts
                z[:, :ties].max(axis=1, out=top[rows_now])
                z[:, ties:m].max(axis=1, out=other[rows_now], initial=-np.inf)
            z[:, m:].max(axis=1, out=spurious[rows_now], initial=-np.inf)
        return linf, sums, top, other, spurious
