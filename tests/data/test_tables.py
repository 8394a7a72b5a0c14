import csv
import gzip
import hashlib
import pickle
from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pytest
from omegaconf import OmegaConf
from pyarrow import parquet

from tcdp_sim import data
from tcdp_sim.core.errors import UserError
from tcdp_sim.data import load_counts

FILES = resources.files(data) / "files"
CONFIGS = sorted((Path(str(resources.files("tcdp_sim.conf"))) / "data").glob("*.yaml"))
SHA256 = {
    "babynames_2017F.csv": "8323eb883d7c4ff89b5542e76ac91111de6c4cdb0c47c3259451a90d77ddc3cb",
    "babynames_small.csv": "b00cd03076d0444ae344d752bfbc937e31d2d6815157e17fc1ed64ec607ccb76",
    "babynames_gaps.csv": "d154117a4e01e3397108c2e516d3a9235db1c45089119f081c2f567a0751f57e",
    "nyc2013_tailnum.csv": "0654e5e4e8e5c142d464f96a3ba6fbf766b6931e81377374782183ac05ea7445",
    "nyc2013_dest.csv": "2edae7b06dabd80e0c3158cdc04e335ae7aef70e8ae19fe67b705fe89a522e18",
    "nyc2013_delays.csv": "d8c10341a538c2550fe72d4d3ddb1289d66a238e735caea8da528df9eafb0742",
    "nyc2013_departures.csv": "8c755cd08c96c8b82644e721dfb5287058e499a76df2f8769c2f122286871732",
    "hhs_breaches.csv": "958131e89167fcc10733f216575d313d8ff9c6bedb69bbc1ceb1c93cf185ef7c",
    "digits_svm.csv": "6425f6f099b30b4430bc718796d4954a1d11b584348f1a9799b6cbe2378a872b",
    "census_2020_us_persons.csv": "59ba5d3559a10d040b6c8d74c379ef711fb5544b611c8885a2781ee8a05c7aa5",
    "census_synthetic_a.csv": "02fb5aa50a45806f4d960e973b16163d96ada072146c71e8e7a935d266822c2a",
    "census_synthetic_b.csv": "83fe7829c98e44fddb5395a952edf38893bb0c7a5340beec3452c2815a50a62a",
    "census_synthetic_b2.csv": "4c4d84e2f3d1c16e99c9c0d695d0c85bdfabc00816118c1f96a953fa43381134",
}
SAMPLES = {  # records, occupied bins, declared bins, top two labels and counts
    "girls_names_2017": (1711811, 18309, 18309, [("Emma", 19738), ("Olivia", 18632)]),
    "flights_tailnum": (334264, 4043, 915399, [("N725MQ", 575), ("N722MQ", 513)]),
    "flights_dest": (336776, 105, 17576, [("ORD", 17283), ("ATL", 17215)]),
}


def config(name):
    (path,) = [path for path in CONFIGS if path.stem == name]
    return OmegaConf.to_container(OmegaConf.load(path), resolve=True)


