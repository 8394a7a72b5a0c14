"""Labels at the ends of lines: where they stand, and that they hide nothing."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from figure_lines import keys
from figure_rules import beyond_the_paper, overlaps
from scipy.optimize import minimize

from tcdp_sim.report import plots
from tcdp_sim.report.labels import End, label_ends, short, spread

LOOK = {"color": "#0072B2", "marker": "o", "linestyle": "--"}


def labelled(heights, text="a label", limits=(0, 10), scale="linear"):
    """A laid-out figure whose lines end at the heights."""
    with plots.style():
        figure, grid = plots.new_figure(1, 1, 6, 3)
        axes = grid[0, 0]
        axes.set(xlim=(0, 5), ylim=limits, yscale=scale)
        label_ends(axes, [End(f"{i}", f"{text} {i}", 4.0, y, LOOK) for i, y in enumerate(heights)])
        figure.draw_without_rendering()
    return figure, axes


@pytest.mark.parametrize("heights", [[5, 5, 5, 5], [1, 9], [0, 0.1, 10, 10], list(range(11)), [3.0]])
@pytest.mark.parametrize("text", ["short", "on two\nlines"])
def test_labels_do_not_overlap_and_are_on_the_paper(heights, text):
    figure, axes = labelled(heights, text)
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == len(heights)
    assert not [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]
    assert beyond_the_paper(figure) == overlaps(figure) == []


def test_the_order_of_labels_is_that_of_the_lines():
    _, axes = labelled([4.0, 4.2, 3.9, 4.1])
    places = [text.get_position()[1] for text in axes.texts]
    assert np.argsort(places).tolist() == [2, 0, 3, 1]


def test_a_label_with_room_is_at_its_line_and_has_its_style():
    figure, axes = labelled([2.0, 100.0], limits=(1, 1000), scale="log")
    for text, height in zip(axes.texts, (np.log10(2) / 3, 2 / 3)):
        assert text.get_position()[1] == pytest.approx(height)
    sample = keys(figure)["1"]
    assert (sample.get_color(), sample.get_marker(), sample.get_linestyle()) == ("#0072B2", "o", "--")
    x, y = sample.get_data()
    assert (x[0], y[0]) == pytest.approx((0.8, 2 / 3))  # the end of the line: 4 of 5, and 10^2 of 10^3
    assert axes.texts[0].get_text() == "a label 0"


def test_lines_without_an_end_have_no_label_and_ends_beyond_the_panel_are_at_its_edge():
    figure, axes = labelled([np.nan, 50.0])
    assert [text.get_text() for text in axes.texts] == ["a label 1"]
    assert keys(figure)["1"].get_ydata()[0] == 1
    assert labelled([])[1].texts[:] == []


@pytest.mark.parametrize("seed", range(4))
def test_labels_move_as_little_as_possible(seed):
    """Least squares under distances and ends, found by a general optimizer."""
    rng = np.random.default_rng(seed)
    wanted, lines, line = np.sort(rng.random(5)), rng.integers(1, 3, 5), 0.06
    gaps = line * (lines[1:] + lines[:-1]) / 2
    apart = {"type": "ineq", "fun": lambda y: np.diff(y) - gaps}
    best = minimize(lambda y: ((y - wanted) ** 2).sum(), wanted, constraints=apart, bounds=[(0, 1)] * 5, tol=1e-14)
    np.testing.assert_allclose(spread(wanted, lines, line), best.x, atol=1e-6)


def test_too_many_labels_keep_their_distance():
    places = spread(np.full(30, 0.5), [1] * 30, 0.05)
    assert np.diff(np.sort(places)).min() >= 0.05 - 1e-12
    assert places.max() == pytest.approx(1)


def test_short_names():
    assert short("Alg. 22, Gaussian (zCDP; tCDP for every ω)") == "Alg. 22, Gaussian"
    assert short("sinh-normal, ω = 2") == "sinh-normal, ω\u00a0=\u00a02"


# Intervals, titles and notes


def test_an_infinite_end_is_an_arrow_and_the_caption_says_so():
    with plots.style():
        figure, grid = plots.new_figure(1, 1, 4, 3)
        plots.points(grid[0, 0], [1, 2, 3], [5, 6, 7], [4, -np.inf, 6], [np.inf, np.inf, 8], color="k")
        arrows = [(text.xyann, text.xy) for text in grid[0, 0].texts]
        assert arrows == [((2, 6), (2, 0)), ((1, 5), (1, 1)), ((2, 6), (2, 1))]
        assert "an arrow is the end" in plots.captioned(figure, pd.DataFrame(), "")._supxlabel.get_text()
        figure, grid = plots.new_figure(1, 1, 4, 3)
        plots.points(grid[0, 0], [1, 2], [np.inf, 6], [np.inf, np.nan], [np.inf, 7], color="k")
        assert (grid[0, 0].texts[:], figure.notes) == ([], {})


def test_a_long_title_wraps_and_stays_on_the_paper():
    with plots.style():
        figure, _ = plots.new_figure(1, 1, 4, 3)
        plots.headed(figure, "many words " * 12)
        figure.draw_without_rendering()
        assert beyond_the_paper(figure) == []
        assert " ".join(figure.get_suptitle().split()) == "many words " * 11 + "many words"
        assert figure.get_figheight() > 3
