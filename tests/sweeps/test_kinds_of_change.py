"""Kinds of change to a user's code that change a function's numbers: none leaves its identity as it was.

Each kind is a file `m.py`, and often others beside it, with a gap that is filled by 1 and by 2; the numbers of `m.f`
differ. The identity must differ too, or there is none.
"""

import importlib
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.core.identity import identity

HELPER = "def helper(x): return x + GAP\ndef other(x): return x\n"
HEAD = """
import abc, enum, functools, operator
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod, wraps
from types import MappingProxyType, SimpleNamespace
from typing import NamedTuple
import numpy as np
"""

FINE = {  # kinds that are followed function by function; `m.py` starts with HEAD and HELPER
    # containers
    "the issue's table": """
        def mean(x): return x
        def trimmed(x): return helper(x)
        METHODS = {"mean": mean, "trimmed": trimmed}
        def f(rng, n): return METHODS["trimmed"](n)""",
    "a list": """
        def own(x): return helper(x)
        METHODS = [own]
        def f(rng, n): return METHODS[0](n)""",
    "a tuple in a dictionary in a list": """
        def own(x): return helper(x)
        METHODS = [{"a": (own, 3)}]
        def f(rng, n): return METHODS[0]["a"][0](n)""",
    "a set": """
        def own(x): return helper(x)
        METHODS = {own, other}
        def f(rng, n): return sum(each(n) for each in METHODS)""",
    "a frozen set of tuples": """
        def own(x): return helper(x)
        METHODS = frozenset({("a", own), ("b", other)})
        def f(rng, n): return dict(METHODS)["a"](n)""",
    "a key of a dictionary": """
        def own(x): return helper(x)
        METHODS = {own: 3}
        def f(rng, n): return next(iter(METHODS))(n)""",
    "an ordered dictionary": """
        def own(x): return helper(x)
        METHODS = OrderedDict(a=own)
        def f(rng, n): return METHODS["a"](n)""",
    "the factory of a default dictionary": """
        def own(): return helper(0)
        METHODS = defaultdict(own)
        def f(rng, n): return n + METHODS.copy()["a"]""",
    "a queue": """
        def own(x): return helper(x)
        METHODS = deque([own])
        def f(rng, n): return METHODS[0](n)""",
    "a read-only mapping": """
        def own(x): return helper(x)
        METHODS = MappingProxyType({"a": own})
        def f(rng, n): return METHODS["a"](n)""",
    "a partial in a list": """
        def own(a, x): return a + helper(x)
        METHODS = [partial(own, 3)]
        def f(rng, n): return METHODS[0](n)""",
    "a cached function in a dictionary": """
        @lru_cache
        def own(x): return helper(x)
        METHODS = {"a": own}
        def f(rng, n): return METHODS["a"](n)""",
    "a bound method in a dictionary": """
        class Own:
            def run(self, x): return helper(x)
        METHODS = {"a": Own().run}
        def f(rng, n): return METHODS["a"](n)""",
    "an object in a list": """
        class Own:
            def __call__(self, x): return helper(x)
        METHODS = [Own()]
        def f(rng, n): return METHODS[0](n)""",
    "a dataclass in a list": """
        @dataclass
        class Own:
            p: int
            def run(self, x): return helper(x)
        METHODS = [Own(3)]
        def f(rng, n): return METHODS[0].run(n)""",
    "a function in the state of a dataclass": """
        def own(x): return helper(x)
        @dataclass
        class Own:
            how: object
        METHODS = [Own({"a": own})]
        def f(rng, n): return METHODS[0].how["a"](n)""",
    "the state of a dataclass": """
        @dataclass
        class Own:
            p: int
        METHODS = [Own(GAP)]
        def f(rng, n): return n + METHODS[0].p""",
    "a class in a dictionary": """
        class Own:
            def run(self, x): return helper(x)
        METHODS = {"a": Own}
        def f(rng, n): return METHODS["a"]().run(n)""",
    "the base of a class in a dictionary": """
        class Base:
            def run(self, x): return helper(x)
        class Own(Base): pass
        METHODS = {"a": Own}
        def f(rng, n): return METHODS["a"]().run(n)""",
    "a table that holds its user": """
        def own(x): return helper(x)
        METHODS = {}
        def f(rng, n): return METHODS["own"](n)
        METHODS.update(own=own, f=f)""",
    "functions that call each other": """
        def even(x): return odd(x - 1) if x else helper(0)
        def odd(x): return even(x - 1)
        METHODS = {"a": even}
        def f(rng, n): return METHODS["a"](4)""",
    "a tuple with names": """
        class Own(NamedTuple):
            p: int
            def run(self, x): return helper(x)
        OWN = Own(3)
        def f(rng, n): return OWN.run(n)""",
    "a subclass of dict": """
        class Own(dict):
            def run(self, x): return helper(x)
        OWN = Own(a=3)
        def f(rng, n): return OWN.run(n)""",
    "a subclass of float": """
        class Own(float):
            def run(self, x): return helper(x)
        OWN = Own(3)
        def f(rng, n): return OWN.run(n)""",
    # enumerations
    "a member's value": """
        def own(x): return helper(x)
        class Kind(enum.Enum):
            A = enum.member(partial(own))
        KIND = [member for member in Kind]
        def f(rng, n): return KIND[0].value(n)""",
    "a method of a member": """
        class Kind(enum.Enum):
            A = 1
            def run(self, x): return helper(x)
        def f(rng, n): return Kind.A.run(n)""",
    "a method of a member that is a text": """
        class Kind(str, enum.Enum):
            A = "a"
            def run(self, x): return helper(x)
        KINDS = [Kind.A]
        def f(rng, n): return KINDS[0].run(n)""",
    "functions in a member's tuple": """
        def own(x): return helper(x)
        class Kind(enum.Enum):
            A = (own, 1)
            @property
            def how(self): return self.value[0]
        def f(rng, n): return Kind.A.how(n)""",
    # classes
    "a container in a class": """
        def own(x): return helper(x)
        class Own:
            methods = {"a": own}
        def f(rng, n): return Own.methods["a"](n)""",
    "a function in a class": """
        def own(x): return helper(x)
        class Own:
            how = staticmethod(own)
        def f(rng, n): return Own.how(n)""",
    "a property": """
        class Own:
            @property
            def p(self): return helper(0)
        def f(rng, n): return n + Own().p""",
    "the setter of a property": """
        class Own:
            @property
            def p(self): return self.q
            @p.setter
            def p(self, value): self.q = helper(value)
        def f(rng, n):
            own = Own()
            own.p = n
            return own.p""",
    "a cached property": """
        class Own:
            @cached_property
            def p(self): return helper(0)
        METHODS = [Own]
        def f(rng, n): return n + METHODS[0]().p""",
    "a static method": """
        class Own:
            @staticmethod
            def run(x): return helper(x)
        METHODS = [Own]
        def f(rng, n): return METHODS[0].run(n)""",
    "a class method": """
        class Own:
            @classmethod
            def run(cls, x): return helper(x)
        METHODS = [Own.run]
        def f(rng, n): return METHODS[0](n)""",
    "a partial method": """
        class Own:
            def how(self, a, x): return a + helper(x)
            run = partialmethod(how, 3)
        def f(rng, n): return Own().run(n)""",
    "what a partial method is given": """
        class Own:
            def how(self, a, x): return a(x)
            run = partialmethod(how, helper)
        def f(rng, n): return Own().run(n)""",
    "a cached method": """
        class Own:
            @lru_cache
            def run(self, x): return helper(x)
        def f(rng, n): return Own().run(n)""",
    "a descriptor": """
        class Descriptor:
            def __get__(self, thing, kind): return helper(0)
            def __set__(self, thing, value): pass
        class Own:
            p = Descriptor()
        def f(rng, n): return n + Own().p""",
    "a metaclass": """
        class Meta(type):
            @property
            def p(cls): return helper(0)
        class Own(metaclass=Meta): pass
        def f(rng, n): return n + Own.p""",
    "a subclass of property": """
        class Mine(property):
            def __get__(self, thing, kind): return helper(0)
        class Own:
            p = Mine(other)
        def f(rng, n): return n + Own().p""",
    "a subclass of partial": """
        class Mine(partial):
            def __call__(self, x): return helper(x)
        METHODS = [Mine(other)]
        def f(rng, n): return METHODS[0](n)""",
    "a protocol": """
        from typing import Protocol
        class Base(Protocol):
            def run(self, x): return helper(x)
        class Own(Base): pass
        METHODS = [Own]
        def f(rng, n): return METHODS[0]().run(n)""",
    "a registry that subclasses enter": """
        class Base:
            found = {}
            def __init_subclass__(cls): Base.found[cls.__name__] = cls
        class Own(Base):
            def run(self, x): return helper(x)
        def f(rng, n): return Base.found["Own"]().run(n)""",
    "a function that is put into a library": """
        import json
        json.mine = helper
        def f(rng, n): return json.mine(n)""",
    "the order of bases": """
        class A:
            def run(self): return 1
        class B:
            def run(self): return 2
        class Own(*((A, B) if GAP == 1 else (B, A))): pass
        def f(rng, n): return n + Own().run()""",
    "a nested class": """
        class Own:
            class Inner:
                def run(self, x): return helper(x)
        def f(rng, n): return Own.Inner().run(n)""",
    "a field's factory": """
        def made(): return [helper(0)]
        @dataclass
        class Own:
            p: list = field(default_factory=made)
        def f(rng, n): return n + Own().p[0]""",
    "a lambda as a field's factory": """
        @dataclass
        class Own:
            p: list = field(default_factory=lambda: [
                helper(0),
            ])
        def f(rng, n): return n + Own().p[0]""",
    "a method that is put in": """
        class Own: pass
        def run(self, x): return helper(x)
        Own.run = run
        def f(rng, n): return Own().run(n)""",
    "an abstract base": """
        class Base(abc.ABC):
            @abc.abstractmethod
            def how(self, x): ...
            def run(self, x): return self.how(helper(x))
        class Own(Base):
            def how(self, x): return x
        OWN = {"a": Own}
        def f(rng, n): return OWN["a"]().run(n)""",
    # functions
    "a default": """
        def own(x): return helper(x)
        def f(rng, n, how=own): return how(n)""",
    "a keyword-only default": """
        def own(x): return helper(x)
        def f(rng, n, *, how=own): return how(n)""",
    "a default of a called function": """
        def own(x): return helper(x)
        def inner(x, *, how={"a": own}): return how["a"](x)
        def f(rng, n): return inner(n)""",
    "a list in a default": """
        def own(x): return helper(x)
        def f(rng, n, how=(own,)): return how[0](n)""",
    "an attribute of a function": """
        def own(x): return helper(x)
        def inner(x): return inner.how(x)
        inner.how = own
        def f(rng, n): return inner(n)""",
    "a container in a closure": """
        def own(x): return helper(x)
        def made(methods):
            def f(rng, n): return methods["a"](n)
            return f
        f = made({"a": own})""",
    "a container in a partial": """
        def own(x): return helper(x)
        def inner(methods, rng, n): return methods["a"][0](n)
        f = partial(inner, {"a": [own]})
        f.__name__ = "f" """,
    "a registry that a decorator fills": """
        METHODS = {}
        def register(function):
            METHODS[function.__name__] = function
            return function
        @register
        def own(x): return helper(x)
        def f(rng, n): return METHODS["own"](n)""",
    "single dispatch": """
        @singledispatch
        def run(x): return 0
        @run.register
        def _(x: int): return helper(x)
        def f(rng, n): return run(int(n))""",
    "single dispatch of a method": """
        class Own:
            @singledispatchmethod
            def run(self, x): return 0
            @run.register
            def _(self, x: int): return helper(x)
            @run.register
            def _(self, x: str): return 0
        def f(rng, n): return Own().run(int(n))""",
    "the name of another function": """
        def one(x): return x + 1
        def two(x): return x + 2
        how = (one, two)[GAP - 1]
        def f(rng, n): return how(n) + 0 * (one(n) + two(n))""",
    "a decorator": """
        def twice(function):
            @wraps(function)
            def inner(x): return helper(function(x))
            return inner
        @twice
        def own(x): return x
        METHODS = [own]
        def f(rng, n): return METHODS[0](n)""",
    "a context manager": """
        from contextlib import contextmanager
        @contextmanager
        def own(): yield helper(0)
        METHODS = {"a": own}
        def f(rng, n):
            with METHODS["a"]() as p:
                return n + p""",
    "a named lambda of several lines": """
        own = lambda x: (
            x
            + GAP
        )
        def f(rng, n): return own(n)""",
    "what a named lambda calls": """
        own = lambda x: helper(x)
        def f(rng, n): return own(n)""",
    "a lambda in a class": """
        class Own:
            p = property(lambda self: helper(0))
        def f(rng, n): return n + Own().p""",
    "a lambda in a list": """
        METHODS = [lambda x: helper(x)]
        def f(rng, n): return METHODS[0](n)""",
    "a vectorized function": """
        def own(x): return helper(x)
        VECTORIZED = np.vectorize(own)
        def f(rng, n): return float(VECTORIZED(n))""",
    "a universal function": """
        def own(x): return helper(x)
        UNIVERSAL = np.frompyfunc(own, 1, 1)
        def f(rng, n): return float(UNIVERSAL(n))""",
    "an object that has any attribute": """
        class Own:
            def __getattr__(self, name): return other
            def __call__(self, x): return helper(x)
        METHODS = {"a": Own()}
        def f(rng, n): return METHODS["a"](n)""",
}

