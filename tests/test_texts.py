"""Text that others chose: what of it reaches terminals, logs, figures and spreadsheets."""

import csv
import logging
import tracemalloc

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.textpath import TextPath
from rich.table import Table

from tcdp_sim.core import log, texts
from tcdp_sim.report import plots, saving
from tcdp_sim.report.terminal import Terminal
from tcdp_sim.summaries import problems

RAW = {
    "\x1b[31mred": r"\x1b[31mred",  # ANSI
    "a\u202eb\u2066c\u200f": r"a\u202eb\u2066c\u200f",  # marks of direction
    "a\tb\nc\rd\0": r"a\tb\nc\rd\x00",
    "\x9b2J\x7f\x85": r"\x9b2J\x7f\x85",  # commands of eight bits
    "\udcff": r"\udcff",  # of a name that is no UTF-8
    "\U000e0041\u2028": r"\U000e0041\u2028",  # a tag, which nobody sees; a line end
    "Zürich 数据 ρ ½ 🙂 \\": "Zürich 数据 ρ ½ 🙂 \\",
}
FORMULAS = ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "\t=1", "\r=1", "-", "=-5"]
NUMBERS = ["-5", "+1e3", "-0.5", "-inf", "+.5"]
HARMLESS = ["a=b", "", " =1", "1-2", "'=1", "5"]


@pytest.mark.parametrize("text", RAW)
def test_what_is_not_printable_is_written_out(text):
    assert texts.printable(text) == RAW[text]


def test_what_is_kept_stays():
    assert texts.printable("a\nb\tc\x1b", keep="\n\t") == "a\nb\tc\\x1b"


def test_nothing_raw_reaches_the_terminal_by_any_way(capsys):
    console = Terminal(width=200, soft_wrap=True, highlight=False)
    table = Table("a\x1b[2J", title="t\u202e")
    table.add_row("cell\x1b]0;x\x07")
    console.print("plain\x1b[31m :smile: a\nb", markup=False)
    console.print(table)
    console.print("[bold]b\x9b[/bold]")
    out = capsys.readouterr().out
    assert r"plain\x1b[31m :smile: a" + "\nb\n" in out
    for shown in (r"a\x1b[2J", r"t\u202e", r"cell\x1b]0;x\x07", r"b\x9b"):
        assert shown in out
    assert all(c.isprintable() or c == "\n" for c in out)


def test_nothing_raw_reaches_the_log(tmp_path):
    with log.kept(tmp_path):
        log.LOG.info("two\nlines of %s", "x\x1b[2J\u202e")
    text = (tmp_path / log.NAME).read_text()
    assert text.endswith("tcdp_sim: two\nlines of x\\x1b[2J\\u202e\n")


# Figures


@pytest.mark.parametrize("name", ["$", "a$b$c", "$x", "\\$", "a_b^{c}", "{", "\\alpha", "$$", "a$\x1b$", "%", "#"])
def test_a_name_is_drawn_as_it_is(tmp_path, name):
    """Whatever is drawn has the outline of the name, letter by letter, as drawn without any mathematics."""
    figure, grid = plots.new_figure(1, 1, 3, 3)
    figure.suptitle(f"{name}: 3 records")
    grid[0, 0].plot([1, 2], [1, 2], label=f"of {name}")
    grid[0, 0].legend()
    grid[0, 0].set_xlabel("$10^{6}$")
    saving.save_all([("f", figure, pd.DataFrame({"x": [1]}))], tmp_path, [name])
    assert (tmp_path / "f.png").stat().st_size > 1000
    for text, said in ((figure._suptitle, f"{name}: 3 records"), (grid[0, 0].get_legend().texts[0], f"of {name}")):
        drawn, formula = text._preprocess_math(text.get_text())
        assert (drawn, formula) == (texts.printable(said), False)


def test_our_own_mathematics_stays(tmp_path):
    figure, grid = plots.new_figure(1, 1, 3, 3)
    grid[0, 0].set_xlabel("a$b: $10^{6}$")
    saving.save_all([("f", figure, pd.DataFrame({"x": [1]}))], tmp_path, ["a$b"])
    text = grid[0, 0].xaxis.label
    assert text._preprocess_math(text.get_text())[1]
    TextPath((0, 0), text.get_text())  # a formula that can be read
    assert mpl.rcParams["text.parse_math"]


# Spreadsheets


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_text(text):
    assert texts.cell(text) == "'" + text


@pytest.mark.parametrize("value", [*NUMBERS, *HARMLESS, -5, -0.5, float("nan"), None, True])
def test_numbers_and_harmless_text_stay(value):
    assert texts.cell(value) is value


