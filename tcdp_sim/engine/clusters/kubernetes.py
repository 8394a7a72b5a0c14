"""The cluster kubernetes: workers as pods, through the Dask operator and dask-kubernetes. It is experimental."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.core.waiting import announced
from tcdp_sim.engine import interrupts
from tcdp_sim.engine.clusters import checks, tuning
from tcdp_sim.engine.clusters.extras import needed
from tcdp_sim.study import groups

if TYPE_CHECKING:
    from distributed import Client

LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
IMAGE = r"[a-z0-9][\w.:/@-]{0,254}"
CPU = r"\d+m|\d+(\.\d{1,3})?"
SUFFIXES = {"kB": "k", "MB": "M", "GB": "G", "TB": "T", "kiB": "Ki", "MiB": "Mi", "GiB": "Gi", "TiB": "Ti"}
EXPERIMENTAL = (
    f"warning: cluster=kubernetes is experimental: {groups.EXPERIMENTAL['kubernetes']}; "
    "cluster=scheduler uses pods that the Dask operator has started (docs/howto/clusters.md)"
)
START = 600  # seconds for the first pod, whose image may have to be pulled


def check(spec: Mapping[str, Any]) -> None:
    """Raise UserError for an invalid image, name or amount. No cluster is asked."""
    if spec["image"] is None:
        raise UserError("cluster.image is not given; give the container image in which tcdp_sim is installed")
    checks.text(spec, "image", IMAGE, "a container image such as registry.example/tcdp-sim:1.0", needed=True)
    checks.text(spec, "namespace", LABEL, "a namespace: small letters, digits and dashes")
    checks.memory(spec)
    checks.text(spec, "cpu", CPU, "an amount such as 1, 0.5 or 500m", needed=True, numbers=(int, float))


def options(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of dask-kubernetes' cluster for a checked spec."""
    memory = checks.memory(spec).replace(" ", "")
    digits = memory.rstrip("kMGTiB")
    amounts = {"cpu": str(spec["cpu"]), "memory": digits + SUFFIXES[memory[len(digits) :]]}
    return {
        "name": f"tcdp-sim-{secrets.token_hex(4)}",
        "namespace": spec["namespace"],
        "image": spec["image"],
        "n_workers": spec["workers"],
        "resources": {"requests": amounts, "limits": amounts},
        "env": {"DASK_INTERNAL_INHERIT_CONFIG": tuning.inherited()},
        "worker_command": ["dask", "worker", "--nthreads", "1"],
        "quiet": True,
    }


@contextmanager
def client(spec: Mapping[str, Any], tell: Tell) -> "Iterator[Client]":
    """Yield a client of pods once the first worker has come; all pods are deleted at the end.

    The operator replaces lost pods.
    """
    with interrupts.held():
        operator = needed("dask_kubernetes.operator", "kubernetes")
        from distributed import Client
    tell(EXPERIMENTAL)
    policy = "keep others out by a network policy (docs/howto/clusters.md)"
    tell(f"warning: the Dask operator's pods talk in plain text; {policy}")
    started = []
    try:
        try:
            with announced(tell, f"waiting for the first pod, up to {START} s"):
                cluster = operator.KubeCluster(**options(spec))
                started.append(cluster)
                dask_client = Client(cluster)
                started.append(dask_client)
                dask_client.wait_for_workers(1, timeout=START)
        except Exception as problem:  # four libraries may fail: no cluster, no rights, no operator, no image
            reason = " ".join(str(problem).split())[:300] or type(problem).__name__
            raise UserError(f"cluster=kubernetes: the pods did not start ({reason})") from None
        yield dask_client
    finally:
        with interrupts.held():
            for one in reversed(started):
                one.close()
