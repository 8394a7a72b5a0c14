"""Answers with additive noise, continuous or on a lattice."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import fsum, sqrt

from tcdp_sim.accounting.releases.atoms import of_lattice
from tcdp_sim.accounting.releases.noise_rho import noise_rho
from tcdp_sim.accounting.releases.release import Case, Release, both_ways
from tcdp_sim.core.errors import scalar
from tcdp_sim.core.numerics import TINY
from tcdp_sim.exact.losses.grid_law import LossLaw
from tcdp_sim.exact.losses.laplace_law import LaplaceLoss
from tcdp_sim.exact.losses.pair_law import PairLoss
from tcdp_sim.exact.mixtures import Mixture
from tcdp_sim.exact.subsampling import DominatingPair
from tcdp_sim.noise import Gaussian, Laplace, Noise

LARGEST_SHIFT = 1e100  # over the upper quartile of the noise: squares of it are floats


@dataclass(frozen=True)
class Additive(Release):
    """An answer plus log-concave noise.

    The law of the loss is exact for an answer that moves by the sensitivity. A smaller move reveals no more. It is the
    same in both directions, because the noise is symmetric.

    Source: Balle and Wang (2018) [BW18], for Gaussian noise; Zhu et al. (2022) [ZDW22], for dominating pairs.

    Parameters
    ----------
    noise : Noise
        A noise with plain numbers as parameters that says it is log-concave, of the package or of a plug-in. Noise on a
        lattice protects answers on the lattice.
    sensitivity : float
        The largest change of the answer between neighbours in the ledger's relation, in counts, above 0. For Gaussian
        noise on several coordinates it is the Euclidean length of the change.

    Raises
    ------
    ValueError
        If the noise is not log-concave, or the sensitivity is not above 0 or not on the noise's lattice.

    Examples
    --------
    >>> from tcdp_sim.accounting import Additive, Ledger
    >>> from tcdp_sim.noise import Gaussian
    >>> round(Ledger([Additive(Gaussian(1.0))]).delta(0.0).estimate, 3)
    0.383
    """

    noise: Noise
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sensitivity", scalar("sensitivity", self.sensitivity, 0))
        if not isinstance(self.noise, Noise):
            raise ValueError(f"noise = {self.noise!r} is not valid; valid: a noise, such as Gaussian(1.0)")
        additive_loss(self.noise, self.sensitivity)
        quartile = float(self.noise.isf(0.25))  # 0 for noise that is mostly 0
        if quartile and self.sensitivity > LARGEST_SHIFT * quartile:
            most = f"valid: at most {LARGEST_SHIFT:g} times the upper quartile of the noise"
            raise ValueError(f"sensitivity = {self.sensitivity:g} is not valid for {self.noise!r}; {most}")

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pair of the noise and the noise moved by the sensitivity."""
        return (both_ways((additive_loss(self.noise, self.sensitivity), times)),)

    def least_rho(self, omega: float) -> float:
        return noise_rho(self.noise, self.sensitivity, omega)

    @property
    def has_scale(self) -> bool:
        noise = self.noise
        return not noise.is_discrete or (not noise.is_optimized and len(noise.parameters()) == 2)

    def scaled(self, factor: float) -> "Additive":
        """Return the release with its noise multiplied by a factor > 0. The lattice of a discrete noise stays."""
        return replace(self, noise=self.noise.widened(factor) if self.noise.is_discrete else self.noise.scaled(factor))

    def less_noise_spends_more(self, in_rho: bool) -> bool:
        return not self.noise.is_discrete or (in_rho and self.noise.linear_in_order)


@lru_cache(maxsize=256)
def additive_loss(noise: Noise, shift: float) -> LossLaw:
    """Return the law of the privacy loss of additive noise."""
    if noise.shape:
        raise ValueError(f"noise = {noise!r} has array-valued parameters; valid: one noise")
    if noise.is_discrete:
        return of_lattice(noise, shift)
    noise.need_log_concave(f"account for {noise!r}")
    if type(noise) is Laplace:
        return LaplaceLoss(shift / float(noise.scale))
    return PairLoss(DominatingPair(((1.0, Mixture(noise, (shift,)), Mixture(noise)),)))


def gaussian_ratio(release: Release) -> float | None:
    """Return sensitivity / scale of an answer plus Gaussian noise, and None for any other release.

    Only a normal loss has divergences that are linear in the order, so that only Gaussian noise has them at all orders.
    """
    if not isinstance(release, Additive) or release.noise.is_discrete or not release.noise.linear_in_order:
        return None
    ratio = release.sensitivity / sqrt(max(float(release.noise.var()), TINY))
    return ratio if 1e-100 < ratio < 1e100 else None


def gaussian_case(ratios: Sequence[tuple[float, int]]) -> Case:
    """Return the pair of several Gaussian releases (sensitivity / scale, times): the pair of a single one.

    The losses are independent and normal. A loss with variance m^2 has the mean m^2 / 2, so that the squares add up.
    """
    largest = max(ratio for ratio, _ in ratios)
    length = largest * sqrt(fsum(times * (ratio / largest) ** 2 for ratio, times in ratios))
    return both_ways((additive_loss(Gaussian(1.0), length), 1))
