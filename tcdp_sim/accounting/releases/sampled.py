"""Answers with additive noise on a random sample of the records."""

from dataclasses import dataclass
from functools import lru_cache

from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.release import NOTHING, Case, Release, need_relation
from tcdp_sim.core.errors import choice, scalar, whole
from tcdp_sim.exact.losses.pair_law import PairLoss
from tcdp_sim.exact.subsampling import dominating_pairs
from tcdp_sim.noise import Noise
from tcdp_sim.privacy.amplification.schemes import SCHEMES

_ADD_REMOVE = ("poisson", "hybrid")


@dataclass(frozen=True)
class Sampled(Release):
    """A release of additive noise on a sample of the records.

    Source: Balle et al. (2018), Theorems 8 to 11 [BBG18]; Zhu et al. (2022) [ZDW22].

    Parameters
    ----------
    release : Additive
        The release on the sample, with continuous noise. Its sensitivity is meant under add/remove for "poisson",
        "hybrid" and "poisson_substitution", and under substitution for the other schemes.
    sampling_probability : float
        The sampling probability of a record, in [0, 1].
    scheme : str
        "poisson" or "hybrid" for add/remove; "poisson_substitution", "without_replacement" or "with_replacement" for
        substitution.
    records : int, optional
        The number of records of the larger data set, at least 1, for "with_replacement" and "hybrid".

    Raises
    ------
    ValueError
        If an argument is outside its range, or the ledger has another relation than the scheme.

    Examples
    --------
    >>> from tcdp_sim.accounting import Additive, Ledger, Sampled
    >>> from tcdp_sim.noise import Gaussian
    >>> step = Sampled(Additive(Gaussian(1.0)), 0.01)
    >>> round(Ledger([(step, 1000)], relation="add_remove").epsilon(1e-6).estimate, 2)
    2.12
    """

    release: Additive
    sampling_probability: float
    scheme: str = "poisson"
    records: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.release, Additive) or self.release.noise.is_discrete:
            raise ValueError(f"release = {self.release!r} is not valid; valid: Additive with continuous noise")
        s = scalar("sampling_probability", self.sampling_probability, 0, 1, closed=True, finite=False)
        object.__setattr__(self, "sampling_probability", s)
        choice("scheme", self.scheme, SCHEMES)
        if self.records is not None:
            object.__setattr__(self, "records", whole("records", self.records, 1, 2**53))
        self._laws()

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pair of the scheme in both directions."""
        need_relation(self, relation, ("add_remove",) if self.scheme in _ADD_REMOVE else ("substitute",))
        laws = self._laws()
        if not laws:
            return (NOTHING,)
        return (Case(((laws[0], times),), ((laws[-1], times),)),)

    def _laws(self) -> tuple[PairLoss, ...]:
        if not self.sampling_probability:
            return ()
        additive = self.release
        return _laws(additive.noise, additive.sensitivity, self.sampling_probability, self.scheme, self.records)


@lru_cache(maxsize=256)
def _laws(noise: Noise, shift: float, s: float, scheme: str, records: int | None) -> tuple[PairLoss, ...]:
    return tuple(PairLoss(pair) for pair in dominating_pairs(noise, shift, s, scheme, records))
