"""By what a mechanism is known: nothing that may change its outputs is left out, so counts stay apart."""

import sys
import textwrap
import warnings
from dataclasses import dataclass
from functools import partial
from importlib import util

import audited
import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.audits.run import CHANGED, OTHER
from tcdp_sim.core.identity import digest, identity
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal
from tcdp_sim.privacy import PureDP

HEAD = (
    "from dataclasses import dataclass\nfrom functools import cached_property, lru_cache, partial\nimport numpy as np\n"
)


@pytest.fixture
def module(tmp_path):
    """module(source) -> a fresh module of the name `written`, from a file of its own."""
    made = []

    def make(source):
        path = tmp_path / f"file{len(made)}" / "written.py"
        path.parent.mkdir()
        path.write_text(HEAD + textwrap.dedent(source))
        spec = util.spec_from_file_location("written", path)
        found = util.module_from_spec(spec)
        sys.modules["written"] = found
        spec.loader.exec_module(found)
        made.append(found)
        return found

    yield make
    sys.modules.pop("written", None)


def test_an_object_that_a_function_carries_is_not_mistaken_for_another(tmp_path):
    """log(0.9 / 0.1) = 2.2 first; then a mechanism of the same name with log(0.6 / 0.4) = 0.41, for which 1 holds."""
    given = {"neighbours": audited.ONE, "claim": PureDP(1.0), "trials": 5000, "name": "flips", "results_dir": tmp_path}
    assert tcdp_sim.audit(audited.called_by_its_name(audited.Flip(0.9)), **given).refuted
    report = tcdp_sim.audit(audited.called_by_its_name(audited.Flip(0.6)), **given)
    assert (report.refuted, report.resumed) == (False, 0)
    again = tcdp_sim.audit(audited.called_by_its_name(audited.Flip(0.6)), **given)
    assert again.resumed == again.drawn > 0


