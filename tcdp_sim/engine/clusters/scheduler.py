"""The cluster scheduler: a Dask scheduler that somebody has started, with or without TLS."""

import gc
import ipaddress
import re
import socket
import traceback
from asyncio import CancelledError, wait_for
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.core.paths import at_home
from tcdp_sim.core.waiting import announced
from tcdp_sim.engine import interrupts
from tcdp_sim.engine.clusters import checks

if TYPE_CHECKING:
    from distributed import Client, Security

ADDRESS = r"(?:(?P<protocol>tcp|tls)://)?(?P<host>\[[0-9a-fA-F:.]+\]|[\w.-]+):(?P<port>\d{1,5})"
_LATER = 0.5  # seconds; `connect` itself gives up after `wait`
ASK = 10  # seconds that a plan waits for an answer
DOCS = "docs/howto/clusters.md"
FILES = ("tls_ca", "tls_cert", "tls_key")


def check(spec: Mapping[str, Any]) -> None:
    """Raise UserError unless the address is valid, and TLS files are given exactly for tls://."""
    valid = "tls://HOST:PORT or tcp://HOST:PORT"
    if spec["address"] is None:
        raise UserError(f"cluster.address is not given; give cluster.address={valid}", "cluster.address")
    checks.text(spec, "address", ADDRESS, valid, needed=True)
    checks.whole(spec, "wait", 1, 86400)
    secure = spec["address"].startswith("tls://")
    for key in FILES:
        value = spec[key]
        if (value is not None) != secure:
            because = "an address with tls:// needs all three" if secure else "TLS goes with an address tls://HOST:PORT"
            raise UserError(f"cluster.{key} = {value!r} is not valid: {because} ({', '.join(FILES)})", f"cluster.{key}")
        if secure and not (isinstance(value, str) and Path(at_home(value)).is_file()):
            raise UserError(f"cluster.{key} = {value!r} is not a file; valid: the path of a PEM file", f"cluster.{key}")


def is_loopback(host: str) -> bool:
    """Return True if an address stays on this machine; among names only "localhost" counts."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def present(spec: Mapping[str, Any], tell: Tell) -> int:
    """Return the number of workers now. Raises UserError if the scheduler does not answer within ASK seconds."""
    dask_client = _connected(spec, min(spec["wait"], ASK), tell)
    try:
        return len(dask_client.nthreads())
    finally:
        with interrupts.held():
            dask_client.close(timeout=5)


def _connected(spec: Mapping[str, Any], wait: float, tell: Tell) -> "Client":
    """Return a client, by TLS or after a warning. Raises UserError if nobody answers within `wait` seconds."""
    address = spec["address"]
    parts = cast(re.Match[str], re.fullmatch(ADDRESS, address))  # `check` has seen that it matches
    if _refuses(parts["host"].strip("[]"), int(parts["port"])):  # asked first: the import takes a second
        tell(f"{address} refuses the connection; waiting for a scheduler there up to {wait:g} s")
    with interrupts.held():
        from distributed import Client, Security
    security = None
    if parts["protocol"] == "tls":
        ca, cert, key = (str(Path(at_home(spec[name])).absolute()) for name in FILES)
        security = Security(tls_ca_file=ca, tls_client_cert=cert, tls_client_key=key, require_encryption=True)
    else:
        who = "every user of this machine" if is_loopback(parts["host"]) else "whoever can reach it, or the way to it,"
        tell(f"warning: cluster.address = {address} is plain text: {who} can run code as you; use tls:// ({DOCS})")
    try:
        with announced(tell, f"no scheduler answers at {address} yet; waiting for it up to {wait:g} s"):
            _shake_hands(address, security, wait)
            return Client(address, security=security, timeout=wait)
    except (OSError, ValueError) as problem:  # refused, no such host, another protocol, a certificate not accepted
        _end_what_failed(problem)
        raise UserError(
            f"cluster.address = {address} gives no connection ({_cause(problem)})", "cluster.address"
        ) from None
    except MemoryError as problem:  # another protocol's first bytes were read as a length
        _end_what_failed(problem)
        raise UserError(
            f"cluster.address = {address} gives no connection (it is not a Dask scheduler)", "cluster.address"
        ) from None


def _refuses(host: str, port: int) -> bool:
    """Return True if nobody listens at an address."""
    try:
        socket.create_connection((host, port), timeout=1).close()
    except ConnectionRefusedError:
        return True
    except (OSError, ValueError, OverflowError):  # the client itself says what is wrong
        return False
    return False


def _shake_hands(address: str, security: "Security | None", wait: float) -> None:
    """Raise OSError unless what listens at an address answers as Dask does, within `wait` seconds.

    A client waits for ever for this answer of a process that was stopped, or of a server that only listens.
    """
    from distributed.comm import connect
    from distributed.utils import LoopRunner

    async def answer() -> None:
        known = security.get_connection_args("client") if security else {}
        (await connect(address, timeout=wait, **known)).abort()

    async def in_time() -> None:
        try:
            await wait_for(answer(), wait + _LATER)
        except TimeoutError:
            raise OSError(f"what listens there did not answer within {wait:g} s") from None

    LoopRunner(asynchronous=False).run_sync(in_time)


def _end_what_failed(problem: BaseException | None) -> None:
    """Close the client whose start has failed; nothing but the frames of its exception holds it.

    Otherwise Python collects it at any later time, also while distributed starts another loop. Then `Client.__del__`
    waits for a lock that this very thread holds.
    """
    while problem is not None:
        traceback.clear_frames(problem.__traceback__)
        problem = problem.__cause__ or problem.__context__
    gc.collect()


@contextmanager
def client(spec: Mapping[str, Any], tell: Tell) -> "Iterator[Client]":
    """Yield a client of the running scheduler once enough workers are there; only the client is closed at the end."""
    address, wait = spec["address"], spec["wait"]
    dask_client = _connected(spec, wait, tell)
    try:
        needed = spec["workers"] or 1
        try:
            with announced(tell, f"waiting up to {wait} s for workers: dask worker {address} starts one"):
                dask_client.wait_for_workers(needed, timeout=wait)
        except TimeoutError:
            there = f"{len(dask_client.nthreads())} of {needed} workers are at {address} after {wait} s"
            message = f"{there}; start more with: dask worker {address}, or raise cluster.wait"
            raise UserError(message) from None
        yield dask_client
    finally:
        with interrupts.held():
            dask_client.close(timeout=5)


def _cause(problem: BaseException) -> str:
    """Return the first cause of an exception in one line, ignoring that an attempt was finally cancelled."""
    while problem.__cause__ is not None and not isinstance(problem.__cause__, CancelledError):
        problem = problem.__cause__
    return " ".join(str(problem).split()) or type(problem).__name__
