"""The command that prints the cheat sheet."""

import re
from collections import Counter
from math import log, sqrt

import pytest

from tcdp_sim.privacy import TCDP, cheat_sheet


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")


def test_every_row_is_printed_with_its_verdict(command, wide):
    code, out, err = command("cheat-sheet", "k=10", "sampling_fraction=0.01", "omega=50")
    assert (code, err) == (0, "")
    rows = cheat_sheet(TCDP(0.1, 50.0), 1e-6, 1.0, k=10, sampling_probability=0.01)
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
    assert "0.1-zCDP: (2.14194, 1e-06)-DP" in out
    assert "(0.1, 5)-tCDP: (3.29203, 1e-06)-DP" in out


def test_the_best_conversions_are_for_the_delta_that_is_given(command, wide):
    """epsilon = 0.1 + 2 sqrt(0.1 log(1/delta)) of Bun and Steinke is an upper end, a quarter above the best at most."""
    epsilons = []
    for delta in ("1e-09", "0.0001"):
        _, out, _ = command("cheat-sheet", f"delta={delta}")
        (best,) = re.findall(rf"Best conversion of 0\.1-zCDP: \((\d\.\d+), {delta}\)-DP", out)
        assert re.search(rf"Best conversion of \(0\.1, 5\)-tCDP: \(\d\.\d+, {delta}\)-DP", out)
        epsilons.append(float(best) / (0.1 + 2 * sqrt(0.1 * -log(float(delta)))))
    assert 0.8 < min(epsilons) < max(epsilons) < 1


def on_a_terminal(monkeypatch, columns):
    """As on a terminal without colours: in a pipe tables are as wide as their words."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("rich.console.Console._detect_color_system", lambda _: None)
    monkeypatch.setattr("tcdp_sim.report.terminal.Terminal.is_terminal", True)


@pytest.mark.parametrize("columns", [40, 80, 129, 130])
def test_no_terminal_is_too_narrow_for_a_column(command, monkeypatch, columns):
    """Every character of every cell is printed, folded or not: white space is all that may differ."""
    on_a_terminal(monkeypatch, columns)
    _, out, _ = command("cheat-sheet", "k=3")
    assert "…" not in out
    printed = Counter("".join(out.split()))
    for row in cheat_sheet(TCDP(0.1, 5.0), 1e-6, 1.0, k=3):
        said = [row.notion, f"gives {row.guarantee}" if row.guarantee else "", row.what, row.formula, row.why]
        printed.subtract("".join(said).replace(" ", ""))
    assert min(printed.values()) >= 0
    table = out.split("Best conversion")[0]
    assert max(map(len, table.splitlines())) <= max(columns, 60)
    assert out.splitlines()[-1].startswith("Best conversion of (0.1, 5)-tCDP")


@pytest.mark.parametrize("columns", [80, 200])
def test_rows_of_one_noise_name_the_guarantee_that_each_gives(command, monkeypatch, columns):
    """Variance Delta^2 / (2 rho) = 5 is for 16 rho = 1.6, and 8 Delta^2 / rho = 80 for rho = 0.1 itself."""
    on_a_terminal(monkeypatch, columns)
    _, out, _ = command("cheat-sheet", "rho=0.1", "omega=5")
    lines = out.splitlines()
    given = [i for i, line in enumerate(lines) if "gives (1.6, 5)-tCDP" in line]
    assert len(given) == 1
    assert any(re.search(r" 5  yes ", line) for line in lines[given[0] - 2 : given[0] + 1])
    last = [i for i, line in enumerate(lines) if "gives (0.1, 5)-tCDP" in line][-1]
    assert re.search(r" 80  yes ", lines[last - 1])
    noises = [row for row in cheat_sheet(TCDP(0.1, 5.0), 1e-6, 1.0) if row.what.startswith("sinh-normal")]
    assert [row.notion for row in noises] == ["(16 rho, omega)-tCDP", "(rho, omega)-tCDP"]


def test_help(command):
    code, out, _ = command("cheat-sheet", "--help")
    assert code == 0
    assert "sampling_fraction" in out


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("rho=-1", "rho = -1 is not valid; valid: 0 < rho < inf"),
        ("omega=1", "omega = 1"),
        ("delta=x", "delta = 'x'"),
        ("gamma=1", "'gamma=1' is not KEY=VALUE with one of its keys; valid: rho, omega"),
        ("rho", "rho = ''"),
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
