"""Faults made by machine: swapped operators, changed constants, swapped arguments, dropped calls, turned conditions.

A sample of them is drawn from the files of packages that changed, so it has faults that nobody has thought of. Some are
equivalent: no input tells the changed code from the old. Whoever reads the survivors decides which.
"""

import ast
import random
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from .faults import ROOT
from .nearest import nearest_tests

COMPARED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "in": "not in", "is": "is not"}
COMPARED |= {"not in": "in", "is not": "is"}
COMBINED = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "**": "*", "%": "*", "&": "|", "|": "&"}
JOINED = {"and": "or", "or": "and"}
OPERATOR = re.compile(r"(?<![\w])(not in|is not|in|is|and|or|[<>=!]=|//|\*\*|[-+*/%&|<>])(?![\w=])")
SAME = ("float", "int", "bool", "str", "tuple", "list", "asarray", "iter", "cast", "closed_form")  # hardly a change
UNMEANT = (ast.Raise, ast.Import, ast.ImportFrom, ast.JoinedStr)  # messages, and what fails at once
CODE = ("tcdp_sim/**.py", "experiments/**.py")
Change = tuple[int, int, str]  # start, end, new text


@dataclass(frozen=True)
class MadeFault:
    """One fault: in `file`, the bytes `start` to `end` become `new`."""

    file: str
    line: int
    start: int
    end: int
    old: str
    new: str

    @property
    def name(self) -> str:
        """Where it is, and what it changes."""
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return f"{self.file}:{self.line}: {old[:60]} -> {new[:60]}"

    @property
    def tests(self) -> tuple[str, ...]:
        """The test files that should notice."""
        return nearest_tests(self.file)

    def put_into(self, home: Path) -> None:
        """Change the file of a copy of the tree. Raises ValueError if the copy has another text there."""
        text = (home / self.file).read_bytes()
        if text[self.start : self.end] != self.old.encode():
            raise ValueError(f"{self.name}: the file has changed")
        (home / self.file).write_bytes(text[: self.start] + self.new.encode() + text[self.end :])


class Source:
    """The text of a module, in which nodes have places in bytes."""

    def __init__(self, text: bytes):
        self.text = text
        self.begins = [0]
        for line in text.splitlines(keepends=True):
            self.begins.append(self.begins[-1] + len(line))

    def span(self, node) -> tuple[int, int]:
        """Return the first byte of a node and the one after its last."""
        return self.begins[node.lineno - 1] + node.col_offset, self.begins[node.end_lineno - 1] + node.end_col_offset

    def written(self, node: ast.AST) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.text[start:end].decode()

    def operator(self, left: ast.AST, right: ast.AST, others: dict[str, str]) -> Iterator[Change]:
        """Yield the change of the operator between two operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        found = OPERATOR.search(self.text[start:end].decode())
        if found and found[1] in others:
            yield start + found.start(1), start + found.end(1), others[found[1]]


def faults_of(file: str) -> list[MadeFault]:
    """Return all faults of a file of the tree, each of which can be compiled, in the order of the text."""
    source = Source((ROOT / file).read_bytes())
    found = set()
    for node in _meant(ast.parse(source.text)):
        for start, end, new in CHANGES.get(type(node), lambda *_: ())(source, node):
            old = source.text[start:end].decode()
            if old != new and _compiles(source.text[:start] + new.encode() + source.text[end:]):
                found.add(MadeFault(file, node.lineno, start, end, old, new))
    return sorted(found, key=lambda fault: (fault.start, fault.end, fault.new))


def _compiles(text: bytes) -> bool:
    try:
        compile(text, "fault", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _meant(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes whose change may change an answer: no types, no messages of errors, nothing for type checkers."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "type_params", "bases"):
            continue
        for node in value if isinstance(value, list) else [value]:
            of_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
            if isinstance(node, ast.AST) and not isinstance(node, UNMEANT) and not of_types:
                yield node
                yield from _meant(node)


def _compared(source: Source, node: ast.Compare) -> Iterator[Change]:
    for left, right in pairwise([node.left, *node.comparators]):
        yield from source.operator(left, right, COMPARED)


def _combined(source: Source, node: ast.BinOp) -> Iterator[Change]:
    if not any(isinstance(each, ast.JoinedStr) or _is_text(each) for each in (node.left, node.right)):
        yield from source.operator(node.left, node.right, COMBINED)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _joined(source: Source, node: ast.BoolOp) -> Iterator[Change]:
    for left, right in pairwise(node.values):
        yield from source.operator(left, right, JOINED)


def _constant(source: Source, node: ast.Constant) -> Iterator[Change]:
    match node.value:
        case bool(value):
            yield *source.span(node), str(not value)
        case int(value):
            yield *source.span(node), str(value + 1)
        case float(value):
            yield *source.span(node), repr(2 * value if value else 1.0)
        case _:
            pass


def _unary(source: Source, node: ast.UnaryOp) -> Iterator[Change]:
    if isinstance(node.op, ast.Not | ast.USub) and not isinstance(node.operand, ast.Constant):
        yield *source.span(node), f"({source.written(node.operand)})"


def _statement(source: Source, node: ast.Expr) -> Iterator[Change]:
    if isinstance(node.value, ast.Call):
        yield *source.span(node), "pass"


def _condition(source: Source, node: ast.If | ast.IfExp | ast.While) -> Iterator[Change]:
    yield *source.span(node.test), f"(not ({source.written(node.test)}))"


def _call(source: Source, node: ast.Call) -> Iterator[Change]:
    """Yield the swap of the first two arguments, and the argument in place of the call of one argument."""
    args = [each for each in node.args if not isinstance(each, ast.Starred | ast.GeneratorExp)]
    if len(args) >= 2 and args[:2] == node.args[:2]:
        (start, ends), (begins, end) = map(source.span, args[:2])
        middle = source.text[ends:begins].decode()
        yield start, end, f"{source.written(args[1])}{middle}{source.written(args[0])}"
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if len(args) == len(node.args) == 1 and not node.keywords and name not in SAME:
        yield *source.span(node), f"({source.written(args[0])})"


CHANGES: dict[type, Callable[..., Iterator[Change]]] = {
    ast.Compare: _compared,
    ast.BinOp: _combined,
    ast.BoolOp: _joined,
    ast.Constant: _constant,
    ast.UnaryOp: _unary,
    ast.Expr: _statement,
    ast.If: _condition,
    ast.IfExp: _condition,
    ast.While: _condition,
    ast.Call: _call,
}


def changed_files(since: str) -> list[str]:
    """Return the files of the packages that changed since a commit, or with the work that is not yet committed.

    In a clone that lacks the commit all packages count as changed.
    """
    there = subprocess.run(["git", "cat-file", "-e", since], cwd=ROOT, check=False, capture_output=True).returncode == 0
    words = ["git", "diff", "--name-only", since] if there else ["git", "ls-files"]
    said = subprocess.run([*words, "--", *CODE], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    packages = {str(Path(name).parent) for name in said.splitlines()}
    files = (path.relative_to(ROOT) for package in sorted(packages) for path in sorted((ROOT / package).glob("*.py")))
    return [str(path) for path in files]


def sample(files: list[str], number: int, seed: str) -> list[MadeFault]:
    """Return faults drawn with equal chances, without replacement and in random order; fewer if there are fewer."""
    all_faults = [fault for file in files for fault in faults_of(file)]
    return random.Random(seed).sample(all_faults, min(number, len(all_faults)))
