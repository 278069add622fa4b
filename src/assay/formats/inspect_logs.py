"""Read logs of Inspect AI as episodes, and write episodes as logs.

    episodes = list(inspect_logs.read_log("logs/….eval"))
    inspect_logs.write_log("logs/assay.eval", episodes, task="gsm8k", model="my-policy")

A log is read as the JSON that it is (`inspect_archive`); every writing needs `inspect-ai` itself.
Abstained: an unscored value (NaN) with its reason, in both directions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from itertools import count
from math import isfinite
from pathlib import Path
from typing import Any

from assay.errors import BadRecord, MissingExtra
from assay.formats import ForeignRun, RunRecords, foreign
from assay.formats.foreign import ReadProblems, ReportedScore
from assay.formats.inspect_archive import open_log
from assay.formats.lines import finite_number
from assay.schema.episode import Episode, Failure, StopReason, Trajectory
from assay.schema.message import Message, field_of, text_of, tool_call
from assay.schema.score import Abstained, Score, Scored
from assay.schema.task import Task
from assay.schema.usage import Usage

LIMITS: Mapping[str, StopReason] = {"time": "timeout", "working": "timeout", "operator": "gave_up"}
"""How Inspect's limits end an episode; every other limit is a `step_limit`."""
WORDS: Mapping[str, float] = {
    "C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0,
}  # fmt: skip
"""The numbers of the values that Inspect's own scorers give as text."""
ATTACHMENT = "attachment://"


def logs(path: Path) -> list[Path]:
    """The Inspect AI logs in a file or a folder."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [file for file in files if file.suffix in (".eval", ".json") and _is_log(file)]


def _is_log(file: Path) -> bool:
    if file.suffix == ".eval":
        return file.is_file()
    return foreign.top_keys(file) >= {"eval", "status"}


def read(path: Path) -> ForeignRun:
    """Read the samples of an Inspect AI log as a run."""
    log = open_log(path)
    spec = log.header.get("eval") or {}
    task = str(spec.get("task") or "inspect")
    revision = spec.get("revision") or {}
    manifest = foreign.manifest_of(
        task,
        str(spec.get("model") or "inspect"),
        foreign.origin(path, "inspect", _reported(log.header), log.header.get("status")),
        foreign.settings_of(
            str(spec.get("solver") or "inspect"),
            spec.get("model"),
            spec.get("model_generate_config") or {},
            name=spec.get("task"),
            version=spec.get("task_version"),
            args=spec.get("task_args") or {},
        ),
        versions={str(name): str(value) for name, value in (spec.get("packages") or {}).items()},
        commit=str(revision.get("commit") or ""),
        dirty="unknown" if revision.get("dirty") else "",
        created_at=foreign.utc(spec.get("created")),
    )
    params = {
        str(scorer.get("name")): scorer.get("options") or {}
        for scorer in spec.get("scorers") or ()
        if isinstance(scorer, Mapping)
    }

    return foreign.run_of_rows(manifest, (path,), log.samples, lambda row, _: _episode(row, params))


def _reported(header: Mapping[str, Any]) -> Iterator[ReportedScore]:
    for score in (header.get("results") or {}).get("scores") or ():
        for name, metric in (score.get("metrics") or {}).items():
            value = finite_number(metric.get("value"))
            if value is not None and name in ("accuracy", "mean"):
                yield ReportedScore(str(score.get("name")), value, score.get("scored_samples"))


def write(run: RunRecords, path: Path) -> int:
    """Write each attempt as a sample of a log, and return the number of attempts."""
    attempts = list(run.episodes(full=True))
    write_log(path, attempts, task=run.manifest.benchmark, model=run.manifest.agent)
    return len(attempts)


def read_log(path: str | Path) -> Iterator[Episode]:
    """The samples of a log as episodes; raises `BadRecord` for an unreadable sample."""
    problems = ReadProblems()
    rows = open_log(Path(path)).samples(problems)
    for episode in foreign.episodes_of(rows, lambda row: _episode(row, {}), problems):
        yield episode
        if problems.count:
            break
    if problems.count:
        raise BadRecord(f"{str(path)!r}: {problems.texts[0]}")


def write_log(
    path: str | Path, episodes: Iterable[Episode], *, task: str, model: str = "none/none"
) -> Path:
    """Write episodes as an Inspect AI log with a mean for each reward; return its path.

    Inspect knows a sample by its id and epoch alone, so a second attempt at the same repeat takes
    the next free epoch instead of replacing the first.
    """
    api = _library("inspect_ai.log")
    used: set[tuple[str, int]] = set()
    samples = [_sample(api, episode, _free_epoch(episode, used)) for episode in episodes]
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
    kind = "json" if Path(path).suffix == ".json" else "eval"
    api.write_eval_log(log, str(path), format=kind)
    return Path(path)


def to_inspect(score: Score, kind: Any) -> Any:
    """Convert an Assay score to Inspect AI's class `Score`, which is `kind`."""
    shared = {
        "answer": score.notes.get("extracted"),
        "explanation": score.because,
        "metadata": {
            "scorer": score.scorer,
            "params": dict(score.params),
            "parts": dict(score.parts),
            "notes": dict(score.notes),
        },
    }
    if isinstance(score, Abstained):
        return kind.unscored(reason=score.reason, **shared)
    return kind(value=score.value, **shared)


