"""The benchmarks, which `make test` does not run."""


def test_every_benchmark_can_be_imported():
    from benchmarks.__main__ import ASKED, BENCHMARKS

    assert all(map(callable, (BENCHMARKS | ASKED).values()))
