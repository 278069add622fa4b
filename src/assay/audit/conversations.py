"""Build conversations of an agent with a tool, and recorded episodes of an environment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from assay.audit.findings import Sample
from assay.schema.episode import Episode, Failure, Step, StopReason, Trajectory
from assay.schema.evidence import WorldEvidence
from assay.schema.message import Message
from assay.schema.task import Task

ChatMessage: TypeAlias = Mapping[str, Any]
TOOL = "search"


def conversation(sample: Sample, answer: str) -> tuple[ChatMessage, ...]:
    """Build a question, one tool call, a tool result with the reference, and an answer."""
    return (question(sample), *tool_use(sample), assistant(answer))


def read_calls(text: str) -> list[dict[str, Any]]:
    """Read a JSON list of tool calls; empty if the text is anything else."""
    try:
        calls = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(calls, list):
        return []
    known = [one for one in calls if isinstance(one, dict) and one.keys() == {"name", "arguments"}]
    return known if len(known) == len(calls) else []


def calling(sample: Sample, text: str) -> tuple[ChatMessage, ...]:
    """Build a question and the tool calls in `text`, or `text` as a plain answer."""
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": one["name"], "arguments": json.dumps(one["arguments"])},
        }
        for number, one in enumerate(read_calls(text), 1)
    ]
    if not calls:
        return (question(sample), assistant(text))
    return (question(sample), {"role": "assistant", "content": "", "tool_calls": calls})


def tagged(text: str) -> str:
    """Write tool calls as `<tool_call>` tags; return any other text unchanged."""
    calls = read_calls(text)
    tags = [f"<tool_call>{json.dumps(one)}</tool_call>" for one in calls]
    return "\n".join(tags) if tags else text


def question(sample: Sample) -> ChatMessage:
    return {"role": "user", "content": sample.prompt}


def assistant(text: str) -> ChatMessage:
    return {"role": "assistant", "content": text}


def tool_use(
    sample: Sample,
    number: int = 1,
    *,
    result: str | None = None,
    query: str | None = None,
    failed: bool = False,
) -> tuple[ChatMessage, ChatMessage]:
    """Build one tool call and its result; a failed call has error fields."""
    call_id = f"call_{number}"
    arguments = json.dumps({"query": sample.prompt if query is None else query})
    function = {"name": TOOL, "arguments": arguments}
    content = f"The register says: {sample.reference_text}" if result is None else result
    marks = {"is_error": True, "status": "error"} if failed else {}
    return (
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call_id, "name": TOOL, "content": content, **marks},
    )


ENVIRONMENTS: Final = ("webshop", "alfworld", "scienceworld")
ONE_ENDING: Final = "recorded episodes of one's own end in one way each; the built-in ones in all"
Ending: TypeAlias = Literal["done", "failed", "unfinished", "dead", "after done"]
"""How it ended: `dead` is an environment that broke, `after done` one that got more steps."""
UNSUCCESSFUL: Final[tuple[Ending, ...]] = ("failed", "unfinished")
_LAST_STEPS: Final[Mapping[Ending, Sequence[tuple[float, bool]]]] = {
    "done": [(1.0, True)], "failed": [(0.0, True)], "unfinished": [], "dead": [],
    "after done": [(1.0, True)] * 3,
}  # fmt: skip
"""The share of full marks after each step that follows the first, and whether it was the end."""


def has_own_episodes(samples: Iterable[Sample]) -> bool:
    """Whether any sample contains the user's own recorded episode."""
    return any("episode" in sample.columns for sample in samples)


def episode_record(
    sample: Sample, ending: Ending = "done", final_response: str = "The task is done."
) -> dict[str, Any]:
    """Build an episode record with the given ending and the evidence of every text environment."""
    task_id = str(sample.columns.get("task_id", "audit"))
    turns = (
        ("user", sample.prompt),
        ("assistant", "go north"),
        ("user", "A room."),
        ("assistant", final_response),
    )
    stop: StopReason = "env_error" if ending == "dead" else "finished"
    episode = Episode(
        task=Task(id=task_id, goal=sample.prompt),
        trajectory=Trajectory(
            messages=tuple(Message(role=role, content=text) for role, text in turns),
            steps=tuple(_steps(task_id, ending)),
            stop_reason="step_limit" if ending == "unfinished" else stop,
        ),
        final_response=final_response,
        failure=Failure(kind="env_error", message="the world died") if ending == "dead" else None,
    )
    return episode.model_dump(mode="json")


def _steps(task_id: str, ending: Ending) -> Iterable[Step]:
    paid = 0.0
    for number, (share, done) in enumerate([(0.0, False), *_LAST_STEPS[ending]]):
        # An environment pays for reaching the goal once; a faulty one pays the same again for each
        # step after its end.
        gained = share if ending == "after done" and done else share - paid
        paid = max(paid, share)
        for offset, name in enumerate(ENVIRONMENTS):
            reward = gained if offset == 0 and number > 0 else None
            yield Step(
                index=number,
                action="" if number == 0 else "go north",
                evidence=_evidence(name, task_id, share, done=done),
                reward=reward,
                raw_reward=reward,
            )


def _evidence(name: str, task_id: str, share: float, *, done: bool) -> WorldEvidence:
    won = share >= 1.0
    progress: dict[str, Any] = {"page": "done" if done else "search"}
    if name == "webshop":
        progress |= {
            "asin": "B000", "r_type": share, "attributes": 2, "attributes_matched": 2 if won else 0,
            "goal_options": 1, "options_matched": 1 if won else 0, "price_ok": won,
        }  # fmt: skip
    if name == "scienceworld":
        progress = {"max_score": 100 * share, "completed": won, "moves": 3}
    score = 100 * share if name == "scienceworld" else share
    return WorldEvidence(name, task_id, score, done, won, progress)
