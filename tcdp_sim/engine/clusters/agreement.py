"""The check that client, scheduler and workers have the same versions and give the same bits."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.core.streams import bit_stream, fingerprint

if TYPE_CHECKING:
    from distributed import Client

RESULTS = ("tcdp_sim", "numpy", "scipy")  # other versions may give other numbers, so they are refused
# different versions usually understand each other
TRANSPORT = ("python", "dask", "distributed", "msgpack", "cloudpickle", "tornado")


def check(client: "Client", strict: bool, tell: Tell) -> None:
    """Raise UserError for versions or random streams that give other numbers; warn about harmless differences.

    If `strict` is true, workers with other elementary functions (last bits) are refused as well.
    """
    versions: Any = client.get_versions(packages=list(RESULTS))
    _versions(versions, tell)
    ours = fingerprint()
    strangers = [worker for worker, theirs in _answers(client, fingerprint).items() if theirs != ours]
    if not strangers:
        return
    random = bit_stream()
    other = [worker for worker, theirs in _answers(client, bit_stream, strangers).items() if theirs != random]
    if other:
        raise UserError(f"{_some(other)}: the random generator gives another stream than here; use the same numpy")
    message = (
        f"{_some(strangers)}: elementary functions differ from this machine's in the last bits (another kind of CPU)"
    )
    if strict:
        raise UserError(f"{message}; numerics=warn accepts that")
    tell(f"warning: {message}; the numbers are right, but not bit-identical")


def _versions(versions: Mapping[str, Any], tell: Tell) -> None:
    """Compare the versions of packages. Raises UserError for one that may give other numbers."""
    here = versions["client"]["packages"]
    workers = {f"worker {name}": one["packages"] for name, one in versions["workers"].items()}
    everybody = {"the scheduler": versions["scheduler"]["packages"], **workers}
    other = _different(workers, here, RESULTS)
    if other:
        raise UserError(f"{other}; install the same versions everywhere: others may give other numbers")
    if other := _different(everybody, here, TRANSPORT):
        tell(f"warning: {other}; if the run fails, install the same versions everywhere")


def _different(there: Mapping[str, Mapping[str, str]], here: Mapping[str, str], packages: tuple[str, ...]) -> str:
    """Return the first difference in words with the number of further ones, "" if there is none."""
    differences = [
        f"{who} has {package} {_version(one.get(package))}, this machine {_version(here.get(package))}"
        for who, one in there.items()
        for package in packages
        if one.get(package) != here.get(package)
    ]
    return (
        "" if not differences else differences[0] + (f" (and {len(differences) - 1} more)" if differences[1:] else "")
    )


def _version(text: str | None) -> str:
    """Return a version as shown to the user."""
    return "(none)" if text is None else text.removesuffix(".final.0")


def _answers(client: "Client", function: Callable[[], str], workers: list[str] | None = None) -> dict[str, str]:
    """Return the result of a function on each worker. Raises UserError if their files of tcdp_sim are others."""
    try:
        return client.run(function, workers=workers)
    except (ImportError, AttributeError) as problem:  # the versions agree but the files do not
        raise UserError(f"the workers run other files of tcdp_sim than this machine ({problem})") from None


def _some(workers: list[str]) -> str:
    """Return the name of the first worker and the number of further ones."""
    more = f" and {len(workers) - 1} more" if workers[1:] else ""
    return f"worker {workers[0]}{more}"
