"""Read samples of the LM Evaluation Harness, written with `--log_samples`.

A file `samples_<task>_<date>.jsonl` is a run; `results_<date>.json` next to it says the model, the
version of the task and the tool's own means. The file has a line for each document and filter: a
document is one attempt, and each metric after each filter is one of its scores, under the name that
the tool has for it (`exact_match,strict-match`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.errors import BadRecord
from assay.formats import foreign
from assay.formats.foreign import ForeignRun, LogRecord, ReadProblems, ReportedScore, StoreArtifact
from assay.formats.lines import finite_number
from assay.schema.episode import Episode, Trajectory
from assay.schema.message import Message, text_of
from assay.schema.score import Score
from assay.schema.task import Task

KEYS = frozenset({"doc_id", "doc", "filtered_resps"})
NOT_METRICS = frozenset(
    {
        "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
        "doc_hash", "prompt_hash", "target_hash", "schema_version",
    }
)  # fmt: skip
"""The columns of a sample that are no metric, for versions that do not list the metrics."""
_DATE = re.compile(r"_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl?$")
VERSIONS = (("lm_eval", "lm_eval_version"), ("transformers", "transformers_version"))
_NONE = "none"
"""The name of the filter that filters nothing."""


def logs(path: Path) -> list[Path]:
    """The sample files at the path; for a results file, the samples of the same date."""
    if path.is_dir():
        files = sorted(path.rglob("*.jsonl"))
    elif path.suffix == ".json" and foreign.top_keys(path) >= {"results", "configs"}:
        files = [f for f in sorted(path.parent.glob("*.jsonl")) if _date(f) == _date(path)]
    else:
        files = [path] if path.suffix in (".jsonl", ".json") else []
    return [file for file in files if foreign.first_row(file).keys() >= KEYS]


def read(path: Path) -> ForeignRun:
    """Read the documents of one task as a run."""
    date = _date(path)
    day, clock = date[:10], date[10:].replace("-", ":")
    results_file = path.with_name(f"results_{date}.json")
    results = foreign.read_optional(results_file)
    task = _DATE.sub("", path.name).removeprefix("samples_").removesuffix(".jsonl")
    version = (results.get("versions") or {}).get(task)
    # In the order of the file: the first one's metrics are primary.
    filters = list(dict.fromkeys(map(_filter, foreign.json_rows(path))))
    if not filters:
        raise BadRecord(f"{str(path)!r} holds no samples")
    model = results.get("model_name") or (results.get("config") or {}).get("model")
    manifest = foreign.manifest_of(
        task,
        str(model or "lm-eval"),
        foreign.origin(path, "lm-eval", _reported(task, filters, results)),
        _settings(task, results),
        versions={name: str(results[key]) for name, key in VERSIONS if results.get(key)},
        commit=str(results.get("git_hash") or ""),
        created_at=foreign.utc(results.get("date")) or foreign.utc(day + clock),
    )
    suffix = "" if version is None else f"@{version}"

    def episodes(store: StoreArtifact, problems: ReadProblems) -> Iterator[Episode]:  # noqa: ARG001
        first, others = filters[0], _other_scores(path, filters[1:], suffix, problems)
        rows = (row for row in foreign.json_rows(path, problems) if _filter(row) == first)
        return foreign.episodes_of(rows, lambda row: _episode(row, suffix, others), problems)

    files = (path, results_file) if date and results_file.is_file() else (path,)
    return ForeignRun(manifest, files, episodes)


def _date(path: Path) -> str:
    match = _DATE.search(path.name)
    return match[1] if match else ""


def _filter(row: LogRecord) -> str:
    return str(row.data.get("filter") or _NONE)


def _settings(task: str, results: Mapping[str, Any]) -> dict[str, Any]:
    run = results.get("config") or {}
    keys = {"version": "versions", "hash": "task_hashes", "num_fewshot": "n-shot"}
    about = {name: (results.get(key) or {}).get(task) for name, key in keys.items()}
    sampling = {"gen_kwargs": run.get("gen_kwargs") or {}}
    agent, model = run.get("model") or "lm-eval", results.get("model_name")
    return foreign.settings_of(agent, model, sampling, name=task, **about, limit=run.get("limit"))


def _reported(task: str, filters: list[str], results: Mapping[str, Any]) -> Iterator[ReportedScore]:
    n = ((results.get("n-samples") or {}).get(task) or {}).get("effective")
    for name, value in ((results.get("results") or {}).get(task) or {}).items():
        number = finite_number(value)
        metric, comma, filter_name = str(name).rpartition(",")
        is_mean = comma and filter_name in filters and not metric.endswith("_stderr")
        if is_mean and number is not None:
            yield ReportedScore(_score_name(metric, filter_name), number, n)


def _score_name(metric: str, filter_name: str) -> str:
    return metric if filter_name == _NONE else f"{metric},{filter_name}"


def _other_scores(
    path: Path, filters: list[str], suffix: str, problems: ReadProblems
) -> dict[str, list[Score]]:
    scores: dict[str, list[Score]] = {}
    for row in foreign.json_rows(path) if filters else ():
        if _filter(row) not in filters or "doc_id" not in row.data:
            continue
        try:
            scores.setdefault(str(row.data["doc_id"]), []).extend(_scores(row.data, suffix))
        except foreign.DAMAGE as error:
            problems.add(f"{row.where}: {foreign.explain(error)}")
    return scores


def _scores(row: Mapping[str, Any], suffix: str) -> Iterator[Score]:
    """The scores of a row's metrics that are single numbers."""
    filter_name = str(row.get("filter") or _NONE)
    names = row.get("metrics") or [name for name in row if name not in NOT_METRICS]
    responses = row.get("filtered_resps")
    listed = responses if isinstance(responses, list) else [responses]
    text = next((each for each in listed if isinstance(each, str)), None)
    notes = {} if text is None else {"extracted": text}
    for name in names:
        value = row.get(name)
        if isinstance(value, bool) or finite_number(value) is not None:
            yield foreign.score_of(
                value, scorer=_score_name(name, filter_name) + suffix, notes=notes
            )


