"""Logs of Inspect AI, read into episodes and written from them.

    episodes = list(inspect_logs.read_log("logs/….eval"))
    inspect_logs.write_log("logs/assay.eval", episodes, task="gsm8k", model="my-policy")

A log is read as the JSON that it is; an `.eval` file that is packed with Zstandard, as newer
versions write it, and every writing needs `inspect-ai` itself. Abstained: an unscored value (NaN)
with its reason, in both directions.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib import import_module
from itertools import count
from math import isfinite
from pathlib import Path
from typing import Any

from assay.errors import BadRecord, MissingExtra, UsageError
from assay.formats import ForeignRun, RunRecords, StoreArtifact
from assay.schema.episode import Episode, Failure, StopReason, Trajectory
from assay.schema.manifest import RunManifest
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
LOG_BYTES = 2 * 2**30
"""The largest log that is read, unpacked."""
ATTACHMENT = "attachment://"


def read(path: Path) -> ForeignRun:
    """The samples of a log, or of the one log in a folder, as a run."""
    file = _only_log(path)
    log = _load(file)
    spec = log.get("eval") or {}
    attempts = tuple(_episodes(log))
    tasks = {episode.task.id: episode.task for episode in attempts}
    scorers = dict.fromkeys(score.scorer for episode in attempts for score in episode.scores)
    manifest = RunManifest(
        run_id="",
        benchmark=str(spec.get("task") or "inspect")[:200],
        agent=str(spec.get("model") or "inspect"),
        config={
            "imported_from": file.name,
            "format": "inspect",
            "task_args": spec.get("task_args") or {},
            "status": log.get("status"),
        },
        versions={str(name): str(value) for name, value in (spec.get("packages") or {}).items()},
        rewards=tuple(scorers),
        repeats=max((episode.repeat for episode in attempts), default=0) + 1,
    )

    def episodes(store: StoreArtifact) -> Iterator[Episode]:  # noqa: ARG001 - a log has no files
        return iter(attempts)

    return ForeignRun(manifest, tuple(tasks.values()), episodes)


def write(run: RunRecords, path: Path) -> int:
    """Write every attempt as a sample of a finished log; how many there are."""
    attempts = list(run.episodes(full=True))
    write_log(path, attempts, task=run.manifest.benchmark, model=run.manifest.agent)
    return len(attempts)


def read_log(path: str | Path) -> Iterator[Episode]:
    """The samples of a log as episodes, in order; scores that are not numbers are left out."""
    return _episodes(_load(Path(path)))


def write_log(
    path: str | Path, episodes: Iterable[Episode], *, task: str, model: str = "none/none"
) -> Path:
    """The episodes as a finished Inspect log, with a mean for every reward; returns its path.

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
    """Our score as Inspect's; `kind` is its class `Score`."""
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
    """The reference; Inspect's default target, an empty text, is none."""
    texts = [text for text in target if text]
    return texts[0] if len(texts) == 1 else texts or None


def to_message(message: Any) -> dict[str, Any]:
    """An Inspect message, object or JSON, in the shape of a chat API.

    A tool's failure is kept as `is_error`.
    """
    role = field_of(message, "role")
    plain: dict[str, Any] = {"role": role, "content": text_of(field_of(message, "content"))}
    calls = field_of(message, "tool_calls")
    if calls:
        plain["tool_calls"] = [_to_call(call) for call in calls]
    if role == "tool":
        plain["tool_call_id"] = field_of(message, "tool_call_id")
        plain["name"] = field_of(message, "function")
        plain["is_error"] = field_of(message, "error") is not None
    return plain


def _to_call(call: Any) -> dict[str, Any]:
    arguments = json.dumps(field_of(call, "arguments"))
    return tool_call(field_of(call, "id"), field_of(call, "function"), arguments)


def _only_log(path: Path) -> Path:
    if not path.is_dir():
        return path
    logs = sorted(path.rglob("*.eval"))
    if len(logs) != 1:
        names = [log.name for log in logs[:5]]
        raise UsageError(f"{str(path)!r} holds {len(logs)} Inspect logs; name one file: {names}")
    return logs[0]


def _load(path: Path) -> dict[str, Any]:
    """The log as JSON values, its samples included."""
    try:
        log = _load_zip(path) if zipfile.is_zipfile(path) else _load_json(path.read_bytes())
    except FileNotFoundError as error:
        raise BadRecord(f"there is no file {str(path)!r}") from error
    except NotImplementedError:
        record: dict[str, Any] = (
            _library("inspect_ai.log").read_eval_log(str(path)).model_dump(mode="json")
        )
        return record
    except (ValueError, RecursionError, zipfile.BadZipFile) as error:
        raise BadRecord(f"{str(path)!r} is not an Inspect log: {error!s:.200}") from error
    return log