def written(folder, text, name="mine.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def load(path, domain, k=None, /, **more):
    spec = {"name": "mine", "kind": "table", "path": str(path), "column": "x", "domain": domain, **more}
    return load_counts(spec, k)


def refused(path, domain, k=None, /, **more):
    """The message with which a table is refused, once it is known to be one line."""
    with pytest.raises(UserError) as caught:
        load(path, domain, k, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# the samples of the package


def test_packaged_files_are_the_known_ones():
    found = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in FILES.iterdir()}
    found.pop("README.md")
    assert found == SHA256


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_against_their_known_totals_and_the_csv_module(name):
    records, occupied, bins, top = SAMPLES[name]
    spec = config(name)
    with (FILES / spec["file"]).open(newline="") as file:
        rows = sorted(
            ((row[spec["column"]], int(row[spec["count"]])) for row in csv.DictReader(file)), key=lambda row: -row[1]
        )
    assert rows[:2] == top
    counts = load_counts(spec)
    assert counts.counts.tolist() == [count for _, count in rows]
    assert (counts.counts.sum(), counts.counts.size, counts.k) == (records, occupied, bins)
    assert counts.counts[0] - counts.counts[1] == top[0][1] - top[1][1]


def test_tail_number_domain_is_the_register_counted_out():
    letters = 24  # without I and O
    endings = {
        0: 1 + letters + letters**2,
        1: 1 + letters + letters**2,
        2: 1 + letters + letters**2,
        3: 1 + letters,
        4: 1,
    }  # by the number of digits after the first one: at most five characters
    assert config("flights_tailnum")["domain"] == sum(9 * 10**more * ways for more, ways in endings.items())


def test_record_per_row_samples_and_integer_ranges():
    spec = {
        "name": "d",
        "kind": "sample",
        "file": "nyc2013_departures.csv",
        "column": "carrier",
        "domain": ["OO", "HA", "YV", "F9", "AS", "ZZ"],
    }
    assert load_counts(spec).counts.tolist() == [712, 682, 545, 342, 29]
    assert load_counts(spec).k == 6
    delays = {
        "name": "d",
        "kind": "sample",
        "file": "nyc2013_delays.csv",
        "column": "minutes",
        "count": "dep_flights",
        "domain": {"from": -120, "to": 1927},
    }
    counts = load_counts(delays)
    assert (counts.counts.sum(), counts.counts.size, counts.k) == (328521, 527, 2048)


@pytest.mark.parametrize("file", ["../counts.py", "README.md", "x.csv", "/etc/passwd", None])
def test_samples_come_from_the_package_only(file):
    with pytest.raises(UserError, match=r"file = .* valid: babynames_2017F.csv, ") as caught:
        load_counts({"name": "d", "kind": "sample", "file": file, "column": "x", "domain": 3})
    assert "\n" not in str(caught.value)


# the configuration files


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_configs_load_and_say_what_they_are(path):
    assert path.read_text().startswith("# ")
    spec = OmegaConf.load(path)
    assert spec.name == path.stem
    assert set(spec.axes) == {"k", "rho"}
    if spec.kind == "shape":
        counts = load_counts(spec, 5000)  # a DictConfig is a mapping like any other
        assert counts.counts.sum() == spec.n == (100_000 if spec.name == "zipf_words" else 1000)
    elif spec.kind == "sample":
        assert load_counts(spec).counts.sum() == SAMPLES[spec.name][0]
    else:
        assert OmegaConf.missing_keys(spec) == {"path", "column"}


def test_the_table_config_asks_for_what_is_missing(tmp_path):
    spec = config("csv")
    for key, value in (("path", str(written(tmp_path, "x\na\n"))), ("column", "x")):
        with pytest.raises(UserError, match=f"data csv: {key} is not given; valid: the "):
            load_counts(spec)
        spec[key] = value
    with pytest.raises(UserError, match="no domain is declared; it is never read off the data"):
        load_counts(spec)
    assert load_counts({**spec, "domain": 3}).counts.tolist() == [1]


# formats


RECORDS = ["b", "a", "NA", "b", "None", "null", "nan", "b", " a", "a", "NULL", "#N/A"]


def test_labels_are_text_and_only_empty_cells_are_null(tmp_path):
    path = written(tmp_path, "y,x\n" + "".join(f"1,{label}\n" for label in RECORDS) + '2,\n3,""\n')
    counts = load(path, 100, nulls="drop")
    assert counts.counts.tolist() == [3, 2, 1, 1, 1, 1, 1, 1, 1]
    assert load(path, ["NA"], nulls="drop", outside="drop").counts.tolist() == [1]
    assert refused(path, 100) == f"{path}, column 'x': 2 empty cells; valid: none, or nulls = drop"


def test_gzip_bom_crlf_quotes_blank_lines_and_upper_case_suffix(tmp_path):
    text = '\ufeffx,y\r\n"a,b",1\r\n\r\n"say ""a""",2\r\n"two\nlines",3\r\n"a,b",4\r\n'
    plain = written(tmp_path, text, "t.CSV")
    packed = written(tmp_path, gzip.compress(text.encode()), "t.csv.gz")
    domain = ["a,b", 'say "a"', "two\nlines", "unseen"]
    for path in (plain, packed):
        assert load(path, domain).counts.tolist() == [2, 1, 1]
    assert load(plain, domain).digest == load(packed, domain).digest


@pytest.mark.parametrize("seed", range(5))
def test_random_tables_against_pandas(tmp_path, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.integers(-20, 60, 500), "n": rng.integers(0, 9, 500)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    domain = {"from": -5, "to": 40}
    for path in (tmp_path / "t.csv", tmp_path / "t.parquet"):
        inside = frame[frame.x.between(-5, 40)]
        for outside, kept in (("drop", inside), ("clip", frame.assign(x=frame.x.clip(-5, 40)))):
            expected = sorted(kept.x.value_counts(), reverse=True)
            assert load(path, domain, outside=outside).counts.tolist() == expected
            sums = kept.groupby("x").n.sum()
            expected = sorted(sums[sums > 0], reverse=True)
            assert load(path, domain, outside=outside, count="n").counts.tolist() == expected


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["b", "a", "b", "NA", None]),
        pd.Series(["b", "a", "b", "NA", None], dtype="category"),
        pd.Series([2.0, 1.0, 2.0, 3.0, np.nan]),
        pd.Series([2, 1, 2, 3, None], dtype="Int64"),
        pd.Series([2, 1, 2, 3, None], dtype="Int64").astype("category"),
        pd.Series(pd.to_datetime(["2013-01-02", "2013-01-01", "2013-01-02", "2013-01-03", None])),
    ],
    ids=str,
)
def test_parquet_columns_of_any_simple_type(tmp_path, column):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"x": column}).to_parquet(path)
    assert load(path, 3, nulls="drop").counts.tolist() == [2, 1, 1]
    assert refused(path, 3) == f"{path}, column 'x': 1 empty cells; valid: none, or nulls = drop"


