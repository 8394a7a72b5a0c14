"""The ledger of a release: one line for each step, and their adaptive composition."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from tcdp_sim.core.errors import choice, real
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import TCDP, ZCDP, Guarantee, compose
from tcdp_sim.privacy.least_rho import bounded_range_epsilon, bounded_range_rho

ACCOUNTINGS = ("paper", "tight")


@dataclass(frozen=True)
class Step:
    """A step of a release: its name, its guarantee and the argument for the guarantee.

    The fields beyond its guarantee allow `accounted.as_ledger` a tighter account. Neighbours substitute one record.

    `epsilon`: the epsilon of an exponential mechanism (probability ~ e^(epsilon quality / 2)) on a quality of
    sensitivity one. `noise`: the noise of `times` numbers, each of which moves by at most `shift`. `inner`: the steps
    that this one consists of.
    """

    name: str
    guarantee: Guarantee
    source: str
    epsilon: float | None = None
    noise: Noise | None = None
    shift: float = 1.0
    times: int = 1
    inner: tuple["Step", ...] = ()


def rho_and_omega(guarantee: Guarantee) -> tuple[float, float]:
    """Return rho and omega of tCDP, or of zCDP, where omega is inf. Raises ValueError for any other guarantee."""
    if not isinstance(guarantee, Guarantee) or guarantee.rho_omega is None:
        raise ValueError(f"guarantee = {guarantee!r} is not valid; valid: TCDP(rho, omega) or ZCDP(rho)")
    return guarantee.rho_omega


def total(steps: Sequence[Step]) -> Guarantee:
    """Return the guarantee of all steps together, each chosen after seeing the outputs before it (Lemma 2)."""
    return compose(*(step.guarantee for step in steps))


def exponential_epsilon(rho: float, accounting: str) -> float:
    """Return the epsilon at which the exponential mechanism (probability ~ e^(epsilon quality / 2)) is rho-zCDP.

    "paper" solves epsilon^2 / 2 = rho. "tight" takes the least rho of bounded range: the log-probabilities change by at
    most epsilon between the most and the least favoured output (`privacy.least_rho.bounded_range_rho`).
    """
    if choice("accounting", accounting, ACCOUNTINGS) == "paper":
        return sqrt(2 * real("rho", rho, 0))
    return bounded_range_epsilon(rho)


def exponential_rho(epsilon: float, accounting: str) -> float:
    """Return the rho of an exponential mechanism with this epsilon: the inverse of `exponential_epsilon`."""
    if choice("accounting", accounting, ACCOUNTINGS) == "paper":
        return epsilon**2 / 2
    return bounded_range_rho(epsilon)


def exponential_step(name: str, epsilon: float, accounting: str) -> Step:
    """Return the line of an exponential mechanism on a quality of sensitivity one."""
    source = "bounded range, exactly" if accounting == "tight" else "epsilon^2 / 2"
    return Step(name, ZCDP(exponential_rho(epsilon, accounting)), source, epsilon=epsilon)


def noise_step(
    name: str, noise: Noise, shift: float, queries: int, rho: float, omega: float, source: str, together: bool = False
) -> Step:
    """Return the line of `queries` noisy numbers, each of which moves by at most `shift`, at rho together.

    If several numbers move by one shift together, the convexity of Renyi divergences in the shift bounds rho. That says
    nothing of other divergences, so only rho is known.
    """
    argument = f"{queries} shift{'s' if queries > 1 else ''} of {shift:g} by {source}"
    unlimited = noise.linear_in_order or np.isinf(omega)
    guarantee = ZCDP(rho) if unlimited else TCDP(rho, omega)
    return Step(name, guarantee, argument, noise=None if together else noise, shift=shift, times=queries)
