"""Examples of every release of a ledger, with a relation that it has, and of every notion of privacy."""

from tcdp_sim.accounting import (
    Additive,
    Allocated,
    Bands,
    BoundedRange,
    BoundedRangePair,
    Chosen,
    Claimed,
    Cyclic,
    Distributions,
    Fixed,
    Ledger,
    MatrixMechanism,
    MinSeparation,
    MixturePair,
    PermuteAndFlip,
    RandomisedResponse,
    SameBin,
    Sampled,
    Shuffled,
    Thresholded,
)
from tcdp_sim.candidates import PoissonTries
from tcdp_sim.exact import subsampled
from tcdp_sim.noise import DiscreteGaussian, Gaussian, Laplace
from tcdp_sim.privacy import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxTCDP,
    ApproxZCDP,
    MeanConcentratedDP,
    PureDP,
)

ADD, SUBSTITUTE, ZERO_OUT = "add_remove", "substitute", "zero_out"
GUARANTEES = {  # for each notion: a guarantee, and one that says less
    PureDP: (PureDP(0.5), PureDP(0.7)),
    ApproxDP: (ApproxDP(0.5, 1e-6), ApproxDP(0.5, 1e-5)),
    ZCDP: (ZCDP(0.1), ZCDP(0.1, 0.01)),
    TCDP: (TCDP(0.1, 8.0), TCDP(0.1, 4.0)),
    ApproxZCDP: (ApproxZCDP(1e-9, 0.1), ApproxZCDP(1e-9, 0.2)),
    ApproxTCDP: (ApproxTCDP(1e-9, 0.1, 8.0), ApproxTCDP(1e-9, 0.2, 8.0)),
    RDP: (RDP(8.0, 0.3), RDP(8.0, 0.4)),
    MeanConcentratedDP: (MeanConcentratedDP(0.1, 0.4), MeanConcentratedDP(0.1, 0.5)),
}
EXAMPLES = {  # releases and their relations
    Additive: [(Additive(Gaussian(2.0)), ADD), (Additive(DiscreteGaussian(1.5), 2.0), SUBSTITUTE)],
    Allocated: [(Allocated(2.0, 10), ADD)],
    BoundedRange: [(BoundedRange(0.4), SUBSTITUTE)],
    BoundedRangePair: [(BoundedRangePair(0.4, 0.1), ADD)],
    Chosen: [(Chosen(Ledger([Additive(Gaussian(3.5))], ADD), PoissonTries(3.0)), ADD)],
    Claimed: [(Claimed(guarantee), ADD) for guarantee in (PureDP(0.3), ApproxDP(0.3, 1e-6))],
    Distributions: [(Distributions([0.7, 0.2, 0.1], [0.4, 0.35, 0.25]), ADD)],
    MatrixMechanism: [
        (MatrixMechanism(Bands(12, 12), SameBin(4), 3.0), ZERO_OUT),
        (MatrixMechanism((1.0, 0.4) + 8 * (0.0,), Cyclic(3, 0.2), 1.5), ADD),
        (MatrixMechanism(Bands(2, 20), MinSeparation(4, 0.3), 2.0), ZERO_OUT),
        (MatrixMechanism([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.2, 0.9, 1.0]], Fixed(1, 2), 2.0), SUBSTITUTE),
    ],
    MixturePair: [(MixturePair(*subsampled(Laplace(2.0), 1.0, 0.3)), ADD)],
    PermuteAndFlip: [(PermuteAndFlip(0.6), SUBSTITUTE)],
    RandomisedResponse: [(RandomisedResponse(0.5, 4), SUBSTITUTE)],
    Sampled: [
        (Sampled(Additive(Gaussian(1.0)), 0.05), ADD),
        (Sampled(Additive(Laplace(1.0)), 0.1, "without_replacement", 100), SUBSTITUTE),
        (Sampled(Additive(DiscreteGaussian(1.0)), 0.1), ADD),
        (Sampled(Additive(Laplace(2.0)), 0.1, group=3), ADD),
        (Sampled(Additive(Gaussian(1.0)), 0.1, records=50, most=8), ZERO_OUT),
    ],
    Shuffled: [(Shuffled(1.0, 20, 2), ZERO_OUT), (Shuffled(2.0, 30, 1, "once"), SUBSTITUTE)],
    Thresholded: [(Thresholded(Laplace(1.5), 12.0), ADD)],
}
