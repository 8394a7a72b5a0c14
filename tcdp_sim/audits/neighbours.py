"""Neighbouring inputs in words: answers that move, records added, removed or replaced, or pairs of the user's own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.audits import data_sets
from tcdp_sim.audits.pairs import answer_pairs
from tcdp_sim.core.errors import UserError, real

RELATIONS = {
    "add_remove": (data_sets.add_remove, "one record added or removed"),
    "substitute": (data_sets.substitute, "one record replaced"),
}


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Pairs of neighbouring inputs with their relation in words.

    Attributes
    ----------
    pairs : tuple of (data, other)
        The pairs. An audit looks at both directions of each, and passes the inputs on as they are.
    relation : str
        The difference between neighbours, for the first line of a report.
    tried : tuple of str
        The difference of each pair in words, such as "with 99"; empty for pairs of one's own.
    ordinary : bool
        True if no domain was given, so that only copies of the data's own records are added or put in.

    Examples
    --------
    >>> from tcdp_sim.audits import Neighbours
    >>> Neighbours((([1, 2], [1, 3]),), "the last record replaced").relation
    'the last record replaced'
    """

    pairs: tuple[tuple[Any, Any], ...]
    relation: str
    tried: tuple[str, ...] = ()
    ordinary: bool = False


def answers(d: int, sensitivity: float = 1.0, *, one: bool = False) -> Neighbours:
    """Return neighbours that are vectors of answers to queries, of which all may move.

    Use it for a mechanism whose input is a vector of exact answers, such as counts. They follow the patterns of StatDP
    (Ding et al. 2018 [DWWZK18]), which `answer_pairs` lists.

    Source: Ding et al. (2018) [DWWZK18].

    Parameters
    ----------
    d : int
        Number of answers, from 1 to 10,000.
    sensitivity : float
        The largest change of an answer between neighbours, positive.
    one : bool
        True if only a single answer may move, as for the bins of a histogram.

    Returns
    -------
    Neighbours
        Two pairs if `one` is true or d is 1, else nine.

    Examples
    --------
    >>> from tcdp_sim.audits import answers
    >>> answers(1, 5.0).relation
    'one answer moves by up to 5'
    >>> [(data.tolist(), other.tolist()) for data, other in answers(1, 5.0).pairs]
    [([5.0], [0.0]), ([5.0], [10.0])]
    """
    try:
        sensitivity = real("sensitivity", sensitivity, 0)
    except ValueError as mistake:
        raise UserError(str(mistake)) from None
    pairs = tuple((sensitivity * data, sensitivity * other) for data, other in answer_pairs(d, one))
    who = "one answer moves" if one or d == 1 else f"all {d} answers move"
    for side in (side for pair in pairs for side in pair):
        side.setflags(write=False)
    return Neighbours(pairs, f"{who} by up to {sensitivity:g}")


def records(data: Any, relation: str = "add_remove", domain: Iterable[Any] | None = None) -> Neighbours:
    """Return neighbours of a real data set.

    At most four records are removed, and at most four added (or replaced by four others): the least, the largest, the
    rarest and the most frequent ones. The mechanism gets each data set in the kind of container that you give.

    Parameters
    ----------
    data : list, tuple, array, set, string, pandas.Series or pandas.DataFrame
        The records. The records of an array are its rows, and the records of a string its letters.
    relation : {"add_remove", "substitute"}
        The difference between neighbours: one record that only one of them has, or one record that has another value.
    domain : iterable of records or mapping, optional
        Records that a person could have. The least and the largest possible ones tell most. Records of a frame are
        dicts or tuples. For a frame or a list of dicts it may be a mapping from each column to its possible values, of
        which the ends are enough: at most 12 records of such extremes, and with keys that are new to the data, are
        tried. By default the records of `data` are used, and the report says so.

    Returns
    -------
    Neighbours
        The pairs of the data and each neighbour.

    Examples
    --------
    >>> from tcdp_sim.audits import records
    >>> found = records([20, 30], domain=[0, 99])
    >>> found.relation
    'one record added or removed'
    >>> [other for data, other in found.pairs]
    [[30], [20], [20, 30, 0], [20, 30, 99]]
    >>> [other for data, other in records("ab", "substitute", domain=["c"]).pairs]
    ['cb', 'ac']
    """
    if relation not in RELATIONS:
        raise UserError(f"relation = {relation!r} is not valid; valid: 'add_remove', 'substitute'")
    data_sets.size(data)
    generate, words = RELATIONS[relation]
    found = tuple(generate(data, domain))
    if not found:
        hint = "give a domain of possible records" if domain is None else "give a domain with other records"
        raise UserError(f"records() finds no neighbour of these data; {hint}")
    pairs = tuple((one, other) for one, other, _ in found)
    return Neighbours(pairs, words, tuple(difference for *_, difference in found), domain is None)


def given(neighbours: Any) -> Neighbours:
    """Return the neighbours given as `neighbours=`. Raises UserError, for a bare number with both spellings."""
    if isinstance(neighbours, Neighbours):
        return neighbours
    if isinstance(neighbours, int | float | np.number):
        spellings = f"answers({neighbours}) for {neighbours} answers that move, records(data) for a data set"
        raise UserError(f"neighbours = {neighbours} is not clear; valid: {spellings} (both in tcdp_sim.audits)")
    if not isinstance(neighbours, Sequence) or isinstance(neighbours, str) or not len(neighbours):
        missing = "is missing" if neighbours is None else "is not valid"
        valid = "records(data) for a data set, answers(d) for d exact answers, or a list of pairs (data, other)"
        raise UserError(f"neighbours {missing}; valid: {valid}")
    for index, pair in enumerate(neighbours):
        if not isinstance(pair, Sequence | np.ndarray) or isinstance(pair, str) or len(pair) != 2:
            raise UserError(f"pair {index} is not valid; valid: two inputs (data, other)")
    return Neighbours(tuple((pair[0], pair[1]) for pair in neighbours), "pairs as given")
