"""OpenRLHF: a `reward_func` for `--reward.remote_url file.py`, and the shape of its HTTP calls.

    # reward_func.py
    reward_func = openrlhf.reward("math_equal_reward")

Abstained: `None` in `rewards`, OpenRLHF's own mark for a sample whose reward could not be had.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import Any

from assay.adapters.binding import Binding, Reward, bind, fill_parts
from assay.errors import BadRecord
from assay.schema.score import Score

END_TOKENS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<end_of_turn>", "</s>", "<eos>")
"""What a decoded response may end with; OpenRLHF keeps special tokens."""


def reward(
    which: Reward,
    /,
    *,
    params: Mapping[str, Any] | None = None,
    name: str | None = None,
    end_tokens: Sequence[str] = END_TOKENS,
    **columns: str,
) -> Callable[..., dict[str, Any]]:
    """A `reward_func(queries, prompts, labels)`; the reward's `answer` is the label.

    The response is what follows the prompt in the query; a query that does not contain its prompt
    abstains (`bad_row`), since the prompt's own text must not be graded.
    """
    binding = bind(which, params=params, columns=columns)
    return binding.function(_reward_func, tuple(end_tokens), name=name)


def _reward_func(
    binding: Binding,
    end_tokens: tuple[str, ...],
    /,
    queries: Sequence[str],
    prompts: Sequence[str],
    labels: Sequence[Any],
    **columns: Any,  # noqa: ARG001 - versions differ in what they pass beside these
) -> dict[str, Any]:
    rows = to_rows({"query": queries, "prompts": prompts, "labels": labels}, end_tokens=end_tokens)
    scores = [binding.score(row) if has_response(row) else no_prompt(binding) for row in rows]
    return to_response(scores, parts=binding.parts)


def to_rows(
    body: Mapping[str, Any], *, end_tokens: Sequence[str] = END_TOKENS
) -> list[dict[str, Any]]:
    """The rows of a request `{"query": […], "prompts": […], "labels": […]}`.

    `final_response` is missing from a row whose query does not contain its prompt.
    """
    queries = _texts(body, "query")
    prompts = _texts(body, "prompts")
    labels = body.get("labels")
    if labels is None:
        labels = [None] * len(queries)
    if not isinstance(labels, Sequence) or not len(queries) == len(prompts) == len(labels):
        raise BadRecord("query, prompts and labels are lists of one length")
    rows: list[dict[str, Any]] = []
    for query, prompt, label in zip(queries, prompts, labels, strict=True):
        row: dict[str, Any] = {"query": query, "prompt": prompt, "label": label, "answer": label}
        start = query.find(prompt)
        if start >= 0:
            row["final_response"] = _without_end(query[start + len(prompt) :], end_tokens)
        rows.append(row)
    return rows


def has_response(row: Mapping[str, Any]) -> bool:
    """Whether the row of `to_rows` has a response: its query contains its prompt."""
    return "final_response" in row


def no_prompt(binding: Binding) -> Score:
    """The abstention for a row without a response."""
    return binding.scorer.abstain("bad_row", "the query does not contain its prompt")


def to_response(scores: Sequence[Score], *, parts: Sequence[str] = ()) -> dict[str, Any]:
    """The answer that OpenRLHF reads: `rewards`, `scores` and `extra_logs`.

    `scores` is what dynamic filtering looks at. A part without a number is NaN in the logs, which
    hold numbers only.
    """
    rewards = [score["reward"] for score in scores]
    filled = [fill_parts(score, parts, nan) for score in scores]
    logs = {part: [numbers[part] for numbers in filled] for part in parts}
    logs["abstained"] = [float(score.abstained) for score in scores]
    return {"rewards": rewards, "scores": list(rewards), "extra_logs": logs}


def _texts(body: Mapping[str, Any], key: str) -> list[str]:
    texts = body.get(key)
    if not isinstance(texts, Sequence) or isinstance(texts, str):
        raise BadRecord(f"{key!r} should be a list of texts, not {texts!r:.80}")
    if not all(isinstance(text, str) for text in texts):
        raise BadRecord(f"{key!r} holds something that is not text")
    return list(texts)


def _without_end(response: str, end_tokens: Sequence[str]) -> str:
    text = response.rstrip()
    while token := next((token for token in end_tokens if text.endswith(token)), ""):
        text = text.removesuffix(token).rstrip()
    return text if len(text) < len(response.rstrip()) else response
