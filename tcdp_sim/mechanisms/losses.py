"""The privacy losses of a run: their names, and the losses of noise on coordinates that move by one.

The loss is L(y) = log(P(y) / Q(y)), where P and Q are the laws of the output on two neighbours.
"""

from types import MappingProxyType

import numpy as np

from tcdp_sim.mechanisms.base import Draws, Mechanism, Observable
from tcdp_sim.noise import Noise

LOSS, NEIGHBOUR = "privacy_loss", "privacy_loss_neighbour"
PAIR = "privacy_loss_pair"  # the attribute of results with the neighbours of the losses
NO_LOSS = "a noise without privacy_loss"  # the case of a noise class that lacks this method
BY_NOISE = MappingProxyType(
    {NO_LOSS: "The difference of log densities loses digits, so the noise class has to define privacy_loss."}
)
LOSSES = MappingProxyType(
    {
        LOSS: Observable("nats", "privacy loss log P(y)/Q(y) of an output y on the data"),
        NEIGHBOUR: Observable("nats", "log P(y)/Q(y) of an output y on the neighbour, whose law is Q"),
    }
)


def asked_losses(mechanism: type[Mechanism]) -> set[str]:
    """Return the names of the observables that a mechanism yields only if a run asks for privacy losses."""
    return {name for name, about in LOSSES.items() if mechanism.observables.get(name) is about}


def unknown_of_noise(noise: Noise, moves: int) -> str:
    """Return NO_LOSS if coordinates move and the privacy loss of their noise is not known, else ""."""
    return NO_LOSS if moves and not noise.gives_loss else ""


def of_moves(noise: Noise, moves: int, trials: int, *, rng: np.random.Generator, step: float = 1.0) -> Draws:
    """Return losses of `moves` coordinates that go up or down by `step`, each with its own noise, in both worlds.

    The noise is symmetric, so all such neighbours have the same law of the loss, however many go up. The loss of an
    output on the neighbour has the law of minus the loss, and the same trials serve both.
    """
    noise.need_loss()
    loss = np.zeros(trials)
    for _ in range(moves):
        loss += noise.privacy_loss(noise.sample(size=trials, rng=rng), step)
    return {LOSS: loss, NEIGHBOUR: 0.0 - loss}  # not -0.0


def of_outputs(p: np.ndarray, q: np.ndarray, drawn: np.ndarray, drawn_neighbour: np.ndarray) -> Draws:
    """Return losses of the outputs that were drawn in both worlds, given as places in their probabilities p and q."""
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(p), np.log(q)  # both may be -inf, of outputs that nobody draws
    return {LOSS: log_p[drawn] - log_q[drawn], NEIGHBOUR: log_p[drawn_neighbour] - log_q[drawn_neighbour]}
