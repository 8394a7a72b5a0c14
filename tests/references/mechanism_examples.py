"""An example of every mechanism for the contract in contracts/test_mechanisms.py: points of a sweep, and their promise.

A point gives axes by name, a noise by the name of its config. `REFUSED` has what the ranges of the axes do not say:
changes of the first point, and a word that the refusal has to say.
"""

from math import inf, sqrt

import numpy as np

from tcdp_sim.data import Counts
from tcdp_sim.mechanisms import MECHANISMS
from tcdp_sim.mechanisms.audited import METHODS as AUDITED
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, ApproxTCDP, ApproxZCDP, PureDP
from tcdp_sim.study import groups

COUNTS = Counts("example", np.array([5, 9, 5]), 1000, "made up")
TARGET = {"rho": 0.1, "omega": 6.0, "delta": 1e-3}
RANGED = PureDP(sqrt(0.2))
SELECTION = {"k": 1000.0, "gap": 80.0, "m": 1.0, "accounting": "paper"} | TARGET
CANDIDATES = {"problem": "even", "k": 8, "records": 60.0, "rho": 0.1, "omega": 3.0}
QUANTILES = {"m": 3, "n": 60, "log2_k": 8, "domain": "integers", "records": "bell", "neighbours": "substitute"}
ANCHORS = {"influence_low": "median", "value_low": 0.05, "influence_high": "max", "value_high": 5.0}
SUMS = {"population": "breaches", "accounting": "printed", "delta": 1e-6} | ANCHORS
SMOOTH = {"records": "delays", "n": 100, "rho": 0.5, "omega": 4.0, "smoothing": 0.05, "smooth_noise": "arsinh_normal"}
TREE = {"noise": "gaussian", "rho": 0.1, "neighbours": "substitute", "k": 30, "delta": 1e-6, "omega": 4.0}
LINE = {"records": "departures_AS", "rho": 0.5, "omega": 2.83}
INTERIOR = {"shape": "solo", "draw": 0, "log2_k": 16, "n": 24, "rho": 0.5, "omega": 2.83}
SAMPLE = {"base": "histogram", "noise": "gaussian", "k": 1000.0, "rho": 0.1, "sampling_fraction": 0.2}
DRAWN = {"scheme": "without_replacement"}
SAMPLED = SAMPLE | {"scheme": "poisson", "epsilon": 0.5, "delta": 1e-4, "rho": None}

RANKED = SAMPLE | {"base": "gap_max_data", "algorithm": "exponential_mechanism", "accounting": "paper"} | DRAWN
QUERIES = SAMPLE | {"base": "thresholds", "method": "tree_2", "records": "departures_AS"} | DRAWN
GIVEN = {"scale": 2.0, "knee": 3.0, "bound": 5.0}
NOT_GIVEN = ("optimal", "discrete_gaussian")  # have none of these parameters
RUN = {"sampler": "shuffle_once", "sigma": 0.8, "steps": 20, "epochs": 3, "delta": 1e-5}
SHIFTED = {"noise": "gaussian", "rho": 0.1, "shift": 1.0}
TRAINING = {"bands": 2, "steps": 4, "epochs": 3, "participation": "same_bins", "epsilon": 2.0, "delta": 1e-3}

