"""A run as a flat table."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from pyarrow import parquet

from assay.errors import UnknownName
from assay.formats.table import COLUMNS
from assay.ledger.run import Run
from assay.ledger.transfer import export_run
from assay.ledger.writer import RunWriter
from assay.schema.task import Task
from tests.ledger.example import MANIFEST, episode, write_example


def test_each_attempt_is_a_row_of_json(tmp_path: Path) -> None:
    run = write_example(tmp_path)
    assert export_run(run, tmp_path / "out.jsonl") == 3
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    first, replaced, retry = rows
    assert list(first) == [
        *COLUMNS,
        "assistantbench_reward",
        "assistantbench_reward.has_answer",
    ]
    assert (first["reward"], first["assistantbench_reward.has_answer"]) == (0.993, 1.0)
    assert (first["answer"], replaced["answer"]) == ("14.2", '["850000"]')
    assert [row["counts"] for row in rows] == [True, False, True]
    assert (replaced["reward"], replaced["failure"]) == (None, "the browser died")
    assert json.loads(retry["metadata"]) == {"seed": 7, "nothing": None}


def test_parquet_holds_the_same_rows(tmp_path: Path) -> None:
    run = write_example(tmp_path)
    export_run(run, tmp_path / "out.jsonl")
    assert export_run(run, tmp_path / "out.parquet", "parquet") == 3
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert parquet.read_table(tmp_path / "out.parquet").to_pylist() == rows


def test_a_lone_surrogate_is_exact_in_json_and_escaped_in_parquet(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        writer.append(episode("one", answer="a\ud800\x00"))
    run = Run(writer.path)
    export_run(run, tmp_path / "out.jsonl")
    export_run(run, tmp_path / "out.parquet", format="parquet")
    assert json.loads((tmp_path / "out.jsonl").read_text())["final_response"] == "a\ud800\x00"
    (row,) = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert row["final_response"] == "a\\ud800\x00"


def test_csv_holds_the_same_rows_and_no_formula(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        for i, answer in enumerate(('=cmd|" /C calc"!A1', "-5", "-1+1", "@x", 'a,\n"b"', "\ud800")):
            writer.append(episode(f"task.{i}", Task(id=f"task.{i}", goal="?"), answer=answer))
    run = Run(writer.path)
    export_run(run, tmp_path / "out.jsonl")
    assert export_run(run, tmp_path / "out.csv", "csv") == 6
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    assert [row["final_response"] for row in table] == [
        '\'=cmd|" /C calc"!A1', "-5", "'-1+1", "'@x", 'a,\n"b"', "\\ud800",
    ]  # fmt: skip
    assert list(table[0]) == list(lines[0])
    assert [float(row["reward"]) for row in table] == [line["reward"] for line in lines]
    assert {row["counts"] for row in table} == {"true"}


def test_a_run_without_attempts_is_a_table_without_rows(tmp_path: Path) -> None:
    RunWriter.create(tmp_path, MANIFEST).close()
    run = Run(tmp_path / MANIFEST.run_id)
    assert export_run(run, tmp_path / "out.jsonl") == 0
    assert export_run(run, tmp_path / "out.parquet", "parquet") == 0
    assert parquet.read_table(tmp_path / "out.parquet").column_names == list(COLUMNS)


def test_an_unknown_format_leaves_nothing_behind(tmp_path: Path) -> None:
    run = write_example(tmp_path)
    before = set(tmp_path.iterdir())
    with pytest.raises(UnknownName, match="xlsx"):
        export_run(run, tmp_path / "out.csv", "xlsx")
    assert set(tmp_path.iterdir()) == before
