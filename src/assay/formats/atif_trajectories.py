"""Trajectories of the Agent Trajectory Interchange Format (ATIF 1.0 to 1.8), read.

A file is an attempt, or each line of a `.jsonl`; a folder of them is a run. In a job of Harbor,
`result.json` in the trial's folder says the task, the reward and what failed; without it, what our
own export keeps in `extra` does. Steps of the agent are actions, their observations what came back.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import BadRecord
from assay.formats import foreign
from assay.formats.foreign import ForeignRun, Problems, StoreArtifact
from assay.formats.lines import finite_number
from assay.schema.episode import Episode, Failure, FailureKind, Step, StopReason, Trajectory
from assay.schema.message import Message, text_of, tool_call
from assay.schema.score import Score, score_from_record
from assay.schema.task import Task

ROLES = {"agent": "assistant", "user": "user", "system": "system"}
SCORER = "reward"
RESULT = "result.json"


class _Source(NamedTuple):
    """One trajectory, and the result of its trial."""

    where: str
    record: Mapping[str, Any]
    result: Mapping[str, Any]


def logs(path: Path) -> list[Path]:
    """The folder itself, if there are trajectories in it; or the file, if it is one."""
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
        raise BadRecord(f"{str(path)!r} holds no trajectories of ATIF")
    source = next(_sources(files, Problems()), None)
    if source is None:
        raise BadRecord(f"no trajectory under {str(path)!r} can be read")
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

    def episodes(store: StoreArtifact, problems: Problems) -> Iterator[Episode]:
        repeats: Counter[str] = Counter()
        for source in _sources(files, problems):
            try:
                yield _episode(source, store, repeats)
            except foreign.DAMAGE as error:
                problems.add(f"{source.where}: {foreign.explain(error)}")

    return ForeignRun(manifest, (*files, *results), episodes)


def _result_file(trajectory: Path) -> Path | None:
    """The result of the trial, beside the trajectory or beside its `agent` folder."""
    folders = [trajectory.parent]
    folders += [trajectory.parent.parent] if trajectory.parent.name == "agent" else []
    return next((f / RESULT for f in folders if (f / RESULT).is_file()), None)


def _sources(files: tuple[Path, ...], problems: Problems) -> Iterator[_Source]:
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
    asked = (text_of(step.get("message")) for step in steps if step.get("source") == "user")
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
            goal=str(extra.get("goal") or next(asked, "")),
            answer=extra.get("answer"),
            metadata={},
        ),
        repeat=foreign.next_repeat(name, repeats),
        trajectory=Trajectory(
            messages=messages,
            steps=tuple(_steps(steps, store)),
            stop_reason=_ending(extra, broken, response),
        ),
        final_response=response,
        scores=tuple(_scores(extra, result, broken)),
        usage=foreign.usage_of(
            totals.get("total_prompt_tokens"),
            totals.get("total_completion_tokens"),
            cost=totals.get("total_cost_usd"),
            calls=sum(_calls(step) for step in steps if step.get("source") == "agent"),
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


def _steps(steps: list[Any], store: StoreArtifact) -> Iterator[Step]:
    """The reset, with what was said before the agent's first turn, and each of its turns."""
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
                calls=_calls(step),
            ),
        )


def _action(step: Mapping[str, Any]) -> str:
    calls = [
        f"{call['function_name']}({json.dumps(call['arguments'], ensure_ascii=False)})"
        for call in step.get("tool_calls") or ()
    ]
    return "\n".join(calls) or text_of(step["message"])


def _calls(step: Mapping[str, Any]) -> int:
    count = finite_number(step.get("llm_call_count"))
    return 1 if count is None else int(count)


def _broken(result: Mapping[str, Any]) -> Failure | None:
    """What failed, by the name of the exception; a time limit is an ending, not a failure."""
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
                value, scorer=str(name), because="as the verifier of the trial says"
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
