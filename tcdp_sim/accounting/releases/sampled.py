"""Answers with additive noise on a random sample of the records."""

from dataclasses import dataclass, replace
from functools import lru_cache

from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.release import NOTHING, Case, Release, in_orders, need_relation
from tcdp_sim.accounting.releases.sampled_lattice import largest_profile, of_labelled
from tcdp_sim.core.errors import choice, scalar, whole
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.losses.grid_law import LossLaw
from tcdp_sim.exact.losses.mixed_law import MixedLoss
from tcdp_sim.exact.losses.pair_law import PairLoss
from tcdp_sim.exact.subsampling import DominatingPair, LabelledPair, labelled_pairs, of_draws, of_group
from tcdp_sim.noise import Noise
from tcdp_sim.privacy.amplification.schemes import SCHEMES, cut_rates
from tcdp_sim.privacy.relation import ABSENT

_ADD_REMOVE = ("poisson", "hybrid")
_SUBSTITUTED = ("without_replacement", "with_replacement")  # their pair is in both orders
MOST_GROUP = 100


@dataclass(frozen=True)
class Sampled(Release):
    """A release of additive noise on a sample of the records.

    Source: Balle et al. (2018), Theorems 2 and 8 to 11 [BBG18]; Zhu et al. (2022) [ZDW22]; Ganesh (2024) [Gan24], for
    groups. The pair of samples that are cut is derived here, in the notes.

    Parameters
    ----------
    release : Additive
        The release on the sample, with continuous or discrete noise. Its sensitivity is meant under add/remove for
        "poisson", "hybrid" and "poisson_substitution", and under substitution for the other schemes.
    sampling_probability : float
        The sampling probability of a record, in [0, 1].
    scheme : str
        "poisson" or "hybrid" for add/remove; "poisson_substitution", "without_replacement" or "with_replacement" for
        substitution.
    records : int, optional
        The number of records of the larger data set, at least 1, for "with_replacement" and "hybrid", and with `most`.
    group : int
        The number of records of one user, from 1 to 100, each of which is sampled by itself, for "poisson". One of
        two neighbours lacks all of them.
    most : int, optional
        The largest size of a sample, from 1 to `records`, for "poisson": of a larger sample a random part of this size
        is used. Only under zero_out, because what is cut depends on the number of records.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the ledger has another relation than the scheme.

    Notes
    -----
    The pairs of "poisson" and "poisson_substitution" are attained. With the schemes of fixed size the upper end is a
    pair for both orders of the data sets in each release, and with replacement also for adversaries who know the number
    of draws. The lower end belongs to data whose other records all add the same, in the best order fixed in advance.

    A sample that may be cut (`most`) is an upper bound with a lower end. Tell the adversary if at least `most` of the
    other records were sampled, which does not depend on the record. If not, nothing is cut. If so, the record takes a
    place with a probability g that is known. Then the sum moves by at most 2 * sensitivity from the sum without the
    record, and by at most the sensitivity from the sum with an empty record. By advanced joint convexity the pair is no
    easier to tell apart than the pair of sampling without replacement with probability g and twice the sensitivity. The
    lower end belongs to data sets whose other records add nothing. (Derived here. dp_accounting accounts for the same
    sampler by a pair of its own, after Ganesh 2025 [Gan25].)

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
    group: int = 1
    most: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.release, Additive):
            raise ValueError(
                f"release = {self.release!r} is not valid; valid: Additive, such as Additive(Gaussian(1.0))"
            )
        s = scalar("sampling_probability", self.sampling_probability, 0, 1, closed=True, finite=False)
        object.__setattr__(self, "sampling_probability", s)
        choice("scheme", self.scheme, SCHEMES)
        if self.records is not None:
            object.__setattr__(self, "records", whole("records", self.records, 1, 2**53))
        object.__setattr__(self, "group", whole("group", self.group, 1, MOST_GROUP))
        self._check_cut()
        self._laws()

    def _check_cut(self) -> None:
        """Raise ValueError unless `group` and `most` fit the other arguments."""
        if (self.group > 1 or self.most is not None) and self.scheme != "poisson":
            name = "group" if self.group > 1 else "most"
            raise ValueError(f"{name} is not valid for scheme = {self.scheme!r}; valid: scheme = 'poisson'")
        if self.most is None:
            return
        if self.group > 1:
            raise ValueError("group and most have no pair together; valid: one of them")
        if self.records is None:
            raise ValueError("most needs records, the number of records; give both")
        object.__setattr__(self, "most", whole("most", self.most, 1, self.records))

    @property
    def is_poisson(self) -> bool:
        """True for one record in Poisson samples of any size."""
        return self.scheme == "poisson" and self.group == 1 and self.most is None

    @property
    def has_closed_scheme(self) -> bool:
        """True if the profile of one release follows from that of its noise."""
        return self.is_poisson or self.scheme == "without_replacement"

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pair of the scheme in both directions."""
        need_relation(self, relation, self._relations)
        return _cases(self._laws(), times)

    def attained(self, relation: str | None, times: int) -> tuple[Case, ...] | None:
        """Return the pair of other records that all add the same, and None if `cases` has it."""
        shown = self._shown()
        if shown is None:
            return None
        forward, backward = (_law(self.release.noise, pair) for pair in shown)
        if self.scheme in _SUBSTITUTED:
            return in_orders(forward, backward, times)
        return _cases((forward, backward), times)

    def attained_last(self, relation: str | None, times: int) -> tuple[Case, ...] | None:
        """Return the pair in the order that is the worse one at each outcome, for one release under substitution."""
        if times > 1 or self.scheme not in _SUBSTITUTED:
            return self.attained(relation, times)
        if self.scheme == "without_replacement":
            return self.cases(relation, times)
        shown = self._shown()
        if shown is None:
            return None
        return _cases((_law(self.release.noise, shown[0]._replace(symmetric=True)),), times)

    def _shown(self) -> tuple[LabelledPair, LabelledPair] | None:
        """Return both orders of the pair of other records that all add the same, without labels, or None.

        None stands for samples whose pairs in `cases` are attained.
        """
        s, noise, shift = self.sampling_probability, self.release.noise, self.release.sensitivity
        if not s or self.scheme == "poisson_substitution" or (self.scheme == "poisson" and self.most is None):
            return None
        if self.most is not None:
            rate = cut_rates(s, self.records or 1, self.most).widened().included
            return labelled_pairs(noise, shift, rate, "poisson")  # type: ignore[return-value]
        return of_draws(noise, shift, s, self.scheme, self.records)

    @property
    def _relations(self) -> tuple[str, ...]:
        if self.most is not None:
            return ("zero_out",)
        if self.scheme == "poisson":
            return ABSENT
        return ("add_remove",) if self.scheme in _ADD_REMOVE else ("substitute",)

    def profile(self, epsilon: float) -> Bounds:
        """Return delta(epsilon) of one release, epsilon >= 0, by quadrature or sums over the lattice."""
        noise, shift, s = self.release.noise, self.release.sensitivity, self.sampling_probability
        if not s:
            return Bounds(0.0, 0.0, 0.0)
        if self.group > 1:
            return largest_profile(of_group(noise, shift, s, self.group), epsilon)
        plain = largest_profile(labelled_pairs(noise, shift, s, self.scheme, self.records), epsilon)
        if self.most is None:
            shown = self._shown()
            lower = plain.lower if shown is None else largest_profile(shown, epsilon).lower
            return Bounds(min(lower, plain.lower), plain.estimate, plain.upper)
        rates, upper = cut_rates(s, self.records or 1, self.most).widened(), plain.upper
        if rates.full:
            cut = labelled_pairs(noise, 2 * shift, rates.chosen, "without_replacement")
            upper = min(rates.rest * upper + rates.full * largest_profile(cut, epsilon).upper, 1.0)
        lower = largest_profile(labelled_pairs(noise, shift, rates.included, "poisson"), epsilon).lower
        return Bounds(lower, upper, upper)

    @property
    def has_profile(self) -> bool:
        """True if `profile` is the best bracket of one release: there is no closed form, or the sample is cut."""
        return self.release.noise.is_discrete or not self.has_closed_scheme

    @property
    def profile_is_best(self) -> bool:
        return self.most is not None or SCHEMES[self.scheme].replaces

    def counted_as(self) -> "tuple[Sampled, int] | None":
        base, s = self.release, self.sampling_probability
        if self.most is not None:
            return Sampled(base, s), 1
        if self.scheme != "without_replacement":
            return None
        return Sampled(Additive(base.noise, base.sensitivity / 2), s), 1  # a record moves a sum by half as much

    @property
    def has_scale(self) -> bool:
        return self.release.has_scale

    def scaled(self, factor: float) -> "Sampled":
        return replace(self, release=self.release.scaled(factor))

    def less_noise_spends_more(self, in_rho: bool) -> bool:
        return self.release.less_noise_spends_more(in_rho)

    def _laws(self) -> tuple[LossLaw, ...]:
        if not self.sampling_probability:
            return ()
        additive = self.release
        s, noise, shift = self.sampling_probability, additive.noise, additive.sensitivity
        return _laws(noise, shift, s, self.scheme, self.records, self.group, self.most)


