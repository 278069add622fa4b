"""An Inspect scorer, asked as Inspect asks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .conversation import Talk
from .values import GRADES, refused, reply


async def ask(target: Any, talk: Talk, columns: dict[str, Any], gold: Any) -> Any:
    """The score of a state in which the model said the final response.

    The target is a scorer, or the function that builds one without arguments.
    """
    from inspect_ai.model import (  # type: ignore[import-not-found,unused-ignore]
        ChatMessageAssistant,
        ChatMessageUser,
        ModelOutput,
    )
    from inspect_ai.scorer import Target  # type: ignore[import-not-found,unused-ignore]
    from inspect_ai.solver import TaskState  # type: ignore[import-not-found,unused-ignore]

    scorer = target()
    said = talk.final_response
    state = TaskState(
        model="mockllm/model",
        sample_id=1,
        epoch=1,
        input=talk.prompt_text,
        messages=[ChatMessageUser(content=talk.prompt_text), ChatMessageAssistant(content=said)],
        output=ModelOutput.from_content("mockllm/model", said),
        metadata=dict(columns),
    )
    return await scorer(state, Target(gold if isinstance(gold, list) else str(gold)))


def to_reply(score: Any) -> dict[str, Any]:
    """Inspect's score as a reply; its letters count as its own metrics count them."""
    if score is None:
        return reply(None)
    value = score.value
    kind = type(value).__name__
    if isinstance(value, float) and value != value:
        return {**reply(None), "because": "unscored"}
    if isinstance(value, str):
        if value not in GRADES:
            return refused(f"the score is {value!r}", kind)
        value = GRADES[value]
    if isinstance(value, Mapping):
        value = {"reward": next(iter(value.values()), None), **value}
    because = str(score.explanation or "")[:300]
    return {**reply(value), "raw_type": type(score).__name__, "because": because}
