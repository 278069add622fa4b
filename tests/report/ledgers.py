"""Small ledgers for tests: a run is a mapping from task id to the rewards of its repeats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.formats.lines import dump_line
from assay.ledger.artifacts import Artifacts
from assay.ledger.layout import RunLayout, attempt_stem
from assay.ledger.records import StepsFileRecord, StoredMessages, episode_to_record
from assay.ledger.run import Run
from assay.ledger.steps import StepsWriter
from assay.schema.episode import Episode, Failure, Step, StopReason, Trajectory
from assay.schema.manifest import RunManifest
from assay.schema.message import Message
from assay.schema.score import Abstained, Score, Scored
from assay.schema.task import Task
from assay.schema.usage import Usage

SCORER = "assistantbench_reward@1"
Rewards = Mapping[str, float | Sequence[float | None] | None]


def config(**changes: Any) -> dict[str, Any]:
    """A configuration as `assay run` records it, as far as reports read it."""
    options = {"model": "rules", "model_options": None, "answer_margin": 0}
    for key in ("model", "model_options", "answer_margin", "knob"):
        if key in changes:
            options[key] = changes.pop(key)
    return {
        "benchmark": {"limits": {"steps": changes.pop("steps", 15)}},
        "agent": {"name": "rules", "options": options},
        "tasks": "",
        "repeats": 1,
        "expect": changes.pop("expect", {}),
        **changes,
    }


def manifest(run_id: str, n_tasks: int = 0, **fields: Any) -> RunManifest:
    stamp = f"2026-01-{int(run_id.rpartition('-')[2] or 1):02d}T00:00:00.000Z"
    given: dict[str, Any] = {
        "benchmark": "town",
        "agent": "rules",
        "config": config(),
        "rewards": (SCORER,),
        "task_set": f"set of {n_tasks}",
        "n_tasks": n_tasks,
        "created_at": stamp,
        "commit": "d4b692e",
        **fields,
    }
    return RunManifest(run_id=run_id, **given)


def score(value: float | None, scorer: str = SCORER) -> Score:
    if value is None:
        return Abstained("grader_error", "it broke", scorer=scorer)
    return Scored(value, "compared", scorer=scorer)


def write_run(
    runs_dir: Path, run_id: str, values: Rewards, *, scorer: str = SCORER, **fields: Any
) -> Run:
    """A run with these rewards; `None` is an abstention."""
    episodes = []
    for name, given in values.items():
        task = Task(id=name, goal="?", answer="14.2")
        repeats = given if isinstance(given, (list, tuple)) else [given]
        episodes += [
            Episode(
                attempt=f"{attempt_stem(name, repeat)}.a1",
                task=task,
                repeat=repeat,
                final_response="14.2",
                scores=(score(value, scorer),),
                n_steps=4,
                usage=Usage(10, 1, 0.001, 1),
                elapsed_s=1.0,
            )
            for repeat, value in enumerate(repeats)
        ]
    return write(runs_dir, manifest(run_id, **{"n_tasks": len(values), **fields}), episodes)


def write(runs_dir: Path, head: RunManifest, episodes: Iterable[Episode]) -> Run:
    """The run folder, written without waiting for the disk as a real writer does."""
    layout = RunLayout(runs_dir / head.run_id)
    layout.folder.mkdir(parents=True, exist_ok=True)
    layout.manifest.write_bytes(dump_line(head.model_dump()))
    lines = []
    for episode in episodes:
        messages = tuple(m.model_dump(exclude_defaults=True) for m in episode.trajectory.messages)
        stored = StepsFileRecord(0, "")
        if episode.trajectory.steps:
            steps = StepsWriter(layout.steps_of(episode.attempt))
            for step in episode.trajectory.steps:
                steps.write(step)
            steps.close(durable=False)
            stored = StepsFileRecord(steps.n, steps.sha256)
        inline = StoredMessages(len(messages), messages)
        lines.append(dump_line(episode_to_record(episode, inline, stored)))
    layout.episodes.write_bytes(b"".join(lines))
    return Run(layout.folder)


@dataclass(frozen=True)
class Told:
    """One attempt: what the world held after each action, and what the agent was told of it."""

    answer: str | None = None
    gold: Any = "14.2"
    stop_reason: StopReason = "answered"
    actions: Sequence[str] = ()
    pages: Sequence[str] = ()
    shown: Sequence[str] | None = None
    """The same as the pages if it is left out."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    outcomes: Mapping[int, dict[str, Any]] = field(default_factory=dict)
    thinks: Mapping[int, str] = field(default_factory=dict)
    truncated: Sequence[int] = ()
    score: Score | None = None
    failure: str = ""


def write_told(runs_dir: Path, told: Told, *, run_id: str = "run-1", **fields: Any) -> Run:
    """A run with this one attempt."""
    artifacts = Artifacts(runs_dir / run_id / "artifacts")
    task = Task(id="task.1", goal="?", answer=told.gold, metadata=dict(told.metadata))
    steps = tuple(
        Step(
            index=i,
            action=action,
            observation=artifacts.put(told.pages[i]) if i < len(told.pages) else "",
            truncated=i in told.truncated,
            outcome=told.outcomes.get(i),
            think=told.thinks.get(i, ""),
        )
        for i, action in enumerate(["", *told.actions])
    )
    shown = told.pages if told.shown is None else told.shown
    messages = tuple(Message(role="user", content=f"Page:\n{page}") for page in shown)
    ended = told.stop_reason
    episode = Episode(
        attempt=f"{attempt_stem(task.id, 0)}.a1",
        task=task,
        trajectory=Trajectory(messages=messages, steps=steps, stop_reason=ended),
        final_response=told.answer,
        scores=() if ended == "env_error" else (told.score or _judged(told.answer, told.gold),),
        failure=_failure(ended, told.failure),
    )
    return write(runs_dir, manifest(run_id, 1, **fields), [episode])


def _judged(answer: str | None, gold: Any) -> Score:
    from assay.scoring.scorer import score as score_once

    return score_once("assistantbench_reward", final_response=answer, answer=gold)


def _failure(ended: StopReason, message: str) -> Failure | None:
    if ended == "agent_error":
        return Failure(kind="agent_error", message=message)
    return Failure(kind="env_error", message=message) if ended == "env_error" else None
