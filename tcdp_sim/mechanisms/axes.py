"""The axes that several mechanisms share; each mechanism also declares its own axes."""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import real
from tcdp_sim.privacy.amplification.schemes import SCHEMES

POSITIVE = "above 0"

NOISE = Axis("noise", "distribution that is added", kind="option")
DATA = Axis("data", "data set", kind="option")
K = Axis("k", "number of bins", "1", "1 to 1e300, or declared", "whole", words=("declared",))
RHO = Axis("rho", "privacy parameter of zCDP and tCDP", "nats", POSITIVE)
OMEGA = Axis("omega", "largest order of tCDP", "1", "above 1")
OMEGA_SQRT_RHO = Axis("omega_sqrt_rho", "omega, given as omega times the root of rho", "1", POSITIVE)
DELTA = Axis("delta", "privacy parameter of (epsilon, delta)-DP", "1", "between 0 and 1")
SCALE = Axis("scale", "parameter of the noise, in place of a target", "counts", POSITIVE)
SIGMA = Axis("sigma", "standard deviation of Gaussian noise, in place of a target", "counts", POSITIVE)
SIZES = (SCALE, SIGMA)  # either gives a noise with one parameter
TCDP_TARGET = (RHO, OMEGA, OMEGA_SQRT_RHO)
COMMON = declared(NOISE, DATA, K, *TCDP_TARGET, DELTA)  # every sweep is multiplied out in this order

ORDER = Axis("order", "order of a Renyi divergence", "1", "above 1")
SCHEME = Axis("scheme", "how records are sampled", valid=", ".join(SCHEMES), kind="text")
SAMPLING_FRACTION = Axis(
    "sampling_fraction", "probability with which a record is sampled", "1", "above 0, at most 1", short="s"
)

PUBLISHED = {SAMPLING_FRACTION.name: SAMPLING_FRACTION.published}  # name of an axis in a sweep -> name in results
OMEGA_FORMS = (OMEGA.name, OMEGA_SQRT_RHO.name)  # either axis gives the same parameter


def scaled_omega(point: Mapping[str, Any]) -> float | None:
    """Return the omega that a point gives as omega_sqrt_rho, or None if it gives none.

    Raises ValueError if omega_sqrt_rho or rho is not above 0.
    """
    scaled, rho = point.get(OMEGA_SQRT_RHO.name), point.get(RHO.name)
    if scaled is None or rho is None:
        return None
    return real(OMEGA_SQRT_RHO.name, scaled, 0, finite=False) / sqrt(real(RHO.name, rho, 0))
