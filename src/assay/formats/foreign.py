"""Shared code for reading the logs of other tools: runs, lines, dates and messages.

A log may be cut off, half written or wrong in one place. What cannot be read of it goes to
`ReadProblems`, with its place, and the rest is read.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from assay.errors import BadInput, BadRecord, did_you_mean
from assay.formats.lines import finite_number, open_file
from assay.schema.episode import Episode, Failure, FailureKind
from assay.schema.manifest import RunManifest
from assay.schema.message import Message, text_of, tool_call
from assay.schema.score import Abstained, Score, Scored
from assay.schema.usage import Usage

LINE_BYTES = 256 * 2**20
"""The longest line that is read; one conversation can be long."""
HEAD_BYTES = 1 << 16
"""So much of a file decides what it is."""
KEPT_PROBLEMS = 100

StoreArtifact: TypeAlias = Callable[[bytes | str], str]
"""Stores a content, and returns its sha256."""

DAMAGE = (LookupError, ArithmeticError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading a sample raises that is not what it should be; `BadRecord`, and what a record says
of a wrong field, are each a `ValueError`."""


@dataclass(slots=True)
class ReadProblems:
    """The problems of reading a log: the first 100 texts, and the total number."""

    count: int = 0
    texts: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        self.count += 1
        if len(self.texts) < KEPT_PROBLEMS:
            self.texts.append(text)


@dataclass(frozen=True, slots=True)
class ForeignRun:
    """A run that another tool has recorded."""

    manifest: RunManifest
    """Its id and task set are the ledger's to fill in; where they are empty, its date, its rewards
    and its repeats as well."""
    files: tuple[Path, ...]
    """What it is read from: the same contents are the same run."""
    episodes: Callable[[StoreArtifact, ReadProblems], Iterator[Episode]]
    """Every attempt in order, with its artifacts stored; its id is the ledger's to fill in."""


class LogRecord(NamedTuple):
    """One record of a log, and its place in the log."""

    where: str
    data: dict[str, Any]


class ReportedScore(NamedTuple):
    """A mean score that the other tool reported."""

    name: str
    value: float
    n: int | None = None


def origin(
    path: Path, name: str, reported: Iterable[ReportedScore] = (), status: Any = None
) -> dict[str, Any]:
    """The origin of an imported run: the file, the format and the reported means."""
    means = [score._asdict() for score in reported]
    record: dict[str, Any] = {"from": path.name, "format": name, "reported": means}
    return record if status is None else {**record, "status": status}


def manifest_of(
    benchmark: str,
    agent: str,
    imported: Mapping[str, Any],
    settings: Mapping[str, Any],
    **others: Any,
) -> RunManifest:
    """The manifest of an imported run, with its origin and its settings."""
    config = {**settings, "imported": imported}
    return RunManifest(run_id="", benchmark=benchmark[:200], agent=agent, config=config, **others)


def settings_of(agent: Any, model: Any, sampling: Any = None, **task: Any) -> dict[str, Any]:
    """The settings of the agent, the model and the task, under Assay's names."""
    options = {"model": model} | ({} if sampling is None else {"model_options": sampling})
    settings = {"agent": {"name": agent, "options": options}}
    return {**settings, "task": task} if task else settings


def run_of_rows(
    manifest: RunManifest,
    files: tuple[Path, ...],
    rows: Callable[[ReadProblems], Iterable[LogRecord]],
    read: Callable[[dict[str, Any], Counter[str]], Episode],
) -> ForeignRun:
    """A run with one episode for each row; `read` also receives the counts of repeats."""

    def episodes(_: StoreArtifact, problems: ReadProblems) -> Iterator[Episode]:
        repeats: Counter[str] = Counter()
        return episodes_of(rows(problems), lambda row: read(row, repeats), problems)

    return ForeignRun(manifest, files, episodes)


def json_rows(path: Path, problems: ReadProblems | None = None) -> Iterator[LogRecord]:
    """The objects of a JSON lines file; an invalid line is reported as a problem.

    The last line counts without its line break: a tool that ended wrote it whole, and one that was
    killed left what is not JSON.
    """
    problems = ReadProblems() if problems is None else problems
    with _open(path) as stream:
        number = 0
        while line := stream.readline(LINE_BYTES + 1):
            number += 1
            where = f"{path.name} line {number}"
            if len(line) > LINE_BYTES:
                problems.add(f"{where}: longer than {LINE_BYTES} bytes")
                while line and not line.endswith(b"\n"):
                    line = stream.readline(LINE_BYTES)
            elif line.strip():
                try:
                    yield LogRecord(where, loads(line))
                except BadRecord as error:
                    problems.add(f"{where}: {error}")


