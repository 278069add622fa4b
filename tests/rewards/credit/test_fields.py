"""What a trainer reads back from its own fields is the credit that was assigned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay import credit
from assay.errors import BadInput
from assay.rewards.credit import Credit, EpisodeTokens, EpisodeTurns, Turns, assign

TURNS = Turns.of(
    [
        EpisodeTurns("t", 1.0, ["start", "kitchen", "fridge"], [0.0, 0.25, 0.5]),
        EpisodeTurns("t", 0.0, ["start", "hall"], [0.0, 0.25]),
    ]
)
CREDIT = assign(TURNS, method="potential").by_episode(TURNS)
TOKENS = [EpisodeTokens(9, [(0, 2), (4, 5), (6, 9)]), EpisodeTokens(7, [(0, 3), (5, 6)])]
"""The environment wrote tokens 2 to 4 and 5 to 6 of the first; the second ends with one of its."""


def at_last(rows: list[list[float]]) -> list[list[float]]:
    """What stands on the last token of each turn."""
    return [
        [row[after - 1] for _, after in where.spans]
        for row, where in zip(rows, TOKENS, strict=True)
    ]


def rewards_of(parts: list[Credit]) -> list[list[float]]:
    return [part.rewards.tolist() for part in parts]


def test_a_mask_names_the_tokens_of_the_policy() -> None:
    assert TOKENS[0].mask == [1, 1, 0, 0, 1, 0, 1, 1, 1]
    assert TOKENS[1].mask == [1, 1, 1, 0, 0, 1, 0]


def test_trl_reads_an_advantage_for_each_token_of_the_batch() -> None:
    fields = credit.trl_fields(CREDIT, TOKENS, width=12)
    assert list(map(len, fields["advantages"])) == [12, 12]
    assert at_last(fields["advantages"]) == [part.advantages.tolist() for part in CREDIT]
    outside = [
        value
        for row, where in zip(fields["advantages"], TOKENS, strict=True)
        for value, own in zip(row, [*where.mask, *[0] * 12], strict=False)
        if not own
    ]
    assert set(outside) == {0.0}
    assert fields["env_mask"] == [where.mask for where in TOKENS]


def test_verl_adds_token_rewards_up_to_the_outcome() -> None:
    fields = credit.verl_fields(CREDIT, TOKENS)
    assert [sum(row) for row in fields["rm_scores"]] == [1.0, 0.0]
    assert at_last(fields["rm_scores"]) == rewards_of(CREDIT) == fields["turn_scores"]
    assert at_last(fields["returns"]) == [part.returns.tolist() for part in CREDIT]
    assert fields["response_mask"] == [TOKENS[0].mask, [*TOKENS[1].mask, 0, 0]]
    widths = {len(row) for name in fields if name != "turn_scores" for row in fields[name]}
    assert widths == {9}


def test_skyrl_reads_a_reward_for_each_token_of_an_episode() -> None:
    fields = credit.skyrl_fields(CREDIT, TOKENS)
    assert at_last(fields["rewards"]) == rewards_of(CREDIT)
    assert list(map(len, fields["rewards"])) == list(map(len, fields["loss_masks"])) == [9, 7]


def test_areal_reads_what_each_interaction_earned_itself() -> None:
    assert credit.areal_fields(CREDIT) == {"reward": [[0.25, 0.25, 0.5], [0.25, -0.25]]}


def test_verifiers_reads_as_many_advantages_as_a_node_has_sampled_tokens() -> None:
    fields = credit.verifiers_fields(CREDIT, TOKENS)
    assert [[len(node) for node in trace] for trace in fields["advantages"]] == [[2, 1, 3], [3, 1]]
    assert [[node[0] for node in trace] for trace in fields["advantages"]] == [
        part.advantages.tolist() for part in CREDIT
    ]
    assert [[step["reward"] for step in trace] for trace in fields["trajectory"]] == rewards_of(
        CREDIT
    )


@pytest.mark.parametrize(
    "fields",
    [credit.trl_fields, credit.verl_fields, credit.skyrl_fields, credit.verifiers_fields],
)
def test_episodes_and_tokens_that_do_not_fit_are_named(fields: Callable[..., Any]) -> None:
    with pytest.raises(BadInput, match="2 episodes have credit, but 1 have tokens"):
        fields(CREDIT, TOKENS[:1])
    with pytest.raises(BadInput, match="3 turns have values, but 2 turns have tokens"):
        fields(CREDIT, TOKENS[::-1])


def test_a_batch_narrower_than_an_episode_is_named() -> None:
    with pytest.raises(BadInput, match="an episode has 9 tokens; `width` is 8, which is less"):
        credit.trl_fields(CREDIT, TOKENS, width=8)


def test_no_episode_has_no_fields() -> None:
    assert credit.verl_fields([], [])["rm_scores"] == []
