"""Protection of a run from other users of the machine: its own certificate, no web pages, and a private folder."""

import datetime
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Security

ROLES = ("client", "scheduler", "worker")
# Dask would write results to disk when memory is short, and read them back as pickles. Results are small anyway.
UNWRITTEN: dict[str, Any] = {"distributed.worker.memory.target": False, "distributed.worker.memory.spill": False}
NO_PAGES: dict[str, Any] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
DAY = datetime.timedelta(days=1)
WATCHED = "warning: cluster.dashboard = True: every user of this machine can read the pages of Dask"


def settings(spec: Mapping[str, Any], folder: str | None = None) -> dict[str, Any]:
    """Return the dask settings that hide everything from others; `folder` is where its processes may write."""
    pages: dict[str, Any] = {} if spec.get("dashboard") else NO_PAGES
    return UNWRITTEN | pages | ({"temporary-directory": folder} if folder else {})


def certificate() -> tuple[str, str]:
    """Return a self-signed certificate and its private key as two PEM texts, for one run.

    The certificate is valid from the day before, because the clocks of a cluster's machines differ.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())  # takes a millisecond, unlike RSA
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "tcdp-sim")])
    now = datetime.datetime.now(datetime.UTC)
    number, begin, end = x509.random_serial_number(), now - DAY, now + 400 * DAY
    made = x509.CertificateBuilder(name, name, key.public_key(), number, begin, end)
    secret = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    text = made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    return text.decode(), key.private_bytes(*secret).decode()


def mutual(cert: str, key: str) -> "Security":
    """Return dask's security with this certificate for all participants; nobody else is let in.

    The arguments are PEM texts or paths.
    """
    from distributed import Security

    files = {f"tls_{role}_cert": cert for role in ROLES} | {f"tls_{role}_key": key for role in ROLES}
    return Security(tls_ca_file=cert, **files, require_encryption=True)


def written(cert: str, key: str, folder: Path) -> tuple[str, str]:
    """Write a certificate and its key to two new files, readable for the owner only, and return their paths."""
    paths = folder / "cert.pem", folder / "key.pem"
    for path, text in zip(paths, (cert, key)):
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(text)
    return str(paths[0]), str(paths[1])


@contextmanager
def scratch() -> Iterator[str]:
    """Yield the path of a new folder that only its owner can enter, and remove it at the end.

    Dask puts its folder for files on sys.path, so in a shared folder other users could plant modules. The entries of
    sys.path are removed too, because somebody could create the folder again.
    """
    with tempfile.TemporaryDirectory(prefix="tcdp-sim-", ignore_cleanup_errors=True) as folder:
        try:
            yield folder
        finally:
            sys.path[:] = [one for one in sys.path if not one.startswith(folder)]
