"""`tcdp-sim script`: job files whose jobs get the words as given, and whose directives are documented ones."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tcdp_sim.cli import script
from tcdp_sim.engine import needs

STUDY = ("chunk=250", "also=null", "sweep.rho=0.1", "sweep.omega_sqrt_rho=2", "trials=1000")
STUDY += ("sweep.k=[10,1e6]", "sweep.noise=[laplace,gaussian]", "cluster=serial")
# a name with everything that a shell could take for something else
NAME = """it's $HOME `id` "a" * ; #JOB"""
WORDS = (*STUDY, r"""name='it\'s $HOME `id` "a" * ; #JOB'""", "sweep.where=['k > 1']")

RECORDER = """\
#!/bin/sh
{ printf '%s\\n' "$@"; echo; } >> "$RECORDED"
"""
# Stand-ins for the queues: they run the jobs at once, in the bare environment of a job.
BARE = 'env -i PATH="$PATH" RECORDED="$RECORDED"'
EACH = """\
each() { for range in $(echo "$1" | tr , ' '); do seq "${range%-*}" "${range#*-}"; done; }
"""
TOOLS = {
    "slurm": {
        "sbatch": """\
for word; do case $word in
    --array=*) array=${word#*=} ;;
    --dependency=afterany:7) ;; --parsable | --output=tcdp-sim-jobs/*.log) ;;
    -*) exit 9 ;;
    *) job=$word ;;
esac; done
[ "$array" ] || { BARE sh "$job"; exit; }
for i in $(each "$array"); do BARE SLURM_ARRAY_TASK_ID=$i sh "$job"; done
echo "7;cluster"
"""
    },
    "pbs": {
        "qsub": """\
while [ $# -gt 1 ]; do case $1 in
    -J) array=$2 ;; -v) set -- "$1" "$2" "$3" "$4" "$5"; own=$2 ;; -W) [ "$2" = "$EXPECTED" ] || exit 9 ;;
    -o) [ -d "$2" ] || exit 9 ;;
    *) exit 9 ;;
esac; shift 2; done
if [ "$array" ]; then
    [ "${array%-*}" -lt "${array#*-}" ] || exit 9
    for i in $(each "$array"); do BARE PBS_ARRAY_INDEX=$i sh "$1"; done
    echo "7[].server"
else
    BARE "${own:-NONE=}" sh "$1"
    echo 8.server
fi
"""
    },
    "lsf": {
        "bsub": """\
while [ $# -gt 1 ]; do case $1 in
    -J) name=$2 ;; -o) ;; -w) [ "$2" = "$EXPECTED" ] || exit 9 ;; *) exit 9 ;;
esac; shift 2; done
cat > job.lsf
case $name in
    *","*) exit 9 ;;
    *"["*) array=${name#*[}; for i in $(each "${array%]}"); do BARE LSB_JOBINDEX=$i sh job.lsf; done ;;
    *) BARE sh job.lsf ;;
esac
echo "Job <7> is submitted to default queue <normal>."
"""
    },
    "sge": {
        "qsub": """\
while [ $# -gt 1 ]; do case $1 in
    -terse) shift; continue ;;
    -t) array=$2 ;; -o) [ -d "$2" ] || exit 9 ;; -hold_jid) [ "$2" = "$EXPECTED" ] || exit 9 ;; *) exit 9 ;;
esac; shift 2; done
[ "$array" ] || { BARE sh "$1"; exit; }
case $array in *,*) exit 9 ;; esac
for i in $(each "$array"); do BARE SGE_TASK_ID=$i sh "$1"; done
echo "7.$array:1"
"""
    },
    "htcondor": {
        "condor_submit_dag": """\
[ -x part.sh ] && [ -x finish.sh ] || exit 9
sed -n 's/^VARS part\\([0-9]*\\) part="\\1"$/\\1/p' "$1" | while read i; do
    grep -qx "JOB part$i part.sub" "$1" || exit 9
    BARE ./part.sh "$i"
done
grep -qx "FINAL finish finish.sub" "$1" && BARE ./finish.sh
"""
    },
}
EXPECTED = {"pbs": ["depend=afterany:7[].server", "depend=afterany:8.server:7[].server"], "sge": ["7", "7,7"]}
EXPECTED["lsf"] = ["ended(7)", "ended(7) && ended(7)"]
# the directives of each queue, in the form that its manual gives
CLOCK = r"\d{2,}:[0-5]\d:[0-5]\d"
DIRECTIVES = {
    "slurm": rf"#SBATCH --(job-name=[\w-]+|ntasks=1|cpus-per-task=1|time={CLOCK}|mem=\d+M)",
    "pbs": rf"#PBS -(N [\w-]+|l select=1:ncpus=1:mem=\d+mb|l walltime={CLOCK}|j oe)",
    "lsf": r'#BSUB -(n 1|W \d+:[0-5]\d|M \d+MB|R "rusage\[mem=\d+MB\]")',
    "sge": rf"#\$ -(N [\w-]+|S /bin/sh|cwd|j y|l h_rt={CLOCK}|l h_vmem=\d+M)",
}
SUBMIT = """\
universe = vanilla|executable = (part|finish)\\.sh|arguments = \\$\\(part\\)|request_cpus = 1|request_memory = \\d+MB|\
periodic_remove = \\(JobStatus == 2\\) && \\(time\\(\\) - EnteredCurrentStatus > \\d+\\)|should_transfer_files = NO|\
log = jobs\\.log|(output|error) = (part-\\$\\(part\\)|finish)\\.log|queue"""