CHANGES = {  # what differs between two modules -> a source with a gap, and the two ways to fill it
    "an object's state": ("""
        class Flip:
            def __init__(self, p): self.p = p
            def __call__(self, data, rng, n): return rng.random(n) < self.p
        mechanism = Flip({})
    """, "0.9", "0.6"),
    "the class of a carried object": ("""
        class Flip:
            def __call__(self, data, rng, n): return rng.random(n) < {}
        def made(flip):
            def mechanism(data, rng, n): return flip(data, rng, n)
            return mechanism
        mechanism = made(Flip())
    """, "0.9", "0.6"),
    "a carried dataclass": ("""
        @dataclass(frozen=True)
        class Flip:
            p: float = {}
        def made(flip):
            def mechanism(data, rng, n): return rng.random(n) < flip.p
            return mechanism
        mechanism = made(Flip())
    """, "0.9", "0.6"),
    "an inherited call": ("""
        class Base:
            def __call__(self, data, rng, n): return rng.random(n) < {}
        class Mechanism(Base):
            pass
        mechanism = Mechanism()
    """, "0.9", "0.6"),
    "a constant that a class reads": ("""
        P = {}
        class Mechanism:
            def __call__(self, data, rng, n): return rng.random(n) < P
        mechanism = Mechanism()
    """, "0.9", "0.6"),
    "a constant that a base class reads in an inner function": ("""
        P = {}
        class Base:
            def __call__(self, data, rng, n):
                def inner(): return P
                return rng.random(n) < inner()
        class Mechanism(Base):
            pass
        mechanism = Mechanism()
    """, "0.9", "0.6"),
    "a constant that a property reads": ("""
        P = {}
        class Mechanism:
            @property
            def p(self): return P
            def __call__(self, data, rng, n): return rng.random(n) < self.p
        mechanism = Mechanism()
    """, "0.9", "0.6"),
    "a method put in later": ("""
        def high(self, data, rng, n): return rng.random(n) < 0.9
        def low(self, data, rng, n): return rng.random(n) < 0.6
        class Mechanism:
            pass
        Mechanism.__call__ = {}
        mechanism = Mechanism()
    """, "high", "low"),
    "an attribute of a class": ("""
        P = {}
        class Mechanism:
            p = 2 * P
            def __call__(self, data, rng, n): return rng.random(n) < self.p
        mechanism = Mechanism()
    """, "0.4", "0.3"),
    "slots": ("""
        class Mechanism:
            __slots__ = ("p",)
            def __init__(self, p): self.p = p
            def __call__(self, data, rng, n): return rng.random(n) < self.p
        mechanism = Mechanism({})
    """, "0.9", "0.6"),
    "a list of constants": ("""
        P = [1, {}]
        def mechanism(data, rng, n): return rng.random(n) < P[1]
    """, "0.9", "0.6"),
    "a dictionary of constants": ("""
        P = dict(p=dict(p={}))
        def mechanism(data, rng, n): return rng.random(n) < P["p"]["p"]
    """, "0.9", "0.6"),
    "a constant in an inner function": ("""
        P = {}
        def mechanism(data, rng, n):
            def inner(): return P
            return rng.random(n) < inner()
    """, "0.9", "0.6"),
    "a function's own likelihood ratio": ("""
        def mechanism(data, rng, n): return rng.random(n) < 0.9
        def one(outputs, data, other): return outputs
        def two(outputs, data, other): return -outputs
        mechanism.log_likelihood_ratio = {}
    """, "one", "two"),
    "callables in a list of a partial": ("""
        def high(): return 0.9
        def low(): return 0.6
        def flip(data, rng, n, of): return rng.random(n) < of[0]()
        mechanism = partial(flip, of=[{}])
    """, "high", "low"),
    "callables in defaults": ("""
        def high(): return 0.9
        def low(): return 0.6
        def mechanism(data, rng, n, *, of={}): return rng.random(n) < of()
    """, "high", "low"),
    "a decorated function": ("""
        from functools import wraps
        def twice(factor):
            def decorate(f):
                @wraps(f)
                def inner(data, rng, n): return factor * f(data, rng, n)
                return inner
            return decorate
        @twice(2)
        def mechanism(data, rng, n): return rng.random(n) < {}
    """, "0.9", "0.6"),
    "a compiled function": ("""
        def made(of):
            def mechanism(data, rng, n): return of(data + rng.random((n, 1)))
            return mechanism
        mechanism = made({})
    """, "np.sin", "np.cos"),
    "a function that numpy dispatches": ("""
        def flip(data, rng, n, of): return of(data + rng.random((n, 3)), axis=1)
        mechanism = partial(flip, of={})
    """, "np.median", "np.mean"),
    "a carried class": ("""
        class A:
            p = {}
        def flip(data, rng, n, of): return rng.random(n) < of.p
        mechanism = partial(flip, of=A)
    """, "0.9", "0.6"),
    "an attribute of a class among the globals": ("""
        class Params:
            keep = {}
        def mechanism(data, rng, n): return rng.random(n) < Params.keep
    """, "0.9", "0.6"),
    "an attribute of its base class": ("""
        class Base:
            keep = {}
        class Params(Base): pass
        def mechanism(data, rng, n): return rng.random(n) < Params.keep
    """, "0.9", "0.6"),
    "an attribute of a class that was set later": ("""
        class Params: keep = 0.5
        setattr(Params, "keep", {})
        def mechanism(data, rng, n): return rng.random(n) < Params.keep
    """, "0.9", "0.6"),
    "a constant of a called function": ("""
        KEEP = {}
        def level(): return KEEP
        def mechanism(data, rng, n): return rng.random(n) < level()
    """, "0.9", "0.6"),
    "the source of a function that a called function calls": ("""
        def deeper(): return {}
        def level(): return deeper() if True else level()
        def mechanism(data, rng, n): return rng.random(n) < level()
    """, "0.9", "0.6"),
    "a default of a called function": ("""
        def level(keep={}): return keep
        def mechanism(data, rng, n): return rng.random(n) < level()
    """, "0.9", "0.6"),
    "what the method of an object among the globals reads": ("""
        KEEP = {}
        class Flip:
            def __call__(self): return KEEP
        flip = Flip()
        def mechanism(data, rng, n): return rng.random(n) < flip()
    """, "0.9", "0.6"),
    "an attribute of a named class that another class sets too": ("""
        P = {}
        class Base:
            p = 0.5
        class Level(Base):
            p = 2 * P
        def mechanism(data, rng, n): return rng.random(n) < Level.p
    """, "0.45", "0.3"),
    "a function that another method of a method's object calls": ("""
        def found(): return {}
        class Flip:
            def level(self): return found()
            def run(self, data, rng, n): return rng.random(n) < self.level()
        mechanism = Flip().run
    """, "0.9", "0.6"),
    "what a carried function with a cache reads": ("""
        KEEP = {}
        @lru_cache
        def level(): return KEEP
        def flip(data, rng, n, of): return rng.random(n) < of()
        mechanism = partial(flip, of=level)
    """, "0.9", "0.6"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_may_change_the_outputs_changes_the_identity(module, name):
    source, one, other = CHANGES[name]
    first, again, second = (identity(module(source.replace("{}", each)).mechanism) for each in (one, one, other))
    assert first is not None
    assert first == again
    assert second is not None
    assert first != second


UNKNOWN = {
    "an object of no plain data": "partial(flip, of=object())",
    "a lambda in a list": "partial(flip, of=[lambda: 1])",
    "an array of objects": "partial(flip, of=np.array([object()]))",
    "a generator of its own": "partial(flip, of=np.random.default_rng(1))",
    "a method of a generator": "partial(flip, of=np.random.default_rng(1).laplace)",
    "itself": "looped",
    "a subclass of a list": "Listed([1])",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_nobody_can_tell_has_no_identity(module, name):
    source = f"""
        def flip(data, rng, n, of): return rng.random(n)
        class Listed(list):
            def __call__(self, data, rng, n): return rng.random(n)
        class Looped:
            def __init__(self): self.own = self.run
            def run(self, data, rng, n): return rng.random(n)
            __call__ = run
        looped = Looped()
        mechanism = {UNKNOWN[name]}
    """
    assert identity(module(source).mechanism) is None


@dataclass(frozen=True)
class Added:
    """Noise of the package, which a mechanism carries."""

    noise: object

    def __call__(self, data, rng, trials):
        return data + self.noise.sample((trials, 1), rng=rng)


def test_noises_of_the_package_are_known():
    found = [identity(Added(noise)) for noise in (Laplace(1.0), Laplace(2.0), Gaussian(1.0), SinhNormal(1.0, 2.0))]
    assert None not in found
    assert len({each["source"] for each in found}) == 4
    assert identity(partial(audited.laplace, trials=3)) != identity(audited.laplace)


def test_digests_of_data_do_not_hang_on_addresses():
    assert digest(np.arange(3)) != digest(np.arange(4))
    assert digest({1, 2}) == digest({2, 1}) != digest([1, 2])
    with pytest.raises(TypeError, match="array of objects"):
        digest(np.array([object()]))
    with pytest.raises(TypeError, match="no plain data"):
        digest(object())


def test_an_attribute_of_a_module_among_the_globals_counts(module):
    """`config.LEVEL`, in a file of its own; what else that file says does not count."""
    found = []
    for text in ("LEVEL = 0.5\nOTHER = 1", "LEVEL = 0.9\nOTHER = 1", "LEVEL = 0.5\nOTHER = 2"):
        config = module(text)
        made = module("import written as config\ndef mechanism(data, rng, n): return rng.random(n) < config.LEVEL")
        made.config = config
        found.append(identity(made.mechanism))
    assert None not in found
    assert found[0] == found[2] != found[1]


LIBRARY_LAW = """
from scipy.stats import binom

FROZEN = binom(10, CHANCE)


def counted(data, rng, trials):
    return binom.rvs(10, 0.5, size=trials, random_state=rng)


def frozen(data, rng, trials):
    return FROZEN.rvs(size=trials, random_state=rng)
"""


def test_an_object_that_a_library_hands_out_counts_by_its_name(tmp_path, monkeypatch):
    """`scipy.stats.binom` holds a generator, which no digest describes; the name that the source reads says it all."""
    (tmp_path / "library_law.py").write_text(LIBRARY_LAW.replace("CHANCE", "0.5"))
    monkeypatch.syspath_prepend(tmp_path)
    import library_law

    assert identity(library_law.counted) is not None
    assert identity(library_law.frozen) is None  # an object of the user's own, which cannot be described


def test_a_file_whose_parsing_warns_has_an_identity(tmp_path, monkeypatch):
    """Python warns of an unknown escape sequence whenever it parses the file, also where warnings are errors."""
    (tmp_path / "escapes.py").write_text(
        'class Kind:\n    """\\m"""\n\n\ndef f(data, rng):\n    return Kind\n', "utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from escapes import f
    assert identity(f) is not None


def total(data, rng, trials):
    return data.total() + rng.laplace(size=trials)


def test_counts_belong_to_the_code_of_the_data(module, tmp_path):
    """Two classes of one name with the same values have the same outputs, and counts of their own."""
    source = """
        @dataclass(frozen=True)
        class Survey:
            answer: float
            def total(self): return {} * self.answer
    """
    given = {"claim": PureDP(3.0), "trials": 4000, "name": "surveys", "results_dir": tmp_path}
    for factor, said in (("1", False), ("1.0", True)):
        survey = module(source.format(factor)).Survey
        report = tcdp_sim.audit(total, neighbours=[(survey(0.0), survey(1.0))], **given)
        assert report.resumed == 0
        assert [OTHER in report.notes, CHANGED in report.notes] == [said, False]