BESIDE = {  # kinds with a second file, h.py, which holds the helper -> m.py
    "a function of another file in a table": """
        from h import helper
        METHODS = {"a": helper}
        def f(rng, n): return METHODS["a"](n)""",
    "an import in the function": """
        def f(rng, n):
            import h
            return h.helper(n)""",
    "an import of a name in the function": """
        def f(rng, n):
            from h import helper as other
            return other(n)""",
    "an import in a called function": """
        def inner(x):
            import h as other
            return other.helper(x)
        METHODS = [inner]
        def f(rng, n): return METHODS[0](n)""",
    "a module in a function that is passed on": """
        import h
        def inner(module, x): return module.helper(x)
        def f(rng, n): return inner(h, n)""",
    "a module that is imported in the function and passed on": """
        def inner(module, x): return module.helper(x)
        def f(rng, n):
            import h as k
            return inner(k, n)""",
    "a module in a list": """
        import h
        MODULES = [h]
        def f(rng, n): return MODULES[0].helper(n)""",
    "a function of a module by its name": """
        import h
        def f(rng, n): return getattr(h, "helper")(n)""",
    "a function of a module by its name, in another function": """
        import h
        def inner(module, name): return getattr(module, name)
        def f(rng, n): return inner(h, "helper")(n)""",
    "an attribute getter": """
        import h
        GET = "helper"
        def f(rng, n): return operator.attrgetter(GET)(h)(n)""",
    "a module's dictionary": """
        import h
        def f(rng, n): return h.__dict__["helper"](n)""",
    "a module by its name": """
        import importlib
        def f(rng, n): return importlib.import_module("h").helper(n)""",
    "a module by a computed name": """
        import importlib
        NAME = "h"
        def f(rng, n): return importlib.import_module(NAME).helper(n)""",
    "a module of sys.modules": """
        import sys, h
        def f(rng, n): return sys.modules["h"].helper(n)""",
    "subclasses in another file": """
        import h
        class Base: pass
        class Own(Base):
            def run(self, x): return h.helper(x)
        def f(rng, n): return Base.__subclasses__()[0]().run(n)""",
}

