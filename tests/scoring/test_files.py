"""Scoring a file: bytes do not depend on workers or kills, nothing is lost or written twice."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pytest
from pyarrow import parquet

from assay.errors import BadParameter, BadRecord
from assay.scoring.files.jobs import score_file
from assay.scoring.files.rows import plan_shards, read_rows
from tests.runner.rewards_for_tests import length


def write_rows(path: Path, number: int) -> Path:
    with path.open("w") as stream:
        for index in range(number):
            row = {"id": index, "final_response": "é" * (index % 40), "answer": "a"}
            stream.write(json.dumps(row, ensure_ascii=index % 2 == 0) + "\n")
    return path


def results(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_row_is_scored_in_order(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", 1_000)
    report = score_file(source, [length], tmp_path / "out.jsonl", shard_bytes=4_096)
    rows = results(tmp_path / "out.jsonl")
    assert [row["id"] for row in rows] == list(range(1_000))
    assert [row["line"] for row in rows] == list(range(1, 1_001))
    assert [row["scores"]["length"]["value"] for row in rows] == [i % 40 for i in range(1_000)]
    assert (report.rows, report.rewards["length"].scored) == (1_000, 1_000)
    assert report.rewards["length"].mean == pytest.approx(19.5)
    assert not (tmp_path / "out.jsonl.partial").exists()


def test_the_result_does_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", 2_000)
    score_file(source, [length], tmp_path / "one.jsonl", shard_bytes=8_192)
    score_file(source, [length], tmp_path / "two.jsonl", shard_bytes=8_192, workers=2)
    score_file(source, [length], tmp_path / "big.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "big.jsonl").read_bytes()


@pytest.mark.parametrize("shard_bytes", [1, 7, 64, 1_000, 10_000_000])
def test_shards_cover_every_line_once_wherever_they_are_cut(
    tmp_path: Path, shard_bytes: int
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(b'\xef\xbb\xbf{"n": 1}\n\n{"n": 3}\r\n   \n{"n": 5}\nbroken\n{"n": 7}')
    rows = [row for shard in plan_shards(source, shard_bytes) for row in read_rows(source, shard)]
    assert [row.number for row in rows] == [1, 3, 5, 6, 7]
    assert [row.value for row in rows] == [{"n": 1}, {"n": 3}, {"n": 5}, None, {"n": 7}]
    assert "line 6 is not JSON" in rows[3].problem


def test_a_bad_row_abstains_with_its_line_number_and_the_rest_is_scored(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(
        '{"final_response": "ab"}\n[1]\n{"answer": "a"}\nnot json\n'
        '{"final_response": "raise"}\n{"final_response": "x", "score": NaN}\n'
    )
    report = score_file(source, [length], tmp_path / "out.jsonl")
    scores = [row["scores"]["length"] for row in results(tmp_path / "out.jsonl")]
    assert [score["value"] for score in scores] == [2.0, None, None, None, None, 1.0]
    assert [score.get("abstained") for score in scores[1:5]] == [*["bad_row"] * 3, "grader_error"]
    assert "line 2" in scores[1]["because"]
    assert "line 3" in scores[2]["because"]
    assert "line 4" in scores[3]["because"]
    assert report.rewards["length"].abstained == {"bad_row": 3, "grader_error": 1}


def test_an_empty_file_gives_an_empty_result(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").touch()
    report = score_file(tmp_path / "in.jsonl", [length], tmp_path / "out.jsonl")
    assert (report.rows, report.rewards["length"].mean) == (0, None)
    assert (tmp_path / "out.jsonl").read_bytes() == b""


def test_a_lone_surrogate_is_written_escaped(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "\\ud800", "final_response": "\\ud800"}\n')
    score_file(source, [length], tmp_path / "out.jsonl")
    assert results(tmp_path / "out.jsonl")[0]["id"] == "\ud800"


def test_columns_asked_for_are_copied(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", 3)
    score_file(source, [length], tmp_path / "out.jsonl", keep=["answer", "absent"])
    assert results(tmp_path / "out.jsonl")[2]["answer"] == "a"


def test_parquet_in_and_out_tells_the_same_as_jsonl(tmp_path: Path) -> None:
    rows = results(write_rows(tmp_path / "in.jsonl", 500))
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet", row_group_size=90)
    score_file(tmp_path / "in.jsonl", [length], tmp_path / "a.jsonl")
    score_file(tmp_path / "in.parquet", [length], tmp_path / "b.jsonl", workers=2)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    score_file(tmp_path / "in.parquet", [length], tmp_path / "c.parquet")
    table = parquet.read_table(tmp_path / "c.parquet").to_pylist()
    assert [row["length"] for row in table] == [index % 40 for index in range(500)]
    assert table[7]["line"] == 8
    assert table[7]["id"] == "7"
    assert table[7]["length.abstained"] is None


def test_a_file_that_is_not_parquet_says_so(tmp_path: Path) -> None:
    (tmp_path / "in.parquet").write_text("no")
    with pytest.raises(BadRecord, match="not a Parquet file"):
        score_file(tmp_path / "in.parquet", [length], tmp_path / "out.jsonl")


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", 3)
    out = tmp_path / "out.jsonl"
    out.write_text("precious")
    with pytest.raises(BadRecord, match="--overwrite"):
        score_file(source, [length], out)
    assert out.read_text() == "precious"
    score_file(source, [length], out, overwrite=True)
    assert len(results(out)) == 3


def test_an_unfinished_job_is_neither_continued_nor_thrown_away_unasked(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", 3)
    (tmp_path / "out.jsonl.partial").mkdir()
    with pytest.raises(BadRecord, match="unfinished job"):
        score_file(source, [length], tmp_path / "out.jsonl")


def test_a_job_does_not_resume_over_another_input(tmp_path: Path) -> None:
    stop_after_two_shards(tmp_path)
    write_rows(tmp_path / "in.jsonl", 401)
    with pytest.raises(BadRecord, match="its source was"):
        score_file(
            tmp_path / "in.jsonl",
            [length],
            tmp_path / "out.jsonl",
            shard_bytes=2_048,
            resume=True,
        )


def test_no_reward_and_the_same_reward_twice_are_errors(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", 1)
    for rewards in ([], [length, length]):
        with pytest.raises(BadParameter, match="none twice"):
            score_file(source, rewards, tmp_path / "out.jsonl")


class Stop(Exception):
    """Raised by a progress callback to stop a job half-way."""


def stop_after_two_shards(folder: Path) -> None:
    source = write_rows(folder / "in.jsonl", 400)
    calls = 0

    def progress(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise Stop

    with pytest.raises(Stop):
        score_file(source, [length], folder / "out.jsonl", shard_bytes=2_048, progress=progress)


def test_a_stopped_job_resumes_where_it_was(tmp_path: Path) -> None:
    stop_after_two_shards(tmp_path)
    source = tmp_path / "in.jsonl"
    report = score_file(source, [length], tmp_path / "out.jsonl", shard_bytes=2_048, resume=True)
    assert 0 < report.resumed_rows < 400
    score_file(source, [length], tmp_path / "whole.jsonl", shard_bytes=2_048)
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("params", "resumes"), [({"mode": "squad2"}, True), ({"mode": "hotpot"}, False)]
)
def test_a_plan_that_names_a_default_option_is_the_same_plan(
    params: dict[str, str], resumes: bool, tmp_path: Path
) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"final_response": "a", "answer": "a"}\n')

    def stop(done: int, total: int) -> None:
        raise Stop

    with pytest.raises(Stop):
        score_file(source, ["qa_f1_reward"], out, progress=stop)
    path = tmp_path / "out.jsonl.partial" / "plan.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "params": [params]}))
    if resumes:
        assert score_file(source, ["qa_f1_reward"], out, resume=True).rows == 1
    else:
        with pytest.raises(BadRecord, match="its params was"):
            score_file(source, ["qa_f1_reward"], out, resume=True)


SCRIPT = """
import sys
from pathlib import Path
from assay.scoring.files.jobs import score_file
from tests.runner.rewards_for_tests import length

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    score_file(
        folder / "in.jsonl", [length], folder / "out.jsonl", shard_bytes=2_048, workers=2,
        resume=True, progress=lambda done, total: print(done, flush=True),
    )
"""


def test_a_killed_job_resumes_byte_for_byte_and_leaves_no_worker(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", 3_000)
    script = tmp_path / "job.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    job = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert job.stdout is not None
    for line in job.stdout:
        if int(line) > 300:
            break
    workers = psutil.Process(job.pid).children(recursive=True)
    job.send_signal(signal.SIGKILL)
    job.wait()
    job.stdout.close()
    assert workers
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert alive == []
    assert not (tmp_path / "out.jsonl").exists()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    score_file(source, [length], tmp_path / "whole.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
