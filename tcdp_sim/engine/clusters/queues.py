"""What the queues of cluster=slurm and cluster=pbs are told: their commands, and what may stand in a job script."""

import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.engine.clusters import checks, protection, tuning

NAME = r"[\w.@:+-]+"
PATH = r"[\w./~+=,@-]+"  # goes unquoted into job scripts
VALUE = r"[\w.:,@/+&|*()\[\]-]+"
# Directives by which a job chooses where and when it runs. None of the others: a config file from somebody else can
# run no code, and `--export`, `--wrap` or `-S` would let it.
SLURM_OPTIONS = (
    *("begin", "comment", "constraint", "exclude", "exclusive", "gpus", "gres", "hint", "licenses"),
    *("mail-type", "mail-user", "nice", "no-requeue", "nodelist", "priority", "qos", "requeue"),
    *("reservation", "switches", "tmp"),
)
QUEUES: dict[str, Any] = {
    "slurm": {
        "cluster": "SLURMCluster",
        "tools": ("sbatch", "scancel", "squeue"),
        "own_jobs": ("squeue", "--noheader", "--format=%A", "--user={user}"),
        "directive": rf"--({'|'.join(SLURM_OPTIONS)})(={VALUE})?",
        "valid": f"a list of --OPTION=VALUE, of the options {', '.join(SLURM_OPTIONS)}",
    },
    "pbs": {
        "cluster": "PBSCluster",
        "tools": ("qsub", "qdel", "qselect"),
        "own_jobs": ("qselect", "-u", "{user}"),
        "directive": rf"-[almMpr] (\w+=)?{VALUE}",
        "valid": "a list such as '-l place=excl', of the options a, l, m, M, p, r",
    },
}
MOST_CORES = 1024
# Dask's folder for files is on the workers' sys.path: it must not be one in which other users of a node can write.
OWN_FOLDER = ("TMPDIR=$(mktemp -d) && export TMPDIR || exit 1", """trap 'rm -rf "$TMPDIR"' EXIT""")


def check(spec: Mapping[str, Any]) -> None:
    """UserError for what is no number, name, time or amount, and for directives that could run code."""
    checks.whole(spec, "cores", 1, MOST_CORES)
    checks.memory(spec)
    checks.seconds(spec, "walltime")
    for key in ("queue", "account", "interface"):
        valid = "a name" if key != "queue" else "a name, or several with commas"
        checks.text(spec, key, NAME if key != "queue" else rf"{NAME}(,{NAME})*", valid)
    checks.yes_no(spec, "tls")
    checks.yes_no(spec, "dashboard")
    checks.text(spec, "folder", PATH, "the path of a folder that all nodes see, without spaces", needed=True)
    queue, directives = QUEUES[spec["name"]], spec["directives"]
    for one in directives if isinstance(directives, list) else [directives]:
        if not (isinstance(one, str) and re.fullmatch(queue["directive"], one)):
            raise UserError(f"cluster.directives = {directives!r} is not valid; valid: {queue['valid']}")


def lifetime(walltime: int) -> tuple[int, int]:
    """(seconds after which a worker retires, how many earlier or later at random), for jobs of so many seconds.

    All retire before the queue would kill them, with time left for a slow start, and not all at once.
    """
    margin = min(walltime // 3, 600)
    return walltime - margin, margin // 2


def options(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of dask-jobqueue's cluster for a checked spec, but for TLS."""
    import dask

    cores, walltime, name = spec["cores"], checks.seconds(spec, "walltime"), spec["name"]
    life, stagger = lifetime(walltime)
    amount = checks.memory(spec).replace(" ", "")
    prologue = dask.config.get(f"jobqueue.{name}.job-script-prologue") or []  # of the user's own jobqueue.yaml
    settings = tuning.inherited(protection.settings(spec))
    return {
        "cores": cores,
        "processes": cores,  # one thread a worker
        "memory": f"{cores * dask.utils.parse_bytes(amount)}B",
        "walltime": f"{walltime // 3600:02d}:{walltime // 60 % 60:02d}:{walltime % 60:02d}",
        "queue": spec["queue"],
        "account": spec["account"],
        "interface": spec["interface"],
        "job_name": "tcdp-sim",
        "job_extra_directives": spec["directives"],
        "job_script_prologue": [*prologue, *OWN_FOLDER, f"export DASK_INTERNAL_INHERIT_CONFIG={settings}"],
        "worker_extra_args": [
            *("--lifetime", f"{life}s", "--lifetime-stagger", f"{stagger}s"),
            *("--no-dashboard", "--dashboard-address", "127.0.0.1:0"),  # elsewhere it would listen on all interfaces
        ],
        "log_directory": str(folder(spec)),
        "scheduler_options": {"dashboard_address": "127.0.0.1:0", "dashboard": spec["dashboard"]},
        "silence_logs": logging.CRITICAL,
    }


def folder(spec: Mapping[str, Any]) -> Path:
    """Where the jobs' logs and TLS keys are."""
    return Path(spec["folder"]).expanduser().absolute()
