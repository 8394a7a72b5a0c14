"""Lists of many kinds against values that were computed without this package.

Each value has twelve digits. With M(z) = E e^(z L) of the sum L of all losses under P, and c > 0,

    delta(epsilon) = lost + 1/2 pi i times the integral of M(z) e^(-z epsilon) / (z (z + 1)) over Re z = c.

M is the product of closed forms (normal and Laplace noise, bounded range), sums over atoms (responses, vectors, noise
on lattices), and Gauss or trapezoid rules over outputs (samples). The integral is a trapezoid sum at the saddle point
c, with its step halved until twelve digits stay. Lists on lattices alone are sums over all outcomes. Both directions
and all numbers of new keys are computed, and the largest value counts. An epsilon is the root of delta, a trade-off is
the maximum of 1 - H(e) - e^e alpha, and an attack is (1 - prior) + prior H(log((1 - prior) / prior)).
"""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from tcdp_sim.accounting import (
    Additive,
    BoundedRange,
    BoundedRangePair,
    Claimed,
    Distributions,
    Ledger,
    RandomisedResponse,
    Sampled,
    Thresholded,
)
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from tcdp_sim.privacy import ApproxDP, PureDP

DIGITS = 1e-11  # of the values
VALUES = {
    "noises": (
        lambda: Ledger([(Additive(Gaussian(3.0)), 4), (Additive(Laplace(2.5)), 3)]),
        [
            ("epsilon", 0.3, 0.195526714822),
            ("epsilon", 1e-06, 4.0202374486),
            ("epsilon", 1e-35, 9.43437552378),
            ("epsilon", 1e-300, 26.0106173425),
            ("delta", 0.0, 0.361094905386),
            ("delta", 2.5, 0.00215783268357),
            ("delta", 20.0, 1.02089572015e-173),
            ("tradeoff", 1e-06, 0.999952265617),
            ("tradeoff", 0.1, 0.635917089912),
            ("attack", 0.1, 0.900606652066),
        ],
    ),
    "responses": (
        lambda: Ledger(
            [
                Additive(Gaussian(1.7)),
                (Additive(Laplace(0.8)), 2),
                (RandomisedResponse(0.9, 7), 3),
                (RandomisedResponse(0.31), 5),
            ]
        ),
        [
            ("epsilon", 0.001, 6.35699539979),
            ("epsilon", 1e-60, 16.1619510342),
            ("epsilon", 1e-300, 28.5245311352),
            ("delta", 1.0, 0.516194547209),
            ("delta", 12.0, 7.93301287727e-23),
        ],
    ),
    "rare truth": (
        lambda: Ledger([Additive(Gaussian(5.0)), (RandomisedResponse(8.0, 1000), 2)]),
        [
            ("epsilon", 0.01, 16.2032448623),
            ("epsilon", 1e-15, 17.4992773342),
            ("delta", 7.9, 0.610664009202),
            ("delta", 17.0, 9.84330881259e-09),
        ],
    ),
    "irrational variance": (
        lambda: Ledger([(Additive(DiscreteGaussian(float(np.sqrt(np.pi)))), 3), (Additive(Gaussian(4.0)), 2)]),
        [
            ("epsilon", 1e-06, 5.10540817938),
            ("epsilon", 1e-300, 38.9381343219),
            ("delta", 1.0, 0.140930034469),
            ("delta", 10.0, 4.40476064125e-21),
            ("tradeoff", 1e-06, 0.999898087383),
            ("tradeoff", 0.1, 0.595747420854),
            ("attack", 0.1, 0.901740463843),
        ],
    ),
    "fine lattice": (
        lambda: Ledger([(Additive(DiscreteGaussian(1.3, step=0.5), 1.5), 2), Additive(Gaussian(2.0))]),
        [("epsilon", 1e-30, 20.7175675789), ("delta", 2.0, 0.216742583391)],
    ),
    "two lattices": (
        lambda: Ledger(
            [
                (Additive(DiscreteLaplace(0.9), 2.0), 2),
                (Additive(DiscreteLaplace(2.3, step=0.25), 1.25), 2),
                RandomisedResponse(0.77, 3),
            ]
        ),
        [
            ("epsilon", 0.3, 3.98832181243),
            ("epsilon", 0.0001, 6.30017567161),
            ("epsilon", 1e-12, 6.30140096617),
            ("delta", 1.0, 0.74744756318),
            ("delta", 6.0, 0.0224661368606),
        ],
    ),
    "bounded range": (
        lambda: Ledger([BoundedRange(1.3), (Additive(Gaussian(2.0)), 3)]),
        [
            ("epsilon", 0.001, 3.41377704948),
            ("epsilon", 1e-40, 12.8146146604),
            ("epsilon", 1e-300, 33.5733273773),
            ("delta", 0.7, 0.248336913916),
            ("delta", 6.0, 4.14975932331e-09),
            ("tradeoff", 1e-06, 0.999896565256),
            ("tradeoff", 0.1, 0.553292258189),
            ("attack", 0.1, 0.902627312731),
        ],
    ),
    "a pair of bounded range": (
        lambda: Ledger([(BoundedRangePair(1.1, 0.8), 4), (Additive(Gaussian(3.0)), 2)], "add_remove"),
        [("epsilon", 0.2, 0.899841027251), ("epsilon", 1e-08, 5.39516789782), ("delta", 2.0, 0.0503381923918)],
    ),
    "samples": (
        lambda: Ledger(
            [
                (Sampled(Additive(Gaussian(0.8)), 0.01), 200),
                (Sampled(Additive(Gaussian(1.5)), 0.2), 20),
                (Sampled(Additive(Gaussian(6.0)), 0.5), 10),
            ],
            "add_remove",
        ),
        [
            ("epsilon", 0.001, 2.50774465875),
            ("epsilon", 1e-10, 6.49284662724),
            ("delta", 0.5, 0.138899961355),
            ("delta", 3.0, 0.000194484561378),
        ],
    ),
    "samples and others": (
        lambda: Ledger(
            [(Sampled(Additive(Gaussian(0.7)), 0.003), 1000), RandomisedResponse(0.4), BoundedRange(0.5)], "add_remove"
        ),
        [("epsilon", 1e-05, 2.14318879433), ("delta", 0.5, 0.067874691411)],
    ),
    "sampled Laplace": (
        lambda: Ledger(
            [(Sampled(Additive(Laplace(1.3), 2.0), 0.3), 6), (Sampled(Additive(Gaussian(1.0)), 0.1), 30)], "add_remove"
        ),
        [("epsilon", 1e-06, 7.07130608463), ("delta", 2.0, 0.0655097506963)],
    ),
    "ten million": (
        lambda: Ledger([(Additive(Laplace(30000.0)), 5 * 10**6), (Additive(Gaussian(40000.0)), 5 * 10**6)]),
        [("epsilon", 1e-06, 0.367945452267)],
    ),
    "tiny losses": (
        lambda: Ledger([(Additive(Laplace(1e6)), 3), (Additive(Gaussian(3e5)), 4), (RandomisedResponse(1e-6, 5), 2)]),
        [
            ("epsilon", 1e-07, 1.247528837e-05),
            ("epsilon", 1e-12, 3.33463749189e-05),
            ("epsilon", 1e-30, 7.00242046755e-05),
            ("delta", 1e-05, 2.33100735754e-07),
        ],
    ),
    "black boxes": (
        lambda: Ledger([(Claimed(ApproxDP(0.3, 1e-7)), 5), (Claimed(PureDP(0.2)), 3), Additive(Gaussian(3.0))]),
        [
            ("epsilon", 0.01, 1.71503369025),
            ("epsilon", 6e-07, 3.37503825834),
            ("epsilon", 5.1e-07, 3.5512017566),
            ("delta", 1.0, 0.0690673761569),
            ("tradeoff", 1e-06, 0.99997509129),
            ("tradeoff", 0.1, 0.675718310052),
            ("attack", 0.1, 0.900143787681),
        ],
    ),
    "vectors": (
        lambda: Ledger(
            [
                Distributions([0.5, 0.49, 0.01, 0.0], [0.4, 0.5, 0.0, 0.1]),
                (Additive(Laplace(2.0)), 2),
                Additive(Gaussian(2.0)),
            ],
            "add_remove",
        ),
        [
            ("epsilon", 0.3, 0.238932471605),
            ("epsilon", 0.1001, 2.45285061594),
            ("delta", 0.5, 0.236804534347),
            ("delta", 5.0, 0.1),
            ("tradeoff", 1e-06, 0.899978330677),
            ("tradeoff", 0.1, 0.602490783001),
            ("attack", 0.1, 0.910047295137),
        ],
    ),
    "thresholds": (
        lambda: Ledger([(Thresholded(Gaussian(2.0), 8.0, keys=3), 2), Additive(Gaussian(5.0))], "add_remove"),
        [
            ("epsilon", 0.1, 1.69530545703),
            ("epsilon", 0.002, 3.83012849746),
            ("delta", 0.5, 0.333764637692),
            ("delta", 3.0, 0.0122479693127),
        ],
    ),
    "thresholds on a lattice": (
        lambda: Ledger([(Thresholded(DiscreteLaplace(1.5), 9.0, ">=", 3), 2)], "add_remove"),
        [("epsilon", 0.1, 2.51688608358), ("epsilon", 0.03, 3.55297308544), ("delta", 0.5, 0.49376590483)],
    ),
    "far tails of a wide law": (
        lambda: Ledger([(Additive(Gaussian(0.1)), 5), (Additive(Laplace(2.0)), 3)]),
        [("epsilon", 0.999, 180.101688605), ("epsilon", 1e-245, 998.23709426), ("delta", 1000.0, 7.12638919107e-247)],
    ),
}
CASES = [
    pytest.param(
        *(ledger, *value),
        id=f"{name}-{value[0]}-{value[1]:g}",
        marks=[pytest.mark.slow] if name == "ten million" else [],
    )
    for name, (ledger, values) in VALUES.items()
    for value in values
]