def _episode(row: dict[str, Any], suffix: str, others: Mapping[str, list[Score]]) -> Episode:
    number, doc = str(row["doc_id"]), row["doc"]
    prompt = _prompt(row.get("arguments"))
    choices = _choices(row.get("arguments"))
    response = _response(row.get("resps"), choices)
    messages = (*prompt, *([Message(role="assistant", content=response)] if response else []))
    return Episode(
        task=Task(
            id=number,
            goal=text_of(prompt[-1].content) if prompt else "",
            answer=_answer(row.get("target"), choices),
            metadata=doc if isinstance(doc, dict) else {"doc": doc},
        ),
        trajectory=Trajectory(messages=messages, stop_reason="answered"),
        final_response=response,
        scores=(*_scores(row, suffix), *others.get(number, ())),
    )


def _requests(arguments: Any) -> list[Any]:
    """The model requests for a document: the prompt with a continuation or options."""
    if not isinstance(arguments, Mapping):
        return arguments if isinstance(arguments, list) else []
    requests = [arguments[key] for key in sorted(arguments, key=_place)]
    return [
        [each.get("arg_0"), each.get("arg_1")] if isinstance(each, Mapping) else each
        for each in requests
    ]


def _place(name: str) -> tuple[int, str]:
    digits = re.sub(r"\D", "", str(name))
    return int(digits[:9] or 0), str(name)


def _prompt(arguments: Any) -> tuple[Message, ...]:
    requests = _requests(arguments)
    first = requests[0][0] if requests and isinstance(requests[0], list) and requests[0] else ""
    text = first[0] if isinstance(first, list) and first else first
    if not isinstance(text, str):
        return ()
    try:
        turns = json.loads(text) if text.startswith("[{") else None
    except ValueError:
        turns = None
    return foreign.messages_of(turns if isinstance(turns, list) else text)


def _choices(arguments: Any) -> list[str]:
    """The answer choices that the model compared; empty for generated text."""
    texts = [each[1] for each in _requests(arguments) if isinstance(each, list) and len(each) > 1]
    return [text.strip() for text in texts] if all(isinstance(t, str) for t in texts) else []


def _response(resps: Any, choices: list[str]) -> str | None:
    """The text that the model wrote, or the answer choice that it found most likely."""
    if not isinstance(resps, list) or not resps:
        return None
    first = [each[0] if isinstance(each, list) and each else each for each in resps]
    if isinstance(first[0], str):
        return first[0]
    weights = [_weight(each) for each in first]
    numbers = [weight for weight in weights if weight is not None]
    if len(choices) < 2 or not len(numbers) == len(weights) == len(choices):
        return None
    return choices[numbers.index(max(numbers))]


def _weight(response: Any) -> float | None:
    value = response[0] if isinstance(response, list) and response else response
    try:
        return finite_number(float(value) if isinstance(value, str) else value)
    except ValueError:
        return None


def _answer(target: Any, choices: list[str]) -> Any:
    index = int(target) if isinstance(target, str) and target.isdecimal() else target
    if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(choices) > 1:
        return choices[index]
    return target
