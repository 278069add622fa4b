"""Inspect AI's logs, read into episodes and written from them, through its own API.

    episodes = list(inspect_logs.read_log("logs/….eval"))
    inspect_logs.write_log("logs/assay.eval", episodes, task="gsm8k", model="my-policy")

Abstained: an unscored value (NaN) with its reason, in both directions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any

from assay.adapters.binding import import_library
from assay.adapters.inspect_ai import answer_of, to_inspect, to_message
from assay.adapters.messages import text_of
from assay.schema.episode import Episode, Failure, StopReason, Trajectory
from assay.schema.message import Message
from assay.schema.score import Abstained, Score, Scored
from assay.schema.task import Task
from assay.schema.usage import Usage

PACKAGE = "inspect-ai"

LIMITS: Mapping[str, StopReason] = {"time": "timeout", "working": "timeout", "operator": "gave_up"}
"""How Inspect's limits end an episode; every other limit is a `step_limit`."""


def read_log(path: str | Path) -> Iterator[Episode]:
    """The samples of a log as episodes, in order; scores that are not numbers are left out."""
    log = import_library("inspect_ai.log", package=PACKAGE).read_eval_log(str(path))
    to_float = import_library("inspect_ai.scorer", package=PACKAGE).value_to_float()
    for number, sample in enumerate(log.samples or ()):
        yield _episode(f"{number:06d}", sample, to_float)


def write_log(
    path: str | Path, episodes: Iterable[Episode], *, task: str, model: str = "none/none"
) -> Path:
    """The episodes as a finished Inspect log, with a mean for every reward; returns its path.

    Inspect knows a sample by its id and epoch alone, so a second attempt at the same repeat takes
    the next free epoch instead of replacing the first.
    """
    api = import_library("inspect_ai.log", package=PACKAGE)
    taken: set[tuple[str, int]] = set()
    samples = [_sample(api, episode, _free_epoch(episode, taken)) for episode in episodes]
    names = list(dict.fromkeys(name for sample in samples for name in sample.scores or {}))
    log = api.EvalLog(
        status="success",
        eval=api.EvalSpec(
            created=datetime.now(UTC).isoformat(),
            task=task,
            model=model,
            dataset=api.EvalDataset(samples=len(samples)),
            config=api.EvalConfig(),
        ),
        results=api.EvalResults(
            total_samples=len(samples),
            completed_samples=sum(sample.error is None for sample in samples),
            scores=[_summary(api, name, samples) for name in names],
        ),
        samples=samples,
    )
    api.write_eval_log(log, str(path))
    return Path(path)


def _episode(attempt: str, sample: Any, to_float: Any) -> Episode:
    target = [sample.target] if isinstance(sample.target, str) else list(sample.target)
    goal = (
        sample.input
        if isinstance(sample.input, str)
        else "\n".join(text_of(message.content) for message in sample.input)
    )
    error = sample.error
    return Episode(
        attempt=attempt,
        task=Task(
            id=str(sample.id), goal=goal, answer=answer_of(target), metadata=sample.metadata or {}
        ),
        repeat=max(sample.epoch - 1, 0),
        trajectory=Trajectory(
            messages=tuple(Message.model_validate(to_message(each)) for each in sample.messages),
            stop_reason=_stop_reason(sample),
        ),
        final_response=sample.output.completion if sample.output.choices else None,
        scores=tuple(_scores(sample.scores or {}, to_float)),
        usage=_usage(sample.model_usage or {}),
        started_at=sample.started_at or "",
        elapsed_s=sample.total_time or 0.0,
        failure=Failure(kind="env_error", message=error.message, traceback=error.traceback)
        if error
        else None,
    )


def _stop_reason(sample: Any) -> StopReason:
    if sample.error is not None:
        return "env_error"
    if sample.limit is not None:
        return LIMITS.get(sample.limit.type, "step_limit")
    return "answered"


