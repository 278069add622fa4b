"""Every row of the table of formats names a module that does what the row says."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.export import format_of
from assay.errors import BadRecord, UnknownName
from assay.formats import FORMATS, FileFormat, find_format, readable, recognise, writable


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_a_row_says_what_its_module_does(row: FileFormat) -> None:
    assert row.reads or row.writes
    if row.writes:
        module = row.load()
        assert module.__doc__
        assert callable(getattr(module, row.writer))
        assert callable(getattr(module, "files", None)) == row.folder
    if row.reads:
        reader = row.load()
        assert reader.__doc__
        assert callable(reader.read)
        assert callable(reader.logs)
    assert bool(row.suffix) == row.writes
    assert bool(row.looks_for) == row.reads


def test_names_and_endings_are_unambiguous() -> None:
    assert len({row.name for row in FORMATS}) == len(FORMATS)
    assert readable().keys() | writable().keys() == {row.name for row in FORMATS}
    assert len({row.suffix for row in writable().values()}) == len(writable())


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'browsergym'"):
        find_format("browsergim", readable())
    with pytest.raises(UnknownName, match="no format 'browsergym'"):
        find_format("browsergym", writable())


def test_a_folder_is_recognised_by_the_files_in_it(tmp_path: Path) -> None:
    with pytest.raises(BadRecord) as refusal:
        recognise(tmp_path)
    for row in readable().values():
        assert f"{row.looks_for} ({row.name})" in str(refusal.value)
    (tmp_path / "study" / "episode").mkdir(parents=True)
    (tmp_path / "study" / "episode" / "summary_info.json").write_text("{}")
    found = recognise(tmp_path)
    assert (found.format.name, found.logs) == ("browsergym", (tmp_path / "study",))
    with pytest.raises(BadRecord, match="there is no file or folder"):
        recognise(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("x.otel.jsonl", "otel"), ("x.jsonl", "jsonl"), ("x.parquet", "parquet"), ("x.txt", "jsonl")],
)
def test_the_longest_ending_of_a_file_decides_its_format(name: str, expected: str) -> None:
    assert format_of(Path(name)) == expected
