"""The queues of the clusters slurm and pbs: their commands, and the allowed content of a job script."""

import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.paths import at_home
from tcdp_sim.engine.clusters import checks, protection, tuning

NAME = r"[\w.@:+-]+"
PATH = r"[\w./~+=,@-]+"  # goes unquoted into job scripts
VALUE = r"[\w.:,@/+&|*()\[\]-]+"
# Directives that choose where and when a job runs. Others are refused, because a config file from somebody else must
# not run code, and `--export`, `--wrap` or `-S` would allow that.
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
# Dask's folder for files is on the workers' sys.path, so other users of a node must not be able to write into it.
OWN_FOLDER = ("TMPDIR=$(mktemp -d) && export TMPDIR || exit 1", """trap 'rm -rf "$TMPDIR"' EXIT""")


def check(spec: Mapping[str, Any]) -> None:
    """Raise UserError for an invalid number, name, time or amount, and for directives that could run code."""
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
            raise UserError(
                f"cluster.directives = {directives!r} is not valid; valid: {queue['valid']}", "cluster.directives"
            )


def lifetime(walltime: int) -> tuple[int, int]:
    """Return the seconds after which a worker retires, and the largest random shift of that time.

    All workers retire before the queue would kill them, with time left for a slow start, and not all at once.
    """
    margin = min(walltime // 3, 600)
    return walltime - margin, margin // 2


def options(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of dask-jobqueue's cluster for a checked spec, without TLS."""
    import dask

    cores, walltime, name = spec["cores"], checks.seconds(spec, "walltime"), spec["name"]
    life, stagger = lifetime(walltime)
    amount = checks.memory(spec).replace(" ", "")
    prologue = dask.config.get(f"jobqueue.{name}.job-script-prologue") or []  # from the user's jobqueue.yaml
    settings = tuning.inherited(protection.settings(spec))
    return {
        "cores": cores,
        "processes": cores,  # so that each worker has one thread
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
            *("--no-dashboard", "--dashboard-address", "127.0.0.1:0"),  # the default listens on all interfaces
        ],
        "log_directory": str(folder(spec)),
        "scheduler_options": {"dashboard_address": "127.0.0.1:0", "dashboard": spec["dashboard"]},
        "silence_logs": logging.CRITICAL,
    }


def folder(spec: Mapping[str, Any]) -> Path:
    """Return the folder of the jobs' logs and TLS keys."""
    return Path(at_home(spec["folder"])).absolute()
