"""The toolkit of the introduction: Gaussian noise whose variance depends on the data."""

import numpy as np

from tcdp_sim import exact
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian


@claim("T.toolkit")
def gaussian_smooth_sensitivity(budget: Budget) -> Points:
    """Yield M(x) = N(f(x), e^g(x)) with |f - f'| ≤ Δ e^(g/2) and |g - g'| ≤ d between neighbours."""
    for shift, change in [(0.01, 0.1), (0.1, 0.1), (1.0, 0.1), (0.1, 0.02), (0.3, 0.4), (1.0, 0.01)]:
        omega = 1 / (2 * change)
        orders = np.array([1.0, 1 + 0.5 * (omega - 1), omega])
        bounds = exact.affine_divergence(Gaussian(1.0), change / 2, shift, orders)
        rho = shift**2 + change**2
        for i, order in enumerate(orders):
            left = Bounds(*(float(part[i]) for part in bounds))
            where = f"Δ = {shift:g}, d = {change:g}, order {i + 1}: {order:.4g}"
            yield Point(where, left, closed_form(rho * float(order)))
