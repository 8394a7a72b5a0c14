"""`tcdp-sim report FOLDER`: one page on a run, with all of it inside and every text of the user's as text."""

import csv
import re
import shutil
from base64 import b64decode

import pytest
from browser import is_wider_than_the_window, least_contrast, opened

import tcdp_sim
from tcdp_sim import results
from tcdp_sim.report import latex
from tcdp_sim.results import page as written

EVIL = "<img src=x onerror=alert(1)> $x^2$ {{ 7*7 }}"
SMALL = {"k": [10, 1e6], "noise": ["gaussian", "laplace"], "omega_sqrt_rho": 1, "rho": 0.1}


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """The folder of a small study, with its page."""
    place = tmp_path_factory.mktemp("runs")
    tcdp_sim.run("histogram", sweep=SMALL, also=None, trials=1000, chunk=500, cluster="serial", results_dir=place)
    written.write(place / "histogram")
    return place / "histogram"


@pytest.fixture
def folder(reported, tmp_path):
    """A copy of it, in the place where the command line would have it."""
    shutil.copytree(reported, tmp_path / "results" / "histogram", symlinks=True)
    return tmp_path / "results" / "histogram"


@pytest.fixture
def page(reported):
    """The page, as text."""
    return (reported / "report.html").read_text("utf-8")


def test_it_says_what_was_asked_and_how_to_ask_again(page):
    assert "The worst-case error of a private histogram" in page
    assert "<dt>k</dt><dd>10, 1e+06</dd>" in page
    assert "<dt>trials a cell</dt><dd>1,000</dd>" in page
    assert "substitute one record" in page
    again = re.search(r"<dt>Again</dt><dd><code>(.*?)</code>", page)[1]
    assert "trials=1000 chunk=500" in again
    assert "sweep.rho=0.1" in again


def test_the_same_command_finds_everything_there(page, folder, command):
    import html
    import shlex

    again = shlex.split(html.unescape(re.search(r"<dt>Again</dt><dd><code>(.*?)</code>", page)[1]))
    code, out, _ = command(*again[1:], "cluster=serial")
    assert code == 0
    assert "nothing to simulate" in out


def test_its_numbers_are_the_published_ones(page, folder):
    """The whole table lies in the page, as CSV and as LaTeX; its first rows are shown."""
    tidy = results.tidy(folder)
    csv_data, tex_data = (
        b64decode(found).decode() for found in re.findall(r'href="data:text/\w+;base64,([^"]*)"', page)
    )
    assert csv_data == tidy.to_csv(index=False)
    assert tex_data == latex.booktabs(tidy)
    row = tidy[tidy["quantity"] == "linf_error_mean"].iloc[0]
    assert f"<td>{row['value']:.6g}</td>" in page
    assert "contradictions" in page
    assert re.search(r"None: \d\d+ comparisons", page)


def test_figures_are_inside(page):
    assert page.count("<svg") + page.count("data:image/png") >= 2
    assert not re.search(r'(?:src|href)="https?:', re.sub(r"<script>.*?</script>", "", page, flags=re.S))


def test_a_reader_without_plotly_learns_of_the_other_page(page, folder, monkeypatch):
    assert 'id="plot"' in page
    monkeypatch.setattr(written, "find_spec", lambda name: None)
    text = written.write(folder).read_text("utf-8")
    assert "<code>tcdp-sim explore histogram</code> writes a page" in text
    assert 'id="plot"' not in text
    assert len(text) < 1_000_000


def test_equal_runs_give_equal_bytes(page, command, folder):
    (folder / "report.html").unlink()
    assert command("report", "results/histogram") == (0, "report: results/histogram/report.html\n", "")
    assert (folder / "report.html").read_text("utf-8") == page
    assert command("report", "results/histogram", "here.html")[0] == 0
    assert (folder.parent.parent / "here.html").read_text("utf-8") == page


def test_dropped_rows_are_on_the_page(tmp_path, monkeypatch):
    """70 of 100 rows name a ward that the data set does not know. Without figures, which take long."""
    monkeypatch.setattr(written, "_figures", lambda run: [])
    file = tmp_path / "wards.csv"
    file.write_text("ward\n" + "a\n" * 30 + "elsewhere\n" * 70)
    data = {"path": str(file), "column": "ward", "domain": ["a", "b"], "outside": "drop", "name": "wards"}
    sweep = {"noise": "gaussian", "rho": 0.1}
    given = {"trials": 100, "chunk": 100, "also": None, "cluster": "serial", "results_dir": tmp_path}
    tcdp_sim.run(data=data, sweep=sweep, **given)
    written.write(tmp_path / "histogram")
    text = re.sub(r"<[^>]*>", "", (tmp_path / "histogram" / "report.html").read_text("utf-8"))
    assert "70 records outside the domain" in text


