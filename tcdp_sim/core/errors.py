"""Errors of users, and checks of arguments; a message names the argument, its value and the valid values."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from math import inf
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar, overload

from tcdp_sim.core.texts import printable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

_MEMORY_SIGNS: dict[type[BaseException], str] = {
    ImportError: "failed to map segment",  # of a library
    RuntimeError: "can't start new thread",
    OSError: "Cannot allocate memory",
}

# numpy is imported where it is used, so that a command line with --help or a misspelt word answers at once.


class UserError(ValueError):
    """An error that the user can correct, with a message of one line.

    The line names the argument or file, its value and the valid values. The command line prints it and ends with exit
    code 2. It is a ValueError, so that code which expects one catches it too.

    Parameters
    ----------
    message : str
        The line. Characters that are not printable are written out, because it may quote texts from anywhere.
    place : str
        The key or argument that is wrong, such as "sweep.k", or "" if there is no single one. A study in a file shows
        its line. It is the attribute `place`.

    Examples
    --------
    >>> from tcdp_sim import UserError
    >>> from tcdp_sim.data import load_counts
    >>> try:
    ...     load_counts({"name": "mine", "kind": "cube"})
    ... except UserError as error:
    ...     print(error)
    data mine: kind = 'cube' is not known; valid: shape, sample, table
    """

    def __init__(self, message: str = "", place: str = "") -> None:
        super().__init__(_shown(message))
        self.place = place


class ArgumentError(ValueError):
    """A ValueError about one argument, whose name is the attribute `place`."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.place = place


def place_of(mistake: BaseException) -> str:
    """Return the key or argument that a mistake is about, "" if it does not say so."""
    return str(getattr(mistake, "place", ""))


def of_user(mistake: BaseException, before: str = "", section: str = "") -> UserError:
    """Return a mistake as one of the user, with more words before it. Its place lies in a section of the keys."""
    place = place_of(mistake)
    return UserError(f"{before}{mistake}", f"{section}.{place}" if section and place else place)