LOOKED_UP = {  # kinds in one file that look code up by texts, so that the whole file counts
    "globals()": """
        def own(x): return helper(x)
        def f(rng, n): return globals()["own"](n)""",
    "vars() of a class": """
        class Own:
            def run(self, x): return helper(x)
        def f(rng, n): return vars(Own)["run"](None, n)""",
    "eval": """
        def own(x): return helper(x)
        def f(rng, n): return eval("own(n)")""",
    "exec": """
        def own(x): return helper(x)
        def f(rng, n):
            found = {}
            exec("value = own(n)", globals() | {"n": n}, found)
            return found["value"]""",
    "subclasses": """
        class Base: pass
        class Own(Base):
            def run(self, x): return helper(x)
        def f(rng, n): return Base.__subclasses__()[0]().run(n)""",
    "getattr of an object": """
        class Own:
            def run(self, x): return helper(x)
        def f(rng, n): return getattr(Own(), "run")(n)""",
}

COMPILER = """
class Compiled:  # as numba's: callable, with the Python function that it was made of, and with undescribable state
    def __init__(self, function): self.py_func, self.state = function, object()
    def __call__(self, *args): return self.py_func(*args)
"""
INSTALLED = "import sys, os\nsys.path.append(os.path.join(os.path.dirname(__file__), 'site-packages'))\n"
INSTALLED += "from compiler import Compiled\n" + HELPER

