"""Jobs name the rows that they cannot score, stop when told to, and find columns by other names."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

import assay
from assay.cli.main import main
from assay.errors import BadParameter, MissingParameter, TooManyAbstained
from assay.scoring.files.folders import score_folder
from assay.scoring.files.jobs import score_file
from perf.rows import prove

QA = "qa_f1_reward"


def write_rows(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def half_bad(number: int) -> list[dict[str, Any]]:
    good = {"final_response": "Paris", "answer": "Paris"}
    return [good if index % 2 else {**good, "answer": {"a": index}} for index in range(number)]


def test_every_door_scores_the_good_rows_and_names_the_bad_ones() -> None:
    for report in prove(250, workers=1):
        assert not report.missed, (report.door, report.missed[:5])


def test_a_mean_leaves_abstentions_out_and_counts_them() -> None:
    stream = assay.score_batch(QA, half_bad(4))
    scores = list(stream)
    assert stream.mean == assay.mean(scores) == 1.0
    assert stream.abstained == {"bad_reference": 2}
    assert assay.mean(scores[:1]) is None
    with pytest.raises(assay.errors.NoScore, match=r"assay\.mean"):
        float(scores[0])


def test_columns_of_other_names_are_found_in_batches_and_files(tmp_path: Path) -> None:
    columns = {"answer": "meta.gold", "final_response": "text"}
    rows = [{"text": "Paris", "meta": {"gold": "Paris"}}, {"text": "Paris", "meta": {}}]
    first, second = assay.score_batch(QA, rows, columns=columns)
    assert (float(first), second["abstained"]) == (1.0, "bad_row")
    assert second.because.startswith("row 2: ")
    source = write_rows(tmp_path / "in.jsonl", rows)
    report = score_file(source, [QA], tmp_path / "out.jsonl", columns=columns)
    assert (report.rewards[QA].scored, report.rewards[QA].abstained) == (1, {"bad_row": 1})
    with pytest.raises(BadParameter, match="none of qa_f1_reward has a parameter 'gold'"):
        score_file(source, [QA], tmp_path / "x.jsonl", columns={"gold": "text"})


def test_a_table_without_the_column_is_refused_before_the_first_row(tmp_path: Path) -> None:
    with pytest.raises(MissingParameter, match=r"has no column 'answer'; it has: .*solution"):
        assay.score_batch(QA, {"final_response": ["x"], "solution": ["x"]})
    source = tmp_path / "in.csv"
    source.write_text("final_response,solution\nParis,Paris\n")
    with pytest.raises(MissingParameter, match=r"in\.csv has no column 'answer'"):
        score_file(source, [QA], tmp_path / "out.jsonl")
    report = score_file(source, [QA], tmp_path / "out.jsonl", columns={"answer": "solution"})
    assert report.rewards[QA].mean == 1.0


def test_an_empty_cell_is_no_value(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("id,final_response,answer\n1,,Paris\n2,Paris,\n")
    score_file(source, [QA], tmp_path / "out.parquet")
    rows = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row[QA] for row in rows] == [0.0, None]
    assert rows[1][f"{QA}.abstained"] == "missing_reference"
    assert rows[1][f"{QA}.because"].startswith("line 3: ")


def test_other_columns_are_another_job(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", half_bad(300))
    out = tmp_path / "out.jsonl"
    with pytest.raises(TooManyAbstained):
        score_file(source, [QA], out, max_abstained=1)
    with pytest.raises(assay.errors.BadRecord, match="its columns was None"):
        score_file(source, [QA], out, resume=True, columns={"answer": "final_response"})


@pytest.mark.parametrize("most", [10, 0.1])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_that_no_longer_scores_is_stopped_and_can_be_resumed(
    tmp_path: Path, most: float, workers: int
) -> None:
    source = write_rows(tmp_path / "in.jsonl", half_bad(1_000))
    out = tmp_path / "out.jsonl"
    options: dict[str, Any] = {"workers": workers, "shard_bytes": 8_192}
    with pytest.raises(TooManyAbstained, match=r"qa_f1_reward abstained from .*'answer' is a dict"):
        score_file(source, [QA], out, max_abstained=most, **options)
    report = score_file(source, [QA], out, resume=True, **options)
    assert (report.rows, report.rewards[QA].scored) == (1_000, 500)
    with pytest.raises(TooManyAbstained):
        list(assay.score_batch(QA, half_bad(1_000), max_abstained=most))


def test_a_limit_that_holds_changes_nothing(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", half_bad(1_000))
    score_folder(source, [QA], tmp_path / "out", max_abstained=0.5)
    for most in (500, 0.5):
        assert len(list(assay.score_batch(QA, half_bad(1_000), max_abstained=most))) == 1_000
    with pytest.raises(TooManyAbstained, match="501 of 1,001"):
        list(assay.score_batch(QA, iter(half_bad(1_001)), max_abstained=0.5))


@pytest.mark.parametrize("most", [-1, 1.5, float("nan"), float("inf")])
def test_a_limit_that_means_nothing_is_refused(most: Any) -> None:
    with pytest.raises(BadParameter, match="max_abstained"):
        assay.score_batch(QA, [], max_abstained=most)


def test_the_command_says_which_rows_abstained_and_how_many(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = write_rows(tmp_path / "in.jsonl", [*half_bad(6), {"answer": "x"}])
    out = str(tmp_path / "out.jsonl")
    assert main(["score", str(source), "--reward", QA, "--out", out]) == 0
    printed = " ".join(capfd.readouterr().out.split())
    assert "qa_f1_reward abstained from 3: line 1: 'answer' is a dict" in printed
    assert "qa_f1_reward abstained from 1: line 7: qa_f1_reward needs 'final_response'" in printed
    call = ["score", str(source), "--reward", QA, "--out", out, "--json", "--overwrite"]
    assert main(call) == 0
    examples = json.loads(capfd.readouterr().out)["rewards"][QA]["examples"]
    assert [example["count"] for example in examples] == [3, 1]


PRINTING = """
import assay