@pytest.mark.slow
def test_what_the_user_has_named_stays_text(command, tmp_path):
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["ward"], *[[EVIL]] * 50, *[["b\u202e\x07"]] * 20, *[["a"]] * 30])
    name = EVIL.replace("{", "").replace("}", "")
    data = (
        "data=csv",
        "data.path=a.csv",
        "data.column=ward",
        f"data.name='{name}'",
        "data.domain=[a,b]",
        "data.outside=drop",
    )
    words = (
        "cluster=serial",
        "trials=500",
        "chunk=500",
        "sweep.noise=gaussian",
        "sweep.rho=0.1",
        "also=null",
        "name=x",
    )
    code, _, err = command(*data, *words)
    assert (code, err) == (0, "")
    assert command("report", "results/x")[0] == 0
    text = (tmp_path / "results" / "x" / "report.html").read_text("utf-8")
    assert "<img src=x" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert "70" in text  # dropped records
    with opened(tmp_path / "results" / "x" / "report.html") as (_, messages, addresses):
        assert messages == []
        assert len(addresses) == 1


def test_a_folder_without_results_says_what_to_do(command, tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "nowhere"):
        code, out, err = command("report", folder)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert f"{folder} holds no results; `tcdp-sim status {folder}` says how far its run is" in err


def test_large_tables_are_cut_on_the_page_and_left_to_their_command(page, monkeypatch, folder):
    monkeypatch.setattr(written, "MOST_ROWS", 7)
    monkeypatch.setattr(written, "MOST_BYTES", 10)
    written.write(folder)
    text = (folder / "report.html").read_text("utf-8")
    assert f"The first 7 of {len(results.tidy(folder))} rows" in text
    assert "tcdp-sim table histogram table.csv" in text
    assert "data:text/csv" not in text


def test_errors_and_contradictions_are_listed(page, folder):
    with (folder / "problems.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["coordinates", "kind", "message"], ["k=10", "error", EVIL]])
    written.write(folder)
    text = (folder / "report.html").read_text("utf-8")
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert '<b class="false">1</b> errors and warnings' in text


@pytest.mark.parametrize(("width", "scheme"), [(380, "dark"), (1400, "light")])
def test_a_browser_shows_it_without_complaint(page, folder, width, scheme):
    with opened(folder / "report.html", width, scheme) as (shown, messages, addresses):
        shown.wait_for_selector("#plot .legend")
        markers = "document.getElementById('plot').data.filter((t) => t.mode === 'markers')"
        drawn = shown.evaluate(f"{markers}.map((t) => t.y)")
        table = results.tidy(folder)
        quantiles = table[(table["quantity"] == "linf_error_quantile") & (table["level"] == 0.95)]
        assert sorted(map(sorted, drawn)) == sorted(sorted(of) for _, of in quantiles.groupby("noise")["value"])
        assert messages == []
        assert addresses == [(folder / "report.html").as_uri()]
        assert not is_wider_than_the_window(shown)
        ratio, where = least_contrast(shown)
        assert ratio >= 4.5, where


def test_problems_that_cannot_be_read_are_said_on_the_page(page, folder):
    (folder / "problems.csv").write_bytes(b"kind,message\nerror,\xff\xfe\n")
    assert r"\xff\xfe" in written.write(folder).read_text("utf-8")
    (folder / "problems.csv").write_text("kind,message\nerror," + 131_073 * "x" + "\n", "utf-8")
    assert "it cannot be read (field larger than field limit (131072))" in written.write(folder).read_text("utf-8")
    (folder / "problems.csv").unlink()


def test_a_page_takes_the_place_of_a_file_alone(page, folder, command, tmp_path):
    (tmp_path / "real.html").write_text("mine", "utf-8")
    (tmp_path / "link.html").symlink_to("real.html")
    for target in ("", "/dev/null", "link.html", str(tmp_path), "x" * 5000):
        code, _, err = command("report", folder, target)
        assert (code, err.count("\n")) == (2, 1)
    assert (tmp_path / "real.html").read_text("utf-8") == "mine"
    assert command("report", folder, "real.html")[0] == 0
    assert "<html" in (tmp_path / "real.html").read_text("utf-8")
