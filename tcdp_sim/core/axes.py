"""The declaration of a sweep's axis, made once by the class that reads it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

Kind = Literal["number", "whole", "text", "flag", "option", "plain"]


@dataclass(frozen=True)
class Axis:
    """An axis of a sweep.

    Parameters
    ----------
    name : str
        The key in `sweep` and the column in published tables.
    meaning : str
        The meaning in a few words.
    unit : str
        The unit of the values, "1" for a pure number, "" for values that are not numbers.
    valid : str
        The valid values, in words.
    kind : str
        "number" for a number or a word that the reader of the axis knows; "whole" for the same, with the values of a
        range rounded to whole numbers; "text" for a name; "flag" for true or false; "option" for the name of a file in
        the folder of conf/ that has the axis's name; "plain" for any plain data, which stays as it is given.
    default : object
        The value where a sweep gives none; None if there is no default.
    words : tuple of str
        Words that are valid in place of a number.
    short : str
        The name in published tables, which is valid in `sweep` as well, if it is not `name`. Laws keep `name`.

    Examples
    --------
    >>> Axis("scale", "scale of the noise", "counts", "above 0").has_exponent
    True
    """

    name: str
    meaning: str
    unit: str = ""
    valid: str = ""
    kind: Kind = "number"
    default: Any = None
    words: tuple[str, ...] = ()
    short: str = ""

    @property
    def published(self) -> str:
        """The name in published tables."""
        return self.short or self.name

    @property
    def choices(self) -> tuple[str, ...]:
        """The names that are valid for an axis of kind "text"; empty if they are not listed."""
        names = self.valid.split(", ") if self.kind == "text" else ()
        return tuple(names) if all(name.isidentifier() for name in names) else ()

    @property
    def has_exponent(self) -> bool:
        """True if the values may be given by their exponents, as log10_<name>."""
        return self.kind in ("number", "whole", "plain")


def declared(*axes: Axis) -> Mapping[str, Axis]:
    """Return the axes by name, each once, in the order of their first occurrence.

    Parameters
    ----------
    *axes : Axis
        The axes. If several have the same name, the first one counts.

    Returns
    -------
    mapping of str to Axis
        The axes by name, read-only.

    Examples
    --------
    >>> list(declared(Axis("k", "bins"), Axis("rho", "privacy"), Axis("k", "candidates")))
    ['k', 'rho']
    """
    by_name: dict[str, Axis] = {}
    for axis in axes:
        by_name.setdefault(axis.name, axis)
    return MappingProxyType(by_name)
