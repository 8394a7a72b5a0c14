"""What the axes of a sweep mean: for people, and for whoever describes an experiment."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """An axis of a sweep: its meaning in a few words, its unit and the values it may have."""

    meaning: str
    unit: str
    valid: str


NAME = "a name or a list of names"
POSITIVE = "above 0"
SHARE = "between 0 and 1"
INFLUENCE = "above 0, or of the population: min, p10, p25, median, p75, p90, p95, p99, max"

AXES = {
    "noise": Axis("distribution that is added", "", NAME),
    "data": Axis("data set", "", NAME),
    "k": Axis("number of bins, candidates or domain elements", "1", "1 to 1e300, or declared"),
    "log2_k": Axis("logarithm to base 2 of the size of the domain", "bits", "1 to 65536"),
    "rho": Axis("privacy parameter of zCDP and tCDP", "nats", POSITIVE),
    "omega": Axis("largest order of tCDP", "1", "above 1"),
    "omega_sqrt_rho": Axis("omega, given as omega times the root of rho", "1", POSITIVE),
    "delta": Axis("privacy parameter of (epsilon, delta)-DP", "1", SHARE),
    "epsilon": Axis("privacy parameter of (epsilon, delta)-DP; argument of a privacy profile", "nats", "at least 0"),
    "order": Axis("order of a Renyi divergence", "1", "above 1"),
    "shift": Axis("how far apart the answers on two neighbours are", "counts", POSITIVE),
    "scale": Axis("parameter of the noise, in place of a target", "counts", POSITIVE),
    "knee": Axis("parameter of sinh-normal noise, in place of a target", "counts", POSITIVE),
    "bound": Axis("parameter of truncated Laplace noise, in place of a target", "counts", POSITIVE),
    "algorithm": Axis("algorithm of private selection", "", NAME),
    "accounting": Axis(
        "how the privacy of an algorithm is accounted for",
        "",
        "paper, tight; of releases: printed, zcdp, approx_dp, pure",
    ),
    "gap": Axis("how far the best candidates lead the others", "counts", "at least 0"),
    "m": Axis("how many candidates tie at the top", "1", "a whole number from 1 to 1e6"),
    "method": Axis("algorithm for interior points, or for thresholds", "", NAME),
    "shape": Axis("hard data set for interior points", "", NAME),
    "draw": Axis("which of the random data sets of a shape", "1", "a whole number"),
    "n": Axis("number of records", "records", "at least 1"),
    "n_share": Axis("number of records over the number that the method needs", "1", POSITIVE),
    "records": Axis("ordered records", "", NAME),
    "release": Axis("how one number is released", "", NAME),
    "influence": Axis("the most that the record changes the answer", "counts", INFLUENCE),
    "influence_low": Axis(
        "influence of the smaller of two records that a release is calibrated at", "counts", INFLUENCE
    ),
    "value_low": Axis("what that record may lose, by the accounting", "nats", POSITIVE),
    "influence_high": Axis("influence of the larger record that a release is calibrated at", "counts", INFLUENCE),
    "value_high": Axis("what that record may lose, by the accounting", "nats", POSITIVE),
    "population": Axis("records whose values are summed, or give influences in words", "", NAME),
    "group_by": Axis("column whose values are the groups that sums are of", "", "a name, a list of names, or none"),
    "answer": Axis("true sum, in place of a population's", "values", "at least 0"),
    "power": Axis("of generalized Gaussian or exponential polylogarithmic noise", "1", POSITIVE),
    "rate": Axis("of exponential polylogarithmic noise", "1", POSITIVE),
    "offset": Axis("what is added before a root or logarithm is taken", "1", "at least 0"),
    "degree": Axis("of a root", "1", "at least 1"),
    "clip": Axis("where values are clipped", "counts", POSITIVE),
    "rule": Axis("how unit splitting limits the pieces", "", "full, capped, sublinear"),
    "pieces": Axis("the most pieces that a value is split into", "1", "a whole number"),
    "exponent": Axis("of the number of pieces in a value", "1", SHARE),
    "estimator": Axis("how the answer is read off its noisy transform", "", NAME),
    "nonnegative": Axis("whether negative releases become 0", "", "true, false"),
    "base": Axis("mechanism that sees the sample", "", NAME),
    "scheme": Axis("how records are sampled", "", NAME),
    "sampling_fraction": Axis("share of the records that is sampled", "1", "above 0, at most 1"),
    "threshold": Axis(
        "privacy loss whose exceedance is counted (nats); size of a piece of a value (counts)", "", "a number"
    ),
}
