"""A check that a noise whose parameters are given, and not searched for, keeps a guarantee."""

import numpy as np

from tcdp_sim.calibration.families import calibrate
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import Guarantee

ROUNDING = 1e-12  # of the scale


def need_kept(noise: Noise, guarantee: Guarantee, coordinates: int) -> None:
    """Raise ValueError unless the noise keeps the guarantee when this number of coordinates change by one each."""
    if noise.parameters() == ("scale",):
        least = calibrate(noise.family, guarantee, coordinates=coordinates).noise.scale  # type: ignore[attr-defined]
        if not noise.scale >= least * (1 - ROUNDING):  # type: ignore[attr-defined]
            raise ValueError(f"{noise} does not keep {guarantee}; valid: scale >= {least:.8g}")
        return
    if guarantee.rho_omega is None:
        raise ValueError(f"it is not known whether {noise} keeps {guarantee}; valid: ZCDP or TCDP, or another noise")
    from tcdp_sim.calibration.all_orders import holds_at_all_orders  # workers need no exact divergences
    from tcdp_sim.calibration.tail_orders import least_order

    rho, omega = guarantee.rho_omega[0] / coordinates, guarantee.rho_omega[1]
    last = omega if np.isfinite(omega) else max(2.0, least_order(noise, 1.0, rho) if noise.log_concave else np.inf)
    if not holds_at_all_orders(noise, 1.0, rho, last):
        raise ValueError(f"quadrature does not confirm that {noise} keeps {guarantee}; valid: more noise")
