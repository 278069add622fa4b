"""Every row of the table of formats names a module that does what the row says."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.export import format_of
from assay.errors import BadRecord, UnknownName
from assay.formats import FORMATS, FileFormat, find_format, readable, recognise, writable


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_a_row_says_what_its_module_does(row: FileFormat) -> None:
    module = row.load()
    assert module.__doc__
    assert row.reads or row.writes
    assert callable(getattr(module, "read", None)) == row.reads
    assert callable(getattr(module, "write", None)) == row.writes
    assert callable(getattr(module, "files", None)) == row.folder
    assert bool(row.suffix) == row.writes
    assert bool(row.files) == row.reads


def test_names_and_endings_are_unambiguous() -> None:
    assert len(readable().keys() | writable().keys()) == len(FORMATS)
    assert len({row.suffix for row in writable().values()}) == len(writable())


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'browsergym'"):
        find_format("browsergim", readable())
    with pytest.raises(UnknownName, match="no format 'browsergym'"):
        find_format("browsergym", writable())


def test_a_folder_is_recognised_by_the_files_in_it(tmp_path: Path) -> None:
    with pytest.raises(BadRecord, match=r"nothing that can be imported: no summary_info\.json"):
        recognise(tmp_path)
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "summary_info.json").write_text("{}")
    assert recognise(tmp_path).name == "browsergym"
    with pytest.raises(BadRecord, match="there is no file or folder"):
        recognise(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("x.otel.jsonl", "otel"), ("x.jsonl", "jsonl"), ("x.parquet", "parquet"), ("x.txt", "jsonl")],
)
def test_the_longest_ending_of_a_file_decides_its_format(name: str, expected: str) -> None:
    assert format_of(Path(name)) == expected