def test_parquet_labels_are_spelt_as_in_csv(tmp_path):
    frame = pd.DataFrame({"x": [2.0, 1.0, np.nan], "a.b": ["u", "v", "u"]})
    frame.to_parquet(tmp_path / "t.parquet")
    assert load(tmp_path / "t.parquet", ["1", 2], nulls="drop").counts.tolist() == [1, 1]
    assert load(tmp_path / "t.parquet", ["u", "v"], column="a.b").counts.tolist() == [2, 1]
    nan = pyarrow.table({"x": pyarrow.array([1.0, np.nan], from_pandas=False)})
    parquet.write_table(nan, tmp_path / "n.parquet")
    assert "1 empty cells" in refused(tmp_path / "n.parquet", 2)
    frame.set_index("x").to_parquet(tmp_path / "i.parquet")  # an index is a column like any other
    assert load(tmp_path / "i.parquet", {"from": 1, "to": 2}, nulls="drop").counts.tolist() == [1, 1]


# pre-counted tables


def test_counts_of_a_label_are_added_and_empty_bins_are_listed(tmp_path):
    path = written(tmp_path, "x,n\na,3\nb,0\nc,2\na,4.0\nd,1e3\n")
    counts = load(path, "listed", count="n")
    assert (counts.counts.tolist(), counts.k) == ([1000, 7, 2], 4)
    told = "each record counted is taken for one person; 1 labels stand in several rows, whose counts were added up"
    assert counts.source == f"mine.csv, column 'x', counts 'n'; {told}"
    assert counts.left_out == {"labels_added_up": 1}
    assert counts.about == {"source": counts.source, "records": 1009, "labels_added_up": 1}
    assert load(path, "listed", 1e300, count="n").k == 1e300


def test_counts_stay_exact_up_to_int64(tmp_path):
    top = 2**63 - 1
    assert load(written(tmp_path, f"x,n\na,{top}\n"), 1, count="n").counts.tolist() == [top]
    message = refused(written(tmp_path, f"x,n\na,{top}\nb,1\n"), 2, count="n")
    assert "mine.csv, column 'x': 9.22e+18 records; valid: at most 9.22e+18" in message


@pytest.mark.parametrize("bad", ["-1", "1.5", "many", "nan", "inf", "1e400", "0x10", "1_0", "9" * 5000])
def test_what_is_not_a_count_is_refused(tmp_path, bad):
    message = refused(written(tmp_path, f"x,n\na,3\nb,{bad}\n"), 2, count="n")
    assert "mine.csv, column 'n': '" in message
    assert message.endswith("is not a count; valid: whole numbers, 0 or more")
    assert len(message) < 300 + len(str(tmp_path))