def loads(data: bytes | str) -> dict[str, Any]:
    """Parse a JSON object; NaN and infinity are allowed."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"not JSON: {error!s:.200}") from error
    if not isinstance(value, dict):
        raise BadRecord(f"not a JSON object but a {type(value).__name__}")
    return value


def load_file(path: Path) -> dict[str, Any]:
    """Read the JSON object in a file, up to a maximum file size."""
    with _open(path) as stream:
        data = stream.read(LINE_BYTES + 1)
    if len(data) > LINE_BYTES:
        raise BadRecord(f"{str(path)!r} is larger than the limit of {LINE_BYTES} bytes")
    try:
        return loads(data)
    except BadRecord as error:
        raise BadRecord(f"{str(path)!r} is {error}") from error


def _open(path: Path) -> BinaryIO:
    try:
        return open_file(path)
    except FileNotFoundError as error:
        raise BadInput(f"there is no file {str(path)!r}") from error


def first_row(path: Path) -> dict[str, Any]:
    """The first object of a JSON lines file, or an empty object."""
    try:
        return next((row.data for row in json_rows(path)), {})
    except (BadRecord, OSError):
        return {}


def top_keys(path: Path) -> frozenset[str]:
    """The top-level keys at the beginning of a JSON file."""
    try:
        with open_file(path) as stream:
            text = stream.read(HEAD_BYTES).decode("utf-8", "ignore")
    except (BadRecord, OSError):
        return frozenset()
    if not text.lstrip().startswith("{"):
        return frozenset()
    keys, depth = set(), 0
    for token in _TOKEN.finditer(text):
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth -= 1
        elif depth == 1 and token["colon"]:
            keys.add(token["text"])
    return frozenset(keys)


_TOKEN = re.compile(
    r'"(?P<text>(?:[^"\\]|\\.)*+)"?+(?P<colon>\s*+:)?|(?P<open>[{\[])|(?P<close>[}\]])', re.DOTALL
)
"""A text is one even if it does not end, so that no part of it is looked at twice."""


def episodes_of(
    rows: Iterable[LogRecord], read: Callable[[dict[str, Any]], Episode], problems: ReadProblems
) -> Iterator[Episode]:
    """The episode of each row; an unreadable row is reported as a problem."""
    for where, data in rows:
        try:
            yield read(data)
        except DAMAGE as error:
            problems.add(f"{where}: {explain(error)}")


def explain(error: BaseException) -> str:
    """Explain in one line why a record could not be read."""
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]!r}"
    fields = getattr(error, "errors", None)
    if callable(fields):  # of pydantic: each field that is wrong
        first = fields()[0]
        place = ".".join(map(str, first["loc"]))
        return f"{place}: {first['msg']}"[:300]
    text = str(error).splitlines()[0] if str(error) else ""
    return text[:300] if isinstance(error, BadRecord) else f"{type(error).__name__}: {text:.200}"


def utc(moment: Any) -> str:
    """Convert a time to the ledger's format; an invalid time becomes an empty text.

    Takes ISO 8601 and seconds since 1970. A time without a zone is taken as it stands, and keeps
    none: nothing says which it was.
    """
    seconds = finite_number(moment)
    try:
        if seconds is None:
            parsed = datetime.fromisoformat(str(moment))
        elif 0 < seconds < 1e11:
            parsed = datetime.fromtimestamp(seconds, UTC)
        else:
            return ""
    except (ValueError, OverflowError, OSError):
        return ""
    if parsed.tzinfo is None:
        return parsed.isoformat()
    return parsed.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# The packages whose frames, and the names of the errors, that say that a model could not be asked.
_CLIENT = re.compile(
    r"\b(?:openai|anthropic|litellm|mistralai|groq|cohere|google\.genai|google\.api_core|botocore"
    r"|ollama|together|fireworks)(?:\.\w+)*\.\w*(?:Error|Exception|Timeout)\b"
    r"|\b(?:RateLimitError|APIConnectionError|APITimeoutError|APIStatusError|APIError"
    r"|AuthenticationError|PermissionDeniedError|InternalServerError|ServiceUnavailableError"
    r"|OverloadedError|ProviderError|ModelError|EmptyModelResponseError|InvalidModelResponseError"
    r"|OpenRouterError|OpenAIError)\b"
    r"|Failed to get a response from the API|ResourceExhausted",
)
_TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|prompt is too long|OverlongPromptError"
    r"|ContextWindowExceeded",
    re.IGNORECASE,
)


TEXT_CHARS = 200_000


def failure(message: Any, traceback: Any = "", *, otherwise: FailureKind) -> Failure:
    """The failure in a log; known error names mean a failure of the model.

    A conversation that is longer than the model takes is a failure of the agent that wrote it.
    """
    words, trace = str(message or "no cause was recorded"), str(traceback or "")
    if "RetryError" in words:
        # A retrying library hides what it gave up on; the traceback has it.
        words = next((line for line in trace.splitlines() if _CLIENT.match(line)), words)
    texts = (words[:TEXT_CHARS], trace[:TEXT_CHARS])
    kind: FailureKind = "model_error" if any(map(_CLIENT.search, texts)) else otherwise
    if any(map(_TOO_LONG.search, texts)):
        kind = "agent_error"
    return Failure(kind=kind, message=words, traceback=trace)


def score_of(value: Any, *, scorer: str, because: str = "", **fields: Any) -> Score:
    """Convert a number to a score; a value without a finite number abstains."""
    number = float(value) if isinstance(value, bool) else finite_number(value)
    if number is None:
        why = because or f"the log has {value!r:.80} for it"
        return Abstained("unscored", why, scorer=scorer, **fields)
    return Scored(number, because, scorer=scorer, **fields)


def no_score(broken: Failure | None, scorer: str) -> Abstained | None:
    """The abstention for a model or environment error, otherwise `None`."""
    if broken is None or broken.kind == "agent_error":
        return None
    return Abstained(broken.kind, broken.message[:300], scorer=scorer)


def messages_of(messages: Any) -> tuple[Message, ...]:
    """The messages of a conversation in chat API format; a text is a user message."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    return tuple(map(_message, messages)) if isinstance(messages, list) else ()


