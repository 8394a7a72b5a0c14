"""The command that prints the cheat sheet."""

import pytest

from tcdp_sim.privacy import cheat_sheet


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")


def test_every_row_is_printed_with_its_verdict(command, wide):
    code, out, err = command("cheat-sheet", "k=10", "sampling_fraction=0.01", "omega=50")
    assert (code, err) == (0, "")
    rows = cheat_sheet(0.1, 50.0, 1e-6, 1.0, k=10, sampling_fraction=0.01)
    for row in rows:
        lines = (line for line in out.splitlines() if line.strip().startswith(row.notion))
        found = [line for line in lines if row.what in line and row.formula in line]
        assert len(found) == 1, row.what
        assert (" yes " in found[0]) == row.valid
        assert (" NO " in found[0]) == (not row.valid and bool(row.value))
        if row.value:
            assert f"{row.value[0]:.6g}" in found[0]


def test_the_best_conversions_are_told(command, wide):
    """Numbers to reach: rho = 0.1 and (0.1, 5) at delta = 1e-6."""
    _, out, _ = command("cheat-sheet")
    assert "0.1-zCDP: (2.141939, 1e-06)-DP" in out
    assert "(0.1, 5)-tCDP: (3.328375, 1e-06)-DP" in out


def test_a_narrow_terminal_leaves_the_formulas_out(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = command("cheat-sheet")
    assert "formula" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_help(command):
    code, out, _ = command("cheat-sheet", "--help")
    assert code == 0
    assert "sampling_fraction" in out


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("rho=-1", "rho = -1 is not valid; valid: 0 < rho < inf"),
        ("omega=1", "omega = 1"),
        ("delta=x", "delta = 'x' is not a number"),
        ("gamma=1", "'gamma=1' is not KEY=VALUE with one of its keys; valid: rho, omega"),
        ("rho", "rho = '' is not a number"),
        ("k=1.5", "k = 1.5"),
        ("k=nan", "k = nan"),
        ("epsilon=inf", "epsilon = inf"),
        ("sampling_fraction=0", "sampling_fraction = 0"),
    ],
)
def test_a_mistake_is_one_line(command, word, said):
    code, out, err = command("cheat-sheet", word)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err
