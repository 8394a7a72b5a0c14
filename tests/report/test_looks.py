"""Which colour, marker and dashes a series has."""

import itertools

import pytest
from matplotlib.colors import to_rgb

from tcdp_sim.report import looks
from tcdp_sim.report.looks import Series, noise_looks, noise_styles, series_styles

KNOWN = {
    "laplace": ("laplace", "paper"),
    "truncated_laplace": ("truncated_laplace", "paper"),
    "gaussian": ("gaussian", "paper"),
    "sinh_normal": ("sinh_normal", "paper"),
    "sinh_normal_tight": ("sinh_normal", "tight"),
    "sinh_squared_tight": ("sinh_squared", "tight"),
}


def test_a_noise_looks_the_same_beside_any_others():
    whole = noise_looks((name, *about) for name, about in KNOWN.items())
    for some in itertools.permutations(KNOWN, 2):
        pair = noise_looks([("logistic", "logistic", "given"), *((name, *KNOWN[name]) for name in some)])
        assert {name: pair[name] for name in some} == {name: whole[name] for name in some}
    assert len({look["color"] for look in whole.values()}) == len({look["marker"] for look in whole.values()}) == 6


def test_a_method_looks_like_itself_alone_beside_any_noise():
    noises = [(name, *about) for name, about in KNOWN.items()]
    for method in looks.METHODS:
        beside = noise_looks([*noises, ("logistic", "logistic", "given"), (method, "", "")])
        assert beside[method] == looks.method_look(method) == noise_looks([(method, "", "")])[method]
        assert len({look["color"] for look in beside.values()} - {beside["logistic"]["color"]}) >= len(noises) + 1
        assert len({tuple(look.values()) for look in beside.values()}) == len(beside)
        reserved = {looks.COLOURS[place] for place in looks.NOISES.values()}
        assert beside[method]["color"] not in reserved


def test_noises_of_others_take_what_is_left():
    """A second of the same family and calibration, as one tuned to k, does too; up to 64 differ."""
    strange = [(f"noise {i}", "strange", "given") for i in range(40)]
    found = noise_looks(
        [*strange, *((name, *about) for name, about in KNOWN.items()), ("tuned", "sinh_normal", "tight")]
    )
    assert len(found) == 47
    assert len({tuple(look.values()) for look in found.values()}) == 47
    assert found["gaussian"] == noise_looks([("gaussian", "gaussian", "paper")])["gaussian"]


def test_variants_of_a_noise_share_its_marker_and_differ_in_shade_filling_and_dashes():
    series = [Series(f"s {omega}", "s", "sinh_normal", "tight", f"{omega}") for omega in range(3)]
    styles = noise_styles([Series("g", "gaussian", "gaussian", "paper"), *series])
    own = [styles[one.label] for one in series]
    assert {style["marker"] for style in own} == {noise_looks([("s", "sinh_normal", "tight")])["s"]["marker"]}
    assert own[0]["color"] == noise_looks([("s", "sinh_normal", "tight")])["s"]["color"]
    for name in ("color", "fillstyle", "linestyle"):
        assert len({str(style[name]) for style in own}) == 3
    brightness = [sum(to_rgb(style["color"])) for style in own]
    assert brightness == sorted(brightness)


def test_where_algorithms_are_compared_dashes_are_theirs():
    series = [
        Series(f"{noise} {algorithm} {omega}", noise, *KNOWN[noise], omega, algorithm)
        for noise in ("gaussian", "sinh_normal")
        for algorithm in ("a", "b")
        for omega in ("1", "2")
    ]
    styles = noise_styles(series)
    dashes = {one.algorithm: set() for one in series}
    for one in series:
        dashes[one.algorithm].add(str(styles[one.label]["linestyle"]))
    assert all(len(patterns) == 1 for patterns in dashes.values())
    assert dashes["a"] != dashes["b"]
    assert len({(style["color"], str(style["linestyle"])) for style in styles.values()}) == len(series)


