"""Read `results.jsonl` of verifiers 0.1 to 0.3 and `traces.jsonl` of verifiers 0.4.

A line is an attempt. `metadata.json` of the results, and `configs/` of the traces, say the
environment, the model and the tool's own means. The reward is primary, its metrics are its parts. A
rollout that an error ended has no score here, though the tool counts it as 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from assay.formats import foreign
from assay.formats.foreign import ForeignRun, ReportedScore
from assay.formats.lines import finite_number
from assay.schema.episode import Episode, Failure, StopReason, Trajectory
from assay.schema.message import Message, text_of
from assay.schema.score import Score
from assay.schema.task import Task
from assay.schema.usage import Usage

RESULTS = frozenset({"example_id", "prompt", "completion", "reward"})
TRACES = frozenset({"env", "task", "traces"})
AGENTS = ("ToolParseError", "OverlongPromptError", "HarnessError")
"""The errors that are the agent's own; every other is the model's or the environment's."""
CONFIGS = ("configs/resolved/eval.json", "configs/eval.json")


def logs(path: Path) -> list[Path]:
    """The result files of verifiers at the path."""
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    return [file for file in files if file.suffix == ".jsonl" and _kind(file)]


def _kind(file: Path) -> str:
    keys = foreign.first_row(file).keys()
    return "results" if keys >= RESULTS else "traces" if keys >= TRACES else ""


def read(path: Path) -> ForeignRun:
    """Read the rollouts of a file as a run."""
    return _read_traces(path) if _kind(path) == "traces" else _read_results(path)


def _read_results(path: Path) -> ForeignRun:
    about_file = path.with_name("metadata.json")
    about = foreign.read_optional(about_file)
    versions = about.get("version_info") or {}
    name = str(about.get("env_id") or path.parent.name)
    mean = finite_number(about.get("avg_reward"))
    reported = [] if mean is None else [ReportedScore("reward", mean)]
    model, version = about.get("model"), versions.get("env_version")
    sampling, arguments = about.get("sampling_args") or {}, about.get("env_args") or {}
    manifest = foreign.manifest_of(
        name,
        str(model or "verifiers"),
        foreign.origin(path, "verifiers", reported),
        foreign.settings_of(
            "verifiers", model, sampling, name=name, version=version, args=arguments
        ),
        versions=_version(versions.get("vf_version")),
        created_at=foreign.utc(about.get("date")),
    )
    files = (path, about_file) if about_file.is_file() else (path,)
    scorer = f"reward@{version}" if version else "reward"
    return foreign.run_of_rows(
        manifest,
        files,
        partial(foreign.json_rows, path),
        lambda row, repeats: _episode(row, scorer, repeats),
    )


def _version(version: Any) -> dict[str, str]:
    return {"verifiers": str(version)} if version else {}


def _episode(row: dict[str, Any], scorer: str, repeats: Counter[str]) -> Episode:
    name, reward = str(row["example_id"]), row["reward"]
    reply = row["completion"]
    reply = [{"role": "assistant", "content": reply}] if isinstance(reply, str) else reply
    prompt, completion = foreign.messages_of(row["prompt"]), foreign.messages_of(reply)
    broken = _broken(row.get("error"))
    response = foreign.last_text(completion, "assistant")
    used = row.get("token_usage") or {}
    timing = row.get("timing") or {}
    calls = sum(message.role == "assistant" for message in completion)
    return Episode(
        task=Task(
            id=name,
            goal=foreign.last_text(prompt, "user") or "",
            answer=row.get("answer") or None,
            metadata=_info(row),
        ),
        repeat=foreign.next_repeat(name, repeats),
        trajectory=Trajectory(
            messages=(*prompt, *completion), stop_reason=_ending(row, broken, response)
        ),
        final_response=response,
        scores=(_reward(reward, scorer, row.get("metrics"), broken),),
        usage=foreign.usage_of(used.get("input_tokens"), used.get("output_tokens"), calls=calls),
        started_at=foreign.utc(timing.get("start_time")),
        elapsed_s=finite_number(timing.get("total")) or 0.0,
        failure=broken,
        metadata={"stop_condition": row.get("stop_condition")},
    )


def _info(row: Mapping[str, Any]) -> dict[str, Any]:
    info = row.get("info")
    fields = dict(info) if isinstance(info, dict) else {} if info is None else {"info": info}
    return {**fields, **({"domain": row["task"]} if isinstance(row.get("task"), str) else {})}


def _broken(error: Any) -> Failure | None:
    if not error:
        return None
    if isinstance(error, Mapping):
        kind = str(error.get("error") or error.get("type") or "")
        words = str(error.get("error_chain_repr") or error.get("message") or kind)
        text = words if kind in words else f"{kind}: {words}"
        trace = error.get("traceback")
    else:
        text, trace = str(error), ""
    own = any(name in text for name in AGENTS)
    return foreign.failure(text, trace, otherwise="agent_error" if own else "env_error")


