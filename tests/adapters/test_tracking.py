"""Signals of a reward while it trains: what is computed, when an alert begins, where it is sent."""

import asyncio
import json
import pickle
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import assay
from assay.adapters import trl, verifiers, verl
from assay.errors import BadParameter, MissingExtra

ROOT = Path(__file__).parents[2]
FILES = ROOT / "tests" / "data" / "tracking"
ALERTS = [
    f"alert/{name}" for name in ("abstentions_rose", "longer_for_more", "one_answer_dominates")
]
TRL = ROOT / ".venv-trainers" / "trl"
"""An environment with TRL and the three tools; `make trainer-trl` sets it up."""


class Recorder:
    """A writer that keeps what it is sent."""

    def __init__(self) -> None:
        self.steps: dict[int, dict[str, float]] = {}
        self.all: list[dict[str, float]] = []
        self.worst: list[Mapping[str, Any]] = []
        self.alerts: list[tuple[int, str, str]] = []
        self.closed = 0

    def write(
        self, step: int, metrics: Mapping[str, float], worst: Sequence[Mapping[str, Any]]
    ) -> None:
        self.steps[step] = dict(metrics)
        self.all.append(dict(metrics))
        self.worst = list(worst)

    def alert(self, step: int, title: str, text: str) -> None:
        self.alerts.append((step, title, text))

    def close(self) -> None:
        self.closed += 1


def noted(tracker: Any, *rows: tuple[float | None, str, int]) -> dict[str, float]:
    for value, response, group in rows:
        score = (
            assay.Abstained("grader_error", "it raised")
            if value is None
            else assay.Scored(value, "why", {"acc": value})
        )
        tracker.note(score, response=response, group=group, reward="r")
    return {name.removeprefix("assay/r/"): value for name, value in tracker.step().items()}


def test_a_step_says_what_its_rows_say() -> None:
    tracker = assay.track(writer := Recorder(), first=1, worst=2)
    numbers = noted(tracker, (1.0, "aa", 1), (0.0, "b", 1), (0.5, "cc", 2), (0.5, "ccc", 2))
    assert numbers == {
        "reward": 0.5,
        "reward_deviation": pytest.approx(0.125**0.5),
        "abstained": 0.0,
        "flat_groups": 0.5,
        "length": 2.0,
        "top_answer_share": 0.25,
        "rows": 4.0,
        "parts/acc": 0.5,
        **dict.fromkeys(ALERTS, 0.0),
    }
    assert writer.worst[0] == {"reward": "r", "score": 0.0, "because": "why", "response": "b"}
    assert writer.worst[1]["response"] == "cc"
    later = noted(tracker, (None, "x", 1), (1.0, "yyy", 2))
    assert later["abstained"] == later["abstained/grader_error"] == 0.5
    assert later["drift/reward"] == later["drift/abstained"] == 0.5
    assert later["drift/length"] == 0.0
    assert later["drift/parts/acc"] == 0.5
    assert "flat_groups" not in later
    assert writer.worst[0]["score"] is None
    assert tracker.step() == {}


def test_alerts_begin_once_and_say_what_they_may_mean() -> None:
    tracker = assay.track(writer := Recorder(), first=2)
    for _ in range(2):
        noted(tracker, *((0.2, f"{number}" * 4, number) for number in range(10)))
    for _ in range(7):
        long = ((0.9, f"{number}" * 40, number) for number in range(8))
        noted(tracker, *long, (None, "?", 8), (None, "!", 9))
    for _ in range(2):
        noted(tracker, *((0.9, "same", number) for number in range(10)))
    assert [alert.name for alert in tracker.alerts] == [
        "abstentions_rose",
        "longer_for_more",
        "one_answer_dominates",
    ]
    assert [alert.step for alert in tracker.alerts] == [7, 7, 10]
    assert "20% of the latest rows have no score, 0% of the first" in tracker.alerts[0].text
    assert "grader_error 20%" in tracker.alerts[0].text
    assert "reward 0.20 to 0.90 while responses grew" in tracker.alerts[1].text
    assert "100% of 10 responses to 10 prompts are 'same'" in tracker.alerts[2].text
    assert writer.steps[11]["assay/r/alert/one_answer_dominates"] == 1.0
    assert len(writer.alerts) == 3


