"""Use Assay rewards in slime, by `--custom-rm-path` or by HTTP requests.

    --custom-rm-path assay.adapters.slime.rm  --custom-config-path assay.yaml
    # assay.yaml
    assay_reward: math_equal_reward

or a module of one's own with `rm = slime.reward("math_equal_reward")`. With `--reward-key score`
the result is a mapping of constant keys, otherwise a float.

Abstained: the sample gets `remove_sample = True`, slime's mask, and a neutral number. With
`--group-rm` that is the mean of the others in its group, which leaves their baseline as it is; for
a sample alone, the mean of what its group was given so far. `abstained` names another number.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assay.adapters.binding import MAX_ABSTAINED, Binding, RewardMaker, bind, fill_parts
from assay.errors import BadParameter
from assay.schema.message import field_of
from assay.schema.score import Abstained, Score
from assay.text.channels import strip_end_tokens


@RewardMaker
def reward(binding: Binding, name: str | None) -> Callable[..., Any]:
    """Create a coroutine for slime that scores a sample, or a group with `--group-rm`.

    The reward's `answer` is the sample's `label`; the entries of its `metadata` are columns.
    """
    return binding.function(_score, name=name)


async def rm(args: Any, sample: Any, **others: Any) -> Any:
    """A reward coroutine for slime, configured by slime's arguments."""
    which = field_of(args, "assay_reward")
    if which is None:
        raise BadParameter("slime has no argument assay_reward; set it in --custom-config-path")
    params, columns, abstained, limit = (
        field_of(args, f"assay_{name}")
        for name in ("params", "columns", "abstained", "max_abstained")
    )
    limit = MAX_ABSTAINED if limit is None else limit
    binding = bind(which, params, columns, "mean" if abstained is None else abstained, limit)
    return await _score(binding, args, sample, **others)


async def _score(binding: Binding, args: Any, sample: Any, /, **others: Any) -> Any:  # noqa: ARG001
    is_group = isinstance(sample, Sequence)
    samples = list(sample) if is_group else [sample]
    rows = [to_row(each) for each in samples]
    scores = await asyncio.gather(*map(binding.score_async, rows))
    keyed = bool(field_of(args, "reward_key"))
    results = []
    numbers = binding.group_numbers(scores, rows)
    for each, value, score in zip(samples, numbers, scores, strict=True):
        if score.abstained:
            each.remove_sample = True
        results.append(_shape(score, value, binding.parts, keyed=keyed))
    return results if is_group else results[0]


def to_row(sample: Any) -> dict[str, Any]:
    """The row of a sample or of a `remote_rm` request."""
    metadata = field_of(sample, "metadata")
    label = field_of(sample, "label")
    response = field_of(sample, "response")
    return {
        **(metadata if isinstance(metadata, Mapping) else {}),
        "sample": sample,
        "group_index": field_of(sample, "group_index"),
        "prompt": field_of(sample, "prompt"),
        "label": label,
        "answer": label,
        "final_response": strip_end_tokens(response) if isinstance(response, str) else response,
    }


def _shape(
    score: Score, value: float, parts: Sequence[str], *, keyed: bool
) -> float | dict[str, float]:
    if not keyed:
        return value
    numbers = fill_parts(score, parts, value)
    return {**numbers, "score": value, "abstained": float(score.abstained)}


def to_response(
    score: Score, parts: Sequence[str], *, abstained: float | None, keyed: bool
) -> float | dict[str, float]:
    """The response to a `remote_rm` request: a number, or a dictionary with `keyed`.

    HTTP cannot mask a sample: an abstention is the number chosen for it, and an error if none was.
    """
    value = abstained if isinstance(score, Abstained) and abstained is not None else float(score)
    return _shape(score, value, parts, keyed=keyed)
