"""A point of a trade-off curve, as a goal of calibration."""

from dataclasses import dataclass

from tcdp_sim.core.errors import scalar


@dataclass(frozen=True)
class TradeoffPoint:
    """The demand that no test for a record with the type I error alpha has a type II error below beta.

    Source: Kulynych et al. (2024) [Kul24], for noise that is chosen by the errors of attacks.

    Parameters
    ----------
    alpha : float
        The type I error (false positive rate) of the test, in (0, 1).
    beta : float
        Its least type II error (false negative rate), in (0, 1 - alpha). Without any release it is 1 - alpha.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> from tcdp_sim.accounting import Additive
    >>> from tcdp_sim.calibration import TradeoffPoint, calibrate_releases
    >>> from tcdp_sim.noise import Gaussian
    >>> found = calibrate_releases([Additive(Gaussian(1.0))], TradeoffPoint(0.05, 0.9))
    >>> round(found.noise.scale, 3)
    2.753
    """

    alpha: float
    beta: float

    def __post_init__(self) -> None:
        scalar("alpha", self.alpha, 0, 1)
        scalar("beta", self.beta, 0, 1 - self.alpha)
