"""The rules of figures find what breaks them, and the palette keeps to them."""

from itertools import combinations

import numpy as np
import pytest
from colour_blindness import DICHROMATS, SIGHTS, distance, lab
from figure_rules import ALIKE, broken

from tcdp_sim.report import looks, plots
from tcdp_sim.report.plots import line_key


@pytest.fixture(autouse=True)
def house_style():
    with plots.style():
        yield


def plain(columns=2, width=6.0):
    """Return a figure that keeps to all rules, and its panels."""
    figure, grid = plots.new_figure(1, columns, width, 3)
    for axes in grid[0]:
        axes.plot([0, 1, 2], [1, 3, 2], color=looks.COLOURS[2], marker="o")
        axes.plot([0, 1, 2], [2, 2, 3], color=looks.COLOURS[3])
        axes.set(xlabel="number of bins k")
    grid[0, 0].set_ylabel("error (counts)")
    plots.headed(figure, "Gaussian noise has the smaller error")
    return figure, grid[0]


def nine_entries(figure, panels):
    figure.legend([line_key()] * 9, [f"{i}" for i in range(9)], loc="outside lower center", ncols=9)


def no_title(figure, panels):
    figure.suptitle("")


def a_title_of_two_sentences(figure, panels):
    figure.suptitle("Gaussian noise has the smaller error. Lines: exact")


def a_title_of_two_statements(figure, panels):
    figure.suptitle("The error is 3; the bound is 4")


def a_title_that_names_a_subject(figure, panels):
    figure.suptitle("Worst-case error of a private histogram")


def a_title_that_is_a_list(figure, panels):
    figure.suptitle("The tail is Laplace 82%, truncated 97%, Gaussian 59%, Cor. 18 52%, tight 59%")


def an_empty_axis(figure, panels):
    panels[0].plot(np.linspace(0, 2, 9), np.ones(9), color=looks.COLOURS[2])
    panels[0].set_xlim(0, 14)


def an_axis_that_is_filled_together(figure, panels):
    """Two panels share an axis that neither fills alone."""
    panels[0].sharex(panels[1])
    panels[0].lines[0].set_xdata([0, 0.2, 0.4])
    panels[0].lines[1].set_xdata([0, 0.2, 0.4])


def no_label_in_one_panel(figure, panels):
    panels[1].set_xlabel("")
    panels[0].set_xlabel("")


def a_text_over_a_text(figure, panels):
    for _ in range(2):
        panels[0].annotate("here", (0.5, 1.2))


def a_title_over_a_panel(figure, panels):
    panels[0].set_title("a title that is longer than its panel is wide, by far")
    panels[1].set_title("a title that is longer than its panel is wide, by far")


def a_text_over_a_marker(figure, panels):
    panels[0].annotate("here", (1, 3), ha="center", va="center")


def a_text_beyond_the_paper(figure, panels):
    panels[1].annotate("far beyond the end of everything", (2, 2), annotation_clip=False)
    figure.set_layout_engine("none")


def small_letters(figure, panels):
    panels[0].annotate("here", (0.5, 1.2), fontsize=5)


def a_wide_figure(figure, panels):
    figure.set_figwidth(13)
    panels[0].annotate("here", (0.5, 1.2), fontsize=7.5)


def colours_that_are_alike(figure, panels):
    panels[1].plot([0, 1, 2], [1, 1, 1], color=looks.MORE["olive"])  # beside vermilion, for deuteranopes
    panels[1].plot([0, 1, 2], [1.5, 1, 1.5], color="#979735")


def greys_that_are_alike(figure, panels):
    panels[1].plot([0, 1, 2], [1, 1, 1], color=plots.GREY)
    panels[1].plot([0, 1, 2], [1.5, 1, 1.5], color="#B45A00")


def test_a_good_figure_breaks_no_rule():
    figure, _ = plain()
    figure.draw_without_rendering()
    assert broken(figure) == []


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (nine_entries, "9 legend entries"),
        (no_title, "no title"),
        (an_empty_axis, "data fill 14% of the x axis of panel 0"),
        (a_title_of_two_sentences, "two sentences in the title"),
        (a_title_of_two_statements, "two statements in the title"),
        (a_title_that_names_a_subject, "no verb in the title"),
        (a_title_that_is_a_list, "a list in place of a finding"),
        (no_label_in_one_panel, "no x label at panel 1"),
        (a_text_over_a_text, "over each other: 'here', 'here'"),
        (a_title_over_a_panel, "over each other: 'a title"),
        (a_text_over_a_marker, "over each other: 'here', '_child0'"),
        (a_text_beyond_the_paper, "off the paper: 'far beyond"),
        (small_letters, "5 points in print: 'here'"),
        (a_wide_figure, "5.6 points in print: 'here'"),
        (colours_that_are_alike, "#979735 and #999933 look alike to some"),
        (greys_that_are_alike, "look alike in grey"),
    ],
)
def test_every_rule_finds_what_breaks_it(fault, words):
    figure, panels = plain()
    fault(figure, panels)
    figure.draw_without_rendering()
    assert [rule for rule in broken(figure) if words in rule]


