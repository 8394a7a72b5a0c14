"""The numbers that a figure shows: lines and markers are found by their look, as a reader finds them."""

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D


def keys(figure):
    """Return the legend entries, and the samples of labels at lines, by the names of their series.

    An entry "omega = 1 | 2" with two samples gives "omega = 1" and "omega = 2". Several panels may label a series.
    """
    labelled: dict[str, Line2D] = {}
    for line in figure.artists:
        labelled.setdefault(line.get_label(), line)
    return labelled | {name: line for legend in figure.legends for name, line in _entries(legend).items()}


def _entries(legend):
    texts, lines = [text.get_text() for text in legend.get_texts()], legend.findobj(Line2D)
    found = []
    for text, handle in zip(texts, legend.legend_handles):
        name, equals, values = text.rpartition(" = ")
        if " | " in values:
            first = lines.index(handle)
            found += [(name + equals + value, lines[first + i]) for i, value in enumerate(values.split(" | "))]
        else:
            found.append((text, handle))
    assert len(dict(found)) == len(found)
    return dict(found)


def key(figure, label):
    """Return the only legend entry whose label contains a text."""
    (found,) = [entry for text, entry in keys(figure).items() if label in text]
    return found


def caption(figure):
    """Return the caption of a figure on one line, wherever it stands."""
    text = figure.legends[0].get_title() if figure.legends else figure._supxlabel
    return text.get_text().replace("\n", " ")


def colour(artist):
    """Return the colour of a line, a collection or a legend entry, with its opacity."""
    if hasattr(artist, "get_color") and not hasattr(artist, "get_segments"):
        return to_rgba(artist.get_color(), artist.get_alpha())
    return to_rgba(artist.get_colors()[0] if hasattr(artist, "get_colors") else artist)


def pattern(line):
    """Return the dashes of a line, in multiples of its width."""
    return str(line._unscaled_dash_pattern)


def curves(axes, like, **more):
    """Return (x, y) of every line with the colour and dashes of a legend entry, and with the properties of `more`."""
    found = [line for line in axes.lines if line.get_linestyle() != "None"]
    found = [line for line in found if (colour(line), pattern(line)) == (colour(like), pattern(like))]
    found = [line for line in found if all(getattr(line, f"get_{name}")() == value for name, value in more.items())]
    return [(np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)) for line in found]


def curve(axes, like, **more):
    """Return the only curve of `curves`."""
    (found,) = curves(axes, like, **more)
    return found


def several_marked(axes, like, side="y"):
    """Return (x, y, lower, upper) of all markers with bars that look like a legend entry.

    `side` is the axis along which the bars lie. `lower` and `upper` are NaN for a marker without a bar, and for an
    infinite end.
    """
    found = []
    for container in axes.containers:
        if _alike(container, like):
            line, _, (bars,) = container.lines
            ends = [(*segment[:, "xy".index(side)], np.nan, np.nan)[:2] for segment in bars.get_segments()]
            found.append((*map(_floats, line.get_data()), *np.sort(np.array(ends, dtype=float)).T))
    return found


def marked(axes, like, side="y"):
    """Return the only series of `several_marked`."""
    (found,) = several_marked(axes, like, side)
    return found


def _floats(values):
    return np.asarray(values, dtype=float)


def _alike(container, like):
    if not hasattr(like, "get_marker"):
        return colour(container.lines[2][0]) == colour(like)  # the entry is a bar
    line = container.lines[0]
    return (colour(line), line.get_marker()) == (colour(like), like.get_marker())


def shows(axes, like, rows, x, name):
    """Assert that markers and bars are the columns `name`, `name_lower`, `name_upper` of the rows.

    If several series share a look, as one noise in two algorithms, the one that begins with the same number is taken.
    """
    rows = rows.sort_values(x)
    found = several_marked(axes, like)
    if len(found) > 1:
        found = [seen for seen in found if len(seen[1]) == len(rows) and seen[1][0] == rows[name].iloc[0]]
    (found,) = found
    for seen, column in zip(found, (x, name, f"{name}_lower", f"{name}_upper")):
        np.testing.assert_allclose(seen, rows[column], rtol=1e-9, err_msg=column)


def traces(axes, like, rows, x, name, **more):
    """Assert that one line is the column `name` of the rows against `x`. Equal looks are resolved as in `shows`."""
    rows = rows.sort_values(x)
    found = curves(axes, like, **more)
    if len(found) > 1:
        found = [line for line in found if len(line[1]) == len(rows) and line[1][0] == rows[name].iloc[0]]
    ((at, y),) = found
    np.testing.assert_allclose(at, rows[x], rtol=1e-12)
    np.testing.assert_allclose(y, rows[name], rtol=1e-9, err_msg=name)