def test_one_prompt_that_has_one_answer_is_no_alert() -> None:
    tracker = assay.track(Recorder(), first=1)
    noted(tracker, *((1.0, "4", 1) for _ in range(16)))
    noted(tracker, *((1.0, "4", number) for number in range(7)))
    assert tracker.alerts == []


def test_the_rewards_of_adapters_are_watched_and_give_the_same_numbers() -> None:
    writer = Recorder()
    with assay.track(writer) as tracker:
        reward = trl.reward("math_equal_reward", answer="solution")
        batch: dict[str, Any] = {
            "prompts": ["1+1?"] * 2 + ["1+2?"] * 2,
            "completions": ["2", "3", "3", "3"],
            "solution": ["2", "2", "3", None],
        }
        watched = tracker.watch(reward)
        assert watched(**batch) == reward(**batch) == [1.0, 0.0, 1.0, None]
        assert watched.__name__ == "math_equal_reward"
        compute_score = tracker.watch(verl.reward("qa_f1_reward"))
        assert compute_score("qa", "Paris", "Paris", {"index": 1})["score"] == 1.0
    name = "assay/math_equal_reward"
    assert writer.steps[1][f"{name}/abstained"] == 0.25
    assert writer.steps[1][f"{name}/flat_groups"] == 0.0
    assert writer.steps[1]["assay/qa_f1_reward/reward"] == 1.0
    assert writer.closed == 1


def test_a_watched_reward_of_verifiers_keeps_its_marks() -> None:
    tracker = assay.track(Recorder())
    watched = tracker.watch(verifiers.reward("math_equal_reward", weight=2.0))
    assert vars(watched)["_vf_weight"] == 2.0
    assert asyncio.iscoroutinefunction(watched)


@dataclass
class TrainerState:
    """What TRL's trainer passes to a callback."""

    global_step: int


def test_the_callback_ends_steps_and_keeps_evaluations_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transformers = ModuleType("transformers")
    vars(transformers)["TrainerCallback"] = object
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    writer = Recorder()
    tracker = assay.track(writer, first=1)
    callback = tracker.callback()
    for step, value in ((10, 0.0), (20, 1.0)):
        tracker.note(assay.Scored(value), reward="r")
        callback.on_step_end(None, TrainerState(step), None)
        tracker.note(assay.Scored(0.5), reward="r")
        callback.on_evaluate(None, TrainerState(step), None)
    assert list(writer.steps) == [10, 20]
    assert writer.all[0]["assay/r/reward"] == 0.0
    assert writer.all[1]["assay/eval/r/reward"] == 0.5
    assert writer.all[2]["assay/r/drift/reward"] == 1.0
    assert writer.all[3]["assay/eval/r/drift/reward"] == 0.0


