"""ATIF: an episode as a trajectory of the Agent Trajectory Interchange Format, v1.8.

    json.dump(atif.to_trajectory(episode, agent="web_research"), file)

Abstained: `value` is null beside the reason, in the trajectory's `extra`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay import __version__
from assay.formats import RunRecords
from assay.formats.lines import dump_line, valid_unicode, write_lines
from assay.schema.episode import Episode
from assay.schema.message import Message, ToolCall, text_of
from assay.schema.score import score_to_record
from assay.schema.usage import Usage

SCHEMA = "ATIF-v1.8"

MOST_LEVELS = 100
"""Arguments that are nested deeper stay text: readers give up on them."""
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
    manifest = run.manifest
    about = {"agent": manifest.agent, "model": manifest.model_name}
    for episode in run.episodes(full=True):
        yield episode.attempt, to_trajectory(episode, **about, read=run.text)


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
    JSON object, or nested too deeply, are kept as they were written, under `arguments`. Half of a
    surrogate pair, which readers of the format refuse, becomes its escape. An agent that keeps no
    conversation has its actions for messages, and what the environment showed for observations:
    `read` gives the text of an artifact (`run.text`), of which the record has only the hash.
    """
    named = {"model_name": model} if model else {}
    usage = episode.usage
    steps = _steps(episode.trajectory.messages) or _actions(episode, read)
    trajectory = {
        "schema_version": SCHEMA,
        "session_id": episode.attempt or episode.task.id,
        "trajectory_id": episode.attempt or episode.task.id,
        "agent": {"name": agent, "version": agent_version, **named},
        "steps": steps,
        "final_metrics": {**_metrics(usage, "total_"), "total_steps": len(steps)},
        "extra": {
            "task_id": episode.task.id,
            "goal": episode.task.goal,
            "answer": episode.task.answer,
            "repeat": episode.repeat,
            "final_response": episode.final_response,
            "stop_reason": episode.stop_reason,
            "failure": None if episode.failure is None else episode.failure.message,
            "started_at": episode.started_at,
            "elapsed_s": episode.elapsed_s,
            "n_steps": episode.n_steps,
            "scores": [score_to_record(score) for score in episode.scores],
        },
    }
    return dict(valid_unicode(trajectory))


def _metrics(usage: Usage, prefix: str = "") -> dict[str, Any]:
    metrics: dict[str, Any] = {
        f"{prefix}prompt_tokens": usage.prompt_tokens,
        f"{prefix}completion_tokens": usage.completion_tokens,
    }
    if usage.cost_usd is not None:
        metrics[f"{prefix}cost_usd"] = usage.cost_usd
    return metrics


def _steps(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    for message in messages:
        if message.role in ("tool", "function") and steps and steps[-1]["source"] == "agent":
            observation = steps[-1].setdefault("observation", {"results": []})
            observation["results"].append(_result(message, steps[-1].get("tool_calls", ())))
            continue
        steps.append(_step(len(steps) + 1, message))
    return steps


def _result(message: Message, calls: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a tool returned; an id that the step before it did not call is kept aside."""
    result: dict[str, Any] = {"content": text_of(message.content)}
    if message.tool_call_id in {call["tool_call_id"] for call in calls}:
        result["source_call_id"] = message.tool_call_id
    elif message.tool_call_id:
        result["extra"] = {"tool_call_id": message.tool_call_id}
    return result


def _actions(episode: Episode, read: Callable[[str], str]) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": episode.task.goal}]
    for action in episode.trajectory.steps:
        text = read(action.observation) if action.observation else ""
        if action.index == 0:
            steps += [{"step_id": 2, "source": "system", "message": text}] if text else []
            continue
        step = {"step_id": len(steps) + 1, "source": "agent", "message": action.action}
        if action.think:
            step["reasoning_content"] = action.think
        if action.usage.calls:
            step["metrics"] = _metrics(action.usage)
            step["llm_call_count"] = action.usage.calls
        if text:
            step["observation"] = {"results": [{"content": text}]}
        steps.append(step)
    return steps


def _step(number: int, message: Message) -> dict[str, Any]:
    source, text = SOURCES.get(message.role, "system"), text_of(message.content)
    step: dict[str, Any] = {"step_id": number, "source": source, "message": text}
    # The format allows what follows for the agent's own steps alone.
    if source != "agent":
        return step
    reasoning = message.get("reasoning_content")
    if isinstance(reasoning, str) and reasoning:
        step["reasoning_content"] = reasoning
    if message.tool_calls:
        step["tool_calls"] = [_call(call) for call in message.tool_calls]
    return step


def _call(call: ToolCall) -> dict[str, Any]:
    try:
        arguments = json.loads(call.function.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict) or not _is_shallow(arguments, MOST_LEVELS):
        arguments = {"arguments": call.function.arguments}
    return {"tool_call_id": call.id, "function_name": call.function.name, "arguments": arguments}


def _is_shallow(value: Any, levels: int) -> bool:
    """Whether no more than so many levels are nested in the value."""
    if not isinstance(value, (dict, list)):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(each, levels - 1) for each in inner)
