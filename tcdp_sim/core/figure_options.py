"""The options figures.width, figures.title and figures.format, which no result depends on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import isfinite
from typing import Any

from tcdp_sim.core.errors import UserError, only_keys

NARROWEST, WIDEST = 3.0, 20.0  # inches
FORMATS = ("pdf", "svg", "tiff", "png")


@dataclass(frozen=True)
class FigureOptions:
    """How figures are written.

    `width`: the width of every figure in inches, from 3 to 20. None is the width that fits the panels of each figure.
    The letters keep their sizes, so a narrow figure has narrow panels. `title`: False leaves out the title above the
    panels, such as for a journal that wants it in the caption. `format`: the format that is written beside the PNG:
    "pdf", "svg", "tiff" (600 dots per inch), or "png" for the PNG alone.
    """

    width: float | None = None
    title: bool = True
    format: str = "pdf"

    def __post_init__(self) -> None:
        if self.width is not None and not _is_width(self.width):
            valid = f"null, or a width in inches from {NARROWEST:g} to {WIDEST:g}"
            raise UserError(f"figures.width = {self.width!r} is not valid; valid: {valid}", "figures.width")
        if not isinstance(self.title, bool):
            raise UserError(f"figures.title = {self.title!r} is not valid; valid: true or false", "figures.title")
        if self.format not in FORMATS:
            raise UserError(
                f"figures.format = {self.format!r} is not valid; valid: {', '.join(FORMATS)}", "figures.format"
            )

    def endings(self) -> tuple[str, ...]:
        """Return the endings of the files of a figure, without the table of its numbers."""
        return tuple(dict.fromkeys((".png", f".{self.format}")))

    def as_dict(self) -> dict[str, Any]:
        """Return the options as plain data."""
        return asdict(self)


PLAIN = FigureOptions()


def _is_width(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and isfinite(value) and NARROWEST <= value <= WIDEST  # type: ignore[arg-type,operator]


def figure_options(given: Any) -> FigureOptions:
    """Return the options of a section `figures`, such as {"width": 3.5}. Raises UserError."""
    if isinstance(given, FigureOptions):
        return given
    names = [each.name for each in fields(FigureOptions)]
    if given is not None and not isinstance(given, Mapping):
        valid = ", ".join(f"figures.{name}=" for name in names)
        raise UserError(f"figures = {given!r} is not valid; valid: {valid}", "figures")
    only_keys("figures", given or (), names)
    return FigureOptions(**(given or {}))
