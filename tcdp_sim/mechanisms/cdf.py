"""The CDF of a histogram: all prefix sums, released by a factorisation mechanism."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import log, sqrt
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import whole
from tcdp_sim.core.search import brentq
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.axes import DELTA, NOISE, TCDP_TARGET, K
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.losses import BY_NOISE, LOSSES, of_moves, unknown_of_noise
from tcdp_sim.noise import Noise
from tcdp_sim.ordered.prefix_sums import (
    EachBin,
    EachPrefix,
    Factorisation,
    Optimum,
    SquareRoot,
    Tree,
    WeightedSquareRoot,
    WeightedTree,
)
from tcdp_sim.ordered.prefix_sums.factorisation import MOST_BINS
from tcdp_sim.ordered.prefix_sums.weighted_tree import best_shares, noisy_levels
from tcdp_sim.privacy import Guarantee
from tcdp_sim.privacy.relation import OF_COUNTS, from_axis, written

TILE = 2**18  # numbers drawn at a time
UNEQUAL = "rows that move by unequal amounts"  # the case whose privacy loss is not drawn
LEVEL = 0.95  # of the proved radius of the largest error
PLAIN: dict[str, Callable[[int, str], Factorisation]] = {
    "each_bin": EachBin,
    "each_prefix": EachPrefix,
    "square_root": SquareRoot,
    "weighted_square_root": WeightedSquareRoot,
    "optimal": Optimum,
}
TREES = ("tree", "least_squares", "weighted")  # followed by a branching, such as tree_2
METHODS = f"{', '.join(PLAIN)}, {', '.join(f'{name}_B' for name in TREES)} with a branching B from 2 to 1024"
_BRANCHED = re.compile(rf"({'|'.join(TREES)})_([1-9][0-9]{{0,3}})")


@dataclass(frozen=True, eq=False)
class Cdf(Mechanism):
    """All prefix sums of a histogram with k bins, by a factorisation mechanism. Errors do not depend on the records.

    Source: Li et al. (2015) [LMHMR15].

    `noise`: the noise in counts. If it is isotropic, it is for sensitivity 1 and is multiplied by the sensitivity of
    the factorisation. Every other noise is calibrated to the moves of the rows of R: rows that move by one, or unequal
    moves by `calibrate_unequal`. `draws_losses`: True if a run also draws privacy losses, for neighbours that move R by
    its sensitivity. They are the worst ones for isotropic noise and for rows that move by one. With other rows the
    worst neighbours are not known, and nothing is drawn.
    """

    noise: Noise
    promise: Guarantee
    factorisation: Factorisation
    draws_losses: bool = False

    name = "cdf"
    loss_pair = (
        "Neighbours move the rows that hold noise by the sensitivity; they are the worst ones for Gaussian noise "
        "and for rows that move by one."
    )
    unknown_losses = MappingProxyType(
        {UNEQUAL: "The worst neighbours are not known, and the loss of others says too little.", **BY_NOISE}
    )
    version = 2
    axes = declared(
        Axis("method", "factorisation of the prefix sums", "", METHODS, "text"),
        NOISE,
        *TCDP_TARGET,
        DELTA,
        Axis("neighbours", "neighbouring relation", "", ", ".join(map(written, OF_COUNTS)), "text"),
        replace(K, valid=f"a whole number from 2 to {MOST_BINS}"),
    )
    required = ("method", "noise", "rho", "neighbours", "k")
    options = ()
    observables = MappingProxyType(
        {
            "largest_error": Observable("counts", "largest absolute error over all prefix sums", 0),
            "mean_square_error": Observable("counts^2", "mean of the squared errors over all prefix sums", 0),
            **LOSSES,
        }
    )
    events = MappingProxyType({})
    neighbours = f"of the axis neighbours: {' or '.join(map(written, OF_COUNTS))}"

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        own = noise_axes.target_axes(noise_axes.depends_on(point["noise"]))
        return ("method", "noise", "neighbours", "k", *own)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        k, method = whole("k", point["k"], 2, MOST_BINS), str(point["method"])
        relation = from_axis(point["neighbours"])
        shares = _shares(method, k, relation)
        noise = _noise_law(method, point, _factorisation(method, k, relation, shares))
        law = {"mechanism": cls.name, "version": cls.version, **noise, "method": method, "k": k}
        law |= {"neighbours": written(relation)}
        return law | ({"shares": list(shares)} if shares else {})

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        noise = noise_axes.built(law["noise"]["family"], law["parameters"])
        shares = tuple(law.get("shares", ()))
        factorisation = _factorisation(law["method"], int(law["k"]), from_axis(law["neighbours"]), shares)
        return cls(noise, noise_axes.guarantee_of(law), factorisation, law.get("draws_losses", False))

    @property
    def guarantee(self) -> Guarantee:
        return self.promise

    @property
    def thresholds(self) -> dict[str, dict[str, float]]:
        """A radius that holds the largest error with probability 95%, for Gaussian noise."""
        if not self.noise.isotropic:  # independent and isotropic: Gaussian, by a theorem of Maxwell
            return {}
        return {"largest_error": {"bound": _radius(self.factorisation.variances() * self.variance)}}

    @cached_property
    def variance(self) -> float:
        """The variance of the noise on a row of R counts, in counts squared."""
        return float(self.noise.var()) * self._factor**2

    @property
    def _factor(self) -> float:
        return self.factorisation.sensitivity if self.noise.isotropic else 1.0

    @property
    def work(self) -> float:
        k, noises = self.factorisation.k, self.factorisation.noises
        return float(k * k if isinstance(self.factorisation, Optimum) else 2 * noises + 4 * k * log(k))

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        rows = max(TILE // self.factorisation.noises, 1)
        parts = [self._draw(rng, min(rows, trials - start)) for start in range(0, trials, rows)]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    @property
    def moves(self) -> int | None:
        """The number of noises whose rows move by one on the worst neighbours, None if rows move by unequal amounts.

        Isotropic noise is scaled to the sensitivity, so its loss is the loss of one count.
        """
        return 1 if self.noise.isotropic else self.factorisation.unit_shifts

    @property
    def unknown_loss(self) -> str:
        return UNEQUAL if self.moves is None else unknown_of_noise(self.noise, self.moves)

    def draw_losses(self, rng: np.random.Generator, trials: int) -> Draws:
        return of_moves(self.noise, self.moves or 0, trials, rng=rng)

    def _draw(self, rng: np.random.Generator, trials: int) -> dict[str, NDArray[np.float64]]:
        z = np.empty((trials, self.factorisation.noises))
        self.noise.fill(out=z, rng=rng)
        error = self._factor * self.factorisation.errors(z)
        return {"largest_error": np.abs(error).max(axis=1), "mean_square_error": np.square(error).mean(axis=1)}


def _noise_law(method: str, point: Point, factorisation: Factorisation) -> dict[str, Any]:
    """Return the noise of a point: for sensitivity 1 if it is isotropic, else for the moves of the rows of R."""
    spec, shifts = point["noise"], factorisation.unit_shifts
    if noise_axes.is_isotropic(spec):
        return noise_axes.noise_law(spec, point)
    if shifts:
        return noise_axes.noise_law(spec, point, coordinates=shifts)
    try:
        moves = (factorisation.largest_move, factorisation.sensitivity, factorisation.noises)
        return noise_axes.unequal_noise_law(spec, point, *moves)
    except ValueError as error:
        raise ValueError(f"method={method} moves rows of R by unequal amounts: {error}") from None


def _branching(method: str) -> tuple[str, int]:
    """Return the kind of a tree and its branching. Raises ValueError for a name that is no method."""
    found = _BRANCHED.fullmatch(method)
    branching = int(found[2]) if found else 0
    if not found or not 2 <= branching <= 1024:
        raise ValueError(f"method = {method} is not known; valid: {METHODS}")
    return found[1], branching


def _shares(method: str, k: int, relation: str) -> tuple[float, ...]:
    """Return the shares of rho of the levels of a tree with least squares; nothing for other methods."""
    if method in PLAIN:
        return ()
    kind, branching = _branching(method)
    if kind == "tree":
        return ()
    return best_shares(k, relation, branching) if kind == "weighted" else (1.0,) * noisy_levels(k, relation, branching)


def _factorisation(method: str, k: int, relation: str, shares: tuple[float, ...]) -> Factorisation:
    if method in PLAIN:
        return PLAIN[method](k, relation)
    branching = _branching(method)[1]
    return WeightedTree(k, relation, branching, shares) if shares else Tree(k, relation, branching)


def _radius(variances: NDArray[np.float64]) -> float:
    """Return a radius that holds all of some jointly Gaussian errors with probability LEVEL or more.

    By Sidak's inequality the probability is at least the one for independent errors with the same variances. Variances
    are rounded up to a few hundred values, which makes the radius larger by at most 0.1%.
    """
    steps = np.ceil(500 * np.log(variances[variances > 0]))
    values, times = np.unique(steps, return_counts=True)
    scales = np.exp(0.5 * values / 500)

    def excess(radius: float) -> float:
        inside = np.log1p(-2 * np.exp(log_ndtr(-radius / scales)))
        return float(times @ inside - log(LEVEL))

    least = 1e-3 * scales.max()
    return float(brentq(excess, least, 40 * scales.max() * sqrt(1 + log(len(variances)) / 20), rtol=1e-12))