def _cases(laws: tuple[LossLaw, ...], times: int) -> tuple[Case, ...]:
    """Return the two directions as a case."""
    return (Case(((laws[0], times),), ((laws[-1], times),)) if laws else NOTHING,)


@lru_cache(maxsize=256)
def _laws(
    noise: Noise, shift: float, s: float, scheme: str, records: int | None, group: int, most: int | None
) -> tuple[LossLaw, ...]:
    if most is not None:
        return _cut(noise, shift, s, records or 1, most)
    pairs = of_group(noise, shift, s, group) if group > 1 else labelled_pairs(noise, shift, s, scheme, records)
    return tuple(_law(noise, pair) for pair in pairs)


def _law(noise: Noise, pair: LabelledPair) -> LossLaw:
    return of_labelled(pair) if noise.is_discrete else PairLoss(DominatingPair(*pair))


def _cut(noise: Noise, shift: float, s: float, records: int, most: int) -> tuple[LossLaw, ...]:
    """Return the laws of samples that are cut: whole samples, or a record in place of another one."""
    rates = cut_rates(s, records, most).widened()
    whole_ones = _laws(noise, shift, s, "poisson", None, 1, None)
    if not rates.full:
        return whole_ones
    (moved,) = _laws(noise, 2 * shift, rates.chosen, "without_replacement", None, 1, None)
    if not rates.rest:
        return (moved,)
    return tuple(MixedLoss(((rates.rest, law), (rates.full, moved))) for law in whole_ones)
