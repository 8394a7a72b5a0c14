"""Numbers that were estimated by simulation, with confidence intervals."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A simulated number with its confidence interval, which may miss the number with probability 1 - `level`.

    It is no `Bounds`, whose ends always contain the number. A privacy guarantee that rests on an estimate holds with
    this confidence only, and it is a statement about one interval whose number of draws was fixed in advance.

    Attributes
    ----------
    lower, estimate, upper : float
        The ends of the interval, and the mean of the draws between them. The upper end may be infinite.
    level : float
        The confidence level, in (0, 1).
    method : str
        The simulation and the kind of interval in words. An interval by the normal law has its level for many draws
        only.
    draws : int
        The number of draws that the interval is computed from.
    effective : float
        The effective sample size, (sum v)^2 / sum v^2 for the draws v, which is the number of equal positive draws that
        would be as informative. It is 0 if all draws are 0.

    Examples
    --------
    >>> from tcdp_sim.exact import Estimate
    >>> Estimate(0.1, 0.2, 0.3, 0.95, "plain draws", 50, 10.0)
    Estimate(0.1 to 0.3 with confidence 0.95, mean 0.2: plain draws, 50 draws, effective sample size 10)
    """

    lower: float
    estimate: float
    upper: float
    level: float
    method: str
    draws: int
    effective: float

    def __post_init__(self) -> None:
        if not self.lower <= self.estimate <= self.upper:
            raise ValueError(f"estimate = {self.estimate:g} is not valid; valid: {self.lower:g} to {self.upper:g}")

    def __repr__(self) -> str:
        ends = f"{self.lower:.4g} to {self.upper:.4g} with confidence {self.level:g}, mean {self.estimate:.4g}"
        return f"Estimate({ends}: {self.method}, {self.draws:,} draws, effective sample size {self.effective:,.0f})"

    @property
    def relative_width(self) -> float:
        """Half the width of the interval over the mean, inf if the mean is 0."""
        return 0.5 * (self.upper - self.lower) / self.estimate if self.estimate > 0 else float("inf")
