"""`tcdp-sim reproduce`: what is printed and written, what is read again, and what becomes of mistakes and damage."""

import json
from dataclasses import replace

import made_up_claims
import pandas as pd
import pytest

from tcdp_sim.cli import reproduce
from tcdp_sim.core.errors import UserError
from tcdp_sim.experiments.papers import claims, registry
from tcdp_sim.experiments.papers import command as reproduction
from tcdp_sim.experiments.papers import verify as verification
from tcdp_sim.experiments.papers.chosen import chosen
from tcdp_sim.experiments.papers.gather import code, provenance
from tcdp_sim.experiments.papers.gather.gather import READER, Gatherer
from tcdp_sim.experiments.papers.gather.records import Origin, Records
from tcdp_sim.experiments.papers.judge.verdict import Verdict


@pytest.fixture
def made_up(monkeypatch):
    """The claims that the command sees: made-up ones, to be changed by the test."""
    known = made_up_claims.every()
    monkeypatch.setattr(reproduction, "claims", lambda: known)
    monkeypatch.setattr(registry, "_POINTS", made_up_claims.functions())
    monkeypatch.setattr(reproduction, "exhibits", lambda: {})
    return known


def test_a_claim_is_printed_with_its_evidence(command, made_up):
    code, out, err = command("reproduce", "only=T.C18p")
    assert (code, err) == (0, "")
    assert "✗ false by a counter-example, class misprint [erratum E99]" in out
    assert "section 1, Lemma 7, line 12" in out
    assert "quoted: x is at most one" in out
    assert "1.867 [1.866, 1.868] > 1 at x = 1.867" in out
    assert "x = 0.5" in out
    assert "repaired" not in out
    assert "\x1b" not in out


def test_all_claims_make_a_page_and_their_counts(command, made_up, tmp_path):
    code, out, err = command("reproduce", "folder=here")
    assert (code, err) == (0, "")
    assert "8 printed statements: 4 holds" in out
    assert "1 sentence of ours: 1 holds" in out
    folder = tmp_path / "here"
    assert {path.name for path in folder.iterdir()} == {
        *(
            "index.html",
            "papers.md",
            "errata.html",
            "errata.md",
            "remarks.html",
            "remarks.md",
            "claims.csv",
            "certificate.json",
        ),
        *("figures", "evidence"),
    }
    table = pd.read_csv(folder / "claims.csv")
    columns = ("id", "claim", "verdict", "scope", "value", "lower", "upper", "tightness")
    columns += ("vacuous", "erratum", "figure", "command")
    assert tuple(table)[:12] == columns
    row = table.set_index("id").loc["T.C18p"]
    assert (row.verdict, row.scope, row.value, row.erratum) == ("false", "points", 1.867, "E99")
    assert row.tightness == pytest.approx(1.866)
    assert row.command == "tcdp-sim reproduce only=T.C18p"
    assert table.set_index("id").loc["T.C18p repaired"].scope == "all"
    assert table.set_index("id").loc["T.C18p repaired"].command == "tcdp-sim reproduce only='T.C18p repaired'"


def test_the_exit_code_says_that_a_verdict_is_not_the_recorded_one(command, made_up):
    made_up["Z.L7"] = made_up["Z.L7"].model_copy(update={"expected": Verdict.FALSE})
    code, out, _ = command("reproduce")
    assert code == 1
    assert "Z.L7:  ✓ holds on the 2 points tried; recorded is false" in out
    assert command("reproduce", "only=Z.L8")[0] == 0


def test_evidence_is_gathered_once(command, made_up, monkeypatch):
    assert command("reproduce")[0] == 0

    def gone(identity, budget):
        raise AssertionError("gathered again")

    monkeypatch.setattr(registry, "_POINTS", made_up_claims.functions(gone))
    assert command("reproduce")[0] == 0
    code, _, err = command("reproduce", "full=true")  # another budget
    assert (code, err) == (1, "tcdp-sim: claim Z.L7 ended with an error: AssertionError: gathered again\n")


def test_damaged_records_are_gathered_again(command, made_up, tmp_path):
    assert command("reproduce", "folder=here")[0] == 0
    page = (tmp_path / "here" / "index.html").read_bytes()
    (segment,) = (tmp_path / "here" / "evidence").glob("*.seg")
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(bytes(data))
    (tmp_path / "here" / "index.html").unlink()
    code, out, err = command("reproduce", "folder=here")
    assert (code, err) == (0, "")
    assert "1 damaged stretches" in out
    assert (tmp_path / "here" / "index.html").read_bytes() == page


