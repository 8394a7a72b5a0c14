"""Sections 2.2 to 2.4: zCDP and per-record zCDP of combined releases and of groups of records."""

from collections.abc import Callable, Iterator

import numpy as np

from tcdp_sim import exact
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.per_record.divergences import (
    ORDERS,
    finite_per_order,
    gaussian_per_order,
    largest,
    named,
    response,
)
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import ExponentialPolylogarithmic, GeneralizedGaussian, Laplace
from tcdp_sim.per_record import AdditiveRelease, Log, Root, TransformedRelease
from tcdp_sim.per_record.policies import gaussian
from tcdp_sim.privacy.per_record import PerRecordDP, PerRecordZCDP, compose_per_record, group_of_records, parallel

LOSSES = ((0.1, 0.4, 2.5), (0.5, 0.5), (0.01, 1.0), (1.0, 1.0, 1.0, 1.0))  # losses of the records of a group, in nats
BOTH = ((1.0, 0.5), (0.3, 2.0))  # (epsilon, epsilon) of two randomised responses


@claim("P.2.4–2.6 2.9")
def zcdp_calculus(budget: Budget) -> Points:
    """Yield adaptive pairs of randomised responses, Gaussian noise and its square, and Laplace noise for groups."""
    yield from [*_adaptive_pairs(budget), *_squares(budget)]
    for order in budget.choose((1.0, 8.0), ORDERS):
        left, right = gaussian_per_order(float(np.hypot(1, 0.5)), 1.0, order), closed_form(0.5 * (1 + 0.25))
        yield Point(f"two Gaussian releases that the record moves by 1 and 0.5 σ, {named(order)}", left, right)
    noise = AdditiveRelease(Laplace(1.0))
    single = exact.record_policy(noise, 1.0)
    for size in (2, 3, 10):
        yield Point(f"{size} records, Laplace noise on a count", exact.record_policy(noise, size), size**2 * single)
        left = gaussian_per_order(float(size), 2.0, 2.0)
        yield Point(f"{size} records, Gaussian noise on a count", left, closed_form(size**2 / 8))


@claim("P.2.5")
def parallel_add_remove(budget: Budget) -> Points:
    """Yield the neighbours of this paper: a record is added to one part, or removed from it."""
    for first, second in BOTH:
        for order in ORDERS:
            p, q = (np.outer(response(first, bit), response(second, 0)).ravel() for bit in (0, 1))
            where = f"randomised responses, ε = {first:g}, {second:g}, record in the first part, {named(order)}"
            yield Point(where, finite_per_order(p, q, order), closed_form(max(_rho(first), _rho(second))))


@claim("P.2.5 substitution")
def parallel_substitution(budget: Budget) -> Points:
    """Yield a record that moves from one part to the other, so that both counts change by one."""
    for first, second in ((1.0, 1.0), (1.0, 2.0)):
        for order in budget.choose((1.0, 8.0), ORDERS):
            left = gaussian_per_order(float(np.hypot(1 / first, 1 / second)), 1.0, order)
            where = f"Gaussian counts of both parts, σ = {first:g}, {second:g}, {named(order)}"
            yield Point(where, left, closed_form((first**-2 + second**-2) / 2))
    for first, second in BOTH:
        for order in ORDERS:
            p, q = (np.outer(response(first, bit), response(second, 1 - bit)).ravel() for bit in (0, 1))
            where = f"randomised responses of both parts, ε = {first:g}, {second:g}, {named(order)}"
            yield Point(where, finite_per_order(p, q, order), closed_form(_rho(first) + _rho(second)))


@claim("P.2.12–2.14")
def per_record_calculus(budget: Budget) -> Points:
    """Yield releases with policies: a count and a sum, a square that hides a sign, and two parts."""
    yield from [*_adaptive_pairs(budget), *_squares(budget), *_clamped(budget)]
    count, total = TransformedRelease(Root(1.0), 3.0), AdditiveRelease(GeneralizedGaussian(10.0, 0.5))
    root = TransformedRelease(Root(4.0, 1.0), 2.0)
    both = compose_per_record(PerRecordZCDP(lambda _: gaussian(1.0, 3.0)), PerRecordDP(total.pure_policy))
    parts = parallel(PerRecordZCDP(total.policy), PerRecordZCDP(root.policy))
    for influence in budget.choose((1.0, 1e3), (1.0, 30.0, 1e3, 1e6)):
        for order in ORDERS:
            spent = [exact.record_renyi(count, 1.0, order), exact.record_renyi(total, influence, order)]
            where = f"a count and a sum, influence {influence:g}, {named(order)}"
            yield Point(where, (spent[0] + spent[1]) / order, _promised(both.at(influence)))
            left = largest(spent[1], exact.record_renyi(root, influence, order)) / order
            where = f"a part by additive noise, the other by the fourth root, influence {influence:g}, {named(order)}"
            yield Point(where, left, _promised(parts.at(influence)))


