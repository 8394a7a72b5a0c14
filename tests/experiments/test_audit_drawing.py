"""Figures of audits, from tables made up here: every row is drawn under its name, and none is left out."""

import numpy as np
import pandas as pd
import pytest
from figure_lines import caption, colour, key
from figure_rules import broken
from matplotlib.colors import to_rgba

from tcdp_sim.experiments.audit import drawing, names
from tcdp_sim.mechanisms.audit import LARGEST
from tcdp_sim.mechanisms.audited import METHODS
from tcdp_sim.report import plots
from tcdp_sim.report.looks import direction_look


@pytest.fixture(autouse=True)
def house_style():
    with plots.style():
        yield


def cell(name, planted, bound, claimed=1.0, **more):
    told = {"name": name, "algorithm": "", "bug": "", "shift": 1.0 + planted, "guarantee": f"{claimed:g}-DP"}
    told |= {"planted": planted, "bound": bound, "claimed": claimed, "refuted": bound > claimed, "trials": 1000}
    return told | {"event": "loss >= 1", "threshold": 1.0, "upper": True, "neighbours": "substitute"} | more


def drawn(rows):
    found = {name: figure for name, figure, _ in drawing.figures(pd.DataFrame(rows))}
    for figure in found.values():
        figure.draw_without_rendering()
    return found


def dots(axes):
    """Return (row on its axis, place, marker, colour) of every marker."""
    names_of = [text.get_text() for text in axes.get_yticklabels()]
    found = []
    for line in axes.lines:
        if line.get_marker() in "oD" and line.get_transform() == axes.transData:
            ((x, y),) = line.get_xydata()
            found.append((names_of[round(y)], x, line.get_marker(), colour(line)))
    return sorted(found)


def arrows(axes):
    """Return (start, end) of every arrow, along x."""
    return sorted((text.xyann[0], text.xy[0]) for text in axes.texts if text.arrow_patch)


RED, GREY = to_rgba(plots.WRONG), to_rgba(plots.GREY)


def test_every_method_has_its_bounds_over_its_claims_and_its_bug():
    rows = []
    for i, (name, method) in enumerate(METHODS.items()):
        for planted in (False, True):
            about = {"bug": method.bug, "guarantee": "x"}
            rows.append(cell(name, planted, (1 + i) * (0.02 if not planted else 1.5), 2.0 / (1 + planted), **about))
    rows[0] |= {"bound": 3.0, "refuted": True}
    figure = drawn(rows)["audit_methods"]
    axes = figure.axes[0]
    expected = []
    for row in rows:
        look = ("D" if row["planted"] else "o", RED if row["refuted"] else GREY)
        expected.append((names.METHODS[row["name"]], row["bound"] / row["claimed"], *look))
    assert dots(axes) == sorted(expected)
    right = axes.get_xlim()[1]
    assert arrows(axes) == sorted((place, right) for _, place, _, _ in expected)
    (side,) = axes.child_axes
    titles = [text.get_text() for text in axes.get_yticklabels()]
    bugs = {names.METHODS[name]: method.bug for name, method in METHODS.items()}
    assert [text.get_text() for text in side.get_yticklabels()] == [bugs[title] for title in titles]
    assert (
        f"1 of {len(METHODS)} claims are refuted, and {len(METHODS)} of {len(METHODS)} planted" in figure.get_suptitle()
    )
    assert key(figure, "with the bug").get_marker() == "D"
    assert key(figure, "as it is").get_marker() == "o"
    assert broken(figure) == []


def test_rows_are_grouped_and_sorted_by_their_largest_ratio():
    about = {"algorithm": "permute_and_flip", "event": "selected: 1"}
    rows = [cell("Laplace", False, 0.9), cell("permute_and_flip", False, 0.1, **about), cell("Gaussian", False, 0.2)]
    rows += [cell("Laplace", True, 1.5), cell("Gaussian", True, 4.0), cell("permute_and_flip", True, 8.0, **about)]
    axes = drawn(rows)["audit_bounds"].axes[0]
    assert axes.yaxis_inverted()
    assert [text.get_text() for text in axes.get_yticklabels()] == ["Gaussian", "Laplace", "permute-and-flip"]
    assert [line.get_ydata()[0] for line in axes.lines if line.get_color() == "#BBBBBB"] == [1.5]  # between groups


