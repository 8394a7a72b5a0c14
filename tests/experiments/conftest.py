"""What the tests of experiments share."""

from dataclasses import replace
from pathlib import Path

import figure_rules
import pytest
import table_rules
from matplotlib.figure import Figure

from tcdp_sim.experiments.subsampling import theory
from tcdp_sim.results import published


@pytest.fixture
def files_of_figures():
    """For tests that look into the files of figures, not only for them."""


@pytest.fixture
def odd_studies():
    """For tests of studies that nobody looks at, whose figures need not keep to the rules."""


@pytest.fixture(autouse=True)
def figures_are_drawn(figures, monkeypatch, request):
    """Every study that is run here is drawn and laid out, but the files of its figures are empty, which is faster.

    They keep to the rules of figures, except in slow tests, which draw odd studies. Rules are read before a file
    is written, because that moves legends to places on its canvas.
    """
    broken = {}
    odd = request.node.get_closest_marker("slow") is not None or "odd_studies" in request.fixturenames

    def save(figure, path, **more):
        if not odd and Path(path).suffix == ".pdf" and (rules := figure_rules.broken(figure)):
            broken[Path(path).stem] = rules
        if "files_of_figures" in request.fixturenames:
            drawn(figure, path, **more)
        else:
            Path(path).touch()

    drawn = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", save)
    yield
    assert not broken


@pytest.fixture(autouse=True)
def tables_keep_the_contract(monkeypatch, request):
    """The table of every study that is run here, but of slow tests: see references/table_rules.py."""
    broken = {}
    odd = request.node.get_closest_marker("slow") is not None or "odd_studies" in request.fixturenames

    def read(*words):
        found = whole(*words)
        if not odd and (rules := table_rules.broken(found.experiment, found.table)):
            broken[found.folder.name] = rules
        return found

    whole = published.read
    monkeypatch.setattr(published, "read", read)
    yield
    assert not broken


@pytest.fixture
def table_of_command(command, monkeypatch, tables_keep_the_contract):
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


@pytest.fixture
def few_rows_of_theory(monkeypatch):
    """The theory of subsampling at three numbers of releases and 16 orders, in a tenth of the time."""
    monkeypatch.setattr(theory, "RELEASES", (1, 100, 1000))
    monkeypatch.setattr(theory, "ORDERS", 16)
    theory.rows.cache_clear()
    yield
    theory.rows.cache_clear()  # other tests have all orders
