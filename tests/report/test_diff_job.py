"""Two rewards over the same rows: every change is counted once, whoever does the work."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from assay.errors import BadParameter, BadRecord, MissingParameter, UnknownName
from assay.report.diff_job import diff_rewards
from assay.report.reward_diff import DiffGate, RewardDiff
from assay.schema.score import Abstained, Scored
from assay.scoring.scorer import Scorer
from tests.report.ledgers import write_run
from tests.runner.rewards_for_tests import exact, length, lenient


def row(number: int, response: str, answer: str = "a") -> dict[str, Any]:
    return {"id": number, "prompt_id": number // 4, "final_response": response, "answer": answer}


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def sample(number: int = 400) -> list[dict[str, Any]]:
    texts = ("a", "A", "b", "raise", " a ")
    return [row(index, texts[index * 7 % 5]) for index in range(number)]


def test_every_change_is_counted_by_its_kind(tmp_path: Path) -> None:
    def old(final_response: str) -> Any:
        return Abstained("silent", "nothing") if final_response == "?" else len(final_response)

    def new(final_response: str) -> Any:
        if final_response == "!":
            raise ValueError("told to")
        return {"?": Scored(0.5, "now known"), "??": 1.25, "??" * 9: 99.0}.get(
            final_response, float(len(final_response))
        )

    texts = ("?", "!", "??", "??" * 9, "same", "same")
    data = write(tmp_path / "in.jsonl", [*({"final_response": text} for text in texts), 7])
    diff = diff_rewards(old, new, data)
    assert diff.counts.changes == {
        "scored_to_abstained": 1, "down": 1, "abstained_to_scored": 1, "up": 1,
        "other_abstention": 0,
    }  # fmt: skip
    assert (diff.rows, diff.moved, diff.counts.errors) == (7, 4, 1)
    assert diff.counts.sizes["down"] == [0, 0, 0, 1, 0]
    assert diff.counts.sizes["up"] == [0, 0, 0, 0, 1]
    # What takes something from a row comes first.
    assert [kind.change for kind in diff.kinds] == [
        "scored_to_abstained", "down", "abstained_to_scored", "up",
    ]  # fmt: skip
    example = diff.kinds[0].examples[0]
    assert (example.line, example.response, example.old.value) == (2, "!", 1.0)
    assert example.new.abstained == "grader_error"
    assert "told to" in example.new.because


def test_the_result_depends_on_neither_workers_nor_shards(tmp_path: Path) -> None:
    data = write(tmp_path / "in.jsonl", sample())
    records, files = [], []
    for name, workers, shard_bytes in (("a", 1, 4_000), ("b", 2, 4_000), ("c", 1, 10**6)):
        out = tmp_path / f"{name}.jsonl"
        diff = diff_rewards(
            exact, lenient, data, group="prompt_id", out=out, workers=workers,
            shard_bytes=shard_bytes,
        )  # fmt: skip
        record = json.loads(json.dumps(diff.to_record()))
        for kind in record["kinds"]:
            for each in kind["examples"]:
                del each["shard"]
        for examples in record["groups"]["examples"].values():
            for each in examples:
                del each["shard"]
        records.append(record)
        files.append(out.read_bytes())
        assert not out.with_name(f"{out.name}.partial").exists()
    assert records[0] == records[1] == records[2]
    assert files[0] == files[1] == files[2]
    assert records[0]["groups"]["groups"] == 100
    changed = [json.loads(line) for line in files[0].splitlines()]
    assert len(changed) == records[0]["moved"] == 160
    assert changed[0] == {
        "file": str(data), "line": 3, "id": 2, "change": "up",
        "old": {"scorer": "exact@1", "value": 0.0, "because": "", "parts": {}},
        "new": {"scorer": "lenient@1", "value": 1.0, "because": "", "parts": {}},
    }  # fmt: skip


def test_a_job_that_was_stopped_goes_on_and_scores_only_what_is_missing(tmp_path: Path) -> None:
    data, out = write(tmp_path / "in.jsonl", sample()), tmp_path / "out.jsonl"
    whole = diff_rewards(exact, lenient, data, out=tmp_path / "whole.jsonl", shard_bytes=4_000)
    rows_asked = 0

    class Stopped(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done > total // 2:
            raise Stopped

    with pytest.raises(Stopped):
        diff_rewards(exact, lenient, data, out=out, shard_bytes=4_000, progress=stop)
    with pytest.raises(BadRecord, match="--resume continues the job"):
        diff_rewards(exact, lenient, data, out=out, shard_bytes=4_000)
    with pytest.raises(BadRecord, match="its rewards was"):
        diff_rewards(exact, length, data, out=out, shard_bytes=4_000, resume=True)

    def note(done: int, total: int) -> None:
        nonlocal rows_asked
        rows_asked = rows_asked or done

    resumed = diff_rewards(
        exact, lenient, data, out=out, shard_bytes=4_000, resume=True, progress=note
    )
    assert rows_asked > 200
    assert resumed.to_record() == whole.to_record()
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_the_smallest_different_rows_are_shown(tmp_path: Path) -> None:
    texts = [*["A"] * 5, " a ", "a" + " " * 40, "  a"]
    data = write(tmp_path / "in.jsonl", [row(n, text) for n, text in enumerate(texts)])
    (kind,) = diff_rewards(exact, lenient, data).kinds
    assert kind.count == 8
    assert [(each.line, each.response) for each in kind.examples] == [
        (1, "A"), (6, " a "), (8, "  a"),
    ]  # fmt: skip


def test_columns_of_other_names_are_shown(tmp_path: Path) -> None:
    rows = [{"text": "A", "meta": {"gold": "a"}}, {"text": "a", "meta": {"gold": "a"}}]
    columns = {"final_response": "text", "answer": "meta.gold"}
    data = write(tmp_path / "in.jsonl", rows)
    (kind,) = diff_rewards(exact, lenient, data, columns=columns).kinds
    assert [(each.response, each.reference) for each in kind.examples] == [("A", "a")]


def test_rows_of_a_group_may_be_in_several_files_of_a_folder(tmp_path: Path) -> None:
    rows = sample(40)
    folder = tmp_path / "rows"
    folder.mkdir()
    write(folder / "a.jsonl", rows[::2])
    parquet.write_table(pa.Table.from_pylist(rows[1::2]), folder / "b.parquet")
    split = diff_rewards(exact, lenient, folder, group="prompt_id")
    one = diff_rewards(exact, lenient, write(tmp_path / "one.jsonl", rows), group="prompt_id")
    assert split.data == ("a.jsonl", "b.parquet")
    assert split.counts.changes == one.counts.changes
    assert split.groups is not None
    assert one.groups is not None
    counts = ("groups", "flat_old", "flat", "no_longer_flat", "flipped", "inverted", "ties_made")
    assert [getattr(split.groups, name) for name in counts] == [
        getattr(one.groups, name) for name in counts
    ]
    assert split.groups.examples["no_longer_flat"][0].key == "4"


def test_a_group_may_be_named_by_several_columns_and_by_a_path(tmp_path: Path) -> None:
    rows = [{**row(n, "a"), "meta": {"step": n % 2}} for n in range(8)] + [{"final_response": "a"}]
    data = write(tmp_path / "in.jsonl", rows)
    diff = diff_rewards(exact, lenient, data, group=("prompt_id", "meta.step"))
    assert diff.groups is not None
    assert (diff.groups.groups, diff.counts.ungrouped) == (4, 1)
    csv = tmp_path / "in.csv"
    csv.write_text("final_response,answer\na,a\n")
    with pytest.raises(MissingParameter, match="no column 'prompt' to group by; it has: final"):
        diff_rewards(exact, lenient, csv, group="prompt")


def test_the_repeats_of_a_task_are_a_group_of_a_run(tmp_path: Path) -> None:
    write_run(tmp_path, "one-1", {"task.0": [1.0, 0.0], "task.1": [1.0, 1.0]})
    write_run(tmp_path, "two-2", {"task.0": [1.0, 0.0]})
    diff = diff_rewards(length, exact, tmp_path)
    assert diff.data == ("one-1", "two-2")
    assert diff.group == ("run_id", "task_id")
    assert diff.rows == 6
    assert diff.groups is not None
    assert diff.groups.groups == 3
    assert diff_rewards(length, exact, "one-1", runs_dir=tmp_path).rows == 4
    with pytest.raises(UnknownName, match="no run 'three'"):
        diff_rewards(length, exact, "three", runs_dir=tmp_path)


def test_options_are_compared_as_versions_are(tmp_path: Path) -> None:
    data = write(tmp_path / "in.jsonl", [{"final_response": "yes, they did", "answer": "yes"}])
    hotpot = Scorer("qa_f1_reward", {"mode": "hotpot"})
    diff = diff_rewards("qa_f1_reward", hotpot, data)
    assert (diff.counts.changes["down"], diff.old) == (1, "qa_f1_reward@1")


@pytest.mark.parametrize(
    ("gate", "closed"),
    [
        ("down", 0), ("up", 1), ("up=160", 0), ("up=159", 1), ("moved=40%", 0), ("moved=0.39", 1),
        ("errors", 0), ("no_such", None), ("up=many", None), ("up=-1", None), ("up=200%", None),
    ],
)  # fmt: skip
def test_gates(tmp_path: Path, gate: str, closed: int | None) -> None:
    if closed is None:
        with pytest.raises(BadParameter, match="--fail-on"):
            DiffGate.of(gate)
        return
    diff = diff_rewards(exact, lenient, write(tmp_path / "in.jsonl", sample()))
    assert len(diff.closed([DiffGate.of(gate)])) == closed


def test_a_gate_about_groups_needs_groups(tmp_path: Path) -> None:
    data = write(tmp_path / "in.jsonl", sample(8))
    with pytest.raises(BadParameter, match="add --group COLUMN"):
        diff_rewards(exact, lenient, data).closed([DiffGate.of("flips")])
    grouped = diff_rewards(exact, lenient, data, group="prompt_id")
    assert grouped.closed([DiffGate.of("flips=100%"), DiffGate.of("flat=100%")]) == []


def test_nothing_to_compare_is_said(tmp_path: Path) -> None:
    empty = write(tmp_path / "in.jsonl", [])
    diff = diff_rewards(exact, lenient, empty, group="prompt_id", out=tmp_path / "out.jsonl")
    assert (diff.rows, diff.moved, diff.mean("old")) == (0, 0, None)
    assert isinstance(diff, RewardDiff)
    assert (tmp_path / "out.jsonl").read_bytes() == b""
    with pytest.raises(BadParameter, match=r"give a \.jsonl file"):
        diff_rewards(exact, lenient, empty, out=tmp_path / "out.csv")


def test_the_page_escapes_what_a_model_wrote(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>\u202e\ud800"
    data = write(tmp_path / "in.jsonl", [row(1, hostile, hostile.upper())])
    page = diff_rewards(length, exact, data).to_html()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "\u202e" not in page
    page.encode("utf-8")
