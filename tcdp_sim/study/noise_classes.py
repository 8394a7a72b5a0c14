"""The noise classes of the user's own: what makes one valid, its name and its record."""

from dataclasses import is_dataclass
from typing import Any

from tcdp_sim.core import own_noises, registry, user_files
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.identity import identity
from tcdp_sim.core.own_noises import Own
from tcdp_sim.core.texts import show
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.noise import FAMILIES, Noise
from tcdp_sim.noise.guard import is_foreign
from tcdp_sim.study import groups

Records = dict[str, dict[str, Any]]
VALID = "valid: a class that derives from tcdp_sim.noise.Noise, or an object of one"


def of_object(thing: Any, records: Records) -> Any:
    """Return the name of the noise of a class or an object, as `load` does; any other value unchanged."""
    return _read(thing, _place_of(thing), records) if isinstance(thing, Noise | type) else thing


def load(place: str, records: Records) -> str:
    """Return the name of the noise FILE.py:CLASS, let this process use it, and add its record. Raises UserError."""
    return _read(user_files.load(place), place, records)


def _place_of(thing: Any) -> str:
    """Return FILE.py:CLASS of a class or of the class of an object, as a command would name it."""
    kind = thing if isinstance(thing, type) else type(thing)
    home = user_files.home_of(kind) or kind.__module__
    return f"{home.replace('.', '/')}.py:{kind.__qualname__}"


def _read(thing: Any, place: str, records: Records) -> str:
    """Return the name of the noise of a class or object, let this process use it, and add its record.

    Raises UserError if it is no noise of which cells can be known.
    """
    kind = thing if isinstance(thing, type) else type(thing)
    if not issubclass(kind, Noise):
        raise UserError(f"{place} is not a noise: it is {show(thing)}; {VALID}")
    if not is_foreign(kind):
        return _of_package(thing, kind, place, records)
    _check(kind, place)
    known = identity(kind, user_files.home_of(kind))
    if known is None:
        raise UserError(
            f"{place} cannot be identified (it has no source, or reads more than plain data), so no number could be "
            "kept under its name; put the class into a file"
        )
    own_noises.bring(Own(kind.family, kind, known["source"]))
    return _recorded(thing, place, known["source"], records)


def _check(kind: type[Noise], place: str) -> None:
    """Raise UserError unless a class gives what every noise does, and a family of its own."""
    if lacking := sorted(kind.__abstractmethods__):
        raise UserError(f"{place} has no {lacking[0]}, which every noise gives")
    family = getattr(kind, "family", None)
    if not (isinstance(family, str) and family.isidentifier()):
        raise UserError(f'{place} has family = {family!r}; valid: a name such as family = "{kind.__name__.lower()}"')
    if family in (*FAMILIES, *groups.options("noise"), *registry.plug_ins("noise")):
        raise UserError(f"{place} calls itself {family!r}, a name that is taken; valid: family = another name")
    if not (is_dataclass(kind) and kind.parameters()):
        raise UserError(
            f"{place} has no parameters; valid: a class under @dataclass(frozen=True, eq=False) with fields"
        )


def _of_package(thing: Any, kind: type[Noise], place: str, records: Records) -> str:
    """Return the name of a noise of the package."""
    if not isinstance(thing, type):
        return _recorded(thing, place, "", records)
    if kind.family not in groups.options("noise"):
        raise UserError(f"{place} is no name of sweep.noise; valid: {', '.join(groups.options('noise'))}, or an object")
    return str(kind.family)


def _shown(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _recorded(thing: Any, place: str, source: str, records: Records) -> str:
    """Add the record of a noise, and return its name: an object's states its parameters."""
    record: dict[str, Any] = {"family": thing.family, "calibration": "tight", "place": place, "source": source}
    name = thing.family
    if not isinstance(thing, type):
        given = noise_axes.parameters(thing)
        name = f"{name}({', '.join(f'{key}={_shown(value)}' for key, value in given.items())})"
        record |= {"calibration": "given", "parameters": given}
    if records.get(name, {}).get("source", source) != source:
        raise UserError(
            f"{place} and {records[name]['place']} have one name, {name}; valid: a family of its own for each"
        )
    records[name] = record | {"label": name}
    return str(name)
