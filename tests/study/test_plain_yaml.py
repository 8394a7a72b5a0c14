"""Plain values from YAML: what a scalar means, which line a key is in, and what is refused."""

import os
import time

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given, settings
from hypothesis import strategies as st

from tcdp_sim.core.errors import UserError
from tcdp_sim.study import plain_yaml


@pytest.fixture
def read(tmp_path, monkeypatch):
    """read(text or bytes) -> (value, lines) of a file of this content."""
    monkeypatch.chdir(tmp_path)

    def read_text(content):
        (tmp_path / "a.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
        return plain_yaml.read("a.yaml")

    return read_text


SCALARS = [
    "1",
    "0",
    "-3",
    "+5",
    "1_000",
    "1e5",
    "1E+6",
    "1.",
    ".5",
    "-1.5e-3",
    "1e-6",
    "inf",
    "-inf",
    "Inf",
    "true",
    "False",
]
SCALARS += [
    "null",
    "NULL",
    "abc",
    "sinh_normal",
    "yes",
    "no",
    "on",
    "off",
    "010",
    "0x1F",
    "1e",
    "e5",
    "1.2.3",
    "2018-01-01",
]
SCALARS += ["12abc", "_1", "1__0", "--1", "1_", "a b", "1 2", "9" * 390, "nan1", "k.5"]


def test_a_scalar_means_what_it_means_in_a_word(read):
    """Hydra's own parser is the oracle: `x=1e5` is a number there, and `x=yes` a text."""
    parser = OverridesParser.create()
    value, _ = read("".join(f"k{i}: {text}\n" for i, text in enumerate(SCALARS)))
    for found, text in zip(value.values(), SCALARS):
        meant = parser.parse_override(f"x={text}").value()
        assert (type(found), found) == (type(meant), meant), text


def test_a_text_in_quotes_is_a_text_and_yaml_has_more_spellings(read):
    value, _ = read("a: '1e5'\nb: \"null\"\nc: |\n  7\nd: ~\ne:\nf: .inf\ng: -.inf\nh: .nan\ni: nan\nj: 1.0e+12\n")
    assert (value["a"], value["b"], value["c"], value["d"], value["e"]) == ("1e5", "null", "7\n", None, None)
    assert (value["f"], value["g"], value["j"]) == (float("inf"), -float("inf"), 1e12)
    assert value["h"] != value["h"] and value["i"] != value["i"]  # noqa: PT018 (NaN)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abk_1 .é-", min_size=1).filter(str.strip), inner)
    ),
    max_leaves=20,
)


@settings(max_examples=50)
@given(PLAIN, st.booleans())
def test_what_is_written_is_read_again(tmp_path_factory, value, flow):
    path = tmp_path_factory.getbasetemp() / "again.yaml"
    expected = {"x": value}
    if any(plain_yaml._HYDRAS.fullmatch(key) for key in _keys(value)) or "${" in repr(value):
        return
    path.write_text(plain_yaml.dump(expected, flow=None if flow else False), "utf-8")
    assert repr(plain_yaml.read(path)[0]) == repr(expected)


def _keys(value):
    if isinstance(value, dict):
        yield from value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _keys(item)


@pytest.mark.parametrize("text", ["1e5", "1_000", "yes", "010", "inf", ".5", "null", "2018-01-01", "1:30", "0x1F"])
def test_a_text_like_another_value_is_written_in_quotes_for_any_reader(text):
    assert plain_yaml.dump({"a": text}) in (f"a: '{text}'\n", f'a: "{text}"\n')


def test_every_key_has_its_line(read):
    _, lines = read(
        "# first\nsweep:\n  k: [1,\n    2]\n  cells:\n  - rho: 1\n    k: 2\n  - {rho: 3}\nalso: {x: {k: 1}}\n"
    )
    assert lines["sweep"] == 2
    assert lines["sweep.k"] == 3
    assert (lines["sweep.cells[0].k"], lines["sweep.cells[1].rho"]) == (7, 8)
    assert lines["also.x.k"] == lines["also"] == 9


def test_an_alias_is_the_value_of_its_anchor(read):
    assert read("a: &n [gaussian, laplace]\nb: {noise: *n}\n")[0]["b"] == {"noise": ["gaussian", "laplace"]}


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
)
CHAIN = "a0: &a0 {x: 1}\n" + "".join(f"a{i}: &a{i} {{x: *a{i - 1}}}\n" for i in range(1, 60))
LONG = f"a: &a {'x' * 900_000}\nb: [*a, *a]\n"

