"""Read rollouts of NeMo-Gym, as `gym eval run` writes them.

A line is an attempt: what was asked (`responses_create_params`), the model's `response` in the
shape of OpenAI's Responses, and the `reward` of its resources server. `<name>_failures.jsonl`
next to the rollouts has the ones that failed, `<name>_aggregate_metrics.json` the tool's own means.
Written from the published schema of version 0.4: `BaseVerifyResponse`, and `_ng_…` of the
collection.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from assay.formats import foreign
from assay.formats.foreign import ForeignRun, LogRecord, ReadProblems, ReportedScore
from assay.formats.lines import finite_number
from assay.schema.episode import Episode, Failure, StopReason, Trajectory
from assay.schema.message import Message, text_of
from assay.schema.task import Task

KEYS = frozenset({"responses_create_params", "response", "reward"})
SIDECARS = ("_failures", "_materialized_inputs")
TASK, ROLLOUT, FAILED = "_ng_task_index", "_ng_rollout_index", "_ng_failure_class"
SCORER = "reward"
REFERENCES = ("expected_answer", "answer", "ground_truth", "reference_answer", "label")
OWN = frozenset(
    {"responses_create_params", "response", "reward", "agent_ref", TASK, ROLLOUT, *REFERENCES}
)
"""The columns of a rollout that are no metadata of its task."""


def logs(path: Path) -> list[Path]:
    """The rollout files at the path, without the files that accompany them."""
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    return [
        file
        for file in files
        if file.suffix == ".jsonl"
        and not (path.is_dir() and file.stem.endswith(SIDECARS))
        and foreign.first_row(file).keys() >= KEYS
    ]


def read(path: Path) -> ForeignRun:
    """Read the rollouts of a file as a run, including failed rollouts."""
    failures = path.with_name(f"{path.stem}_failures.jsonl")
    metrics = path.with_name(f"{path.stem}_aggregate_metrics.json")
    files = (path, *(file for file in (failures, metrics) if file.is_file()))
    first = foreign.first_row(path)
    request = first.get("responses_create_params") or {}
    model = (first.get("response") or {}).get("model") or request.get("model")
    name = str((first.get("agent_ref") or {}).get("name") or path.stem)
    names = ("temperature", "top_p", "max_output_tokens", "reasoning")
    sampling = {key: request[key] for key in names if request.get(key) is not None}
    settings = foreign.settings_of(name, model, sampling)
    imported = foreign.origin(path, "nemo-gym", _reported(metrics))
    manifest = foreign.manifest_of(name, str(model or "nemo-gym"), imported, settings)

    def rows(problems: ReadProblems) -> Iterator[LogRecord]:
        failed = foreign.json_rows(failures, problems) if failures in files else iter(())
        return chain(failed, foreign.json_rows(path, problems))

    return foreign.run_of_rows(manifest, files, rows, _episode)


def _reported(metrics: Path) -> Iterator[ReportedScore]:
    try:
        record = json.loads(metrics.read_bytes()) if metrics.is_file() else []
    except (OSError, ValueError, RecursionError):
        return
    for agent in record if isinstance(record, list) else [record]:
        values = agent.get("agent_metrics") if isinstance(agent, Mapping) else None
        mean = finite_number((values or {}).get("mean/reward"))
        if mean is not None:
            yield ReportedScore(SCORER, mean)


def _episode(row: dict[str, Any], repeats: Counter[str]) -> Episode:
    request = row["responses_create_params"]
    response = row.get("response") or {}
    broken = _broken(row)
    prompt = _messages(request.get("input"), request.get("instructions"))
    output = _messages(response.get("output"))
    text = foreign.last_reply(output)
    name = str(row[TASK]) if TASK in row else text_of(prompt[-1].content) if prompt else ""
    used = response.get("usage") or {}
    reward = row.get("reward") if broken is None else None
    return Episode(
        task=Task(
            id=name,
            goal=foreign.last_text(prompt, "user") or "",
            answer=next((row[key] for key in REFERENCES if key in row), None),
            metadata={
                key: value
                for key, value in row.items()
                if key not in OWN and not key.startswith("_ng_")
            },
        ),
        repeat=foreign.next_repeat(name, repeats, row.get(ROLLOUT)),
        trajectory=Trajectory(
            messages=(*prompt, *output), stop_reason=_ending(response, broken, text)
        ),
        final_response=text,
        scores=(
            foreign.no_score(broken, SCORER)
            or foreign.score_of(reward, scorer=SCORER, because="as the log has it"),
        ),
        usage=foreign.usage_of(
            used.get("input_tokens"),
            used.get("output_tokens"),
            calls=sum(m.role == "assistant" for m in output),
        ),
        started_at=foreign.utc(response.get("created_at")),
        failure=broken,
        metadata={"agent": (row.get("agent_ref") or {}).get("name")},
    )


def _broken(row: Mapping[str, Any]) -> Failure | None:
    error = row.get(FAILED) or (row.get("response") or {}).get("error")
    if not error:
        return None
    words = error.get("message") if isinstance(error, Mapping) else error
    detail = row.get("error") or row.get("_ng_failure_message") or ""
    return foreign.failure(f"{words}: {detail}".rstrip(": "), otherwise="env_error")


def _ending(response: Mapping[str, Any], broken: Failure | None, text: str | None) -> StopReason:
    if broken is not None:
        return broken.kind
    if response.get("status") == "incomplete" or response.get("incomplete_details"):
        return "step_limit"
    return "answered" if text else "gave_up"


def _messages(items: Any, instructions: Any = None) -> tuple[Message, ...]:
    head = [{"role": "system", "content": instructions}] if isinstance(instructions, str) else []
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    plain = [_item(item) for item in items or () if isinstance(item, Mapping)]
    return foreign.messages_of([*head, *(item for item in plain if item)])


def _item(item: Mapping[str, Any]) -> dict[str, Any]:
    kind, summary = item.get("type") or "message", text_of(item.get("summary"))
    if kind == "message":
        return {"role": item.get("role") or "assistant", "content": text_of(item.get("content"))}
    if kind == "function_call":
        return {"role": "assistant", "content": "", "tool_calls": [dict(item)]}
    if kind == "function_call_output":
        call_id = str(item.get("call_id") or "")
        return {"role": "tool", "tool_call_id": call_id, "content": text_of(item.get("output"))}
    if kind == "reasoning" and summary:
        return {"role": "assistant", "content": "", "reasoning_content": summary}
    return {}