PACKAGES = {  # kinds with other files -> the files
    "a compiled function": {
        "m.py": INSTALLED + "@Compiled\ndef own(x): return helper(x)\n"
        "METHODS = {'a': own}\ndef f(rng, n): return METHODS['a'](n)",
        "site-packages/compiler.py": COMPILER,
    },
    "a function that is compiled itself": {
        "m.py": INSTALLED + "@Compiled\ndef f(rng, n): return helper(n)",
        "site-packages/compiler.py": COMPILER,
    },
    "a module of a package that is passed on": {
        "m.py": "import p.a\ndef inner(module, x): return module.helper(x)\ndef f(rng, n): return inner(p.a, n)",
        "p/__init__.py": "",
        "p/a.py": HELPER,
    },
    "a package that is imported in the function and passed on": {
        "m.py": "def inner(module, x): return module.a.helper(x)\n"
        "def f(rng, n):\n    import p.a\n    return inner(p, n)",
        "p/__init__.py": "",
        "p/a.py": HELPER,
    },
    "a module of a package by a text": {
        "m.py": "import importlib\nWHICH = 'a'\ndef f(rng, n): return importlib.import_module(f'p.{WHICH}').helper(n)",
        "p/__init__.py": "",
        "p/a.py": HELPER,
    },
    "a relative import in the function": {
        "m.py": "from p.inner import f",
        "p/__init__.py": "",
        "p/inner.py": "def f(rng, n):\n    from .a import helper\n    return helper(n)",
        "p/a.py": HELPER,
    },
    "a module of a package in the function": {
        "m.py": "def f(rng, n):\n    import p.a\n    return p.a.helper(n)",
        "p/__init__.py": "",
        "p/a.py": HELPER,
    },
    "a name that a package hands on": {
        "m.py": "import p\nMETHODS = {'a': p}\ndef f(rng, n): return METHODS['a'].helper(n)",
        "p/__init__.py": "from p.a import helper",
        "p/a.py": HELPER,
    },
    "a plug-in that registers itself": {
        "m.py": "import h, registry\ndef f(rng, n): return registry.METHODS['own'](n)",
        "registry.py": "METHODS = {}",
        "h.py": f"import registry\n{HELPER}\ndef own(x): return helper(x)\nregistry.METHODS['own'] = own",
    },
    "subclasses in a file that nobody imports": {
        "m.py": "import base, plug_in\nf = base.f",
        "base.py": "class Base: pass\ndef f(rng, n): return Base.__subclasses__()[0]().run(n)",
        "plug_in.py": f"import base\n{HELPER}\nclass Own(base.Base):\n    def run(self, x): return helper(x)",
    },
    "a module's own __getattr__": {
        "m.py": "import h\ndef f(rng, n): return n + h.anything",
        "h.py": f"{HELPER}\ndef __getattr__(name):\n    if name != 'anything': raise AttributeError(name)\n"
        "    return helper(0)",
    },
    "an import of an import": {
        "m.py": "def f(rng, n):\n    import h\n    return h.run(n)",
        "h.py": "def run(x):\n    from deep import helper\n    return helper(x)",
        "deep.py": HELPER,
    },
}

