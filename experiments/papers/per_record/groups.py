"""Section 2.4: what several records together are promised."""

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.per_record.divergences import gaussian_per_order
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.noise import ExponentialPolylogarithmic, GeneralizedGaussian, Laplace
from tcdp_sim.numerics import closed_form
from tcdp_sim.privacy.per_record import PerRecordZCDP, group_of_records
from tcdp_sim.releases import AdditiveRelease

LOSSES = ((0.1, 0.4, 2.5), (0.5, 0.5), (0.01, 1.0), (1.0, 1.0, 1.0, 1.0))  # of the records of a group, nats
UNIVERSE = "all mechanisms with policies, groups of any size, add/remove neighbours"
ATTAINED = 1e-9


@claim("P.2.15 eq1")
def group_of_records_printed(budget: Budget) -> Points:
    """Of one noisy sum, exactly: attained by Gaussian noise and equal losses, loose else."""
    return [*_gaussian_points("printed"), *_other_points("printed")]


@claim("P.2.15 eq1 sharp")
def group_of_records_sharp(budget: Budget) -> Points:
    """Gaussian noise attains it for all losses."""
    return [*_gaussian_points("tight"), *_other_points("tight")]


def _gaussian_points(method: str) -> list[Point]:
    """Gaussian noise on a sum whose records lose these."""
    points = []
    for losses in LOSSES:
        influences = [float(np.sqrt(2 * loss)) for loss in losses]
        policy = PerRecordZCDP(lambda t: t**2 / 2)
        promised = group_of_records(policy, influences, method=method)
        left = gaussian_per_order(sum(influences), 1.0, 2.0)
        where = "Gaussian noise on a sum, losses " + ", ".join(f"{loss:g}" for loss in losses)
        points.append(Point(where, left, closed_form(promised.rho)))  # type: ignore[attr-defined]
    return points


def _other_points(method: str) -> list[Point]:
    """Noises with heavier tails: each record and the group by the exact policy at all orders."""
    noises = (Laplace(2.0), GeneralizedGaussian(1.0, 0.5), ExponentialPolylogarithmic(1.0, 1.0, 1.0, 4.0))
    points = []
    for noise in noises:
        release = AdditiveRelease(noise)
        for influences in ((1.0, 1.0), (1.0, 3.0, 10.0)):
            upper = {t: exact.record_policy(release, t).upper for t in influences}
            promised = group_of_records(PerRecordZCDP(upper.__getitem__), influences, method=method)
            left = exact.record_policy(release, sum(influences))
            where = f"{noise.family} noise on a sum, influences " + ", ".join(f"{t:g}" for t in influences)
            points.append(Point(where, left, closed_form(promised.rho)))  # type: ignore[attr-defined]
    return points
