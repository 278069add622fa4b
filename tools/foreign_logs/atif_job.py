"""A job of Harbor with ATIF 1.8: made by its own models, passed by its own validator."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from harbor.models.trajectories import (  # type: ignore[import-not-found]
    Agent,
    FinalMetrics,
    Metrics,
    Observation,
    ObservationResult,
    Step,
    ToolCall,
    Trajectory,
)
from harbor.models.trial.config import (  # type: ignore[import-not-found]
    AgentConfig,
    TaskConfig,
    TrialConfig,
)
from harbor.models.trial.result import (  # type: ignore[import-not-found]
    AgentInfo,
    ExceptionInfo,
    LocalTaskId,
    ModelInfo,
    TrialResult,
    VerifierResult,
)
from harbor.utils.trajectory_validator import (  # type: ignore[import-not-found]
    TrajectoryValidator,
)

from tools.foreign_logs.endpoint import MODEL
from tools.foreign_logs.questions import QUESTIONS, Question

START = datetime(2026, 11, 15, 19, 0, tzinfo=UTC)
ASKED = QUESTIONS[0], QUESTIONS[2], QUESTIONS[6], QUESTIONS[7]


def trajectory(question: Question) -> Trajectory:
    """Asked, looked up with a tool, answered; the broken one ends before an answer."""
    look = ToolCall(
        tool_call_id="call-1", function_name="look_up", arguments={"query": question.text}
    )
    seen = ObservationResult(source_call_id="call-1", content=f"It may be {question.answer}.")
    steps = [
        Step(step_id=1, source="system", message="Answer with one word."),
        Step(step_id=2, source="user", message=question.text, timestamp=START.isoformat()),
        Step(
            step_id=3,
            source="agent",
            message="",
            reasoning_content="I look it up.",
            tool_calls=[look],
            observation=Observation(results=[seen]),
            metrics=Metrics(prompt_tokens=20, completion_tokens=6, cost_usd=0.001),
            llm_call_count=1,
        ),
    ]
    if question.reply:
        metrics = Metrics(prompt_tokens=30, completion_tokens=1, cost_usd=0.002)
        answer = Step(step_id=4, source="agent", message=question.reply, metrics=metrics)
        steps.append(answer)
    used = [step.metrics for step in steps if step.metrics]
    totals = FinalMetrics(
        total_prompt_tokens=sum(each.prompt_tokens for each in used),
        total_completion_tokens=sum(each.completion_tokens for each in used),
        total_cost_usd=sum(each.cost_usd for each in used),
        total_steps=len(steps),
    )
    agent = Agent(name="looker", version="1.2", model_name=MODEL)
    return Trajectory(session_id=question.id, agent=agent, steps=steps, final_metrics=totals)


def result(question: Question, folder: Path) -> TrialResult:
    task = LocalTaskId(path=Path("tasks") / question.id)
    error: dict[str, Any] = {}
    if not question.reply:
        error["exception_info"] = ExceptionInfo(
            exception_type="RateLimitError",
            exception_message="litellm.RateLimitError: status 429",
            exception_traceback="",
            occurred_at=START,
        )
    else:
        right = float(question.reply == question.answer)
        error["verifier_result"] = VerifierResult(rewards={"reward": right})
    return TrialResult(
        task_name=question.id,
        trial_name=folder.name,
        trial_uri=f"trials/{folder.name}",
        task_id=task,
        source="scripted",
        task_checksum="0",
        config=TrialConfig(task=TaskConfig(path=task.path), agent=AgentConfig(name="oracle")),
        agent_info=AgentInfo(name="looker", version="1.2", model_info=ModelInfo(name=MODEL)),
        started_at=START,
        finished_at=START + timedelta(seconds=12),
        **error,
    )


def main(folder: Path) -> None:
    """Write a trial for each of four questions, as Harbor lays them out; check each trajectory."""
    for question in ASKED:
        trial = folder / f"{question.id}__trial"
        (trial / "agent").mkdir(parents=True)
        file = trial / "agent" / "trajectory.json"
        file.write_text(json.dumps(trajectory(question).to_json_dict(), indent=1))
        validator = TrajectoryValidator()
        if not validator.validate(file):
            raise SystemExit(f"{file}: {validator.errors}")
        (trial / "result.json").write_text(result(question, trial).model_dump_json(indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
