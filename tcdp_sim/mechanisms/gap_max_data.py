"""Private selection of the most frequent value of a data set."""

from numbers import Real
from types import MappingProxyType
from typing import Any

from tcdp_sim.core.axes import declared
from tcdp_sim.mechanisms.axes import DATA, DELTA, NOISE, TCDP_TARGET, K
from tcdp_sim.mechanisms.base import Options, Point
from tcdp_sim.mechanisms.gap_max import ACCOUNTING, ALGORITHM, SEVERAL, GapMax, M
from tcdp_sim.selection.algorithms import GeneralizedHistogram, ObviousAnswer
from tcdp_sim.selection.scores import Scores

OTHERS = "algorithms other than 21, 22 and stability"  # the case without a privacy loss


class GapMaxData(GapMax):
    """A private selection of the m bins with the most records of a data set.

    The scores are the counts of the data set. k is the declared number of bins, and the gap is that between the m-th
    and the (m+1)-th largest count. The law depends on nothing else for generalized_histogram with m = 1, obvious_answer
    and stability. For the others, the top m bins are taken to be as full as the m-th, and all other bins as full as the
    (m+1)-th. The simulated success probability is then a lower bound. Substituting one record changes only two counts,
    each by one; no algorithm here exploits that. The parameters are those of `GapMax`.

    Source: Bun et al. (2018), Section 5 [BDRS18].
    """

    name = "gap_max_data"
    loss_pair = (
        "A record moves from the leader to the second, so that the lead is smaller by two, or the other way round if "
        "it is below two; that no pair reveals more is not proved."
    )
    unknown_losses = MappingProxyType(
        {
            SEVERAL: "The probabilities of sets of candidates are not written down.",
            OTHERS: "The data are replaced by a lead with ties, and a neighbour of the data does not have this form.",
        }
    )
    axes = declared(ALGORITHM, NOISE, ACCOUNTING, DATA, K, M, *TCDP_TARGET, DELTA)
    required = ("algorithm", "data", "k", "rho")

    @property
    def unknown_loss(self) -> str:
        by_lead = isinstance(self.calibrated, ObviousAnswer | GeneralizedHistogram)  # stability among them
        return SEVERAL if self.m > 1 else "" if by_lead else OTHERS

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return ("data", *(axis for axis in super().uses(point) if axis != "gap"))

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        others = counts.k - len(counts.counts)
        scores = Scores(counts.counts.astype(float), others=others, sensitivity=1)
        m = M.default if point.get("m") is None else point["m"]
        is_whole = isinstance(m, Real) and float(m).is_integer()
        gap = scores.gap(int(m)) if is_whole else 0.0  # an invalid m is refused below
        return super().law({**point, "k": counts.k, "gap": gap}, options, None)
