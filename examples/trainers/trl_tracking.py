"""A short GRPO run with TRL on the CPU, tracked in TensorBoard, W&B (offline) and Trackio.

    python examples/trainers/trl_tracking.py [FOLDER]

After the training a step is noted by hand, in which one text answers every prompt: an alert. The
files are read back by the tools' own readers, which must agree with what the tracker sent.
"""

# ruff: noqa: T201 - a script prints

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from read_tracking import PROJECT, read_all

import assay
from assay.adapters import trl

STEPS = 4
SAME = "7"
SHOWN = ("reward", "abstained", "flat_groups", "drift/reward")


class Sent:
    """A writer that keeps what it is sent."""

    def __init__(self) -> None:
        self.steps: list[dict[str, float]] = []
        self.worst: list[Mapping[str, Any]] = []
        self.alerts: list[str] = []

    def write(
        self, step: int, metrics: Mapping[str, float], worst: Sequence[Mapping[str, Any]]
    ) -> None:
        self.steps.append({**metrics, "assay/step": step})
        self.worst = list(worst)

    def alert(self, step: int, title: str, text: str) -> None:
        self.alerts.append(title)
        print(f"step {step}: {title}: {text}")

    def close(self) -> None:
        """There is nothing to close."""


def train(folder: Path) -> Sent:
    """What each step sent to the three tools."""
    from trl_grpo import build_trainer

    sent = Sent()
    with assay.track(
        "tensorboard", "wandb", "trackio", sent, folder=folder, project=PROJECT, first=2
    ) as tracker:
        reward = tracker.watch(trl.reward("math_equal_reward", answer="solution"))
        with tempfile.TemporaryDirectory() as model:
            trainer = build_trainer(model, [reward], steps=STEPS, batch=16, group=8)
            trainer.add_callback(tracker.callback())
            trainer.train()
        for a in range(8):
            score = assay.score("math_equal_reward", final_response=SAME, answer=str(a))
            tracker.note(score, response=SAME, group=a)
        tracker.step(STEPS + 1)
    return sent


def compare(tool: str, sent: Sent, numbers: Mapping[str, Sequence[float]]) -> int:
    """How many series are not what was sent, in every step that has one."""
    failures = 0
    for name in dict.fromkeys(name for step in sent.steps for name in step):
        expected = [step[name] for step in sent.steps if name in step]
        if name == "assay/step" and tool != "wandb":
            continue  # W&B alone is told the step as a number among others.
        read = numbers.get(name, [])
        is_same = len(read) == len(expected) and all(
            abs(a - b) < 1e-6 * max(1, abs(b)) for a, b in zip(read, expected, strict=True)
        )
        failures += not is_same
        if not is_same or name.endswith(SHOWN):
            print(f"{tool:11} {name:40} {[round(number, 4) for number in read]}", end=" ")
            print("as sent" if is_same else f"but sent was {expected}")
    return failures


def main(folder: Path) -> int:
    os.environ["TRACKIO_DIR"] = str(folder / "trackio")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    sent = train(folder)
    (folder / "sent.json").write_text(json.dumps(vars(sent)))
    failures = 0
    for tool, content in read_all(folder).items():
        failures += compare(tool, sent, content["numbers"])
        has_worst = all(row["because"] in str(content["worst"]) for row in sent.worst)
        has_alert = len(content["alerts"]) == 1 and sent.alerts[0] in content["alerts"][0]
        failures += (not has_worst) + (not has_alert)
        count = len(content["numbers"])
        print(f"{tool:11} {count} series; worst examples: {has_worst}; alert: {has_alert}")
    return 1 if failures or len(sent.steps) != STEPS + 1 else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1]).absolute()))
    with tempfile.TemporaryDirectory() as name:
        sys.exit(main(Path(name)))
