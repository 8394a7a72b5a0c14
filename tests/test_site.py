"""The site builds without a warning, and a real browser shows it on a phone and on a desk, in light and dark."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from browser import is_wider_than_the_window, least_contrast, opened

from tcdp_sim.study import groups

ROOT = Path(__file__).parent.parent
PAGES = (
    "index",
    "start/index",
    "howto/audits",
    "explained/tcdp",
    "experiments/gallery",
    "experiments/index",
    "experiments/studies/histogram",
    "reference/api",
    "reference/api/tcdp_sim.noise",
    "reference/benchmarks",
    "reference/commands",
    "reference/keys",
    "reference/papers",
    "project/contributing",
    "search",
)
LOOKS = [(380, "light"), (380, "dark"), (1400, "light"), (1400, "dark")]


def beside_the_site(name):
    """Return a module that the build of the site uses. It is not in the package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "_site" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def gallery():
    return beside_the_site("gallery")


def test_the_gallery_names_each_example_as_it_begins_and_ends(tmp_path, monkeypatch):
    """Only what is not current runs; a line comes before the first example ends."""
    module = gallery()
    monkeypatch.setattr(module, "KEPT", tmp_path)
    monkeypatch.setattr(module, "_draw_pictures", lambda: None)
    names = list(module.examples())[:3]
    monkeypatch.setattr(module, "_is_current", lambda name: name not in names)
    lines, told = [], []
    monkeypatch.setattr(module, "tell", lines.append)
    monkeypatch.setattr(module, "_make", lambda name: told.append("\n".join(lines)))
    module.make()
    assert lines[0] == f"gallery: 3 of {len(module.examples())} examples to run, the others are current"
    assert "gallery: " in told[0]
    for done, name in enumerate(names, 1):
        assert f"gallery: running {name}" in lines
        assert any(line.startswith(f"gallery: {done} of 3 done: {name}, ") for line in lines)


def test_a_name_in_a_docstring_has_to_exist():
    names = beside_the_site("names")
    for name in (
        "exact.hockey_stick",
        "tcdp_sim.privacy.TCDP",
        "exact.renyi.mixture_divergences",
        "noise.Gaussian.isf",
    ):
        assert (names.is_ours(name), names.exists(name)) == (True, True), name
    for name in ("exact.hokey_stick", "tcdp_sim.privacy.TCDP.omegas", "exact.mixture_divergences"):
        assert (names.is_ours(name), names.exists(name)) == (True, False), name
    for word in ("k", "audit.json", "numpy.mean", "tcdp-sim --help", "audits.answers(d)"):
        assert not names.is_ours(word), word


def test_every_experiment_has_an_example():
    assert set(gallery().examples()) == set(groups.options("experiment"))
    for name, example in gallery().examples().items():
        assert len(example["alt"]) > 20, name
        assert "](../" in example["sees"], f"{name}: the text leads to no page about the theory"


@pytest.mark.parametrize("name", gallery().examples())
def test_the_command_and_the_python_of_an_example_are_one_study(name, command):
    code, out, err = command("show", *gallery().words(name))
    assert (code, err) == (0, "")
    study, shown = gallery().examples()[name]["study"], yaml.safe_load(out)
    assert (shown["trials"], shown["chunk"]) == (study["trials"], study["chunk"])
    assert not any((shown["also"] or {}).get(block) for block in study.get("also") or {})
    assert {axis: shown["sweep"][axis] for axis in study["sweep"]} == study["sweep"]
    code = gallery().python(name)
    compile(code, name, "exec")
    assert all(repr(axis).replace("'", '"') in code for axis in study["sweep"])


def build():
    """Return the folder of the site, built as `make docs` builds it. Figures that are current are not made again."""
    for name in ("furo", "myst_parser", "sphinx_copybutton"):
        pytest.importorskip(name, reason="no site: pip install 'tcdp_sim[docs]'")
    words = ["-q", "-E", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html"]
    done = subprocess.run([sys.executable, "-m", "sphinx", *words], cwd=ROOT, capture_output=True, text=True)
    told = [line for line in done.stderr.splitlines() if not line.startswith("gallery: ")]
    assert (done.returncode, told) == (0, [])
    return ROOT / "docs" / "_build" / "html"


@pytest.mark.slow
def test_the_site_builds_and_a_browser_shows_it_in_every_look():
    """One test, since all looks need the same build, and two processes must not build at once."""
    site = build()
    with opened(site / "search.html") as (shown, _, _):
        shown.goto(f"{(site / 'search.html').as_uri()}?q=hockey_stick")
        shown.wait_for_selector("#search-results li a")
        assert "tcdp_sim.exact" in shown.inner_text("#search-results")
    for width, scheme in LOOKS:
        with opened(site / "index.html", width, scheme) as (shown, messages, addresses):
            for name in PAGES:
                shown.goto((site / f"{name}.html").as_uri())
                where = (name, width, scheme)
                assert not is_wider_than_the_window(shown), where
                ratio, element = least_contrast(shown)
                assert ratio >= 4.5, (*where, element)
            assert messages == []
            assert all(address.startswith((site.as_uri(), "data:")) for address in addresses)
