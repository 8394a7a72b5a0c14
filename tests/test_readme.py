"""The Python of README and docs works as printed, and what they link to is there."""

import re
from pathlib import Path

import pytest
from doc_numbers import DOCS, PAGES, SNIPPET, output, reader, shown

ROOT = Path(__file__).parent.parent
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def snippets(page):
    return SNIPPET.findall(page.read_text("utf-8"))


def test_there_are_snippets():
    assert sum(len(snippets(page)) for page in PAGES) >= 4


@pytest.mark.usefixtures("figures")
@pages
def test_the_snippets_run(page, tiny_once):
    if "results/histogram" in "".join(snippets(page)):
        tiny_once()
    text = page.read_text("utf-8")
    with reader(text) as names:
        for place, code in enumerate(snippets(page)):
            printed, said = output(code, f"{page.name}:{place}", names), shown(text, code)
            assert "print(" not in code or said is None or printed == said


@pages
def test_the_linked_files_exist(page):
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8"))
    assert all((page.parent / link).exists() for link in links if "://" not in link)


def test_the_readme_is_short_and_says_what_ci_calls():
    text = PAGES[0].read_text("utf-8")
    assert len(text.splitlines()) < 100
    assert {"    make run", "    make test", "    make docs"} <= {line[:13].rstrip() for line in text.splitlines()}


@pytest.mark.parametrize("name", [name for name in DOCS if name.count("/") > 1 and "/paper/" not in name])
def test_every_page_is_linked_from_the_index_of_its_part(name):
    page = ROOT / name
    index = (ROOT / "docs" if page.stem == "index" else page.parent) / "index.md"
    told = index.read_text("utf-8")
    links = {(index.parent / link).resolve() for link in re.findall(r"\]\(([^)#]+)[^)]*\)", told)}
    assert page in links or any(page.stem == line.strip() for line in told.splitlines()), (
        "neither linked nor in a toctree"
    )


def test_every_reference_figure_has_its_command():
    folder = ROOT / "results" / "reference"
    index = (folder / "README.md").read_text("utf-8")
    assert all(f"`{path.stem}`" in index for path in folder.glob("*.png"))
    experiments = set(re.findall(r"experiment=(\w+)", index))
    assert all((ROOT / "conf" / "experiment" / f"{name}.yaml").exists() for name in experiments)