@pytest.fixture
def job(command, tmp_path, monkeypatch):
    """job(queue) -> the job file of WORDS in 3 parts; its jobs call a program that records their words."""
    program = tmp_path / "the program"
    program.write_text(RECORDER)
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))

    def printed(queue):
        code, out, err = command("script", queue, *WORDS, "parts=3")
        assert (code, err) == (0, "")
        return out

    return printed


def submitted(queue, text, folder, *arguments, expected=""):
    """Run a job file with stand-ins for the queue's commands, and return the words that its jobs got."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name, body in TOOLS[queue].items():
        (tools / name).write_text("#!/bin/sh\nset -e\narray= job= own= name=\n" + EACH + body.replace("BARE", BARE))
        (tools / name).chmod(0o755)
    (folder / "job.sh").write_text(text)
    recorded = folder / "recorded"
    recorded.write_text("")
    environment = {"PATH": f"{tools}:{os.environ['PATH']}", "RECORDED": str(recorded), "EXPECTED": expected}
    subprocess.run(["sh", "job.sh", *arguments], cwd=folder, env=environment, check=True, capture_output=True)
    return [one.splitlines() for one in recorded.read_text().split("\n\n")[:-1]]


@pytest.mark.parametrize("queue", script.QUEUES)
def test_every_job_gets_the_words_as_given(queue, job, tmp_path):
    text, (all_parts, some) = job(queue), EXPECTED.get(queue, ["", ""])
    start, words = ["-P", "-m", "tcdp_sim"], list(WORDS)
    run = [[*start, "run", *words, f"part={i}/3"] for i in (1, 2, 3)]
    finish = [*start, "finish", *words]
    assert submitted(queue, text, tmp_path, expected=all_parts) == [*run, finish]
    assert submitted(queue, text, tmp_path, "1,2-3", expected=some) == [*run, finish]


def test_the_words_mean_the_run_that_is_named(job):
    assert f"of the run results/{NAME}," in job("slurm")


def test_a_study_in_a_file_is_computed_in_parts_as_well(command, tmp_path, monkeypatch):
    """The jobs run in the folder of the command, and find the file by the name that was given."""
    monkeypatch.chdir(tmp_path)
    Path("study.yaml").write_text("sweep: {rho: 0.1, k: 10}\ntrials: 1000\nchunk: 250\ncluster: serial\n")
    code, out, _ = command("script", "slurm", "study.yaml", "seed=3", "parts=4")
    assert code == 0
    assert ' run study.yaml seed=3 "part=$SLURM_ARRAY_TASK_ID/4"' in out
    assert f"cd {tmp_path}" in out
    Path("study.yaml").write_text("trials: 1000\nsweep: {rho: 0.1, kk: 10}\n")
    code, _, err = command("script", "slurm", "study.yaml", "parts=4")
    assert code == 2
    assert "study.yaml:2: sweep.kk is not an axis" in err


@pytest.mark.parametrize("queue", [*DIRECTIVES])
def test_directives_are_documented_ones(queue, job):
    prefix = {"slurm": "#SBATCH", "pbs": "#PBS", "lsf": "#BSUB", "sge": "#$"}[queue]
    text = job(queue)
    lines = [line for line in text.splitlines() if line.startswith(prefix)]
    assert len(lines) == 2 * len(set(re.sub(r"\d+", "", line) for line in lines))
    assert not [line for line in lines if not re.fullmatch(DIRECTIVES[queue], line)]
    for body in text.split("<<'JOB'\n")[1:]:  # a queue reads directives before the first command only
        head = body.split("\ncd ")[0].splitlines()
        assert head[0] == "#!/bin/sh"
        assert [line for line in head[1:] if not line.startswith(prefix)] == []


def test_submit_files_of_htcondor_have_documented_commands(job):
    blocks = job("htcondor").split("<<'SUBMIT'\n")[1:]
    assert len(blocks) == 2
    for block in blocks:
        lines = block.split("\nSUBMIT\n")[0].splitlines()
        assert not [line for line in lines if not re.fullmatch(SUBMIT, line)]
        assert lines[-1] == "queue"


def test_resources_are_the_forecast_with_its_margin(job):
    need = needs.Need(seconds=3 * 3600 + 5 * 60, megabytes=700)
    assert (need.clock, need.hours_and_minutes) == ("03:05:00", "03:05")
    assert needs._need(100.0, 3e8) == needs.Need(14 * 60, 600)  # twice the forecast and ten minutes, in whole minutes
    text = job("slurm")
    forecast = re.search(r"largest part: (\d+) chunks, (\d+) s and ([\d.]+) GB", text)
    assert int(forecast[1]) == 6  # of 16, by counting: the four cells begin at parts 1, 2, 2 and 3
    hours, minutes, _ = map(int, re.search("--time=(.*)", text)[1].split(":"))
    assert hours * 60 + minutes >= 10 + 2 * int(forecast[2]) / 60
    assert int(re.search("--mem=(.*)M", text)[1]) >= 2000 * (float(forecast[3]) - 0.05)


def test_a_part_under_a_target_has_time_for_a_cell_of_the_most_trials(command, monkeypatch):
    """A cell is of one part, so no number of parts makes it shorter."""
    target = "target_mcse={linf_error:{relative:0.5}}"
    spans = []
    for most in (10**4, 10**9):
        text = command("script", "slurm", *STUDY, target, f"max_trials={most}", "parts=1000")[1]
        spans.append(int(re.search(r"chunks, (\d+) s and", text)[1]))
    assert spans[0] < 60 < 1e5 * 1e-3 < spans[1]  # 4 million chunks of more than 25 microseconds each


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "script takes a queue"),
        (("parts=3",), "script takes a queue"),
        (("slrm", "parts=3"), "valid: slurm, pbs, lsf, sge, htcondor; did you mean slurm?"),
        (("slurm",), "parts is not given"),
        (("slurm", "parts=0"), "parts = '0'"),
        (("slurm", "parts=1e3"), "valid: a whole number from 1 to 1000000"),
        (("slurm", "parts=3", "part=1/3"), "each job computes a part of its own"),
        (("slurm", "parts=3", "trials=+50"), "not valid with part"),
        (("slurm", "parts=3", "-m", "seed=1,2"), "a job file is of one run"),
        (("slurm", "parts=3", "sed=1"), "did you mean seed?"),
        (("slurm", "parts=3", *STUDY, "sweep.where=['k > 1\n']"), "valid: text without line breaks"),
    ],
)
def test_mistakes_are_told_in_a_line(command, words, said):
    code, out, err = command("script", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert not Path("results").exists()


def test_the_file_of_one_part_asks_for_one(command):
    assert "parts=${1:-1}\n" in command("script", "pbs", *STUDY, "parts=1")[1]


def test_a_line_break_in_the_name_of_the_working_folder_is_refused(command, tmp_path, monkeypatch):
    (tmp_path / "a\nb").mkdir()
    monkeypatch.chdir(tmp_path / "a\nb")
    code, out, err = command("script", "slurm", *STUDY, "parts=3")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "valid: text without line breaks" in err
