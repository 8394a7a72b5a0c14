"""cluster=slurm and cluster=pbs: workers as jobs of a queue, through dask-jobqueue. The driver runs on a login node."""

import getpass
import logging
import math
import re
import shutil
import time
from contextlib import contextmanager
from pathlib import Path

from tcdp_sim import interrupts
from tcdp_sim.clusters import checks, tuning
from tcdp_sim.clusters.extras import needed
from tcdp_sim.clusters.jobs import Jobs
from tcdp_sim.errors import UserError

NAME = r"[\w.@:+-]+"
PATH = r"[\w./~+=,@%-]+"  # goes unquoted into job scripts
VALUE = r"[\w.:,@/+&|*()\[\]-]+"
# Directives by which a job chooses where and when it runs. None of the others: a config file from somebody else can
# run no code, and `--export`, `--wrap` or `-S` would let it.
SLURM_OPTIONS = (
    *("begin", "clusters", "comment", "constraint", "exclude", "exclusive", "gpus", "gres", "hint", "licenses"),
    *("mail-type", "mail-user", "mem-per-cpu", "nice", "no-requeue", "nodelist", "priority", "qos", "requeue"),
    *("reservation", "switches", "tmp"),
)
QUEUES = {
    "slurm": {
        "cluster": "SLURMCluster",
        "tools": ("sbatch", "scancel", "squeue"),
        "mine": ("squeue", "--noheader", "--format=%A", "--user={user}"),
        "directive": rf"--({'|'.join(SLURM_OPTIONS)})(={VALUE})?",
        "valid": f"a list of --OPTION=VALUE, of the options {', '.join(SLURM_OPTIONS)}",
    },
    "pbs": {
        "cluster": "PBSCluster",
        "tools": ("qsub", "qdel", "qselect"),
        "mine": ("qselect", "-u", "{user}"),
        "directive": rf"-[almMpr] (\w+=)?{VALUE}",
        "valid": "a list such as '-l place=excl', of the options a, l, m, M, p, r",
    },
}
POLL = 1.0  # seconds between looks at who has come
MOST_CORES = 1024


def check(spec) -> None:
    """UserError for what is no number, name, time or amount, and for directives that could run code."""
    checks.whole(spec, "cores", 1, MOST_CORES)
    checks.memory(spec)
    checks.seconds(spec, "walltime")
    for key in ("queue", "account", "interface"):
        valid = "a name" if key != "queue" else "a name, or several with commas"
        checks.text(spec, key, NAME if key != "queue" else rf"{NAME}(,{NAME})*", valid)
    checks.yes_no(spec, "tls")
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


def options(spec) -> dict:
    """The arguments of dask-jobqueue's cluster for a checked spec, but for TLS."""
    import dask

    cores, walltime, name = spec["cores"], checks.seconds(spec, "walltime"), spec["name"]
    life, stagger = lifetime(walltime)
    amount = checks.memory(spec).replace(" ", "")
    prologue = dask.config.get(f"jobqueue.{name}.job-script-prologue") or []  # of the user's own jobqueue.yaml
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
        "job_script_prologue": [*prologue, f"export DASK_INTERNAL_INHERIT_CONFIG={tuning.inherited()}"],
        "worker_extra_args": [
            *("--lifetime", f"{life}s", "--lifetime-stagger", f"{stagger}s"),
            *("--dashboard-address", "127.0.0.1:0"),  # elsewhere it would listen on all interfaces
        ],
        "log_directory": str(_folder(spec)),
        "scheduler_options": {"dashboard_address": "127.0.0.1:0"},
        "silence_logs": logging.CRITICAL,
    }


@contextmanager
def client(spec, tell):
    """A client of workers in jobs, as soon as the first has come; jobs that end are submitted again, all cancelled
    at the end."""
    name = spec["name"]
    with interrupts.held():
        jobqueue = needed("dask_jobqueue", name)
        if spec["tls"]:
            needed("cryptography", name)
        import dask
        from distributed import Client, Security
    queue = QUEUES[name]
    for tool in queue["tools"]:
        if shutil.which(tool) is None:
            raise UserError(
                f"cluster={name}: there is no {tool} on this machine; start the run where jobs are submitted"
            )
    _make(_folder(spec))
    if not spec["tls"]:
        tell("warning: cluster.tls = False: whoever can reach this machine's ports can run code as you")
    count = math.ceil(spec["workers"] / spec["cores"])
    mine = [word.format(user=getpass.getuser()) for word in queue["mine"]]
    started = []
    try:
        with dask.config.set(tuning.PATIENT), interrupts.held():
            security = {}
            if spec["tls"]:
                security = {"security": Security.temporary(), "shared_temp_directory": str(_folder(spec))}
            try:
                cluster = getattr(jobqueue, queue["cluster"])(**options(spec), **security)
                started.append(cluster)
                found = Client(cluster)
                started.append(found)
            except (RuntimeError, OSError, ValueError) as problem:  # no such interface, no port
                reason = " ".join(str(problem).split())
                raise UserError(f"cluster={name}: the scheduler for the workers did not start ({reason})") from None
        jobs = Jobs(cluster, found, count, mine, _folder(spec))
        started.append(jobs)
        tell(f"jobs submitted: {count}; waiting for the first worker (logs in {_folder(spec)})")
        while not jobs.tend():
            time.sleep(POLL)
        with jobs.tended():
            yield found
    finally:
        with interrupts.held():
            for one in reversed(started):
                one.close()


def _folder(spec) -> Path:
    return Path(spec["folder"]).expanduser().absolute()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # keys of the workers lie there
    except OSError as problem:
        raise UserError(f"cluster.folder = {str(folder)!r} cannot be made ({problem.strerror})") from None
