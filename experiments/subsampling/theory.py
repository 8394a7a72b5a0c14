"""Rows of promised, proved and exact values: Renyi curves, profiles, many releases, errors and loss tails."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache, lru_cache, partial
from math import inf, log
from typing import Any

import numpy as np

from tcdp_sim import exact
from tcdp_sim.accounting import Additive, Ledger, Sampled
from tcdp_sim.calibration import LargestError, calibrate
from tcdp_sim.exact.losses.level_sets import loss_sets
from tcdp_sim.experiments import pair_divergences
from tcdp_sim.experiments.losses import between_atoms
from tcdp_sim.noise import Gaussian, Laplace, Noise
from tcdp_sim.privacy import (
    TCDP,
    ZCDP,
    RenyiBound,
    amplified_profile,
    compose_advanced,
    renyi_bound,
    tightest_epsilon,
    to_approx_dp,
)
from tcdp_sim.privacy.amplification import amplify
from tcdp_sim.privacy.amplification.schemes import SCHEMES
from tcdp_sim.privacy.relation import written

MOST_FRACTIONS = 4  # of a sweep that get a panel of curves each
ORDERS = 40
LEAST_RECORDS, DENOMINATOR = 100, 10_000  # records of the profiles: a number of which the sampled ones are whole
PROFILE_NEAR, RELEASES_NEAR = 0.1, 0.01  # of several fractions, the nearest to these has profiles and releases
RELEASES = tuple(10**k for k in range(6))
HALVINGS = 60  # of the search for quantiles of outputs
DELTA = 1e-6  # of the composed releases, unless the sweep has a delta
WOR = "without_replacement"
RULE = "the false rule (s²ρ, same ω)"
EITHER = "either"  # the value holds under both neighbouring relations
RELATION = {"Theorem 11": "substitute", "tCDP, Theorem 11": "substitute", "no sampling": EITHER}  # others: add-remove
RELATION |= {"certified, any (ρ, ω')-tCDP": EITHER, "zCDP: no gain by sampling": EITHER}
MEMBERSHIP, KEEP = "randomised membership", 0.6  # a bit that is kept with probability KEEP


@lru_cache(maxsize=8)  # a run reads its table at its end, and once more for figures
def rows(rho: float, fractions: tuple[float, ...], delta: float) -> tuple[dict, ...]:
    """Return all rows of theory for a privacy parameter and sampling fractions below one; none without a fraction."""
    if not fractions:
        return ()
    profile, rate = _nearest(fractions, PROFILE_NEAR), _nearest(fractions, RELEASES_NEAR)
    return (*curves(rho, chosen(fractions)), *profiles(rho, profile), *releases(rho, rate, delta))


def chosen(fractions: Iterable[float]) -> list[float]:
    """Return at most MOST_FRACTIONS of the fractions, largest first, evenly spread from the largest to the least."""
    ordered = sorted(set(fractions), reverse=True)
    places = np.linspace(0, len(ordered) - 1, min(len(ordered), MOST_FRACTIONS)).round().astype(int)
    return [ordered[place] for place in places]


def _nearest(fractions: Iterable[float], usual: float) -> float:
    return min(fractions, key=lambda s: abs(log(s / usual)))


def sample(s: float) -> tuple[int, int]:
    """Return the numbers of sampled and of all records of the profiles, at the fraction nearest to s."""
    near = max(Fraction(s).limit_denominator(DENOMINATOR), Fraction(1, DENOMINATOR))
    records = near.denominator * -(-LEAST_RECORDS // near.denominator)
    return int(near * records), records


def noises(rho: float) -> dict[str, Noise]:
    """Return noises of three families at the same rho and sensitivity one.

    The sinh-normal noise is chosen for the largest of 1e12 errors.
    """
    return {
        "Laplace": Laplace(1 / np.sqrt(2 * rho)),
        "Gaussian": Gaussian(1 / np.sqrt(2 * rho)),
        "sinh-normal": calibrate(
            "sinh_normal", TCDP(rho, max(2, 1 / np.sqrt(rho))), objective=LargestError(1e12)
        ).noise,
    }


def curves(rho: float, fractions: Iterable[float]) -> Iterator[dict]:
    """Yield D_a over s^2 rho a for each s: exact, certified, by Lemma 15, by Theorem 11, and without sampling."""
    for s in fractions:
        needed = log(1 / s) / (2 * rho)
        around = needed * np.linspace(1.5, 3, ORDERS)  # around the order at which sampling stops helping
        orders = np.unique(np.concatenate([np.geomspace(1.02, 8 * needed, ORDERS), around]))
        lines = {f"exact, {name}": _subsampled(noise, s, orders) for name, noise in noises(rho).items()}
        lines["exact, Gaussian, other direction"] = _subsampled(noises(rho)["Gaussian"], s, orders, "reverse")
        if proved := _amplified(renyi_bound(TCDP(rho, needed)), s, WOR):
            lines["certified, any (ρ, ω')-tCDP"] = [proved(a) if a < needed else np.nan for a in orders]
        lines[RULE] = s * s * rho * orders
        lines["no sampling"] = rho * orders
        if theorem := _amplified(TCDP(rho, needed), s, WOR, "theorem11"):
            bound = renyi_bound(theorem)
            lines["Theorem 11"] = [bound(a) if a < bound.highest else np.nan for a in orders]
        for series, values in lines.items():
            yield from _rows("curve", series, orders, np.asarray(values) / (s * s * rho * orders), fraction=s)
        whole = np.unique(np.geomspace(2, max(2, 3 * needed), 9).astype(int))
        if lemma := _amplified(ZCDP(rho), s, "poisson", "lemma15"):
            values = np.array([lemma(int(a)) for a in whole])
            yield from _rows("curve", "Lemma 15, Gaussian", whole, values / (s * s * rho * whole), fraction=s)


def _amplified(guarantee, s, *how) -> Any:
    """Return an amplified guarantee, or None where the theorem's preconditions do not hold."""
    try:
        return amplify(guarantee, s, *how)
    except ValueError:
        return None


