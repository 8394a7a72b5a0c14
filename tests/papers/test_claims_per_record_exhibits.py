"""Tables 1 to 3 of the per-record paper and the figure of policies: literal numbers, and what has to hold of all."""

import mpmath as mp
import numpy as np
import pytest

from tcdp_sim.experiments.papers.per_record import policies_figure, tables
from tcdp_sim.experiments.papers.registry import Budget


@pytest.fixture(scope="module")
def policies():
    return policies_figure.policies(Budget())


def test_table_1():
    table = tables.table_1(Budget())
    assert list(table["split, exact"]) == pytest.approx([0.25, 0.25, 1, 4, 9, 1e6])
    assert list(table["split, printed"]) == [1, 1, 1, 4, 9, 1e6]
    assert list(table["root, exact"].round(1)) == list(table["root, printed"])
    assert list(table["log, exact"].round(1)) == list(table["log, printed"])
    assert table["Gaussian, error of root"].iloc[5] == pytest.approx(0.65023, rel=1e-4)


def test_table_2():
    """The square root at y = 102, σ = 1.5: 2·5.0625 + 4·2.25·102; the logarithm: (e^2.25 - 1) 102²."""
    table = tables.table_2(Budget()).set_index("name")
    assert list(table["mean"]) == pytest.approx([100] * 5, rel=1e-9)
    assert list(table["verdict"]) == ["holds"] * 5
    variance = table["variance, exact"]
    assert variance["square root"] == pytest.approx(928.125, rel=1e-9)
    assert variance["logarithm"] == pytest.approx(float((mp.exp("2.25") - 1) * 102**2), rel=1e-9)


def test_table_3():
    table = tables.table_3(Budget())
    wrong = table[table["verdict"] != "holds"]
    assert wrong[["entry", "power", "class"]].to_numpy().tolist() == [["variance", "p = 1", "text damaged"]]
    assert wrong[["printed", "exact"]].to_numpy().tolist() == [[pytest.approx(60), pytest.approx(12)]]
    assert table["power"].value_counts().to_dict() == {"p = 1": 4, "p = 2": 4}
    assert list(table["class"]) == ["holds", "holds", "text damaged", "ours"] + ["ours"] * 4


def test_all_releases_agree_on_the_small_record(policies):
    assert policies[policies["influence"] == 1]["exact"].to_numpy() == pytest.approx(np.full(8, 0.05), rel=1e-6)


def test_no_policy_is_above_what_is_printed(policies):
    assert (policies["lower"] <= policies["printed"] * (1 + 1e-9)).all()


def test_the_largest_record(policies):
    """Gaussian t² · 0.05, square root t · 0.05, fourth root √t · 0.05; the logarithm 0.05 (log(1 + t) / log 2)²."""
    largest = policies[policies["influence"] > 9.9e5].set_index("release")["exact"]
    truth = {"Gaussian": 5e10, "square root, a = 0": 5e4, "fourth root, a = 0": 50.0}
    truth["logarithm, a = 1"] = float(mp.log(1e6 + 1) ** 2 / mp.log(2) ** 2 / 20)
    for name, value in truth.items():
        assert largest[name] == pytest.approx(value, rel=1e-6), name


def test_the_laplace_line(policies):
    """By its closed form, t/b + e^(-t/b) - 1, with b from the small record."""
    ratio = mp.findroot(lambda x: x + mp.exp(-x) - 1 - mp.mpf("0.05"), 0.3)
    rows = policies[policies["release"] == "Laplace"]
    truth = [float(ratio * t + mp.exp(-ratio * t) - 1) for t in rows["influence"]]
    assert rows["exact"].to_numpy() == pytest.approx(np.array(truth), rel=1e-6)


def test_the_figure_has_a_line_and_dots_for_each_release(policies):
    axes = policies_figure.draw(policies).axes[0]
    assert len(axes.lines) == 16
    assert [text.get_text() for text in axes.get_legend().get_texts()][-1].startswith("as printed")
    assert "nats" in axes.get_ylabel()
