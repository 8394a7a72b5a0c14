"""Findings in words: lists, ranges, and which of several drawn lines is the lowest."""

import numpy as np
import pytest

from tcdp_sim.report import plots
from tcdp_sim.report.findings import close_pairs, listed, lowest_first, span, wins


@pytest.mark.parametrize(
    ("words", "text"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c"), (["a", "a"], "a")],
)
def test_lists(words, text):
    assert listed(words) == text


def test_spans():
    assert span([0.03, np.nan, 0.07], "{:.0%}".format) == "3% to 7%"
    assert span([0.031, 0.032], "{:.0%}".format) == "3%"
    assert span([np.nan], "{:.0%}".format) == "unknown"


def test_the_lowest_line_is_found_between_its_points_and_not_beyond_its_ends():
    lines = {
        "a square": ([1, 100], [1, 1e4]),  # y = x^2 is straight on log axes: 100 at 10
        "a level": ([100, 1], [99, 99]),  # in any order
        "an end": ([1, 9], [1, 1]),
        "unknown": ([1, 100], [np.nan, np.nan]),
        "zero": ([1, 100], [0, 0]),
    }
    found = lowest_first(lines, 10)
    assert [name for name, _ in found] == ["a level", "a square"]
    assert [height for _, height in found] == pytest.approx([99, 100])
    assert lowest_first(lines, 9)[0] == ("an end", pytest.approx(1.0))


def test_wins_are_counted_and_sorted():
    assert wins(["b", "a", "a", "c"]) == [("a", 2), ("b", 1), ("c", 1)]


def test_lines_that_hide_each_other_are_found():
    lines = {
        "one": ([1, 2, 3], [1.0, 2.0, 3.0]),
        "near": ([3, 2, 1], [3.03, 2.0, 1.0]),  # in any order: 1% apart at most
        "far": ([1, 2, 3], [1.0, 2.0, 3.5]),
        "elsewhere": ([4, 5], [1.0, 2.0]),
        "a point": ([1], [1.0]),
        "unknown": ([1, 2], [np.nan, 2.0]),
    }
    ((one, other, share),) = close_pairs(lines, 0.03)
    assert (one, other) == ("one", "near")
    assert share == pytest.approx(0.01)


def test_hidden_lines_are_named_in_the_caption():
    with plots.style():
        figure, _ = plots.new_figure(1, 1, 5, 3)
        plots.name_hidden(figure, {"a": ([1, 2], [1, 1]), "b": ([1, 2], [1, 1.01]), "c": ([1, 2], [2, 2])})
        assert figure.notes["hidden"] == "on each other: a and b (within 1.0%)"
