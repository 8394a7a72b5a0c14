"""The numbers in docs: their places and their computation. `make doc-numbers` writes them.

A number is found by a pattern around it, one group for each. Where the sentence changes, so must the pattern.
"""

import contextlib
import io
import linecache
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from math import ceil, comb, sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from words_of_code import files

import tcdp_sim
from tcdp_sim.bounds import fano, histogram_records, information, least_records, least_sample_size, selection_gap
from tcdp_sim.privacy import TCDP, ZCDP, PureDP, to_approx_dp

ROOT = Path(__file__).parents[2]
DOCS = tuple(sorted(name for name in files() if name.startswith("docs/") and name.endswith(".md")))
PAGES = tuple(ROOT / name for name in ("README.md", *DOCS))
NUMBER = r"\*{0,2}([\d.]+)\*{0,2}"
CELLS = (1e3, 1e6, 1e12)
FILE = "my_file"  # pages say that a reader saves the snippets in my_file.py
SNIPPET = re.compile(r"```python\n((?s:.*?))```")
OWN_FILE = re.compile(r"This is `(\w+)\.py`:\n\n```python\n((?s:.*?))```")
PRINTED = re.compile(r"```python\n((?:(?!```)(?s:.))*)```\n\n((?:    .*\S.*\n)+)")  # a snippet and its indented output


def epsilons() -> Iterator[float]:
    """Yield the best and the printed conversions of 0.1-zCDP and of (0.1, 5)-tCDP at delta = 10^-6."""
    for guarantee in (ZCDP(0.1), TCDP(0.1, 5)):
        for method in ("tight", "paper"):
            yield to_approx_dp(guarantee, 1e-6, method=method).epsilon


def informed() -> Iterator[float]:
    for method in ("tight", "proposition_9", "paper"):
        yield float(information(TCDP(0.0947, 4.96), 10, 1, method))


def printed_gaps(guarantee: ZCDP | TCDP, method: str) -> Iterator[float]:
    """Yield the printed bounds on the gap, by Fano's inequality, each followed by the better one."""
    for k in CELLS:
        yield float(least_records(guarantee, fano(k, 0.05, printed=True), method))
        yield float(selection_gap(guarantee, k, 0.05))


def records(omega: float, rho: float, k: float) -> Iterator[float]:
    """Yield the bounds of Corollary 27 as printed (unless it is vacuous), by Proposition 9, and by our bound."""
    printed = float(least_sample_size(TCDP(rho, omega), k))
    yield from [printed] if printed == printed else []
    yield float(least_records(TCDP(rho, omega), fano(k, 0.5, printed=True), "proposition_9"))
    yield float(histogram_records(TCDP(rho, omega), k))


def default_study() -> tuple[int, int]:
    """Return the numbers of chunks and of cells of `tcdp-sim sweep.rho=0.1 also=null`."""
    plan = tcdp_sim.plan("histogram", sweep={"rho": 0.1}, also=None)
    return plan.chunks, len(plan.cells)


def twice(*numbers: int) -> list[int]:
    """Return each number twice, as in "84 of 84"."""
    return [number for number in numbers for _ in range(2)]


def sampled() -> Iterator[float]:
    """Yield cells, chunks, chunks, and the probability in percent that 20 random chunks show one of 5% wrong ones."""
    chunks, cells = default_study()
    wrong = ceil(chunks / 20)
    yield from (cells, chunks, chunks, 100 * (1 - comb(chunks - wrong, 20) / comb(chunks, 20)))


def row(start: str, *cells: int) -> str:
    """Return the pattern of a table's row that begins with a text. `cells` has the count of numbers in each cell."""
    return start + "".join(r" \| " + ", ".join([NUMBER] * count) for count in cells)


