"""Errors for missing methods. Each names the method that the author of a noise class may define."""

from inspect import unwrap
from typing import Any


def defines(noise: Any, name: str) -> bool:
    """Return True if a noise, or a noise class, has a method or an attribute of its own in place of the fallback."""
    home = noise if isinstance(noise, type) else type(noise)
    first = next((each for each in home.__mro__ if name in vars(each)), None)
    return first is not None and not (_falls_back(first) or _repeats_fallback(home, name, vars(first)[name]))


def _falls_back(cls: type) -> bool:
    return vars(cls).get("_gives_fallbacks", False)


def _repeats_fallback(home: type, name: str, found: Any) -> bool:
    """Return True for a method that names the fallback itself, such as ``privacy_loss = Noise.privacy_loss``."""
    bases = (each for each in home.__mro__ if name in vars(each) and _falls_back(each))
    return callable(found) and any(vars(each)[name] is unwrap(found) for each in bases)


def undefined(noise: Any, *names: str) -> tuple[str, ...]:
    """Return the names for which a noise or a noise class has only the fallback."""
    return tuple(name for name in names if not defines(noise, name))


def cannot(goal: str, reason: str, *methods: str, instead: str = "") -> ValueError:
    """Return the error, in one line, for a task that a noise cannot do.

    `goal`: the task, with the family's name: ``"calibrate logistic to 0.1-zCDP"``. `reason`: the cause: ``"the supremum
    of its privacy loss is unknown"``. `methods`: names of the methods to define in the noise class; empty if no method
    would help. `instead`: the alternative for the user, after "or choose": ``"TCDP with finite omega"``.
    """
    names = " and ".join(f"`{name}`" for name in methods)
    advice = [f"define {names} in the noise class"] if methods else []
    advice += [f"choose {instead}"] if instead else []
    words = ", or ".join(advice)
    return ValueError(f"cannot {goal}: {reason}." + (f" {words[0].upper()}{words[1:]}." if words else ""))