def test_an_empty_count_is_a_null(tmp_path):
    path = written(tmp_path, "x,n\na,3\nb,\n")
    assert "column 'n': 1 empty cells" in refused(path, 2, count="n")
    assert load(path, 2, count="n", nulls="drop").counts.tolist() == [3]


# domains


def test_integers_are_compared_as_integers(tmp_path):
    path = written(tmp_path, "x\n5\n05\n 5\n5.0\n+5\n-0\n9007199254740993\n")
    counts = load(path, {"from": 0, "to": 1e18})
    assert (counts.counts.tolist(), counts.k) == ([5, 1, 1], 1e18 + 1)
    only = {"from": 2**53 + 1, "to": 2**53 + 1}  # no float is 2**53 + 1
    assert load(path, only, outside="drop").counts.tolist() == [1]


NO_INTEGERS = ["2.5", "9007199254740993.0", "1e16", "nan", "inf", "1e999", "1_0", "0x1", "٣", "-"]


@pytest.mark.parametrize("bad", NO_INTEGERS)
def test_what_writes_no_exact_integer_is_refused(tmp_path, bad):
    message = refused(written(tmp_path, f"x\n5\n{bad}\n"), {"from": 0, "to": 1e18})
    assert f"1 records are not integers, first '{bad}'" in message


def test_labels_are_compared_as_text(tmp_path):
    path = written(tmp_path, "x\n1\n1\n01\n")
    assert load(path, [1, "01"]).counts.tolist() == [2, 1]
    dropped = load(path, ["1"], outside="drop")
    unit = "each row is taken for one person (data.id=COLUMN checks that)"
    assert dropped.source == f"mine.csv, column 'x'; {unit}; 1 records outside the domain were dropped"
    assert dropped.left_out == {"outside_dropped": 1}


def test_labels_of_a_file(tmp_path):
    labels = written(tmp_path, "code,name\n1,a\n2,b\n3,b\n4,c\n", "labels.csv")
    path = written(tmp_path, "x\na\na\nc\n")
    domain = {"file": str(labels), "column": "name"}
    counts = load(path, domain)
    assert (counts.counts.tolist(), counts.k) == ([2, 1], 3)
    assert "'z'" in refused(written(tmp_path, "x\nz\n"), domain)
    assert "labels.csv: column 'y'" in refused(path, {"file": str(labels), "column": "y"})
    gaps = written(tmp_path, "a,b\n1,\n2,u\n", "gaps.csv")
    assert "gaps.csv, column 'b': 1 labels are empty" in refused(path, {"file": str(gaps), "column": "b"})


def test_data_without_a_record_are_refused(tmp_path):
    path = written(tmp_path, "x,n\n")
    none = "column 'x': there are no records; valid: one or more"
    assert none in refused(path, 10)
    assert none in refused(path, 10, count="n")
    assert "'listed', and the table has no rows" in refused(path, "listed", count="n")
    assert none in refused(written(tmp_path, "x,n\na,0\n"), 10, count="n")
    message = refused(written(tmp_path, "x\n7\n8\nu\n"), {"from": 0, "to": 5}, outside="drop", nulls="drop")
    assert "there are no records; 1 records with text" in message
    pd.DataFrame({"x": pd.Series([], dtype=str)}).to_parquet(tmp_path / "t.parquet")
    assert "there are no records" in refused(tmp_path / "t.parquet", 10)


# what is left out


