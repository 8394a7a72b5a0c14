"""The command: `python -m audit_gallery`, on a few outputs, in this process."""

import sys
from dataclasses import replace

import audit_gallery.__main__ as gallery
import pytest
from audit_gallery.held_out import held_out_rows
from audit_gallery.mechanisms import LaplaceVector
from audit_gallery.outcomes import kept
from audit_gallery.rows import Row

from tcdp_sim.audits import answer_pairs
from tcdp_sim.core import identity
from tcdp_sim.privacy import PureDP

SUM = Row(
    "lib_sum", LaplaceVector(10.0), PureDP(0.1), answer_pairs(1), True, "a sum", trials=2000, level=0.99, library=True
)


@pytest.fixture
def command(monkeypatch, tmp_path, capsys):
    """command(*words) -> (exit code, what was printed, complaints), in an empty folder and without workers."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["audit_gallery", "--workers", "0", *words])
        code = gallery.main()
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_rows_are_audited_both_ways_and_go_on_the_page(command, tmp_path):
    """The true claim would be refuted with probability 2e-6 for one choice of seeds, once."""
    words = ("noisy_hist_2", "laplace", "--trials", "20000", "--level", "0.999999")
    code, out, _ = command(*words, "--page", "page.md")
    assert code == 0
    assert out.count("noisy_hist_2: epsilon >= ") == 2
    assert "page: page.md" in out
    outcomes = {(each.name, each.ratios): each for each in kept(tmp_path / "results")}
    assert len(outcomes) == 4
    for (name, _), each in outcomes.items():
        assert each.refuted == (name == "noisy_hist_2")
        assert 0 <= each.bound < (10 if name == "noisy_hist_2" else 0.1)
        assert each.cpu > 0
        if not each.ratios:
            assert "that the mechanism gives" not in each.event
        assert each.sampling > 0
    assert "that the mechanism gives" in outcomes["noisy_hist_2", True].event
    text = (tmp_path / "page.md").read_text("utf-8")
    assert f"| {outcomes['noisy_hist_2', True].bound:.4g} |" in text
    assert 'ARGS="--trials 2e4 --level 0.999999 --page ' in text
    assert "Every bound holds at confidence 99.9999%" in text


def test_what_is_there_is_not_run_again_and_keeps_its_times(command, tmp_path):
    command("svt_5", "--trials", "20000")
    (first,) = kept(tmp_path / "results")
    command("svt_5", "--trials", "20000")
    assert kept(tmp_path / "results") == [first]


def test_the_page_names_the_command_exactly(command, tmp_path):
    command("laplace", "--trials", "20500", "--seed", "7", "--page", "page.md")
    text = (tmp_path / "page.md").read_text("utf-8")
    assert 'ARGS="--trials 2.05e4 --seed 7 --page ' in text
    assert "| laplace |" in text
    command("--only-page", "--trials", "20500", "--page", "page.md")
    assert "| laplace |" not in (tmp_path / "page.md").read_text("utf-8")  # another seed's


def test_a_page_has_the_sizes_of_its_rows_and_libraries_in_processes_of_their_own(command, tmp_path, monkeypatch):
    monkeypatch.setattr(gallery, "rows", list)
    monkeypatch.setattr(gallery, "held_out_rows", lambda: [replace(held_out_rows()[-1], trials=3000)])
    monkeypatch.setattr(gallery, "library_rows", lambda: ([SUM], ["lib is not installed: its rows are left out"]))
    code, out, _ = command("--workers", "2", "--page", "page.md")
    assert code == 0
    assert "lib is not installed" in out
    held, total = kept(tmp_path / "results")
    assert (held.name, held.trials, held.level, held.workers) == ("held_labels", 3000, 0.9, 2)
    assert (total.name, total.trials, total.level, total.workers) == ("lib_sum", 2000, 0.99, 0)
    text = (tmp_path / "page.md").read_text("utf-8")
    assert "| held_labels | 0.5-DP |" in text
    assert "| lib_sum | 0.1-DP | 2,000 |" in text
    assert 'ARGS="--page docs/reference/audit_gallery.md"' in text


def test_a_page_takes_no_seconds(command, capsys):
    with pytest.raises(SystemExit, match="2"):
        command("--seconds", "1", "--page", "page.md")
    assert "--seconds does not go with --trials or --page" in capsys.readouterr().err


def test_an_unknown_row_is_one_line_and_exit_code_2(command):
    code, out, err = command("svt_7")
    assert (code, out) == (2, "")
    assert err.startswith("row 'svt_7' is not known; valid: laplace, ")
    assert err.count("\n") == 1


def test_every_row_is_known_by_its_code_and_settings_with_and_without_ratios():
    """So that a stopped audit goes on, and that of a row with other settings never does."""
    from audit_gallery.libraries import library_rows
    from audit_gallery.rows import rows

    seen = set()
    for row in [*rows(), *library_rows()[0]]:
        for mechanism in (row.mechanism, row.mechanism.__call__):
            known = identity.identity(mechanism)
            assert known is not None, row.name
            seen.add((known["name"], known["source"]))
    assert len(seen) == 2 * len({row.mechanism for row in [*rows(), *library_rows()[0]]})
