"""Every command with a table prints the same characters on a narrow terminal as on a wide one: no column is lost."""

from collections import Counter

STUDY = ("trials=200", "chunk=100", "cluster=serial", "also=null", "sweep.k=[10,1e12]", "sweep.rho=0.1", "seed=7")
NOISES = "sweep.noise=[gaussian,sinh_normal_tight,discrete_gaussian]"
COMMANDS = (
    ("draw", "results/histogram"),
    ("list",),
    ("describe", "histogram"),
    ("describe", "quantiles"),
    ("show", "results/histogram"),
    ("diff", "results/histogram", "results/other"),
    ("table", "results/histogram"),
)
RULES = "─━═"  # lines of tables are as long as the table is wide


def characters(text):
    return Counter("".join(text.split()).translate(dict.fromkeys(map(ord, RULES))))


def test_no_column_is_lost(command, monkeypatch):
    for more in ((), ("name=other", "seed=8")):
        assert command(*STUDY, NOISES, "sweep.omega_sqrt_rho=1.5", *more)[0] == 0
    for words in COMMANDS:
        printed = {}
        for width in (30, 80, 500):
            monkeypatch.setenv("COLUMNS", str(width))
            code, printed[width], err = command(*words)
            assert (code, err) == (0, ""), words
        assert characters(printed[30]) == characters(printed[80]) == characters(printed[500]), words
        assert "…" not in printed[30] + printed[80], words