def _scores(scores: Mapping[str, Any], to_float: Any) -> Iterator[Score]:
    for name, given in scores.items():
        if isinstance(given.value, (dict, list)):
            continue
        said = given.metadata or {}
        scorer = str(said.get("scorer") or name)
        because = given.explanation or ""
        notes = {str(key): str(value) for key, value in (said.get("notes") or {}).items()}
        parts = said.get("parts") or {}
        number = to_float(given.value)
        if isfinite(number):
            yield Scored(number, because, parts, notes, scorer, said.get("params") or {})
        else:
            reason = given.reason or "unscored"
            yield Abstained(reason, because, parts, notes, scorer, said.get("params") or {})


def _usage(models: Mapping[str, Any]) -> Usage:
    return Usage(
        prompt_tokens=sum(each.input_tokens for each in models.values()),
        completion_tokens=sum(each.output_tokens for each in models.values()),
    )


def _free_epoch(episode: Episode, taken: set[tuple[str, int]]) -> int:
    epoch = episode.repeat + 1
    while (episode.task.id, epoch) in taken:
        epoch += 1
    taken.add((episode.task.id, epoch))
    return epoch


def _sample(api: Any, episode: Episode, epoch: int) -> Any:
    models = import_library("inspect_ai.model", package=PACKAGE)
    score_kind = import_library("inspect_ai.scorer", package=PACKAGE).Score
    answer = episode.task.answer
    many = isinstance(answer, (list, tuple))
    said = episode.final_response
    output = models.ModelOutput() if said is None else models.ModelOutput.from_content("", said)
    failure = episode.failure
    return api.EvalSample(
        id=episode.task.id,
        epoch=epoch,
        input=episode.task.goal,
        target=[str(each) for each in answer] if many else "" if answer is None else str(answer),
        messages=[_to_inspect_message(models, each) for each in episode.trajectory.messages],
        output=output,
        scores={_title(score): to_inspect(score, score_kind) for score in episode.scores},
        metadata=json.loads(json.dumps(episode.task.metadata, default=str)),
        started_at=episode.started_at or None,
        total_time=episode.elapsed_s,
        error=_error(failure) if failure else None,
    )


def _error(failure: Failure) -> Any:
    kind = import_library("inspect_ai.log", package=PACKAGE).EvalError
    return kind(
        message=failure.message, traceback=failure.traceback, traceback_ansi=failure.traceback
    )


def _to_inspect_message(models: Any, message: Message) -> Any:
    content = text_of(message.content)
    if message.role == "tool":
        return models.ChatMessageTool(content=content, tool_call_id=message.tool_call_id)
    if message.role == "assistant":
        calls = [_to_inspect_call(call) for call in message.tool_calls]
        return models.ChatMessageAssistant(content=content, tool_calls=calls or None)
    kind = models.ChatMessageSystem if message.role == "system" else models.ChatMessageUser
    return kind(content=content)


def _to_inspect_call(call: Any) -> Any:
    """Arguments that are no JSON object are kept as they were written, with the error noted."""
    kind = import_library("inspect_ai.tool", package=PACKAGE).ToolCall
    text, problem = call.function.arguments, None
    try:
        arguments = json.loads(text or "{}")
    except ValueError as error:
        arguments, problem = {"arguments": text}, str(error)
    if not isinstance(arguments, dict):
        arguments, problem = {"arguments": text}, "not a JSON object"
    return kind(id=call.id, function=call.function.name, arguments=arguments, parse_error=problem)


def _summary(api: Any, name: str, samples: list[Any]) -> Any:
    """The mean over the samples that have a number, and how many have none."""
    values = [sample.scores[name].value for sample in samples if name in (sample.scores or {})]
    numbers = [value for value in values if isfinite(value)]
    mean = sum(numbers) / len(numbers) if numbers else float("nan")
    return api.EvalScore(
        name=name,
        scorer=name,
        scored_samples=len(numbers),
        unscored_samples=len(values) - len(numbers),
        metrics={"mean": api.EvalMetric(name="mean", value=mean)},
    )


def _title(score: Score) -> str:
    return score.scorer.partition("@")[0] or "score"
