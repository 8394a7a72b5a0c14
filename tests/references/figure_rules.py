"""What every figure keeps to, in a figure that has been laid out.

- Its title is one sentence with a verb: no semicolon, no second sentence, and no list of numbers.
- A legend has at most MOST_ENTRIES entries. Each axis has a label, or ticks that are names.
- x axes end where the data end: lines of more than FEW points fill at least FILLED of the width of their panels.
- No text lies beyond the paper, over another text, or over a marker.
- Letters have at least SMALLEST points in print. A figure is printed PORTRAIT inches wide, or LANDSCAPE inches if it is
  wider than WIDE.
- Lines of a panel whose colours look alike to a dichromat, or in grey, differ in markers or in dashes.
"""

import re
from itertools import combinations

import numpy as np
from colour_blindness import distance
from matplotlib.colors import to_hex
from matplotlib.text import Annotation

MOST_ENTRIES = 8
MOST_SHARES = 4  # percentages in a title; more are a list, and no finding
LONGEST_TITLE = 240  # letters
VERBS = re.compile(
    r"\b(is|are|do|does|finds|has|have|answers|beats?|contain|costs?|exceeds?|follows|gives?|loses?|lowers?|meet|needs?|peaks|"
    r"reach(es)?|refute|releases|reveal|selects?|settle|spends|stays|takes)\b"
)
FEW, FILLED = 5, 1 / 3  # points of lines, and share of an axis
SMALLEST = 6.0  # points
PORTRAIT, WIDE, LANDSCAPE = 6.5, 8.2, 9.7  # inches; that is A4 with margins of an inch
SENTENCES = (
    (r";", "two statements in the title"),
    (r"(?<!Cor)(?<!Alg)(?<!al)(?<!vs)[.!?]( |$)", "two sentences in the title, or a full stop"),
)
ALIKE = 12.0  # distance in CIE Lab below which two thin lines are hard to tell apart
TOUCH = 1.0  # points by which boxes of texts may overlap, since letters do not fill their boxes


def broken(figure):
    """Return in words all rules that a figure breaks."""
    rules = broken_rules(figure) + [f"off the paper: {text!r}" for text in beyond_the_paper(figure)]
    rules += [f"over each other: {one!r}, {other!r}" for one, other in overlaps(figure)]
    return rules + small_letters(figure) + lines_alike(figure) + empty_axes(figure)


def broken_rules(figure):
    """Return in words which rules on legends, titles and axes a figure breaks."""
    legends = [*figure.legends, *filter(None, (axes.get_legend() for axes in figure.axes))]
    found = [f"{len(legend.texts)} legend entries" for legend in legends if len(legend.texts) > MOST_ENTRIES]
    panels = _panels(figure)
    found += title_faults(figure.get_suptitle())
    for what in ("x", "y"):
        labelled = [axes for axes in panels if getattr(axes, f"get_{what}label")()]
        for axes in panels:
            if not (_named(axes, what) or any(_in_line(axes, other, what) for other in labelled)):
                found.append(f"no {what} label at panel {figure.axes.index(axes)}")
    return found


def title_faults(title):
    """Return in words why a title is not one sentence that states a finding."""
    text = " ".join(title.split())
    if not text:
        return ["no title"]
    found = [f"{words}: {text!r}" for pattern, words in SENTENCES if re.search(pattern, text)]
    if not VERBS.search(text):
        found.append(f"no verb in the title: {text!r}")
    if text.count("%") > MOST_SHARES or len(text) > LONGEST_TITLE:
        found.append(f"a list in place of a finding: {text!r}")
    return found


def _panels(figure):
    return [axes for axes in figure.axes if axes.axison and axes.get_visible()]


def _in_line(axes, other, what):
    """Return True if two panels stand in one column (for x) or in one row (for y), so that they can share a label."""
    one, two = (getattr(panel.get_position(), f"interval{what}") for panel in (axes, other))
    return min(one[1], two[1]) - max(one[0], two[0]) > 0.5 * min(one[1] - one[0], two[1] - two[0])


def empty_axes(figure):
    """Return in words the x axes of which the data fill too little, over all panels that share them."""
    found = []
    for axes in _panels(figure):
        group = axes.get_shared_x_axes().get_siblings(axes)
        seen = np.concatenate([_filled(each) for each in group])
        if axes is group[0] and len(np.unique(seen)) > FEW and np.ptp(seen) < FILLED:
            found.append(f"data fill {np.ptp(seen):.0%} of the x axis of panel {figure.axes.index(axes)}")
    return found


def _filled(axes):
    """Return the places of all drawn points of lines in a panel, in shares of its width."""
    points = np.concatenate([np.empty((0, 2)), *(_in_data(axes, line) for line in axes.lines if line.get_visible())])
    with np.errstate(all="ignore"):
        places = (axes.transData + axes.transAxes.inverted()).transform(points)
    inside = np.isfinite(places).all(axis=1) & (places > -0.01).all(axis=1) & (places < 1.01).all(axis=1)
    return places[inside, 0]


