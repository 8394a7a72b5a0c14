"""`tcdp-sim verify`: silent about an honest run, and loud about whatever was changed in its folder."""

import json

import numpy as np
import pytest

from tcdp_sim.core import streams
from tcdp_sim.engine import simulate
from tcdp_sim.store import certificate, journal, run_folder, source
from tcdp_sim.store import table as tabulation
from tcdp_sim.store.journal import MAGIC

SMALL = ("sweep.k=10", "sweep.noise=[gaussian,laplace]", "sweep.omega_sqrt_rho=1")


@pytest.fixture
def undrawn(tiny, monkeypatch):
    """The command without its figures: undrawn(*words) -> (exit code, stdout, stderr)."""
    monkeypatch.setattr("tcdp_sim.cli.draw.main", lambda raw, console: None)
    return lambda *words: tiny(*SMALL, *words)


def opened(folder):
    return run_folder.Run(folder, json.loads((folder / "run.json").read_text("utf-8")))


@pytest.fixture
def ran(undrawn, tiny_once):
    tiny_once(*SMALL)
    return undrawn


def test_an_honest_run(ran, folder):
    code, out, _ = ran("verify")
    assert code == 0
    assert "certificate: 2 cells, 4 chunks, all as certified" in out
    assert "4 of 4 chunks are the stored bits (4 are stored)\nthat is every chunk" in out
    assert "2 of 2 published cells" in out
    assert "NOT" not in out


def test_what_a_sample_proves(ran):
    """2 of 40 are 5%: a sample of 20 misses both with probability 20 * 19 / (40 * 39)."""
    assert ran("trials=10000")[0] == 0
    out = ran("verify", "trials=10000")[1]
    assert "20 of 20 chunks are the stored bits (40 are stored)" in out
    assert f"with probability {1 - 20 * 19 / (40 * 39):.0%}" in out


def test_a_run_without_certificate_says_so(ran, folder):
    (folder / certificate.NAME).unlink()
    code, out, _ = ran("verify")
    assert code == 0
    assert "no certificate.json" in out


def test_another_code_is_only_a_note(ran, monkeypatch):
    monkeypatch.setattr(source, "own", lambda: "0" * 32)
    monkeypatch.setattr(certificate, "fingerprint", lambda: "0" * 16)
    code, out, _ = ran("verify")
    assert code == 0
    assert "note: not what wrote the certificate: the code: " in out
    assert "note: not what wrote the certificate: this machine's elementary functions" in out


def test_another_bit_stream_is_an_error(ran, monkeypatch):
    monkeypatch.setattr(certificate, "bit_stream", lambda: "0" * 16)
    code, out, _ = ran("verify")
    assert code == 1
    assert "NOT as certified: bit_stream: " in out


def test_another_plan_is_told(ran):
    code, out, _ = ran("verify", "trials=3000")
    assert code == 1
    assert "NOT as certified: trials: 1000 there, 3000 here" in out
    assert "NOT as certified: config: " in out
    assert "4 of 4 chunks are the stored bits" in out


@pytest.mark.parametrize("key", ["seed", "trials", "records", "snapshot", "bit_stream", "config"])
def test_an_altered_certificate(ran, folder, key):
    found = certificate.read(folder) | {key: "0"}
    (folder / certificate.NAME).write_text(json.dumps(found))
    code, out, _ = ran("verify", "sample=1")
    assert code == 1
    assert "NOT as certified" in out


def test_an_altered_digest_of_a_cell(ran, folder):
    found = certificate.read(folder)
    cell = min(found["cells"])
    found["cells"][cell] = found["cells"][cell][:-1] + ("0" if found["cells"][cell][-1] != "0" else "1")
    (folder / certificate.NAME).write_text(json.dumps(found))
    code, out, _ = ran("verify", "sample=1")
    assert code == 1
    assert "NOT as certified: its digest of all records" in out
    found["records"] = certificate._Lines(sorted(found["cells"].items())).digest()  # whoever did it knows that, too
    (folder / certificate.NAME).write_text(json.dumps(found))
    code, out, _ = ran("verify", "sample=1")
    assert code == 1
    assert "its digest of all records" not in out
    assert "NOT as certified: 1 of 2 cells" in out


