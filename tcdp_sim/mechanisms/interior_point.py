"""An interior point of a data set over an ordered domain of up to 2^1048576 elements."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import choice, real, scalar, whole
from tcdp_sim.data.hard_records import SHAPES, hard_data
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.axes import NOISE, POSITIVE, TCDP_TARGET
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.losses import LOSS, LOSSES, NEIGHBOUR
from tcdp_sim.noise import Noise
from tcdp_sim.ordered.interior import LevelProfile, binary_search, exponential_mechanism, methods, release
from tcdp_sim.ordered.interior.budget import checked_split
from tcdp_sim.ordered.interior.ledger import ACCOUNTINGS
from tcdp_sim.ordered.interior.recursive_release import sample_recursive
from tcdp_sim.ordered.interior.release import ReleaseParameters
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee

MOST_LOG2_K = 2**20  # memory: each of the n elements is an integer of this many bits
MOST_N = 10**6
VERSIONS = {methods.WEAKER: 2}  # the one method that neither draws nor accounts in another way since version 2


@dataclass(frozen=True, eq=False)
class InteriorPoint(Mechanism):
    """A private interior point of a hard data set: an element between the least and the greatest of its n records.

    The records lie in {0, ..., 2^log2_k - 1}. Neighbours substitute one record.

    Source: Bun et al. (2018), Section 5.3 [BDRS18].

    - `shape`: the hard data set, one of `data.hard_records.SHAPES`.
    - `draw`: the number of the data set among the random ones of this shape, at least 0.
    - `log2_k`: the logarithm to base 2 of the size of the domain, from 1 to 2^20.
    - `n`: the number of records, from 1 to 10^6.
    - `recipes`: the public parameters of the trees, the outermost first; empty for a baseline.
    - `scale`: the only parameter of a baseline: epsilon of the exponential mechanism over the domain, or the standard
      deviation of the binary search's comparisons.
    """

    method: str
    promise: Guarantee
    shape: str
    draw: int
    log2_k: int
    n: int
    recipes: tuple[ReleaseParameters, ...] = ()
    scale: float = 0.0
    draws_losses: bool = False

    name = "interior_point"
    loss_pair = (
        "A record goes from the least value to the greatest one, which changes the depth of every element in between; "
        "that no pair reveals more is not proved."
    )
    unknown_losses = MappingProxyType(
        {
            "methods with a tree": "The law of the chosen level and node on a neighbour is not written down.",
            "method=binary_search": "The law of the search's path on a neighbour is not written down.",
        }
    )
    version = 3
    axes = declared(
        Axis("method", "algorithm for interior points", "", ", ".join(methods.METHODS), "text"),
        NOISE,
        Axis("shape", "hard data set", "", ", ".join(SHAPES), "text"),
        Axis("draw", "which of the random data sets of a shape", "1", "a whole number", default=0),
        Axis(
            "log2_k", "logarithm to base 2 of the size of the domain", "bits", f"a whole number from 1 to {MOST_LOG2_K}"
        ),
        Axis("n", "number of records, in place of n_share", "records", f"a whole number from 1 to {MOST_N}"),
        Axis("n_share", "number of records over the number that the method needs", "1", POSITIVE),
        *TCDP_TARGET,
    )
    required = ("method", "shape", "log2_k", "rho")
    options = ("accounting", "split", "beta", "delta")
    observables = MappingProxyType(
        {
            "depth": Observable("records", "how deep the output lies, min(F(j), n - F(j - 1)); 0: no interior point"),
            "rank_error": Observable("records", "distance of the output's depth from that of a median, n / 2"),
            "level": Observable("1", "level of the tree that was chosen"),
            **LOSSES,
        }
    )
    events = MappingProxyType(
        {
            "success": "the output is an interior point",
            "fails_at_level": "no interior point, and the level was not one of positive quality",
            "fails_at_node": "no interior point, on a good level none of the node's candidates is one",
            "fails_at_end": "no interior point, though a candidate was one",
        }
    )

    @classmethod
    def check_options(cls, options: Options) -> None:
        if options["split"] is not None:
            checked_split(options["split"])

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        noisy = methods.is_tree(point["method"])
        omega = point["method"] == methods.WEAKER or (noisy and "omega" in noise_axes.depends_on(point.get("noise")))
        return (
            *("method", "shape", "log2_k", "rho", "n" if point.get("n") is not None else "n_share"),
            *(("noise",) if noisy else ()),
            *(noise_axes.target_axes(("omega",)) if omega else ()),
            *(("draw",) if point["shape"] != "pair" else ()),
        )

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        method = choice("method", point["method"], methods.METHODS)
        noise = point.get("noise")
        if methods.is_tree(method) and noise is None:
            raise ValueError(f"method {method} needs noise, which the sweep does not give")
        log2_k = whole("log2_k", point["log2_k"], 1, MOST_LOG2_K)
        beta = real("beta", options["beta"], 0, 1)
        budget = methods.Budget(
            _target(point, noise, method),
            noise and noise["family"],
            noise and noise["calibration"],
            options["accounting"],
            options["split"] and tuple(options["split"]),
            beta,
            real("delta", options["delta"], 0, 1),
        )
        least = methods.required_records(method, budget, log2_k)
        n = _records(point, least)
        law = {
            "mechanism": cls.name,
            "version": VERSIONS.get(method, cls.version),
            "method": method,
            "target": budget.target,
            "shape": choice("shape", point["shape"], SHAPES),
            "draw": whole("draw", point.get("draw") or 0, 0, 10**9) if point["shape"] != "pair" else 0,
            "log2_k": log2_k,
            "n": n,
            "required_n": least,
            "accounting": choice("accounting", options["accounting"], ACCOUNTINGS),
            "beta": beta,
            "split": budget.split and list(budget.split),
        }
        if method == methods.WEAKER:
            guarantee = methods.weaker_guarantee(budget)
            law |= {"promise": {"epsilon": guarantee.epsilon, "delta": guarantee.delta}}
        return law | methods.described(method, budget, log2_k, n)

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        target = law["target"]
        guarantee: Guarantee = TCDP(**target) if "omega" in target else ZCDP(**target)
        if "promise" in law:
            guarantee = ApproxDP(**law["promise"])
        recipes = tuple(_tree(entry) for entry in law.get("recipes", ()))
        where = (law["shape"], law["draw"], law["log2_k"], law["n"])
        return cls(law["method"], guarantee, *where, recipes, law.get("scale", 0.0), law.get("draws_losses", False))

    @property
    def guarantee(self) -> Guarantee:
        return self.promise

    @property
    def noise(self) -> Noise | None:
        """The noise on the nodes of the outermost tree; None for a baseline."""
        return self.recipes[0].noise if self.recipes else None

    @property
    def work(self) -> float:
        return 40.0 + 100.0 * (len(self.recipes) > 1)

    @cached_property
    def profile(self) -> LevelProfile:
        """The dyadic tree over the domain, as the data set fills it."""
        k = 2**self.log2_k
        return LevelProfile.of(hard_data(self.shape, self.n, k, self.draw), k)

    @property
    def unknown_loss(self) -> str:
        return {"exponential": "", "binary_search": "method=binary_search"}.get(self.method, "methods with a tree")

    def draw_losses(self, rng: np.random.Generator, trials: int) -> Draws:
        p, q = exponential_mechanism.pair_of_laws(self.profile, self.scale)
        drawn = (rng.choice(len(p), size=trials, p=np.exp(each)) for each in (p, q))
        return {name: (p - q)[each] for name, each in zip((LOSS, NEIGHBOUR), drawn)}

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        if self.method == "binary_search":
            return self._depths(binary_search.sample_depths(self.profile, self.scale, trials, rng=rng))
        if self.method == "exponential":
            return self._depths(exponential_mechanism.sample_depths(self.profile, self.scale, trials, rng=rng))
        if len(self.recipes) == 1:
            draws = release.sample(self.profile, self.recipes[0], trials, rng=rng)
        else:
            draws = sample_recursive(self.profile, self.recipes, trials, rng=rng)
        bad_level = ~draws.success & (draws.quality <= 0)
        bad_node = ~draws.success & ~bad_level & (draws.best <= 0)
        return self._depths(draws.depth) | {
            "level": draws.level.astype(np.float64),
            "fails_at_level": bad_level,
            "fails_at_node": bad_node,
            "fails_at_end": ~draws.success & ~bad_level & ~bad_node,
        }

    def _depths(self, depth: NDArray[Any]) -> Draws:
        depth = depth.astype(np.float64)
        return {"depth": depth, "rank_error": np.abs(depth - self.n / 2), "success": depth > 0}


def _target(point: Point, noise: Any, method: str) -> TCDP | ZCDP:
    """Return the guarantee that the budget pays for: zCDP for a method that does not depend on omega."""
    rho = real("rho", point["rho"], 0)
    if method != methods.WEAKER and not (methods.is_tree(method) and "omega" in noise_axes.depends_on(noise)):
        return ZCDP(rho)
    who = method if method == methods.WEAKER else noise["family"]
    return TCDP(rho, scalar("omega", noise_axes.target(who, ("omega",), point)["omega"], 1))


def _records(point: Point, least: int) -> int:
    """Return the number of records; n has precedence over n_share, which an experiment may suggest."""
    if point.get("n") is not None:
        return whole("n", point["n"], 1, MOST_N)
    if point.get("n_share") is None:
        raise ValueError("n is missing; give n, or n_share as a multiple of the n that is proved to suffice")
    n = max(round(scalar("n_share", point["n_share"], 0) * least), 1)
    if n > MOST_N:
        raise ValueError(f"n_share = {point['n_share']:g} of {least} records is not valid; valid: n <= {MOST_N}")
    return n


def _tree(entry: Mapping[str, Any]) -> ReleaseParameters:
    noise = noise_axes.built(entry["noise"], entry["parameters"])
    rest = {key: value for key, value in entry.items() if key not in ("noise", "parameters")}
    return ReleaseParameters(noise=noise, **rest)
