"""One contestant's answers in a process of its own: `python -m benchmarks.peers.measure NAME`.

The process prints one line of JSON for each question. CPU time is user + system time of this process and its children,
without imports: each question is first asked with small numbers, so that everything is loaded. A quick question is
asked repeatedly with parameters that differ by a relative 1e-9, so that no cached answer helps.
"""

import importlib
import json
import resource
import sys
import time
import warnings

from benchmarks.peers.questions import QUESTIONS

ENOUGH = 0.1  # CPU seconds after which a quick question is asked no more
MOST = 1000  # repeats of a quick question


def cpu() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def moved(value, times: int):
    """Return the value with every float changed by `times` parts in 1e9; whole numbers stay."""
    if isinstance(value, float):
        return value * (1 + 1e-9 * times)
    if isinstance(value, dict):
        return {key: moved(each, times) for key, each in value.items()}
    return [moved(each, times) for each in value] if isinstance(value, list | tuple) else value


def measured(function, question) -> dict:
    """Return the answer, and the CPU and wall seconds of one answer."""
    function(**question.warm)
    answer, spent, took, times = None, 0.0, 0.0, 0
    while times == 0 or (spent < ENOUGH and times < MOST):
        parameters = moved(question.parameters, times)
        started, before = time.perf_counter(), cpu()
        found = function(**parameters)
        spent, took = spent + cpu() - before, took + time.perf_counter() - started
        answer, times = answer or found, times + 1
    return {"answer": answer() if callable(answer) else answer, "cpu": spent / times, "wall": took / times}


def main(name: str, only: list[str]) -> None:
    contestant = importlib.import_module(f"benchmarks.peers.contestants.{name}")
    for question in QUESTIONS:
        function = getattr(contestant, question.name, None)
        if function is None or (only and question.name not in only) or question.fresh:
            continue
        try:
            told = measured(function, question)
        except Exception as error:  # the table names any error
            told = {"failed": " ".join(f"{type(error).__name__}: {error}".split())[:160]}
        print(json.dumps({"question": question.name, **told}), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1], sys.argv[2:])
