"""Colours and markers for noises and methods, the same in every figure, and dashes for algorithms."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Any

from matplotlib import colormaps
from matplotlib.colors import to_hex, to_rgb

# The Okabe-Ito colours with wine instead of yellow, which is lost in print. They stay distinct under every common
# colour blindness. In grey, markers distinguish series and dashes distinguish kinds.
COLOURS = ("#000000", "#E69F00", "#0072B2", "#D55E00", "#CC79A7", "#009E73", "#56B4E9", "#882255")
MARKERS = ("s", "D", "o", "^", "v", "<", ">", "P")
MORE = {"indigo": "#332288", "olive": "#999933", "brown": "#8C510A", "purple": "#AA4499"}
MORE |= {"teal": "#44AA99", "violet": "#8A2BE2"}  # all for methods
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
METHODS = {  # a method without noise of its own -> colour and marker, which no noise of this package has
    # private selection
    "exponential_mechanism": (COLOURS[4], "v"),
    "permute_and_flip": (COLOURS[6], ">"),
    "stability": (MORE["olive"], "d"),
    "sparse_vector": (MORE["brown"], "p"),
    "noisy_max_gaussian": (MORE["indigo"], "h"),
    "noisy_max_laplace": (MORE["purple"], "*"),
    # interior points
    "exponential": (COLOURS[4], "v"),  # the exponential mechanism for interior points
    "binary_search": (COLOURS[6], ">"),
    "paper_constants": (MORE["brown"], "p"),
    "recursion_2": (MORE["indigo"], "h"),
    "recursion_3": (MORE["purple"], "*"),
    # smooth sensitivity: noises for it alone, and a rival
    "arsinh_normal": (COLOURS[4], "v"),
    "uniform_log_normal": (MORE["brown"], "p"),
    "laplace_log_normal": (MORE["purple"], "*"),
    "student_t": (COLOURS[6], ">"),
    "median_interior_point": (MORE["indigo"], "h"),
    # prefix sums, also for CDFs of ordered records and for quantiles
    "square_root": (MORE["indigo"], "h"),
    "weighted_square_root": (MORE["purple"], "*"),
    "tree_2": (COLOURS[4], "v"),
    "tree_16": (MORE["brown"], "p"),
    "least_squares_2": (COLOURS[6], "<"),
    "least_squares_16": (MORE["teal"], "X"),
    "weighted_2": (MORE["olive"], "d"),
    "optimal": (MORE["violet"], "P"),
    "each_bin": (COLOURS[6], ">"),
    # CDFs and medians by interior points
    "windows": (MORE["teal"], "X"),
    "deciles": (MORE["olive"], "d"),
    "median": (MORE["purple"], "*"),
    "medians": (MORE["violet"], "P"),
    # quantiles
    "independent": (MORE["olive"], "d"),
    "recursive": (MORE["brown"], "p"),
    "joint": (MORE["violet"], "P"),
    "above_threshold": (MORE["teal"], "s"),
    "tree_search": (MORE["purple"], "*"),
    "slices": (COLOURS[4], "^"),
    "interior_points": (COLOURS[4], "o"),
    # released counts: the conversion that sets their noise or their epsilon
    "published": (MORE["violet"], "P"),
    "best_conversion": (COLOURS[6], ">"),
    "simple_conversion": (MORE["brown"], "p"),
    "continuous": (MORE["indigo"], "h"),
    # ledgers: answers until the budget is spent
    "filter": (MORE["teal"], "X"),
    "split": (MORE["brown"], "p"),
    # private candidates and released keys
    "poisson": (MORE["indigo"], "h"),  # random numbers of tries
    "geometric": (MORE["brown"], "p"),
    "logarithmic": (MORE["purple"], "*"),
    "all_runs": (MORE["olive"], "d"),
    "optimal_dp": (MORE["olive"], "d"),  # the best curves of release of a key
    "optimal_rdp": (MORE["indigo"], "h"),
    "optimal_tcdp": (MORE["purple"], "*"),
}
DIRECTIONS = {  # the direction of a privacy loss -> colour, marker and dashes
    "forward": (MORE["indigo"], "h", "-"),
    "backward": (COLOURS[4], "v", "--"),
}
RELEASES = {  # a release of sums of records -> colour and marker; no figure has it beside other noises than these two
    "laplace": (COLOURS[0], "s"),
    "gaussian": (COLOURS[2], "o"),
    "generalized_gaussian": (COLOURS[1], "D"),
    "exponential_polylogarithmic": (COLOURS[3], "^"),
    "exponential_polylogarithmic, power 2": (COLOURS[7], "P"),
    "square_root": (COLOURS[4], "v"),
    "fourth_root": (COLOURS[5], "<"),
    "root": (COLOURS[5], "<"),
    "log": (COLOURS[6], ">"),
    "clipped": (COLOURS[7], "P"),
    "unit_splitting": (COLOURS[6], ">"),
}
SCHEMES = {  # a sampling scheme -> colour and marker
    "without_replacement": (MORE["indigo"], "h"),
    "with_replacement": (MORE["olive"], "d"),
    "poisson": (COLOURS[4], "v"),
    "poisson_substitution": (MORE["brown"], "p"),
    "hybrid": (MORE["teal"], "X"),
}
ACCOUNTINGS = {  # an accounting of subsampled releases -> colour, marker and dashes; the exact one is that of the noise
    "numerical, upper end": (COLOURS[2], "o", "-"),
    "numerical, lower end": (COLOURS[2], "o", "--"),
    "Rényi, Lemma 15 (any mechanism)": (MORE["indigo"], "h", "-"),
    "Rényi, certified (any mechanism)": (COLOURS[4], "v", "-"),
    "tCDP, Theorem 11": (COLOURS[3], "^", "-"),
    "(ε, δ), advanced": (COLOURS[1], "D", "-"),
    "zCDP: no gain by sampling": (MORE["teal"], "X", "-"),
}
SHADES = (0.1, 0.86)  # ends of the scale of colours for levels
FILLS = ("full", "none", "left", "top")  # marker fillings of a noise's variants
STEP, LIGHTEST = 0.4, 0.6  # share of white added from one variant to the next, and its maximum

Style = dict[str, Any]


@dataclass(frozen=True)
class Series:
    """A line of a figure.

    - label: its label in the legend.
    - noise: the name of its noise, "" if it belongs to an algorithm without noise.
    - family, calibration: the noise's, as the results state them.
    - variant: a variant of the noise, such as an omega.
    - algorithm: its algorithm.
    """

    label: str
    noise: str = ""
    family: str = ""
    calibration: str = ""
    variant: str = ""
    algorithm: str = ""


def noise_looks(noises: Iterable[tuple[str, str, str]]) -> dict[str, Style]:
    """Return colour and marker of each noise, given as (name, family, calibration); up to 64 of them differ.

    The noises of this package and the METHODS look the same in every figure. A second noise of the same family and
    calibration, and the noises of plug-ins, take the remaining looks in order of appearance.
    """
    places: dict[str, int] = {}
    waiting, known = [], {}
    for name, family, calibration in dict.fromkeys(noises):
        if not family and name in METHODS:
            known[name] = _look(*METHODS[name])
            continue
        place = NOISES.get(f"{family}, {calibration}", NOISES.get(family))
        if place is None or place in places.values():
            waiting.append(name)
        else:
            places[name] = place
    reserved = {*NOISES.values()} if len(waiting) <= len(COLOURS) - len(NOISES) else {*places.values()}
    taken = {look["color"] for look in known.values()}
    free = [place for place in range(len(COLOURS)) if place not in reserved and COLOURS[place] not in taken]
    for i, name in enumerate(waiting):
        places[name] = free[i] if i < len(free) else len(COLOURS) + i - len(free)
    return known | {name: _place(place) for name, place in places.items()}


def noise_look(family: str, calibration: str = "") -> Style:
    """Return colour and marker of one of the NOISES by its family and calibration."""
    return _place(NOISES.get(f"{family}, {calibration}", NOISES.get(family, -1)))


def method_look(name: str) -> Style:
    """Return colour and marker of one of the METHODS."""
    return _look(*METHODS[name])


def release_look(name: str) -> Style:
    """Return colour and marker of one of the RELEASES."""
    return _look(*RELEASES[name])


def scheme_look(name: str) -> Style:
    """Return colour and marker of one of the sampling SCHEMES."""
    return _look(*SCHEMES[name])


def accounting_look(name: str) -> Style:
    """Return colour, marker and dashes of one of the ACCOUNTINGS."""
    colour, marker, dashes = ACCOUNTINGS[name]
    return _look(colour, marker) | {"linestyle": dashes}


def level_styles(labels: Iterable[str]) -> dict[str, Style]:
    """Return colour, marker and dashes of each level of an ordered parameter, from dark to light in every figure.

    The colours come from viridis, which no noise and no method uses. The first eight markers and dashes differ.
    """
    labels = list(dict.fromkeys(labels))
    low, high = SHADES
    step = (high - low) / max(len(labels) - 1, 1)
    return {
        label: _look(str(to_hex(colormaps["viridis"](low + i * step))), MARKERS[i % len(MARKERS)])
        | {"linestyle": DASHES[i % len(DASHES)]}
        for i, label in enumerate(labels)
    }


def direction_look(name: str) -> Style:
    """Return colour, marker and dashes of one of the DIRECTIONS, or of one of the two neighbours."""
    colour, marker, dashes = DIRECTIONS[name]
    return _look(colour, marker) | {"linestyle": dashes}


def noise_styles(series: Iterable[Series]) -> dict[str, Style]:
    """Return colour, marker, filling and dashes of each series by label, for series in order of appearance.

    Colour and marker show the noise. Variants of a noise differ in shade and filling. Dashes show the algorithm, or the
    variant if no series has an algorithm.
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
    """Return colour, marker and dashes by label, for pairs (label, kind) without noise; dashes show the kind.

    Styles are assigned in order of appearance. Colours and markers repeat after eight series, but up to 64 series have
    distinct pairs of them.
    """
    styles: dict[str, Style] = {}
    kinds: dict[str, int] = {}
    for label, kind in dict.fromkeys(series):
        dash = DASHES[kinds.setdefault(kind, len(kinds)) % len(DASHES)]
        styles[label] = _place(len(styles)) | {"linestyle": dash}
    return styles


