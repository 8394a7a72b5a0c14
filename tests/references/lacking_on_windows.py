"""The names of the standard library that Windows lacks, as typeshed (the stubs of mypy) has them."""

import ast
import sys
from functools import cache
from importlib import util
from pathlib import Path

OLDEST = (3, 11)  # version of Python that the package runs with: later ones lack less
STUBS = Path(util.find_spec("mypy").origin).parent / "typeshed" / "stdlib"


@cache
def names(module: str, platform: str) -> frozenset[str]:
    """Return the public names of a module on a platform ("linux", "win32"), none if there is no such module."""
    stub = STUBS / module.replace(".", "/")
    stub = stub / "__init__.pyi" if stub.is_dir() else stub.with_suffix(".pyi")
    if not stub.is_file():  # a relative import of a module that is no package
        return frozenset()
    return frozenset(_defined(ast.parse(stub.read_text("utf-8")).body, module, platform))


def _defined(body, module, platform):
    for part in body:
        match part:
            case ast.If():
                chosen = part.body if _holds(part.test, platform) else part.orelse
                yield from _defined(chosen, module, platform)
            case ast.FunctionDef() | ast.ClassDef():
                yield part.name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign():
                yield from (one.id for one in part.targets if isinstance(one, ast.Name))
            case ast.ImportFrom(module=str(other), names=[ast.alias(name="*")], level=level):
                yield from names(f"{module}.{other}" if level else other, platform)
            case ast.ImportFrom():
                yield from (alias.asname for alias in part.names if alias.asname)


def _holds(test, platform):
    match test:
        case ast.BoolOp():
            found = [_holds(one, platform) for one in test.values]
            return all(found) if isinstance(test.op, ast.And) else any(found)
        case ast.UnaryOp(op=ast.Not()):
            return not _holds(test.operand, platform)
        case ast.Name(id="TYPE_CHECKING"):
            return True
    about = {"sys": type("sys", (), {"platform": platform, "version_info": (*OLDEST, 0)})}
    return eval(compile(ast.Expression(test), "typeshed", "eval"), about)


@cache
def lacking() -> dict[str, frozenset[str] | None]:
    """Return for each module the names that Windows lacks, None for the whole module."""
    found: dict[str, frozenset[str] | None] = {}
    for stub in sorted(STUBS.rglob("*.pyi")):
        parts = stub.relative_to(STUBS).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        linux, windows = ({name for name in names(module, system) if name[0] != "_"} for system in ("linux", "win32"))
        if linux and not windows:
            found[module] = None
        elif linux - windows:
            found[module] = frozenset(linux - windows)
    return found


if __name__ == "__main__":
    for module, missing in lacking().items():
        print(module, "(all)" if missing is None else " ".join(sorted(missing)), file=sys.stdout)
