"""Private medians, quantiles and CDFs of records over an ordered domain, built from interior points."""

from tcdp_sim.ordered.thresholds.answers import Answer, private_cdf, private_interior_point, private_quantiles
from tcdp_sim.ordered.thresholds.records import Records

__all__ = ["Answer", "Records", "private_cdf", "private_interior_point", "private_quantiles"]