LONG = "long"  # left to `make test-rest`
EXAMPLES = {  # name -> [(point, its guarantee), ...]; `...`: some guarantee or none
    "allocation": [
        ({"sigma": 3.0, "steps": 50, "epsilon": 0.5, "direction": "removing", "participations": 1}, None),
        ({"sigma": 1.0, "steps": 50, "delta": 1e-5, "participations": 5}, None),
    ],
    "audit": [
        *(({"method": name, "planted": "true"} | SHIFTED, method.claim(True)) for name, method in AUDITED.items()),
        (SHIFTED, ZCDP(0.1)),
    ],
    "cdf": [
        ({"method": "square_root"} | TREE, ZCDP(0.1)),
        ({"method": "weighted_2"} | TREE | {"neighbours": "add-remove"}, ZCDP(0.1)),
        ({"method": "tree_3"} | TREE, ZCDP(0.1)),
        ({"method": "each_bin"} | TREE | {"noise": "sinh_normal"}, TCDP(0.1, 4.0)),
    ],
    "census": [
        ({"list": "synthetic_b", "delta": 1e-10, "variances": "published"}, ZCDP(9.0)),
        ({"list": "us_2020_persons", "delta": 1e-10, "level": "State", "query": "total"}, ...),
    ],
    "correlated_noise": [
        (TRAINING, None),
        (TRAINING | {"participation": "cyclic"}, ApproxDP(2.0, 1e-3)),
        (TRAINING | {"participation": "known", "bands": 8}, ApproxDP(2.0, 1e-3)),
    ],
    "gap_max": [
        ({"algorithm": "obvious_answer", "noise": "gaussian"} | SELECTION, ZCDP(0.1)),
        ({"algorithm": "obvious_answer", "noise": "sinh_normal"} | SELECTION, TCDP(0.1, 6.0)),
        ({"algorithm": "obvious_answer", "noise": "truncated_laplace"} | SELECTION, ApproxDP(sqrt(0.2), 1e-3)),
        ({"algorithm": "generalized_histogram", "noise": "gaussian"} | SELECTION | {"m": 4.0}, ZCDP(0.1)),
        ({"algorithm": "exponential_mechanism"} | SELECTION, RANGED),
        ({"algorithm": "permute_and_flip"} | SELECTION, RANGED),
        ({"algorithm": "noisy_max_laplace"} | SELECTION, RANGED),
        ({"algorithm": "sparse_vector"} | SELECTION, RANGED),
        ({"algorithm": "noisy_max_gaussian"} | SELECTION, ApproxDP(sqrt(0.2), 1e-3)),
        ({"algorithm": "stability"} | SELECTION, ApproxDP(sqrt(0.2), 1e-3)),
    ],
    "gap_max_data": [
        ({"algorithm": "obvious_answer", "noise": "gaussian", "k": 1000.0, "m": 1.0} | TARGET, ZCDP(0.1)),
        ({"algorithm": "sparse_vector", "k": 1000.0, "accounting": "paper"} | TARGET, RANGED),
        ({"algorithm": "exponential_mechanism", "k": 1000.0, "m": 2.0, "accounting": "paper"} | TARGET, RANGED),
    ],
    "histogram": [
        ({"noise": "gaussian", "k": 1000.0} | TARGET, ZCDP(0.1)),
        ({"noise": "laplace", "k": 1000.0} | TARGET, RANGED),
        ({"noise": "truncated_laplace", "k": 1000.0} | TARGET, ApproxDP(sqrt(0.2), 1e-3)),
        ({"noise": "sinh_normal", "k": 1000.0} | TARGET, TCDP(0.1, 6.0)),
    ],
    "information": [
        ({"noise": "gaussian", "n": 5, "k": 10} | TARGET, ZCDP(0.1)),
        ({"noise": "laplace", "n": 5, "k": 1} | TARGET, RANGED),
        ({"noise": "truncated_laplace", "n": 5, "k": 10} | TARGET, ApproxDP(sqrt(0.2), 1e-3)),
        ({"noise": "sinh_normal_tight", "n": 5, "k": 10} | TARGET, TCDP(0.1, 6.0)),
    ],
    "interior_point": [
        ({"method": "one_level", "noise": "sinh_normal_tight"} | INTERIOR, TCDP(0.5, 2.83)),
        ({"method": "binary_search"} | INTERIOR, ZCDP(0.5)),
        ({"method": "exponential"} | INTERIOR, ZCDP(0.5)),
        ({"method": "stability"} | INTERIOR, ...),
        *(({"method": name, "noise": "gaussian"} | INTERIOR, ...) for name in ("surrogate", "recursion_2")),
    ],
    "ledger": [
        *(({"list": name, "delta": 1e-6}, ...) for name in groups.named("mechanism", "ledger")["lists"]),
        ({"list": "gaussians", "epsilon": 1.0}, ...),
        ({"analyst": "refining", "rho": 1.5}, ZCDP(1.5)),
    ],
    "mean_concentrated": [({"answers": 6, "epsilon": 2.0, "cut": 3}, ...)],
    "noise": [
        *(({"noise": name} | TARGET, ...) for name in groups.options("noise")),
        *(({"noise": name} | TARGET | GIVEN, None) for name in groups.options("noise") if name not in NOT_GIVEN),
        ({"noise": "gaussian"} | TARGET, ZCDP(0.1)),
        ({"noise": "sinh_normal"} | TARGET, TCDP(0.1, 6.0)),
        ({"noise": "sinh_normal", "scale": 2.0, "knee": 3.0}, None),
    ],
    "optimal_noise": [
        ({"rho": 0.1, "omega": 2.5, "k": 1e6}, TCDP(0.1, 2.5)),
        ({"rho": 0.1, "k": 4.0}, ZCDP(0.1), LONG),
    ],
    "partition_selection": [
        ({"method": "optimal_tcdp", "rho": 0.05, "omega": 3.0, "delta": 1e-3}, ApproxTCDP(1e-3, 0.05, 3.0)),
        ({"method": "optimal_dp", "epsilon": 0.5, "delta": 1e-3, "keys_per_person": 2}, ApproxDP(0.5, 1e-3)),
        ({"method": "optimal_rdp", "epsilon": 0.5, "delta": 1e-3}, ApproxDP(0.5, 1e-3)),
        (
            {"method": "threshold", "noise": "discrete_gaussian", "rho": 0.05, "delta": 1e-3, "comparison": "above"},
            ApproxZCDP(1e-3, 0.05),
        ),
        ({"method": "threshold", "noise": "laplace", "epsilon": 0.5, "delta": 1e-3}, ApproxDP(0.5, 1e-3)),
    ],
    "per_record_loss": [
        ({"release": "laplace", "scale": 3.0, "influence": 4.0}, ...),
        ({"release": "gaussian", "scale": 3.0, "influence": "max", "population": "breaches"}, ...),
        ({"release": "log", "scale": 0.7, "offset": 5.0, "influence": 4.0, "epsilon": 0.5, "order": 3.0}, ...),
        ({"release": "unit_splitting", "scale": 3.0, "threshold": 2.0, "influence": 4.0}, ...),
    ],
    "per_record_sum": [
        ({"release": "laplace"} | SUMS, None),
        ({"release": "gaussian", "group_by": "year"} | SUMS, None),
        ({"release": "generalized_gaussian"} | SUMS, None, LONG),
        ({"release": "exponential_polylogarithmic", "power": 2.0, "group_by": "year"} | SUMS, None, LONG),
        ({"release": "square_root", "offset": 0.0} | SUMS, None),
        ({"release": "fourth_root"} | SUMS, None),
        ({"release": "log", "group_by": "entity_type"} | SUMS, None),
        ({"release": "clipped", "clip": 1e6, "nonnegative": "true"} | SUMS, None),
        ({"release": "unit_splitting", "threshold": 1e3} | SUMS, None),
        ({"release": "laplace", "scale": 20.0, "answer": 100.0}, None),
    ],
    "privacy_loss": [
        ({"noise": "gaussian", "shift": 1.0} | TARGET, ZCDP(0.1)),
        ({"noise": "laplace", "shift": 1.0, "epsilon": 0.3} | TARGET, RANGED),
        ({"noise": "truncated_laplace", "shift": 1.0} | TARGET, ApproxDP(sqrt(0.2), 1e-3)),
        ({"noise": "sinh_normal_tight", "shift": 1.0, "order": 2.5} | TARGET, TCDP(0.1, 6.0)),
        ({"noise": "gaussian", "scale": 2.0, "shift": 1.0}, None),
    ],
    "private_candidates": [
        ({"method": "all_runs"} | CANDIDATES, ZCDP(0.1)),
        ({"method": "poisson", "tries": 6.0, "accounting": "tight"} | CANDIDATES, TCDP(0.1, 3.0), LONG),
        ({"method": "geometric", "tries": 6.0} | CANDIDATES, TCDP(0.1, 3.0), LONG),
        ({"method": "logarithmic", "tries": 6.0} | CANDIDATES, TCDP(0.1, 3.0), LONG),
        ({"method": "exponential_mechanism"} | CANDIDATES, ZCDP(0.1)),
        ({"method": "obvious_answer", "noise": "gaussian"} | CANDIDATES, ZCDP(0.1)),
        ({"method": "generalized_histogram", "noise": "gaussian"} | CANDIDATES, ZCDP(0.1)),
        ({"method": "permute_and_flip"} | CANDIDATES, ...),
    ],
    "pure_from_zcdp": [({"n": 14, "rho": 0.03, "epsilon": 4.0, "values": 4}, PureDP(4.0))],
    "quantiles": [
        ({"method": "recursive", "epsilon": 1.0} | QUANTILES | {"neighbours": "add-remove"}, PureDP(1.0)),
        ({"method": "joint", "rho": 2.0} | QUANTILES, ZCDP(2.0), LONG),
        ({"method": "independent", "rho": 2.0} | QUANTILES | {"records": "departures_AS"}, ZCDP(2.0)),
        ({"method": "tree_search", "rho": 2.0, "omega": 9.0} | QUANTILES, TCDP(2.0, 9.0), LONG),
        ({"method": "joint", "epsilon": 1.0, "delta": 1e-6} | QUANTILES, ApproxDP(1.0, 1e-6), LONG),
        ({"method": "slices", "epsilon": 4.0, "delta": 1e-6} | QUANTILES | {"n": 9000}, ApproxDP(4.0, 1e-6), LONG),
        *(({"method": name, "rho": 2.0} | QUANTILES, ZCDP(2.0)) for name in ("above_threshold", "tree_2")),
        *(({"method": name, "rho": 2.0} | QUANTILES, ZCDP(2.0)) for name in ("square_root", "interior_points")),
        *(({"method": f"least_squares_{base}", "rho": 2.0} | QUANTILES, ZCDP(2.0)) for base in (2, 16)),
    ],
    "smooth_sensitivity": [
        ({"method": "mean_global"} | SMOOTH, ZCDP(0.5)),
        ({"method": "median"} | SMOOTH, TCDP(0.5, 4.0), LONG),
        ({"method": "trimmed_mean", "contamination": 0.2} | SMOOTH, TCDP(0.5, 4.0), LONG),
        ({"method": "median_global"} | SMOOTH, ZCDP(0.5)),
        ({"method": "median_interior_point"} | SMOOTH | {"omega": 10.0}, ..., LONG),
    ],
    "subsampled": [
        ({"scheme": "poisson"} | SAMPLE, ...),
        ({"scheme": "without_replacement", "threshold": 0.3} | SAMPLE, ...),
        (SAMPLED, ApproxDP(0.5, 1e-4)),
        (SAMPLE | {"scheme": "hybrid"}, ...),
        (SAMPLE | {"base": "gap_max_data", "algorithm": "permute_and_flip", "accounting": "tight"} | DRAWN, ...),
        (SAMPLE | {"base": "thresholds", "method": "median", "records": "departures_AS"} | DRAWN, ...),
        (SAMPLE | {"base": "thresholds", "method": "tree_16", "records": "departures_AS"} | DRAWN, ZCDP(0.1)),
        (RANKED | {"rho": None, "epsilon": 0.5}, PureDP(0.5)),
        (SAMPLE | {"base": "thresholds", "method": "windows", "records": "delays", "omega": 9.0} | DRAWN, ..., LONG),
    ],
    "thresholds": [
        ({"method": "tree_16", "noise": "gaussian"} | LINE, ZCDP(0.5)),
        ({"method": "median", "noise": "sinh_normal_tight"} | LINE, TCDP(0.5, 2.83)),
        ({"method": "medians_2", "noise": "sinh_normal_tight"} | LINE, TCDP(0.5, 2.83)),
        ({"method": "deciles", "noise": "sinh_normal_tight"} | LINE, TCDP(0.5, 2.83), LONG),
        ({"method": "square_root"} | LINE | {"records": "delays"}, ZCDP(0.5)),
        ({"method": "windows", "noise": "sinh_normal_tight"} | LINE | {"records": "delays"}, TCDP(0.5, 2.83), LONG),
        ({"method": "binary_search"} | LINE, ZCDP(0.5)),
    ],
    "training": [
        (RUN, None),
        ({"sampler": "balls_in_bins", "sigma": 1.0, "steps": 20, "epsilon": 0.3, "direction": "backward"}, None),
        ({"sampler": "poisson_cut", "sigma": 1.0, "steps": 20, "batch": 10, "most": 12, "epsilon": 1.0}, None),
        ({"sampler": "poisson", "sigma": 1.0, "steps": 20, "group": 2, "delta": 1e-4}, None),
    ],
}

