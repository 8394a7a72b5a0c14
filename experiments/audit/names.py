"""Names of audited methods for the reader, in groups."""

from tcdp_sim.experiments.gap_max.series import ALGORITHMS
from tcdp_sim.report.labels import short

METHODS = {
    "ledger_noises": "ledger: answers with unequal noises",
    "ledger_discrete_gaussian": "ledger: discrete Gaussian noise",
    "ledger_responses": "ledger: randomised responses",
    "ledger_bounded_range": "ledger: exponential mechanisms",
    "ledger_samples": "ledger: answers from samples",
    "ledger_new_key": "ledger: a key above a threshold",
    "keys_above": "keys: released above a threshold",
    "keys_at_least": "keys: released from a threshold on",
    "keys_several": "keys: several of a person",
    "keys_best": "keys: optimal partition selection",
    "quantile_exponential": "quantiles: exponential mechanism",
    "quantiles_joint": "quantiles: JointExp",
    "quantiles_recursive": "quantiles: AQ, recursive",
    "prefix_sums_square_root": "prefix sums: square root",
    "prefix_sums_tree": "prefix sums: binary tree",
    "allocation_poisson": "random step: of few",
    "allocation_steps": "random step: of many",
    "candidates_answers": "best of runs: answers",
    "candidates_scores": "best of runs: noisy scores",
}


def in_words(name: str) -> str:
    """Return the name of an audited method, algorithm or noise for the reader: "Alg. 21, Gaussian"."""
    first, comma, rest = name.partition(", ")
    known = METHODS | {algorithm: short(text) for algorithm, text in ALGORITHMS.items()}
    return known.get(first, first.replace("_", " ")) + comma + rest


def group(name: str) -> str:
    """Return the group of a method: the words before the colon, or "" for an answer or a selection."""
    return in_words(name).partition(":")[0] if ":" in in_words(name) else ""
