"""The mechanisms that a sweep can simulate, by name."""

from tcdp_sim.core import registry
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.mechanisms.allocation import Allocation
from tcdp_sim.mechanisms.audit import Audit
from tcdp_sim.mechanisms.base import Mechanism, Observable
from tcdp_sim.mechanisms.cdf import Cdf
from tcdp_sim.mechanisms.census import Census
from tcdp_sim.mechanisms.functions import UserFunction
from tcdp_sim.mechanisms.gap_max import GapMax
from tcdp_sim.mechanisms.gap_max_data import GapMaxData
from tcdp_sim.mechanisms.histogram import Histogram
from tcdp_sim.mechanisms.information import Information
from tcdp_sim.mechanisms.interior_point import InteriorPoint
from tcdp_sim.mechanisms.ledger import Ledger
from tcdp_sim.mechanisms.mean_concentrated import MeanConcentrated
from tcdp_sim.mechanisms.noise import NoiseDraw
from tcdp_sim.mechanisms.optimal_noise import OptimalNoise
from tcdp_sim.mechanisms.partition_selection import PartitionSelection
from tcdp_sim.mechanisms.per_record_loss import PerRecordLoss
from tcdp_sim.mechanisms.per_record_sum import PerRecordSum
from tcdp_sim.mechanisms.privacy_loss import PrivacyLoss
from tcdp_sim.mechanisms.private_candidates import PrivateCandidates
from tcdp_sim.mechanisms.pure_from_zcdp import PureFromZCDP
from tcdp_sim.mechanisms.quantiles import Quantiles
from tcdp_sim.mechanisms.smooth_sensitivity import SmoothSensitivity
from tcdp_sim.mechanisms.subsampled import Subsampled
from tcdp_sim.mechanisms.thresholds import Thresholds

MECHANISMS: dict[str, type[Mechanism]] = registry.defined(__name__, Mechanism, "name")


def mechanism_class(name: str) -> type[Mechanism]:
    """Return the mechanism class of this name, from the package or from a plug-in.

    Parameters
    ----------
    name : str
        The name of a mechanism, such as "histogram"; `MECHANISMS` lists those of the package.

    Returns
    -------
    type of Mechanism
        The class.

    Raises
    ------
    UserError
        If no mechanism has this name. The message lists the valid names.

    Examples
    --------
    >>> mechanism_class("histogram").__name__
    'Histogram'
    """
    mechanism: type[Mechanism] = UserFunction if name == UserFunction.name else registry.mechanism(name)
    return mechanism


__all__ = [
    "MECHANISMS",
    "Allocation",
    "Audit",
    "Axis",
    "Cdf",
    "Census",
    "GapMax",
    "GapMaxData",
    "Histogram",
    "Information",
    "InteriorPoint",
    "Ledger",
    "MeanConcentrated",
    "Mechanism",
    "NoiseDraw",
    "Observable",
    "OptimalNoise",
    "PartitionSelection",
    "PerRecordLoss",
    "PerRecordSum",
    "PrivacyLoss",
    "PrivateCandidates",
    "PureFromZCDP",
    "Quantiles",
    "SmoothSensitivity",
    "Subsampled",
    "Thresholds",
    "UserFunction",
    "declared",
    "mechanism_class",
]
