"""Trajectories in the Agent Trajectory Interchange Format (ATIF), read and written.

    json.dump(atif.to_trajectory(episode, agent="web_research"), file)

A file is an attempt, or each line of a `.jsonl`; a folder of them is a run. In a job of Harbor,
`result.json` in the trial's folder says the task, the reward and what failed; without it, what our
own export keeps in `extra` does. Steps of the agent are actions, their observations what came back.

Abstained: `value` is null with the reason, in the trajectory's `extra`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from assay import __version__
from assay.errors import BadRecord
from assay.formats import RunRecords, foreign
from assay.formats.foreign import ForeignRun, ReadProblems, StoreArtifact
from assay.formats.lines import dump_line, finite_number, valid_unicode, write_lines
from assay.schema.episode import Episode, Failure, FailureKind, Step, StopReason, Trajectory
from assay.schema.message import Message, ToolCall, text_of, tool_call
from assay.schema.score import Score, score_from_record, score_to_record
from assay.schema.task import Task
from assay.schema.usage import Usage

SCHEMA = "ATIF-v1.8"

MOST_LEVELS = 100
"""Arguments that are nested deeper stay text: readers give up on them."""
SOURCES = {"assistant": "agent", "user": "user"}
"""Every other role is the system's."""


def write(run: RunRecords, path: Path) -> int:
    """Write each attempt as a JSON line, and return the number of attempts."""
    return write_lines(path, (trajectory for _, trajectory in _trajectories(run)))