def test_rendering_computes_nothing_and_says_what_is_missing(command, made_up, tmp_path):
    code, _, err = command("reproduce", "render=true", "folder=here")
    assert code == 2
    assert "claim Z.L7 is not recorded in here" in err
    command("reproduce", "folder=here")
    before = {name: (tmp_path / "here" / name).read_bytes() for name in ("index.html", "papers.md", "claims.csv")}
    assert command("reproduce", "render=true", "folder=here")[0] == 0
    assert before == {name: (tmp_path / "here" / name).read_bytes() for name in before}


def test_equal_records_give_equal_bytes_wherever_they_lie(command, made_up, tmp_path):
    command("reproduce", "folder=here")
    (tmp_path / "there" / "deeper").mkdir(parents=True)
    (tmp_path / "here" / "evidence").rename(tmp_path / "there" / "deeper" / "evidence")
    command("reproduce", "folder=there/deeper", "render=true")
    for name in ("index.html", "papers.md", "claims.csv", "figures/looseness.svg", "figures/asymptotics.csv"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / "deeper" / name).read_bytes(), name


def test_the_certificate_seals_what_was_written(command, made_up, tmp_path):
    from hashlib import blake2b

    from tcdp_sim.store.digests import is_broken

    command("reproduce", "folder=here")
    text = (tmp_path / "here" / "certificate.json").read_bytes()
    assert not is_broken(text)
    assert is_broken(text.replace(b"false", b"holds"))
    about = json.loads(text)
    assert about["verdicts"]["T.C18p"] == "false"
    for name, digest in about["files"].items():
        assert blake2b((tmp_path / "here" / name).read_bytes(), digest_size=32).hexdigest() == digest


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["only=T.C18"], "only = 'T.C18' is no claim; the nearest are T.C18p"),
        (["only=t.c18p"], "the nearest are T.C18p, "),
        (["only=Q.*"], "valid: ids such as T.C18p, patterns such as Z.*"),
        (["full=yes"], "full = 'yes'"),
        (["ful=true"], "reproduce: 'ful' is not a key"),
        (["page"], "reproduce: 'page' is not KEY=VALUE"),
        (["folder="], "folder = '' is no path"),
        (["only.x=1"], "'only.x' is not a key"),
    ],
)
def test_mistakes_are_one_line(command, made_up, words, message):
    code, out, err = command("reproduce", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_help_names_every_key(command):
    code, out, err = command("reproduce", "--help")
    assert (code, err) == (0, "")
    assert all(f"  {key}=" in out for key in reproduce.KEYS)


def test_studies_run_here_where_little_is_asked_and_on_the_cluster_that_is_named():
    assert reproduce.read([]).cluster == {"name": "serial"}
    assert reproduce.read(["full=true"]).cluster == {"name": "local"}
    request = reproduce.read(
        ["cluster=slurm", "cluster.workers=40", "cluster.queue=long", "cluster.x=null", "only=Z.*"]
    )
    assert request.cluster == {"name": "slurm", "workers": 40, "queue": "long", "x": None}
    assert (request.only, request.full, str(request.folder)) == ("Z.*", False, "results/papers")


def test_an_interrupted_run_keeps_what_it_has(command, made_up, monkeypatch):
    """Ctrl-C at the last claim: the next command gathers that one alone."""
    gathered = []

    def counted(identity, budget):
        gathered.append(identity)
        if identity == "P.T3" and gathered.count("P.T3") == 1:
            raise KeyboardInterrupt
        return made_up_claims.POINTS[identity]

    monkeypatch.setattr(registry, "_POINTS", made_up_claims.functions(counted))
    assert command("reproduce")[0] == 130
    assert command("reproduce")[0] == 0
    assert gathered == [*made_up_claims.POINTS, "P.T3"]


def test_a_cluster_that_is_none_is_refused(command):
    code, _, err = command("reproduce", "only=Z.6.1e", "cluster=moon")
    assert (code, err.count("\n")) == (2, 1)
    assert "moon" in err


def test_ids_and_patterns_choose_claims():
    known = made_up_claims.every()

    def names(only):
        return [one.id for one in chosen(known, only)]

    assert names("") == list(known)
    assert names("T.C18p") == ["T.C18p"]
    assert names("T.C18p repaired") == ["T.C18p repaired"]
    assert names("T.C18p*, Z.L7") == ["Z.L7", "T.C18p", "T.C18p repaired"]
    assert names("*repaired") == ["T.C18p repaired"]
    with pytest.raises(UserError):
        names("Z.L7,nonsense")


def test_records_count_only_for_their_origin(tmp_path):
    records, points = Records(tmp_path), made_up_claims.POINTS["P.T3"]
    origin = Origin("P.T3", "fast", "abc", {"histogram": "123"})
    records.keep(origin, points)
    records.close()
    read = Records(tmp_path)
    assert repr(read.get(origin)) == repr(points)
    for change in ({"what": "P.T4"}, {"budget": "full"}, {"code": "abd"}, {"runs": {"histogram": "124"}}):
        assert read.get(replace(origin, **change)) is None


def test_all_points_are_the_same_when_they_are_read_again(tmp_path):
    records = Records(tmp_path)
    for name, points in made_up_claims.POINTS.items():
        origin = Origin(name, "fast", "")
        records.keep(origin, points)
        assert repr(records.get(origin)) == repr(points)


def test_tables_keep_numbers_and_texts(tmp_path):
    table = pd.DataFrame({"x": [0.1, float("inf"), float("nan")], "name": ["a", "b<", ""]})
    records, origin = Records(tmp_path), Origin("exhibit one", "fast", "")
    records.keep(origin, table)
    pd.testing.assert_frame_equal(records.get(origin), table)


ONE = (1.0).hex()
NOT_VALID = [  # records with a right digest that are no evidence
    "not json",
    [],
    {"origin": "x"},
    {"origin": "x", "points": "text"},
    {"origin": 3, "points": []},
    {"origin": "x", "points": [["here", ONE, [ONE, ONE, ONE]]]},
    {"origin": "x", "points": [[5, ONE, [ONE, ONE, ONE], [ONE, ONE, ONE]]]},
    {"origin": "x", "points": [["here", ONE, [(2.0).hex(), ONE, ONE], [ONE, ONE, ONE]]]},
    {"origin": "x", "points": [["here", ONE, ["nan", "nan", "nan"], [ONE, ONE, ONE]]]},
    {"origin": "x", "points": [["here", ONE, [1.0, 1.0, 1.0], [ONE, ONE, ONE]]]},
    {"origin": "x", "points": [["here", ONE, [ONE, ONE, ONE, ONE, 0], [ONE, ONE, ONE]]]},
    {"origin": "x", "points": [["here", ONE, [ONE, ONE, ONE, (-1.0).hex(), 9], [ONE, ONE, ONE]]]},
    {"origin": "x", "points": [["here", ONE, [ONE, ONE, ONE, ONE, 1e9], [ONE, ONE, ONE]]]},
    {"origin": "x", "table": {"a": [True, ["no number"]]}},
    {"origin": "x", "table": {"a": [True, [ONE]], "b": [True, []]}},
    {"origin": "x", "table": 5},
]


@pytest.mark.parametrize("plain", NOT_VALID, ids=range(len(NOT_VALID)))
def test_a_record_that_is_no_evidence_counts_as_damage(plain, tmp_path):
    from tcdp_sim.store import journal

    with journal.Writer(tmp_path) as writer:
        writer.append(plain.encode() if isinstance(plain, str) else json.dumps(plain).encode())
    read = Records(tmp_path)
    assert read.damaged == 1
    assert not read._known


def digests(monkeypatch, changed):
    """Digests of two modules of claims once a line has been added to a module."""
    source = code._source
    monkeypatch.setattr(code, "_source", lambda name: source(name) + ("\n# new" if name == changed else ""))
    for cached in (code.digest, code._imported):
        cached.cache_clear()
    found = [code.digest(f"tcdp_sim.experiments.papers.{name}") for name in ("tcdp.sinh_normal", "tcdp.introduction")]
    monkeypatch.setattr(code, "_source", source)
    for cached in (code.digest, code._imported):
        cached.cache_clear()
    return found


def test_code_that_evidence_hangs_on_changes_its_digest_and_no_other_does(monkeypatch):
    unchanged = digests(monkeypatch, "")
    quadrature, forms = digests(monkeypatch, "tcdp_sim.exact.renyi.divergence")
    assert quadrature != unchanged[0]
    assert forms == unchanged[1]
    assert digests(monkeypatch, "tcdp_sim.core.numerics") != unchanged
    assert digests(monkeypatch, "tcdp_sim.engine.schedule") == unchanged


def test_a_package_runs_when_one_of_its_modules_is_imported(monkeypatch):
    """The first module reads `tcdp_sim.privacy.definitions` and the like, and never the package by its name."""
    assert digests(monkeypatch, "tcdp_sim.privacy")[0] != digests(monkeypatch, "")[0]


def test_evidence_from_studies_hangs_on_the_code_that_reads_them(monkeypatch, tmp_path):
    """A claim that needs results is gathered again once their reader changes, and one that needs none is not."""
    one = claims()["Z.6.1e"]
    assert one.needs

    def points(budget):
        return made_up_claims.POINTS["Z.L7"]

    points.__module__ = registry.function_of(one).__module__
    monkeypatch.setattr(registry, "_POINTS", {one.id: points})
    asked = [one, one.model_copy(update={"needs": ()})]
    source = code._source

    def missing(added):
        monkeypatch.setattr(code, "_source", lambda name: source(name) + (added if name == READER else ""))
        code.digest.cache_clear()
        with Gatherer(tmp_path, False, "serial", str) as gatherer:
            return [len(gatherer.missing_claims([each])) for each in asked]

    with Gatherer(tmp_path, False, "serial", str) as gatherer:
        for each in asked:
            gatherer._points(each)
    try:
        assert missing("") == [0, 0]
        assert missing("\n# new") == [1, 0]
    finally:
        code.digest.cache_clear()


def points_set_to(folder, identity, value):
    """Write the evidence again with all left sides of a claim set to a number: valid records with right digests."""
    from tcdp_sim.store import journal

    records = [json.loads(payload) for _, _, payload in journal.read(folder / "evidence")]
    for path in (folder / "evidence").glob("*.seg"):
        path.unlink()
    with journal.Writer(folder / "evidence") as writer:
        for record in records:
            if f'"claim {identity}"' in record["origin"]:
                for point in record["points"]:
                    point[2] = [value.hex()] * 3
            writer.append(json.dumps(record).encode())


def test_verify_finds_nothing_in_what_was_written(command, made_up, tmp_path, monkeypatch):
    monkeypatch.setattr(verification, "claims", lambda: made_up)
    command("reproduce", "folder=here")
    code, out, err = command("verify", "here", "sample=3")
    assert (code, err) == (0, "")
    assert "9 claims as recorded, 3 of them computed again: 0 differences" in out


def test_verify_finds_evidence_that_was_changed_together_with_its_digest(command, made_up, tmp_path, monkeypatch):
    """The left sides of a false claim are set to 0.5, which would turn its verdict into "holds"."""
    monkeypatch.setattr(verification, "claims", lambda: made_up)
    command("reproduce", "folder=here")
    points_set_to(tmp_path / "here", "T.C18p", 0.5)
    code, out, _ = command("verify", "here")
    assert code == 1
    assert "NOT as certified: T.C18p: its recorded evidence" in out
    assert "NOT as certified: T.C18p: computed again, its points differ" in out


def test_verify_compares_verdicts_with_the_certificate(command, made_up, tmp_path, monkeypatch):
    """What the data file expects by now is another matter."""
    monkeypatch.setattr(verification, "claims", lambda: made_up)
    made_up["Z.L7"] = made_up["Z.L7"].model_copy(update={"expected": Verdict.FALSE})
    assert command("reproduce", "folder=here")[0] == 1
    assert command("verify", "here", "sample=0")[0] == 0
    made_up["T.C18p"] = made_up["T.C18p"].model_copy(update={"expected": Verdict.HOLDS, "tolerance": 1.0})
    code, out, _ = command("verify", "here", "sample=0")
    assert code == 1
    assert "NOT as certified: T.C18p: the verdict is holds, and was false" in out


def test_the_date_is_that_of_the_youngest_record(tmp_path):
    names = ("evidence/20260102T1-a.seg", "runs/one/journal/20260311T2-b.seg", "runs/two/journal/20270101T3-c.seg")
    for name in (*names, "evidence/20251230T1-d.seg", "evidence/other.seg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert provenance._date(tmp_path, ["one"]) == "2026-03-11"
    assert provenance._date(tmp_path, []) == "2026-01-02"
    assert provenance._date(tmp_path / "nothing", []) == "no date"


@pytest.mark.parametrize("name", ["claims.csv", "index.html", "errata.md"])
def test_verify_finds_a_changed_file(command, made_up, tmp_path, monkeypatch, name):
    monkeypatch.setattr(verification, "claims", lambda: made_up)
    command("reproduce", "folder=here")
    path = tmp_path / "here" / name
    path.write_text(path.read_text("utf-8").replace("false", "holds") + " ", "utf-8")
    code, out, _ = command("verify", "here", "sample=0")
    assert code == 1
    assert f"NOT as certified: {name} has been changed" in out


def test_verify_refuses_a_certificate_that_is_not_as_it_was_written(command, made_up, tmp_path, monkeypatch):
    monkeypatch.setattr(verification, "claims", lambda: made_up)
    command("reproduce", "folder=here")
    path = tmp_path / "here" / "certificate.json"
    path.write_bytes(path.read_bytes().replace(b'"false"', b'"holds"'))
    code, _, err = command("verify", "here")
    assert (code, err.count("\n")) == (2, 1)
    assert "has been changed" in err


def test_a_plan_says_what_would_be_computed_and_does_nothing(command, made_up, tmp_path):
    code, out, err = command("reproduce", "folder=here", "plan=true")
    assert (code, err) == (0, "")
    assert "claims and figures to compute: 8 of 9" in out
    assert not (tmp_path / "here").exists()
    command("reproduce", "folder=here")
    assert "claims and figures to compute: 0 of 9" in command("reproduce", "folder=here", "plan=true")[1]
