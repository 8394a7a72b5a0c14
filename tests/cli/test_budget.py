"""`tcdp-sim budget`: a file of errors becomes a table, a CSV and a figure; mistakes name the file and the line."""

from pathlib import Path

import figure_rules
import pandas as pd
import pytest

from tcdp_sim.accounting.planning.curve import RiskCurve
from tcdp_sim.report import budget_figure
from tcdp_sim.report.plots import new_figure, style

EXAMPLE = Path(__file__).parents[2] / "examples" / "budget.yaml"


def written(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text, "utf-8")
    return str(path)


@pytest.mark.parametrize("columns", [30, 80, 200])
def test_the_example_prints_every_column(command, tmp_path, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, err = command("budget", str(EXAMPLE), str(tmp_path))
    assert (code, err) == (0, "")
    flat = "".join(out.split())
    for word in ("release", "error", "bound", "deviation", "noise", "times", "rho", "share", "…"):
        assert (word in flat) == (word != "…")
    for word in (
        "medianage",
        "discretegaussiansigma4.7",
        "exponentialmechanismepsilon0.1",
        "0.0947349-zCDP",
        "epsilon=1.943",
        "atmost58.6",
    ):
        assert word in flat or columns < 200
    for cell in ("23.1%", "0.02192", "40.95"):
        assert cell in out
    table = pd.read_csv(tmp_path / "budget.csv")
    assert list(table["bound"]) == [20, 10, 5, 40, 100]
    assert (table["error"] <= table["bound"] * (1 + 1e-9)).all()
    assert table["rho"].sum() == pytest.approx(0.0947349, abs=1e-6)
    assert (tmp_path / "budget.png").read_bytes()[:4] == b"\x89PNG"


def test_a_budget_is_split(command, tmp_path):
    file = written(
        tmp_path,
        "releases:\n  - {deviation: , weight: 1}\n  - {deviation: , weight: 2}\n  - {deviation: , weight: 5}\n"
        "budget: {rho: 0.5}\nobjective: variance\n",
    )
    code, out, _ = command("budget", file, str(tmp_path))
    assert code == 0
    assert "21.6252, certified" in out  # 21.62512, rounded up
    assert "30.4%" in out


@pytest.mark.parametrize(
    ("line", "message", "text"),
    [
        ("", "no releases", "delta: 1e-6\n"),
        ("", "no releases", ""),
        (":2", "not a number|valid: 0 < deviation", "releases:\n  - deviation: -5\n"),
        (":3", "a number", "releases:\n  - deviation: 5\n    weight: heavy\n"),
        (":3", "did you mean noise", "releases:\n  - deviation: 5\n    noize: laplace\n"),
        (":3", "noise = 'laplaec'", "releases:\n  - deviation: 5\n    noise: laplaec\n"),
        (":2", "no error", "releases:\n  - name: x\n"),
        (":2", "largest_error and deviation", "releases:\n  - {deviation: 5, largest_error: 3}\n"),
        (":3", "is not a key here", "releases:\n  - deviation: 5\nbudgets: 3\n"),
        (":3", "rho = -1", "releases:\n  - deviation: 5\nbudget: {rho: -1}\n"),
        (":3", "epsilon alone", "releases:\n  - deviation: 5\nbudget: {delta: 1e-6}\n"),
        (":1", "not a mapping", "releases:\n  - 5\n"),
        ("", "no finite budget", "releases:\n  - deviation: 5\nnotion: pure_dp\n"),
        ("", "objective = 'best'", "releases:\n  - deviation: 5\nobjective: best\n"),
        (":2", "YAML", "releases: [\n"),
    ],
)
def test_mistakes_are_refused_in_one_line(command, tmp_path, line, message, text):
    file = written(tmp_path, text)
    code, out, err = command("budget", file, str(tmp_path))
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert f"mine.yaml{line}" in err
    assert any(each in err for each in message.split("|"))


def test_missing_files_and_folders_are_refused(command, tmp_path):
    code, _, err = command("budget", str(tmp_path / "none.yaml"))
    assert code == 2
    assert "no such file" in err
    code, _, err = command("budget", str(EXAMPLE), str(EXAMPLE))
    assert code == 2
    assert "budget.yaml" in err


def test_a_figure_has_at_most_eight_lines_of_releases_and_says_so(tmp_path):
    names, epsilon = [f"release {i}" for i in range(11)], [0.5, 1.0, 2.0]
    curve = RiskCurve(names, [[4.0, 2.0, 1.0]] * 11, epsilon, [0.55, 0.6, 0.7])
    _, panels = new_figure(1, 2, 9.0, 3.8)
    budget_figure._errors(panels[0, 0], curve, 1, 0)
    legend = panels[0, 0].get_legend()
    assert len(panels[0, 0].get_lines()) == len(legend.get_texts()) == 8
    assert legend.get_title().get_text() == "3 more releases are not shown"
    assert panels[0, 0].get_title() == "Errors twice as large take epsilon from 1 to 0.5"
    budget_figure._risk(panels[0, 1], curve, 1)
    assert "60.0%" in panels[0, 1].get_title()


@pytest.mark.parametrize("count", [1, 4, 8, 11])
@pytest.mark.parametrize("name", ["release {}", "a name that is too long for the legend of a panel, number {}"])
def test_the_figure_keeps_to_the_rules_of_figures(count, name):
    factors = [0.25, 0.5, 1.0, 2.0, 4.0]
    epsilon, success = [7.9, 3.1, 1.3, 0.61, 0.3], [0.97, 0.85, 0.71, 0.62, 0.56]
    errors = [[(i + 1) * 3.7 * factor for factor in factors] for i in range(count)]
    with style():
        figure = budget_figure.drawn(
            RiskCurve([name.format(i) for i in range(count)], errors, epsilon, success), factors, 1e-6
        )
        figure.draw_without_rendering()
    assert figure_rules.broken(figure) == []


def test_help_lists_the_command(command):
    _, out, _ = command("--help")
    assert "tcdp-sim budget FILE.yaml [FOLDER]" in out
    _, out, _ = command("budget", "--help")
    assert "docs/howto/budget.md" in out
