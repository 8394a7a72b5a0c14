"""The result of a search for the noise of several releases."""

from dataclasses import dataclass
from typing import Any

from tcdp_sim.calibration.tradeoff_point import TradeoffPoint
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.noise.base import Noise
from tcdp_sim.privacy import Guarantee


@dataclass(frozen=True)
class CalibratedReleases:
    """Several releases whose noise was scaled until all of them together meet a guarantee.

    Attributes
    ----------
    ledger : Ledger
        All releases, with the noise found.
    factor : float
        The factor by which the noise of the free releases was multiplied. For a family it is the scale itself.
    guarantee : Guarantee or TradeoffPoint
        The guarantee that the releases meet together.
    noise : Noise or None
        The noise of the only free release, None if there are several.
    spent : Bounds
        The value that the guarantee bounds, at the noise found: delta at epsilon for ApproxDP, epsilon in nats for
        PureDP, rho for ZCDP and TCDP, the power of the best test for a TradeoffPoint. The upper end is at most
        `allowed`.
    allowed : float
        The bound of the guarantee.
    below : Bounds
        The same value at a factor that is smaller by 2e-6, relative.
    least : bool
        True if it is proved that no factor below (1 - 2e-6) times this one meets the guarantee. The proof takes two
        facts: the lower end of `below` exceeds the bound, and less noise never protects more. The second one holds for
        continuous log-concave noise. It is false for noise on a lattice, where a smaller scale can have a smaller
        delta, so `least` is then False except for ZCDP and TCDP with discrete Gaussian noise.

    Examples
    --------
    >>> from tcdp_sim.accounting import Additive
    >>> from tcdp_sim.calibration import calibrate_releases
    >>> from tcdp_sim.noise import Gaussian, Laplace
    >>> from tcdp_sim.privacy import ZCDP
    >>> found = calibrate_releases([Additive(Gaussian(1.0)), Additive(Gaussian(2.0))], ZCDP(0.5))
    >>> round(found.factor, 5), found.spent.upper <= 0.5, found.slack < 1e-5
    (1.11803, True, True)
    """

    ledger: Any  # workers import this class, and no ledger
    factor: float
    guarantee: Guarantee | TradeoffPoint
    noise: Noise | None
    spent: Bounds
    allowed: float
    below: Bounds
    least: bool

    @property
    def slack(self) -> float:
        """The share of the bound that the upper end leaves unused, in [0, 1)."""
        return 1 - self.spent.upper / self.allowed
