"""figures.width=, figures.title= and figures.format= change how figures are written, and nothing else."""

import json

import matplotlib.image
import pytest
from figure_rules import beyond_the_paper

import tcdp_sim
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.figure_options import FigureOptions, figure_options
from tcdp_sim.experiments import histogram
from tcdp_sim.report import plots
from tcdp_sim.results import published
from tcdp_sim.study.settings import OF_A_PROCESS

ONE = ("sweep.k=[10,100]", "sweep.noise=gaussian", "also=null")
NAME = "error_vs_k_one_bin"
DOTS = plots.STYLE["savefig.dpi"]
pytestmark = pytest.mark.usefixtures("figures")


@pytest.fixture
def run(tiny, tiny_once, folder):
    """Return the folder of a run, and a function that runs its command with more words -> (code, stdout, stderr)."""
    tiny_once(*ONE)
    return folder, lambda *words: tiny(*ONE, *words)


def inches(folder):
    return matplotlib.image.imread(folder / "figures" / f"{NAME}.png").shape[1] / DOTS


def endings(folder):
    return {path.suffix for path in (folder / "figures").iterdir() if path.stem == NAME}


@pytest.mark.parametrize("way", ["run", "folder", pytest.param("draw", marks=pytest.mark.slow)])
def test_every_command_that_draws_has_the_width_in_inches(run, command, way):
    folder, again = run
    words = {"run": (), "draw": ("draw",)}
    if way == "folder":
        code, _, err = command("draw", str(folder), "figures.width=4.5")
    else:
        code, _, err = again(*words[way], "figures.width=4.5")
    assert (code, err) == (0, "")
    assert inches(folder) == pytest.approx(4.5, abs=0.01)
    assert again()[0] == 0
    assert inches(folder) == pytest.approx(7.8, abs=0.01)  # without the key, the width that fits the panels


@pytest.mark.parametrize("kind", ["svg", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("tiff", "png"))])
def test_the_format_takes_the_place_of_pdf(run, kind):
    folder, again = run
    assert endings(folder) == {".png", ".pdf", ".csv"}
    assert again("draw", f"figures.format={kind}")[0] == 0
    assert endings(folder) == {".png", f".{kind}", ".csv"}
    assert "current: " in again("draw", f"figures.format={kind}")[1]
    assert again("draw")[0] == 0
    assert endings(folder) == {".png", ".pdf", ".csv"}


def test_no_result_depends_on_the_options(run):
    folder, again = run
    kept = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "figures" not in path.parts}
    code, out, err = again("figures.width=5", "figures.title=false", "figures.format=svg")
    assert (code, err) == (0, "")
    assert "figure: " in out
    changed = {path.name for path, data in kept.items() if path.read_bytes() != data and path.suffix != ".log"}
    assert changed <= {"drawn.json", "status.json"}
    assert not OF_A_PROCESS & set(json.loads((folder / "provenance.json").read_bytes())["config"])


def test_a_title_may_be_left_out(run):
    folder, _ = run
    table = published.read(folder).table
    for wanted in (True, False):
        with plots.style(FigureOptions(title=wanted)):
            titles = [figure.get_suptitle() for _, figure, _ in histogram.figures(table)]
        assert all(titles) if wanted else not any(titles)


def test_python_has_the_same_options(run):
    folder, _ = run
    figures = tcdp_sim.draw(folder, width=5, title=False, format="svg")
    assert {figure.get_figwidth() for figure in figures.values()} == {5}
    assert not any(figure.get_suptitle() for figure in figures.values())
    assert endings(folder) == {".png", ".svg", ".csv"}


@pytest.mark.parametrize("way", [(), ("draw",)])
@pytest.mark.parametrize(
    ("word", "valid"),
    [
        ("figures.width=2.9", "inches from 3 to 20"),
        ("figures.width=20.1", "inches from 3 to 20"),
        ("figures.width=wide", "inches from 3 to 20"),
        ("figures.width=true", "inches from 3 to 20"),
        ("figures.width=.nan", "inches from 3 to 20"),
        ("figures.title=no_title", "true or false"),
        ("figures.format=gif", "pdf, svg, tiff, png"),
    ],
)
def test_a_bad_value_is_one_line(tiny, way, word, valid):
    code, _, err = tiny(*ONE, *way, word)
    assert (code, err.count("\n")) == (2, 1)
    assert word.partition("=")[0] in err
    assert valid in err


@pytest.mark.parametrize(
    ("given", "words"), [({"widht": 5}, "did you mean width?"), ("svg", "figures.width="), ({"width": "5"}, "inches")]
)
def test_a_bad_section_is_an_error(given, words):
    with pytest.raises(UserError, match=words.replace("?", r"\?")):
        figure_options(given)


def test_the_legend_of_a_narrow_figure_has_fewer_columns_and_stays_on_the_paper():
    labels = [f"a series with a long name, {i}" for i in range(4)]
    heights = {}
    for width in (None, 4.0):
        with plots.style(FigureOptions(width=width)):
            figure, _ = plots.new_figure(1, 1, 12, 3)
            figure.legend([plots.line_key()] * 4, labels, loc="outside lower center", ncols=4)
            figure.draw_without_rendering()
            assert beyond_the_paper(figure) == []
            heights[width] = figure.get_figheight()
    assert heights[4.0] > heights[None] == 3