def files(run: RunRecords) -> Iterator[tuple[str, bytes]]:
    """Convert each attempt to a file; yield the name and the content of each file."""
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
    """Convert an episode to an ATIF trajectory; `extra` holds the task and the scores.

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
    """The result of a tool call; an unknown call id is kept in `extra`."""
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
    if not isinstance(value, (dict, list)):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(each, levels - 1) for each in inner)


ROLES = {"agent": "assistant", "user": "user", "system": "system"}
SCORER = "reward"
RESULT = "result.json"


class _Source(NamedTuple):
    where: str
    record: Mapping[str, Any]
    result: Mapping[str, Any]


def logs(path: Path) -> list[Path]:
    """The folder if it contains trajectories, or the file if it is a trajectory."""
    if path.is_dir():
        return [path] if next(_files(path), None) is not None else []
    return [path] if _is_trajectory(path) else []


def _files(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        if file.suffix in (".json", ".jsonl") and _is_trajectory(file):
            yield file


def _is_trajectory(file: Path) -> bool:
    if file.suffix == ".jsonl":
        return str(foreign.first_row(file).get("schema_version", "")).startswith("ATIF-")
    if file.suffix != ".json" or "schema_version" not in foreign.top_keys(file):
        return False
    with file.open("rb") as stream:
        return b'"ATIF-v' in stream.read(1 << 16)


def read(path: Path) -> ForeignRun:
    """The trajectories as a run."""
    files = tuple(_files(path)) if path.is_dir() else (path,)
    results = tuple(file for file in map(_result_file, files) if file is not None)
    if not files:
        raise BadRecord(f"{str(path)!r} has no trajectories in the ATIF format")
    source = next(_sources(files, ReadProblems()), None)
    if source is None:
        raise BadRecord(f"no trajectory in {str(path)!r} can be read")
    first = source.record
    agent = first.get("agent") or {}
    name, model = str(agent.get("name") or "atif"), agent.get("model_name")
    manifest = foreign.manifest_of(
        str(source.result.get("source") or path.stem),
        name if model is None else f"{name} ({model})",
        foreign.origin(path, "atif"),
        {"agent": {"name": name, "options": {"model": model}}},
        versions={name: str(agent["version"])} if agent.get("version") else {},
    )

    def episodes(store: StoreArtifact, problems: ReadProblems) -> Iterator[Episode]:
        repeats: Counter[str] = Counter()
        for source in _sources(files, problems):
            try:
                yield _episode(source, store, repeats)
            except foreign.DAMAGE as error:
                problems.add(f"{source.where}: {foreign.explain(error)}")

    return ForeignRun(manifest, (*files, *results), episodes)


def _result_file(trajectory: Path) -> Path | None:
    folders = [trajectory.parent]
    folders += [trajectory.parent.parent] if trajectory.parent.name == "agent" else []
    return next((f / RESULT for f in folders if (f / RESULT).is_file()), None)


def _sources(files: tuple[Path, ...], problems: ReadProblems) -> Iterator[_Source]:
    for file in files:
        if file.suffix == ".jsonl":
            for where, record in foreign.json_rows(file, problems):
                yield _Source(where, record, {})
            continue
        result = _result_file(file)
        about = foreign.read_optional(result)
        where = file.name if result is None else f"{result.parent.name}/{file.name}"
        try:
            yield _Source(where, foreign.load_file(file), about)
        except BadRecord as error:
            problems.add(str(error))


def _episode(source: _Source, store: StoreArtifact, repeats: Counter[str]) -> Episode:
    record, result = source.record, source.result
    steps = record["steps"]
    if not isinstance(steps, list) or not steps:
        raise BadRecord("it has no steps")
    extra = record.get("extra") or {}
    questions = (text_of(step.get("message")) for step in steps if step.get("source") == "user")
    times = (step["timestamp"] for step in steps if step.get("timestamp"))
    name = str(
        result.get("task_name") or extra.get("task_id") or record.get("session_id") or source.where
    )
    broken, totals = _broken(result), record.get("final_metrics") or {}
    messages = tuple(message for step in steps for message in _messages(step))
    response = extra.get("final_response") or foreign.last_reply(messages)
    return Episode(
        task=Task(
            id=name,
            goal=str(extra.get("goal") or next(questions, "")),
            answer=extra.get("answer"),
            metadata={},
        ),
        repeat=foreign.next_repeat(name, repeats),
        trajectory=Trajectory(
            messages=messages,
            steps=tuple(_read_steps(steps, store)),
            stop_reason=_ending(extra, broken, response),
        ),
        final_response=response,
        scores=tuple(_scores(extra, result, broken)),
        usage=foreign.usage_of(
            totals.get("total_prompt_tokens"),
            totals.get("total_completion_tokens"),
            cost=totals.get("total_cost_usd"),
            calls=sum(_call_count(step) for step in steps if step.get("source") == "agent"),
        ),
        started_at=foreign.utc(result.get("started_at")) or foreign.utc(next(times, None)),
        elapsed_s=_elapsed(result),
        failure=broken,
        metadata={key: record.get(key) for key in ("session_id", "trajectory_id", "notes")},
    )


def _messages(step: Mapping[str, Any]) -> Iterator[Message]:
    calls = [
        tool_call(call["tool_call_id"], call["function_name"], json.dumps(call["arguments"]))
        for call in step.get("tool_calls") or ()
    ]
    fields: dict[str, Any] = {"role": ROLES[step["source"]], "content": text_of(step["message"])}
    if calls:
        fields["tool_calls"] = calls
    if step.get("reasoning_content"):
        fields["reasoning_content"] = step["reasoning_content"]
    yield Message.model_validate(fields)
    for result in (step.get("observation") or {}).get("results") or ():
        call_id = result.get("source_call_id")
        role = "tool" if call_id else "user"
        content = text_of(result.get("content"))
        yield Message(role=role, content=content, tool_call_id=call_id)


def _read_steps(steps: list[Any], store: StoreArtifact) -> Iterator[Step]:
    """The reset as a first step, then one step for each turn of the agent."""
    turns = [step for step in steps if step.get("source") == "agent"]
    yield Step(index=0, action="")
    for index, step in enumerate(turns, 1):
        metrics = step.get("metrics") or {}
        results = (step.get("observation") or {}).get("results") or ()
        seen = "\n".join(text_of(result.get("content")) for result in results)
        yield Step(
            index=index,
            action=_action(step),
            think=str(step.get("reasoning_content") or ""),
            observation=store(seen) if seen else "",
            observation_chars=len(seen),
            usage=foreign.usage_of(
                metrics.get("prompt_tokens"),
                metrics.get("completion_tokens"),
                cost=metrics.get("cost_usd"),
                calls=_call_count(step),
            ),
        )


def _action(step: Mapping[str, Any]) -> str:
    calls = [
        f"{call['function_name']}({json.dumps(call['arguments'], ensure_ascii=False)})"
        for call in step.get("tool_calls") or ()
    ]
    return "\n".join(calls) or text_of(step["message"])


def _call_count(step: Mapping[str, Any]) -> int:
    count = finite_number(step.get("llm_call_count"))
    return 1 if count is None else int(count)


def _broken(result: Mapping[str, Any]) -> Failure | None:
    """The failure that the trial recorded; a timeout is not a failure."""
    error = result.get("exception_info")
    if not isinstance(error, Mapping) or "Timeout" in str(error.get("exception_type")):
        return None
    words = f"{error.get('exception_type')}: {error.get('exception_message')}"
    is_own = "Agent" in str(error.get("exception_type"))
    otherwise: FailureKind = "agent_error" if is_own else "env_error"
    return foreign.failure(words, error.get("exception_traceback"), otherwise=otherwise)


def _ending(extra: Mapping[str, Any], broken: Failure | None, response: str | None) -> StopReason:
    if broken is not None:
        return broken.kind
    recorded = extra.get("stop_reason")
    otherwise: StopReason = "answered" if response else "finished"
    known = ("answered", "finished", "gave_up", "step_limit", "timeout")
    return recorded if recorded in known else otherwise


def _scores(
    extra: Mapping[str, Any], result: Mapping[str, Any], broken: Failure | None
) -> Iterator[Score]:
    rewards = (result.get("verifier_result") or {}).get("rewards")
    if (no_score := foreign.no_score(broken, SCORER)) is not None:
        yield no_score
    elif isinstance(rewards, Mapping):
        for name, value in rewards.items():
            yield foreign.score_of(
                value, scorer=str(name), because="the verifier of the trial gave this score"
            )
    elif isinstance(extra.get("scores"), list):
        yield from map(score_from_record, extra["scores"])


def _elapsed(result: Mapping[str, Any]) -> float:
    try:
        start, end = (
            datetime.fromisoformat(str(result[key])) for key in ("started_at", "finished_at")
        )
        return max((end - start).total_seconds(), 0.0)
    except (KeyError, ValueError, TypeError):
        return 0.0