def answer_of(target: list[str]) -> str | list[str] | None:
    """The reference answer in an Inspect AI target, or `None` for an empty target."""
    texts = [text for text in target if text]
    return texts[0] if len(texts) == 1 else texts or None


def to_message(message: Any) -> dict[str, Any]:
    """Convert a message of Inspect AI to the chat API format."""
    role = field_of(message, "role")
    plain: dict[str, Any] = {"role": role, "content": text_of(field_of(message, "content"))}
    if calls := field_of(message, "tool_calls"):
        plain["tool_calls"] = [
            tool_call(
                field_of(call, "id"),
                field_of(call, "function"),
                json.dumps(field_of(call, "arguments")),
            )
            for call in calls
        ]
    if role == "tool":
        plain["tool_call_id"] = field_of(message, "tool_call_id")
        plain["name"] = field_of(message, "function")
        plain["is_error"] = field_of(message, "error") is not None
    return plain


def _library(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"this format needs {module} ({error}); install inspect-ai in this environment, "
            "or turn the log into JSON: inspect log convert --to json"
        ) from error


def _episode(sample: Mapping[str, Any], params: Mapping[str, Mapping[str, Any]]) -> Episode:
    target, source = sample.get("target") or "", sample["input"]
    targets = [target] if isinstance(target, str) else list(target)
    parts = [source] if isinstance(source, str) else [each["content"] for each in source]
    attachments = sample.get("attachments") or {}
    messages = [to_message(_resolve(each, attachments)) for each in sample.get("messages") or ()]
    output = sample.get("output") or {}
    text = output.get("completion") if output.get("choices") else None
    if text is None and output.get("choices"):
        text = output["choices"][0]["message"]["content"] or ""
    turns = sample.get("turn_count") or sum(each["role"] == "assistant" for each in messages)
    limit, error = sample.get("limit"), sample.get("error")
    stop_reason: StopReason = LIMITS.get(limit["type"], "step_limit") if limit else "answered"
    broken: Failure | None = None
    if error:
        # The model where it could not be asked, else what the sample ran in.
        broken = foreign.failure(error["message"], error.get("traceback"), otherwise="env_error")
        stop_reason = broken.kind
    return Episode(
        task=Task(
            id=str(sample["id"]),
            goal="\n".join(text_of(_resolve(part, attachments)) for part in parts),
            answer=answer_of(targets),
            metadata=sample.get("metadata") or {},
        ),
        repeat=max(int(sample.get("epoch") or 1) - 1, 0),
        trajectory=Trajectory(
            messages=tuple(map(Message.model_validate, messages)), stop_reason=stop_reason
        ),
        final_response=None if text is None else text_of(_resolve(text, attachments)),
        scores=tuple(_scores(sample.get("scores") or {}, params)),
        usage=_usage(sample.get("model_usage") or {}, turns),
        started_at=foreign.utc(sample.get("started_at")),
        elapsed_s=sample.get("total_time") or 0.0,
        failure=broken,
    )


