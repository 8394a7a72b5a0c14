"""Figures of ledgers, from a table made up here: each interval is drawn with its own ends."""

import numpy as np
import pandas as pd

from tcdp_sim.experiments.ledger import drawing
from tcdp_sim.report import plots


def test_intervals_and_brackets_have_their_own_ends():
    told = {"list": "gaussians", "direction": "forward", "quantity": "delta", "trials": 100, "neighbours": "add-remove"}
    numbers = {"simulated": 0.11, "lower": 0.105, "upper": 0.13, "exact_low": 0.09, "exact_high": 0.11}
    table = pd.DataFrame([told | numbers | {"at": 1.0}])
    with plots.style():
        figure = dict((name, figure) for name, figure, _ in drawing.figures(table))["agreement"]
    (axes,) = figure.axes
    (bars,) = axes.containers
    ((start, end),) = bars.lines[2][0].get_segments()
    np.testing.assert_allclose([start[0], end[0], bars.lines[0].get_xdata()[0]], [5, 30, 10])
    bracket = next(lines for lines in axes.collections if lines.get_linewidth()[0] == 4.0)
    np.testing.assert_allclose(np.array(bracket.get_segments())[0][:, 0], [-10, 10])
    assert "1 of 1 95% intervals meet" in figure.get_suptitle().replace("\n", " ")
