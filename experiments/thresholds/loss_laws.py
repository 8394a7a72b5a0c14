"""The exact laws of the privacy losses of trees and prefix sums: the law of one count with Gaussian noise."""

from tcdp_sim.experiments import losses
from tcdp_sim.mechanisms.thresholds import Thresholds


def _count(mechanism: Thresholds) -> losses.Moved:
    """Return the noise of the count. Raises ValueError for another method."""
    if not mechanism.moves:
        raise ValueError("the law of the loss is computed for trees and prefix sums")
    return losses.Moved(mechanism.count_noise, mechanism.moves)


EXACT, SURVIVAL, DELTA = losses.laws_of_moves(_count)
PROMISED = losses.PROMISED
