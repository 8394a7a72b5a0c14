"""Quantiles from noisy prefix sums of a histogram, made monotone: trees with consistency, and the square root."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcdp_sim.calibration import calibrate
from tcdp_sim.core import registry
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import choice
from tcdp_sim.noise import Noise
from tcdp_sim.ordered.prefix_sums import Factorisation, SquareRoot, Tree, WeightedTree
from tcdp_sim.ordered.prefix_sums.weighted_tree import noisy_levels
from tcdp_sim.ordered.quantiles.line import Line, Values
from tcdp_sim.ordered.quantiles.method import Method, ledger_of
from tcdp_sim.privacy import TCDP, Guarantee

TILE = 2**18


def _least_squares(branching: int) -> Callable[[int, str], Factorisation]:
    def of(k: int, relation: str) -> Factorisation:
        return WeightedTree(k, relation, branching, (1.0,) * noisy_levels(k, relation, branching))

    return of


FACTORISATIONS: dict[str, Callable[[int, str], Factorisation]] = {
    "tree_2": lambda k, relation: Tree(k, relation, 2),
    "least_squares_2": _least_squares(2),
    "least_squares_16": _least_squares(16),
    "square_root": SquareRoot,
}


def family_for(guarantee: Guarantee) -> str:
    """Return the family of the noise of prefix sums under a guarantee."""
    if guarantee.is_pure:
        return "laplace"
    return "sinh_normal" if isinstance(guarantee, TCDP) else "gaussian"


@dataclass(frozen=True)
class FromPrefixSums(Method):
    """Quantiles of the CDF that a factorisation mechanism releases.

    The domain is cut into equal bins. All prefix sums of their counts are released with noise, by a noisy tree, least
    squares on a tree (consistency), or the square-root factorisation. Isotonic regression makes them monotone. A
    quantile is where they reach level n, with interpolation inside a bin. Under add_remove n is the last noisy sum.

    The parameters are those of `Method` and these.

    Source: Hay et al. (2010) [HRMS10]; Henzinger et al. (2023) [HUU23].

    Parameters
    ----------
    factorisation : str
        A name in FACTORISATIONS.
    k : int
        The number of bins, at least 2, which divides the domain.
    noise : Noise
        The noise in counts. Isotropic noise is for sensitivity 1, and is multiplied by the sensitivity of the
        factorisation. Other noise is calibrated to the rows that neighbours move.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP
    >>> method = FromPrefixSums.of((0.5,), "substitute", ZCDP(0.5), "square_root", 64)
    >>> line = Line(range(64), 64, "integers")
    >>> abs(int(method.sample(line, 1, rng=np.random.default_rng(0))[0, 0]) - 32) < 20
    True
    """

    factorisation: str
    k: int
    noise: Noise

    @classmethod
    def of(
        cls, levels: tuple[float, ...], relation: str, guarantee: Guarantee, factorisation: str, k: int
    ) -> "FromPrefixSums":
        """Return the method with noise that meets the guarantee.

        Raises ValueError if no such noise is known: pure DP and tCDP need a factorisation whose rows move by one each.
        """
        family = family_for(guarantee)
        made = FACTORISATIONS[choice("factorisation", factorisation, FACTORISATIONS)](k, relation)
        isotropic = registry.noise(family).isotropic
        if not (isotropic or made.unit_shifts):
            raise ValueError(f"{guarantee} is not valid for {factorisation}; valid: ZCDP or ApproxDP")
        noise = calibrate(family, guarantee, coordinates=1 if isotropic else int(made.unit_shifts or 1)).noise
        return cls(levels, relation, guarantee, factorisation, k, noise)

    @cached_property
    def matrix(self) -> Factorisation:
        """The factorisation of the matrix of prefix sums."""
        return FACTORISATIONS[self.factorisation](self.k, self.relation)

    @property
    def ledger(self) -> Any:
        from tcdp_sim.accounting import Additive

        if self.noise.isotropic:
            return ledger_of([Additive(self.noise)], self.relation)
        return ledger_of([(Additive(self.noise), int(self.matrix.unit_shifts or 1))], self.relation)

    def work(self, line: Line) -> float:
        return 10.0 * self.matrix.noises + 3000

    def sample(self, line: Line, trials: int, *, rng: np.random.Generator) -> Values:
        truth = prefix_counts(line, self.k)
        factor = self.matrix.sensitivity if self.noise.isotropic else 1.0
        out = np.empty((trials, self.m), dtype=line.values.dtype)
        size = max(TILE // self.matrix.noises, 1)
        for done in range(0, trials, size):
            z = np.empty((min(size, trials - done), self.matrix.noises))
            self.noise.fill(out=z, rng=rng)
            for row, error in enumerate(factor * self.matrix.errors(z), start=done):
                out[row] = self._quantiles(line, truth + error)
        return out

    def _quantiles(self, line: Line, noisy: Floats) -> Values:
        from scipy.optimize import isotonic_regression  # slow to import

        sums = np.concatenate([[0.0], np.maximum(isotonic_regression(noisy).x, 0.0)])
        target = np.array(self.levels) * (line.n if self.relation == "substitute" else sums[-1])
        bin_ = np.clip(np.searchsorted(sums, target) - 1, 0, self.k - 1)
        rise = sums[bin_ + 1] - sums[bin_]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.clip(np.where(rise > 0, (target - sums[bin_]) / rise, 0.5), 0.0, 1.0)
        width = line.k // self.k
        if line.kind == "reals":
            return line.element(width * (bin_ + share))
        inside = np.minimum(np.floor(share * width), np.nextafter(float(width), 0.0)).astype(np.uint64)
        return np.asarray(bin_.astype(np.uint64) * np.uint64(width) + np.minimum(inside, np.uint64(width - 1)))


def prefix_counts(line: Line, k: int) -> Floats:
    """Return the numbers of records below the end of each bin."""
    ends = np.arange(1, k) * (line.k // k) if line.kind == "reals" else _integer_ends(line.k // k, k)
    return np.append(np.searchsorted(line.values, ends), line.n).astype(np.float64)


def _integer_ends(width: int, k: int) -> Values:
    return np.arange(1, k, dtype=np.uint64) * np.uint64(width)
