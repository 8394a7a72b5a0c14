"""What every figure keeps to: few legend entries, a title, labelled axes, and no text under other things."""

from itertools import combinations

from matplotlib.text import Annotation, Text

MOST_ENTRIES = 8


def broken_rules(figure):
    """Return in words which rules a figure breaks. It must have been laid out."""
    legends = [*figure.legends, *filter(None, (axes.get_legend() for axes in figure.axes))]
    found = [f"{len(legend.texts)} legend entries" for legend in legends if len(legend.texts) > MOST_ENTRIES]
    panels = [axes for axes in figure.axes if axes.axison and axes.get_visible()]
    if not figure.get_suptitle() and not any(_title(axes) for axes in panels):
        found.append("no title")
    for what in ("x", "y"):
        if not any(getattr(axes, f"get_{what}label")() or _named(axes, what) for axes in panels):
            found.append(f"no {what} label")
    return found


def _title(axes):
    return any(axes.get_title(loc) for loc in ("left", "center", "right"))


def _named(axes, what):
    """Return True if the ticks of an axis are names, which say by themselves what they are."""
    labels = [text.get_text() for text in getattr(axes, f"get_{what}ticklabels")()]
    return any(not text.lstrip("−-$").replace(".", "", 1)[:1].isdigit() for text in labels if text)


def overlaps(figure):
    """Return the pairs of a text and a marker, or of two texts, that lie over each other in a laid-out figure."""
    found = []
    for axes in figure.axes:
        texts = [text for text in axes.texts if _drawn(text)]
        boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
        found += [(a, b) for (a, one), (b, other) in combinations(boxes, 2) if one.overlaps(other)]
        for line in axes.lines:
            if line.get_marker() not in ("None", "", None) and line.get_transform() == axes.transData:
                places = axes.transData.transform(line.get_xydata())
                found += [(name, line.get_label()) for name, box in boxes for place in places if box.contains(*place)]
    return found


def _drawn(text):
    return isinstance(text, Text) and text.get_text() and not (isinstance(text, Annotation) and text.arrow_patch)


def beyond_the_paper(figure):
    """Return the texts that a laid-out figure cuts off at its edges."""
    paper = figure.bbox.expanded(1.001, 1.001)
    texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible() and not text.get_clip_on()]
    inside = {text: text.get_window_extent() for axes in figure.axes for text in axes.texts if text in set(texts)}
    inside |= {text: text.get_window_extent() for text in (figure._suptitle, figure._supxlabel) if text is not None}
    return [
        text.get_text()
        for text, box in inside.items()
        if not (paper.x0 <= box.x0 and box.x1 <= paper.x1 and paper.y0 <= box.y0 and box.y1 <= paper.y1)
    ]
