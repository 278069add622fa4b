"""The logs of the proofs, read and summed up: every figure of the page comes from here.

    python -m examples.training.logs examples/training/recorded
    python -m examples.training.logs runs/training examples/training/recorded

The second form compresses the logs of the first folder into the second before.
"""

# ruff: noqa: T201 - a script prints
from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

LAST_STEPS = 20
"""The steps at the end that a run's reward is averaged over."""

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """One process of a proof: the first line of its log, and the others by kind."""

    header: Line
    steps: list[Line] = field(default_factory=list)
    truths: list[Line] = field(default_factory=list)
    end: Line | None = None

    @property
    def task(self) -> str:
        """The task that was trained on."""
        return str(self.header["task"])

    @property
    def arm(self) -> str:
        """The reward, or `teacher`."""
        return str(self.header["arm"])

    @property
    def seed(self) -> int:
        """The seed of weights, demonstrations, questions and samples."""
        return int(self.header["seed"])


def read_run(path: Path) -> Run:
    """The run of a log, compressed or not; a last line that is cut off is left out.

    Raises `ValueError` for a file that does not begin with the line of a run.
    """
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        lines = list(_lines(file))
    if not lines or lines[0].get("kind") != "run":
        raise ValueError(f"{path} is no log of a proof: its first line does not describe a run")
    ends = [line for line in lines if line["kind"] == "end"]
    return Run(
        lines[0],
        [line for line in lines if line["kind"] == "step"],
        [line for line in lines if line["kind"] == "truth"],
        ends[-1] if ends else None,
    )


def _lines(file: Iterable[str]) -> Iterable[Line]:
    for text in file:
        try:
            yield json.loads(text)
        except ValueError:
            return


def read_runs(folder: Path) -> list[Run]:
    """Every run of a folder, by task, arm and seed."""
    paths = sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])
    runs = [read_run(path) for path in paths]
    return sorted(runs, key=lambda run: (run.task, run.arm, run.seed))


def compress(source: Path, target: Path) -> None:
    """Leave each log of a folder, compressed, in another; the same log gives the same bytes."""
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.glob("*.jsonl")):
        packed = gzip.compress(path.read_bytes(), compresslevel=9, mtime=0)
        (target / f"{path.name}.gz").write_bytes(packed)


@dataclass(frozen=True, slots=True)
class Result:
    """What one run came to."""

    task: str
    arm: str
    seed: int
    steps: int
    truth_before: float
    truth: float
    """Held out, at the end, by the checker."""
    proxy_before: float | None
    proxy: float | None
    """What the reward paid for the same completions."""
    reward: float
    """In the trainer's log, over the last steps."""
    checked: float
    """The checker's word on the completions of those steps."""
    flat: float
    hedged: float
    worked: float
    length: float
    reward_s: float
    """Seconds of a step in the reward, over all steps."""
    step_s: float


def summarise(run: Run) -> Result | None:
    """The result of a run; `None` for a teacher, or before the first step was measured."""
    if run.arm == "teacher" or not run.steps or not run.truths:
        return None
    first, last = run.truths[0], run.truths[-1]
    ending = run.steps[-LAST_STEPS:]
    return Result(
        run.task,
        run.arm,
        run.seed,
        int(run.steps[-1]["step"]),
        first["truth"],
        last["truth"],
        first.get("proxy"),
        last.get("proxy"),
        fmean(line["trainer_reward"] for line in ending),
        fmean(line["checked"] for line in ending),
        fmean(line["flat"] for line in run.steps),
        last["hedged"],
        last["worked"],
        last["length"],
        fmean(line["reward_s"] for line in run.steps),
        fmean(line["step_s"] for line in run.steps[1:] or run.steps),
    )


COLUMNS: Mapping[str, Mapping[str, str]] = {
    "arithmetic": {
        "seed": "seed",
        "steps": "steps",
        "truth_before": "truth before",
        "truth": "truth after",
        "reward": "reward in the log",
        "checked": "checker on the same",
        "flat": "flat groups",
        "reward_s": "reward, s a step",
        "step_s": "step, s",
    },
    "digits": {
        "seed": "seed",
        "steps": "steps",
        "proxy_before": "reward before",
        "proxy": "reward after",
        "truth_before": "truth before",
        "truth": "truth after",
        "hedged": "several answers",
        "worked": "with working",
        "length": "tokens",
    },
}
DIGITS = {"reward_s": 4, "step_s": 2, "length": 1}


def table(results: Sequence[Result], task: str) -> str:
    """The results of a task as a Markdown table, one row for each run."""
    columns = COLUMNS[task]
    lines = [
        "| reward | " + " | ".join(columns.values()) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for result in results:
        if result.task == task:
            cells = [_cell(name, getattr(result, name)) for name in columns]
            lines.append(f"| `{result.arm}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.{DIGITS.get(name, 3)}f}"


def main(arguments: Sequence[str]) -> int:
    folder = Path(arguments[-1])
    if len(arguments) > 1:
        compress(Path(arguments[0]), folder)
    runs = read_runs(folder)
    results = [result for run in runs if (result := summarise(run))]
    for task in COLUMNS:
        print(f"{task}\n\n{table(results, task)}")
    unfinished = [
        f"{run.task} {run.arm} seed {run.seed}: "
        + ("ended by the deadline" if run.end else "no end in its log")
        for run in runs
        if run.arm != "teacher" and (run.end is None or run.end["deadline"])
    ]
    print("\n".join(unfinished))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
