"""The file of `tcdp-sim budget`: allowed errors, as data in YAML. Messages name the line of a mistake."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NoReturn

from tcdp_sim.accounting import CountTarget, DeviationTarget, QuantileTarget, SelectionTarget, Target
from tcdp_sim.core.errors import UserError, place_of, suggestion
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee, PureDP
from tcdp_sim.study import plain_yaml

KINDS: dict[str, type[Any]] = {  # the key with the error decides
    "largest_error": CountTarget,
    "deviation": DeviationTarget,
    "gap": SelectionTarget,
    "rank_error": QuantileTarget,
}
BUDGETS: dict[frozenset[str], type[Any]] = {
    frozenset({"rho"}): ZCDP,
    frozenset({"rho", "omega"}): TCDP,
    frozenset({"epsilon", "delta"}): ApproxDP,
    frozenset({"epsilon"}): PureDP,
}
SETTINGS = ("notion", "delta", "omega", "objective")
KEYS = ("releases", "budget", *SETTINGS)


@dataclass(frozen=True)
class Asked:
    """The content of a file: the targets, a budget or None, and the other arguments of `plan_budget`."""

    targets: tuple[Target, ...]
    budget: Guarantee | None
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class _File:
    """A file with the line of each key, for messages."""

    path: str
    lines: Mapping[str, int]

    def refuse(self, place: str, message: str) -> NoReturn:
        line = self.lines.get(place)
        near = "" if line is None else f":{line}"
        raise UserError(f"{self.path}{near}: {message}", place)

    def only(self, keys: Any, where: str, valid: tuple[str, ...]) -> None:
        for key in keys:
            if key not in valid:
                place = f"{where}.{key}" if where else key
                self.refuse(place, f"{key!r} is not a key here; valid: {', '.join(valid)}{suggestion(key, valid)}")


def read(path: str) -> Asked:
    """Return the question of a file. Raises UserError that names the file and the line."""
    value, lines = plain_yaml.read(path)
    file = _File(path, lines)
    if not isinstance(value, dict) or not isinstance(value.get("releases"), list) or not value["releases"]:
        file.refuse("releases", "no releases; valid: a key `releases` with a list, as in examples/budget.yaml")
    file.only(value, "", KEYS)
    targets = tuple(_target(file, item, f"releases[{i}]") for i, item in enumerate(value["releases"]))
    settings = {key: value[key] for key in SETTINGS if value.get(key) is not None}
    return Asked(targets, _budget(file, value.get("budget")), settings)


def _target(file: _File, item: Any, place: str) -> Target:
    if not isinstance(item, dict) or not item:
        file.refuse("releases", f"{place} is not a mapping; valid: keys such as largest_error, k and noise")
    first = f"{place}.{next(iter(item))}"
    kinds = [key for key in KINDS if key in item]
    if len(kinds) != 1:
        near = "" if kinds else next(filter(None, (suggestion(key, tuple(KINDS)) for key in item)), "")
        message = f"a release has {' and '.join(kinds) or 'no error'}; valid: one of {', '.join(KINDS)}{near}"
        file.refuse(first, message)
    kind = KINDS[kinds[0]]
    file.only(item, place, tuple(field.name for field in fields(kind)))
    _need_types(file, item, place)
    try:
        target: Target = kind(**item)
    except (ValueError, TypeError, OverflowError) as mistake:
        key = place_of(mistake) if place_of(mistake) in item else kinds[0]
        file.refuse(f"{place}.{key}", str(mistake))
    return target


def _need_types(file: _File, item: Mapping[str, Any], place: str) -> None:
    """Refuse texts for numbers and numbers for texts, which the targets take from Python as they are."""
    for key, value in item.items():
        wanted: Any = str if key in ("name", "noise", "mechanism") else bool if key == "monotone" else (int, float)
        if value is None and key in KINDS:
            continue
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            words = {str: "a text", bool: "true or false"}.get(wanted, "a number")
            file.refuse(f"{place}.{key}", f"{key} = {value!r} is not valid; valid: {words}")


def _budget(file: _File, value: Any) -> Guarantee | None:
    if value is None:
        return None
    valid = "rho; rho and omega; epsilon and delta; or epsilon alone"
    if not isinstance(value, dict) or frozenset(value) not in BUDGETS:
        file.refuse("budget", f"budget = {value!r} is not valid; valid: {valid}")
    try:
        guarantee: Guarantee = BUDGETS[frozenset(value)](**value)
    except (ValueError, TypeError, OverflowError) as mistake:
        key = place_of(mistake)
        file.refuse(f"budget.{key}" if key in value else "budget", str(mistake))
    return guarantee