NUMBERS: list[tuple[str, str, Callable[[], Iterable[float]]]] = [
    (
        "docs/explained/privacy.md",
        rf"0\.1-zCDP is \({NUMBER}, 10\^-6\)-DP \(Lemma 21 of Bun-Steinke 2016: {NUMBER}\),\s"
        rf"\(0\.1, 5\)-tCDP is \({NUMBER}, 10\^-6\)-DP \(Lemma 6 of\sBun-Dwork-Rothblum-Steinke 2018: ([\d.]+\d)\)",
        epsilons,
    ),
    (
        "docs/explained/limits.md",
        rf"ρ = 0\.0947, ω = 4\.96 and n = 10 it is {NUMBER} where Proposition 9 says {NUMBER} and\s"
        r"Theorem 26 ([\d.]+\d)",
        informed,
    ),
    (
        "docs/explained/limits.md",
        row(r"\| pure DP", 1, 1, 1),
        lambda: [float(selection_gap(PureDP(sqrt(0.2)), k, 0.05)) for k in CELLS],
    ),
    (
        "docs/explained/limits.md",
        row(r"\| zCDP: printed Fano, here", 2, 2, 2),
        lambda: printed_gaps(ZCDP(0.1), "tight"),
    ),
    (
        "docs/explained/limits.md",
        row(r"\| tCDP: printed Fano with Proposition 9, here", 2, 2, 2),
        lambda: printed_gaps(TCDP(0.1, 5), "proposition_9"),
    ),
    (
        "docs/explained/trust.md",
        r"results/histogram: (\d+) of (\d+) chunks, (\d+) of (\d+) cells done",
        lambda: twice(*default_study()),
    ),
    (
        "docs/explained/trust.md",
        r"certificate: (\d+) cells, (\d+) chunks, all as certified\n    20 of 20 chunks are the stored bits \((\d+) "
        r"are stored\)\n    were 5% of all chunks wrong, such a sample would have found one with probability (\d+)%",
        sampled,
    ),
    ("docs/explained/limits.md", row(r"\| \(5, 0\.1, 10\^3\)", 1, 1, 1), lambda: records(5, 0.1, 1e3)),
    ("docs/explained/limits.md", row(r"\| \(2, 0\.1, 10\^6\)", 1, 1, 1), lambda: records(2, 0.1, 1e6)),
    ("docs/explained/limits.md", row(r"\| \(50, 0\.01, 10\^12\) \| vacuous", 1, 1), lambda: records(50, 0.01, 1e12)),
]


def written(text: str, pattern: str, values: Iterable[float]) -> str:
    """Return the text with the numbers that the pattern finds replaced by the values, to as many decimals."""
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"no text fits {pattern!r}; valid: a pattern of the sentence as it stands")
    pairs = zip(range(1, len(found.groups()) + 1), values, strict=True)
    for group, value in sorted(pairs, reverse=True):
        start, end = found.span(group)
        decimals = len(found[group].partition(".")[2])
        text = f"{text[:start]}{value:.{decimals}f}{text[end:]}"
    return text


@contextlib.contextmanager
def reader(page: str = "") -> Iterator[dict[str, object]]:
    """Give the names of a reader who saves the snippets of a page in `my_file.py`, one below the other.

    The numbers of a sweep follow from the module and the source of its function, so they are those of such a file.
    Files that the page names are written to the present folder, where they can be imported.
    """
    module = ModuleType(FILE)
    module.__file__ = f"{FILE}.py"
    sys.modules[FILE] = module
    own = dict(OWN_FILE.findall(page))
    for name, code in own.items():
        Path(f"{name}.py").write_text(code, "utf-8")
        sys.modules.pop(name, None)  # another test's
    sys.path.insert(0, str(Path.cwd()))
    try:
        yield vars(module)
    finally:
        sys.path.remove(str(Path.cwd()))
        for name in (FILE, *own):
            sys.modules.pop(name, None)


def output(code: str, name: str, names: dict[str, object]) -> str:
    """Return the output of a snippet of a page, run among the names that the snippets above it have left."""
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)  # where `inspect` finds its source
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), names)  # the pages are ours
    return printed.getvalue()


def shown(text: str, code: str) -> str | None:
    """Return the output that the page shows for a snippet, or None if it shows none."""
    blocks = {snippet: block for snippet, block in PRINTED.findall(text)}
    return "".join(line[4:] for line in blocks[code].splitlines(True)) if code in blocks else None


def computed(text: str, name: str) -> str:
    """Return the text of a page with the outputs that it shows replaced by those of its snippets."""
    with reader(text) as names:
        for place, code in enumerate(SNIPPET.findall(text)):
            printed, said = output(code, f"{name}:{place}", names), shown(text, code)
            if "print(" in code and said is not None:
                head = f"```python\n{code}```\n\n"
                text = text.replace(head + textwrap.indent(said, "    "), head + textwrap.indent(printed, "    "))
    return text


def main() -> None:
    for page, pattern, values in NUMBERS:
        path = ROOT / page
        path.write_text(written(path.read_text("utf-8"), pattern, values()), "utf-8")
    for path in PAGES:
        text = path.read_text("utf-8")
        if PRINTED.search(text):
            with TemporaryDirectory() as folder, contextlib.chdir(folder):
                path.write_text(computed(text, path.name), "utf-8")
                for figure in Path(folder).glob("*.png"):
                    if f"]({figure.name})" in text:
                        shutil.copy(figure, path.parent)


if __name__ == "__main__":
    main()
