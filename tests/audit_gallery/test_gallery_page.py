"""The page of results: what it takes from outcomes, from the rows and from the exact laws."""

from dataclasses import replace

import pytest
from audit_gallery.held_out import held_out_rows
from audit_gallery.outcomes import Outcome, Size, keep, kept
from audit_gallery.page import page
from audit_gallery.rows import Row, rows

from tcdp_sim.audits import answer_pairs
from tcdp_sim.privacy import ZCDP

MADE_UP = Outcome(
    name="svt_6", ratios=True, trials=1000, level=0.9, workers=0, measure="epsilon", bound=0.2, refuted=True,
    pair="(1) and (0), likelier under the first", event="output >= 3", drawn=1500, seconds=1.6, cpu=2.6, sampling=0.4,
)  # fmt: skip


LIBRARY = Row("lib_sum", None, ZCDP(0.5), answer_pairs(1), True, "a sum of a library", trials=777, library=True)


def cells(text, name):
    (line,) = (line for line in text.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def written(*outcomes):
    groups = rows(), held_out_rows(), [LIBRARY]
    sizes = {row.name: Size(1000, None, 0.9, 1) for group in groups for row in group}
    return page(groups, sizes, outcomes, "--trials 1000")


def test_outcomes_are_kept_and_read(tmp_path):
    others = [replace(MADE_UP, ratios=False), replace(MADE_UP, trials=2000), replace(MADE_UP, bound=0.3)]
    others.append(replace(MADE_UP, trials=3000, seed=2))
    for each in (MADE_UP, *others):
        keep(each, tmp_path)
    assert sorted(kept(tmp_path), key=lambda x: (x.trials, x.ratios)) == [others[0], *others[2:0:-1], others[3]]
    assert replace(MADE_UP, seed=2).key != MADE_UP.key
    assert kept(tmp_path / "nowhere") == []


def test_the_page_shows_both_ways_beside_the_truth_and_others_numbers():
    blind = replace(MADE_UP, ratios=False, bound=0.05, refuted=False, seconds=2.4)
    text = written(MADE_UP, blind)
    row = next(row for row in rows() if row.name == "svt_6")
    best = row.best(1000, 0.9).epsilon
    name, claim, true, limit, ratios, _, outputs, *_, verdict = cells(text, "svt_6")
    assert (name, claim, true, ratios, outputs, verdict) == ("svt_6", "0.1-DP", "0.42", "0.2", "0.05", "refuted")
    assert float(limit) == pytest.approx(best, rel=1e-3)
    assert cells(text, "svt_6")[8:12] == ["0.272 / 0.2698 (91)", "0.322", "2.6", "0.4"]
    assert "| laplace |" not in text  # not audited
    assert "that are held out" not in text
    assert "## Mechanisms of libraries" not in text
    assert "Event: output >= 3. Inputs: (1) and (0), likelier under the first." in text
    assert "1,000 outputs" in text
    assert "both hold together at 80%" in text


@pytest.mark.parametrize(
    ("name", "refuted", "verdict"),
    [("laplace", True, "refuted, though sound"), ("svt_3", False, "not refuted, though broken"),
     ("laplace", False, "not refuted"), ("inverted_laplace", True, "refuted")],
)  # fmt: skip
def test_wrong_verdicts_are_marked(name, refuted, verdict):
    assert cells(written(replace(MADE_UP, name=name, refuted=refuted)), name)[-1] == verdict


def test_held_out_mechanisms_and_libraries_have_tables_of_their_own():
    held = replace(MADE_UP, name="held_labels", ratios=False, bound=1.2)
    library = replace(MADE_UP, name="lib_sum", ratios=False, trials=777, measure="rho", bound=0.4, refuted=False)
    text = written(held, library)
    assert cells(text, "held_labels") == ["held_labels", "0.5-DP", "1.204", "1.2", "refuted"]
    assert cells(text, "lib_sum") == ["lib_sum", "0.5-zCDP", "777", "ρ ≥ 0.4", "not refuted"]
    assert "published audits" not in text
    assert "- **lib_sum**: a sum of a library." in text