UNRELATED = "\n\ndef unrelated():\n    return 'UNRELATED'\n"
KINDS = {
    **{name: {"m.py": HEAD + HELPER + textwrap.dedent(text) + UNRELATED} for name, text in (FINE | LOOKED_UP).items()},
    **{name: {"m.py": HEAD + textwrap.dedent(text) + UNRELATED, "h.py": HELPER} for name, text in BESIDE.items()},
    **PACKAGES,
}
NO_IDENTITY = {"a lambda in a list", "a universal function", "a module by a computed name"}
WHOLE_FILE = {  # kinds in which an edit of an unrelated function of m.py may count
    *LOOKED_UP,
    *("a function of a module by its name", "a function of a module by its name, in another function"),
    *("an attribute getter", "a module's dictionary", "a module of sys.modules", "subclasses in another file"),
}


def written(folder, kind, filling="1", unrelated="UNRELATED"):
    """Write the files of a kind of change, with the gap filled."""
    for name, text in KINDS[kind].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("GAP", filling).replace("UNRELATED", unrelated))
    return folder


def loaded(folder, module="m", name="f", *arguments):
    """Return the identity of a function in a folder, loaded anew, and one of its numbers."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        function = getattr(importlib.import_module(module), name)
        known = identity(function)
        number = function(*(arguments or (np.random.default_rng(1), 5)))
        assert identity(function) == known or folder.name == "a vectorized function"  # a call changes nothing
        return known, float(number)
    finally:
        sys.path[:] = [place for place in sys.path if not place.startswith(str(folder))]
        for name in set(sys.modules) - before:
            if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The files of every kind, with the gap filled by 1; and the identities that two other processes find."""
    top = tmp_path_factory.mktemp("kinds")
    for kind in KINDS:
        written(top / kind, kind)
    code = "import sys, test_kinds_of_change as t; print(t.all_loaded(sys.argv[1]))"
    there = [str(Path(__file__).parent), *sys.path]
    found = []
    for seed in "12":
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(there)}
        done = subprocess.run([sys.executable, "-c", code, top], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    return top, found


def all_loaded(top):
    """Return the identities and numbers of all kinds as JSON."""
    return json.dumps({kind: loaded(Path(top) / kind) for kind in KINDS})


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_of_the_numbers_changes_the_identity(tmp_path, kind):
    before, number = loaded(written(tmp_path / "1", kind, "1"))
    after, other = loaded(written(tmp_path / "2", kind, "2"))
    assert number != other  # or the change is none
    assert (before is None, after is None) == (kind in NO_IDENTITY,) * 2
    assert before is None or before["source"] != after["source"]


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_change_the_identity_stays(tmp_path, kind, folders):
    top, found = folders
    here, number = loaded(top / kind)
    assert (here, number) == loaded(written(tmp_path / "elsewhere", kind))
    assert [there[kind] for there in found] == [[here, number]] * 2


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in WHOLE_FILE | PACKAGES.keys()])
def test_an_edit_of_an_unrelated_function_changes_nothing(tmp_path, kind):
    first = loaded(written(tmp_path / "1", kind))
    assert first == loaded(written(tmp_path / "2", kind, unrelated="edited"))


