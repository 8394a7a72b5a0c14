"""The search for the noise of a family that meets a guarantee.

`least` chooses the way once, by the family and the guarantee:

| family | guarantee | way |
|---|---|---|
| optimized | all | `optimal.best_lattice_noise`, by convex optimisation |
| rounded | all but (epsilon, delta)-DP | the continuous noise that meets it, rounded |
| discrete | all | `on_lattice`, sums over the points of the lattice |
| continuous | ZCDP, TCDP | `by_divergences`, upper ends of Renyi divergences for all orders |
| continuous | ApproxDP | `by_profile`, the upper end of the privacy profile |
| continuous | PureDP | `by_loss`, the upper end of the largest privacy loss |

Each way searches first with a fast number. Then the scale grows until the upper end meets the guarantee. Log-concavity
makes the largest shift, in all coordinates at once, the worst one. A family with a scale alone has one least noise.
Among the log-concave noises of a family with a scale and a knee, the least one minimises an objective.

For sinh-normal noise the constants of the theorems are about four times too large. Theorem 17 of
Bun-Dwork-Rothblum-Steinke 2018 [BDRS18] is tight up to a factor 9.6 in rho. The upper ends of `exact.renyi_divergence`
rest on the agreement of two Gauss rules and on the accuracy of the density, so they are no interval arithmetic.

Workers never import this module, because they receive finished noises.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from tcdp_sim.calibration.all_orders import SLACK, holds_at_all_orders
from tcdp_sim.calibration.limits import MOST_COORDINATES
from tcdp_sim.calibration.optimal import best_lattice_noise
from tcdp_sim.calibration.tail_orders import least_order
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import real
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.core.search import brentq, minimize_scalar
from tcdp_sim.exact.products import product_profile
from tcdp_sim.exact.renyi.divergence import renyi_divergence
from tcdp_sim.exact.renyi.policy import largest_ratio
from tcdp_sim.exact.work import MOST_POINTS, within
from tcdp_sim.noise import DiscreteNoise, Noise
from tcdp_sim.noise.light_tails import has_light_tails
from tcdp_sim.noise.missing import cannot, undefined
from tcdp_sim.noise.objectives import LargestError, MeanSquaredError, Objective
from tcdp_sim.privacy import Guarantee

if TYPE_CHECKING:
    from scipy.interpolate import PchipInterpolator

KNEE_DIGITS, SCALE_DIGITS = 5, 8  # few enough that every machine finds the same noise
SCALE, SCALE_AND_KNEE = ("scale",), ("scale", "knee")  # parameters for which there is a search
# The search over the knee calls these methods of a family:
_KNEE_METHODS = ("limit", "widest", "least_knee", "fast_divergences", "fast_profile")
_FRONTIER = 28  # number of knees: interpolation between them costs at most 1e-4 of the error
_SHARES = np.array([1e-3, 0.1, 0.25, 0.5, 0.7, 0.85, 0.95, 1.0])
_WIDEST = 1e3  # in scales of the family's limit: noise with a larger knee hardly differs from that limit
_LARGEST_LOG = 300.0  # largest log of a scale in counts that the search tries
_LEAST_EPSILON = 1e-130  # one over the largest scale that the search tries
LARGEST = 1e7  # omega sqrt(rho) beyond which double precision is too coarse
ROUNDING = (1e-12, 1e-13)  # epsilon, delta: the fast profile is a difference of probabilities, good to about 1e-16

Falling = Callable[[float], float]  # a falling function of the log of a scale or a knee


def least(
    noise_class: Any,
    guarantee: Guarantee,
    sensitivity: float,
    coordinates: int,
    objective: Objective,
    step: float = 1.0,
) -> tuple[Noise, str]:
    """Return the noise of a family with the least objective under the guarantee, and the method in words.

    Arguments and errors are the same as in `calibration.calibrate`.
    """
    if noise_class.is_optimized:
        lattice = _optimized(noise_class, guarantee, coordinates, objective)
        return lattice.scaled(sensitivity), "convex optimisation over all noises on a lattice"
    if issubclass(noise_class, DiscreteNoise):
        if _rounds_only(noise_class, guarantee):
            continuous = _continuous(noise_class.rounds, guarantee, sensitivity, coordinates, objective)
            rounded = noise_class.of(continuous, step)
            rounded.need_steps("sensitivity", sensitivity)
            return rounded, "the continuous noise, rounded, which keeps its guarantee as post-processing"
        _need_profile(noise_class, guarantee, coordinates)
        noise = on_lattice(noise_class, guarantee, sensitivity, coordinates, step)
        return noise, "sums over the points of its lattice"
    if (slope := guarantee.rho_omega) is not None:
        found = by_divergences(noise_class, slope[0] / coordinates, slope[1], sensitivity, objective)
        return found, "upper ends of its Renyi divergences, which cover all orders by convexity"
    epsilon, delta = _pair(guarantee, noise_class.family)
    if not delta:
        found = by_loss(noise_class, epsilon / coordinates).scaled(sensitivity)
        return found, "the upper end of its largest privacy loss"
    _need_profile(noise_class, guarantee, coordinates)
    found = by_profile(noise_class, epsilon, delta, coordinates, objective, sensitivity)
    return found, "the upper end of its privacy profile at epsilon"


def _pair(guarantee: Guarantee, family: str) -> tuple[float, float]:
    """Return epsilon and delta. Raises ValueError for another guarantee, and for (0, 0)-DP, which no noise meets."""
    if guarantee.epsilon_delta is None:
        raise ValueError(f"{family} has no search for {guarantee}; valid: PureDP, ApproxDP, ZCDP with xi = 0, TCDP")
    epsilon, delta = guarantee.epsilon_delta
    real("epsilon", epsilon, 0, closed=delta > 0)
    if delta:
        real("delta", delta, 0, 1)
    return epsilon, delta


def _continuous(noise_class: Any, guarantee: Guarantee, sensitivity: float, coordinates: int, objective: Any) -> Any:
    """Return the continuous noise whose rounded form meets the guarantee."""
    if noise_class.theorem_is_sharp(guarantee):
        return noise_class.by_theorem(guarantee, sensitivity, coordinates)
    return least(noise_class, guarantee, sensitivity, coordinates, objective)[0]


def _rounds_only(noise_class: Any, guarantee: Guarantee) -> bool:
    """Return True if a family of rounded noises meets the guarantee by its continuous noise."""
    two_parameters = len(noise_class.parameters()) > 2
    return noise_class.rounds is not None and (two_parameters or not guarantee.is_approx)


def _need_profile(noise_class: Any, guarantee: Guarantee, coordinates: int) -> None:
    """Raise ValueError for (epsilon, delta)-DP of more coordinates than there is an exact profile for."""
    most = MOST_COORDINATES if noise_class.isotropic else 2
    if guarantee.is_approx and coordinates > most:
        raise cannot(
            f"calibrate {noise_class.family} tightly to {guarantee} for coordinates = {coordinates}",
            f"its exact profile is known for 1 or {most}",
            *undefined(noise_class, "by_theorem"),
            instead="method 'paper', ZCDP or TCDP",
        )


@lru_cache(maxsize=4096)
def _optimized(noise_class: Any, guarantee: Guarantee, coordinates: int, objective: Any) -> Any:
    """Return the noise of least cost on the integers or half-integers, at a shift by one in each coordinate."""
    if not isinstance(objective, LargestError | MeanSquaredError):
        raise ValueError(
            f"objective = {objective!r} is not valid for noise on a lattice; valid: VARIANCE, LargestError"
        )
    return noise_class.of_lattice(best_lattice_noise(guarantee, objective, coordinates).noise)


@lru_cache(maxsize=1024)
@within(2 * MOST_POINTS, "valid: a larger epsilon or delta, or a wider step")
def on_lattice(
    noise_class: type[DiscreteNoise], guarantee: Guarantee, sensitivity: float, coordinates: int, step: float
) -> DiscreteNoise:
    """Return the least noise of a discrete family of one parameter and a step, for moves by `sensitivity` at most.

    Raises ValueError if no noise meets the guarantee, or the sensitivity is not a multiple of the step.
    """
    cost, goal = _cost(guarantee, sensitivity, coordinates)

    def made(scale: float) -> Any:
        return noise_class(scale, step)  # type: ignore[call-arg]

    made(1.0).need_steps("sensitivity", sensitivity)
    noise = _at_root(made, cost, goal, noise_class.family)
    return widened_until_met(noise, lambda it: cost(it).upper <= goal, str(guarantee))


def _cost(guarantee: Guarantee, shift: float, coordinates: int) -> tuple[Callable[[Any], Bounds], float]:
    """Return the quantity of a discrete noise that a guarantee bounds, and its bound."""
    if (slope := guarantee.rho_omega) is not None:
        return lambda noise: largest_ratio(noise, shift, slope[1]), slope[0] / coordinates
    epsilon, delta = _pair(guarantee, "discrete noise")
    if not delta:
        return lambda noise: renyi_divergence(noise, shift, inf), epsilon / coordinates
    return lambda noise: product_profile(noise, shift, epsilon, coordinates), delta


@lru_cache(maxsize=1024)
def by_profile(
    noise_class: type[Noise],
    epsilon: float,
    delta: float,
    coordinates: int,
    objective: Objective,
    sensitivity: float = 1.0,
) -> Noise:
    """Return the noise with delta(epsilon) <= delta when each of `coordinates` coordinates changes by `sensitivity`.

    The ranges are epsilon >= 0 in nats and 0 < delta < 1. Isotropic noise takes any number of coordinates, other noise
    1 or 2. The objective decides between noises of several parameters. Raises ValueError outside these ranges, and if
    no noise is known to meet the guarantee.
    """

    def profile(noise: Noise) -> Bounds:
        return product_profile(noise, 1.0, epsilon, coordinates)

    if searched_over(noise_class) == SCALE_AND_KNEE:
        noise = _with_knee_by_profile(noise_class, epsilon, delta, coordinates, objective, sensitivity)
    else:
        need_monotone_loss(noise_class(1.0))  # type: ignore[call-arg]
        noise = _at_root(noise_class, profile, delta, noise_class.family)
    where = f"epsilon = {epsilon:g}, delta = {delta:g}"
    return widened_until_met(noise, lambda it: profile(it).upper <= delta, where).scaled(sensitivity)


@lru_cache(maxsize=1024)
def by_loss(noise_class: type[Noise], epsilon: float) -> Noise:
    """Return the noise of a family with a scale alone whose loss never exceeds epsilon > 0 nats at a move by one.

    Raises ValueError if the largest loss is infinite or has no finite upper end.
    """
    if searched_over(noise_class) == SCALE_AND_KNEE:
        raise ValueError(f"{noise_class.family} cannot be calibrated to {epsilon:g}-DP; valid: TCDP, ApproxDP")
    unit = noise_class(1.0)  # type: ignore[call-arg]
    need_monotone_loss(unit)
    if np.isinf(renyi_divergence(unit, 1.0, np.inf).upper):
        raise without_largest_loss(unit, f"{epsilon:g}-DP", "ApproxDP, TCDP with finite omega, or method 'paper'")

    def loss(noise: Noise) -> Bounds:
        return renyi_divergence(noise, 1.0, np.inf)

    noise = _at_root(noise_class, loss, epsilon, noise_class.family)
    return widened_until_met(noise, lambda it: loss(it).upper <= epsilon, f"epsilon = {epsilon:g}, delta = 0")


def by_divergences(noise_class: Any, rho: float, omega: float, sensitivity: float, objective: Objective) -> Noise:
    """Return the noise of a family with D_a <= rho a for all 1 < a < omega when an answer moves by `sensitivity`.

    rho is the share of one coordinate. An infinite omega stands for zCDP. Raises ValueError if quadrature confirms no
    noise.
    """
    if searched_over(noise_class) == SCALE_AND_KNEE:
        return _with_knee_by_divergences(noise_class, rho, omega, sensitivity, objective)
    return least_scale_by_divergences(noise_class, rho, omega).scaled(sensitivity)


@lru_cache(maxsize=1024)
def least_scale_by_divergences(noise_class: Any, rho: float, omega: float) -> Noise:
    """Return the noise of smallest scale with D_a <= rho a at shift one for all 1 < a < omega (inf for zCDP).

    rho is the share of one coordinate. D_a never exceeds the largest loss. If that is finite it is proportional to 1 /
    scale, because it is the slope of a log-concave noise's tail, so orders beyond largest loss / rho need no check. For
    Laplace noise the scale is slightly smaller than the scale of Bun-Steinke 2016 [BS16], Proposition 4, which is tight
    for small rho only.
    """
    unit: Noise = noise_class(1.0)
    need_monotone_loss(unit)
    count = 40 if unit.closed_renyi(1.0, np.ones(1)) is None else 200  # quadrature costs a hundred times as much
    _, slope, upper = renyi_divergence(unit, 1.0, np.inf)
    bounded = np.isfinite(upper)
    if np.isinf(omega) and not bounded and has_light_tails(unit):
        raise not_linear_in_order(unit)

    def last(noise: Noise) -> float:
        """Return an order from which on the guarantee holds by itself."""
        return renyi_divergence(noise, 1.0, np.inf).upper / rho if bounded else least_order(noise, 1.0, rho)

    def worst(epsilon: float) -> float:
        noise = noise_class(1 / epsilon)
        end = min(omega, 1 + slope * epsilon / rho if bounded else omega if np.isfinite(omega) else last(noise))
        if np.isinf(end):
            return 1e300
        orders = 1 + np.concatenate([[0.0], (end - 1) * np.geomspace(1e-4, 1, count)])
        ratios = renyi_divergence(noise, 1.0, orders).estimate / orders
        return float(min(ratios.max(), 1e300)) - rho

    digits = 1e-12 if bounded else 1e-6  # `worst` jumps where no last order is known
    scale = rounded_up((1 + SLACK / 2) / _root(worst, np.sqrt(2 * rho), noise_class.family, digits), SCALE_DIGITS)
    for attempt in range(12):
        noise: Noise = noise_class(scale)
        if holds_at_all_orders(noise, 1.0, rho, min(omega, max(2.0, last(noise)))):
            return noise
        scale = rounded_up(scale * (1 + SLACK * 2**attempt), SCALE_DIGITS)
    raise unconfirmed(unit, f"rho = {rho:g} a coordinate, omega = {omega:g}")


def _root(rising: Callable[[float], float], guess: float, family: str, digits: float) -> float:
    """Return the zero of a rising function of 1 / scale."""
    low, high = guess / 2, 2 * guess
    while rising(low) > 0:
        low /= 16
        if low < _LEAST_EPSILON:
            raise ValueError(f"{family}: no scale meets the guarantee; valid: ApproxDP, or method 'paper'")
    while rising(high) < 0:
        high *= 2
    return float(brentq(rising, low, high, rtol=digits))


@lru_cache(maxsize=4096)
def _with_knee_by_divergences(
    noise_class: Any, rho: float, omega: float, sensitivity: float, objective: Objective
) -> Noise:
    """Return the noise that minimises `objective` among the log-concave noises of a family with scale and knee.

    rho and the finite omega belong to one coordinate, which moves by `sensitivity`. Log-concavity (knee >= scale) makes
    the largest shift the worst one, so every smaller shift is covered. Raises ValueError if quadrature confirms no
    noise.
    """
    if omega * np.sqrt(rho) > LARGEST:
        raise _beyond_digits(noise_class.family, rho, omega)
    log_knee, log_scale = _frontier(noise_class, rho, omega)

    def error(x: float) -> float:
        return objective(noise_class(sensitivity * np.exp(log_scale(x)), sensitivity * np.exp(x)))

    best = minimize_scalar(error, bounds=(log_knee[0], log_knee[-1]), method="bounded", options={"xatol": 1e-3})
    knee, room_for_chords = rounded_up(np.exp(best.x), KNEE_DIGITS), 1 + SLACK / 2
    scale = rounded_up(_scale_at_knee_by_divergences(noise_class, rho, omega, knee) * room_for_chords, SCALE_DIGITS)
    for attempt in range(12):
        if holds_at_all_orders(noise_class(scale, knee), 1.0, rho, omega):
            noise: Noise = noise_class(sensitivity * scale, sensitivity * knee)
            return noise
        scale = rounded_up(scale * (1 + SLACK * 2**attempt), SCALE_DIGITS)
        knee = max(knee, scale / noise_class.widest)
    raise _beyond_digits(noise_class.family, rho, omega)


def _beyond_digits(family: str, rho: float, omega: float) -> ValueError:
    message = f"{family}: quadrature confirms no noise at rho = {rho:g} a coordinate, omega = {omega:g}"
    return ValueError(f"{message}; valid: omega sqrt(rho) <= {LARGEST:g}, or method 'paper'")


@lru_cache(maxsize=1024)
def _frontier(noise_class: Any, rho: float, omega: float) -> "tuple[Floats, PchipInterpolator]":
    """Return the candidate noises of every objective: log knees, and an interpolation of the log of the least scale."""
    from scipy.interpolate import PchipInterpolator  # slow to import

    least = noise_class.least_knee(omega)  # the divergence of order omega is finite for larger knees only
    gaussian = 1 / np.sqrt(2 * rho)
    low, high = np.log(max(least * 1.0001, gaussian)), np.log(_WIDEST * max(gaussian, least))
    low = _least_log_knee(noise_class, rho, omega, low, high)
    log_knee = low + (high - low) * np.linspace(0, 1, _FRONTIER) ** 3  # it bends where the knee is small
    log_scale = np.log([_scale_at_knee_by_divergences(noise_class, rho, omega, np.exp(x)) for x in log_knee])
    return log_knee, PchipInterpolator(log_knee, log_scale)


def _least_log_knee(noise_class: Any, rho: float, omega: float, low: float, high: float) -> float:
    """Return the smallest log knee at which the widest noise for that knee meets the target."""

    def slack(log_knee: float) -> float:
        return _excess(noise_class, noise_class.widest * np.exp(log_knee), np.exp(log_knee), rho, omega)

    return low if slack(low) <= 0 else float(brentq(slack, low, high, xtol=1e-4))


def _scale_at_knee_by_divergences(noise_class: Any, rho: float, omega: float, knee: float) -> float:
    """Return the smallest scale at which the fast divergence meets the target.

    If even the widest scale does not meet the target, the widest one is returned.
    """

    @cache  # brentq evaluates the two ends again
    def excess(scale: float) -> float:
        return _excess(noise_class, scale, knee, rho, omega)

    gaussian, widest = 1 / np.sqrt(2 * rho), noise_class.widest * knee
    if excess(widest) > 0:
        return float(widest)
    if excess(gaussian) <= 0:
        return float(gaussian)
    return float(brentq(excess, gaussian, widest, rtol=1e-12))


def _excess(noise_class: Any, scale: float, knee: float, rho: float, omega: float) -> float:
    """Return the largest log(D_a / (rho a)) over a few orders, at shift one and without bounds."""
    s = (omega - 1) * _SHARES
    worst = (noise_class(scale, knee).fast_divergences(s) / (rho * s * (s + 1))).max()
    return float(np.log(worst)) if np.isfinite(worst) else np.inf


def _with_knee_by_profile(
    noise_class: Any, epsilon: float, delta: float, coordinates: int, objective: Objective, sensitivity: float
) -> Noise:
    family: str = noise_class.family
    if epsilon < ROUNDING[0] and delta < ROUNDING[1]:
        least = "epsilon >= {:g} or delta >= {:g}".format(*ROUNDING)
        raise ValueError(f"{family} at epsilon = {epsilon:g}, delta = {delta:g} is lost in rounding; valid: {least}")

    def profile(noise: Noise) -> Bounds:
        return product_profile(noise, 1.0, epsilon, coordinates)

    need_monotone_loss(noise_class.limit(1.0))
    limit = _at_root(noise_class.limit, profile, delta, noise_class.limit.family).scale

    def both(log_knee: float) -> float:
        widest = noise_class(noise_class.widest * np.exp(log_knee), np.exp(log_knee))
        return float(widest.fast_profile(epsilon, delta, coordinates)) - delta

    low = brentq(both, *_bracket(both, np.log(limit), family), xtol=1e-6) + 1e-5
    high = np.log(_WIDEST) + max(low, np.log(limit))

    def least_scale(knee: float) -> float:
        return _scale_at_knee_by_profile(noise_class, knee, epsilon, delta, coordinates)

    def error(log_knee: float) -> float:
        knee = np.exp(log_knee)
        return objective(noise_class(least_scale(knee), knee).scaled(sensitivity))

    best = minimize_scalar(error, bounds=(low, high), method="bounded", options={"xatol": 1e-3})
    knee = rounded_up(np.exp(best.x), KNEE_DIGITS)
    scale = least_scale(knee) * (1 + 1e-7)  # saves a second check, which costs more than this widening
    scale = rounded_up(scale, SCALE_DIGITS)
    noise: Noise = noise_class(scale, max(knee, scale / noise_class.widest))
    return noise


def _scale_at_knee_by_profile(noise_class: Any, knee: float, epsilon: float, delta: float, coordinates: int) -> float:
    """Return the smallest scale at which the fast profile meets delta.

    If even the widest scale does not meet delta, the widest one is returned.
    """

    def excess(log_scale: float) -> float:
        return float(noise_class(np.exp(log_scale), knee).fast_profile(epsilon, delta, coordinates)) - delta

    high = float(np.log(noise_class.widest * knee))
    if excess(high) > 0:
        return float(noise_class.widest * knee)
    low = high - 1
    while excess(low) <= 0:
        low -= 1
    return float(np.exp(brentq(excess, low, high, xtol=1e-11)))


def searched_over(noise_class: type[Noise]) -> tuple[str, ...]:
    """Return SCALE or SCALE_AND_KNEE, the parameters of a family.

    Raises ValueError for a family with other parameters.
    """
    names = noise_class.parameters()
    if names == SCALE or (names == SCALE_AND_KNEE and set(_KNEE_METHODS) <= set(dir(noise_class))):
        return names
    goal = f"calibrate {noise_class.family} tightly over ({', '.join(names)})"
    if names == SCALE_AND_KNEE:
        lacking = [name for name in _KNEE_METHODS if not hasattr(noise_class, name)]
        raise cannot(goal, "its search over the knee is not defined", *lacking, instead="method 'paper'")
    reason = "a search is known for one parameter, `scale`"
    raise cannot(goal, reason, "by_theorem", instead="method 'paper', if the noise has a theorem")


def need_monotone_loss(noise: Noise) -> None:
    """Raise ValueError unless the noise is log-concave.

    Without it a smaller change may cost more than the largest one.
    """
    goal = f"calibrate {noise.family} by a search"
    if noise.is_discrete:
        reason = "it is discrete, and the search moves a density by any amount"
        raise cannot(goal, reason, "by_theorem", instead="a noise with a density, or method 'paper'")
    noise.need_log_concave(goal, instead="method 'paper'")


def _at_root(made: Callable[[float], Any], cost: Callable[[Any], Bounds], goal: float, family: str) -> Any:
    """Return the noise, made from a scale that is rounded up, at which the estimate of a falling cost is the goal."""

    def excess(log_scale: float) -> float:
        return min(float(cost(made(np.exp(log_scale))).estimate), 1e300) - goal

    low, high = _bracket(excess, 0.0, family)
    return made(rounded_up(np.exp(brentq(excess, low, high, xtol=1e-12)), SCALE_DIGITS))


def _bracket(falling: Falling, start: float, family: str) -> tuple[float, float]:
    """Return an interval on which a falling function changes its sign."""
    low = high = start
    while falling(low) <= 0 and low > -_LARGEST_LOG:
        low -= 2
    while falling(high) > 0:
        high += 2
        if high > _LARGEST_LOG:
            raise ValueError(f"{family}: no scale meets the guarantee; its loss or its divergence may be infinite")
    return low, high


def widened_until_met(noise: Any, met: Callable[[Any], bool], where: str) -> Any:
    """Return the noise, widened by as little as necessary until its upper end meets the guarantee."""
    for attempt in range(40):
        if met(noise):
            return noise
        noise = noise.widened(1 + 1e-9 * 2**attempt)
    raise unconfirmed(noise, where)


def rounded_up(x: float, digits: int) -> float:
    """Return x > 0 rounded up to the given number of significant digits."""
    step = 10.0 ** (np.floor(np.log10(x)) - digits + 1)
    return float(f"{np.ceil(x / step) * step:.{digits}g}")


def unconfirmed(noise: Noise, where: str) -> ValueError:
    """Return the error for a guarantee that no noise meets by quadrature.

    An inaccurate privacy loss may be the reason.
    """
    goal = f"calibrate {noise.family} at {where}"
    lacking = undefined(noise, "privacy_loss")
    return cannot(goal, "quadrature confirms no noise", *lacking, instead="a less extreme guarantee, or method 'paper'")


def not_linear_in_order(noise: Noise) -> ValueError:
    """Return the error for zCDP of a noise whose divergence no multiple of the order bounds."""
    notions = ["(rho, omega)-tCDP with finite omega"] if noise.max_order(1.0) > 1 else []
    notions += ["(epsilon, delta)-DP"] if noise.gives_loss else []
    reason = "its divergence of order a is not bounded by rho a, because its tails are lighter than Gaussian ones"
    return cannot(f"calibrate {noise.family} to zCDP", reason, instead=" or ".join(notions) or "another noise")


def without_largest_loss(noise: Noise, notion: str, instead: str) -> ValueError:
    """Return the error for a noise whose privacy loss is unbounded or has no known supremum."""
    lacking = undefined(noise, "privacy_loss", "largest_loss")
    reason = "the supremum of its privacy loss is unknown" if lacking else "its privacy loss is not bounded"
    return cannot(f"calibrate {noise.family} to {notion}", reason, *lacking, instead=instead)
