"""Legends: what differs in one number alone shares an entry, whose samples stand in the order of its values."""

from figure_lines import colour, keys
from matplotlib.colors import to_rgba

from tcdp_sim.report import plots
from tcdp_sim.report.legends import grouped, legend_below

ENTRIES = {
    "Gaussian": {"color": "#000001"},
    "sinh-normal, ω = 2": {"color": "#000002", "marker": "o"},
    "tight, ω = 2": {"color": "#000003"},
    "sinh-normal, ω = 4": {"color": "#000004", "linestyle": "--"},
    "sinh-normal, ω = ∞ (zCDP)": {"color": "#000005"},
    "proved (β = 0.05)": {"color": "#000006"},
}


def test_labels_that_differ_in_a_number_are_one_entry():
    found = {label: [style["color"] for style in styles] for label, styles in grouped(ENTRIES).items()}
    assert found == {
        "Gaussian": ["#000001"],
        "sinh-normal, ω = 2 | 4 | ∞ (zCDP)": ["#000002", "#000004", "#000005"],
        "tight, ω = 2": ["#000003"],
        "proved (β = 0.05)": ["#000006"],
    }
    assert grouped({}) == {}
    words = {f"ω = {omega}{more}": {"color": "k"} for omega in (1, 2) for more in ("", ", counted twice")}
    assert list(grouped(words)) == ["ω = 1 | 2", "ω = 1, counted twice", "ω = 2, counted twice"]
    assert list(grouped({"Laplace (pure DP)": {}, "Gaussian (zCDP)": {}})) == ["Laplace (pure DP)", "Gaussian (zCDP)"]
    many = grouped({f"ω = {i}": {"color": str(i)} for i in range(6)})
    assert {label: len(styles) for label, styles in many.items()} == {"ω = 0 | 1 | 2 | 3": 4, "ω = 4 | 5": 2}


def test_every_label_has_the_sample_of_its_style():
    with plots.style():
        figure, _ = plots.new_figure(1, 1, 6, 3)
        legend_below(figure, ENTRIES, 2)
        figure.draw_without_rendering()
        found = keys(figure)
        assert {label: colour(line) for label, line in found.items()} == {
            label: to_rgba(style["color"]) for label, style in ENTRIES.items()
        }
        assert found["sinh-normal, ω = 2"].get_marker() == "o"
        assert found["sinh-normal, ω = 4"].get_linestyle() == "--"


def test_the_figure_grows_by_the_rows_of_its_legend():
    heights = []
    for columns in (1, 2, 4):
        figure, _ = plots.new_figure(1, 1, 20, 3)
        legend_below(figure, ENTRIES, columns)
        heights.append(round(figure.get_figheight() - 3, 9))
    assert heights == [0.76, 0.38, 0.19]


def test_a_legend_takes_as_many_columns_as_fit():
    long = {f"{'a long name ' * 5}{i}": {"color": "k"} for i in range(4)}
    with plots.style():
        for width in (4.5, 8.0, 12.0, 16.0):
            figure, _ = plots.new_figure(1, 1, width, 3)
            legend_below(figure, long, 4)
            figure.draw_without_rendering()
            box = figure.legends[0].get_window_extent()
            assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1
