"""Rows are read from whatever people keep them in."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from assay.errors import BadParameter, BadRecord
from assay.formats.csv_rows import read_header, read_records
from assay.formats.tables import read_table
from assay.scoring.files.rows import plan_shards, read_rows

ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


class Frame:
    """As a data frame of pandas."""

    columns = ("a", "b")

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def itertuples(self, *, index: bool, name: str | None) -> Iterator[tuple[Any, ...]]:
        assert (index, name) == (False, None)
        return iter([(1, "x"), (2, "y")])


class PolarsFrame:
    """As a data frame of polars."""

    columns = ("a", "b")

    def iter_rows(self, *, named: bool) -> Iterator[Any]:
        return iter(ROWS if named else [(1, "x"), (2, "y")])


class DataSet:
    """As a data set of Hugging Face: it iterates over rows."""

    column_names = ("a", "b")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(ROWS)

    def iter(self, batch_size: int) -> None: ...


class StreamedDataSet(DataSet):
    """As a data set that is streamed, which may not know its columns before it has a row."""

    column_names = None  # type: ignore[assignment]


class DoubleFrame(Frame):
    columns = ("a", "a")


@pytest.mark.parametrize(
    "table",
    [
        ROWS, tuple(ROWS), iter(ROWS), {"a": [1, 2], "b": ["x", "y"]},
        {"a": np.array([1, 2]), "b": ("x", "y")}, pa.Table.from_pylist(ROWS),
        pa.RecordBatch.from_pylist(ROWS), Frame(), PolarsFrame(), DataSet(),
        StreamedDataSet(),
    ],
    ids=range(11),
)  # fmt: skip
def test_every_table_has_its_rows(table: Any) -> None:
    assert list(read_table(table).rows) == ROWS


def test_a_table_says_beforehand_which_columns_it_has() -> None:
    assert read_table(Frame()).columns == ("a", "b")
    assert read_table({"a": [], "b": []}).columns == ("a", "b")
    assert read_table(ROWS).columns is None


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("rows.jsonl", "score_file"),
        (Path("rows.jsonl"), "score_file"),
        ({"final_response": "x", "answer": "y"}, r"pass a list: \[row\]"),
        ({"a": [1, 2], "b": ["x"]}, "different lengths"),
        ({1: 5}, "whose 1 is an int"),
        ({1: ["x"], "1": ["y"]}, "the column '1' twice"),
        (DoubleFrame(), "the column 'a' twice"),
        (pa.table([[1], [2]], names=["a", "a"]), "the column 'a' twice"),
        ({"train": DataSet(), "test": DataSet()}, "splits"),
        (np.array([[1, 2]]), "iterable of dicts"),
        (7, "iterable of dicts"),
        (None, "iterable of dicts"),
    ],
)
def test_what_is_no_table_is_refused(table: Any, why: str) -> None:
    with pytest.raises(BadParameter, match=why):
        read_table(table)


CSV = (
    b'\xef\xbb\xbfid,final_response, answer\r\n1,"two\r\nlines, ""quoted""",7\r\n\r\n2,,8\n'
    b"3,too,many,cells\n4,short\n5,\xff,9\n6,last,10"
)


@pytest.mark.parametrize("shard_bytes", [1, 20, 40, 1_000])
def test_csv_is_read_by_record_wherever_it_is_cut(tmp_path: Path, shard_bytes: int) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(CSV)
    shards = plan_shards(path, shard_bytes)
    rows = [row for shard in shards for row in read_rows(path, shard)]
    assert [row.number for row in rows] == [2, 5, 6, 7, 8, 9]
    assert rows[0].value == {"id": "1", "final_response": 'two\r\nlines, "quoted"', "answer": "7"}
    assert rows[1].value == {"id": "2", "final_response": None, "answer": "8"}
    assert rows[5].value == {"id": "6", "final_response": "last", "answer": "10"}
    problems = [row.problem for row in rows if row.problem]
    assert problems == [
        "line 6 has 4 cells, and the header has 3",
        "line 7 has 2 cells, and the header has 3",
        "line 8 is not UTF-8: invalid start byte",
    ]
    assert sum(shard.rows for shard in shards) == 6


def test_cells_may_be_long_and_tabs_separate(tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_text("a\tb\nx,y\t" + "z" * 300_000 + "\n")
    (record,) = read_records(path)
    assert record.value == {"a": "x,y", "b": "z" * 300_000}


@pytest.mark.parametrize("shard_bytes", [1, 20, 1_000])
def test_a_quote_out_of_place_is_named_and_never_guessed_at(
    tmp_path: Path, shard_bytes: int
) -> None:
    path = tmp_path / "rows.csv"
    unclosed = "a quotation mark is opened, and not closed before the end of the file"
    path.write_text('a,b\n"he said "hi" twice",1\nx,2\ny,"3\nz,4\n')
    rows = [row for shard in plan_shards(path, shard_bytes) for row in read_rows(path, shard)]
    assert [(row.number, row.problem) for row in rows if row.problem] == [
        (2, "line 2 is not CSV: ',' expected after '\"'"),
        (4, f"line 4 is not CSV: {unclosed}"),
    ]
    assert [row.value for row in rows if not row.problem] == [{"a": "x", "b": "2"}]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no header"),
        ("a,b,a\n", "'a' twice"),
        ("a,b\r1,2\r", "carriage return alone"),
        ('a,"b\n1,2\n', "not closed"),
    ],
)
def test_a_header_that_names_no_columns_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(text.encode())
    with pytest.raises(BadRecord, match=why):
        read_header(path)


def test_a_header_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("a,b\n1,2\n".encode("utf-16"))
    with pytest.raises(BadRecord, match="not UTF-8"):
        read_header(path)
