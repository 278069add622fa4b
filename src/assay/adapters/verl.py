"""verl: `compute_score`, chosen and configured by verl's own configuration.

    reward.custom_reward_function.path=pkg://assay.adapters.verl
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.reward=math_equal_reward

(`custom_reward_function.*` before 2026.) `compute_score_async` has the same arguments and leaves
the event loop free; `compute_score_batch` is for the legacy batch manager. In a file of one's own,
`compute_score = verl.reward("math_equal_reward", answer="extra_info.solution")` does the same.

Abstained: verl has no word for it, so an abstention raises unless `abstained` names the number
that stands for it; the sample's metric `abstained` is 1.0 then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from assay.adapters.binding import Binding, Reward, RewardCall, bind, union_of_parts
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
    abstained: float | None = None,
    name: str | None = None,
    **columns: str,
) -> Callable[..., Any]:
    """A `compute_score` for a reward file: for a sample, as a coroutine, or for a batch."""
    kinds: dict[Kind, Callable[..., Any]] = {
        "sample": compute_score,
        "async": compute_score_async,
        "batch": compute_score_batch,
    }
    if kind not in kinds:
        raise BadParameter(f"kind={kind!r}; choose one of {', '.join(map(repr, kinds))}")
    binding = bind(which, params=params, columns=columns, abstained=abstained)
    return RewardCall(
        kinds[kind],
        (),
        {"reward": which, "params": params, "columns": columns, "abstained": abstained},
        name or binding.name,
        binding.scorer.spec.summary,
    )


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    reward: Reward | Mapping[str, Reward],
    params: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    abstained: float | None = None,
    **others: Any,
) -> dict[str, float]:
    """The score of one sample as `{"score": …, "abstained": 0.0, …parts}`, always the same keys.

    `reward` is a name, or a mapping from data sources to names with `default` for the rest. The
    reward's `answer` is `ground_truth`; the entries of `extra_info` are columns too, and `columns`
    says where else a parameter is found. verl hands over the decoded text alone, so a reward that
    reads a `trajectory` needs a column with messages: a tool is never guessed from text.
    """
    bindings = _bindings(reward, params, columns, abstained)
    binding = _binding_for(bindings, data_source)
    row = _row(data_source, solution_str, ground_truth, extra_info, others)
    return _metrics(binding, binding.score(row), bindings)


async def compute_score_async(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    reward: Reward | Mapping[str, Reward],
    params: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    abstained: float | None = None,
    **others: Any,
) -> dict[str, float]:
    """As `compute_score`, without blocking the event loop."""
    bindings = _bindings(reward, params, columns, abstained)
    binding = _binding_for(bindings, data_source)
    row = _row(data_source, solution_str, ground_truth, extra_info, others)
    return _metrics(binding, await binding.score_async(row), bindings)


def compute_score_batch(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
    **configuration: Any,
) -> list[dict[str, float]]:
    """The scores of a batch, in order; `configuration` is that of `compute_score`."""
    infos = [None] * len(solution_strs) if extra_infos is None else extra_infos
    batch = zip(data_sources, solution_strs, ground_truths, infos, strict=True)
    return [compute_score(*sample, **configuration) for sample in batch]


def _bindings(
    reward: Reward | Mapping[str, Reward],
    params: Mapping[str, Any] | None,
    columns: Mapping[str, str] | None,
    abstained: float | None,
) -> dict[str, Binding]:
    """The reward for each data source; `default` for those not named."""
    rewards = reward if isinstance(reward, Mapping) else {"default": reward}
    plain_params = None if params is None else _plain(params)
    return {
        str(source): bind(which, params=plain_params, columns=columns, abstained=abstained)
        for source, which in rewards.items()
    }


def _binding_for(bindings: Mapping[str, Binding], data_source: str) -> Binding:
    binding = bindings.get(str(data_source), bindings.get("default"))
    if binding is None:
        raise BadParameter(
            f"no reward for the data source {data_source!r}; reward has {sorted(bindings)}: "
            "add it, or a 'default'"
        )
    return binding


def _row(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None,
    others: Mapping[str, Any],
) -> dict[str, Any]:
    info = {} if extra_info is None else dict(extra_info)
    return {
        **others,
        **info,
        "extra_info": info,
        "data_source": data_source,
        "ground_truth": ground_truth,
        "answer": ground_truth,
        "final_response": solution_str,
    }


def _metrics(binding: Binding, score: Score, bindings: Mapping[str, Binding]) -> dict[str, float]:
    """One flat mapping of finite floats under keys that do not depend on the sample.

    verl reads the keys of the first sample and looks them up in all others. A part that has no
    number in this sample gets the number chosen for abstentions, or 0.0 where none was.
    """
    filler = 0.0 if binding.abstained is None else binding.abstained
    metrics = {SCORE: binding.number(score), ABSTAINED: float(score.abstained)}
    for part in union_of_parts(bindings.values()):
        number = score.parts.get(part)
        metrics[_key(part)] = filler if number is None else number
    return metrics


def _key(part: str) -> str:
    """A part may itself be called "score"; it must not replace the reward."""
    return f"part_{part}" if part in (SCORE, ABSTAINED) else part


def _plain(value: Any) -> Any:
    """Configuration as plain dicts and lists; verl's is OmegaConf's."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value