print("a module that prints")


@assay.reward(name="printing", replace=True)
def printing(final_response: str, answer: str) -> float:
    print("a reward that prints")
    return 1.0
"""


def test_what_a_reward_prints_is_not_among_the_results(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "rewards_that_print.py").write_text(PRINTING)
    rows = write_rows(tmp_path / "rows.jsonl", [{"final_response": "x", "answer": "x"}] * 3)
    call = ["score", str(rows), "--reward", "printing", "--json"]
    call += ["--import", str(tmp_path / "rewards_that_print.py")]
    assert main(call) == 0
    shown = capfd.readouterr()
    assert [json.loads(line)["line"] for line in shown.out.splitlines()] == [1, 2, 3]
    assert "a reward that prints" in shown.err
    assert main([*call, "--out", str(tmp_path / "out.jsonl"), "--workers", "2"]) == 0
    assert json.loads(capfd.readouterr().out)["rows"] == 3


def test_the_command_exits_as_documented(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bad = write_rows(tmp_path / "bad.jsonl", [{"final_response": "x", "gold": "x"}] * 3)
    out = str(tmp_path / "out.jsonl")
    for options in ([], ["--out", out], ["--table"]):
        assert main(["score", str(bad), "--reward", QA, *options]) == 1
        assert "qa_f1_reward scored none of 3 rows: line 1: qa_f1_reward needs 'answer'" in (
            capfd.readouterr().err
        )
    call = ["score", str(bad), "--reward", QA, "--column", "answer=gold"]
    assert main([*call, "--out", out, "--overwrite"]) == 0
    half = str(write_rows(tmp_path / "half.jsonl", half_bad(200)))
    for most in ("20", "0.2", "20%"):
        assert main(["score", half, "--reward", QA, "--max-abstained", most]) == 3
        assert "more than max_abstained=" in capfd.readouterr().err
    assert main(["score", half, "--reward", QA, "--max-abstained", "many"]) == 2
    assert main(["score", half, "--reward", QA, "--column", "answer"]) == 2
    twice = ["--column", "answer=gold", "--column", "answer=answer"]
    assert main(["score", half, "--reward", QA, *twice]) == 2
    assert main(["score", half, "--reward", ","]) == 2
    assert main(["score", half, "--reward", QA, "--column", "nothing=gold"]) == 2


def test_integers_beyond_64_bits_keep_their_digits_in_files(tmp_path: Path) -> None:
    number = 10**30 + 7
    source = write_rows(tmp_path / "in.jsonl", [{"final_response": str(number), "answer": number}])
    with source.open("a") as stream:
        stream.write(f'{{"final_response": "1", "answer": {"9" * 5000}}}\n')
    report = score_file(source, ["math_equal_reward"], tmp_path / "out.jsonl")
    counts = report.rewards["math_equal_reward"]
    assert (counts.mean, counts.abstained) == (1.0, {"bad_reference": 1})
