"""The mean of n numbers in [0, 1], plus Z / n. Substituting a number moves it by 1 / n, so Z hides a shift of 1."""

from dataclasses import dataclass

from tcdp_sim.core.errors import scalar
from tcdp_sim.mechanisms import Axis, NoiseDraw, Observable, declared
from tcdp_sim.mechanisms.noise import built_noise


@dataclass(frozen=True, eq=False)
class NoisyMean(NoiseDraw):
    """A mean in [0, 1] of n numbers, with noise over n."""

    mean: float
    n: float
    name = "noisy_mean"
    axes = declared(*NoiseDraw.axes.values(), Axis("mean", "mean of the numbers", "1"), Axis("n", "how many numbers"))
    required = ("noise", "mean", "n")
    observables = {"noisy_mean": Observable("1", "mean plus noise / n")}  # noqa: RUF012

    @classmethod
    def uses(cls, point):
        return (*super().uses(point), "mean", "n")

    @classmethod
    def law(cls, point, options, counts):
        own = {"mean": scalar("mean", point["mean"], 0, 1, closed=True), "n": scalar("n", point["n"], 0)}
        return super().law(point, options, counts) | own

    @classmethod
    def build(cls, law, counts):
        return cls(*built_noise(law), law["mean"], law["n"])

    def simulate(self, rng, trials):
        return {"noisy_mean": self.mean + self.noise.sample(size=trials, rng=rng) / self.n}