def _subsampled(noise, s, orders, direction="forward"):
    divergences = pair_divergences.renyi(*pair_divergences.sampled(noise, s, direction), orders).estimate
    return np.where(np.isfinite(divergences), divergences, np.nan)


def profiles(rho: float, s: float) -> Iterator[dict]:
    """Yield delta(epsilon) under the five schemes at equal s, from the noise's group profiles and from its profile."""
    draws, records = sample(s)
    fraction = draws / records
    yield from (row | {"fraction": fraction} for row in _profiles(rho, fraction, records))


def _profiles(rho: float, fraction: float, records: int) -> Iterator[dict]:
    epsilons = np.linspace(0, 1.6 * log(1 + fraction * np.expm1(np.sqrt(8 * rho))), 49)
    for name, noise in noises(rho).items():
        profile, of_group = _profile(noise), partial(_group, noise)
        for scheme in SCHEMES:
            for accounting, groups in (("tight", of_group), ("black box", None)):
                amplified = amplified_profile(profile, fraction, scheme, groups=groups, records=records)
                values = np.array([amplified(epsilon) for epsilon in epsilons])
                yield from _rows("profile", scheme, epsilons, values, noise=name, accounting=accounting)
        yield from _rows("profile", "no sampling", epsilons, np.array([profile(e) for e in epsilons]), noise=name)
    yield from _membership(fraction, records)


def _membership(fraction: float, records: int) -> Iterator[dict]:
    """Yield the points of Theorem 13 of Balle, Barthe and Gaboardi (2018).

    One bit states whether a record was drawn, and it is kept with probability KEEP. The bound follows from Theorems 8
    to 10 and the profile, which all groups share. The attained value comes from the two laws of the bit.
    """

    def psi(epsilon):
        return max(KEEP - np.exp(epsilon) * (1 - KEEP), 0.0)

    epsilons = np.linspace(0, 1.1 * log(1 + fraction * (KEEP / (1 - KEEP) - 1)), 49)
    draws = round(fraction * records)
    drawn = {"poisson": fraction, WOR: draws / records, "with_replacement": 1 - (1 - 1 / records) ** draws}
    for scheme, probability in drawn.items():
        amplified = amplified_profile(psi, fraction, scheme, groups=lambda k, epsilon: psi(epsilon), records=records)
        yes, no = probability * KEEP + (1 - probability) * (1 - KEEP), 1 - KEEP
        attained = np.maximum(yes - np.exp(epsilons) * no, np.maximum((1 - no) - np.exp(epsilons) * (1 - yes), 0))
        promised = np.array([amplified(epsilon) for epsilon in epsilons])
        for accounting, values in (("tight", promised), ("attained", attained)):
            yield from _rows("profile", scheme, epsilons, values, noise=MEMBERSHIP, accounting=accounting)
    yield from _rows("profile", "no sampling", epsilons, np.array([psi(e) for e in epsilons]), noise=MEMBERSHIP)


@cache
def _profile(noise):
    return cache(lambda epsilon: float(exact.hockey_stick(noise, 1.0, epsilon).upper))


@cache
def _group(noise, size, epsilon):
    return float(exact.hockey_stick(noise, float(size), epsilon).upper)


def releases(rho: float, s: float, delta: float) -> Iterator[dict]:
    """Yield epsilon at delta after T Poisson-sampled releases of Gaussian noise, by each accounting."""
    noise = Gaussian(1 / np.sqrt(2 * rho))
    lemma, proved = _amplified(ZCDP(rho), s, "poisson", "lemma15"), _amplified(renyi_bound(ZCDP(rho)), s, "poisson")
    guarantee = _amplified(TCDP(rho, inf), s, WOR, "theorem11")
    for t in RELEASES:
        ledger = Ledger([(Sampled(Additive(noise), s), t)], relation="add_remove")
        composed = ledger.epsilon(delta, tolerance=1e-3)
        ways = {"numerical, upper end": composed.upper, "numerical, lower end": composed.lower}
        if lemma:
            ways["Rényi, Lemma 15 (any mechanism)"] = _composed(lemma, t, delta)
        if proved:
            ways["Rényi, certified (any mechanism)"] = _composed(proved, t, delta)
        if guarantee:
            ways["tCDP, Theorem 11"] = to_approx_dp(TCDP(t * guarantee.rho, guarantee.omega), delta).epsilon
        ways["(ε, δ), advanced"] = _advanced(rho, s, t, delta)
        ways["zCDP: no gain by sampling"] = to_approx_dp(ZCDP(t * rho), delta).epsilon
        for series, epsilon in ways.items():
            yield from _rows("releases", series, [t], [epsilon], fraction=s, delta=delta)