def _load_zip(path: Path) -> dict[str, Any]:
    """The parts of an `.eval` file; raises NotImplementedError for one packed with Zstandard."""
    with zipfile.ZipFile(path) as file:
        if sum(info.file_size for info in file.infolist()) > LOG_BYTES:
            raise BadRecord(f"{str(path)!r} is larger than {LOG_BYTES} bytes, unpacked")
        if "header.json" not in file.namelist():
            raise BadRecord(f"{str(path)!r} is no finished Inspect log: it has no header.json")
        log = _load_json(file.read("header.json"))
        samples = [name for name in file.namelist() if name.startswith("samples/")]
        return {**log, "samples": [_load_json(file.read(name)) for name in samples]}


def _load_json(data: bytes) -> dict[str, Any]:
    value = json.loads(data)
    if not isinstance(value, dict):
        raise BadRecord(f"not a JSON object but a {type(value).__name__}")
    return value


def _library(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"this needs {module} ({error}); install inspect-ai in this environment, "
            "or turn the log into JSON: inspect log convert --to json"
        ) from error


def _episodes(log: Mapping[str, Any]) -> Iterator[Episode]:
    for number, sample in enumerate(log.get("samples") or ()):
        try:
            yield _episode(f"{number:06d}", sample)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadRecord(
                f"sample {number} of the log cannot be read: {type(error).__name__} {error!s:.200}"
            ) from error


def _episode(attempt: str, sample: Mapping[str, Any]) -> Episode:
    target, source = sample.get("target") or "", sample["input"]
    targets = [target] if isinstance(target, str) else list(target)
    parts = [source] if isinstance(source, str) else [each["content"] for each in source]
    attachments = sample.get("attachments") or {}
    messages = (to_message(_resolve(each, attachments)) for each in sample.get("messages") or ())
    return Episode(
        attempt=attempt,
        task=Task(
            id=str(sample["id"]),
            goal="\n".join(text_of(_resolve(part, attachments)) for part in parts),
            answer=answer_of(targets),
            metadata=sample.get("metadata") or {},
        ),
        repeat=max(int(sample.get("epoch") or 1) - 1, 0),
        trajectory=Trajectory(
            messages=tuple(map(Message.model_validate, messages)), stop_reason=_stop_reason(sample)
        ),
        final_response=_final_response(sample.get("output") or {}, attachments),
        scores=tuple(_scores(sample.get("scores") or {})),
        usage=_usage(sample.get("model_usage") or {}),
        started_at=sample.get("started_at") or "",
        elapsed_s=sample.get("total_time") or 0.0,
        failure=_failure(sample["error"]) if sample.get("error") else None,
    )


def _failure(error: Mapping[str, Any]) -> Failure:
    traceback = error.get("traceback") or ""
    return Failure(kind="env_error", message=error["message"], traceback=traceback)


def _final_response(output: Mapping[str, Any], attachments: Mapping[str, str]) -> str | None:
    choices = output.get("choices")
    if not choices:
        return None
    text = output.get("completion")
    return text_of(
        _resolve(choices[0]["message"]["content"] if text is None else text, attachments)
    )


def _resolve(value: Any, attachments: Mapping[str, str]) -> Any:
    """The value with the texts in place of the references to the sample's attachments."""
    if isinstance(value, str) and value.startswith(ATTACHMENT):
        return attachments.get(value.removeprefix(ATTACHMENT), value)
    if isinstance(value, Mapping):
        return {key: _resolve(item, attachments) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolve(item, attachments) for item in value]
    return value


def _stop_reason(sample: Mapping[str, Any]) -> StopReason:
    if sample.get("error"):
        return "env_error"
    limit = sample.get("limit")
    return LIMITS.get(limit["type"], "step_limit") if limit else "answered"


def _scores(scores: Mapping[str, Any]) -> Iterator[Score]:
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
            "params": metadata.get("params") or {},
        }
        if isfinite(number):
            yield Scored(number, **shared)
        else:
            yield Abstained(record.get("reason") or "unscored", **shared)


def _number(value: Any) -> float | None:
    """The number of a score's value, as Inspect reads it; NaN is unscored, `None` is no number."""
    if isinstance(value, (int, float)):
        return float(value)
    if not isinstance(value, str):
        return None
    word = WORDS.get(value, WORDS.get(value.lower()))
    if word is not None:
        return word
    try:
        return float(value)
    except ValueError:
        return None


def _usage(models: Mapping[str, Any]) -> Usage:
    return Usage(
        prompt_tokens=sum(each.get("input_tokens") or 0 for each in models.values()),
        completion_tokens=sum(each.get("output_tokens") or 0 for each in models.values()),
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
    """Arguments that are no JSON object are kept as they were written, with the error noted."""
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
