"""slime: `--custom-rm-path`, for one sample or a group, and the shape of its HTTP calls.

    --custom-rm-path assay.adapters.slime.rm  --custom-config-path assay.yaml
    # assay.yaml
    assay_reward: math_equal_reward

or a module of one's own with `rm = slime.reward("math_equal_reward")`. With `--reward-key score`
the result is a mapping of constant keys, otherwise a float.

Abstained: the sample gets `remove_sample = True`, slime's mask, and a neutral number: the mean of
the others in its group (which leaves their baseline as it is), or the number chosen with
`abstained`. Where there is neither, it raises.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from math import fsum
from typing import Any

from assay.adapters.binding import Binding, RewardMaker, bind, fill_parts
from assay.errors import BadParameter
from assay.schema.message import field_of
from assay.schema.score import Abstained, Score


@RewardMaker
def reward(binding: Binding, name: str | None) -> Callable[..., Any]:
    """A coroutine function of `(args, sample)`, or of `(args, samples)` with `--group-rm`.

    The reward's `answer` is the sample's `label`; the entries of its `metadata` are columns.
    """
    return binding.function(_score, name=name)


async def rm(args: Any, sample: Any, **others: Any) -> Any:
    """As `reward`, configured by slime's arguments: `assay_reward`, `assay_params`, `assay_columns`
    and `assay_abstained`."""
    which = field_of(args, "assay_reward")
    if which is None:
        raise BadParameter("slime's arguments name no assay_reward; set it in --custom-config-path")
    binding = bind(
        which,
        params=field_of(args, "assay_params"),
        columns=field_of(args, "assay_columns"),
        abstained=field_of(args, "assay_abstained"),
    )
    return await _score(binding, args, sample, **others)


async def _score(binding: Binding, args: Any, sample: Any, /, **others: Any) -> Any:  # noqa: ARG001
    is_group = isinstance(sample, Sequence)
    samples = list(sample) if is_group else [sample]
    scores = await asyncio.gather(*(binding.score_async(to_row(each)) for each in samples))
    neutral = _neutral(binding, scores)
    keyed = bool(field_of(args, "reward_key"))
    results = [
        _result(binding, each, score, neutral, keyed=keyed)
        for each, score in zip(samples, scores, strict=True)
    ]
    return results if is_group else results[0]


def to_row(sample: Any) -> dict[str, Any]:
    """The row of a sample, or of a `remote_rm` request, which has the same fields."""
    metadata = field_of(sample, "metadata")
    label = field_of(sample, "label")
    return {
        **(metadata if isinstance(metadata, Mapping) else {}),
        "sample": sample,
        "prompt": field_of(sample, "prompt"),
        "label": label,
        "answer": label,
        "final_response": field_of(sample, "response"),
    }


def _neutral(binding: Binding, scores: Sequence[Score]) -> float | None:
    values = [score.value for score in scores if not isinstance(score, Abstained)]
    if binding.abstained is None and values:
        return fsum(values) / len(values)
    return binding.abstained


def _result(
    binding: Binding, sample: Any, score: Score, neutral: float | None, *, keyed: bool
) -> float | dict[str, float]:
    if isinstance(score, Abstained):
        sample.remove_sample = True
        value = binding.number(score) if neutral is None else neutral
    else:
        value = score.value
    return _shape(score, value, binding.parts, keyed=keyed)


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
    """The answer to a `remote_rm` request: a number, or with `keyed` constant keys.

    HTTP cannot mask a sample: an abstention is the number chosen for it, and an error if none was.
    """
    value = abstained if isinstance(score, Abstained) and abstained is not None else float(score)
    return _shape(score, value, parts, keyed=keyed)