@pytest.mark.parametrize(("ledger", "question", "at", "exact"), CASES)
def test_brackets_contain_values_of_an_independent_computation(ledger, question, at, exact):
    low, _, high = getattr(ledger(), question)(at)
    assert low * (1 - DIGITS) <= exact <= high * (1 + DIGITS)
    assert high - low <= 1e-3 * high


def test_a_part_without_releases_reveals_nothing():
    ledger = Ledger([Additive(Gaussian(2.0))], "add_remove")
    for joint in (ledger.parallel(Ledger()), Ledger().parallel(ledger), ledger.parallel()):
        assert joint.epsilon(1e-6) == pytest.approx(ledger.epsilon(1e-6), rel=1e-4)
    assert Ledger().parallel(Ledger()).epsilon(1e-6) == (0, 0, 0)


@pytest.mark.parametrize("candidates", [1e3, 1e6, 1e12])
def test_rare_success_is_as_exact_as_frequent_success(candidates):
    """Reconstruction from Gaussian noise with sensitivity / scale = 1, by the quantile function of the normal law."""
    exact = ndtr(ndtri(1 / candidates) + 1)
    low, _, high = Ledger([Additive(Gaussian(1.0))]).reconstruction(candidates)
    assert low <= exact * (1 + 1e-9)
    assert exact * (1 - 1e-9) <= high
    assert high - low <= 1e-3 * high
