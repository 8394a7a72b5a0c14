"""Optional packages; a missing one gives an error that names what to install."""

from importlib import import_module
from typing import Any

from tcdp_sim.core.errors import UserError


def needed(module: str, extra: str) -> Any:
    """Return the imported module. Raises UserError that names the extra with the module."""
    try:
        return import_module(module)
    except ImportError as problem:
        missing = (problem.name or module).partition(".")[0]
        message = f"cluster={extra} needs the package {missing.replace('_', '-')}"
        raise UserError(f"{message}; install it with: pip install 'tcdp_sim[{extra}]'") from None