def test_the_table_of_the_issue_starts_anew(tmp_path, capsys, monkeypatch):
    """2,000 more trials after an edit of the helper are 4,000 of the new one, not a mixture."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    text = (
        "import numpy as np\n\n\ndef helper(x):\n    return x + GAP\n\n\ndef trimmed(x):\n    return helper(x)\n\n\n"
        'METHODS = {"mean": np.mean, "trimmed": trimmed}\n\n\n'
        "def f(rng, trials, n):\n    return METHODS['trimmed'](rng.random(trials))\n"
    )
    for filling, trials in (("0", 2000), ("10", 4000)):
        (tmp_path / "m.py").write_text(text.replace("GAP", filling))
        monkeypatch.syspath_prepend(tmp_path)
        sys.modules.pop("m", None)
        function = importlib.import_module("m").f
        found = tcdp_sim.sweep(function, {"n": [1]}, trials=trials, chunk=1000, name="x", results_dir=tmp_path)
    sys.modules.pop("m")
    assert "are of another source of this function" in capsys.readouterr().err
    assert float(found["value_min"].min()) >= 10


MECHANISM = "import m\ndef mechanism(x, rng): return x + m.f(rng, 5) + rng.laplace()\n"


@pytest.mark.parametrize("kind", KINDS)
def test_a_mechanism_that_calls_the_function_changes_with_it(tmp_path, kind):
    """By this identity `audit(name=...)` knows its kept counts. A function without one leaves it without one, too."""
    found = []
    for folder, filling in (("1", "1"), ("2", "1"), ("3", "2")):
        path = written(tmp_path / folder, kind, filling)
        (path / "mech.py").write_text(MECHANISM)
        found.append(loaded(path, "mech", "mechanism", 5, np.random.default_rng(1))[0])
    assert found[0] == found[1]
    assert found[0] != found[2] or kind in NO_IDENTITY


def test_counts_of_an_audit_before_an_edit_are_not_used(tmp_path, monkeypatch):
    """The noise that a table holds becomes a twentieth of what it was."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    text = (
        "def noise(rng):\n    return rng.laplace(scale=GAP)\n\n\nMETHODS = {'noise': noise}\n\n\n"
        "def mechanism(x, rng):\n    return x + METHODS['noise'](rng)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    lower = []
    for scale, notes in (("2", 0), ("2", 0), ("0.1", 1)):
        (tmp_path / "mech.py").write_text(text.replace("GAP", scale))
        sys.modules.pop("mech", None)
        importlib.invalidate_caches()
        mechanism = importlib.import_module("mech").mechanism
        found = tcdp_sim.audit(mechanism, neighbours=[(0.0, 1.0)], trials=2000, name="x", results_dir=tmp_path)
        assert sum("none of them is used" in note for note in found.notes) == notes
        lower.append(found.bound)
    sys.modules.pop("mech")
    assert lower[0] == lower[1] < 0.5 < 1 < lower[2]  # the truth is 0.5, and then 10


