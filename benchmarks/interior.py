"""The cost of interior points on different domains, which should be equal."""

from benchmarks.drawing import TRIALS, seconds
from tcdp_sim.core.streams import generator
from tcdp_sim.data.hard_records import hard_data
from tcdp_sim.ordered.interior import LevelProfile, required_records, sample, split_budget
from tcdp_sim.ordered.interior.budget import release_parameters
from tcdp_sim.privacy import TCDP

DOMAINS = (16, 64, 1024, 65536)


def interior():
    """Measure microseconds per trial for k = 2^16 to 2^65536 at 80% of the proved n, and a level profile."""
    rng = generator(1, "0" * 64, 0)
    prepared = []
    for log2_k in DOMAINS:
        bought, k = split_budget(TCDP(0.5, 2.83), log2_k), 2**log2_k
        n = int(0.8 * required_records(bought, log2_k))
        prepared.append((LevelProfile.of(hard_data("solo", n, k), k), release_parameters(bought, log2_k, n)))
    spent = seconds(*(lambda case=case: sample(*case, TRIALS, rng=rng) for case in prepared))
    values = hard_data("cluster", 10_000, 2**64)
    (built,) = seconds(lambda: LevelProfile.of(values, 2**64), rounds=5)
    each = [1e6 * time / TRIALS for time in spent]
    yield "interior point, slowest domain of 2^16 .. 2^65536", f"{max(each):.2f} us a trial", "<= 20"
    yield "  slowest over fastest domain", f"{max(each) / min(each):.2f}", "<= 2"
    yield "  level profile of 10,000 records at 2^64", f"{built:.3f} s", "<= 0.3"