def test_what_is_left_out_is_counted(tmp_path):
    """Of 20 rows 5 are inside, 3 beyond each end, 4 text, 2 empty, 3 inside but spelt oddly."""
    cells = ["0", "1", "2", "3", "4", *["-1"] * 3, *["99"] * 3, "NA", "many", "NA", "-", "", '""', "05", " 5", "5.0"]
    path = written(tmp_path, "y,x\n" + "".join(f"1,{cell}\n" for cell in cells))
    dropped = load(path, {"from": 0, "to": 5}, outside="drop", nulls="drop")
    assert dropped.counts.tolist() == [3, 1, 1, 1, 1, 1]
    assert dropped.left_out == {"empty_dropped": 2, "unreadable_dropped": 4, "outside_dropped": 6}
    for told in ("2 rows with an empty cell", "4 records with text in place of a number", "6 records outside"):
        assert f"; {told}" in dropped.source
    clipped = load(path, {"from": 0, "to": 5}, outside="clip", nulls="drop")
    assert clipped.counts.tolist() == [6, 4, 1, 1, 1, 1]
    assert clipped.left_out == {"empty_dropped": 2, "unreadable_dropped": 4, "outside_clipped": 6}
    assert "6 records outside the domain were clipped" in clipped.source


@pytest.mark.parametrize(("domain", "more"), [(99, {}), ("listed", {"count": "y"})])
def test_labels_that_mix_numbers_and_words_are_refused_unless_declared(tmp_path, domain, more):
    """A slip such as 1O2 for 102, or NA for nothing, would be a bin of its own."""
    path = written(tmp_path, "y,x\n1,101\n2,1O2\n3,103\n")
    said = refused(path, domain, **more)
    assert "numbers ('101') and words ('1O2')" in said
    assert load(path, ["101", "1O2", "103"]).counts.tolist() == [1, 1, 1]
    for alike in ("1,101\n2,102\n", "1,A1\n2,1O2\n"):
        assert load(written(tmp_path, f"y,x\n{alike}"), domain, **more).counts.sum() >= 2


def test_nothing_left_out_is_nothing_told(tmp_path):
    counts = load(written(tmp_path, "x,n\n1,3\n2,4\n"), {"from": 1, "to": 2}, count="n", nulls="drop")
    assert counts.left_out == {}
    assert counts.source.endswith("taken for one person")


def test_an_empty_line_of_a_single_column_is_an_empty_cell(tmp_path):
    path = written(tmp_path, "x\na\n\n\nb\n\n")  # the last one ends the file
    assert "column 'x': 2 empty cells" in refused(path, 2)
    assert load(path, 2, nulls="drop").left_out == {"empty_dropped": 2}
    packed = written(tmp_path, gzip.compress(b"x\r\n\r\na\r\n"), "t.csv.gz")
    assert "column 'x': 1 empty cells" in refused(packed, 2)
    assert load(written(tmp_path, "x,y\na,1\n\nb,2\n"), 2).left_out == {}


def test_counts_that_are_text_are_dropped_with_the_nulls_and_no_others(tmp_path):
    path = written(tmp_path, "x,n\na,3\nb,NA\nc,\nd,nan\ne,4\n")
    found = load(path, 5, count="n", nulls="drop")
    assert (found.counts.tolist(), found.left_out) == ([4, 3], {"empty_dropped": 1, "unreadable_dropped": 2})
    for bad in ("-1", "1.5", "1e400", ".5"):
        path = written(tmp_path, f"x,n\na,3\nb,{bad}\n")
        assert f"'{bad}' is not a count" in refused(path, 5, count="n", nulls="drop")


def test_decimals_are_never_dropped_as_text(tmp_path):
    path = written(tmp_path, "x\n1\nNA\n2.5\n")
    message = refused(path, {"from": 0, "to": 8}, nulls="drop", outside="drop")
    assert message.endswith("2 records are not integers, first '2.5'; valid: 0..8; decimals need a width there")


# whose record a row is


def test_a_person_has_one_row(tmp_path):
    path = written(tmp_path, "x,who\na,1\nb,2\na,1\nc,3\na,1\nd,2\n")
    message = refused(path, 9, id="who")
    assert "column 'who': 2 persons have several rows, '1' has 3" in message
    single = written(tmp_path, "x,who\na,1\nb,2\na,3\n")
    counts = load(single, 9, id="who")
    assert counts.counts.tolist() == load(single, 9).counts.tolist() == [2, 1]
    assert counts.source == "mine.csv, column 'x'; one row a person, as column 'who' says"
    assert counts.digest == load(single, 9).digest
    empty = written(tmp_path, "x,who\na,1\nb,\n")
    assert "column 'who': 1 empty cells" in refused(empty, 9, id="who")
    assert load(empty, 9, id="who", nulls="drop").counts.tolist() == [1]


