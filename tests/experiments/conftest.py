"""What the tests of experiments share."""

from dataclasses import replace
from pathlib import Path

import pytest
from figure_rules import beyond_the_paper, broken_rules
from matplotlib.figure import Figure

from tcdp_sim.results import published

KEPT = {
    "test_crossover_experiment",
    "test_gap_max_data_experiment",
    "test_gap_max_experiment",
    "test_gap_max_names_experiment",
    "test_histogram_experiment",
    "test_information_experiment",
    "test_interior_point_experiment",
    "test_optimal_noise_experiment",
    "test_partition_selection_experiment",
    "test_per_record_policy_experiment",
    "test_per_record_splitting_experiment",
    "test_per_record_sums",
    "test_plain",
    "test_privacy_loss_experiment",
    "test_private_candidates_experiment",
    "test_sinh_normal_experiment",
    "test_smooth_sensitivity_experiment",
    "test_subsampling_experiment",
    "test_tightness_experiment",
}


@pytest.fixture
def files_of_figures():
    """For tests that look into the files of figures, not only for them."""


@pytest.fixture(autouse=True)
def figures_are_drawn(figures, monkeypatch, request):
    """Every study that is run here is drawn and laid out, but the files of its figures are empty, which is faster.

    The figures of the KEPT experiments keep to the rules, except in slow tests, which draw odd studies.
    """
    broken = {}
    kept = request.node.path.stem in KEPT and request.node.get_closest_marker("slow") is None

    def save(figure, path, **more):
        if kept and Path(path).suffix == ".png" and (rules := broken_rules(figure) + beyond_the_paper(figure)):
            broken[Path(path).stem] = rules
        if "files_of_figures" in request.fixturenames:
            drawn(figure, path, **more)
        else:
            Path(path).touch()

    drawn = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", save)
    yield
    assert not broken


@pytest.fixture
def table_of_command(command, monkeypatch):
    """table_of_command(*words) -> the table that the command line makes of a study and draws: it is not made twice."""
    made = []

    def read(*words):
        made.append(whole(*words))
        return replace(made[-1], table=made[-1].table.copy())

    whole = published.read
    monkeypatch.setattr(published, "read", read)

    def run(*words):
        code, _, err = command(*words)
        assert code == 0, err
        return made[-1].table

    return run
