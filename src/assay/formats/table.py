"""Attempts as rows of a table: written as JSON lines or CSV, read from JSON lines.

A row that is read has a question and what was answered to it. The parts are found by their usual
names, and by `columns` where a file has others: `id`, `question`, `answer` (the reference),
`response`, `score`, and `scorer`, `because`, `repeat`, `error`, `stop_reason`, `model`,
`prompt_tokens`, `completion_tokens`, `cost_usd`, `started_at`, `elapsed_s`. Every other column is
metadata of the task. What our own export writes is read back.

As CSV: a spreadsheet would run a text that begins like a formula, and a model can write one. Such
a text gets an apostrophe in front. Numbers stay as they are.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from assay.errors import BadInput, BadParameter, BadRecord, did_you_mean
from assay.formats import RunRecords, foreign
from assay.formats.foreign import ForeignRun, LogRecord, ReadProblems
from assay.formats.lines import dump_json, finite_number, valid_text, write_lines
from assay.schema.column_names import ANSWERS, GOALS, IDS, RESPONSES, SCORES
from assay.schema.episode import Episode, Failure, StopReason, Trajectory
from assay.schema.message import Message
from assay.schema.score import Abstained, Score
from assay.schema.task import Task

ColumnType: TypeAlias = Literal["text", "integer", "number", "truth"]
_FORMULA = ("=", "@", "\t", "\r")
_SIGNS = ("+", "-")


class _Attempt(NamedTuple):
    run_id: str
    episode: Episode
    counts: bool
    primary: Score | None


_CELLS: dict[str, tuple[ColumnType, Callable[[_Attempt], Any]]] = {
    "run_id": ("text", lambda row: row.run_id),
    "attempt": ("text", lambda row: row.episode.attempt),
    "task_id": ("text", lambda row: row.episode.task.id),
    "repeat": ("integer", lambda row: row.episode.repeat),
    "counts": ("truth", lambda row: row.counts),
    "domain": ("text", lambda row: row.episode.domain),
    "goal": ("text", lambda row: row.episode.task.goal),
    "answer": ("text", lambda row: _as_text(row.episode.task.answer)),
    "final_response": ("text", lambda row: row.episode.final_response),
    "stop_reason": ("text", lambda row: row.episode.stop_reason),
    "failure": ("text", lambda row: row.episode.failure and row.episode.failure.message),
    "reward": ("number", lambda row: None if row.primary is None else row.primary["reward"]),
    "scorer": ("text", lambda row: "" if row.primary is None else row.primary.scorer),
    "because": ("text", lambda row: "" if row.primary is None else row.primary.because),
    "abstained": (
        "text",
        lambda row: row.primary.reason if isinstance(row.primary, Abstained) else None,
    ),
    "n_steps": ("integer", lambda row: row.episode.n_steps),
    "cum_reward": ("number", lambda row: row.episode.cum_reward),
    "cum_raw_reward": ("number", lambda row: row.episode.cum_raw_reward),
    "prompt_tokens": ("integer", lambda row: row.episode.usage.prompt_tokens),
    "completion_tokens": ("integer", lambda row: row.episode.usage.completion_tokens),
    "cost_usd": ("number", lambda row: row.episode.usage.cost_usd),
    "calls": ("integer", lambda row: row.episode.usage.calls),
    "started_at": ("text", lambda row: row.episode.started_at),
    "elapsed_s": ("number", lambda row: row.episode.elapsed_s),
    "task_metadata": ("text", lambda row: _as_text(row.episode.task.metadata)),
    "metadata": ("text", lambda row: _as_text(row.episode.metadata)),
}
COLUMNS: dict[str, ColumnType] = {name: kind for name, (kind, _) in _CELLS.items()}
"""The columns of every export; then `NAME` and `NAME.<part>` for each reward.

`answer` (where it is not text) and both kinds of metadata are JSON. `counts` is false for an
attempt that another one replaced. `reward` is the primary score as it was given; a mean leaves
out the attempts whose `stop_reason` is `model_error` or `env_error`.
"""


def write(run: RunRecords, path: Path) -> int:
    """Write each attempt as a JSON line, and return the number of attempts."""
    return write_lines(path, rows(run, columns_of(run)))


def write_csv(run: RunRecords, path: Path) -> int:
    """Write each attempt as a CSV row, and return the number of attempts."""
    columns = columns_of(run)
    count = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(csv_cell, columns))
        for row in rows(run, columns):
            writer.writerow(map(csv_cell, row.values()))
            count += 1
    return count


def csv_cell(value: Any) -> Any:
    """The value as a CSV cell that a spreadsheet cannot take for a formula."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    text = valid_text(value)
    return f"'{text}" if _is_formula(text) else text


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet would run the text as a formula; a signed number is safe."""
    if not text.startswith(_SIGNS):
        return text.startswith(_FORMULA)
    try:
        float(text)
    except ValueError:
        return len(text) > 1
    return False


def columns_of(run: RunRecords) -> dict[str, ColumnType]:
    """The names and the types of the columns of a run's table."""
    scores = dict.fromkeys(name for episode in run.episodes() for name in _score_cells(episode))
    return {**COLUMNS, **{name: "number" for name in scores if name not in COLUMNS}}