def test_tables_are_written_without_formulas_and_with_every_bit_of_their_numbers(tmp_path):
    numbers = [-1 / 3, 1e-300]
    table = pd.DataFrame({"data": ["=1+1", "-5"], "x": numbers, "n": [-1, 2], "mixed": ["@a", -2.5]})
    table = table.assign(kind=pd.Series(["=k", "b"], dtype="string"), group=pd.Categorical(["-g", "h"]))
    texts.write_csv(table, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        header, first, second = csv.reader(file)
    assert header == ["data", "x", "n", "mixed", "kind", "group"]
    assert first == ["'=1+1", repr(numbers[0]), "-1", "'@a", "'=k", "'-g"]
    assert second == ["-5", "1e-300", "2", "-2.5", "b", "h"]
    assert table["data"].tolist() == ["=1+1", "-5"]  # the table itself is not touched


def test_a_table_is_written_as_pandas_would_but_for_what_spreadsheets_run(tmp_path):
    """All kinds of columns: floats of every size with both zeros, what is not known, few texts often, mixed ones."""
    rng = np.random.default_rng(1)
    floats = rng.integers(-(2**63), 2**63, 3000).view(np.float64)
    floats[:12] = 0.0, -0.0, np.nan, np.inf, -np.inf, 1e16, 1e-5, 9999999999999998.0, 1e-4, 5e-324, 1.0, -1.0
    few = rng.choice(["a", "b,c", 'say "d"', "", "-1.5", "two\nlines"], 3000)
    table = pd.DataFrame({"x": floats, "near": np.repeat([0.1, -0.0, 0.0], 1000), "none": np.nan, "text": few})
    table = table.assign(
        n=range(3000), sure=floats > 0, half=rng.normal(size=3000).astype("f4"), mixed=[1, None, "x"] * 1000
    )
    table = table.assign(strings=table["text"].astype("string"), kinds=table["text"].astype("category"))
    texts.write_csv_parts([table[:1700], table[1700:]], tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        assert file.read() == table.to_csv(index=False)
    texts.write_csv(table[["none"]], tmp_path / "n.csv")
    assert (tmp_path / "n.csv").read_text() == table[["none"]].to_csv(index=False)
    unsafe = table.assign(text=table["text"].replace("a", "=a()"))
    texts.write_csv(unsafe, tmp_path / "u.csv")
    expected = table.assign(text=table["text"].replace("a", "'=a()"))
    with (tmp_path / "u.csv").open(newline="") as file:
        assert file.read() == expected.to_csv(index=False)


def test_an_empty_table_is_written(tmp_path):
    texts.write_csv(pd.DataFrame(columns=["a", "b"]), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "a,b\n"


def test_problems_are_written_without_formulas(tmp_path):
    found = [problems.Problem("0" * 64, 3, problems.WARNING, "=1+1", "@here")]
    problems.report(found, {"0" * 64: "-x"}, tmp_path / "p.csv", lambda line: None)
    with (tmp_path / "p.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["coordinates"], row["chunk"], row["message"], row["where"]) == ("'-x", "3", "'=1+1", "'@here")


# All the way


@pytest.mark.parametrize("name", ["a$b$c", "=1+1", "x\u202e$y\x1b$"])
@pytest.mark.usefixtures("figures")
def test_a_run_with_an_odd_name_of_its_data(command, folder, name):
    words = ("cluster=serial", "trials=200", "chunk=100", "sweep.k=10", "sweep.rho=[0.1,1]", "also=null")
    code, out, err = command(*words, "sweep.noise=gaussian", f"data.name='{name}'", f"results_dir='r\x1b{name[0]}'")
    assert (code, err) == (0, "")
    assert texts.printable(name) in out
    assert all(c.isprintable() or c == "\n" for c in out)
    results = folder.parent.parent / f"r\x1b{name[0]}" / "histogram"
    assert all(c.isprintable() or c == "\n" for c in (results / log.NAME).read_text())
    table = pd.read_csv(results / "figures" / f"stability_{name}.csv")
    assert set(table["data"]) == {"'" + name if name[0] == "=" else name}
    assert np.isfinite(table["linf_q95"]).all()


def test_a_mistake_is_told_without_commands_to_the_terminal(command):
    code, _, err = command("plan", "sweep.k=10", "+sweep.x\u202e=1", "name=a")
    assert code == 2
    assert all(c.isprintable() for c in err[:-1])
    code, _, err = command("data=csv", "data.path='gone\x1b[2J.csv'", "data.column=x", "data.domain=3")
    assert code == 2
    assert r"gone\x1b[2J.csv" in err


def test_logging_is_as_before_once_the_log_is_closed(tmp_path):
    before = list(logging.getLogger().handlers)
    with log.kept(tmp_path):
        pass
    assert logging.getLogger().handlers == before


def test_a_large_table_is_written_some_rows_at_a_time(tmp_path):
    """As texts, a table takes ten times the memory; and it has the same bytes whatever is written at a time."""
    table = pd.DataFrame(np.random.default_rng(1).standard_normal((5 * texts.ROWS + 3, 8))).assign(name="=1+1")
    tracemalloc.start()
    try:
        texts.write_csv(table, tmp_path / "parts.csv")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * table.memory_usage(deep=False).sum()
    texts.write_csv_parts([table], tmp_path / "whole.csv")
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert (tmp_path / "parts.csv").read_text().count("\n") == len(table) + 1


@pytest.mark.parametrize("value", [None, "", np.str_(""), float("nan"), np.float64("nan")])
def test_what_is_missing_is_blank(value):
    assert texts.blank(value)


@pytest.mark.parametrize("value", [0, 0.0, False, " ", "nan", np.inf, np.int64(0), np.float64(0)])
def test_what_is_there_is_not_blank(value):
    assert not texts.blank(value)