def test_a_step_ends_by_itself_where_a_trainer_has_no_callback() -> None:
    writer = Recorder()
    tracker = assay.track(writer, every=4)
    compute_score = tracker.watch(verl.reward("qa_f1_reward", name="answers"))
    for index in range(10):
        compute_score("qa", "Paris", "Paris" if index % 2 else "Rome", {"index": index // 2})
    assert list(writer.steps) == [1, 2]
    assert writer.steps[2]["assay/answers/rows"] == 4.0
    tracker.close()
    tracker.close()
    assert writer.steps[3]["assay/answers/rows"] == 2.0
    assert writer.closed == 1


async def score_group(function: Any, answers: list[str]) -> list[float]:
    count = len(answers)
    numbers: list[float] = await function(
        completions=[[{"role": "assistant", "content": answer}] for answer in answers],
        prompts=["?"] * count,
        answers=["4"] * count,
        states=[{} for _ in answers],
        infos=[{}] * count,
    )
    return numbers


def test_a_group_of_verifiers_is_tracked_as_one() -> None:
    writer = Recorder()
    with assay.track(writer) as tracker:
        function = tracker.watch(verifiers.group_function("math_equal_reward"))
        assert asyncio.run(score_group(function, ["4", "5", "4", "4"])) == [1.0, 0.0, 1.0, 1.0]
        assert asyncio.run(score_group(function, ["5", "5"])) == [0.0, 0.0]
    assert writer.steps[1]["assay/math_equal_reward/reward"] == 0.5
    assert writer.steps[1]["assay/math_equal_reward/flat_groups"] == 0.0


def test_what_follows_a_thought_is_the_answer_and_a_long_text_is_not_kept() -> None:
    writer = Recorder()
    tracker = assay.track(writer, answer=lambda text: text.split("=")[1])
    for number in range(8):
        tracker.note(assay.Scored(1.0), response=f"{number}=7", group=number, reward="r")
    tracker.note(assay.Scored(0.0), response="x" * 1_000_000, group=9, reward="r")
    numbers = tracker.step()
    assert numbers["assay/r/top_answer_share"] == pytest.approx(8 / 9)
    assert numbers["assay/r/length"] > 100_000
    assert len(writer.worst[0]["response"]) == 500
    thinking = assay.track(Recorder())
    for number in range(8):
        response = f"<think>{number}</think> 7"
        thinking.note(assay.Scored(1.0), response=response, group=number, reward="r")
    thinking.step()
    assert [alert.name for alert in thinking.alerts] == ["one_answer_dominates"]


def test_a_tool_that_fails_ends_no_training(caplog: pytest.LogCaptureFixture) -> None:
    class Full(Recorder):
        def write(self, *_: Any) -> None:
            raise OSError("no space left on device")

    working = Recorder()
    tracker = assay.track(Full(), working)
    for _ in range(3):
        tracker.note(assay.Scored(1.0), reward="r")
        tracker.step()
    assert len(working.steps) == 3
    failures = [record.getMessage() for record in caplog.records]
    assert failures == [
        "Full failed (OSError: no space left on device); nothing more is sent there"
    ]


def test_of_several_ranks_the_first_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    writer = Recorder()
    tracker = assay.track(writer)
    tracker.note(assay.Scored(1.0), reward="r")
    assert tracker.step()["assay/r/reward"] == 1.0
    assert writer.steps == {}


def test_what_cannot_be_tracked_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(BadParameter, match="did you mean 'wandb'"):
        assay.track("wanb")
    with pytest.raises(BadParameter, match=r"first=0, worst=3, every=None; the minimums are 1"):
        assay.track(first=0)
    with pytest.raises(BadParameter, match=r"is not the reward function of an adapter"):
        assay.track().watch(len)
    with pytest.raises(BadParameter, match=r"phase='test'; choose '' or 'eval'"):
        assay.track().step(phase="test")
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(assay.track())


@pytest.mark.parametrize("tool", ["tensorboard", "wandb", "trackio"])
def test_a_tool_that_is_not_installed_is_named(tool: str, tmp_path: Path) -> None:
    opened = Recorder()
    with pytest.raises(MissingExtra, match=f"install {tool} in this environment"):
        assay.track(opened, tool, folder=tmp_path)
    assert opened.closed == 1


def sent() -> dict[str, Any]:
    """What the tracker sent in a run of examples/trainers/trl_tracking.py."""
    content: dict[str, Any] = json.loads((FILES / "sent.json").read_text())
    assert content["alerts"] == ["math_equal_reward: one_answer_dominates"]
    return content


def metrics_sent() -> list[dict[str, float]]:
    return [
        {name: value for name, value in step.items() if name != "assay/step"}
        for step in sent()["steps"]
    ]


# The three tools are not installed where these tests run, so the next three read the files that
# the tools wrote by what is known of their formats; the fourth asks the tools themselves.


def test_trackio_was_sent_what_is_in_its_database() -> None:
    file = FILES / "trackio" / "sums.db"
    with closing(sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True)) as database:
        rows = [json.loads(row[0]) for row in database.execute("SELECT metrics FROM metrics")]
        alerts = [row[0] for row in database.execute("SELECT title FROM alerts")]
    pairs = zip(rows, metrics_sent(), strict=True)
    assert [{name: row[name] for name in step} for row, step in pairs] == metrics_sent()
    assert alerts == sent()["alerts"]
    assert [row["response"] for row in sent()["worst"]] == [
        row["response"] for row in rows[-1]["assay/worst"]["_value"]
    ]


def test_tensorboard_was_sent_what_is_in_its_events() -> None:
    (file,) = FILES.glob("tensorboard/sums/events.out.tfevents.*")
    data = file.read_bytes()
    frames = []
    while data:
        (size,) = struct.unpack_from("<Q", data)
        frames.append(data[12 : 12 + size])
        data = data[16 + size :]
    numbers = [frame for frame in frames if b"assay/math_equal_reward/reward" in frame]
    for frame, step in zip(numbers, metrics_sent(), strict=True):
        for name, value in step.items():
            tag = name.encode()
            assert b"\n" + bytes([len(tag)]) + tag + b"\x15" + struct.pack("<f", value) in frame
    assert sum(b"assay/worst" in frame for frame in frames) == len(numbers)
    assert sum(sent()["alerts"][0].encode() in frame for frame in frames) == 1


def log_records(data: bytes) -> Iterator[bytes]:
    """The records of a .wandb file: LevelDB's log format, after a header of 7 bytes."""
    block, full, last = 32_768, 1, 4
    place, record = 7, b""
    while place + 7 <= len(data):
        if block - place % block < 7:
            place += block - place % block
        _, size, kind = struct.unpack_from("<IHB", data, place)
        record += data[place + 7 : place + 7 + size]
        place += 7 + size
        if kind in (full, last):
            yield record
            record = b""


def test_wandb_was_sent_what_is_in_its_log() -> None:
    (file,) = FILES.glob("wandb/offline-run-*/*.wandb")
    records = list(log_records(file.read_bytes()))
    # A record is its number, of one byte here, and then its content: field 2 is a history.
    history = [record for record in records if record[2] == 0x12]
    for record, step in zip(history, sent()["steps"], strict=True):
        for name, value in step.items():
            # A field of the key, then one of the number as JSON, each with its length.
            place = record.index(name.encode() + b"\x82\x01") + len(name) + 2
            assert json.loads(record[place + 1 : place + 1 + record[place]]) == value
    assert sum(sent()["alerts"][0].encode() in record for record in records) == 1


@pytest.mark.skipif(
    not any(TRL.glob("lib/python*/site-packages/trackio")),
    reason="`make trainer-trl` installs TensorBoard, W&B and Trackio",
)
def test_the_tools_own_readers_read_what_was_sent() -> None:
    call = [str(TRL / "bin/python"), str(ROOT / "examples/trainers/read_tracking.py"), str(FILES)]
    output = subprocess.run(call, check=True, capture_output=True, text=True, timeout=300).stdout
    content = json.loads(next(line for line in output.splitlines() if line.startswith("{")))
    assert sorted(content) == ["tensorboard", "trackio", "wandb"]
    for read in content.values():
        for name in {name for step in metrics_sent() for name in step}:
            values = [step[name] for step in metrics_sent() if name in step]
            assert read["numbers"][name] == pytest.approx(values)
        assert all(row["because"] in str(read["worst"]) for row in sent()["worst"])
        assert len(read["alerts"]) == 1
        assert sent()["alerts"][0] in read["alerts"][0]