def test_persons_and_counts_do_not_go_together(tmp_path):
    path = written(tmp_path, "x,who,n\na,1,2\n")
    assert "id and count are both given" in refused(path, 9, id="who", count="n")
    assert "id = 3 is not the name of a column" in refused(path, 9, id=3)


# what a table is called


@pytest.mark.parametrize(
    ("name", "column", "expected"),
    [
        ("visits.csv", "clinic", "visits.clinic"),
        ("a.b.CSV.gz", "x y", "a.b.x y"),
        ("t.csv", "a[b]/$\n", "t.a_b__$_"),
        ("t.csv", "x" * 99, "t." + "x" * 58),
        ("t.parquet", "\x1bü", "t._ü"),
    ],
)
def test_a_table_without_a_name_is_called_after_its_file_and_column(tmp_path, name, column, expected):
    path = tmp_path / name
    if name.endswith("parquet"):
        pd.DataFrame({column: ["a"]}).to_parquet(path)
    else:
        pd.DataFrame({column: ["a"]}).to_csv(path, index=False)
    counts = load(path, 3, name="csv", column=column)
    assert (counts.name, counts.own) == (expected, True)
    assert load(path, 3, name="mine", column=column).name == "mine"
    assert not load_counts(config("flights_dest")).own


# decimals


def binned(values, low, high, width):
    """Counts of the bins, by a loop over bins and values in whole multiples of 1/1000."""
    low, high, width = (round(1000 * end) for end in (low, high, width))
    found = []
    for start in range(low, high, width):
        last = start + width == high
        found.append(sum(start <= round(1000 * v) < start + width + last for v in values))
    return sorted((n for n in found if n), reverse=True)


@pytest.mark.parametrize(
    ("low", "high", "width"), [(0, 1, 0.1), (-1.5, 2.1, 0.3), (0.7, 0.8, 0.025), (0, 10, 10), (-3, 3, 0.001)]
)
def test_decimals_in_bins_of_a_width(tmp_path, low, high, width):
    """Thousandths, among them all the edges, which binary arithmetic puts on either side (0.3 / 0.1 < 3)."""
    rng = np.random.default_rng(1)
    values = [*(v / 1000 for v in rng.integers(round(1000 * low), round(1000 * high) + 1, 300)), low, high]
    values += [round(low + i * width, 3) for i in range(min(round((high - low) / width), 200))]
    path = written(tmp_path, "x\n" + "".join(f"{v:.3f}\n" for v in values))
    counts = load(path, {"from": low, "to": high, "width": width})
    assert counts.counts.tolist() == binned(values, low, high, width)
    assert counts.k == round((high - low) / width)
    pd.DataFrame({"x": values}).to_parquet(tmp_path / "t.parquet")
    assert load(tmp_path / "t.parquet", {"from": low, "to": high, "width": width}).digest == counts.digest


def test_decimals_beyond_the_domain(tmp_path):
    path = written(tmp_path, "x\n0\n.25\n0.5\n1\n1.0001\n-1e-9\n1e300\n")
    domain = {"from": 0, "to": 1, "width": 0.5}
    assert "3 records (3 labels, the first is '1.0001') lie outside the declared numbers 0..1" in refused(path, domain)
    assert load(path, domain, outside="drop").counts.tolist() == [2, 2]
    clipped = load(path, domain, outside="clip")
    assert (clipped.counts.tolist(), clipped.left_out) == ([4, 3], {"outside_clipped": 3})


@pytest.mark.parametrize("text", ["NA", "1,5", "1_0", "0x1", "nan", "inf", "٣", "--1", "1e5e", "."])
def test_what_writes_no_decimal_is_dropped_with_the_nulls(tmp_path, text):
    path = written(tmp_path, f'x\n0.5\n"{text}"\n')
    domain = {"from": 0, "to": 1, "width": 0.5}
    assert f"1 records are not numbers, first '{text}'; valid: 0..1, or nulls = drop" in refused(path, domain)
    found = load(path, domain, nulls="drop")
    assert (found.counts.tolist(), found.left_out) == ([1], {"unreadable_dropped": 1})


