"""The line below a figure's panels that says at which privacy, in which unit and for which neighbours it is."""

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
