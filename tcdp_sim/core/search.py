"""Root finding and minimisation of SciPy for functions of one number, imported at the first search.

`scipy.optimize` takes a third of a second to import. A command that finds everything computed searches nothing.
"""

from typing import Any


def brentq(*arguments: Any, **options: Any) -> Any:
    """Return a root as `scipy.optimize.brentq` does, with the same arguments."""
    from scipy import optimize

    return optimize.brentq(*arguments, **options)


def minimize_scalar(*arguments: Any, **options: Any) -> Any:
    """Return a minimum as `scipy.optimize.minimize_scalar` does, with the same arguments."""
    from scipy import optimize

    return optimize.minimize_scalar(*arguments, **options)
