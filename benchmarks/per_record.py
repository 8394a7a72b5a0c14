"""The cost of per-record privacy: draws of its noises and releases, one exact policy, one calibration."""

import numpy as np

from benchmarks.drawing import seconds
from tcdp_sim.calibration import calibrate_records
from tcdp_sim.core.streams import generator
from tcdp_sim.exact import record_epsilon, record_policy
from tcdp_sim.noise import ExponentialPolylogarithmic, Gaussian, GeneralizedGaussian, Noise
from tcdp_sim.per_record import AdditiveRelease, Log, Root, TransformedRelease

SIZE = 16_384  # draws at once, as many as a chunk has
DRAWS = {  # what -> (noise or release, aim for its cost over numpy's normal)
    "generalised Gaussian, power 1/2": (GeneralizedGaussian(1.0, 0.5), 5),
    "generalised Gaussian, power 0.29": (GeneralizedGaussian(1.0, 0.29), 5),
    "polylogarithmic, power 1": (ExponentialPolylogarithmic(1.0, 1, 1.0, 1.3), 1.5),
    "polylogarithmic, power 2": (ExponentialPolylogarithmic(1.0, 2, np.e, 0.08), 5),
    "polylogarithmic, power 1.5": (ExponentialPolylogarithmic(1.0, 1.5, np.e, 0.5), 10),
    "fourth root, mean unbiased": (TransformedRelease(Root(4, 1.4), 2.0), 2.5),
    "logarithm, mean unbiased": (TransformedRelease(Log(1000.0), 1.0), 2.5),
}
PRINTED, EPSILONS = ((2365, 0.05), (4.9e6, 5.0)), ((2365, 1.0), (4.9e6, 10.0))
FAMILIES = {
    "generalized_gaussian": {},
    "exponential_polylogarithmic, power 1": {"power": 1},
    "exponential_polylogarithmic, power 2": {"power": 2},
    "fourth_root": {},
}


def draws():
    """Compare draws with numpy's normal draws, by medians of calls that take turns."""
    rng = generator(3, "0" * 64, 0)
    answer = np.float64(4e7)

    def drawing(law):
        if isinstance(law, Noise):
            return lambda: law.sample(SIZE, rng=rng)
        return lambda: law.sample(answer, SIZE, rng=rng)

    normal, *spent = seconds(
        lambda: rng.standard_normal(SIZE), *(drawing(law) for law, _ in DRAWS.values()), rounds=201
    )
    yield "numpy's normal: nanoseconds a draw", f"{1e9 * normal / SIZE:.1f}", ""
    for (what, (_, aim)), each in zip(DRAWS.items(), spent):
        yield f"  {what}: ns, times the normal", f"{1e9 * each / SIZE:.1f}, {each / normal:.2f}", f"x {aim}"


def policies():
    """Measure exact values of one record, each time at a new influence."""
    fresh = iter(np.geomspace(1.0, 2.0, 10_000))
    for what, (law, _) in DRAWS.items():
        release = AdditiveRelease(law) if isinstance(law, Noise) else law
        (policy,) = seconds(lambda release=release: record_policy(release, next(fresh)), rounds=9)
        (epsilon,) = seconds(lambda release=release: record_epsilon(release, next(fresh), 1e-6), rounds=9)
        yield f"exact policy of a record, {what}", f"{1e3 * policy:.1f} ms", "<= 20 ms"
        yield "  epsilon at delta = 1e-6", f"{1e3 * epsilon:.1f} ms", ""
    normal = AdditiveRelease(Gaussian(1.0))
    (policy,) = seconds(lambda: record_policy(normal, next(fresh)))
    yield "exact policy of a record, Gaussian", f"{1e3 * policy:.2f} ms", "<= 20 ms"


def calibrations():
    """Measure the calibration at two anchors, each time at new values."""
    fresh = iter(np.linspace(0.97, 1.03, 1000))
    for accounting, aim in (("printed", "<= 5 ms"), ("pure", "<= 5 ms"), ("zcdp", "<= 3 s"), ("approx_dp", "<= 3 s")):
        for what, fixed in FAMILIES.items():
            family = what.partition(",")[0]
            if (accounting, what) in SKIPPED:
                continue
            anchors = PRINTED if accounting in ("printed", "zcdp") else EPSILONS

            def once(family=family, anchors=anchors, accounting=accounting, fixed=fixed):
                factor = next(fresh)
                calibrate_records(family, [(t, factor * value) for t, value in anchors], accounting, **fixed)

            (spent,) = seconds(once, rounds=5)
            yield f"two anchors, {accounting}, {what}", f"{1e3 * spent:.1f} ms", aim


SKIPPED = {("pure", "fourth_root"), ("printed", "exponential_polylogarithmic, power 1")}  # no bound; not feasible
