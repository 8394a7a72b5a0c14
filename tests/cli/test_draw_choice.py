"""`tcdp-sim draw RUN figures=NAME,NAME` draws the chosen figures alone, and nothing after the last one."""

import shutil

import pytest

from tcdp_sim.experiments import histogram
from tcdp_sim.report import plots
from tcdp_sim.store import figure_record

TWO = ("sweep.k=[10,100]", "sweep.noise=gaussian", "also=null")
FIRST, SECOND = "exceedance_one_bin", "error_vs_k_one_bin"
pytestmark = pytest.mark.usefixtures("figures")


@pytest.fixture
def run(tiny, tiny_once, folder):
    """Return the folder of a run with two figures, and a function that draws a choice -> (code, stdout, stderr)."""
    tiny_once(*TWO)
    return folder, lambda *words: tiny(*TWO, "draw", *words)


def forget(folder):
    """Remove figures and record, so that everything is to be drawn."""
    shutil.rmtree(folder / "figures")
    (folder / figure_record.NAME).unlink(missing_ok=True)


def shown(out, word):
    return [line.rpartition("/")[2] for line in out.splitlines() if line.startswith(f"{word}: ")]


def test_chosen_figures_alone_are_drawn(run):
    folder, draw = run
    assert {path.stem for path in (folder / "figures").iterdir()} == {FIRST, SECOND}
    for name in (FIRST, SECOND):
        forget(folder)
        code, out, err = draw(f"figures={name}")
        assert (code, err, shown(out, "figure")) == (0, "", [f"{name}.png"])
        assert {path.stem for path in (folder / "figures").iterdir()} == {name}
        assert not (folder / figure_record.NAME).exists()
    assert set(shown(draw()[1], "figure")) == {f"{FIRST}.png", f"{SECOND}.png"}  # the next drawing makes all
    assert (folder / figure_record.NAME).exists()


def test_several_names_are_separated_by_commas(run):
    folder, draw = run
    forget(folder)
    code, out, _ = draw(f"figures={SECOND}, {FIRST}")
    assert (code, set(shown(out, "figure"))) == (0, {f"{FIRST}.png", f"{SECOND}.png"})


def test_nothing_is_made_after_the_last_chosen_figure(run, monkeypatch):
    folder, draw = run
    forget(folder)
    whole = histogram.figures

    def two(table):
        yield next(whole(table))
        raise AssertionError("the second figure is not wanted")

    monkeypatch.setattr(histogram, "figures", two)
    code, out, err = draw(f"figures={FIRST}")
    assert (code, err, shown(out, "figure")) == (0, "", [f"{FIRST}.png"])


def test_current_figures_stay_and_only_chosen_ones_are_named(run, monkeypatch):
    folder, draw = run
    record = (folder / figure_record.NAME).read_bytes()
    monkeypatch.setattr(plots.Picture, "savefig", None)  # calling it would fail
    code, out, _ = draw(f"figures={FIRST}")
    assert (code, shown(out, "current"), shown(out, "figure")) == (0, [f"{FIRST}.png"], [])
    assert (folder / figure_record.NAME).read_bytes() == record


@pytest.mark.parametrize("current", [True, False])
@pytest.mark.parametrize("name", ["error_vs_k_one_bim", "", f"{FIRST},x"])
def test_an_unknown_name_is_one_line_with_the_valid_ones(run, current, name):
    folder, draw = run
    if not current:
        forget(folder)
    code, _, err = draw(f"figures={name}")
    assert (code, err.count("\n")) == (2, 1)
    unknown, _, valid = err.partition("; valid: ")
    assert unknown.endswith(f"has no figure {name.rpartition(',')[2]!r}")
    assert valid.startswith(f"{FIRST}, {SECOND}")
    assert ("did you mean" in err) == (name == "error_vs_k_one_bim")
