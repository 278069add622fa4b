"""Create a `reward_func` for OpenRLHF, and read OpenRLHF's HTTP requests.

    # reward_func.py
    reward_func = openrlhf.reward("math_equal_reward")

Abstained: OpenRLHF makes a tensor of every reward and has no mark for a missing one, so the mean of
the latest rewards of the same prompt, or the number that `abstained` names; `extra_logs.abstained`
is 1.0. With `abstained=None` it raises, which OpenRLHF logs and then fails over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import Any

from assay.adapters.binding import MAX_ABSTAINED, Binding, Reward, StandIn, bind, fill_parts
from assay.errors import BadRecord
from assay.schema.score import Score
from assay.text.channels import END_TOKENS, strip_end_tokens


def reward(
    which: Reward,
    /,
    *,
    params: Mapping[str, Any] | None = None,
    abstained: StandIn = "mean",
    max_abstained: int | None = MAX_ABSTAINED,
    name: str | None = None,
    end_tokens: Sequence[str] = END_TOKENS,
    **columns: str,
) -> Callable[..., dict[str, Any]]:
    """A reward function `(queries, prompts, labels)` for OpenRLHF; `answer` is the label.

    The response is what follows the prompt in the query; a query that does not contain its prompt
    abstains (`bad_row`), since the prompt's own text must not be graded.
    """
    binding = bind(which, params, columns, abstained, max_abstained, end_tokens=end_tokens)
    return binding.function(_reward_func, name=name)


def _reward_func(
    binding: Binding,
    /,
    queries: Sequence[str],
    prompts: Sequence[str],
    labels: Sequence[Any],
    **columns: Any,  # noqa: ARG001 - versions differ in what they pass beside these
) -> dict[str, Any]:
    body = {"query": queries, "prompts": prompts, "labels": labels}
    rows = to_rows(body, end_tokens=binding.end_tokens)
    scores = [
        binding.score(row) if has_response(row) else binding.note(no_prompt(binding), row)
        for row in rows
    ]
    rewards = [binding.number(score, row) for score, row in zip(scores, rows, strict=True)]
    return to_response(scores, rewards, parts=binding.parts)


def to_rows(
    body: Mapping[str, Any], *, end_tokens: Sequence[str] = END_TOKENS
) -> list[dict[str, Any]]:
    """The rows of a request `{"query": […], "prompts": […], "labels": […]}`.

    `final_response` is missing from a row whose query does not contain its prompt; no query
    contains none. A query that is not text is passed on as the response, for the scoring boundary
    to abstain from.
    """
    queries = _list(body, "query")
    prompts = _list(body, "prompts")
    labels = body.get("labels")
    if labels is None:
        labels = [None] * len(queries)
    if not isinstance(labels, Sequence) or not len(queries) == len(prompts) == len(labels):
        raise BadRecord("query, prompts and labels must be lists of equal length")
    rows: list[dict[str, Any]] = []
    for query, prompt, label in zip(queries, prompts, labels, strict=True):
        row: dict[str, Any] = {"query": query, "prompt": prompt, "label": label, "answer": label}
        are_texts = isinstance(query, str) and isinstance(prompt, str)
        start = query.find(prompt) if are_texts else -1
        if start >= 0:
            row["final_response"] = strip_end_tokens(query[start + len(prompt) :], end_tokens)
        elif query is not None and not isinstance(query, str):
            row["final_response"] = query
        rows.append(row)
    return rows


def has_response(row: Mapping[str, Any]) -> bool:
    """Whether a row of an OpenRLHF request has a response."""
    return "final_response" in row


def no_prompt(binding: Binding) -> Score:
    """Return the abstention for a row without a response."""
    return binding.scorer.abstain("bad_row", "the query does not contain its prompt")


def to_response(
    scores: Sequence[Score],
    rewards: Sequence[float | None] | None = None,
    *,
    parts: Sequence[str] = (),
) -> dict[str, Any]:
    """The response for OpenRLHF, with `rewards`, `scores` and `extra_logs`.

    `rewards` are the numbers of the scores, with what stands for an abstention; without them, an
    abstention is `None`, which OpenRLHF itself cannot read. `scores` is what dynamic filtering
    looks at. A part without a number is NaN in the logs, which hold numbers only.
    """
    if rewards is None:
        rewards = [score["reward"] for score in scores]
    filled = [fill_parts(score, parts, nan) for score in scores]
    logs = {part: [numbers[part] for numbers in filled] for part in parts}
    logs["abstained"] = [float(score.abstained) for score in scores]
    return {"rewards": list(rewards), "scores": list(rewards), "extra_logs": logs}


def _list(body: Mapping[str, Any], key: str) -> list[Any]:
    texts = body.get(key)
    if not isinstance(texts, Sequence) or isinstance(texts, str):
        raise BadRecord(f"{key!r} must be a list of texts, not {texts!r:.80}")
    return list(texts)
