"""Splitting a budget over the three steps, and the recipe it buys."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tcdp_sim.calibration import calibrate
from tcdp_sim.core import registry
from tcdp_sim.core.errors import UserError, choice, real
from tcdp_sim.interior.ledger import ACCOUNTINGS, Step, exponential_epsilon, exponential_step, noise_step
from tcdp_sim.interior.records_needed import BETA, Parts, required_n, surrogate_floor, thresholds
from tcdp_sim.interior.release import Recipe
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import TCDP
from tcdp_sim.samplers.log_extremes import isf_log

# Good splits (level, node, end) up to this log2 k, from minimising the proven n; public, so that a split leaks nothing.
SPLITS = (
    (8, (0.35, 0.30, 0.35)),
    (64, (0.40, 0.25, 0.35)),
    (1024, (0.45, 0.30, 0.25)),
    (np.inf, (0.50, 0.25, 0.25)),
)
# (how many numbers change, by how much) when one record is substituted. Surrogate, above half of the records: at most
# one node has an excess; if it is another one in the other data set, the two excesses are at most 1 together. Algorithm
# 21: so are two gaps, at most 2. Both are one shift of that sum, since divergences of log-concave noise are convex in
# the shift, hence superadditive; all noise that is calibrated here is log-concave. Low surrogate: two excesses move, as
# two weights of a histogram do. Algorithm 22: half of the gap moves by one (Lemma 23).
CHARGES = {
    "histogram": (2, 1.0),
    "surrogate": (1, 1.0),
    "surrogate_low": (2, 1.0),
    "algorithm_21": (1, 2.0),
    "algorithm_22": (1, 1.0),
}
SHARES = (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75)


@dataclass(frozen=True)
class NodeMargin:
    """An objective of calibration: the lower threshold that the noise needs (see `requirement`), for 100 records."""

    log2_k: float
    ends: float
    beta: float = BETA / 3

    def __call__(self, noise: Noise) -> float:
        low, log_k = np.log(self.beta / 4), self.log2_k * np.log(2)
        among_all = isf_log(noise, np.log(self.beta / 2) - log_k)
        among_full = isf_log(noise, low - min(np.log(100), log_k))
        return float(isf_log(noise, low) + max(among_all, self.ends + among_full))


def recommended_split(log2_k: float) -> tuple[float, float, float]:
    """Shares of rho for the level, the node and the end step."""
    return next(split for most, split in SPLITS if log2_k <= most)


def parts(
    rho: float,
    omega: float,
    log2_k: float,
    *,
    split: Sequence[float] | None = None,
    family: str = "sinh_normal",
    accounting: str = "tight",
    calibration: str | None = None,
    selection: str = "histogram",
) -> Parts:
    """What (rho, omega)-tCDP buys for a domain of 2^log2_k elements; neighbours substitute one record.

    split: shares (level, node, end), positive, together 1; default `recommended_split`. family: of the noise on the
    nodes of a level, of which a substitution moves two by one. accounting: "tight" (bounded range; certified
    quadrature) or "paper" (epsilon^2 / 2; Theorem 17); calibration: of the noise, if not by the same. selection: of
    the node, which says what the noise is charged with (`CHARGES`).
    UserError for a budget that cannot be split so, ValueError where the noise cannot be calibrated.
    """
    choice("accounting", accounting, ACCOUNTINGS)
    rho, omega = real("rho", rho, 0), real("omega", omega, 1, finite=False)
    how = calibration or ("paper" if registry.noise(family).theorem_is_nearly_sharp else accounting)
    level, node, end = checked_split(split or default_split(rho, omega, float(log2_k), family, accounting, how))
    epsilon_end = exponential_epsilon(end * rho, accounting)
    objective = NodeMargin(float(log2_k), 2 / epsilon_end * np.log(6 / BETA))
    queries, shift = CHARGES[choice("selection", selection, CHARGES)]
    target = TCDP(node * rho, omega)
    noise = calibrate(family, target, shift, how, coordinates=queries, objective=objective).noise
    return Parts(exponential_epsilon(level * rho, accounting), noise, epsilon_end)


def recipe(
    bought: Parts,
    log2_k: float,
    n: float,
    beta: float = BETA,
    variant: str = "default",
    selection: str = "histogram",
) -> Recipe:
    """The release on n records: thresholds by the proof; variant "paper" takes n/5, 2n/5 and two candidates.

    Selections that look for one heavy node ask for more than half of the records ("heavy" thresholds); "surrogate_low"
    counts weights from a low floor on.
    """
    floor = None
    if selection == "surrogate_low":
        variant, selection, floor = "low", "surrogate", surrogate_floor(bought, log2_k, n, beta)
    elif selection != "histogram":
        variant = "heavy"
    lower, upper = thresholds(bought, log2_k, n, beta, variant)
    candidates = 2 if variant == "paper" else 3
    return Recipe(bought.epsilon_level, bought.noise, bought.epsilon_end, lower, upper, selection, candidates, floor)


def ledger(
    bought: Parts,
    rho: float,
    omega: float,
    split: Sequence[float],
    accounting: str,
    calibration: str,
    selection: str = "histogram",
) -> tuple[Step, ...]:
    """The lines of a release that `parts` bought with these arguments.

    Level: every node's weight, hence every heaviest one and the quality, moves by at most one. Node: given the level,
    a substitution moves two nodes by one, and the winner is a function of the noisy weights. End: F(j) and
    n - F(j - 1) move by at most one, hence the depth. The thresholds are functions of public numbers.
    """
    source = {"tight": "certified quadrature", "paper": "the theorem"}[calibration]
    queries, shift = CHARGES[choice("selection", selection, CHARGES)]
    return (
        exponential_step("level", bought.epsilon_level, accounting),
        noise_step("node", bought.noise, shift, queries, checked_split(split)[1] * rho, omega, source),
        exponential_step("end", bought.epsilon_end, accounting),
    )


def default_split(
    rho: float, omega: float, log2_k: float, family: str, accounting: str, calibration: str
) -> tuple[float, float, float]:
    """`recommended_split` where calibration takes long, `best_split` elsewhere: public numbers either way."""
    if calibration == "tight" and len(registry.noise(family).parameters()) > 1:  # a search over several takes long
        return recommended_split(log2_k)
    return best_split(rho, omega, log2_k, family, accounting, calibration)


@lru_cache(maxsize=1024)
def best_split(
    rho: float,
    omega: float,
    log2_k: float,
    family: str = "sinh_normal",
    accounting: str = "tight",
    calibration: str = "tight",
) -> tuple[float, float, float]:
    """The split, in steps of 1/20, with the smallest `required_n`."""

    def cost(split: tuple[float, float, float]) -> int:
        bought = parts(rho, omega, log2_k, split=split, family=family, accounting=accounting, calibration=calibration)
        return required_n(bought, log2_k)

    return min(((a, b, round(1 - a - b, 2)) for a in SHARES for b in SHARES if 1 - a - b > 0.1), key=cost)


def checked_split(split: Sequence[float]) -> tuple[float, float, float]:
    """Three positive shares that add up to one; UserError otherwise."""
    try:
        shares = tuple(float(share) for share in split)
    except (TypeError, ValueError):
        shares = ()
    if len(shares) != 3 or not all(share > 0 for share in shares) or abs(sum(shares) - 1) > 1e-9:
        raise UserError(f"split = {split} is not valid; valid: three positive shares (level, node, end) that sum to 1")
    level, node, end = shares
    return level, node, end
