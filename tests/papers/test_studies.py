"""The studies of the papers: run once, extended by the full run, and read by claims as they were published."""

import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.experiments.papers.gather import studies
from tcdp_sim.experiments.papers.gather.paper_studies import STUDIES, PaperStudy
from tcdp_sim.experiments.papers.gather.runs import opened
from tcdp_sim.statistics.intervals import simulated_proportion
from tcdp_sim.store import columns, source

SWEEP = {"noise": ["gaussian", "laplace"], "k": [10, 1e6], "rho": [0.1, 0.5]}


@pytest.fixture
def small(monkeypatch):
    """A study of a second."""
    study = PaperStudy("histogram", fast=200, full=600, chunk=200, keys={"also": None, "sweep": SWEEP})
    monkeypatch.setattr(studies, "STUDIES", {"small": study})


def run(folder, full=False):
    lines = []
    studies.run_all(["small"], full, folder, "serial", lines.append)
    return "\n".join(lines)


def test_a_study_runs_once_and_the_full_one_goes_on_with_it(small, tmp_path):
    assert "8 cells x 200 trials; 8 of 8 chunks to simulate" in run(tmp_path)
    fast = studies.snapshot(tmp_path, "small")
    assert run(tmp_path) == ""
    assert "8 cells x 600 trials; 16 of 24 chunks to simulate" in run(tmp_path, full=True)
    assert studies.snapshot(tmp_path, "small") != fast
    assert "nothing to simulate" in run(tmp_path)  # the fast results are published again
    assert studies.snapshot(tmp_path, "small") == fast


def test_damaged_results_are_published_again(small, tmp_path):
    run(tmp_path)
    whole = studies.snapshot(tmp_path, "small")
    tree = (tmp_path / "runs" / "small" / "results.zarr").resolve()
    chunk = next(path for path in sorted(tree.rglob("c/*")) if path.is_file() and path.stat().st_size > 20)
    data = bytearray(chunk.read_bytes())
    data[10] ^= 1
    chunk.write_bytes(bytes(data))
    assert "nothing to simulate" in run(tmp_path)
    assert studies.snapshot(tmp_path, "small") == whole


def test_cells_are_found_by_their_coordinates_and_read(small, tmp_path):
    run(tmp_path)
    read = opened(tmp_path / "runs" / "small")
    assert len(read.cells(noise="gaussian")) == 4
    cell = read.cell(noise="gaussian", k=1e6, rho=0.5)
    assert (cell["noise"], cell["k"], cell["trials"]) == ("gaussian", 1e6, 200)
    assert cell.mechanism.bins == 1e6
    name = columns.exceeds("linf_error", "printed")
    side = cell.proportion(name)
    assert side == simulated_proportion(round(float(cell[name]) * 200), 200)
    mean, median = cell.mean("linf_error"), cell.quantile("linf_error", 0.5)
    assert mean.lower < float(cell["linf_error_mean"]) == mean.estimate < mean.upper
    assert mean.trials == median.trials == 200
    published = float(cell["linf_error_quantile"][list(columns.QUANTILES).index(0.5)])
    assert median.lower < published < median.upper
    assert median.estimate == pytest.approx(published, rel=4e-3)  # a bin
    with pytest.raises(ValueError, match="4 cells"):
        read.cell(noise="gaussian")
    with pytest.raises(ValueError, match="0 cells"):
        read.cell(noise="gaussian", k=11)


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_settings(name, tmp_path):
    for full in (False, True):
        checked = studies.study_settings(name, full, tmp_path, "serial")
        assert checked.chunks * checked.chunk == STUDIES[name].arguments(full)["trials"]
        assert checked.folder == tmp_path / "runs" / name


def an_eighth(mechanism):
    """A value that is wrong."""
    return 0.125


def test_a_study_whose_exact_functions_have_changed_is_published_again(small, tmp_path, monkeypatch):
    from tcdp_sim.experiments import histogram

    run(tmp_path)
    before = studies.snapshot(tmp_path, "small")
    monkeypatch.setitem(histogram.EXACT, "top_stays", an_eighth)
    assert "nothing to simulate" in run(tmp_path)
    assert studies.snapshot(tmp_path, "small") != before


def test_results_of_other_code_are_not_believed(small, tmp_path, monkeypatch):
    """The published numbers of a sampler that has been edited since are not those of the paper's claims today."""
    run(tmp_path)
    monkeypatch.setattr(source, "own", lambda: "edited")
    monkeypatch.setattr(source, "loaded", source.loaded.__wrapped__)
    assert studies.unpublished(["small"], False, tmp_path, "serial") == ["small"]
    with pytest.raises(UserError, match="runs/small has chunks of another state of the files of tcdp_sim"):
        run(tmp_path)