REFUSED = [
    ("k: 1\nk: 2\n", "a.yaml:2: k is given twice, also in line 1"),
    ("sweep:\n  k: 1\n  rho: 2\n  k: 3\n", "a.yaml:4: sweep.k is given twice, also in line 2"),
    ("{a: 1, 'a': 2}", "a.yaml:1: a is given twice"),
    ("a: 1\n\tb: 2\n", "a.yaml:2: cannot be read as YAML.*indent with spaces, not with tabs"),
    ("a:\n\t- 1\n", "a.yaml:2: cannot be read as YAML.*not with tabs"),
    ("a: [1\n", r"a.yaml:\d: cannot be read as YAML"),
    ("a: 'x\n", r"a.yaml:\d: cannot be read as YAML"),
    ("a: b: c\n", "a.yaml:1: cannot be read as YAML.*put texts in quotes"),
    ("a: @x\n", "a.yaml:1: cannot be read as YAML"),
    ("a: 1\n--- \nb: 2\n", "a.yaml:2: a second document begins here"),
    ("a: !!python/object/apply:os.mkdir [ran]\n", "a.yaml:1: the tag .*python/object/apply:os.mkdir is not read"),
    ("\na: !!python/name:os.system\n", "a.yaml:2: the tag"),
    ("a: !!str 1\n", "a.yaml:1: the tag"),
    ("a: ! 1\n", "a.yaml:1: the tag"),
    ("a: {b: !x {c: 1}}\n", "a.yaml:1: the tag !x"),
    ("!!python/object:os.x {a: 1}\n", "a.yaml:1: the tag"),
    ("a: 1\n? [b]\n: 1\n", "a.yaml:2: a key is not valid"),
    ("'': 1\n", "a.yaml:1: a key is not valid"),
    ("? !!str a\n: 1\n", "a.yaml:1: a key is not valid"),
    ("a: &x 1\n*x : 2\n", "a.yaml:2: a key is not valid"),
    ("a: ${seed}\n", "a.yaml:1: '.*seed.*' would be an interpolation"),
    ("a: 1\nb: ['x${oc.env:HOME}']\n", "a.yaml:2: .* would be an interpolation"),
    ("${a}: 1\n", "a.yaml:1: .* would be an interpolation"),
    ("a: {b: {_target_: os.mkdir}}\n", "a.yaml:1: _target_ is no key"),
    ("a: 1\nb: ???\n", r"a.yaml:2: \?\?\? is no value"),
    ("_self_: 1\n", "a.yaml:1: _self_ is no key"),
    ("a: *b\n", r"a.yaml:1: \*b names no value above"),
    ("a: &a [*a]\n", r"a.yaml:1: \*a names no value above"),
    (BOMB, r"a.yaml:\d+: \*a\d+ makes the file too large; valid: at most 1,000,000 characters"),
    (CHAIN, r"a.yaml:20: this is nested too deeply"),
    (LONG, r"a.yaml:2: \*a makes the file too large"),
    ("a: " + "[" * 30 + "]" * 30, "a.yaml:1: this is nested too deeply; valid: at most 20 levels"),
    ("[" * 400_000, "a.yaml:1: this is nested too deeply"),
    ("{a: " * 100_000, "a.yaml:1: this is nested too deeply"),
    ("- " * 400_000, "a.yaml:1: this is nested too deeply"),
    (b"a: 1\nb: \xe9t\xe9\n", "a.yaml:2: is not text in UTF-8"),
    ("a: 1".encode("utf-16"), "a.yaml:1: is not text in UTF-8"),
    ("b: é\na: \x07\n", r"a.yaml:2: cannot be read as YAML \(a control character, #x0007\)"),
    (b"a: \x00\n", "a.yaml:1: cannot be read as YAML"),
    (b"\x80\x04\x95", "a.yaml:1: is not text in UTF-8"),
    (b"# " + b"x" * 1_000_000, "a.yaml is too large; valid: at most 1,000,000 bytes"),
]


@pytest.mark.parametrize(("content", "message"), REFUSED, ids=lambda part: repr(part)[:40])
def test_what_is_not_plain_is_refused_with_its_line(read, tmp_path, content, message):
    start = time.process_time()
    with pytest.raises(UserError, match=f"^{message}"):
        read(content)
    assert time.process_time() - start < 5
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]


def test_a_mark_of_byte_order_and_comments_are_no_values(read):
    assert read(b"\xef\xbb\xbfa: 1\n")[0] == {"a": 1}
    for nothing in ("", "# only a comment\n", "---\n", "null\n"):
        assert read(nothing)[0] is None


@pytest.mark.parametrize("make", ["missing", "folder", "pipe", "huge", "forbidden"])
def test_what_is_not_a_file_is_one_line(tmp_path, monkeypatch, make):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.yaml"
    if make == "folder":
        path.mkdir()
    elif make == "pipe":
        os.mkfifo(path)
    elif make == "huge":  # a gigabyte, of which nothing is on the disk
        path.touch()
        os.truncate(path, 2**30)
    elif make == "forbidden":
        path.write_text("a: 1")
        monkeypatch.setattr(
            type(path), "open", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied"))
        )
    said = {"missing": "there is no such file", "huge": "is too large", "forbidden": "Permission denied"}
    with pytest.raises(UserError, match=said.get(make, "is a directory or a device")):
        plain_yaml.read("a.yaml")


def test_a_path_with_a_null_byte_is_one_line():
    with pytest.raises(UserError, match="is not a path"):
        plain_yaml.read("a\0.yaml")