@pytest.mark.parametrize("text", ["1e999999999", "1e400", "9" * 1000])
def test_numbers_beyond_all_floats_cost_nothing_and_are_refused(tmp_path, text):
    path = written(tmp_path, f"x\n0.5\n{text}\n")
    assert "1 records are not numbers" in refused(path, {"from": 0, "to": 1, "width": 0.5}, nulls="drop")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"width": 0.3}, ["into whole bins"]),
        ({"width": 0}, ["make no bins", "0 < width"]),
        ({"width": -0.5}, ["make no bins"]),
        ({"width": 2}, ["make no bins"]),
        ({"width": 1e-305, "to": 1e-3}, ["too many", "1e+300"]),
        ({"from": 1}, ["make no bins", "from < to"]),
        ({"width": None}, ["width is not given"]),
        ({"width": "a"}, ["width = 'a'"]),
        ({"to": float("nan")}, ["to = nan"]),
        ({"by": 1}, ["unknown key 'by'; valid: from, to, width"]),
    ],
)
def test_a_wrong_width_is_one_line(tmp_path, change, words):
    message = refused(written(tmp_path, "x\n0.5\n"), {"from": 0, "to": 1, "width": 0.5, **change})
    for word in words:
        assert word in message


def test_k_embeds_the_domain_in_a_larger_one(tmp_path):
    path = written(tmp_path, "x\na\nb\n")
    assert load(path, ["a", "b", "c"], 3).k == 3
    assert load(path, ["a", "b", "c"], 1e9).digest == load(path, ["a", "b", "c"]).digest
    message = refused(path, ["a", "b", "c"], 2)
    assert message == f"{path}, column 'x': k = 2; valid: at least the declared domain of 3 bins"


@pytest.mark.parametrize(
    ("domain", "more", "words"),
    [
        (None, {}, ["no domain is declared", "never read off the data", "{from: a, to: b}", "listed"]),
        ("", {}, ["no domain is declared"]),
        ("A", {}, ["domain = 'A'", "valid: the number of bins"]),
        (True, {}, ["domain = True"]),
        (0.5, {}, ["domain = 0.5", "1 to 1e+300"]),
        (float("inf"), {}, ["domain = inf"]),
        (2, {}, ["3 distinct labels", "at most the 2 declared"]),
        ("listed", {}, ["needs a pre-counted table"]),
        ([], {}, ["no labels"]),
        (["7"], {}, ["3 records (2 labels, the first is '9')", "1 declared labels ('7')", "drop"]),
        (["7", 7], {}, ["'7' is listed more than once"]),
        (["7", False], {}, ["label False", "quotes"]),
        (["7", 1.1], {}, ["label 1.1", "quotes"]),
        (["7", None], {}, ["label None"]),
        ({"from": 0, "to": 8}, {}, ["2 records (1 labels, the first is '9') lie outside", "0..8", "clip"]),
        ({"from": 9, "to": 8}, {}, ["from = 9 is above to = 8"]),
        ({"from": 0.5, "to": 8}, {}, ["from = 0.5", "whole"]),
        ({"from": 0}, {}, ["domain: to is not given"]),
        ({"from": 0, "to": 8, "by": 2}, {}, ["unknown key 'by'; valid: from, to"]),
        ({"from": -1e300, "to": 1e300}, {}, ["too wide", "1e+300"]),
        ({"file": "x.csv"}, {}, ["column is not given"]),
        ({"file": "absent.csv", "column": "x"}, {}, ["absent.csv: there is no such file"]),
        ({"file": 3, "column": "x"}, {}, ["3 is not a path"]),
        (["7", "8", "9"], {"outside": "clip"}, ["clip", "{from: a, to: b}", "error, drop"]),
        (10, {"outside": "ignore"}, ["outside = 'ignore'", "error, drop, clip"]),
        (10, {"nulls": "skip"}, ["nulls = 'skip'", "error, drop"]),
        (10, {"column": None}, ["column is not given"]),
        (10, {"column": 3}, ["column = 3", "text"]),
        (10, {"count": "m"}, ["column 'm' is not there", "its columns: 'x', 'n'"]),
        (10, {"colum": "x"}, ["unknown key 'colum'", "path, column, count, id, domain, outside, nulls"]),
        (10, {"path": ["a"]}, ["['a'] is not a path"]),
        (10, {"path": "???"}, ["path is not given; valid: the path of a file .csv, .csv.gz, .parquet"]),
    ],
)
def test_a_wrong_specification_is_one_line(tmp_path, domain, more, words):
    path = written(tmp_path, "x,n\n9,1\n9,1\n8,1\n7,1\n")
    message = refused(path, domain, **more)
    for word in words:
        assert word in message


