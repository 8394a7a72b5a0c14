"""Private selection from private candidates: the best of a random number of private runs."""

from tcdp_sim.candidates.calibration import largest_shift, least_rho
from tcdp_sim.candidates.gaussian_runs import gaussian_renyi
from tcdp_sim.candidates.pure_runs import largest_loss, pure_renyi
from tcdp_sim.candidates.theorems import theorem_renyi
from tcdp_sim.candidates.tries import NegativeBinomialTries, PoissonTries, Tries, tries_of

__all__ = [
    "NegativeBinomialTries",
    "PoissonTries",
    "Tries",
    "gaussian_renyi",
    "largest_loss",
    "largest_shift",
    "least_rho",
    "pure_renyi",
    "theorem_renyi",
    "tries_of",
]