def test_what_is_no_noise_has_a_colour_and_marker_a_series_and_dashes_a_kind():
    series = [(f"{kind} {i}", kind) for kind in "abcde" for i in range(4)]
    styles = series_styles([*series, *series])
    assert list(styles) == [label for label, _ in series]
    patterns = {}
    for label, kind in series:
        patterns.setdefault(kind, set()).add(str(styles[label]["linestyle"]))
    assert all(len(found) == 1 for found in patterns.values())
    assert len(set.union(*patterns.values())) == 5
    assert len({(style["color"], style["marker"]) for style in styles.values()}) == len(series)


@pytest.mark.parametrize("table", [looks.COLOURS, looks.MARKERS, looks.DASHES])
def test_tables_of_colours_markers_and_dashes_repeat_nothing(table):
    assert len({str(entry) for entry in table}) == len(table) == 8


# Looks by name


@pytest.mark.parametrize(
    ("look_of", "table"),
    [
        (looks.method_look, looks.METHODS),
        (looks.release_look, looks.RELEASES),
        (looks.scheme_look, looks.SCHEMES),
        (looks.direction_look, looks.DIRECTIONS),
        (looks.accounting_look, looks.ACCOUNTINGS),
    ],
)
def test_a_look_by_name_is_that_of_its_table(look_of, table):
    for name, (colour, marker, *dashes) in table.items():
        assert look_of(name) == {"color": colour, "marker": marker} | ({"linestyle": dashes[0]} if dashes else {})
    with pytest.raises(KeyError):
        look_of("no such name")


@pytest.mark.parametrize("table", [looks.SCHEMES, looks.ACCOUNTINGS, looks.DIRECTIONS])
def test_the_looks_of_a_table_differ_from_each_other(table):
    assert len({str(look) for look in table.values()}) == len(table)


def test_releases_that_are_drawn_together_differ():
    """Roots of every degree share a look, and so do releases that no figure has side by side."""
    apart = {name: look for name, look in looks.RELEASES.items() if name not in ("root", "clipped", "unit_splitting")}
    assert len(set(apart.values())) == len(apart)
    assert looks.RELEASES["root"] == looks.RELEASES["fourth_root"]


def test_a_release_by_additive_noise_looks_like_the_noise():
    for family in ("laplace", "gaussian"):
        assert looks.release_look(family) == looks.noise_look(family)


@pytest.mark.parametrize(("family", "calibration"), KNOWN.values(), ids=list(KNOWN))
def test_the_look_of_a_noise_by_family_is_its_look_beside_others(family, calibration):
    beside = noise_looks((name, *about) for name, about in KNOWN.items())
    (name,) = (name for name, about in KNOWN.items() if about == (family, calibration))
    assert looks.noise_look(family, calibration) == beside[name]


def test_an_exact_accounting_has_the_colour_of_gaussian_noise():
    for end in ("upper", "lower"):
        assert looks.accounting_look(f"numerical, {end} end")["color"] == looks.noise_look("gaussian")["color"]


def test_levels_go_from_dark_to_light_and_look_like_no_noise_or_method():
    for count in (1, 2, 5, 8):
        styles = looks.level_styles(f"{level}" for level in range(count))
        assert list(styles) == [f"{level}" for level in range(count)]
        brightness = [
            sum(weight * c for weight, c in zip((0.3, 0.59, 0.11), to_rgb(s["color"]))) for s in styles.values()
        ]
        assert brightness == sorted(brightness)
        assert len({(style["marker"], str(style["linestyle"])) for style in styles.values()}) == count
        taken = {*looks.COLOURS, *looks.MORE.values()}
        assert not taken & {style["color"].upper() for style in styles.values()}


def test_the_ends_of_the_levels_are_the_same_however_many_there_are():
    few, many = (list(looks.level_styles(map(str, range(count))).values()) for count in (2, 7))
    assert (few[0]["color"], few[-1]["color"]) == (many[0]["color"], many[-1]["color"])
    assert looks.level_styles(["a", "b", "a"]) == looks.level_styles(["a", "b"])