SUM = {"release": "laplace"} | SUMS
SPLIT = {"release": "unit_splitting", "scale": 1.0, "threshold": 2.0, "influence": 4.0}
LOSS = {"release": "laplace", "scale": 3.0, "influence": 4.0}
REFUSED = {  # name -> [(point, words of the refusal ...), ...]
    "allocation": [
        ({"sigma": 1.0, "steps": 50}, "epsilon and delta are missing"),
        ({"sigma": 1.0, "steps": 50, "participations": 51, "delta": 1e-5}, "participations = 51", "1 to 50"),
    ],
    "audit": [({"method": None, "noise": "gaussian", "rho": 0.1}, "shift is missing")],
    "cdf": [
        *(({"method": name} | TREE, f"method = {name}") for name in ("tree", "tree_1", "tree_2000", "wood_2")),
        ({"method": "optimal"} | TREE, "neighbours = substitute"),
        ({"method": "square_root"} | TREE | {"noise": "laplace"}, "method=square_root", "valid: tight"),
        ({"method": "weighted_2"} | TREE | {"noise": "sinh_normal"}, "method=weighted_2"),
    ],
    "correlated_noise": [
        (TRAINING | {"bands": 13}, "bands = 13", "1 to 12"),
        (TRAINING | {"participation": "cyclic", "bands": 5}, "bands = 5", "1 to 4"),
        (TRAINING | {"steps": 1000, "epochs": 1000}, "steps^2 epochs"),
    ],
    "census": [
        ({"list": "synthetic_b", "delta": 0.0}, "delta = 0"),
        ({"list": "us_2020_persons", "delta": 1e-10, "level": "US", "query": "total"}, "no histogram"),
    ],
    "gap_max": [
        ({"algorithm": "sparse_vector"} | SELECTION | {"m": 1000.0}, "m = 1000", "m < k = 1000"),
        ({"algorithm": "obvious_answer", "noise": "gaussian"} | SELECTION | {"m": 2.0}, "m = 2", "obvious_answer"),
        ({"algorithm": "stability"} | SELECTION | {"delta": None}, "stability needs delta"),
        ({"algorithm": "obvious_answer", "noise": "sinh_normal"} | SELECTION | {"omega": 1.2}, "Theorem 17"),
    ],
    "gap_max_data": [
        ({"algorithm": "obvious_answer", "noise": "gaussian", "m": 2.0} | TARGET, "m = 2", "obvious_answer"),
        ({"algorithm": "generalized_histogram", "noise": "gaussian", "m": 4.0} | TARGET, "m = 4", "1 to 3"),
    ],
    "histogram": [
        ({"noise": "gaussian", "k": 2.0} | TARGET, "k = 2", "3 <= k"),
        *(
            ({"noise": noise, "k": 9.0} | TARGET | {missing: None}, f"{noise} needs {missing}")
            for noise, missing in (("sinh_normal", "omega"), ("truncated_laplace", "delta"), ("laplace", "rho"))
        ),
        ({"noise": "sinh_normal", "k": 9.0} | TARGET | {"omega": 1.5}, "needs omega"),
    ],
    "interior_point": [
        ({"method": "one_level", "noise": "gaussian"} | INTERIOR | {"n": None}, "give n, or n_share"),
        ({"method": "one_level", "noise": "gaussian"} | INTERIOR | {"n": None, "n_share": 1e300}, "n_share = 1e+300"),
        ({"method": "one_level"} | INTERIOR, "needs noise"),
        ({"method": "one_level", "noise": "sinh_normal"} | INTERIOR | {"omega": None}, "needs omega"),
    ],
    "ledger": [
        ({"list": "gaussians"}, "epsilon and delta are missing"),
        ({"list": "gaussians", "delta": 0.0}, "delta = 0"),
        ({"list": "black_boxes", "delta": 1e-15}, "probability 3e-14"),
        ({"delta": 1e-6}, "neither a list nor an analyst"),
        ({"analyst": "voting"}, "rho is missing"),
        ({"analyst": "voting", "rho": 0.5}, "rho = 0.5", "analyst = voting", "0.746"),
        ({"analyst": "voting", "rho": 1e9}, "0.7461 to 310.9"),
    ],
    "mean_concentrated": [({"answers": 12, "epsilon": 1, "cut": 13}, "cut")],
    "noise": [
        ({"noise": "sinh_normal", "scale": 1.0}, "sinh_normal needs knee"),
        ({"noise": "sinh_normal", "knee": 1.0}, "sinh_normal needs scale"),
        ({"noise": "gaussian"}, "gaussian needs rho"),
        ({"noise": "sinh_normal", "rho": 0.1}, "sinh_normal needs omega"),
    ],
    "partition_selection": [
        ({"method": "optimal_rdp", "rho": 0.1, "delta": 1e-6}, "optimal_rdp"),
        ({"method": "optimal_tcdp", "delta": 1e-6}, "epsilon and rho are missing"),
        ({"method": "optimal_tcdp", "rho": 0.1, "delta": 0.0}, "delta = 0"),
        ({"method": "threshold", "rho": 0.1, "delta": 1e-6}, "method = threshold needs noise"),
    ],
    "per_record_loss": [
        (LOSS | {"influence": "max"}, "needs population"),
        (LOSS | {"influence": "max", "population": "bridges"}, "population = 'bridges'"),
        (SPLIT | {"rule": "half"}, "rule = 'half'"),
        (SPLIT | {"rule": "capped"}, "pieces"),
        (SPLIT | {"threshold": 0.0}, "threshold = 0"),
        *(
            ({"release": release, "scale": 1.0, "influence": 4.0}, f"needs {missing}")
            for release, missing in (("generalized_gaussian", "power"), ("root", "degree"), ("clipped", "clip"))
        ),
    ],
    "per_record_sum": [
        ({"release": "square_root"} | SUMS, "not feasible for square_root", "valid with the first one: "),
        (SUM | {"population": None}, "needs population", "breaches"),
        (SUM | {"population": "pareto", "group_by": "state"}, "has no groups"),
        ({"release": "laplace", "scale": 2.0, "answer": -1.0}, "answer = -1"),
        (SUM | {"release": "clipped", "clip": 5.0, "answer": 7.0}, "depends on the records"),
        (SUM | {"value_high": None}, "needs value_high"),
    ],
    "privacy_loss": [
        ({"noise": "sinh_normal", "shift": 1.0, "rho": 0.1}, "sinh_normal needs omega"),
        ({"noise": "gaussian", "shift": 1.0, "rho": 0.1, "order": inf}, "order = inf"),
        ({"noise": "gaussian", "shift": 1.0, "rho": 0.1, "epsilon": inf}, "epsilon = inf"),
    ],
    "private_candidates": [
        ({"method": "poisson"} | CANDIDATES, "tries is missing"),
        ({"method": "poisson", "tries": 6.0} | CANDIDATES | {"omega": None}, "poisson needs omega"),
        ({"method": "all_runs"} | CANDIDATES | {"problem": "digits_svm"}, "k = 8", "digits_svm", "valid: 100"),
        ({"method": "obvious_answer"} | CANDIDATES, "noise is missing"),
    ],
    "pure_from_zcdp": [
        ({"n": 10, "rho": 0.06, "epsilon": 1}, "rho = 0.06", "rho <= alpha"),
        ({"n": 10, "epsilon": inf}, "epsilon"),
        ({"n": 1e6, "epsilon": 1e-3}, "n = 1e+06"),
    ],
    "quantiles": [
        ({"method": "joint", "rho": 2.0} | QUANTILES | {"n": None}, "needs n"),
        ({"method": "joint"} | QUANTILES, "neither rho nor epsilon"),
        ({"method": "square_root", "epsilon": 1} | QUANTILES, "1-DP", "square_root", "ZCDP or ApproxDP"),
        ({"method": "interior_points", "rho": 2.0} | QUANTILES | {"domain": "reals"}, "domain = reals"),
        ({"method": "interior_points", "rho": 2.0} | QUANTILES | {"neighbours": "add-remove"}, "neighbours = "),
        ({"method": "interior_points", "epsilon": 1} | QUANTILES, "valid: TCDP"),
        ({"method": "slices", "rho": 2.0} | QUANTILES, "2-zCDP", "slices", "ApproxDP"),
        ({"method": "slices", "epsilon": 1, "delta": 1e-6} | QUANTILES, "n = 60", "3 slices"),
        ({"method": "slices", "epsilon": 1, "delta": 1e-6} | QUANTILES | {"neighbours": "add-remove"}, "neighbours"),
    ],
    "smooth_sensitivity": [
        ({"method": "median"} | SMOOTH | {"smoothing": None}, "smoothing"),
        ({"method": "median"} | SMOOTH | {"smooth_noise": "sinh_normal"}, "infinite divergences"),
        ({"method": "median"} | SMOOTH | {"smooth_noise": "gaussian", "omega": None}, "infinite from order"),
    ],
    "subsampled": [
        (SAMPLED | {"scheme": "hybrid"}, "calibrated to epsilon", "poisson, without_replacement"),
        (SAMPLED | {"delta": None}, "gaussian needs delta"),
        (SAMPLED | {"delta": 0.3}, "delta = 0.3"),
        (SAMPLED | {"epsilon": None}, "gaussian needs rho"),
        (SAMPLED | {"epsilon": None, "rho": 0.1, "threshold": inf}, "threshold = inf"),
        (SAMPLED | {"base": "noise"}, "base = noise", "histogram, gap_max_data, thresholds"),
        (SAMPLED | {"noise": None}, "noise is missing"),
        (SAMPLED | {"base": "gap_max_data"}, "algorithm is missing"),
        (RANKED | {"rho": None}, "needs rho or epsilon"),
        (RANKED | {"threshold": 1.0}, "threshold", "base = gap_max_data"),
        (RANKED | {"algorithm": "sparse_vector"}, "sparse_vector needs a public threshold"),
        (RANKED | {"algorithm": "stability", "delta": 0.1, "epsilon": 1.0}, "stability is not pure DP"),
        (RANKED | {"epsilon": 1.0, "scheme": "hybrid"}, "calibrated to epsilon"),
        (RANKED | {"epsilon": -1.0}, "epsilon = -1"),
        (RANKED | {"m": 4}, "m = 4", "1 to 3"),
        (QUERIES | {"method": None}, "method is missing"),
        (QUERIES | {"scheme": "poisson"}, "'poisson'", "base = thresholds"),
        (QUERIES | {"epsilon": 1.0}, "epsilon", "base = thresholds"),
    ],
    "thresholds": [
        ({"method": "median"} | LINE, "needs noise"),
        ({"method": "median", "noise": "sinh_normal_tight"} | LINE | {"omega": None}, "needs omega"),
        ({"method": "windows", "noise": "gaussian"} | LINE | {"records": "departures_OO"}, "hold no window"),
    ],
    "training": [
        (RUN | {"delta": None}, "epsilon and delta are missing"),
        (RUN | {"sampler": "poisson_cut"}, "batch or most is missing"),
        (RUN | {"sampler": "poisson", "steps": 10_000}, "steps * epochs = 30,000", "20,000"),
        (RUN | {"sampler": "poisson_cut", "batch": 10, "most": 201}, "most = 201", "1 to 200"),
        (RUN | {"sampler": "shuffle_each_epoch", "direction": "backward", "delta": 1e-14}, "a larger delta"),
    ],
}


def options_of(name):
    return {key: value for key, value in groups.named("mechanism", name).items() if key != "name"}


def point_of(given):
    """A point as a study hands it to a mechanism: the noise as its spec."""
    noise = given.get("noise")
    return given | {"noise": groups.named("noise", noise) if isinstance(noise, str) else noise}


def counts_of(name):
    return COUNTS if "data" in MECHANISMS[name].axes else None


def law_of(name, given, options=None):
    """The law of a point of a mechanism, with the options of its config if none are given; made once."""
    key = (name, repr(sorted(given.items())), repr(options))
    if key not in _laws:
        _laws[key] = _law_of(name, given, options)
    return _laws[key]


_laws = {}


def _law_of(name, given, options):
    mechanism = MECHANISMS[name]
    data = {"data": COUNTS.name} if "data" in mechanism.axes else {}
    return mechanism.law(data | point_of(given), options or options_of(name), counts_of(name))


def built(name, law):
    return MECHANISMS[name].build(law, COUNTS.counts if "data" in MECHANISMS[name].axes else np.zeros(0))
