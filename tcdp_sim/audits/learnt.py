"""Scores that scikit-learn (an optional extra) learns from a pilot: logistic regression and a decision tree."""

import warnings
from typing import Any

import numpy as np

from tcdp_sim.audits.scores import Additive, Linear, Score, Tree
from tcdp_sim.audits.tables import log_ratio
from tcdp_sim.core.arrays import Floats

DEPTH = 6
LEAST_LEAF = 100  # outputs in a leaf, or a 500th of the pilot if that is more
REGRESSED = 20_000  # outputs of each input that logistic regression is fitted to


def available() -> bool:
    """Return True if scikit-learn is installed."""
    from importlib.util import find_spec

    return find_spec("sklearn") is not None


def scores(first: Floats, second: Floats, steps: Additive | None) -> list[Score]:
    """Return scores learnt from the outputs of each input, shape (trials, d).

    `steps` are the steps of the output's values. Their heights are fitted anew, because columns may depend on each
    other. Outputs with infinite numbers give only this score.
    """
    found = [] if steps is None else [_steps(first, second, steps)]
    if np.isfinite(first).all() and np.isfinite(second).all():
        found += [_linear(first[:REGRESSED], second[:REGRESSED]), _tree(first, second)]
    return found


def _labelled(first: Floats, second: Floats) -> tuple[Floats, Any]:
    """Return the outputs of both inputs in one array, with labels 1 and 0."""
    return np.concatenate([first, second]), np.repeat([1, 0], [len(first), len(second)])


def _linear(first: Floats, second: Floats) -> Score:
    """Fit logistic regression to the outputs' numbers."""
    from sklearn.linear_model import LogisticRegression

    x, label = _labelled(first, second)
    scale = np.maximum(x.std(axis=0), 1e-300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a score need not have converged
        model = LogisticRegression(max_iter=50).fit((x - x.mean(axis=0)) / scale, label)
    return Linear(model.coef_[0] / scale, "logistic regression on the output")


def _steps(first: Floats, second: Floats, steps: Additive) -> Score:
    """Fit logistic regression to the cells of the outputs' values."""
    from scipy.sparse import csr_array
    from sklearn.linear_model import LogisticRegression

    x, label = _labelled(first, second)
    used = [column for column, edges in enumerate(steps.edges) if len(edges)]
    sizes = [len(steps.steps[column]) for column in used]
    starts = np.cumsum([0, *sizes])
    cells = [np.searchsorted(steps.edges[column], x[:, column], side="right") for column in used]
    indices = (np.stack(cells, axis=1) + starts[:-1]).ravel()
    rows = np.arange(len(x) + 1) * len(used)
    design = csr_array((np.ones(len(indices)), indices, rows), shape=(len(x), starts[-1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a score need not have converged
        weights = LogisticRegression(max_iter=100).fit(design, label).coef_[0]
    heights = [np.zeros(1)] * len(steps.edges)
    for column, start, size in zip(used, starts, sizes):
        heights[column] = weights[start : start + size]
    return Additive(steps.kind, steps.edges, tuple(heights), "logistic regression on steps of each value", steps.names)


def _tree(first: Floats, second: Floats) -> Score:
    """Fit a decision tree and return the log likelihood ratio of each leaf as a score."""
    from sklearn.tree import DecisionTreeClassifier

    x, label = _labelled(first, second)
    least = max(LEAST_LEAF, len(x) // 500)
    model = DecisionTreeClassifier(max_depth=DEPTH, min_samples_leaf=least, random_state=0)
    tree: Any = model.fit(np.clip(x, -3e38, 3e38), label).tree_
    leaf = tree.children_left < 0
    own = np.arange(len(leaf))
    shares = tree.value[:, 0, :] * tree.n_node_samples[:, None]
    below, above = (np.where(leaf, own, child) for child in (tree.children_left, tree.children_right))
    edges = np.where(leaf, 0.0, tree.threshold)
    ratios = log_ratio(shares[:, 1], shares[:, 0])
    return Tree(np.maximum(tree.feature, 0), edges, below, above, ratios, tree.max_depth, "leaf of a decision tree")
