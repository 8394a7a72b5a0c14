"""Privacy guarantees: definitions, conversions, composition, subsampling and group privacy."""

from tcdp_sim.privacy.amplification.amplify import amplify
from tcdp_sim.privacy.amplification.profiles import amplified_profile, group_delta
from tcdp_sim.privacy.amplification.schemes import SCHEMES, chance_drawn, drawn_again, drawn_more_often, draws
from tcdp_sim.privacy.cheat_sheet import CheatSheetRow, cheat_sheet
from tcdp_sim.privacy.composition import compose, compose_advanced, compose_approx
from tcdp_sim.privacy.concentrated import to_approx_zcdp, to_tcdp, to_zcdp, zcdp_from_family
from tcdp_sim.privacy.conversions import delta_at, lemma_8, lemma_38_delta, to_approx_dp, zcdp_budget
from tcdp_sim.privacy.definitions import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    Guarantee,
    MeanConcentratedDP,
    PureDP,
)
from tcdp_sim.privacy.groups import group, group_to_approx_dp
from tcdp_sim.privacy.per_record import (
    PerRecordDP,
    PerRecordTCDP,
    PerRecordZCDP,
    compose_per_record,
    group_of_records,
    parallel,
)
from tcdp_sim.privacy.renyi import RenyiBound, pure_renyi, renyi_bound, tightest_epsilon, tightest_log_delta
from tcdp_sim.privacy.tails import loss_tail_bound

__all__ = [
    "RDP",
    "SCHEMES",
    "TCDP",
    "ZCDP",
    "ApproxDP",
    "ApproxZCDP",
    "CheatSheetRow",
    "Guarantee",
    "MeanConcentratedDP",
    "PerRecordDP",
    "PerRecordTCDP",
    "PerRecordZCDP",
    "PureDP",
    "RenyiBound",
    "amplified_profile",
    "amplify",
    "chance_drawn",
    "cheat_sheet",
    "compose",
    "compose_advanced",
    "compose_approx",
    "compose_per_record",
    "delta_at",
    "drawn_again",
    "drawn_more_often",
    "draws",
    "group",
    "group_delta",
    "group_of_records",
    "group_to_approx_dp",
    "lemma_8",
    "lemma_38_delta",
    "loss_tail_bound",
    "parallel",
    "pure_renyi",
    "renyi_bound",
    "tightest_epsilon",
    "tightest_log_delta",
    "to_approx_dp",
    "to_approx_zcdp",
    "to_tcdp",
    "to_zcdp",
    "zcdp_budget",
    "zcdp_from_family",
]