def _message(message: Any) -> Message:
    if not isinstance(message, Mapping):
        raise BadRecord(f"a message must be an object, not {message!r:.80}")
    calls = message.get("tool_calls")
    fields = {str(key): value for key, value in message.items() if value is not None}
    fields["tool_calls"] = [_call(call) for call in calls] if isinstance(calls, list) else ()
    return Message.model_validate(fields)


def _call(call: Any) -> dict[str, Any]:
    if isinstance(call, str):
        call = json.loads(call)
    function = call.get("function")
    named = function if isinstance(function, Mapping) else call
    arguments = named.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    call_id = str(call.get("id") or call.get("call_id") or "")
    return tool_call(call_id, str(named.get("name") or function or ""), text)


def last_reply(messages: Iterable[Message]) -> str | None:
    """The last non-empty text of the assistant, or `None`."""
    texts = [text_of(each.content) for each in messages if each.role == "assistant"]
    return next((text for text in reversed(texts) if text), None)


def last_text(messages: Iterable[Message], role: str) -> str | None:
    """The text of the last message with this role, or `None`."""
    texts = [text_of(each.content) for each in messages if each.role == role]
    return texts[-1] if texts else None


def next_repeat(name: str, repeats: Counter[str], recorded: Any = None) -> int:
    """The repeat number of an attempt from 0, as recorded or as counted."""
    number = finite_number(recorded)
    if number is not None and 0 <= number < 2**31:
        return int(number)
    repeats[name] += 1
    return repeats[name] - 1


def usage_of(prompt: Any, completion: Any, *, cost: Any = None, calls: int = 0) -> Usage:
    """Collect tokens, cost and calls; a value that is not a number is ignored."""
    dollars = finite_number(cost)
    return Usage(
        prompt_tokens=count_of(prompt), completion_tokens=count_of(completion), cost_usd=dollars,
        calls=calls,
    )  # fmt: skip


def count_of(value: Any) -> int:
    """Convert a value to a count; a value that is not a number becomes 0."""
    number = finite_number(value)
    return int(number) if number is not None and 0 <= number < 2**53 else 0


def references_of(path: str | Path) -> dict[str, Any]:
    """Read the reference answer of each task from a JSON or JSON lines file."""
    file = Path(path)
    if file.suffix != ".jsonl":
        return load_file(file)
    references: dict[str, Any] = {}
    problems = ReadProblems()
    for where, row in json_rows(file, problems):
        name = next((row[key] for key in ("id", "task_id", "task") if key in row), None)
        key = next((key for key in ("answer", "reference", "gold", "solution") if key in row), None)
        if name is None or key is None:
            raise BadRecord(f"{where}: each reference line needs the keys 'id' and 'answer'")
        references[str(name)] = row[key]
    if problems.count:
        raise BadRecord(problems.texts[0])
    return references


def check_references(references: Mapping[str, Any], tasks: Iterable[str]) -> None:
    """Raise `BadRecord` if no reference answer belongs to one of the tasks."""
    names = list(tasks)
    if not references or references.keys() & set(names):
        return
    example = names[0] if names else ""
    raise BadRecord(
        f"no reference is for a task of this log: it has {example!r}, the references "
        f"{next(iter(references))!r}; {did_you_mean(example, references)}".rstrip("; ")
    )


def read_optional(path: Path | None) -> dict[str, Any]:
    """The JSON object of an optional file, or an empty object if it is unreadable."""
    if path is None or not path.is_file() or path.is_symlink():
        return {}
    try:
        return load_file(path)
    except (BadRecord, OSError):
        return {}