def _resolve(value: Any, attachments: Mapping[str, str]) -> Any:
    if isinstance(value, str) and value.startswith(ATTACHMENT):
        return attachments.get(value.removeprefix(ATTACHMENT), value)
    if isinstance(value, Mapping):
        return {key: _resolve(item, attachments) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolve(item, attachments) for item in value]
    return value


def _scores(scores: Mapping[str, Any], options: Mapping[str, Mapping[str, Any]]) -> Iterator[Score]:
    for name, record in scores.items():
        number = _number(record.get("value"))
        if number is None:
            continue
        metadata = record.get("metadata") or {}
        shared: dict[str, Any] = {
            "because": record.get("explanation") or "",
            "parts": metadata.get("parts") or {},
            "notes": {str(key): str(note) for key, note in (metadata.get("notes") or {}).items()},
            "scorer": str(metadata.get("scorer") or name),
            "params": metadata.get("params") or dict(options.get(str(name)) or {}),
        }
        if isfinite(number):
            yield Scored(number, **shared)
        else:
            yield Abstained(record.get("reason") or "unscored", **shared)


def _number(value: Any) -> float | None:
    if isinstance(value, (int, float)):
        return float(value)
    if not isinstance(value, str):
        return None
    word = WORDS.get(value, WORDS.get(value.lower()))
    with suppress(ValueError):
        return float(value) if word is None else word
    return None


def _usage(models: Mapping[str, Any], calls: int) -> Usage:
    costs = [finite_number(each.get("total_cost")) for each in models.values()]
    numbers = [cost for cost in costs if cost is not None]
    return foreign.usage_of(
        sum(each.get("input_tokens") or 0 for each in models.values()),
        sum(each.get("output_tokens") or 0 for each in models.values()),
        cost=sum(numbers) if numbers and len(numbers) == len(costs) else None,
        calls=calls,
    )


def _free_epoch(episode: Episode, used: set[tuple[str, int]]) -> int:
    task = episode.task.id
    epoch = next(n for n in count(episode.repeat + 1) if (task, n) not in used)
    used.add((task, epoch))
    return epoch


def _sample(api: Any, episode: Episode, epoch: int) -> Any:
    models = _library("inspect_ai.model")
    score_kind = _library("inspect_ai.scorer").Score
    answer, response, failure = episode.task.answer, episode.final_response, episode.failure
    many = isinstance(answer, (list, tuple))
    output = models.ModelOutput
    error = failure and api.EvalError(
        message=failure.message, traceback=failure.traceback, traceback_ansi=failure.traceback
    )
    return api.EvalSample(
        id=episode.task.id,
        epoch=epoch,
        input=episode.task.goal,
        target=[str(each) for each in answer] if many else "" if answer is None else str(answer),
        messages=[_to_inspect_message(models, each) for each in episode.trajectory.messages],
        output=output() if response is None else output.from_content("", response),
        scores={score.name: to_inspect(score, score_kind) for score in episode.scores},
        metadata=json.loads(json.dumps(episode.task.metadata, default=str)),
        started_at=episode.started_at or None,
        total_time=episode.elapsed_s,
        error=error,
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
    """Convert a tool call for Inspect AI; invalid arguments are kept with the error."""
    kind = _library("inspect_ai.tool").ToolCall
    text, problem = call.function.arguments, None
    try:
        arguments = json.loads(text or "{}")
    except ValueError as error:
        arguments, problem = {"arguments": text}, str(error)
    if not isinstance(arguments, dict):
        arguments, problem = {"arguments": text}, "not a JSON object"
    return kind(id=call.id, function=call.function.name, arguments=arguments, parse_error=problem)


def _summary(api: Any, name: str, samples: list[Any]) -> Any:
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
