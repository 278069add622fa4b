"""Write credit into the fields that each trainer reads, as plain lists.

Each function takes the credit of every episode (`Credit.by_episode`) and where its turns stand
among its tokens, and returns the fields under the trainer's own names. Rewards stand on the last
token of a turn, since trainers add them up; advantages on every token that the policy wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from assay.errors import BadInput, check_choice
from assay.rewards.credit.assign import Credit, Numbers

TurnSpans: TypeAlias = Sequence[tuple[int, int]]
"""For each turn the first token that the policy wrote, and the one after its last."""
Place: TypeAlias = Literal["last", "all"]
Rows: TypeAlias = list[list[float]]
"""A row for each episode."""
Columns: TypeAlias = dict[str, list[Any]]
"""By a trainer's name of a field: a row for each episode."""


def token_values(
    values: Sequence[float], spans: TurnSpans, length: int, *, place: Place = "last"
) -> list[float]:
    """Return one number per token: the turn's value on its last token, or on all its tokens.

    "last" is for rewards, which a trainer adds up, "all" for advantages, which it multiplies with
    each token's gradient. Tokens that the policy did not write get 0.
    Raises `BadInput` for spans that do not fit the values or the length.
    """
    check_choice("place", place, get_args(Place))
    if len(values) != len(spans):
        raise BadInput(f"{len(values)} turns have values, but {len(spans)} turns have tokens")
    tokens = [0.0] * length
    end = 0
    for number, (value, (first, after)) in enumerate(zip(values, spans, strict=True)):
        if not end <= first < after <= length:
            raise BadInput(
                f"turn {number} has the tokens {first} to {after} of {length}; each turn needs a "
                "token, and turns may not overlap"
            )
        end = after
        begin = after - 1 if place == "last" else first
        tokens[begin:after] = [float(value)] * (after - begin)
    return tokens


@dataclass(frozen=True, slots=True)
class EpisodeTokens:
    """The token positions of each turn of one episode, counted after the prompt."""

    length: int
    """All of them: those of the policy, and those of the environment between its turns."""
    spans: TurnSpans

    @property
    def mask(self) -> list[int]:
        """A mask of tokens: 1 for each token that the policy wrote, 0 for all others."""
        ones = token_values([1.0] * len(self.spans), self.spans, self.length, place="all")
        return list(map(int, ones))


def trl_fields(
    credit: Sequence[Credit], tokens: Sequence[EpisodeTokens], *, width: int | None = None
) -> Columns:
    """TRL's fields: `advantages` with a number for each token, and `env_mask`.

    Advantages are padded to `width`, by default that of the longest episode: it is that of
    `completion_ids`. The mask is what a `rollout_func` returns, not padded.
    """
    rows = _on_tokens([each.advantages for each in credit], tokens, "all")
    return {"advantages": _padded(rows, width), "env_mask": [each.mask for each in tokens]}


def verl_fields(
    credit: Sequence[Credit], tokens: Sequence[EpisodeTokens], *, width: int | None = None
) -> Columns:
    """verl's fields: `rm_scores`, `advantages`, `returns`, `response_mask`, `turn_scores`.

    All are padded to `width`, that of verl's `responses`; `turn_scores` is not, since an agent
    loop's `extra_fields` holds it as a list for each episode.
    """
    columns: Columns = {
        "rm_scores": _on_tokens([each.rewards for each in credit], tokens, "last"),
        "advantages": _on_tokens([each.advantages for each in credit], tokens, "all"),
        "returns": _on_tokens([each.returns for each in credit], tokens, "all"),
        "response_mask": [each.mask for each in tokens],
    }
    padded = {
        name: _padded(rows, width, 0 if name == "response_mask" else 0.0)
        for name, rows in columns.items()
    }
    return {**padded, "turn_scores": [_floats(each.rewards) for each in credit]}


def skyrl_fields(credit: Sequence[Credit], tokens: Sequence[EpisodeTokens]) -> Columns:
    """SkyRL's fields of a `GeneratorOutput`: `rewards` per token, and `loss_masks`; no padding."""
    rows = _on_tokens([each.rewards for each in credit], tokens, "last")
    return {"rewards": rows, "loss_masks": [each.mask for each in tokens]}


def areal_fields(credit: Sequence[Credit]) -> dict[str, Rows]:
    """AReaL's field: the `reward` of each interaction of each episode, for `set_reward`.

    AReaL adds what later turns earned itself (`apply_reward_discount`, whose `turn_discount` is 1
    unless configured), and trains each interaction with that return.
    """
    return {"reward": [_floats(each.rewards) for each in credit]}


def verifiers_fields(credit: Sequence[Credit], tokens: Sequence[EpisodeTokens]) -> Columns:
    """verifiers' fields: `advantages` of each sampled node, and the steps of the older API.

    A node's are as many as the tokens that were sampled in it, as its `logprobs`. A step of the
    older `state["trajectory"]` takes the entry of `trajectory`: `score_group` keeps what is set.
    """
    _check_count(credit, tokens)
    nodes, steps = [], []
    for each, where in zip(credit, tokens, strict=True):
        advantages, rewards = _floats(each.advantages), _floats(each.rewards)
        # Raises for turns that have no tokens.
        token_values(advantages, where.spans, where.length)
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


def _padded(rows: list[Any], width: int | None, filler: float = 0.0) -> list[Any]:
    longest = max(map(len, rows), default=0)
    if width is not None and width < longest:
        raise BadInput(f"an episode has {longest} tokens; `width` is {width}, which is less")
    return [row + [filler] * ((width or longest) - len(row)) for row in rows]


def _floats(values: Numbers) -> list[float]:
    return [float(value) for value in values]


def _check_count(credit: Sequence[Any], tokens: Sequence[EpisodeTokens]) -> None:
    if len(credit) != len(tokens):
        raise BadInput(
            f"{len(credit)} episodes have credit, but {len(tokens)} have tokens; give both for each"
        )