def rows(run: RunRecords, columns: dict[str, ColumnType]) -> Iterator[dict[str, Any]]:
    """One row with these columns for each attempt of the run."""
    final = {episode.attempt for episode in run.final()}
    for episode in run.episodes():
        primary = episode.scores[0] if episode.scores else None
        attempt = _Attempt(run.manifest.run_id, episode, episode.attempt in final, primary)
        fixed = {name: cell(attempt) for name, (_, cell) in _CELLS.items()}
        row = {**dict.fromkeys(columns), **_score_cells(episode), **fixed}
        yield {name: row[name] for name in columns}


def _score_cells(episode: Episode) -> dict[str, float | None]:
    row: dict[str, float | None] = {}
    for score in episode.scores:
        row[score.name] = score["reward"]
        row.update({f"{score.name}.{part}": value for part, value in score.parts.items()})
    return row


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else dump_json(value).decode("ascii")


PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "id": IDS,
        "question": GOALS,
        "answer": ANSWERS,
        "response": RESPONSES,
        "score": SCORES,
        "messages": ("messages", "conversation", "trajectory"),
        **{
            name: (name,)
            for name in (
                "scorer", "because", "abstained", "repeat", "error", "stop_reason", "model",
                "domain", "prompt_tokens", "completion_tokens", "cost_usd", "calls", "n_steps",
                "started_at", "elapsed_s",
            )
        },
    }
)  # fmt: skip
"""The parts of an attempt, each with the names of columns that may hold it."""
ALIASES = {alias: part for part, names in PARTS.items() for alias in names}
OF_OUR_EXPORT = frozenset(
    {"run_id", "attempt", "counts", "failure", "cum_reward", "cum_raw_reward", "task_metadata",
     "metadata"}
)  # fmt: skip
ENDINGS = get_args(StopReason)
RESULTS = ("response", "score", "messages", "error")
"""The parts of which a row has one at least: without them nothing was attempted."""
LONGEST_NUMBER = 40
"""Characters of a score that is a text."""


def logs(path: Path, columns: Mapping[str, str] | None = None) -> list[Path]:
    """The file, if its first row has a question and a response or a score.

    With `columns`, any file of JSON lines: `read` says what is wrong with them.
    """
    if path.is_dir() or path.suffix not in (".jsonl", ".ndjson"):
        return []
    row = foreign.first_row(path)
    if columns and row:
        return [path]
    usual = {part for part, names in PARTS.items() if any(name in row for name in names)}
    return [path] if "question" in usual and usual & {"response", "score", "messages"} else []


def read(path: Path, *, columns: Mapping[str, str] | None = None) -> ForeignRun:
    """Read the rows of a file as a run; `columns` maps parts to column names."""
    first = foreign.first_row(path)
    if not first:
        raise BadInput(f"{str(path)!r} is not a file of JSON lines")
    explicit_columns = dict(columns or {})
    _check(path, first, explicit_columns)
    model = first.get(_places(first, explicit_columns).get("model", ""))
    agent = {"name": "rows", "options": {} if model is None else {"model": model}}
    settings = {"agent": agent, "columns": explicit_columns}
    imported = foreign.origin(path, "jsonl")
    manifest = foreign.manifest_of(path.stem, str(model or path.stem), imported, settings)

    def numbered(problems: ReadProblems) -> Iterator[LogRecord]:
        for number, row in enumerate(foreign.json_rows(path, problems), 1):
            yield row._replace(data={**row.data, "\0": (number, row.where)})

    return foreign.run_of_rows(
        manifest,
        (path,),
        numbered,
        lambda row, repeats: _episode(row, explicit_columns, repeats),
    )


def _check(path: Path, row: Mapping[str, Any], columns: Mapping[str, str]) -> None:
    """Raise `BadParameter` if a part or a column does not exist."""
    for part, column in columns.items():
        if part not in ALIASES:
            hint = did_you_mean(part, PARTS, f"the parts are {', '.join(PARTS)}")
            raise BadParameter(f"--column {part}={column}: unknown part {part!r}; {hint}")
        if column not in row:
            hint = did_you_mean(column, row, f"its columns are: {', '.join(sorted(row))}")
            raise BadParameter(f"--column {part}={column}: {path.name} has no {column!r}; {hint}")
    parts = _places(row, columns).keys()
    for part, others in (("question", ("id",)), ("response", RESULTS)):
        if not parts & {part, *others}:
            what = "question" if part == "question" else "response and no score"
            raise BadInput(
                f"{path.name} has no {what}; its columns are: {', '.join(sorted(row))}; name "
                f"the column with --column {part}=NAME"
            )


