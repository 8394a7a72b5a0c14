"""The progress line."""

from tcdp_sim import progress


def test_a_log_gets_a_line_now_and_then(monkeypatch, capsys):
    clock = iter([0.0, 1.0, 20.0, 21.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    line = progress.ProgressLine(chunks=4, work=40.0, trials_per_chunk=500)
    for _ in range(3):
        line.advance(1, 10.0)
    err = capsys.readouterr().err
    assert err == "50%  2/4 chunks, 1e+03 trials  ETA 20 s\n"


def test_it_is_silent_when_there_is_little_to_say(capsys):
    with progress.ProgressLine(chunks=1, work=1.0, trials_per_chunk=1) as line:
        line.advance(1, 1.0)
    assert capsys.readouterr() == ("", "")
