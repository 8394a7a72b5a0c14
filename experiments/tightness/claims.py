"""The claims that are put to the test, and the largest divergence over what is claimed."""

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from tcdp_sim import exact
from tcdp_sim.core.errors import real
from tcdp_sim.noise import Noise, SinhNormal

ORDERS = 24  # at which the largest ratio is looked for: it is smooth, and largest at an end
THEOREM, COROLLARY, TIGHT = "Theorem 17", "Corollary 18", "calibrated tightly"
PRINTED = 16  # Theorem 17: where Gaussian noise of the same scale is rho-zCDP, it claims (16 rho, omega)-tCDP
PRINTED_FROM, PROVED_FROM = 0.125, np.sqrt(0.5)  # omega sqrt(rho) in Corollary 18: as printed, as its proof needs


def worst_ratio(noise: Noise, rho: float, omega: float, coordinates: int = 1, shift: float = 1.0) -> float:
    """The largest of coordinates D_alpha / (rho alpha), 1 <= alpha <= omega; (rho, omega)-tCDP is that it is at most 1.

    D_alpha: the Renyi divergence of `noise` from itself moved by `shift` (counts), by quadrature; coordinates: how many
    are moved. rho > 0; omega >= 1. Infinite where the divergence is. Raises ValueError.
    """
    orders = np.geomspace(1, real("omega", omega, 1, closed=True), ORDERS)
    divergences = exact.renyi_divergence(noise, shift, orders).estimate
    return float((coordinates * divergences / (real("rho", rho, 0) * orders)).max())


def corollary_18(rho: float, omega: float) -> SinhNormal:
    """Return the noise that the proof of Corollary 18 adds to every bin, whether that is enough or not."""
    return SinhNormal(scale=4 / np.sqrt(real("rho", rho, 0)), knee=8 * omega)


def too_little_below(rho: float) -> float:
    """Return the omega sqrt(rho) below which the noise of Corollary 18's proof is too little (E4), to 1e-9.

    Below it, moving two bins by one costs more than (rho, omega)-tCDP allows. NaN where that noise is enough for every
    omega > 1 (from rho = 0.0281 on). The corollary itself holds on its whole window, with sinh-squared noise. Raises
    ValueError unless 0 < rho < 1/2.
    """
    root = np.sqrt(real("rho", rho, 0, 0.5))

    def excess(scaled):
        omega = max(scaled / root, 1.0)
        return np.log(worst_ratio(corollary_18(rho, omega), rho, omega, 2))

    least = max(root, 0.05)
    return float(brentq(excess, least, PROVED_FROM, xtol=1e-9)) if excess(least) > 0 else np.nan


def below(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of orders for which something is claimed."""
    return rows[rows["order"] <= rows["omega"] * (1 + 1e-9)]


def highest(rows: pd.DataFrame) -> pd.DataFrame:
    """Of every rho and omega of Corollary 18 the highest order that counts."""
    return below(rows).sort_values(["rho", "omega", "order"]).drop_duplicates(["rho", "omega"], keep="last")