class Failure(Exception):
    """The end of a run that lacks some of its results through no fault of the user, with a message of one line.

    An example is a chunk that ended with an error. Finished chunks are kept, so the same call continues the run. The
    command line prints the line and ends with exit code 1.

    Parameters
    ----------
    message : str
        The line. Characters that are not printable are written out, because it may quote texts from anywhere.

    Examples
    --------
    >>> import tcdp_sim
    >>> try:
    ...     tcdp_sim.run("histogram", name="mine")  # doctest: +SKIP
    ... except tcdp_sim.Failure as failure:
    ...     print(failure)
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(_shown(message))


def _shown(message: str) -> str:
    """Return a message without characters that would command a terminal."""
    return printable(message, keep="\n\t")


@overload
def real(
    name: str, value: float, low: float, high: float = inf, *, closed: bool = False, finite: bool = True
) -> float: ...
@overload
def real(
    name: str, value: object, low: float, high: float = inf, *, closed: bool = False, finite: bool = True
) -> "float | NDArray[np.float64]": ...
def real(
    name: str, value: object, low: float, high: float = inf, *, closed: bool = False, finite: bool = True
) -> "float | NDArray[np.float64]":
    """Return `value` as a float, or as a read-only float array. Raises ValueError unless it lies in its range.

    The range is low < value < high; `closed` admits low itself, and `finite=False` admits high itself. The error names
    the parameter, the offending value and the range.
    """
    if type(value) is float and low < value < high:
        return value  # by far the most frequent case
    import numpy as np

    unmasked(name, value)
    try:
        array = np.array(_numbers(value), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(
            f"{name} = {value!r} is not a number; {_range(name, low, high, closed, finite)}", name
        ) from None
    above = array >= low if closed else array > low
    below = array < high if finite else array <= high
    good = above & below  # False for NaN
    if not good.all():
        bad = array if array.ndim == 0 else array[~good].flat[0]
        raise ArgumentError(f"{name} = {bad:g} is not valid; {_range(name, low, high, closed, finite)}", name)
    if array.ndim == 0:
        return float(array)
    array.setflags(write=False)
    return array


def scalar(
    name: str, value: object, low: float, high: float = inf, *, closed: bool = False, finite: bool = True
) -> float:
    """Return one number as `real` does. Raises ValueError for an array."""
    number = real(name, value, low, high, closed=closed, finite=finite)
    if not isinstance(number, float):
        raise ArgumentError(f"{name} = {value!r} is not one number; {_range(name, low, high, closed, finite)}", name)
    return number


def whole(name: str, value: object, low: int, high: float) -> int:
    """Return `value` as an int. Raises ValueError unless it is a whole number with low <= value <= high < inf.

    1e6 counts as whole; true and false are no numbers. The error names the parameter, the offending value and the
    range.
    """
    number: Any = value if isinstance(value, Real) and not isinstance(value, bool) else None
    if number is None or not low <= number <= high or number != int(number):
        written = f"{value:g}" if isinstance(value, float) else repr(value)
        written = written if len(written) <= 60 else f"{written[:9]}..."
        most = f"{high:g}".replace("e+", "e")
        raise ArgumentError(f"{name} = {written} is not valid; valid: a whole number from {low} to {most}", name)
    return int(number)


def unmasked(name: str, values: Any) -> Any:
    """Return values as they are. Raises ValueError for an array with masked ones, which numpy would read as numbers."""
    import numpy as np

    if isinstance(values, np.ma.MaskedArray) and (hidden := np.ma.count_masked(values)):
        raise ArgumentError(f"{name}: {hidden:,} of {values.size:,} values are masked; valid: none", name)
    return values


def _numbers(value: object) -> "NDArray[Any]":
    """Return `value` as an array of numbers. Raises TypeError for "1", None and True, which NumPy would convert."""
    import numpy as np

    array = np.asarray(value)
    exact = array.dtype.kind == "O" and all(  # ints beyond 64 bits and fractions come as objects
        isinstance(item, Real) and not isinstance(item, bool) for item in array.flat
    )
    if array.dtype.kind not in "iuf" and not exact:
        raise TypeError
    return array


def _range(name: str, low: float, high: float, closed: bool, finite: bool) -> str:
    """Return the valid range in words."""
    left = "<=" if closed else "<"
    right = "<" if finite else "<="
    return f"valid: {low:g} {left} {name} {right} {high:g}"


def choice(name: str, value: Any, valid: Collection[T]) -> T:
    """Return `value` if it is one of `valid`. Raises ValueError that lists them otherwise."""
    try:
        is_known = value in valid
    except (TypeError, ValueError):  # a list, an array
        is_known = False
    if not is_known:
        names = tuple(map(str, valid))
        near = suggestion(value, names) if isinstance(value, str) else ""
        raise ArgumentError(f"{name} = {value!r} is not known; valid: {', '.join(names)}{near}", name)
    return value


def known(name: str, value: Any, valid: Iterable[T]) -> T:
    """Return `value` if it is one of `valid`, as `choice` does, but raise UserError."""
    try:
        return choice(name, value, tuple(valid))
    except ValueError as mistake:
        raise of_user(mistake) from None


def only_keys(where: str, keys: Iterable[object], valid: Iterable[str]) -> None:
    """Raise UserError for a key that nothing would read, since most are misspelt."""
    valid = tuple(valid)
    for key in keys:
        if key not in valid:
            message = f"{where}: {key!r} is not a key; valid: {', '.join(valid)}{suggestion(key, valid)}"
            raise UserError(message, f"{where}.{key}")


def suggestion(word: object, valid: Iterable[str]) -> str:
    """Return "; did you mean sweep.rho?" if `word` ends a valid dotted key or is nearly a valid key, else ""."""
    word, last = str(word), {key.rpartition(".")[2]: key for key in valid}
    near = [word] if word in last else get_close_matches(word, last, 1, 0.6)
    return f"; did you mean {last[near[0]]}?" if near else ""


def lacks_memory(problem: BaseException) -> bool:
    """Return True for an exception that means too little memory: a MemoryError, or the error of a library."""
    signs = (text in str(problem) for kind, text in _MEMORY_SIGNS.items() if isinstance(problem, kind))
    return isinstance(problem, MemoryError) or any(signs)


def reason(problem: OSError) -> str:
    """Return the file and the reason of an error in words."""
    message = problem.strerror or str(problem)
    where = problem.filename2 or problem.filename
    return f"{where}: {message}" if where else message
