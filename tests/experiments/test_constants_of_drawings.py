"""Every number that is fixed in an experiment's code has a reason why no axis of a sweep can contradict it."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "experiments"
LOOKS = {"color", "linewidth", "linestyle", "alpha", "marker", "markevery", "fillstyle", "fontsize"}

# layout: sizes, places and numbers of panels, entries, ticks and points of a line
LAYOUT = """
    correlated_noise.MOST_PANELS
    allocation.MOST_PROFILES audit.drawing.TICKS audit.drawing.APART audit.tails.MOST_PANELS audit.tails.ACROSS
    census.drawing.SMALLEST gap_max.drawing.FINE gap_max.drawing.STEPS gap_max.drawing.HUGE gap_max.series.LETTERS
    gap_max.series.DASHES
    histogram.best_additive.COORDINATES histogram.best_additive.STEPS histogram.best_additive.MOST
    histogram.drawing.MOST_KEYS histogram.drawing.MOST_PANELS histogram.drawing.STEPS histogram.figure_list.MOST_LEVELS
    histogram.series.MOST_SERIES information.MOST_PANELS interior_point.drawing.MOST_DOMAINS ledger.FINE
    ledger.drawing.ACROSS ledger.drawing.OPEN optimal_noise.MOST_PANELS optimal_noise.BAND
    per_record_error.drawing.WIDTHS per_record_error.SHARES per_record_policy.FINE per_record_policy.drawing.LOWEST
    per_record_splitting.FINE per_record_splitting.UNITS_OF_VALUE per_record_tradeoff.LARGEST plain.MOST_SERIES
    plain.WIDE privacy_loss.FINE quantiles.by_records.FLOOR quantiles.curves.SPAN quantiles.maps.LIGHT
    sinh_normal.FINE sinh_normal.MOST_BINS sinh_normal.COLUMNS sinh_normal.FAR smooth_sensitivity.cost.SIDE
    smooth_sensitivity.drawing.MOST_TICKS subsampling.FINE
    subsampling.LEAST_SHARE subsampling.drawing.LOWEST subsampling.drawing.FLOOR
    subsampling.theory.ORDERS subsampling.theory.RELEASES
    subsampling.theory.MOST_FRACTIONS thresholds.break_even.LEAST_SIZES tightness.FINE tightness.claims.ORDERS
    tightness.claims.PRINTED private_candidates.CELLS private_candidates.LEAST
    training.drawing.SHADE training.drawing.WIDE training.drawing.MOST_PANELS training.drawing.LOWEST
"""
# accuracy: tolerances, and sizes up to which an exact value or a search is made
ACCURACY = """
    census.exact_values.TOLERANCE crossover.LARGEST_K crossover.BEYOND histogram.best_additive.LARGEST_K
    histogram.best_additive.LEAST_RHO information.RESOLVED interior_point.EXACT_UP_TO optimal_noise.NEAR
    allocation._CLOSE training.exact_values._CLOSE training.exact_values._FLOOR losses._BELOW losses._ZERO
    correlated_noise._FINE
    ledger.exact_values.DELTA_TOLERANCE ledger.exact_values.BRACKETS per_record.exact_values.LARGEST_LOG
    per_record.exact_values.LOWEST per_record_policy.exact_values._LEAST per_record_policy.looseness._REACH
    per_record_splitting.claims.DIGITS quantiles.exact_values.MOST_JOINT quantiles.exact_values.MOST_RECURSIVE
    quantiles.exact_values.MOST_SINGLE subsampling.theory.LEAST_RECORDS quantiles.loss_laws.MOST_SINGLE
    partition_selection.MOST_MOVED interior_point.LISTED_UP_TO laws.NEGLIGIBLE laws.ROUNDING ledger.BOUND
    per_record_splitting.errors.FAR smooth_sensitivity.TAIL subsampling.theory.HALVINGS
"""
# definition: what a drawn quantity is, such as the level of a quantile; its name on the axis or in the title says so
DEFINITION = """
    audit.LEVEL audit.SHARE census.QUANTILE crossover.LEVEL crossover.GAINS crossover.FIRST gap_max.exact_values.BETA
    gap_max.exact_values.LEVELS histogram.drawing.LEVEL histogram.tables.FAILURE interior_point.series.GOAL
    per_record.exact_values.EXACT per_record.series.POWER per_record_error.QUANTILES per_record_groups.BAND
    per_record_policy.drawing.CLOSE per_record_policy.exact_values.ROOTS smooth_sensitivity.LEVEL
    subsampling.drawing.AMPLIFIED thresholds.BAND tightness.MOVED
    privacy_loss.drawing.LEVEL subsampling.drawing.SEEN interior_point.budget.DEPTHS
    pure_from_zcdp.PROMISED_ERROR subsampling.theory.MEMBERSHIP gap_max.exact_values.UNKNOWN
    per_record_splitting.errors.EXACT thresholds.compared.AT
    training.drawing.ONE_PERCENT
"""
# own: a figure or table of theory whose parameters belong to no cell; it states them itself
OWN = """
    gap_max.name_problems.SIZES gap_max.name_problems.SIMULATED_AT interior_point.budget.LOGLOG
    per_record_policy.DELTA per_record_policy.drawing.DELTA per_record_policy.looseness.LOSSES
    per_record_splitting.paper.EMPLOYEES per_record_splitting.paper.SPLIT per_record_splitting.paper.FOURTH_ROOT
    private_candidates.ORDERS private_candidates.MEANS private_candidates.RUN smooth_sensitivity.cost.TARGETS
    tightness.claims.PRINTED_FROM
"""
# follows: the sweep decides, and the number is what holds without an axis or chooses among its values
FOLLOWS = "subsampling.theory.PROFILE_NEAR subsampling.theory.DELTA"
REASONS = [LAYOUT, ACCURACY, DEFINITION, OWN, FOLLOWS]


def fixed_numbers():
    """Yield the names of all constants of modules that have a number, but for looks of lines and markers."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[0] == "papers":
            continue
        module = ".".join(part for part in parts if part != "__init__")
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.Assign) and _has_number(node.value):
                target = node.targets[0].elts[0] if isinstance(node.targets[0], ast.Tuple) else node.targets[0]
                if isinstance(target, ast.Name):
                    yield f"{module}.{target.id}"


def _has_number(tree):
    texts = {each.value for each in ast.walk(tree) if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    numbers = (each.value for each in ast.walk(tree) if isinstance(each, ast.Constant))
    return not texts & LOOKS and any(type(value) in (int, float) for value in numbers)


def test_every_fixed_number_has_one_reason():
    known = [name for reason in REASONS for name in reason.split()]
    assert len(known) == len(set(known))
    found = set(fixed_numbers())
    new = found - set(known)
    assert not new, f"follow the sweep, or give a reason: {sorted(new)}"
    assert not set(known) - found


@pytest.mark.parametrize("s", [0.3, 0.02])
def test_theory_of_subsampling_is_at_the_fraction_of_the_sweep(table_of_command, few_rows_of_theory, s):
    """One fraction: no row, panel or title has another one."""
    words = ("experiment=subsampling", "cluster=serial", "trials=50", "chunk=50", "also=null", "sweep.noise=laplace")
    table = table_of_command(*words, "sweep.threshold=[0.5]", f"sweep.sampling_fraction={s}")
    theory = table[table["figure"].isin(["curve", "profile", "releases"])]
    assert set(theory["figure"]) == {"curve", "profile", "releases"}
    assert set(theory["fraction"]) == {s}
