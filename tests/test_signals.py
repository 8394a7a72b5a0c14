"""A process may end just before a signal to it: no code fails by that."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from signals import sent, sent_to_group

ROOT = Path(__file__).parents[1]
FOLDERS = ("tests", "benchmarks", "tcdp_sim", "experiments", "examples", ".ci")
SIGNALS = {"os.kill", "os.killpg"}
EXPECTED = {"ProcessLookupError", "OSError"}  # the error of a process that has ended, and its base class


def expects(node):
    """Whether a node of a syntax tree takes the error of an ended process from what it encloses."""
    if isinstance(node, ast.Try):
        named = [name for handler in node.handlers if handler.type for name in ast.walk(handler.type)]
    elif isinstance(node, ast.With):
        named = [name for item in node.items for name in ast.walk(item.context_expr)]
    else:
        return False
    return any(isinstance(name, ast.Name) and name.id in EXPECTED for name in named)


def unexpected(text):
    """The lines with a signal to another process whose end before it is an error."""

    def visit(node, safe):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in SIGNALS:
            own = ast.unparse(node.args[0]) == "os.getpid()"
            found.extend([] if safe or own else [node.lineno])
        for child in ast.iter_child_nodes(node):
            visit(child, safe or expects(node))

    found = []
    visit(ast.parse(text), False)
    return found


FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def test_no_signal_fails_on_a_process_that_has_ended():
    """`kill`, `terminate` and `send_signal` of subprocess and multiprocessing expect it themselves."""
    texts = {path: path.read_text("utf-8") for path in FILES}
    suspects = {path: text for path, text in texts.items() if any(name in text for name in SIGNALS)}
    found = {path: lines for path, text in suspects.items() if (lines := unexpected(text))}
    assert len(FILES) > 500
    assert len(suspects) > 3
    assert found == {}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("os.kill(child.pid, 9)", [1]),
        ("os.killpg(pid, 9)", [1]),
        ("os.kill(os.getpid(), 9)", []),
        ("with suppress(OSError):\n    os.kill(pid, 9)", []),
        ("with suppress(ValueError):\n    os.kill(pid, 9)", [2]),
        ("try:\n    os.kill(pid, 9)\nexcept (ProcessLookupError, OverflowError):\n    pass", []),
        ("try:\n    os.kill(pid, 9)\nexcept ValueError:\n    pass", [2]),
    ],
)
def test_the_check_finds_signals_whose_error_nobody_takes(text, lines):
    assert unexpected(text) == lines


def test_a_signal_to_a_process_that_has_ended_is_not_sent():
    ended = subprocess.Popen([sys.executable, "-c", ""], start_new_session=True)
    ended.wait()
    assert not sent(ended.pid)
    assert not sent_to_group(ended.pid)
    asleep = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    assert sent(asleep.pid)
    assert asleep.wait() == -9
