"""A run folder has a fixed layout, and reading it gives back what was written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.errors import BadRecord, UnknownName
from assay.ledger.layout import find_run
from assay.ledger.run import Run
from assay.ledger.steps import StepsWriter, read_steps
from assay.ledger.writer import RunWriter
from assay.resources.context import Context
from assay.schema.episode import Step, StopReason
from assay.schema.manifest import RUN_SCHEMA
from tests.ledger.example import LONG, MANIFEST, PRICES, WEATHER, episode, write_example

GOLDEN = Path(__file__).parent / "golden"


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "writer.lock"
    }


def damage(run: Run, change: Callable[[list[bytes]], list[bytes]]) -> None:
    path = run.path / "episodes.jsonl"
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


def test_a_run_is_written_byte_for_byte_as_the_golden_one(tmp_path: Path) -> None:
    write_example(tmp_path)
    assert contents(tmp_path) == contents(GOLDEN)


def test_the_golden_run_reads_back_whole() -> None:
    run = Run(GOLDEN / MANIFEST.run_id)
    assert run.manifest == MANIFEST
    first, broken, retry = run.episodes(full=True)
    assert first.final_response == "14.3"
    assert float(first.scores[0]) == 0.993
    assert [step.action for step in first.trajectory.steps] == ["", 'click("12")']
    assert run.text(first.trajectory.steps[0].observation) == LONG
    assert broken.failure is not None
    assert retry.trajectory.messages[0]["content"] == LONG
    assert retry.trajectory.steps[1].action == "look\x00\x1b[2J\ud800"
    assert retry.metadata == {"seed": 7, "nothing": None}


def test_a_recorded_episode_gives_a_reward_the_testimony_that_it_needs() -> None:
    retry = Run(GOLDEN / MANIFEST.run_id).episode("prices-strasse-no7-d9d4744f.r0.a2")
    evidence = Context.recorded(retry).evidence("webshop")
    assert evidence.score == 0.5


def test_without_full_the_stream_has_the_totals_but_not_the_steps() -> None:
    first = next(Run(GOLDEN / MANIFEST.run_id).episodes())
    assert first.trajectory.steps == ()
    assert (first.n_steps, first.cum_reward, first.usage.prompt_tokens) == (1, 0.25, 120)


@pytest.mark.parametrize(
    ("endings", "counts", "why"),
    [
        (["answered"], 1, "one attempt is the one that counts"),
        (["env_error", "answered"], 2, "a retry replaces an attempt that the environment ended"),
        (["answered", "env_error"], 1, "a failure of the environment replaces nothing"),
        (["env_error", "env_error"], 2, "of failures the last one stands"),
        (["agent_error", "step_limit"], 2, "otherwise the last one counts, however it ended"),
    ],
)
def test_the_attempt_that_counts(
    endings: list[StopReason], counts: int, why: str, tmp_path: Path
) -> None:
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        for ending in endings:
            writer.append(episode(writer.new_attempt(WEATHER), stop_reason=ending))
        writer.append(episode(writer.new_attempt(WEATHER, 1), repeat=1))
    final = [attempt.attempt for attempt in Run(writer.path).final()]
    assert final == [f"weather-3-e80250c8.r0.a{counts}", "weather-3-e80250c8.r1.a1"], why


def test_a_reader_sees_what_is_appended_after_it_was_opened(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        run = Run(writer.path)
        assert list(run.final()) == []
        writer.append(episode("one"))
        assert [attempt.attempt for attempt in run.final()] == ["one"]
        writer.append(episode("two", PRICES))
        assert run.episode("two").task == PRICES


def test_a_last_line_without_its_end_is_not_read(tmp_path: Path) -> None:
    run = write_example(tmp_path)
    damage(run, lambda lines: [*lines[:2], lines[2][:-1]])
    assert len(list(run.episodes())) == 2


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"\x00\x00\x00\n", "zeros that a power cut left"),
        (b'{"schema_id": "assay.run/1", "attempt"\n', "half a record"),
        (b"[1, 2]\n", "not an object"),
        (b'{"schema_id": "assay.run/1", "attempt": "x"}\n', "an object, but no episode"),
        (b'{"schema_id": "assay.run/9"}\n', "a version from the future"),
        (b'{"schema_id": "assay.run/1", "elapsed_s": NaN}\n', "NaN is not JSON"),
        (b"[" * 100_000 + b"\n", "nested beyond reason"),
        (b"\xff\xfe{}\n", "not UTF-8"),
    ],
)
def test_a_damaged_line_is_named_or_left_out_and_counted(
    line: bytes, why: str, tmp_path: Path
) -> None:
    run = write_example(tmp_path)
    damage(run, lambda lines: [lines[0], line, *lines[1:]])
    with pytest.raises(BadRecord, match="line 2"):
        list(run.episodes())
    with pytest.raises(BadRecord, match="line 2"):
        list(Run(run.path).final())
    lenient = Run(run.path, strict=False)
    assert len(list(lenient.episodes())) == 3, why
    assert len(list(lenient.final())) == 2, why
    assert lenient.problems
    assert all("line 2" in problem for problem in lenient.problems)


def test_a_line_that_repeats_an_attempt_is_damage(tmp_path: Path) -> None:
    run = write_example(tmp_path)
    damage(run, lambda lines: [*lines, lines[0]])
    with pytest.raises(BadRecord, match="line 4: repeats attempt"):
        list(run.final())


def test_an_artifact_is_checked_against_its_hash(tmp_path: Path) -> None:
    run = write_example(tmp_path)
    first = next(run.episodes(full=True))
    sha256 = first.trajectory.steps[0].observation
    (run.path / "artifacts" / sha256[:2] / sha256).write_text("something else")
    with pytest.raises(BadRecord, match="is damaged"):
        run.artifact(sha256)
    with pytest.raises(BadRecord, match="no artifact"):
        run.artifact("0" * 64)
    with pytest.raises(BadRecord, match="not a SHA-256 hash"):
        run.artifact("../../manifest.json")


def test_a_run_that_scored_another_one_again_shows_its_pages(tmp_path: Path) -> None:
    parent = write_example(tmp_path)
    manifest = MANIFEST.model_copy(update={"run_id": "child", "parent": MANIFEST.run_id})
    with RunWriter.create(tmp_path, manifest) as writer:
        for attempt in parent.final(full=True):
            writer.append(attempt)
    child = Run(writer.path)
    page = next(child.episodes(full=True)).trajectory.steps[0].observation
    assert child.text(page) == LONG
    (tmp_path / MANIFEST.run_id).rename(tmp_path / "elsewhere")
    with pytest.raises(BadRecord, match="no artifact"):
        child.text(page)


def test_runs_that_are_each_others_parents_are_no_trap(tmp_path: Path) -> None:
    for name, parent in (("one", "two"), ("two", "one")):
        manifest = MANIFEST.model_copy(update={"run_id": name, "parent": parent})
        RunWriter.create(tmp_path, manifest).close()
    with pytest.raises(BadRecord, match="no artifact"):
        Run(tmp_path / "one").artifact("0" * 64)


def test_steps_that_were_changed_afterwards_are_not_taken_for_the_recorded_ones(
    tmp_path: Path,
) -> None:
    run = write_example(tmp_path)
    attempt = next(run.episodes()).attempt
    path = run.path / "steps" / f"{attempt}.jsonl"
    path.write_bytes(path.read_bytes().replace(b"0.25", b"0.99"))
    with pytest.raises(BadRecord, match="was changed: its hash"):
        run.episode(attempt)
    path.unlink()
    with pytest.raises(BadRecord, match="there is no"):
        run.episode(attempt)


def test_an_attempt_cannot_name_a_file_outside_the_run(tmp_path: Path) -> None:
    run = write_example(tmp_path)
    with pytest.raises(BadRecord, match="not safe"):
        run.steps("../../../etc/passwd")


def test_a_record_of_another_version_is_damage(tmp_path: Path) -> None:
    run = write_example(tmp_path)
    damage(run, lambda lines: [lines[0], b'{"schema_id": "assay.run/0"}\n'])
    lenient = Run(run.path, strict=False)
    assert len(list(lenient.episodes())) == 1
    assert "the record's schema is 'assay.run/0'" in lenient.problems[0]
    assert len(lenient.problems) == 1
    assert lenient.manifest == MANIFEST
    with pytest.raises(BadRecord, match="version of Assay reads"):
        list(Run(run.path).episodes())
    for path in [run.path / "manifest.json", *run.path.rglob("*.jsonl")]:
        path.write_text(path.read_text().replace("assay.run/1", "assay.run/0"))
    with pytest.raises(BadRecord, match="version of Assay reads"):
        Run(run.path)
    with pytest.raises(BadRecord, match=r"line 1: the record's schema"):
        lenient.steps("weather-3-e80250c8.r0.a1")


def test_a_bare_script_writes_the_same_steps_as_a_run(tmp_path: Path) -> None:
    steps = (Step(index=0, action=""), Step(index=1, action="look", reward=0.5))
    with StepsWriter(tmp_path / "alone.jsonl") as alone:
        for step in steps:
            alone.write(step)
    with RunWriter.create(tmp_path, MANIFEST) as writer, writer.steps("one") as streamed:
        for step in steps:
            streamed.write(step)
    assert tuple(read_steps(tmp_path / "alone.jsonl")) == steps
    assert alone.path.read_bytes() == streamed.path.read_bytes()
    with pytest.raises(BadRecord, match="steps of an attempt"):
        StepsWriter(tmp_path / "alone.jsonl")


def test_a_damaged_step_is_named(tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    path.write_text(json.dumps({"schema_id": RUN_SCHEMA, "index": "x"}) + "\n")
    with pytest.raises(BadRecord, match="line 1"):
        list(read_steps(path))


def test_a_folder_without_a_manifest_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(BadRecord, match="it has no manifest"):
        Run(tmp_path)


def test_a_run_is_found_by_path_by_id_and_by_a_clear_beginning(tmp_path: Path) -> None:
    run = write_example(tmp_path)
    other = MANIFEST.model_copy(update={"run_id": "20260330-020804-2881e2"})
    RunWriter.create(tmp_path, other).close()
    assert find_run(run.path) == run.path
    assert find_run(MANIFEST.run_id, tmp_path) == run.path
    assert find_run("20260329", tmp_path) == run.path
    with pytest.raises(UnknownName, match="may mean any of"):
        find_run("2026", tmp_path)
    with pytest.raises(UnknownName, match="no run 'x'"):
        find_run("x", tmp_path)