@claim("P.2.15 eq1")
def group_of_records_printed(budget: Budget) -> Points:
    """Yield one noisy sum, exactly: Gaussian noise and equal losses attain the bound."""
    return _sums("printed")


@claim("P.2.15 eq1 sharp")
def group_of_records_sharp(budget: Budget) -> Points:
    """Yield the noisy sums against the sharper bound, which Gaussian noise attains for all losses."""
    return _sums("tight")


def _sums(method: str) -> Points:
    """Yield Gaussian noise on a sum, and noises with heavier tails by their exact policies at all orders."""
    for losses in LOSSES:
        influences = [float(np.sqrt(2 * loss)) for loss in losses]
        left = gaussian_per_order(sum(influences), 1.0, 2.0)
        where = "Gaussian noise on a sum, losses " + ", ".join(f"{loss:g}" for loss in losses)
        yield Point(where, left, _grouped(lambda t: t**2 / 2, influences, method))
    for noise in (Laplace(2.0), GeneralizedGaussian(1.0, 0.5), ExponentialPolylogarithmic(1.0, 1.0, 1.0, 4.0)):
        release = AdditiveRelease(noise)
        for influences in ([1.0, 1.0], [1.0, 3.0, 10.0]):
            left = exact.record_policy(release, sum(influences))
            right = _grouped(lambda t: exact.record_policy(release, t).upper, influences, method)  # noqa: B023
            where = f"{noise.family} noise on a sum, influences " + ", ".join(f"{t:g}" for t in influences)
            yield Point(where, left, right)


def _grouped(policy: Callable[[float], float], influences: list[float], method: str) -> Bounds[float]:
    return _promised(group_of_records(PerRecordZCDP(policy), influences, method=method))


def _rho(epsilon: float) -> float:
    """Return the zCDP of randomised response, attained as the order falls to 1."""
    return float(epsilon * np.tanh(epsilon / 2))


def _promised(guarantee: object) -> Bounds[float]:
    return closed_form(float(guarantee.rho))  # type: ignore[attr-defined]


def _adaptive_pairs(budget: Budget) -> Iterator[Point]:
    """Yield two randomised responses. The second one has less budget if the first one answered 1."""
    for first, second in BOTH:
        for order in budget.choose((1.0, 8.0), ORDERS):
            laws = []
            for bit in (0, 1):
                says = response(first, bit)
                after = (response(second, bit), response(second / 2, 1 - bit))
                laws.append([says[i] * after[i][j] for i in (0, 1) for j in (0, 1)])
            left = largest(finite_per_order(laws[0], laws[1], order), finite_per_order(laws[1], laws[0], order))
            where = f"two responses, the second chosen by the first, ε = {first:g}, {second:g}, {named(order)}"
            yield Point(where, left, closed_form(_rho(first) + _rho(second)))


def _squares(budget: Budget) -> Iterator[Point]:
    """Yield the unbiased inverse of the square root, which gives two noisy numbers one output."""
    release = TransformedRelease(Root(2.0), 1.0)
    for answer in (0.0, 1.0):
        for order in budget.choose((1.0, 8.0), ORDERS):
            left = exact.record_renyi(release, 1.0, order, answer) / order
            where = f"the square of N(√q, 1), q from {answer:g} to {answer + 1:g}, {named(order)}"
            yield Point(where, left, closed_form((np.sqrt(answer + 1) - np.sqrt(answer)) ** 2 / 2))


def _clamped(budget: Budget) -> Iterator[Point]:
    """Yield a release that replaces negative answers by 0."""
    release = TransformedRelease(Log(1.0), 1.0, nonnegative=True)
    for order in budget.choose((1.0, 8.0), ORDERS):
        left = exact.record_renyi(release, 5.0, order, 0.0) / order
        where = f"the logarithm, clamped at 0, influence 5, {named(order)}"
        yield Point(where, left, closed_form(float(release.policy(5.0))))
