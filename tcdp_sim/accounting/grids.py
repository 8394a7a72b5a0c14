"""Answers of ledgers over a grid of parameters, as a data set with labels."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from tcdp_sim.accounting.ledger import Ledger
from tcdp_sim.core.errors import choice
from tcdp_sim.core.numerics import Bounds

QUESTIONS = ("epsilon", "delta", "tradeoff", "attack", "renyi", "gaussian_mu")
ENDS = ("lower", "estimate", "upper")
MOST_CELLS = 10**6


def ledger_grid(ledger_of: Callable[..., Ledger], question: str, at: float | Sequence[float], **axes: Any) -> Any:
    """Return the answers of a ledger for all combinations of some parameters, such as rates and scales in arrays.

    Parameters
    ----------
    ledger_of : callable
        A function that takes one value of every axis by its name and returns the ledger.
    question : {"epsilon", "delta", "tradeoff", "attack", "renyi", "gaussian_mu"}
        The name of a method of `Ledger` with one argument.
    at : float or list of float
        The argument of the question, at least 0, such as delta for "epsilon". A list is one more axis, of the name
        "at".
    **axes : list
        The values of each parameter.

    Returns
    -------
    xarray.DataArray
        The answers in the question's own units (nats for epsilon), with a dimension for every axis in the given order,
        then "at" if that is a list, and the dimension "end" with the labels "lower", "estimate" and "upper".

    Raises
    ------
    ValueError
        If the question is unknown, an axis is empty, there are more than 10^6 cells, or a ledger raises one: its
        message is preceded by the values of the axes.

    Examples
    --------
    >>> from tcdp_sim.accounting import Additive, Ledger, Sampled, ledger_grid
    >>> from tcdp_sim.noise import Gaussian
    >>> def training(sigma, rate):
    ...     return Ledger([(Sampled(Additive(Gaussian(sigma)), rate), 100)], "add_remove")
    >>> found = ledger_grid(training, "epsilon", 1e-6, sigma=[1.0, 2.0], rate=[0.01, 0.02])
    >>> found.sel(end="upper").round(2).values.tolist()
    [[0.95, 1.77], [0.23, 0.48]]
    """
    import xarray  # imported late, as ledgers need no arrays with labels

    choice("question", question, QUESTIONS)
    values: dict[str, list[Any]] = {name: list(each) for name, each in axes.items()}
    several = isinstance(at, Sequence | np.ndarray)
    asked = list(at) if isinstance(at, Sequence | np.ndarray) else [at]
    sizes = [len(each) for each in (*values.values(), asked)]
    if not 0 < np.prod(sizes) <= MOST_CELLS:
        raise ValueError(f"axes of {sizes} values are not valid; valid: 1 to {MOST_CELLS:,} cells in all")
    cells = [
        tuple(_answer(ledger_of, question, dict(zip(values, cell)), each))
        for cell in product(*values.values())
        for each in asked
    ]
    found = np.array(cells).reshape(*sizes, len(ENDS))
    coords = {**values, "at": asked, "end": list(ENDS)} if several else {**values, "end": list(ENDS)}
    return xarray.DataArray(found if several else found[..., 0, :], coords, list(coords), question)


def _answer(ledger_of: Callable[..., Ledger], question: str, cell: dict[str, Any], at: float) -> Bounds:
    try:
        bounds: Bounds = getattr(ledger_of(**cell), question)(at)
        return bounds
    except ValueError as mistake:
        named = ", ".join(f"{name} = {value!r}" for name, value in cell.items())
        raise ValueError(f"{named}: {mistake}") from None
