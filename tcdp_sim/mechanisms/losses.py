"""Privacy losses that a run draws beside its errors: their names, and those of noise on coordinates that move by one.

The loss is L(y) = log(P(y) / Q(y)), where P and Q are the laws of the output on two neighbours.
"""

from types import MappingProxyType

import numpy as np

from tcdp_sim.mechanisms.base import Draws, Observable
from tcdp_sim.noise import Noise

LOSS, NEIGHBOUR = "privacy_loss", "privacy_loss_neighbour"
LOSSES = MappingProxyType(
    {
        LOSS: Observable("nats", "privacy loss log P(y)/Q(y) of an output y on the data"),
        NEIGHBOUR: Observable("nats", "log P(y)/Q(y) of an output y on the neighbour, whose law is Q"),
    }
)


def of_moves(noise: Noise, moves: int, trials: int, *, rng: np.random.Generator) -> Draws:
    """Return losses of `moves` coordinates that go up or down by one, each with its own noise, in both worlds.

    The noise is symmetric, so all such neighbours have the same law of the loss, however many go up.
    """
    noise.need_loss()
    loss, neighbour = np.zeros(trials), np.zeros(trials)
    for place in range(moves):
        move = 1.0 if place % 2 else -1.0
        loss += noise.privacy_loss(noise.sample(size=trials, rng=rng), move)
        neighbour += noise.privacy_loss(noise.sample(size=trials, rng=rng) + move, move)
    return {LOSS: loss, NEIGHBOUR: neighbour}


def of_outputs(p: np.ndarray, q: np.ndarray, drawn: np.ndarray, drawn_neighbour: np.ndarray) -> Draws:
    """Return losses of the outputs that were drawn in both worlds, given as places in their probabilities p and q."""
    with np.errstate(divide="ignore"):
        loss = np.log(p) - np.log(q)
    return {LOSS: loss[drawn], NEIGHBOUR: loss[drawn_neighbour]}
