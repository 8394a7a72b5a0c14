"""What is shown of a large sweep: even choices, both ends with them, and a caption that says so."""

import numpy as np
import pandas as pd
import pytest

from tcdp_sim.report import plots, saving
from tcdp_sim.report.thinning import MOST_MARKERS, evenly, marked, some_levels


@pytest.mark.parametrize("count", [1, 2, 3, 7, 40, 41, 1000, 100_000])
@pytest.mark.parametrize("most", [2, 3, 8, 40])
def test_places_are_even_and_have_both_ends(count, most):
    places = evenly(count, most)
    assert len(places) == min(count, most)
    assert (places[0], places[-1]) == (0, count - 1)
    gaps = np.diff(places)
    assert len(gaps) == 0 or (gaps.min() >= 1 and gaps.max() - gaps.min() <= 1)


def test_one_place_is_the_middle():
    assert [evenly(count, 1).tolist() for count in (1, 2, 3, 10)] == [[0], [1], [1], [5]]


def test_levels_are_distinct_and_in_order():
    assert some_levels([3.0, 1.0, 2.0, 3.0, 5.0, 4.0], 3).tolist() == [1, 3, 5]
    assert some_levels([2.0, 2.0], 4).tolist() == [2]


def test_markers_are_even_along_x_and_only_where_there_are_numbers():
    rng = np.random.default_rng(5)
    x = rng.permutation(2000).astype(float)
    there = x >= 1000
    places = marked(x, there)
    assert len(places) == MOST_MARKERS
    at = np.sort(x[places])
    assert (at[0], at[-1]) == (1000, 1999)
    assert np.ptp(np.diff(at)) <= 1
    assert marked(x[:30], there[:30]).tolist() == np.flatnonzero(there[:30]).tolist()


def drawn(count, label="one"):
    """A figure of so many points, of which every fifth is infinite: (figure, its markers, what its caption says)."""
    x = np.arange(count, dtype=float)
    y = np.where(x % 5 == 4, np.inf, 2 * x)
    figure, grid = plots.new_figure(1, 1, 4, 3)
    plots.points(grid[0, 0], x, y, y - 1, y + 3, marker="o")
    plots.captioned(figure, pd.DataFrame({"rho": [0.1]}), "counts")
    line, _, (bars,) = grid[0, 0].containers[0].lines
    return figure, line.get_xydata(), bars.get_segments()


def test_points_beyond_the_most_are_thinned_and_the_caption_says_how_far():
    figure, seen, bars = drawn(1000)
    assert len(seen) == len(bars) == MOST_MARKERS
    assert (seen[:, 1] == 2 * seen[:, 0]).all()
    assert all((bar[:, 1] == [y - 1, y + 3]).all() for (_, y), bar in zip(seen, bars))
    assert (seen[0, 0], seen[-1, 0]) == (0, 998)
    assert "markers at 40 of up to 800 points of a line" in figure.get_supxlabel().replace("\n", " ")


def test_few_points_are_all_drawn_and_nothing_is_said():
    figure, seen, _ = drawn(50)
    assert np.isfinite(seen).all(axis=1).sum() == 40
    assert "markers" not in figure.get_supxlabel()


def test_figures_are_laid_out_once_and_drawn_once_for_each_file(tmp_path, monkeypatch):
    drawings = []
    with plots.style():
        figure, _, _ = drawn(10)
        draw = type(figure).draw
        monkeypatch.setattr(type(figure), "draw", lambda self, renderer: (drawings.append(1), draw(self, renderer)))
        saving.save_all([("one", figure, pd.DataFrame({"x": [1]}))], tmp_path)
    assert len(drawings) == 3  # the layout, the PDF, the PNG
