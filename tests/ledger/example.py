"""A small run that has a bit of everything, the same bytes every time it is written."""

from __future__ import annotations

from pathlib import Path

from assay.ledger.run import Run
from assay.ledger.writer import RunWriter
from assay.schema.episode import Episode, Failure, Step, StopReason, Trajectory
from assay.schema.evidence import PageEvidence, WorldEvidence
from assay.schema.manifest import RunManifest
from assay.schema.message import Message
from assay.schema.score import Abstained, Score, Scored
from assay.schema.task import Task
from assay.schema.usage import Usage

WEATHER = Task(id="weather/3", goal="How wet?", answer="14.2", metadata={"domain": "weather"})
PRICES = Task(id="prices: Straße №7", goal="What price?", answer=["850000"])
LONG = "A page that the agent read. " * 200

MANIFEST = RunManifest(
    run_id="20260329-122135-d4b692",
    benchmark="townsquare",
    agent="rules",
    config={"budget": 24_000, "focus": None},
    versions={"assay": "0.1.0"},
    rewards=("assistantbench_reward@1",),
    task_set="0" * 64,
    n_tasks=2,
    focus="bare answers help prices",
    created_at="2026-03-29T12:21:35.000Z",
)


def episode(
    attempt: str,
    task: Task = WEATHER,
    *,
    stop_reason: StopReason = "answered",
    reward: float | None = 1.0,
    answer: str | None = "14.2",
    repeat: int = 0,
    n_steps: int = 3,
) -> Episode:
    """A light attempt; without a reward the score abstains, an env_error has none."""
    score: Score = (
        Abstained("grader_error", "it broke", scorer="assistantbench_reward@1")
        if reward is None
        else Scored(reward, "compared", scorer="assistantbench_reward@1")
    )
    return Episode(
        attempt=attempt,
        task=task,
        repeat=repeat,
        trajectory=Trajectory(stop_reason=stop_reason),
        final_response=answer,
        scores=() if stop_reason == "env_error" else (score,),
        n_steps=n_steps,
    )


def write_example(runs_dir: Path) -> Run:
    with RunWriter.create(runs_dir, MANIFEST) as writer:
        page = writer.artifact(LONG)
        attempt = writer.new_attempt(WEATHER)
        with writer.steps(attempt) as steps:
            steps.write(Step(index=0, action="", observation=page, observation_chars=len(LONG)))
            steps.write(
                Step(
                    index=1,
                    action='click("12")',
                    evidence=PageEvidence(url="d1:u", n_refs=3, shot=2**64 - 1),
                    outcome={"code": "ok"},
                    reward=0.25,
                    raw_reward=1.0,
                    think="the table\nis there",
                    usage=Usage(120, 9, 0.002, 1),
                )
            )
        # The steps were written as they happened; the episode says what they came to.
        writer.append(
            Episode(
                attempt=attempt,
                task=WEATHER,
                trajectory=Trajectory(messages=(Message(role="user", content="How wet?"),)),
                final_response="14.3",
                scores=(
                    Scored(
                        0.993, "0.7 % off", {"has_answer": 1.0}, scorer="assistantbench_reward@1"
                    ),
                ),
                n_steps=1,
                cum_reward=0.25,
                cum_raw_reward=1.0,
                usage=Usage(120, 9, 0.002, 1),
                started_at="2026-03-29T12:21:36.000Z",
                elapsed_s=1.5,
            )
        )
        broken = writer.new_attempt(PRICES)
        writer.append(
            Episode(
                attempt=broken,
                task=PRICES,
                trajectory=Trajectory(stop_reason="env_error"),
                failure=Failure(kind="env_error", message="the browser died"),
            )
        )
        retry = writer.new_attempt(PRICES)
        writer.append(
            Episode(
                attempt=retry,
                task=PRICES,
                trajectory=Trajectory(
                    messages=(Message(role="tool", content=LONG, tool_call_id="c1"),),
                    steps=(
                        Step(index=0, action=""),
                        Step(
                            index=1,
                            action="look\x00\x1b[2J\ud800",
                            evidence=WorldEvidence("webshop", PRICES.id, 0.5, progress={"r": 1}),
                        ),
                    ),
                    stop_reason="step_limit",
                ),
                final_response=None,
                scores=(Scored(0.0, "no answer", scorer="assistantbench_reward@1"),),
                metadata={"seed": 7, "nothing": float("nan")},
            )
        )
    return Run(writer.path)
