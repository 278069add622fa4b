"""Signals of a reward while it trains: what is computed, when an alert begins, where it is sent."""

import asyncio
import json
import pickle
import sqlite3
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.adapters import trl, verifiers, verl
from assay.errors import BadParameter, MissingExtra

FILES = Path(__file__).parents[1] / "data" / "tracking"


class Recorder:
    """A writer that keeps what it is sent."""

    def __init__(self) -> None:
        self.steps: dict[int, dict[str, float]] = {}
        self.worst: list[Mapping[str, Any]] = []
        self.alerts: list[tuple[int, str, str]] = []
        self.is_closed = False

    def write(
        self, step: int, metrics: Mapping[str, float], worst: Sequence[Mapping[str, Any]]
    ) -> None:
        self.steps[step] = dict(metrics)
        self.worst = list(worst)

    def alert(self, step: int, title: str, text: str) -> None:
        self.alerts.append((step, title, text))

    def close(self) -> None:
        self.is_closed = True


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
    }
    assert [row["response"] for row in writer.worst] == ["b", "cc"]
    later = noted(tracker, (None, "x", 1), (1.0, "yyy", 2))
    assert later["abstained"] == later["abstained/grader_error"] == 0.5
    assert later["drift/reward"] == later["drift/abstained"] == 0.5
    assert later["drift/length"] == 0.0
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
    assert writer.is_closed


def test_a_watched_reward_of_verifiers_keeps_its_marks() -> None:
    tracker = assay.track(Recorder())
    watched = tracker.watch(verifiers.reward("math_equal_reward", weight=2.0))
    assert vars(watched)["_vf_weight"] == 2.0
    assert asyncio.iscoroutinefunction(watched)


def test_what_cannot_be_tracked_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(BadParameter, match="did you mean 'wandb'"):
        assay.track("wanb")
    with pytest.raises(BadParameter, match=r"first=0, worst=3; at least 1"):
        assay.track(first=0)
    with pytest.raises(BadParameter, match=r"is not the reward of an adapter"):
        assay.track().watch(len)
    with pytest.raises(TypeError, match="belongs to one process"):
        pickle.dumps(assay.track())


@pytest.mark.parametrize("tool", ["tensorboard", "wandb", "trackio"])
def test_a_tool_that_is_not_installed_is_named(tool: str, tmp_path: Path) -> None:
    with pytest.raises(MissingExtra, match=f"install {tool} in this environment"):
        assay.track(tool, folder=tmp_path)


def sent() -> list[dict[str, float]]:
    """What the tracker sent in a run of examples/trainers/trl_tracking.py."""
    steps: list[dict[str, float]] = json.loads((FILES / "sent.json").read_text())
    return steps


def test_trackio_has_what_was_sent() -> None:
    with sqlite3.connect(f"file:{FILES / 'sums.db'}?mode=ro&immutable=1", uri=True) as database:
        rows = [json.loads(row[0]) for row in database.execute("SELECT metrics FROM metrics")]
    database.close()
    pairs = zip(rows, sent(), strict=True)
    kept = [{name: row[name] for name in row if name in step} for row, step in pairs]
    assert kept == sent()


def test_tensorboard_has_what_was_sent() -> None:
    (file,) = FILES.glob("events.out.tfevents.*")
    data = file.read_bytes()
    frames = []
    while data:
        (size,) = struct.unpack_from("<Q", data)
        frames.append(data[12 : 12 + size])
        data = data[16 + size :]
    numbers = [frame for frame in frames if b"assay/math_equal_reward/reward" in frame]
    for frame, step in zip(numbers, sent(), strict=True):
        for name, value in step.items():
            tag = name.encode()
            assert b"\n" + bytes([len(tag)]) + tag + b"\x15" + struct.pack("<f", value) in frame
    assert any(b"assay/worst" in frame for frame in frames)