def test_what_reaches_too_much_has_no_identity(tmp_path, monkeypatch):
    monkeypatch.setitem(KINDS, "a chain", {
        "m.py": "def first(x): return 0\ndef link(inner):\n    def each(x): return inner(x) + 1\n    return each\n"
        "last = first\nfor _ in range(30_000): last = link(last)\ndef f(rng, n): return 0 and last(n)\n"
    })  # fmt: skip
    assert loaded(written(tmp_path, "a chain"))[0] is None


def test_twenty_modules_take_50_ms(tmp_path):
    """Each of 20 modules has 10 functions in a table, and the next module's function among them."""
    for index in range(20):
        after = f"import m{index + 1}\n" if index < 19 else ""
        last = f"m{index + 1}.f(rng, n)" if index < 19 else "n"
        functions = "".join(
            f"def own{each}(x):\n    y = x + {each}\n    for _ in range(3):\n        y = y * 2 + x\n    return y\n\n\n"
            for each in range(10)
        )
        table = "METHODS = {" + ", ".join(f"'{each}': own{each}" for each in range(10)) + "}\n\n\n"
        text = f"{after}{functions}{table}def f(rng, n):\n    return METHODS['1'](n) + {last}\n"
        (tmp_path / f"m{index if index else ''}.py").write_text(text)
    code = "import time, m; from tcdp_sim.core.identity import identity; t = time.process_time(); " \
        "assert identity(m.f); print(time.process_time() - t)"  # fmt: skip
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = [
        subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path}, capture_output=True)
        for _ in range(3)
    ]
    assert min(float(each.stdout) for each in done) < 0.05