def test_panels_may_share_an_axis_that_they_fill_together():
    figure, panels = plain()
    an_axis_that_is_filled_together(figure, panels)
    figure.draw_without_rendering()
    assert broken(figure) == []


def test_names_on_an_axis_need_no_label():
    figure, panels = plain(1)
    panels[0].set_xlabel("")
    panels[0].set_xticks([0, 1], ["Gaussian", "Laplace"])
    figure.draw_without_rendering()
    assert broken(figure) == []


def test_colours_that_are_alike_may_differ_in_marker_or_dashes():
    for how in ({"linestyle": ":"}, {"marker": "v"}):
        figure, panels = plain()
        panels[0].plot([0, 1, 2], [1, 1, 1], color="#005F9F", **how)
        figure.draw_without_rendering()
        assert broken(figure) == []


# Colours as others see them


@pytest.mark.parametrize(
    ("colour", "known"),
    [
        ("#FFFFFF", (100, 0, 0)),
        ("#000000", (0, 0, 0)),
        ("#FF0000", (53.24, 80.09, 67.20)),
        ("#00FF00", (87.73, -86.18, 83.18)),
        ("#0000FF", (32.30, 79.19, -107.86)),
    ],
)
def test_cie_lab_of_known_colours(colour, known):
    assert lab(colour) == pytest.approx(known, abs=0.02)


@pytest.mark.parametrize("sight", SIGHTS)
def test_greys_are_the_same_to_everybody(sight):
    for grey in ("#FFFFFF", "#777777", "#222222"):
        assert np.allclose(lab(grey, sight), lab(grey), atol=0.05)


def test_dichromats_confuse_what_they_are_known_to_confuse():
    """Protanopes and deuteranopes: red and a green of equal lightness to them. Tritanopes: blue and green."""
    red, green = "#C03000", "#5F7F00"
    assert distance(red, green, ("normal",)) > 2 * distance(red, green, ("deuteranopia",))
    assert distance("#0080C0", "#009080", ("normal",)) > 2 * distance("#0080C0", "#009080", ("tritanopia",))
    assert distance("#0080C0", "#C08000", ("tritanopia",)) > 40


@pytest.mark.parametrize("table", [looks.COLOURS, (*looks.COLOURS, *looks.MORE.values())])
def test_colours_of_the_palette_differ_or_their_markers_do(table):
    """The colours of noises differ to everybody. Those of methods differ, or their markers do."""
    markers = {}
    for colour, marker in looks.METHODS.values():
        markers.setdefault(colour, set()).add(marker)
    for place in looks.NOISES.values():
        markers.setdefault(looks.COLOURS[place], set()).add(looks.MARKERS[place])
    for one, other in combinations(table, 2):
        assert distance(one, other) > ALIKE or not markers[one] & markers[other], (one, other, distance(one, other))


def test_noises_differ_to_everybody_and_in_grey_by_their_markers():
    used = [looks.COLOURS[place] for place in looks.NOISES.values()]
    assert min(distance(one, other, DICHROMATS) for one, other in combinations(used, 2)) > ALIKE
    assert len({looks.MARKERS[place] for place in looks.NOISES.values()}) == len(used)
    ways = [(colour, marker, dashes) for colour, marker, dashes in looks.DIRECTIONS.values()]
    assert len({marker for _, marker, _ in ways}) == len({dashes for _, _, dashes in ways}) == len(ways)


@pytest.mark.parametrize(
    "together",
    [
        (
            "exponential_mechanism",
            "permute_and_flip",
            "stability",
            "sparse_vector",
            "noisy_max_gaussian",
            "noisy_max_laplace",
        ),
        ("exponential", "binary_search", "paper_constants", "recursion_2", "recursion_3"),
        (
            "square_root",
            "weighted_square_root",
            "tree_2",
            "tree_16",
            "least_squares_16",
            "weighted_2",
            "optimal",
            "each_bin",
        ),
        ("windows", "deciles", "median", "medians", "tree_2", "tree_16", "square_root", "binary_search"),
        (
            *("independent", "recursive", "joint", "above_threshold", "slices", "tree_search", "tree_2"),
            *("least_squares_2", "least_squares_16", "square_root", "interior_points"),
        ),
        ("published", "best_conversion", "simple_conversion", "continuous"),
        ("filter", "split"),
    ],
)
def test_methods_of_one_figure_have_markers_of_their_own(together):
    assert len({looks.METHODS[name][1] for name in together}) == len(together)
