"""Privacy guarantees: definitions, conversions, composition, subsampling and group privacy."""

from tcdp_sim.privacy.amplification.amplify import amplify
from tcdp_sim.privacy.amplification.profiles import amplified_profile, group_delta
from tcdp_sim.privacy.best_order import tightest_epsilon, tightest_log_delta
from tcdp_sim.privacy.cheat_sheet import cheat_sheet
from tcdp_sim.privacy.composition import compose, compose_advanced, compose_approx
from tcdp_sim.privacy.concentrated import to_approx_zcdp, to_tcdp, to_zcdp, zcdp_from_family
from tcdp_sim.privacy.conversions import approx_zcdp_delta, delta_at, renyi_to_approx_dp, to_approx_dp, zcdp_budget
from tcdp_sim.privacy.definitions import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxTCDP,
    ApproxZCDP,
    Guarantee,
    MeanConcentratedDP,
    PureDP,
)
from tcdp_sim.privacy.groups import group_privacy, group_to_approx_dp
from tcdp_sim.privacy.per_record import (
    PerRecordDP,
    PerRecordTCDP,
    PerRecordZCDP,
    compose_per_record,
    group_of_records,
    parallel,
)
from tcdp_sim.privacy.relation import Relation
from tcdp_sim.privacy.renyi import RenyiBound, pure_renyi, renyi_bound
from tcdp_sim.privacy.tails import loss_tail_bound

__all__ = [
    "RDP",
    "TCDP",
    "ZCDP",
    "ApproxDP",
    "ApproxTCDP",
    "ApproxZCDP",
    "Guarantee",
    "MeanConcentratedDP",
    "PerRecordDP",
    "PerRecordTCDP",
    "PerRecordZCDP",
    "PureDP",
    "Relation",
    "RenyiBound",
    "amplified_profile",
    "amplify",
    "approx_zcdp_delta",
    "cheat_sheet",
    "compose",
    "compose_advanced",
    "compose_approx",
    "compose_per_record",
    "delta_at",
    "group_delta",
    "group_of_records",
    "group_privacy",
    "group_to_approx_dp",
    "loss_tail_bound",
    "parallel",
    "pure_renyi",
    "renyi_bound",
    "renyi_to_approx_dp",
    "tightest_epsilon",
    "tightest_log_delta",
    "to_approx_dp",
    "to_approx_zcdp",
    "to_tcdp",
    "to_zcdp",
    "zcdp_budget",
    "zcdp_from_family",
]
