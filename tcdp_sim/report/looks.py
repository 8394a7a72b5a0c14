"""A colour and a marker for each noise, the same in every figure; dashes for the algorithm."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Any

from matplotlib.colors import to_hex, to_rgb

# Okabe-Ito, with wine for its yellow, which print loses: told apart with every common colour blindness. In grey,
# markers tell the series and dashes the kinds.
COLOURS = ("#000000", "#E69F00", "#0072B2", "#D55E00", "#CC79A7", "#009E73", "#56B4E9", "#882255")
MARKERS = ("s", "D", "o", "^", "v", "<", ">", "P")
DASHES = (
    "-",
    (0, (7, 1.6)),
    (0, (5, 1.4, 1, 1.4)),
    (0, (2.6, 1.1)),
    (0, (8, 1.4, 1, 1.4, 1, 1.4)),
    (0, (3, 3)),
    (0, (12, 2)),
    (0, (4, 1.4, 4, 1.4, 1, 1.4)),
)
NOISES = {  # family, or family and calibration -> place in COLOURS and MARKERS
    "laplace": 0,
    "truncated_laplace": 1,
    "gaussian": 2,
    "sinh_normal": 3,
    "sinh_normal, tight": 5,
    "sinh_squared, tight": 7,
}
FILLS = ("full", "none", "left", "top")  # of the markers of a noise's variants
STEP, LIGHTEST = 0.4, 0.6  # white that each has more than the one before, and at most

Style = dict[str, Any]


@dataclass(frozen=True)
class Series:
    """One line of a figure: its label in the legend, its noise and the variant of that (an omega), its algorithm.

    noise: a name; family and calibration: what it is, as the results say. A series without noise is its algorithm's.
    """

    label: str
    noise: str = ""
    family: str = ""
    calibration: str = ""
    variant: str = ""
    algorithm: str = ""


def noise_looks(noises: Iterable[tuple[str, str, str]]) -> dict[str, Style]:
    """Name -> colour and marker of each (name, family, calibration); up to 64 of them differ.

    The noises of this package look the same in every figure. A second one of the same family and calibration, and
    those that are not of this package, take what is left, in order of appearance.
    """
    places: dict[str, int] = {}
    waiting = []
    for name, family, calibration in dict.fromkeys(noises):
        place = NOISES.get(f"{family}, {calibration}", NOISES.get(family))
        if place is None or place in places.values():
            waiting.append(name)
        else:
            places[name] = place
    reserved = {*NOISES.values()} if len(waiting) <= len(COLOURS) - len(NOISES) else {*places.values()}
    free = [place for place in range(len(COLOURS)) if place not in reserved]
    for i, name in enumerate(waiting):
        places[name] = free[i] if i < len(free) else len(COLOURS) + i - len(free)
    return {name: _place(place) for name, place in places.items()}


def noise_styles(series: Iterable[Series]) -> dict[str, Style]:
    """Label -> colour, marker, filling and dashes, for series in order of appearance.

    The colour and the marker are the noise's; its variants differ in shade and filling, and, where no series has an
    algorithm, in their dashes. Dashes are the algorithm's elsewhere.
    """
    series = list(dict.fromkeys(series))
    looks = noise_looks((one.noise or one.algorithm, one.family, one.calibration) for one in series)
    algorithms = _numbered(one.algorithm for one in series if one.noise)
    variants: dict[str, dict[str, int]] = {}
    for one in series:
        own = variants.setdefault(one.noise or one.algorithm, {})
        own.setdefault(one.variant, len(own))
    styles = {}
    for one in series:
        name = one.noise or one.algorithm
        nth, count = variants[name][one.variant], len(variants[name])
        dashes = algorithms[one.algorithm] if len(algorithms) > 1 and one.noise else nth
        look = looks[name]
        styles[one.label] = look | {
            "color": lighter(look["color"], nth * min(STEP, LIGHTEST / max(count - 1, 1))),
            "fillstyle": FILLS[nth % len(FILLS)],
            "linestyle": DASHES[dashes % len(DASHES)],
        }
    return styles


def series_styles(series: Iterable[tuple[str, str]]) -> dict[str, Style]:
    """Label -> colour, marker and dashes, for (label, kind) of what is no noise; a kind is one pattern of dashes.

    In order of appearance. Colours and markers repeat after eight series, but up to 64 no pair of them does.
    """
    styles: dict[str, Style] = {}
    kinds: dict[str, int] = {}
    for label, kind in dict.fromkeys(series):
        dash = DASHES[kinds.setdefault(kind, len(kinds)) % len(DASHES)]
        styles[label] = _place(len(styles)) | {"linestyle": dash}
    return styles


def of_omega(row: Mapping[str, Any]) -> str:
    """ ", ω√ρ = 2": the omega of a row as the sweep gave it, to follow a name; "" if it is the same for every omega."""
    scaled, omega = (row.get(name, nan) for name in ("omega_sqrt_rho", "omega"))
    if inf in (scaled, omega):
        return ", zCDP"
    return f", ω√ρ = {scaled:g}" if not isnan(scaled) else f", ω = {omega:g}" if not isnan(omega) else ""


def line_of(style: Style) -> Style:
    """The part of a style that a line takes."""
    return {name: style[name] for name in ("color", "linestyle") if name in style}


def marks_of(style: Style) -> Style:
    """The part of a style that markers take."""
    return {name: style[name] for name in ("color", "marker", "fillstyle") if name in style}


def lighter(colour: str, white: float) -> str:
    """A colour with that share of white in it, 0 to 1."""
    red, green, blue = (channel + white * (1 - channel) for channel in to_rgb(colour))
    return str(to_hex((red, green, blue))).upper()


def _place(i: int) -> Style:
    n = len(COLOURS)
    return {"color": COLOURS[i % n], "marker": MARKERS[(i + i // n) % n]}


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: i for i, name in enumerate(dict.fromkeys(names))}