def test_a_bound_on_a_claim_of_nothing_is_an_arrow_at_the_edge_and_an_infinite_claim_is_not_refuted():
    rows = [cell("Laplace", True, 0.5, 0.0), cell("Gaussian", False, 0.0, 0.0), cell("sinh-normal", False, 3.0, np.inf)]
    figure = drawn(rows)["audit_bounds"]
    axes = figure.axes[0]
    assert [(name, place) for name, place, _, _ in dots(axes)] == [("Gaussian", 0.0), ("sinh-normal", 0.0)]
    assert len(arrows(axes)) == 3
    assert axes.get_yticklabels()[0].get_text() == "Laplace"
    assert "a claim of 0" in caption(figure)
    assert "claim of 0" not in caption(drawn([cell("Laplace", True, 0.5)])["audit_bounds"])


def test_several_distances_have_rows_of_their_own():
    rows = [cell("Laplace", shift > 1, 0.9 * shift, shift=shift) for shift in (1.0, 2.0, 3.0)]
    axes = drawn(rows)["audit_bounds"].axes[0]
    assert [(name, place) for name, place, _, _ in dots(axes)] == [
        (f"Laplace, moved by {shift}", 0.9 * shift) for shift in (1, 2, 3)
    ]


def curve(of):
    """Return the rows of a curve with shares that differ, and infinite losses."""
    at = [-LARGEST, -1.0, 0.0, 1.0, LARGEST]
    first, second = [0.99, 0.9, 0.7, 0.4, 0.2], [0.98, 0.6, 0.3, 0.1, 0.0]
    return [
        of | {"trials": 0, "threshold_at": t, "share_first": p, "share_second": q} for t, p, q in zip(at, first, second)
    ]


def test_tails_of_both_neighbours_and_the_event_are_drawn():
    rows = [
        cell("Laplace", False, 0.9, threshold=0.5),
        cell("Laplace", True, 1.9, threshold=0.25, upper=False),
        cell("Gaussian", True, 1.9, 0.5, event="Renyi divergence of order 2.25, by losses in cells", threshold=0.5),
        cell("truncated Laplace", True, 5.0, threshold=LARGEST),
    ]
    selection = cell("permute_and_flip", False, 0.5, algorithm="permute_and_flip", event="selected: 1")
    table = [*rows, *(point for row in rows for point in curve(row)), selection, *curve(selection)]
    figure = drawn(table)["audit_events"]
    assert len(figure.axes) >= 4
    for axes, row in zip(figure.axes, rows):
        title = axes.get_title()
        assert title.startswith(f"{row['name']}, moved by {row['shift']:g}\nat least {row['bound']:g}, claimed")
        assert title.endswith("$D_{2.25}$") == row["event"].startswith("Renyi")
        for (first, second), place in (((0.9, 0.6), -1), ((0.7, 0.3), 0), ((0.4, 0.1), 1)):
            for line, share, way in zip(axes.lines, (first, second), ("forward", "backward")):
                i = line.get_xdata().tolist().index(place)
                assert line.get_ydata()[i] == pytest.approx(share if row["upper"] else 1 - share)
                assert line.get_color() == direction_look(way)["color"]
        assert max(abs(axes.lines[0].get_xdata())) == 1  # infinite losses are beyond the axis
    low, high = figure.axes[0].get_xlim()
    (above,), (below,) = figure.axes[0].patches, figure.axes[1].patches
    assert (above.get_x(), above.get_x() + above.get_width()) == pytest.approx((0.5, high))
    assert (below.get_x(), below.get_x() + below.get_width()) == pytest.approx((low, 0.25))
    assert above.get_facecolor()[:3] == GREY[:3]
    assert below.get_facecolor()[:3] == RED[:3]
    assert not figure.axes[2].patches
    (arrow,) = figure.axes[3].texts
    assert arrow.xy[0] > arrow.xyann[0]
    said = caption(figure)
    assert "the other 1 audits have no losses" in said
    assert "infinite loss" in said
    assert "0 of 1 answers that move as promised, and 3 of 3 that move further" in figure.get_suptitle().replace(
        "\n", " "
    )
    assert broken(figure) == []


def test_every_audited_method_has_a_name_and_a_group():
    assert set(names.METHODS) == set(METHODS)
    assert len({names.in_words(name) for name in METHODS}) == len(METHODS)
    assert all(names.group(name) for name in METHODS)
    assert names.in_words("generalized_histogram, Gaussian") == "Alg. 21, Gaussian"
    assert names.group("Laplace") == ""
