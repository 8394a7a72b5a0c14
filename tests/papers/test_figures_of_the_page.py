"""The figures of the papers' page keep to the rules of figures, as they are checked in and of made-up claims."""

from pathlib import Path

import figure_rules
import made_up_claims
import pandas as pd
import pytest

from tcdp_sim.experiments.papers import exhibits
from tcdp_sim.experiments.papers.page import drawing, page
from tcdp_sim.experiments.papers.tcdp import corollary_18, figure_1, figure_2, theorem_20
from tcdp_sim.report import looks
from tcdp_sim.report.plots import style

TABLES = Path(__file__).parents[2] / "results" / "reference" / "papers" / "figures"
DRAWN = {one.name: one for one in (*exhibits().values(), page.LOOSENESS, page.ASYMPTOTICS) if one.draw}


def laid_out(draw, table):
    with style():
        figure = draw(table)
        figure.draw_without_rendering()
        assert figure_rules.broken(figure) == []
    return figure


def title(figure):
    return " ".join(figure.get_suptitle().split())


def colours(figure):
    return {line.get_color() for axes in figure.axes for line in axes.lines}


def checked_in(name):
    return pd.read_csv(TABLES / f"{name}.csv")


@pytest.mark.parametrize("name", DRAWN)
def test_a_figure_keeps_to_the_rules(name):
    laid_out(DRAWN[name].draw, checked_in(name))


def test_figures_of_made_up_claims_keep_to_the_rules():
    results = [made_up_claims.result(identity) for identity in made_up_claims.every()]
    figure = laid_out(drawing.draw_looseness, drawing.looseness_table(results))
    assert "loosest, Z.L7, could be 9.47 times as small" in title(figure)  # 1 / 0.1056
    laid_out(drawing.draw_asymptotics, drawing.asymptotics_table(results))


def test_every_noise_has_its_colour():
    gaussian, sinh_normal = (looks.noise_look(family)["color"] for family in ("gaussian", "sinh_normal"))
    assert colours(laid_out(figure_2.draw, checked_in("figure_2"))) == {gaussian, sinh_normal}
    assert {gaussian, sinh_normal} < colours(laid_out(figure_1.draw, checked_in("figure_1")))
    assert sinh_normal in colours(laid_out(corollary_18.draw, checked_in("corollary_18")))
    for name, look in looks.noise_looks([("noise", "sinh_squared", "tight")]).items():
        assert looks.noise_look("sinh_squared", "tight") == look, name


def test_titles_say_what_the_tables_do():
    """The share of Corollary 18 at omega sqrt(rho) = 1/8 is 1.867 (its claim T.C18p); modes are +-arcosh(sqrt(2))."""
    assert "1.87 of its budget with sinh-normal noise and 0.962 of its budget with sinh-squared" in title(
        laid_out(corollary_18.draw, checked_in("corollary_18"))
    )
    told = title(laid_out(figure_2.draw, checked_in("figure_2")))
    assert "as printed peaks at −0.9 and 0.9 and that of Theorem 17 peaks at 0" in told
    assert "from 0.97 to 0.56" in title(laid_out(theorem_20.draw, checked_in("theorem_20")))


def test_points_of_several_series_are_not_joined():
    """Two points at one place belong to two series."""
    table = pd.DataFrame(
        {"id": "X", "at": [1.0, 1.0, 2.0, 2.0], "ratio": [1.0, 2.0, 1.1, 1.9], "verdict": "consistent"}
    )
    (line,) = (one for one in drawing.draw_asymptotics(table).axes[0].lines if len(one.get_xdata()) == 4)
    assert line.get_linestyle() == "None"
    single = table.assign(at=[1.0, 2.0, 3.0, 4.0])
    (line,) = (one for one in drawing.draw_asymptotics(single).axes[0].lines if len(one.get_xdata()) == 4)
    assert line.get_linestyle() == "-"