def test_a_damaged_certificate(ran, folder):
    (folder / certificate.NAME).write_text("[")
    code, out, _ = ran("verify")
    assert code == 1
    assert "NOT as certified: certificate.json cannot be read (it is not JSON); the command that ran it" in out


def test_a_damaged_journal(ran, folder):
    segment = next((folder / "journal").glob("*.seg"))
    data = bytearray(segment.read_bytes())
    data[data.rfind(MAGIC, 0, data.rfind(MAGIC)) + 40] ^= 1  # the last is no chunk: it tells when the writer ended
    segment.write_bytes(data)
    code, out, _ = ran("verify")
    assert code == 1
    assert f"journal/{segment.name}: 1 damaged stretches" in out
    assert "NOT as certified: 1 of 2 cells" in out
    assert ran()[0] == 0
    assert ran("verify")[0] == 0


def test_a_damaged_snapshot(ran, folder):
    next(path for path in (folder / "results.zarr").rglob("c/*") if path.is_file()).write_bytes(b"")
    code, out, _ = ran("verify")
    assert code == 1
    assert "NOT as certified: snapshot: " in out
    assert "NOT as stored: " in out


def test_records_of_another_program_under_a_certificate_of_its_own(undrawn, monkeypatch):
    real = streams.generators
    with monkeypatch.context() as patch:
        patch.setattr(simulate, "generators", lambda seed, cells, chunks: real(seed + 1, cells, chunks))
        patch.setattr(certificate, "bit_stream", lambda: "0" * 16)
        assert undrawn()[0] == 0
    monkeypatch.setattr(certificate, "bit_stream", lambda: "0" * 16)
    code, out, _ = undrawn("verify", "sample=2")
    assert code == 1
    assert "all as certified" in out
    assert "0 of 2 chunks are the stored bits" in out


@pytest.mark.parametrize("factor", [*(pytest.param(x, marks=pytest.mark.slow) for x in (0.9, 1.01)), 1 + 1e-7])
def test_published_numbers_that_the_records_do_not_give(ran, folder, undrawn, monkeypatch, factor):
    """Published by somebody else, with a name and a certificate that are right for what is there."""
    real = tabulation.blocks

    def flattered(*arguments):
        for block in real(*arguments):
            block["linf_error_mean"].values[:] *= factor
            yield block

    (folder / "published.json").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(tabulation, "blocks", flattered)
        assert undrawn()[0] == 0
    code, out, _ = ran("verify", "sample=4")
    assert code == 1
    assert "certificate: 2 cells, 4 chunks, all as certified" in out
    assert "4 of 4 chunks are the stored bits" in out
    assert out.count("NOT what the stored chunks give: linf_error_mean of cell=") == 2
    assert "0 of 2 published cells" in out


def test_more_published_than_stored(ran, folder):
    """The records of a published chunk are gone, and nothing says that they are damaged."""
    run = opened(folder)
    keep, (lost, _) = run.done[:-1], run.done[-1]
    records = [(cell, chunk, run.record(cell, chunk)) for cell, chunk in keep]
    for segment in (folder / "journal").glob("*.seg"):
        segment.unlink()
    with opened(folder).writer({}) as writer:
        for record in records:
            writer.append(*record)
    code, out, _ = ran("verify")
    assert code == 1
    assert "1 of 2 cells" in out
    assert f"NOT what the stored chunks give: trials of cell={lost[:16]}" in out


def test_exact_values_that_were_changed_are_found(ran, folder):
    """Twice the values, with right digests: what a run would publish, and what it has published of them."""
    (segment,) = (folder / "exact").rglob("*.seg")
    records = [payload for _, _, payload in journal.read(segment.parent)]
    segment.unlink()
    with journal.Writer(segment.parent) as writer:
        writer.append(records[0])
        for payload in records[1:]:
            writer.append(payload[:33] + (2 * np.frombuffer(payload[33:], "<f8")).tobytes())
    code, out, _ = ran("verify")
    assert code == 1
    assert "0 of 2 cells of the sample" in out
    assert out.count("NOT what the exact functions give") == 2
    assert f"remove {folder / 'exact'}" in " ".join(out.split()) or "remove results/histogram/exact" in out