def test_what_is_not_an_integer_is_refused_whatever_is_asked(tmp_path):
    path = written(tmp_path, "x\n1\n2.5\nmany\n")
    for outside in ("error", "drop", "clip"):
        message = refused(path, {"from": 0, "to": 8}, outside=outside)
        told = "2 records are not integers, first '2.5'; valid: 0..8; decimals need a width there"
        assert message == f"{path}, column 'x': {told}"


# files that cannot be read


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.txt", "x\na\n", ["t.txt", ".csv, .csv.gz, .parquet"]),
        ("t.pkl", b"", [".csv, .csv.gz, .parquet"]),
        ("t.csv", "", ["t.csv is empty", "header"]),
        ("t.csv", "\n\n", ["t.csv is empty"]),
        ("t.csv", "y;x\n1;a\n", ["column 'x' is not there", "'y;x'"]),
        ("t.csv", "x,x\n1,2\n", ["column 'x' stands in the header more than once"]),
        ("t.csv", "x\na,b\n", ["t.csv, line 2: 2 cells; valid: 1"]),
        ("t.csv", "x,y\na,b\nc\n", ["t.csv, line 3: 1 cells; valid: 2"]),
        ("t.csv", 'x\n"a\n', ["t.csv cannot be read", "unexpected end"]),
        ("t.csv", b"x\n\xff\xfe\n", ["t.csv cannot be read", "UnicodeDecodeError"]),
        ("t.csv", "x\n" + "a" * 200_000, ["t.csv cannot be read", "field larger"]),
        ("t.csv.gz", "x\na\n", ["t.csv.gz cannot be read", "BadGzipFile"]),
        ("t.csv.gz", gzip.compress(b"x\n" + b"ab\n" * 999, mtime=0)[:-20], ["t.csv.gz cannot be read"]),
        ("t.parquet", "", ["t.parquet cannot be read"]),
        ("t.parquet", "x\na\n", ["t.parquet cannot be read"]),
        ("t.parquet", b"PAR1" + b"\0" * 50 + b"PAR1", ["t.parquet cannot be read"]),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path, name, content, words):
    message = refused(written(tmp_path, content, name), 10)
    for word in words:
        assert word in message
    assert str(tmp_path) in message


def test_missing_files_directories_and_nested_columns(tmp_path):
    assert "absent.csv" in refused(tmp_path / "absent.csv", 10)
    assert "no such file" in refused("http://localhost/t.csv", 10)
    assert "cannot be read" in refused("a" * 5000 + ".csv", 10)
    (tmp_path / "folder.csv").mkdir()
    assert "folder.csv is a directory" in refused(tmp_path / "folder.csv", 10)
    pd.DataFrame({"x": [[1, 2], [3]], "y": ["a", "b"]}).to_parquet(tmp_path / "t.parquet")
    assert "t.parquet cannot be read" in refused(tmp_path / "t.parquet", 10)
    assert "column 'z'" in refused(tmp_path / "t.parquet", 10, column="z")


class Hostile:
    """Unpickled, it would create a file."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


@pytest.mark.parametrize("protocol", [0, 5])
@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.csv.gz", "packed.csv.gz"])
def test_a_pickle_is_refused_and_not_run(tmp_path, name, protocol):
    trace = tmp_path / "trace"
    content = pickle.dumps(Hostile(trace), protocol)
    path = written(tmp_path, gzip.compress(content) if name == "packed.csv.gz" else content, name)
    assert name in refused(path, 10)
    assert not trace.exists()
    pickle.loads(content)
    assert trace.exists()  # so it would have been seen
