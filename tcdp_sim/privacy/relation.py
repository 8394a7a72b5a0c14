"""The neighbouring relation: the difference between two data sets whose outputs must be hard to distinguish."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from tcdp_sim.core.errors import choice


class Relation(StrEnum):
    """A neighbouring relation. A member equals its text, so every function takes the text as well.

    - ADD_REMOVE: one of two neighbours has one record more.
    - SUBSTITUTE: one record is replaced by another. The number of records is public.
    - ZERO_OUT: one record is replaced by an empty one, which may be drawn into a sample and adds nothing to any answer.
      The number of records is public. Where no sample depends on that number, it is the same as ADD_REMOVE.

    Examples
    --------
    >>> Relation.ADD_REMOVE == "add_remove"
    True
    """

    ADD_REMOVE = "add_remove"
    SUBSTITUTE = "substitute"
    ZERO_OUT = "zero_out"


OF_COUNTS = (Relation.ADD_REMOVE, Relation.SUBSTITUTE)  # those that answers on all records distinguish
ABSENT = (Relation.ADD_REMOVE, Relation.ZERO_OUT)  # those in which a record adds nothing to one of two neighbours
_AS_WRITTEN = {Relation.ADD_REMOVE: "add-remove"}  # on axes of sweeps and in published tables, as cells are identified


def known_relation(value: Any, valid: Iterable[str] = OF_COUNTS, name: str = "relation") -> str:
    """Return a relation as text. Raises ValueError that names the argument and the valid relations otherwise."""
    return str(choice(name, value, tuple(str(each) for each in valid)))


def written(relation: str) -> str:
    """Return a relation as axes of sweeps and published tables write it. Other texts stay as they are."""
    return _AS_WRITTEN.get(relation, str(relation))  # type: ignore[call-overload]


def from_axis(value: Any, name: str = "neighbours") -> str:
    """Return the relation that an axis of a sweep gives in either spelling. Raises ValueError for another text."""
    texts = {written(each): str(each) for each in OF_COUNTS}
    return str(texts.get(value, value)) if value in (*texts, *texts.values()) else choice(name, value, tuple(texts))