def of_omega(row: Mapping[str, Any]) -> str:
    """Return ", ω√ρ = 2", the omega of a row in the sweep's form, or "" if the row holds for every omega."""
    scaled, omega = (row.get(name, nan) for name in ("omega_sqrt_rho", "omega"))
    if inf in (scaled, omega):
        return ", zCDP"
    return f", ω√ρ = {scaled:g}" if not isnan(scaled) else f", ω = {omega:g}" if not isnan(omega) else ""


def line_of(style: Style) -> Style:
    """Return the part of a style that applies to a line."""
    return {name: style[name] for name in ("color", "linestyle") if name in style}


def marks_of(style: Style) -> Style:
    """Return the part of a style that applies to markers."""
    return {name: style[name] for name in ("color", "marker", "fillstyle") if name in style}


def lighter(colour: str, white: float) -> str:
    """Return a colour mixed with a share of white, from 0 to 1."""
    red, green, blue = (channel + white * (1 - channel) for channel in to_rgb(colour))
    return str(to_hex((red, green, blue))).upper()


def _place(i: int) -> Style:
    """Return the look at a place, with markers shifted after each round of colours."""
    n = len(COLOURS)
    return _look(COLOURS[i % n], MARKERS[(i + i // n) % n])


def _look(colour: str, marker: str) -> Style:
    return {"color": colour, "marker": marker}


def _numbered(names: Iterable[str]) -> dict[str, int]:
    """Return the distinct names with their numbers."""
    return {name: i for i, name in enumerate(dict.fromkeys(names))}
