"""Attempts that were acknowledged survive; one writer at a time; nothing hostile gets out."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import BadRecord, ResourceError
from assay.formats.lines import dump_json, load_record
from assay.ledger.layout import attempt_number, attempt_stem
from assay.ledger.run import Run
from assay.ledger.writer import LineAppender, RunWriter
from assay.schema.episode import Episode, Step, Trajectory
from assay.schema.message import Message
from assay.schema.task import Task
from tests.ledger.example import MANIFEST, WEATHER, episode, write_example

VICTIM = """
import sys
from pathlib import Path
from assay.ledger.writer import RunWriter
from assay.schema.episode import Episode, Step, Trajectory
from assay.schema.task import Task

with RunWriter.open(Path(sys.argv[1])) as writer:
    for number in range(100_000):
        task = Task(id=f"task {number}")
        steps = tuple(Step(index=i, action="x" * 50) for i in range(3))
        attempt = writer.new_attempt(task)
        future = writer.submit(
            Episode(attempt=attempt, task=task, trajectory=Trajectory(steps=steps),
                    final_response="y" * 3_000))
        if number % 3 == 0:
            future.result()
            print(attempt, flush=True)
"""


@pytest.mark.parametrize("acknowledged", [1, 7, 40])
def test_a_killed_writer_loses_no_attempt_that_it_acknowledged(
    acknowledged: int, tmp_path: Path
) -> None:
    RunWriter.create(tmp_path, MANIFEST).close()
    folder = tmp_path / MANIFEST.run_id
    with subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(folder)], stdout=subprocess.PIPE, text=True
    ) as victim:
        assert victim.stdout is not None
        promised = [victim.stdout.readline().strip() for _ in range(acknowledged)]
        os.kill(victim.pid, signal.SIGKILL)
        promised += victim.stdout.read().split()
    with RunWriter.open(folder) as writer:
        again = writer.new_attempt(Task(id="task 0"))
        writer.append(episode(again, Task(id="task 0")))
    run = Run(folder)
    attempts = [each.attempt for each in run.episodes(full=True)]
    assert set(promised) <= set(attempts)
    assert len(set(attempts)) == len(attempts)
    assert again == attempt_stem("task 0", 0) + ".a2"
    assert [each.attempt for each in run.final() if each.task.id == "task 0"] == [again]


@pytest.mark.parametrize("kept_bytes", [1, 100, 70_000])
def test_a_torn_line_is_moved_aside_and_the_run_goes_on(kept_bytes: int, tmp_path: Path) -> None:
    run = write_example(tmp_path)
    path = run.path / "episodes.jsonl"
    whole = path.read_bytes()
    torn = (b'{"schema_id":"assay.run/1","final_response":"' + b"x" * 100_000)[:kept_bytes]
    path.write_bytes(whole + torn)
    with RunWriter.open(run.path) as writer:
        assert writer.recovered is not None
        assert writer.recovered.read_bytes() == torn
        assert path.read_bytes() == whole
        writer.append(episode("next"))
    assert len(list(Run(run.path).episodes())) == 4
    with RunWriter.open(run.path) as writer:
        assert writer.recovered is None


def test_a_second_writer_is_told_who_the_first_one_is(tmp_path: Path) -> None:
    with (
        RunWriter.create(tmp_path, MANIFEST) as writer,
        pytest.raises(ResourceError, match=f"written by process {os.getpid()} on"),
    ):
        RunWriter.open(writer.path)
    RunWriter.open(writer.path).close()


def test_a_run_id_that_is_taken_is_refused(tmp_path: Path) -> None:
    write_example(tmp_path)
    with pytest.raises(BadRecord, match="already exists"):
        RunWriter.create(tmp_path, MANIFEST)


def test_attempts_that_wait_together_share_an_fsync(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    gate = threading.Event()
    entered = threading.Event()

    def hold() -> tuple[Path, ...]:
        entered.set()
        gate.wait()
        return ()

    group = LineAppender(path, unsynced=hold)
    first = group.submit(b"first\n")
    entered.wait()
    rest = [group.submit(f"{number}\n".encode()) for number in range(500)]
    assert not first.done()
    gate.set()
    for future in rest:
        future.result()
    group.close()
    assert group.batches == 2
    assert path.read_bytes().splitlines() == [b"first", *(str(n).encode() for n in range(500))]


def test_an_attempt_is_not_finished_before_its_fsync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    fsync = os.fsync

    def spy(descriptor: int) -> None:
        calls.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        fsync(descriptor)

    with RunWriter.create(tmp_path, MANIFEST) as writer:
        monkeypatch.setattr(os, "fsync", spy)
        page = writer.artifact("a page")
        steps = (Step(index=0, action="", observation=page),)
        writer.append(Episode(attempt="one", task=WEATHER, trajectory=Trajectory(steps=steps)))
        done = list(calls)
    assert {page, "one.jsonl"} < set(done)
    assert done[-1] == "episodes.jsonl"
    assert done.count("episodes.jsonl") == 1


def test_many_tasks_of_an_event_loop_finish_attempts_at_once(tmp_path: Path) -> None:
    async def play(writer: RunWriter, number: int) -> None:
        task = Task(id=str(number))
        await writer.finish(episode(writer.new_attempt(task), task))

    async def play_all(writer: RunWriter) -> None:
        await asyncio.gather(*(play(writer, number) for number in range(200)))

    with RunWriter.create(tmp_path, MANIFEST) as writer:
        asyncio.run(play_all(writer))
    assert {each.task.id for each in Run(writer.path).final()} == set(map(str, range(200)))


def test_cancelling_the_wait_does_not_undo_the_attempt(tmp_path: Path) -> None:
    async def cancel(writer: RunWriter) -> None:
        waiting = asyncio.ensure_future(writer.finish(episode("one")))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    with RunWriter.create(tmp_path, MANIFEST) as writer:
        asyncio.run(cancel(writer))
    assert Run(writer.path).episode("one").attempt == "one"


def test_threads_get_different_attempts(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, MANIFEST) as writer:

        def play() -> None:
            for _ in range(20):
                writer.append(episode(writer.new_attempt(WEATHER)))

        threads = [threading.Thread(target=play) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len({each.attempt for each in Run(writer.path).episodes()}) == 80


def test_a_full_disk_fails_all_who_wait_and_leaves_no_half_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def full(file: int, data: bytes) -> int:
        write(file, bytes(data[:10]))
        raise OSError(28, "No space left on device")

    with RunWriter.create(tmp_path, MANIFEST) as writer:
        writer.append(episode("one"))
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(ResourceError, match="No space left"):
            writer.append(episode("two"))
        monkeypatch.undo()
        with pytest.raises(ResourceError, match="open the run again"):
            writer.append(episode("three"))
    with RunWriter.open(writer.path) as again:
        assert again.recovered is None
        again.append(episode("two"))
    assert [each.attempt for each in Run(writer.path).episodes()] == ["one", "two"]


def test_an_attempt_is_finished_once(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        writer.append(episode("one"))
        with pytest.raises(BadRecord, match="use a new attempt id for a retry"):
            writer.append(episode("one"))
    with (
        RunWriter.open(writer.path) as writer,
        pytest.raises(BadRecord, match="use a new attempt id for a retry"),
    ):
        writer.append(episode("one"))
    writer.close()
    with pytest.raises(ResourceError, match="is closed"):
        writer.append(episode("two"))


def test_an_attempt_that_was_killed_keeps_its_number_and_its_steps(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        killed = writer.new_attempt(WEATHER)
        writer.steps(killed).write(Step(index=0, action=""))
    with RunWriter.open(writer.path) as again:
        assert again.new_attempt(WEATHER) == killed.replace(".a1", ".a2")
    run = Run(writer.path)
    assert run.unfinished() == (killed,)
    assert len(run.steps(killed)) == 1


def test_steps_that_contradict_the_episode_are_refused(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        writer.steps("one")
        trajectory = Trajectory(steps=(Step(index=0, action=""),))
        with pytest.raises(BadRecord, match="has 1 recorded steps, but 0 steps were written"):
            writer.append(Episode(attempt="one", task=WEATHER, trajectory=trajectory))


HOSTILE_IDS = [
    ("../../etc/passwd", "a path upwards"),
    ("/etc/passwd", "an absolute path"),
    ("a\x00b\nc", "control characters"),
    ("\udfff\ud800", "lone surrogates"),
    ("x" * 10_000, "ten thousand letters"),
    ("日本語のタスク", "no ASCII at all"),
    ("", "nothing"),
    (".", "a dot"),
    ("CON", "a reserved name elsewhere"),
    ("a" * 39 + "-" + "b", "a slug cut at its dash"),
    ("-rf", "an option"),
]


@pytest.mark.parametrize(("task_id", "why"), HOSTILE_IDS)
def test_a_hostile_task_id_makes_a_safe_attempt_id(task_id: str, why: str, tmp_path: Path) -> None:
    task = Task(id=task_id)
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        attempt = writer.new_attempt(task)
        steps = (Step(index=0, action=""),)
        writer.append(Episode(attempt=attempt, task=task, trajectory=Trajectory(steps=steps)))
    assert (writer.path / "steps" / f"{attempt}.jsonl").is_file(), why
    assert len(attempt) < 80
    assert Run(writer.path).episode(attempt).task.id == task_id


@given(st.text(max_size=60), st.integers(0, 10_000), st.integers(1, 999_999_999))
def test_an_attempt_id_says_which_one_it_is(task_id: str, repeat: int, number: int) -> None:
    stem = attempt_stem(task_id, repeat)
    assert attempt_number(f"{stem}.a{number}") == (stem, number)
    assert stem == stem.lower()
    assert stem.isascii()


@pytest.mark.parametrize("attempt", ["", "../x", "a/b", "a\nb", ".hidden", "x" * 300])
def test_an_unsafe_attempt_id_is_refused(attempt: str, tmp_path: Path) -> None:
    with (
        RunWriter.create(tmp_path, MANIFEST) as writer,
        pytest.raises(BadRecord, match="not safe"),
    ):
        writer.append(episode("x").model_copy(update={"attempt": attempt}))


def test_ten_megabytes_of_hostile_answer_survive_byte_for_byte(tmp_path: Path) -> None:
    answer = ("\x00\x1b[2J\x9b\u2028\r\n\ud800é\U0001f600" * 1_200_000)[: 10 * 2**20]
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        message = Message(role="assistant", content=answer)
        writer.append(
            Episode(
                attempt="one",
                task=WEATHER,
                trajectory=Trajectory(messages=(message,)),
                final_response=answer,
            )
        )
        writer.append(episode("two"))
    assert (writer.path / "episodes.jsonl").read_bytes().isascii()
    run = Run(writer.path)
    recorded = run.episode("one")
    assert recorded.final_response == answer
    assert recorded.trajectory.messages[0].content == answer
    assert run.episode("two").final_response == "14.2"


TEXT = st.text(st.characters(codec=None, exclude_categories=[]), max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXT, JSON, max_size=4))
def test_json_values_come_back_as_they_went_in(record: dict[str, object]) -> None:
    merged = json.loads(json.dumps(record, allow_nan=True))
    line = dump_json(record)
    assert line.isascii()
    assert b"\n" not in line
    finite = json.loads(line)
    assert finite == _without_infinity(merged)
    assert load_record(line) == finite


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18446744073709551616", 2**64),
        ("-123456789012345678901234567890", -123456789012345678901234567890),
        (r'"\ud800"', "\ud800"),
        (r'"\ud83d\ude00 1234567890123456789012"', "😀 1234567890123456789012"),
    ],
    ids=["beyond 64 bits", "below 64 bits", "half a pair", "digits in a text"],
)
def test_a_line_is_read_exactly_where_a_quick_reader_would_round_or_refuse(
    text: str, value: object
) -> None:
    assert load_record(f'{{"value": {text}}}'.encode()) == {"value": value}


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "1,", '"a', "1 2", "", "\ufeff1"])
def test_a_line_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(BadRecord, match="not JSON"):
        load_record(f'{{"value": {text}}}'.encode())


def _without_infinity(value: object) -> object:
    if isinstance(value, float):
        return value if abs(value) != float("inf") else None
    if isinstance(value, dict):
        return {key: _without_infinity(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_infinity(item) for item in value]
    return value


@pytest.mark.parametrize(
    ("value", "written", "why"),
    [
        (float("nan"), b"null", "NaN has no JSON form"),
        ({"a": [float("inf"), 1.5]}, b'{"a":[null,1.5]}', "nor has infinity, at any depth"),
        ({(1, 2): 1}, b'{"(1, 2)":1}', "a key is text"),
        ({2, 1}, b"[1,2]", "a set is a list in a fixed order"),
        (Path("a/b"), b'"a/b"', "a path is its text"),
        (b"\xff", b"\"b'\\\\xff'\"", "anything else is its repr"),
        (2**80, str(2**80).encode(), "whole numbers of any size"),
    ],
)
def test_a_value_without_a_json_form_is_written_as_the_nearest(
    value: object, written: bytes, why: str
) -> None:
    assert dump_json(value) == written, why


def test_a_value_nested_beyond_reason_is_refused() -> None:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(BadRecord, match="too many nested levels"):
        dump_json(nested)


def test_no_secret_is_in_any_file_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, word = "sk-0123456789/abcdef", "a password of the lab"
    monkeypatch.setenv("LAB_API_KEY", key)
    options = {"environment": {"lab": word}, "base_url": f"https://me:{word[:10]}x@host/v1"}
    manifest = MANIFEST.model_copy(update={"config": {"agent": {"model_options": options}}})
    escaped = "".join(f"\\u{ord(char):04x}" for char in key)
    with RunWriter.create(tmp_path, manifest, secrets=[word]) as writer:
        artifact = writer.artifact(f"a page with {key} in it")
        step = Step(index=1, action=f"type({word!r})", observation=artifact, think=escaped)
        for number, size in enumerate((1, 9_000)):
            text = f"{key} {word} {escaped} " + "." * size
            messages = (Message(role="assistant", content=text),)
            trajectory = Trajectory(messages=messages, steps=(step,))
            attempt = episode(f"a{number}", answer=text)
            writer.append(attempt.model_copy(update={"trajectory": trajectory}))
    for path in writer.path.rglob("*"):
        if path.is_file():
            content = path.read_text()
            for secret in (key, word, escaped, escaped.replace("\\", "\\\\"), word[:10] + "x"):
                assert secret not in content, path
    run = Run(writer.path)
    assert [len(e.trajectory.steps) for e in run.episodes(full=True)] == [1, 1]
    assert run.text(artifact) == "a page with [secret] in it"
    shown = run.manifest.config["agent"]["model_options"]
    assert shown == {"environment": {"lab": "[secret]"}, "base_url": "https://[secret]@host/v1"}


def test_a_secret_that_an_older_run_holds_is_not_shown(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        writer.append(episode("a"))
    path = writer.path / "manifest.json"
    fields = json.loads(path.read_text())
    fields["config"] = {"agent": {"options": {"api_key": "sk-old"}}}
    path.write_text(json.dumps(fields))
    assert Run(writer.path).manifest.config == {"agent": {"options": {"api_key": "[secret]"}}}


def test_the_folders_of_artifacts_are_on_the_disk_before_the_attempt_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        monkeypatch.setattr("assay.resources.files.sync", synced.append)
        sha256 = writer.artifact("a page")
        writer.append(episode("a"))
    artifacts = writer.path / "artifacts"
    assert {artifacts / sha256[:2], artifacts, writer.path} <= set(synced)


def test_a_file_system_without_locks_is_an_error_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(ResourceError, match=r"cannot be locked: No locks available; .* local disk"):
        RunWriter.create(tmp_path, MANIFEST)
