"""The study of selection on data, from a small run on a user's table."""

import pytest

from tcdp_sim import results
from tcdp_sim.experiments import gap_max_data
from tcdp_sim.report import plots
from tcdp_sim.results import published

WORDS = ("experiment=gap_max_data", "cluster=serial", "trials=1000", "chunk=500", "sweep.rho=[0.01,1]")
OWN = ("data=csv", "data.path=t.csv", "data.column=item", "data.domain=100", "sweep.omega_sqrt_rho=4")


@pytest.fixture
def own(tmp_path, command):
    """A study of a table in which b leads by 37 of 100 candidates."""
    (tmp_path / "t.csv").write_text("item\n" + "a\n" * 3 + "b\n" * 40)

    def ran(*words):
        return command(*WORDS, *OWN, *words)

    return ran


def test_a_table_of_ones_own(own, tmp_path):
    code, out, err = own()
    assert (code, err) == (0, "")
    assert "lead by 37" in out
    table = published.table(gap_max_data, results.open_cells(tmp_path / "results" / "gap_max_data").load())
    assert set(table["gap"]) == {37}
    assert set(table["k"]) == {100}
    loud = table[table["rho"] == 1]
    assert (loud["top_selected_exact"] > 0.9).all()
    assert (table[table["rho"] == 0.01]["top_selected_exact"] < 0.9).all()
    with plots.style():
        found = {name: figure for name, figure, _ in gap_max_data.figures(table)}
    assert set(found) == {"selection_t.item"}
    said = [text.get_text() for text in found["selection_t.item"].legends[0].get_texts()]
    assert "the gap there is: 37" in said


def test_several_winners(own, tmp_path):
    code, out, err = own(
        "sweep.m=2", "sweep.algorithm=[generalized_histogram,exponential_mechanism]", "sweep.noise=gaussian"
    )
    assert (code, err) == (0, "")
    assert "lead by 3" in out
    assert (tmp_path / "results" / "gap_max_data" / "figures" / "selection_t.item_top_2.csv").exists()
