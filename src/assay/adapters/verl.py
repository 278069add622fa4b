"""Score samples for verl with `compute_score`, configured by verl's configuration.

    reward.custom_reward_function.path=pkg://assay.adapters.verl
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.reward=math_equal_reward

(`custom_reward_function.*` before 2026.) `compute_score_async` has the same arguments and leaves
the event loop free; `compute_score_batch` is for the legacy batch manager. In a file of one's own,
`compute_score = verl.reward("math_equal_reward", answer="extra_info.solution")` does the same.

Abstained: verl knows only numbers, so an abstention is the mean of the latest rewards of its group
(those with the same `extra_info.index` and `ground_truth`) in this worker, or the number that
`abstained` names; the sample's metric `abstained` is 1.0. With `abstained=null` it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from assay.adapters.binding import (
    MAX_ABSTAINED,
    Binding,
    Observer,
    PicklablePartial,
    Reward,
    StandIn,
    bind,
    fill_parts,
)
from assay.errors import BadParameter
from assay.schema.score import Score

SCORE = "score"
"""The key under which verl looks for the reward."""

ABSTAINED = "abstained"

Kind = Literal["sample", "async", "batch"]


def reward(
    which: Reward,
    /,
    *,
    kind: Kind = "sample",
    params: Mapping[str, Any] | None = None,
    abstained: StandIn = "mean",
    max_abstained: int | None = MAX_ABSTAINED,
    name: str | None = None,
    **columns: str,
) -> Callable[..., Any]:
    """Create a `compute_score` for a reward file: for a sample, async, or for a batch."""
    kinds: dict[Kind, Callable[..., Any]] = {
        "sample": compute_score,
        "async": compute_score_async,
        "batch": compute_score_batch,
    }
    if kind not in kinds:
        raise BadParameter(f"kind={kind!r}; choose one of {', '.join(map(repr, kinds))}")
    binding = bind(which, params, columns, abstained, max_abstained)
    keywords: dict[str, Any] = {"reward": which, "params": params, "columns": columns}
    keywords |= {"abstained": abstained, "max_abstained": max_abstained}
    summary = binding.scorer.spec.summary
    return PicklablePartial(kinds[kind], (), keywords, name or binding.name, summary)


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    **configuration: Any,
) -> dict[str, float]:
    """The score of one sample as a dictionary with `score`, `abstained` and the parts.

    The configuration is `reward`, and if need be `params`, `columns`, `abstained` and
    `max_abstained`. `reward` is a name, or a mapping from data sources to names with `default` for
    the rest. The reward's `answer` is `ground_truth`; the entries of `extra_info` are columns too,
    and so is any further keyword; `columns` says which of them holds a parameter of another name.
    verl passes the decoded text alone, so a reward that reads a `trajectory` needs a column with
    messages: a tool is never guessed from text.
    """
    sample = _prepare(data_source, solution_str, ground_truth, extra_info, **configuration)
    return sample.metrics(sample.binding.score(sample.row))


async def compute_score_async(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    **configuration: Any,
) -> dict[str, float]:
    """Like `compute_score`, without blocking the event loop."""
    sample = _prepare(data_source, solution_str, ground_truth, extra_info, **configuration)
    return sample.metrics(await sample.binding.score_async(sample.row))


def compute_score_batch(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
    **configuration: Any,
) -> list[dict[str, float]]:
    """The scores of a batch, in order, with the configuration of `compute_score`.

    An abstention stands for the mean of its whole group here, wherever in the batch it comes.
    """
    infos = [None] * len(solution_strs) if extra_infos is None else extra_infos
    batch = zip(data_sources, solution_strs, ground_truths, infos, strict=True)
    samples = [_prepare(*sample, **configuration) for sample in batch]
    scores = [sample.binding.score(sample.row) for sample in samples]
    return [sample.metrics(score) for sample, score in zip(samples, scores, strict=True)]


class _Sample(NamedTuple):
    row: dict[str, Any]
    binding: Binding
    parts: tuple[str, ...]

    def metrics(self, score: Score) -> dict[str, float]:
        """One dictionary of finite numbers with the same keys for every sample.

        verl reads the keys of the first sample and looks them up in all others. A part that has no
        number in this sample gets the sample's own.
        """
        value = self.binding.number(score, self.row)
        own = {SCORE: value, ABSTAINED: float(score.abstained)}
        # A part may itself be called "score"; it must not replace the reward.
        parts = fill_parts(score, self.parts, value).items()
        return own | {f"part_{part}" if part in own else part: number for part, number in parts}


def _prepare(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None,
    *,
    reward: Reward | Mapping[str, Reward],
    params: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    abstained: StandIn = "mean",
    max_abstained: int | None = MAX_ABSTAINED,
    observer: Observer | None = None,
    **others: Any,
) -> _Sample:
    rewards = reward if isinstance(reward, Mapping) else {"default": reward}
    plain_params = None if params is None else _plain(params)
    bindings = {
        str(source): bind(which, plain_params, columns, abstained, max_abstained, observer=observer)
        for source, which in rewards.items()
    }
    binding = bindings.get(str(data_source), bindings.get("default"))
    if binding is None:
        raise BadParameter(
            f"no reward for the data source {data_source!r}; the sources are {sorted(bindings)}; "
            "add this source, or a 'default'"
        )
    info = dict(extra_info or {})
    row = {
        **others,
        **info,
        "extra_info": info,
        "data_source": data_source,
        "ground_truth": ground_truth,
        "answer": ground_truth,
        "final_response": solution_str,
    }
    parts = dict.fromkeys(part for each in bindings.values() for part in each.parts)
    return _Sample(row, binding, tuple(parts))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value
