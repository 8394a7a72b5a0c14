"""The base class of every noise, of the package and of plug-ins: four concerns in one class."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tcdp_sim.noise.accuracy import HasErrorRadius
from tcdp_sim.noise.calibratable import Calibratable
from tcdp_sim.noise.distribution import Distribution
from tcdp_sim.noise.guard import GUARDED, guarded, is_foreign
from tcdp_sim.noise.privacy_loss import HasPrivacyLoss
from tcdp_sim.noise.stretched import HasStretchedLoss

Objective = Callable[["Noise"], float]
OF_OUTPUTS = (  # methods of a noise whose arguments may be so extreme that floats overflow on the way
    *("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf", "isf_log", "privacy_loss", "affine_loss"),
    *("closed_renyi", "closed_hockey_stick", "closed_affine_renyi"),
)


class Noise(HasPrivacyLoss, HasStretchedLoss, Calibratable, HasErrorRadius):
    """Additive noise in counts: a distribution on the reals that is symmetric about zero.

    A subclass is a frozen dataclass of its parameters. It gives `family` and six methods: `logpdf`, `sf`, `logsf`,
    `isf`, `var` and `sample`. Every other method has a fallback, which is either right for any noise or refuses and
    names the method to define. Each base class holds one concern:

    - `distribution.Distribution`: density, tails, quantiles and draws
    - `privacy_loss.HasPrivacyLoss`: the known properties of the privacy loss
    - `stretched.HasStretchedLoss`: the same when the noise is stretched, for smooth sensitivity
    - `calibratable.Calibratable`: the guarantees that the family can meet
    - `accuracy.HasErrorRadius`: the largest of many draws

    Attributes
    ----------
    without_ties : str or None
        The family that breaks the ties of a discrete noise, None for all others.

    Examples
    --------
    >>> from tcdp_sim.noise import FAMILIES, Noise
    >>> noise = FAMILIES["gaussian"](2.0)
    >>> isinstance(noise, Noise), float(noise.var())
    (True, 4.0)
    """

    _gives_fallbacks = True

    without_ties: ClassVar[str | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Let no warning of numpy escape where floats overflow, and guard the methods of classes from outside."""
        super().__init_subclass__(**options)
        for name in OF_OUTPUTS:
            if name in vars(cls):
                setattr(cls, name, np.errstate(all="ignore")(vars(cls)[name]))
        if is_foreign(cls):
            for name in (*OF_OUTPUTS, *GUARDED):
                if (method := _foreign_method(cls, name)) is not None:
                    setattr(cls, name, guarded(name, method))

    def with_density(self) -> "Noise":
        """Return the noise itself, or for a discrete one the noise that breaks its ties.

        The losses of both have the same law at whole shifts.
        """
        return self


def _foreign_method(cls: type, name: str) -> Any:
    """Return the function that a class, or a base of it that is no noise, gives for a method; None for others'."""
    home = next((each for each in cls.__mro__ if name in vars(each)), None)
    is_own = home is cls or (home is not None and not issubclass(home, Distribution))
    return vars(home)[name] if home is not None and is_own and callable(vars(home)[name]) else None
