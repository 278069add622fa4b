"""Turn rewards add up to the outcome, and what is called unbiased is, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import assay
from assay.errors import BadInput, BadParameter
from assay.rewards.credit import (
    BASELINES,
    METHODS,
    EpisodeTurns,
    Turns,
    assign,
    token_values,
    turns_of,
)
from assay.schema.episode import Episode, Step, Trajectory
from assay.schema.evidence import PageEvidence, WorldEvidence
from assay.schema.task import Task
from perf.credit import bias, drawn_episodes

TWO = [
    EpisodeTurns("t", 1.0, ["start", "kitchen", "fridge"], [0.0, 0.5, 0.5]),
    EpisodeTurns("t", 0.0, ["start", "hall"], [0.0, 0.0]),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("baseline", BASELINES)
def test_what_is_called_unbiased_is_exactly_and_the_others_are_not(
    method: str, baseline: str
) -> None:
    worst, _ = bias(method, baseline)
    assert (worst == 0) == BASELINES[baseline].startswith("unbiased")


@pytest.mark.parametrize("method", METHODS)
def test_rewards_of_an_episode_add_up_to_its_outcome(method: str) -> None:
    turns = Turns.of(drawn_episodes(200, 3, exact=True), exact=True)
    credit = assign(turns, method=method)
    for part, outcome in zip(credit.by_episode(turns), turns.outcomes, strict=True):
        assert sum(part.rewards) == outcome
        assert part.returns[0] == outcome


def test_fractions_and_floats_are_assigned_alike() -> None:
    exact = Turns.of(drawn_episodes(80, 5, exact=True), exact=True)
    floats = Turns.of(drawn_episodes(80, 5, exact=False))
    for baseline in BASELINES:
        ours = assign(floats, method="potential", baseline=baseline).advantages
        theirs = assign(exact, method="potential", baseline=baseline).advantages.astype(float)
        assert np.allclose(ours, theirs)


def test_progress_pays_the_turn_that_made_it() -> None:
    turns = Turns.of(TWO)
    assert assign(turns, method="potential").rewards.tolist() == [0.5, 0.0, 0.5, 0.0, 0.0]
    assert assign(turns).rewards.tolist() == [0.0, 0.0, 1.0, 0.0, 0.0]
    assert assign(turns).advantages.tolist() == [1.0, 1.0, 1.0, -1.0, -1.0]


def test_a_decay_weakens_what_comes_later() -> None:
    credit = assign(Turns.of(TWO), baseline="none", decay=0.5)
    assert credit.returns.tolist() == [0.25, 0.5, 1.0, 0.0, 0.0]


def test_turns_in_the_same_state_are_compared_with_each_other() -> None:
    rows = [
        EpisodeTurns("t", 1.0, ["start", "fork"]),
        EpisodeTurns("t", 0.0, ["start", "fork"]),
        EpisodeTurns("t", 0.0, ["start", "wall"]),
    ]
    advantages = assign(Turns.of(rows), baseline="anchor_state").advantages
    assert advantages.tolist() == [1.0, 1.0, -0.5, -1.0, -0.5, -0.5]


def test_other_groups_and_an_episode_alone_change_nothing() -> None:
    alone = assign(Turns.of([EpisodeTurns("u", 1.0, ["start"])]))
    assert alone.advantages.tolist() == [1.0]
    both = assign(Turns.of([*TWO, EpisodeTurns("u", 1.0, ["start"])]))
    assert both.advantages.tolist() == [*assign(Turns.of(TWO)).advantages.tolist(), 1.0]
    assert assign(Turns.of([])).advantages.tolist() == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "magic"}, "method is 'magic'; choose one of 'outcome', 'potential'"),
        ({"baseline": "value"}, "baseline is 'value'; choose one of 'none', 'leave_one_out'"),
        ({"decay": 2}, "decay is 2; choose a number from 0 to 1"),
        ({"method": "potential"}, "needs the progress before every turn"),
    ],
)
def test_what_cannot_be_assigned_is_named(options: dict[str, Any], words: str) -> None:
    turns = Turns.of([EpisodeTurns("t", 1.0, ["start"])])
    with pytest.raises(BadParameter, match=words):
        assign(turns, **options)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (EpisodeTurns("t", 1.0, []), "episode 0 has no turn"),
        (EpisodeTurns("t", float("nan"), ["a"]), "not finite"),
        (EpisodeTurns("t", 1.0, ["a", "b"], [0.0]), "2 states and 1 values of progress"),
    ],
)
def test_an_episode_that_cannot_be_read_is_named(row: EpisodeTurns, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        Turns.of([row])


def test_values_stand_on_the_tokens_that_the_policy_wrote() -> None:
    spans = [(2, 4), (6, 9)]
    assert token_values([0.5, 1], spans, 10) == [0, 0, 0, 0.5, 0, 0, 0, 0, 1, 0]
    assert token_values([0.5, 1], spans, 10, place="all") == [0, 0, 0.5, 0.5, 0, 0, 1, 1, 1, 0]
    with pytest.raises(BadInput, match="turn 1 has the tokens 3 to 9 of 10"):
        token_values([0.5, 1], [(2, 4), (3, 9)], 10)
    with pytest.raises(BadInput, match="1 turns have values, but 2 turns have tokens"):
        token_values([0.5], spans, 10)


def world_episode(task: str, scores: list[float], *, world: str = "scienceworld") -> Episode:
    steps = tuple(
        Step(
            index=index,
            action="look" if index else "",
            observation=f"{index:064x}",
            evidence=WorldEvidence(world, task, score=score),
        )
        for index, score in enumerate(scores)
    )
    return Episode(
        attempt=f"{task}.r0.a1",
        task=Task(id=task, goal="?"),
        trajectory=Trajectory(steps=steps, stop_reason="finished"),
    )


def test_a_recorded_episode_has_its_progress_and_states() -> None:
    (row,) = turns_of([world_episode("boil", [0.0, 30.0, 30.0, 100.0])], lambda _: 1.0)
    assert row.group == "boil"
    assert row.progress == [0.0, 0.3, 0.3]
    assert len(set(row.states)) == 3
    credit = assign(Turns.of([row]), method="potential")
    assert credit.rewards.tolist() == pytest.approx([0.3, 0.0, 0.7])


def test_pages_are_the_same_state_by_their_digests() -> None:
    pages = [PageEvidence(url="u", dom="d", text=text) for text in ("a", "b", "a", "c")]
    steps = tuple(
        Step(index=index, action="click" if index else "", evidence=page)
        for index, page in enumerate(pages)
    )
    episode = world_episode("x", [0.0]).model_copy(
        update={"trajectory": Trajectory(steps=steps, stop_reason="answered")}
    )
    (row,) = turns_of([episode], lambda _: 0.5)
    assert row.states[0] == row.states[2] != row.states[1]
    assert row.progress == ()


def test_an_episode_that_says_nothing_of_the_agent_is_left_out() -> None:
    episode = world_episode("boil", [0.0, 30.0])
    ended = episode.trajectory.model_copy(update={"stop_reason": "env_error"})
    broken = episode.model_copy(update={"trajectory": ended})
    assert turns_of([broken], lambda _: 0.0) == []
    assert turns_of([episode], lambda _: None) == []
    assert turns_of([world_episode("boil", [0.0])], lambda _: 0.0) == []


def test_credit_is_at_the_front_door() -> None:
    assert assay.credit.assign is assign