def _ending(row: Mapping[str, Any], broken: Failure | None, response: str | None) -> StopReason:
    if broken is not None:
        return broken.kind
    if row.get("is_timeout") or "timeout" in str(row.get("stop_condition") or ""):
        return "timeout"
    if row.get("is_truncated"):
        return "step_limit"
    return "answered" if response else "gave_up"


def _reward(reward: Any, scorer: str, metrics: Any, broken: Failure | None) -> Score:
    parts = {
        str(name): finite_number(value)
        for name, value in (metrics or {}).items()
        if str(name) != "reward"
    }
    score = foreign.score_of(reward, scorer=scorer, because="as the log has it", parts=parts)
    return foreign.no_score(broken, scorer) or score


def _read_traces(path: Path) -> ForeignRun:
    first = foreign.first_row(path)
    config_file = next((path.parent / n for n in CONFIGS if (path.parent / n).is_file()), None)
    config = foreign.read_optional(config_file)
    trace: dict[str, Any] = next(iter(first.get("traces") or ()), {})
    agent = (trace.get("agent") or {}).get("config") or {}
    name = str((first.get("env") or {}).get("id") or path.parent.name)
    model = config.get("model") or agent.get("model")
    harness = (agent.get("harness") or {}).get("id") or "verifiers"
    manifest = foreign.manifest_of(
        name,
        str(model or "verifiers"),
        foreign.origin(path, "verifiers"),
        foreign.settings_of(harness, model, agent.get("sampling") or {}, name=name),
        versions=_version((trace.get("verifiers") or {}).get("version")),
    )

    files = (path,) if config_file is None else (path, config_file)
    return foreign.run_of_rows(manifest, files, partial(foreign.json_rows, path), _traced)


def _traced(row: dict[str, Any], repeats: Counter[str]) -> Episode:
    """The episode of one line; the first agent with a reward represents all agents."""
    data = row["task"]["data"]
    traces = row["traces"]
    trace = next((each for each in traces if each.get("rewards")), traces[0] if traces else {})
    name = str(data.get("name") or data.get("idx") or row["task"].get("key"))
    messages = _branch(trace.get("nodes") or [])
    response = trace.get("root_reply") or foreign.last_text(messages, "assistant")
    errors = [*(trace.get("errors") or ()), *(row.get("errors") or ())]
    broken = None if row.get("ok") else _broken(errors[-1] if errors else "the rollout failed")
    named = ("answer", "prompt", "name", "idx")
    metadata = {key: value for key, value in data.items() if key not in named}
    timing = trace.get("timing") or {}
    start = finite_number(timing.get("start"))
    return Episode(
        task=Task(
            id=name,
            goal=foreign.last_text(messages, "user") or text_of(data.get("prompt")),
            answer=data.get("answer"),
            metadata=metadata,
        ),
        repeat=foreign.next_repeat(name, repeats),
        trajectory=Trajectory(messages=messages, stop_reason=_ending(trace, broken, response)),
        final_response=response,
        scores=(_rewards(trace, broken),),
        usage=_usage(traces),
        started_at=foreign.utc(start),
        elapsed_s=_elapsed(timing, start),
        failure=broken,
        metadata={"stop_condition": trace.get("stop_condition"), "traces": len(traces)},
    )


def _branch(nodes: list[Any]) -> tuple[Message, ...]:
    path: list[Any] = []
    place: Any = len(nodes) - 1
    while isinstance(place, int) and 0 <= place < len(nodes) and len(path) < len(nodes):
        path.append(nodes[place].get("message"))
        place = nodes[place].get("parent")
    return foreign.messages_of(path[::-1])


def _rewards(trace: Mapping[str, Any], broken: Failure | None) -> Score:
    """The weighted sum of the rewards, with each reward as a part."""
    rewards = {
        str(name): each for name, each in (trace.get("rewards") or {}).items() if each is not None
    }
    parts = {name: finite_number(each.get("score")) for name, each in rewards.items()}
    weights = [finite_number(each.get("weight", 1.0)) or 0.0 for each in rewards.values()]
    total = sum((part or 0.0) * w for part, w in zip(parts.values(), weights, strict=True))
    metrics = {**parts, **(trace.get("metrics") or {})}
    return _reward(total if rewards else None, "reward", metrics, broken)


def _usage(traces: list[Any]) -> Usage:
    calls = [call for trace in traces for call in trace.get("calls") or ()]
    used = [call.get("usage") or {} for call in calls]
    return foreign.usage_of(
        sum(_tokens(each, "prompt_tokens", "input_tokens") for each in used),
        sum(_tokens(each, "completion_tokens", "output_tokens") for each in used),
        calls=len(calls),
    )


def _tokens(usage: Mapping[str, Any], *names: str) -> float:
    return next((n for n in (finite_number(usage.get(name)) for name in names) if n), 0.0)


def _elapsed(timing: Mapping[str, Any], start: float | None) -> float:
    ends = [finite_number(each.get("end")) for each in timing.values() if isinstance(each, Mapping)]
    last = max((end for end in ends if end), default=None)
    return max(last - start, 0.0) if last and start else 0.0
