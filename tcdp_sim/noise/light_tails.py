"""A look at the tail of a noise: if it is lighter than a Gaussian one, no multiple of the order bounds a divergence."""

import numpy as np

from tcdp_sim.noise.privacy_loss import HasPrivacyLoss

FAR = 1e5  # quartiles: from here on a tail is taken to go on as before
_GROWTH = 1.001  # of the ratio below over the last decade, which allows for rounding


def has_light_tails(noise: HasPrivacyLoss, shift: float = 1.0) -> bool:
    """Return True if the squared privacy loss far out grows faster than minus the log density.

    It grows like it for Gaussian noise, and slower for all heavier tails. Then the divergence of order a is bounded by
    a multiple of a.
    """
    y = float(noise.isf(0.25)) * FAR * np.array([0.1, 1.0])
    with np.errstate(all="ignore"):
        depth = noise.logpdf(0.0) - np.asarray(noise.logpdf(y))
        ratio = np.square(noise.privacy_loss(-y, shift)) / depth
    return not bool(ratio[1] <= _GROWTH * ratio[0])