def _in_data(axes, line):
    """Return the points of a line in data; none of a line across the panel."""
    points = np.ma.filled(np.asarray(line.get_xydata(), float), np.nan)
    return points if line.get_transform() == axes.transData else points[:0]


def _named(axes, what):
    """Return True if the ticks of an axis are names, which say by themselves what they are, or if there are none."""
    labels = [text.get_text() for text in _ticks(axes, what)]
    return not labels or any(not text.lstrip("−-$").replace(".", "", 1)[:1].isdigit() for text in labels)


def _ticks(axes, what):
    """Return the tick labels of an axis that are drawn."""
    axis = getattr(axes, f"{what}axis")
    if not axis.get_visible():
        return []
    labels = [label for tick in axis._update_ticks() for label in (tick.label1, tick.label2)]
    return [label for label in labels if label.get_visible() and label.get_text()]


def texts(figure):
    """Return the texts of a figure that are drawn."""
    own = [*figure.texts]  # the title and the caption among them
    for legend in figure.legends:
        own += [legend.get_title(), *legend.texts]
    for axes in figure.axes:
        if not axes.get_visible():
            continue
        own += [text for text in axes.texts if _drawn(text)]
        own += [axes.get_legend().get_title(), *axes.get_legend().texts] if axes.get_legend() else []
        own += [text for side in axes.child_axes for what in "xy" for text in _ticks(side, what)]
        if axes.axison:
            own += [axes.title, axes._left_title, axes._right_title, axes.xaxis.label, axes.yaxis.label]
            own += [*_ticks(axes, "x"), *_ticks(axes, "y"), axes.xaxis.offsetText, axes.yaxis.offsetText]
    return [text for text in own if text is not None and text.get_visible() and text.get_text().strip()]


def _drawn(text):
    """Return True if a text of a panel is drawn: it is not empty, no arrow alone, and what it notes is not beyond."""
    there = not isinstance(text, Annotation) or text._check_xy(text.figure._get_renderer())
    return text.get_text() and there


def overlaps(figure):
    """Return the pairs of two texts, or of a text and a marker, that lie over each other in a laid-out figure."""
    touch = TOUCH * figure.dpi / 72
    boxes = [(text, text.get_window_extent()) for text in texts(figure)]
    boxes = [(text, box.padded(-touch / 2)) for text, box in boxes if box.width > 2 * touch < 2 * box.height]
    found = [(a.get_text(), b.get_text()) for (a, one), (b, two) in combinations(boxes, 2) if one.overlaps(two)]
    for axes in figure.axes:
        inside = [(text.get_text(), box) for text, box in boxes if text in axes.texts]
        for line in axes.lines if inside else ():
            if line.get_marker() not in ("None", "", None) and line.get_transform() == axes.transData:
                places = axes.transData.transform(np.ma.filled(np.asarray(line.get_xydata(), float), np.nan))
                found += [(name, line.get_label()) for name, box in inside for place in places if box.contains(*place)]
    return found


def beyond_the_paper(figure):
    """Return the texts that a laid-out figure cuts off at its edges."""
    paper = figure.bbox.padded(1)
    boxes = ((text.get_text(), text.get_window_extent()) for text in texts(figure))
    return [
        name
        for name, box in boxes
        if not (paper.x0 <= box.x0 and box.x1 <= paper.x1 and paper.y0 <= box.y0 and box.y1 <= paper.y1)
    ]


def small_letters(figure):
    """Return in words the texts that are too small in print."""
    width = figure.get_figwidth()
    scale = min(1.0, (PORTRAIT if width <= WIDE else LANDSCAPE) / width)
    sizes = {text.get_text(): text.get_fontsize() * scale for text in texts(figure)}
    least = min(sizes, key=sizes.__getitem__, default=None)
    if least is None or sizes[least] >= SMALLEST - 0.05:
        return []
    return [f"{sizes[least]:.2g} points in print: {least!r}"]


def lines_alike(figure):
    """Return in words the pairs of colours of a panel that are hard to tell apart and have lines of the same form."""
    found = set()
    for axes in _panels(figure):
        looks = {}
        for line in axes.lines:
            if line.get_visible() and len(line.get_xdata()) > 1:
                looks.setdefault(to_hex(line.get_color()), set()).add(_form(line))
        for (one, forms), (other, theirs) in combinations(sorted(looks.items()), 2):
            if forms == theirs:
                if distance(one, other) < ALIKE:
                    found.add(f"{one} and {other} look alike to some")
                elif distance(one, other, ("grey",)) < ALIKE / 2:
                    found.add(f"{one} and {other} look alike in grey")
    return sorted(found)


def _form(line):
    """Return marker, filling and dashes of a line, as far as it has any."""
    marked, dashed = line.get_marker() not in ("None", "", None), line.get_linestyle() not in ("None", "")
    how = (str(line.get_marker()), line.get_fillstyle()) if marked else None
    return how, str(line._unscaled_dash_pattern) if dashed else None
