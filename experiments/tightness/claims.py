"""The claims that are tested, and the largest divergence over the claimed one."""

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from tcdp_sim import exact
from tcdp_sim.core.errors import real
from tcdp_sim.noise import Noise, SinhNormal

ORDERS = 24  # orders of the search for the largest ratio, which is smooth and largest at an end
THEOREM, COROLLARY, TIGHT = "Theorem 17", "Corollary 18", "calibrated tightly"
PRINTED = 16  # Theorem 17: where Gaussian noise of the same scale is rho-zCDP, it claims (16 rho, omega)-tCDP
PRINTED_FROM, PROVED_FROM = 0.125, np.sqrt(0.5)  # omega sqrt(rho) in Corollary 18: as printed, as its proof needs


def worst_ratio(noise: Noise, rho: float, omega: float, coordinates: int = 1, shift: float = 1.0) -> float:
    """Return the largest coordinates D_alpha / (rho alpha) over 1 <= alpha <= omega.

    (rho, omega)-tCDP means that the ratio is at most 1. D_alpha is the Renyi divergence, by quadrature, of `noise` from
    itself moved by `shift` counts. `coordinates` is the number of coordinates that move. The ratio is infinite where
    the divergence is. The function raises ValueError unless rho > 0 and omega >= 1.
    """
    orders = np.geomspace(1, real("omega", omega, 1, closed=True), ORDERS)
    divergences = exact.renyi_divergence(noise, shift, orders).estimate
    return float((coordinates * divergences / (real("rho", rho, 0) * orders)).max())


def corollary_18(rho: float, omega: float) -> SinhNormal:
    """Return the noise that the proof of Corollary 18 adds to every bin, whether that is enough or not."""
    return SinhNormal(scale=4 / np.sqrt(real("rho", rho, 0)), knee=8 * omega)


def too_little_below(rho: float) -> float:
    """Return the omega sqrt(rho) below which the noise of Corollary 18's proof is too little (E4), to 1e-9.

    Below it, moving two bins by one costs more than (rho, omega)-tCDP allows. The value is NaN where that noise is
    enough for every omega > 1 (from rho = 0.0281 on). The corollary itself holds on its whole window, with sinh-squared
    noise. The function raises ValueError unless 0 < rho < 1/2.
    """
    root = np.sqrt(real("rho", rho, 0, 0.5))

    def excess(scaled):
        omega = max(scaled / root, 1.0)
        return np.log(worst_ratio(corollary_18(rho, omega), rho, omega, 2))

    least = max(root, 0.05)
    return float(brentq(excess, least, PROVED_FROM, xtol=1e-9)) if excess(least) > 0 else np.nan


def below(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of orders about which something is claimed."""
    return rows[rows["order"] <= rows["omega"] * (1 + 1e-9)]


def highest(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the row of the highest claimed order for every rho and omega of Corollary 18."""
    return below(rows).sort_values(["rho", "omega", "order"]).drop_duplicates(["rho", "omega"], keep="last")