def _composed(bound: RenyiBound, t, delta) -> float:
    return min(tightest_epsilon(RenyiBound(lambda a: t * bound.curve(a), 400.0), delta)[0], 1e9)


def _advanced(rho, s, t, delta):
    """Return epsilon by advanced composition: half of delta for the releases, half for composing them."""
    each = delta / 2 / t
    base = to_approx_dp(ZCDP(rho), min(each / s, 0.5))
    one = amplify(base, s, "poisson")
    return min(compose_advanced(one.epsilon, one.delta, t, delta / 2).epsilon, t * one.epsilon)


def square_error(mechanism) -> tuple[float, float]:
    """Return the expected mean square errors over the occupied bins: the whole, and the part due to sampling."""
    counts, s, n = mechanism.counts.astype(float), mechanism.fraction, float(mechanism.counts.sum())
    if mechanism.scheme.startswith("poisson"):
        sampling = counts * (1 - s) / s
    else:
        share = counts / n
        sampling = n * share * (1 - share) / s
        if mechanism.scheme == WOR:
            sampling = sampling * (1 - s) * n / max(n - 1, 1)
    return float(sampling.mean() + square_noise(mechanism)), float(sampling.mean())


def square_noise(mechanism) -> float:
    """Return the expected mean square error due to the noise; inf where it is no float."""
    with np.errstate(over="ignore"):
        return float(np.float64(mechanism.noise.var()) / mechanism.fraction / mechanism.fraction)  # s^2 may be 0


def loss_tail(noise: Noise, s: float, threshold) -> np.ndarray:
    """Return P[L > threshold] of the mixture (1-s) Q + s P against Q, from the law of the base loss."""
    room = np.expm1(threshold) + s
    with np.errstate(divide="ignore", invalid="ignore"):
        base = np.where(room > 0, np.log(np.maximum(room, 1e-300) / s), -np.inf)
    law = exact.PrivacyLossDistribution(noise, 1.0)
    return s * law.sf(base) + (1 - s) * law.sf(base, under="Q")


def subsampled_delta(noise: Noise, s: float, epsilon: float) -> float:
    """Return delta(epsilon) of the mixture (1-s) Q + s P against Q: s times the base's delta where more is at stake.

    Below log(1-s) every output counts. Balle, Barthe, Gaboardi (2018), Theorem 2.
    """
    room = np.expm1(epsilon) + s
    if room <= 0:
        return float(-np.expm1(epsilon))
    return s * float(exact.hockey_stick(noise, 1.0, np.log(room / s)).estimate)


def loss_survival(mechanism: Any, losses: np.ndarray) -> np.ndarray:
    """Return the probability that the privacy loss of an output on the data exceeds each of `losses`."""
    return loss_tail(mechanism.noise, mechanism.fraction, between_atoms(losses))


def loss_delta(mechanism: Any, epsilons: np.ndarray) -> np.ndarray:
    """Return delta(epsilon) of the mixture against Q at each of `epsilons`."""
    return np.array([subsampled_delta(mechanism.noise, mechanism.fraction, float(each)) for each in epsilons])


def loss_quantiles(noise: Noise, s: float, levels: np.ndarray) -> np.ndarray:
    """Return the quantiles of the privacy loss of outputs of the mixture (1-s) Q + s P against Q.

    The loss rises with the output, so they are the losses at the quantiles of the output, which lie between those under
    Q and under P and are found by bisection. Raises ValueError for a loss that does not rise, and for lattices.
    """
    if noise.is_discrete or not loss_sets(noise, 1.0).monotone:
        raise ValueError("the loss does not rise with the output")
    low = np.asarray(noise.ppf(levels))
    high = low + 1
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        below = (1 - s) * noise.cdf(middle) + s * noise.cdf(middle - 1) < levels
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(np.logaddexp(np.log1p(-s) if s < 1 else -inf, np.log(s) - noise.privacy_loss(high, 1.0)))


def _rows(figure, series, at, values, **labels):
    relation = written(SCHEMES[series].outer) if series in SCHEMES else RELATION.get(series, "add-remove")
    about = {"relation": relation, "unit": "nats" if figure == "releases" else "1"}
    labels = {"figure": figure, "quantity": series, **about, **labels}
    return [labels | {"at": float(x), "exact": float(value)} for x, value in zip(at, values)]
