"""Credit in the fields that trainers read, as plain lists.

Each function takes the credit of every episode (`Credit.by_episode`) and where its turns stand
among its tokens, and returns the fields under the trainer's own names. Rewards stand on the last
token of a turn, since trainers add them up; advantages on every token that the policy wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from assay.errors import BadInput
from assay.rewards.credit.assign import Credit
from assay.rewards.credit.tokens import Place, TurnSpans, token_values
from assay.rewards.credit.turns import Numbers

Rows: TypeAlias = list[list[float]]
"""A row for each episode."""


@dataclass(frozen=True, slots=True)
class EpisodeTokens:
    """Where the turns of one episode stand among the tokens that follow its prompt."""

    length: int
    """All of them: those of the policy, and those of the environment between its turns."""
    spans: TurnSpans

    @property
    def mask(self) -> list[int]:
        """1 for each token that the policy wrote, 0 for the others."""
        ones = token_values([1.0] * len(self.spans), self.spans, self.length, place="all")
        return list(map(int, ones))


def trl_fields(
    credit: Sequence[Credit], tokens: Sequence[EpisodeTokens], *, width: int | None = None
) -> dict[str, list[Any]]:
    """`advantages` for `GRPOTrainer._compute_loss`, one for each token, and `env_mask`.

    Advantages are padded to `width`, by default that of the longest episode: it is that of
    `completion_ids`. The mask is what a `rollout_func` returns, not padded.
    """
    values = [each.advantages for each in credit]
    rows = _on_tokens(values, tokens, "all")
    return {"advantages": _padded(rows, width), "env_mask": [each.mask for each in tokens]}


def verl_fields(
    credit: Sequence[Credit], tokens: Sequence[EpisodeTokens], *, width: int | None = None
) -> dict[str, list[Any]]:
    """`rm_scores` (which become `token_level_rewards`), `advantages`, `returns`, `response_mask`.

    All are padded to `width`, that of verl's `responses`; `turn_scores` is not, since an agent
    loop's `extra_fields` holds it as a list for each episode.
    """
    rewards = [each.rewards for each in credit]
    columns = {
        "rm_scores": _on_tokens(rewards, tokens, "last"),
        "advantages": _on_tokens([each.advantages for each in credit], tokens, "all"),
        "returns": _on_tokens([each.returns for each in credit], tokens, "all"),
        "response_mask": [list(map(float, each.mask)) for each in tokens],
    }
    padded: dict[str, list[Any]] = {name: _padded(rows, width) for name, rows in columns.items()}
    padded["response_mask"] = [list(map(int, row)) for row in padded["response_mask"]]
    return {**padded, "turn_scores": list(map(_floats, rewards))}


def skyrl_fields(credit: Sequence[Credit], tokens: Sequence[EpisodeTokens]) -> dict[str, list[Any]]:
    """`rewards` for each token and `loss_masks` of SkyRL's `GeneratorOutput`, not padded."""
    rows = _on_tokens([each.rewards for each in credit], tokens, "last")
    return {"rewards": rows, "loss_masks": [each.mask for each in tokens]}


def areal_fields(credit: Sequence[Credit]) -> dict[str, Rows]:
    """`reward` of each interaction of each episode, for `set_reward`.

    AReaL adds what later turns earned itself (`apply_reward_discount`, whose `turn_discount` is 1
    unless configured), and trains each interaction with that return.
    """
    return {"reward": [_floats(each.rewards) for each in credit]}


def verifiers_fields(
    credit: Sequence[Credit], tokens: Sequence[EpisodeTokens]
) -> dict[str, list[Any]]:
    """`advantages` of each sampled node of a trace, and the steps of the older API.

    A node's are as many as the tokens that were sampled in it, as its `logprobs`. A step of the
    older `state["trajectory"]` takes the entry of `trajectory`: `score_group` keeps what is set.
    """
    _check_count(credit, tokens)
    nodes, steps = [], []
    for each, where in zip(credit, tokens, strict=True):
        advantages, rewards = _floats(each.advantages), _floats(each.rewards)
        _check_turns(advantages, where)
        turns = list(zip(advantages, where.spans, strict=True))
        nodes.append([[value] * (after - first) for value, (first, after) in turns])
        pairs = zip(rewards, advantages, strict=True)
        steps.append([{"reward": reward, "advantage": value} for reward, value in pairs])
    return {"advantages": nodes, "trajectory": steps}


def _on_tokens(values: Sequence[Numbers], tokens: Sequence[EpisodeTokens], place: Place) -> Rows:
    _check_count(values, tokens)
    return [
        token_values(_floats(each), where.spans, where.length, place=place)
        for each, where in zip(values, tokens, strict=True)
    ]


def _padded(rows: Rows, width: int | None) -> Rows:
    longest = max(map(len, rows), default=0)
    if width is not None and width < longest:
        raise BadInput(f"an episode has {longest} tokens, and the batch is {width} wide")
    return [row + [0.0] * ((width or longest) - len(row)) for row in rows]


def _floats(values: Numbers) -> list[float]:
    return [float(value) for value in values]


def _check_count(credit: Sequence[Any], tokens: Sequence[EpisodeTokens]) -> None:
    if len(credit) != len(tokens):
        raise BadInput(
            f"{len(credit)} episodes have credit and {len(tokens)} have tokens; give one for each"
        )


def _check_turns(values: Sequence[float], where: EpisodeTokens) -> None:
    # For its complaint alone.
    token_values(values, where.spans, where.length)
