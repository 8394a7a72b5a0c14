"""`make bench-training` without its environment: the page, its pins, and dp_accounting beside the brackets."""

import pytest

from benchmarks.training import libraries
from benchmarks.training.__main__ import HEADINGS, PINS, WORDS, page
from benchmarks.training.runs import COMMON, RUNS
from tcdp_sim.accounting import training_report
from tcdp_sim.accounting.training import SAMPLERS


def bracket(sampler):
    relation, more = RUNS[sampler]
    rows = training_report(sampler, **COMMON, **more).rows
    return next(row.epsilon for row in rows if row.relation == relation)


def test_all_runs_are_runs_of_a_sampler():
    assert set(RUNS) == set(WORDS) <= set(SAMPLERS)
    assert all(bracket(sampler) is not None for sampler in RUNS)


def test_all_libraries_are_pinned():
    pinned = {line.partition("==")[0] for line in PINS.read_text().splitlines()}
    assert {"opacus", "jax_privacy", "dp-accounting"} <= pinned


@pytest.fixture(scope="module")
def theirs():
    return list(libraries.of_dp_accounting())


def test_no_answer_of_dp_accounting_is_below_the_least_epsilon(theirs):
    for _, method, sampler, epsilon, _ in theirs:
        found = bracket(sampler)
        assert epsilon >= found.lower * (1 - 1e-4), (method, sampler)
        if (method, sampler) == ("PLD", "poisson"):
            assert epsilon == pytest.approx(found.upper, rel=1e-3)


def test_the_page_has_a_row_for_each_answer_and_one_for_each_bracket(theirs):
    answers = [
        {"library": library, "method": method, "sampler": sampler, "epsilon": epsilon, "note": note}
        for library, method, sampler, epsilon, note in theirs
    ]
    none = {"library": "other", "method": "Monte Carlo", "sampler": "same_bins", "epsilon": None, "note": "too long"}
    rows = [line for line in page([*answers, none], "today").splitlines() if line.startswith("|")]
    assert rows[0] == f"| {' | '.join(HEADINGS)} |"
    assert len(rows) == 2 + len(answers) + 1 + len(RUNS)
    assert sum("tcdp_sim" in row for row in rows) == len(RUNS)
    assert next(row for row in rows if "| other |" in row).split(" | ")[-2:] == ["", "too long |"]