def _places(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, str]:
    explicit = {ALIASES[part]: column for part, column in columns.items()}
    used = set(explicit.values())
    usual = {
        part: next((name for name in names if name in row and name not in used), "")
        for part, names in PARTS.items()
    }
    return {part: column for part, column in {**usual, **explicit}.items() if column}


def _episode(row: dict[str, Any], columns: Mapping[str, str], repeats: Counter[str]) -> Episode:
    number, where = row.pop("\0")
    places = _places(row, columns)
    parts = {part: row.get(column) for part, column in places.items()}
    if parts.get("question") is None and parts.get("id") is None:
        raise BadRecord("the row has neither a question nor an id")
    if not parts.keys() & set(RESULTS):
        raise BadRecord("the row has neither a response nor a score")
    name = str(parts["id"]) if parts.get("id") is not None else f"line.{number}"
    question = parts.get("question")
    turns = question if isinstance(question, list) else None
    messages = foreign.messages_of(parts.get("messages")) or foreign.messages_of(turns)
    response = _response(parts.get("response"), messages)
    broken = _broken(row, parts)
    return Episode(
        task=Task(
            id=name,
            goal=(foreign.last_text(messages, "user") or "")
            if turns is not None
            else str("" if question is None else question),
            answer=_reference(row, parts.get("answer")),
            metadata=_metadata(row, places, parts.get("domain")),
        ),
        repeat=foreign.next_repeat(name, repeats, parts.get("repeat")),
        trajectory=Trajectory(messages=messages, stop_reason=_ending(parts, broken, response)),
        final_response=response,
        scores=tuple(_scores(parts, broken, where)),
        n_steps=foreign.count_of(parts.get("n_steps")),
        usage=foreign.usage_of(
            parts.get("prompt_tokens"),
            parts.get("completion_tokens"),
            cost=parts.get("cost_usd"),
            calls=foreign.count_of(parts.get("calls")),
        ),
        started_at=foreign.utc(parts.get("started_at")),
        elapsed_s=finite_number(parts.get("elapsed_s")) or 0.0,
        failure=broken,
    )


def _response(response: Any, messages: tuple[Message, ...]) -> str | None:
    if isinstance(response, list):
        messages, response = foreign.messages_of(response), None
    if response is not None:
        return response if isinstance(response, str) else json.dumps(response, ensure_ascii=False)
    return foreign.last_text(messages, "assistant")


def _reference(row: Mapping[str, Any], answer: Any) -> Any:
    """The reference answer of a row; Assay's own exports store lists as JSON."""
    if isinstance(answer, str) and "task_metadata" in row and answer[:1] in ("[", "{"):
        try:
            return json.loads(answer)
        except ValueError:
            return answer
    return answer


def _metadata(row: Mapping[str, Any], places: Mapping[str, str], domain: Any) -> dict[str, Any]:
    used = {*places.values(), *(OF_OUR_EXPORT if "task_metadata" in row else ())}
    rest = {key: value for key, value in row.items() if key not in used}
    nested = row.get("metadata")
    if isinstance(nested, dict):
        rest = {**nested, **{key: value for key, value in rest.items() if key != "metadata"}}
    return rest if domain in (None, "") else {**rest, "domain": domain}


def _broken(row: Mapping[str, Any], parts: Mapping[str, Any]) -> Failure | None:
    message = parts.get("error") or (row.get("failure") if "task_metadata" in row else None)
    ending = parts.get("stop_reason")
    if ending in ("agent_error", "model_error", "env_error"):
        return Failure(kind=ending, message=str(message or "no cause was recorded"))
    return foreign.failure(message, otherwise="env_error") if message else None


def _ending(parts: Mapping[str, Any], broken: Failure | None, response: str | None) -> StopReason:
    """The stop reason of an attempt; `answered` if only a score was recorded."""
    if broken is not None:
        return broken.kind
    if parts.get("stop_reason") in ENDINGS:
        ending: StopReason = parts["stop_reason"]
        return ending
    recorded = bool(parts.keys() & {"response", "messages"})
    return "gave_up" if recorded and not response else "answered"


def _scores(parts: Mapping[str, Any], broken: Failure | None, where: str) -> Iterator[Score]:
    if "score" not in parts:
        return
    scorer = str(parts.get("scorer") or "score")
    because = str(parts.get("because") or "")
    if (no_score := foreign.no_score(broken, scorer)) is not None:
        yield no_score
    elif parts.get("abstained"):
        yield Abstained(str(parts["abstained"]), because, scorer=scorer)
    else:
        number = _number(parts["score"])
        if number is None:
            because = f"the score is {json.dumps(parts['score'])[:80]} ({where})"
        yield foreign.score_of(number, scorer=scorer, because=because)


def _number(score: Any) -> float | None:
    """The score as a number, also if a text contains the number; otherwise `None`."""
    if isinstance(score, str) and len(score) < LONGEST_NUMBER:
        with suppress(ValueError):
            score = float(score)
    return float(score) if isinstance(score, bool) else finite_number(score)
