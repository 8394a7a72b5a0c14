"""Optional packages: what is missing is one line that says what to install."""

from importlib import import_module
from typing import Any

from tcdp_sim.core.errors import UserError


def needed(module: str, extra: str) -> Any:
    """The imported module; UserError that names the extra which brings it."""
    try:
        return import_module(module)
    except ImportError as problem:
        missing = (problem.name or module).partition(".")[0]
        message = f"cluster={extra} needs the package {missing.replace('_', '-')}"
        raise UserError(f"{message}; install it with: pip install 'tcdp_sim[{extra}]'") from None
