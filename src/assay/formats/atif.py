"""ATIF: an episode as a trajectory of the Agent Trajectory Interchange Format, v1.4.

    json.dump(atif.to_trajectory(episode, agent="web_research"), file)

Abstained: `value` is null beside the reason, in the trajectory's `extra`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from assay import __version__
from assay.formats import RunRecords
from assay.formats.lines import dump_line, write_lines
from assay.schema.episode import Episode
from assay.schema.message import Message, ToolCall, text_of
from assay.schema.score import score_to_record

SCHEMA = "ATIF-v1.4"

SOURCES = {"assistant": "agent", "user": "user"}
"""Every other role is the system's."""


def write(run: RunRecords, path: Path) -> int:
    """Write every attempt as a line; how many there are."""
    return write_lines(path, (trajectory for _, trajectory in _trajectories(run)))


def files(run: RunRecords) -> Iterator[tuple[str, bytes]]:
    """Every attempt as a file of its own: the name and the content."""
    for attempt, trajectory in _trajectories(run):
        yield f"{attempt}.json", dump_line(trajectory)


def _trajectories(run: RunRecords) -> Iterator[tuple[str, dict[str, Any]]]:
    settings = run.manifest.config.get("agent")
    options = settings.get("options") if isinstance(settings, dict) else None
    name = options.get("model") if isinstance(options, dict) else None
    model = name if isinstance(name, str) else ""
    for episode in run.episodes(full=True):
        yield (
            episode.attempt,
            to_trajectory(episode, agent=run.manifest.agent, model=model, read=run.text),
        )


def to_trajectory(
    episode: Episode,
    *,
    agent: str,
    agent_version: str = __version__,
    model: str = "",
    read: Callable[[str], str] = str,
) -> dict[str, Any]:
    """The episode's messages as ATIF steps; the task, the ending and the scores are in `extra`.

    A tool's results are observations of the step whose call they answer. Arguments that are not a
    JSON object are kept as they were written, under `arguments`. An agent that keeps no
    conversation has its actions for messages, and what the environment showed for observations:
    `read` gives the text of an artifact (`run.text`), of which the record has only the hash.
    """
    described = {"name": agent, "version": agent_version}
    if model:
        described["model_name"] = model
    usage = episode.usage
    return {
        "schema_version": SCHEMA,
        "session_id": episode.attempt or episode.task.id,
        "agent": described,
        "steps": _steps(episode.trajectory.messages) or _actions(episode, read),
        "final_metrics": {
            "total_prompt_tokens": usage.prompt_tokens,
            "total_completion_tokens": usage.completion_tokens,
            "total_steps": episode.n_steps,
        },
        "extra": {
            "task_id": episode.task.id,
            "goal": episode.task.goal,
            "final_response": episode.final_response,
            "stop_reason": episode.stop_reason,
            "scores": [score_to_record(score) for score in episode.scores],
        },
    }


def _steps(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    for message in messages:
        if message.role in ("tool", "function") and steps and steps[-1]["source"] == "agent":
            observation = steps[-1].setdefault("observation", {"results": []})
            result = {"source_call_id": message.tool_call_id, "content": text_of(message.content)}
            observation["results"].append(result)
            continue
        steps.append(_step(len(steps) + 1, message))
    return steps


def _actions(episode: Episode, read: Callable[[str], str]) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": episode.task.goal}]
    for action in episode.trajectory.steps:
        text = read(action.observation) if action.observation else ""
        if action.index == 0:
            if text:
                steps.append({"step_id": 2, "source": "system", "message": text})
            continue
        step = {"step_id": len(steps) + 1, "source": "agent", "message": action.action}
        if action.think:
            step["reasoning_content"] = action.think
        if text:
            step["observation"] = {"results": [{"content": text}]}
        steps.append(step)
    return steps


def _step(number: int, message: Message) -> dict[str, Any]:
    step: dict[str, Any] = {
        "step_id": number,
        "source": SOURCES.get(message.role, "system"),
        "message": text_of(message.content),
    }
    reasoning = message.get("reasoning_content")
    if reasoning:
        step["reasoning_content"] = reasoning
    if message.tool_calls:
        step["tool_calls"] = [_call(call) for call in message.tool_calls]
    return step


def _call(call: ToolCall) -> dict[str, Any]:
    try:
        arguments = json.loads(call.function.arguments or "{}")
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        arguments = {"arguments": call.function.arguments}
    return {"tool_call_id": call.id, "function_name": call.function.name, "arguments": arguments}
