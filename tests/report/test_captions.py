"""The line below a figure's panels that says at which privacy, in which unit and for which neighbours it is."""

import textwrap

import numpy as np
import pandas as pd
import pytest

from tcdp_sim.report import plots


def caption(rows, unit="errors in counts", legend=True, width=7.0):
    """The figure, laid out, and its caption."""
    with plots.style():
        figure, grid = plots.new_figure(1, 1, width, 3.0)
        grid[0, 0].set_xlabel("x")
        if legend:
            figure.legend([plots.line_key()], ["a line"], loc="outside lower center")
        plots.captioned(figure, pd.DataFrame(rows), unit)
        figure.draw_without_rendering()
    text = figure.legends[0].get_title() if legend else figure._supxlabel
    return figure, text


def test_a_caption_names_rho_omega_delta_unit_and_neighbours():
    rows = {"rho": [0.1, 0.1], "omega": [np.nan, 6.3246], "delta": [1e-6, np.nan], "neighbours": ["substitute"] * 2}
    _, text = caption(rows)
    assert text.get_text() == "ρ = 0.1; ω = 6.325; δ = 1e-06; errors in counts; neighbours substitute one record"


def test_few_levels_are_listed_and_many_are_a_range():
    text = caption({"rho": [0.5, 0.1, 0.2], "omega": [1.0, 2.0, 3.0]})[1].get_text()
    assert text.startswith("ρ = 0.1, 0.2, 0.5; ω = 1, 2, 3;")
    assert caption({"rho": [0.1, 0.2, 0.3, 0.4, 0.5]})[1].get_text() == "ρ = 0.1 to 0.5; errors in counts"


def test_what_a_table_does_not_say_is_left_out():
    assert caption({"rho": [np.nan], "neighbours": [""]})[1].get_text() == "errors in counts"


@pytest.mark.parametrize("legend", [True, False])
@pytest.mark.parametrize("width", [3.0, 7.0])
def test_a_caption_is_on_the_paper_and_below_the_panels(legend, width):
    rows = {"rho": np.arange(9.0), "omega": np.arange(9.0), "delta": 1e-6, "neighbours": "add-remove"}
    figure, text = caption(rows, legend=legend, width=width)
    box, paper, (axes,) = text.get_window_extent(), figure.bbox, figure.axes
    assert paper.x0 <= box.x0 < box.x1 <= paper.x1
    assert paper.y0 <= box.y0 < box.y1 < axes.get_tightbbox().y0
    assert axes.get_window_extent().height > 1.5 * figure.dpi


def test_several_relations_are_all_named():
    rows = {"rho": [0.1] * 4, "neighbours": ["add-remove", "substitute", "either", "move two bins"]}
    text = caption(rows)[1].get_text()
    assert text.endswith("neighbours add or remove one record, or substitute one record, or move two bins")


# Lines of titles and captions


@pytest.mark.parametrize("letters", range(30, 90, 7))
def test_lines_of_a_title_are_few_about_equal_and_hold_together(letters):
    text = (
        "A finding of Theorem 17 (Cor. 18) under (ε, δ)-DP with ρ = 0.1, ω = 6.325 and a gap of 36.3 counts for "
        "k = 10 at equal privacy"
    )
    lines = plots.wrapped(text, letters)
    assert " ".join(lines) == text
    assert max(map(len, lines)) <= letters
    for held in ("Theorem 17", "Cor. 18", "(ε, δ)-DP", "ρ = 0.1", "ω = 6.325", "k = 10"):
        assert any(held in line for line in lines), held
    greedy = textwrap.wrap(text, letters, break_on_hyphens=False)
    assert len(lines) <= len(greedy) + 1
    if len(lines) > 1:
        assert len(lines[-1]) > len(text) / len(lines) / 3  # no word alone


def test_a_text_that_fits_is_one_line_and_hard_spaces_stay():
    assert plots.wrapped("one line", 30) == ["one line"]
    assert plots.wrapped("β\u00a0=\u00a00.05 holds", 30) == ["β\u00a0=\u00a00.05 holds"]
    assert plots.wrapped("", 30) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [(10663.2, "10,700"), (7.7221, "7.72"), (0.051, "0.051"), (9.31e8, "931,000,000"), (2e15, "2e+15")],
)
def test_numbers_in_titles_have_three_digits_and_commas(value, text):
    assert plots.rounded(value) == text


def test_names_of_guarantees_in_titles_are_short():
    assert plots.rounded_in("1e-06-approximate 0.0316228-zCDP") == "1e-06-approximate 0.0316-zCDP"
    assert plots.rounded_in("(0.447214, 1e-06)-DP", 4) == "(0.4472, 1e-06)-DP"
    assert plots.rounded_in("0.1-zCDP") == "0.1-zCDP"
    assert plots.power_of_two(20.0) == "$2^{20}$"
