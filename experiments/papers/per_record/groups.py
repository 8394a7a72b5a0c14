"""Section 2.4: what is promised to several records together."""

from collections.abc import Callable

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.per_record.divergences import gaussian_per_order
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.noise import ExponentialPolylogarithmic, GeneralizedGaussian, Laplace
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy.per_record import PerRecordZCDP, group_of_records
from tcdp_sim.releases import AdditiveRelease

LOSSES = ((0.1, 0.4, 2.5), (0.5, 0.5), (0.01, 1.0), (1.0, 1.0, 1.0, 1.0))  # of the records of a group, nats


@claim("P.2.15 eq1")
def group_of_records_printed(budget: Budget) -> Points:
    """Yield one noisy sum, exactly: Gaussian noise and equal losses attain the bound."""
    return _sums("printed")


@claim("P.2.15 eq1 sharp")
def group_of_records_sharp(budget: Budget) -> Points:
    """Yield the same sums: Gaussian noise attains the bound for all losses."""
    return _sums("tight")


def _sums(method: str) -> Points:
    """Yield Gaussian noise on a sum, and noises with heavier tails by their exact policies at all orders."""
    for losses in LOSSES:
        influences = [float(np.sqrt(2 * loss)) for loss in losses]
        left = gaussian_per_order(sum(influences), 1.0, 2.0)
        where = "Gaussian noise on a sum, losses " + ", ".join(f"{loss:g}" for loss in losses)
        yield Point(where, left, _promised(lambda t: t**2 / 2, influences, method))
    for noise in (Laplace(2.0), GeneralizedGaussian(1.0, 0.5), ExponentialPolylogarithmic(1.0, 1.0, 1.0, 4.0)):
        release = AdditiveRelease(noise)
        for influences in ([1.0, 1.0], [1.0, 3.0, 10.0]):
            left = exact.record_policy(release, sum(influences))
            right = _promised(lambda t: exact.record_policy(release, t).upper, influences, method)  # noqa: B023
            where = f"{noise.family} noise on a sum, influences " + ", ".join(f"{t:g}" for t in influences)
            yield Point(where, left, right)


def _promised(policy: Callable[[float], float], influences: list[float], method: str) -> Bounds[float]:
    rho = group_of_records(PerRecordZCDP(policy), influences, method=method).rho  # type: ignore[attr-defined]
    return closed_form(float(rho))
