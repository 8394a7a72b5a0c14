"""Private selection of the most frequent value of a data set."""

from typing import Any

from tcdp_sim.core.axes import declared
from tcdp_sim.mechanisms.axes import DATA, DELTA, NOISE, TCDP_TARGET, K
from tcdp_sim.mechanisms.base import Options, Point
from tcdp_sim.mechanisms.gap_max import ACCOUNTING, ALGORITHM, GapMax, M
from tcdp_sim.selection.scores import Scores


class GapMaxData(GapMax):
    """Gap-Max whose scores are the counts of a data set: which m bins hold most records?

    k is the declared number of bins, the gap that between the m-th and the (m+1)-th largest count. The law of
    generalized_histogram with m = 1, obvious_answer and stability depends on nothing else. Otherwise the top m are
    taken to be as full as the last of them and all bins below as the fullest of those: a lower bound on success.
    Substitution of one record changes two counts by one; no algorithm here makes use of the others standing still.
    """

    name = "gap_max_data"
    axes = declared(ALGORITHM, NOISE, ACCOUNTING, DATA, K, M, *TCDP_TARGET, DELTA)
    required = ("algorithm", "data", "k", "rho")

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return ("data", *(axis for axis in super().uses(point) if axis != "gap"))

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        others = counts.bins - len(counts.counts)
        scores = Scores(counts.counts.astype(float), others=others, sensitivity=1)
        m = M.default if point.get("m") is None else point["m"]
        gap = scores.gap(int(m)) if float(m).is_integer() else 0.0  # what is no number of winners is refused below
        return super().law({**point, "k": counts.bins, "gap": gap}, options, None)
