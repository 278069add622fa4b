"""TRL's half that is ours: rows, tokens and masks, groups, tools, and rollouts that failed.

The trainer is a stand-in with the attributes that TRL 1.16's has; `examples/trainers/trl_worlds.py`
trains with the real one.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, get_type_hints

import pytest

from assay import credit
from assay.adapters.episodes import Episodes
from assay.adapters.trl_episodes import environment_factory, outcome, rollout_func, rows
from assay.errors import BadParameter, DeadResource, NoScore
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.worlds.alfworld.environment import AlfWorld
from assay.worlds.alfworld.tasks import GameLoader
from assay.worlds.chat.environment import Chat

GAME = "look_at_obj_in_light-AlarmClock-None-DeskLamp-308/trial_T20190908_222951_616606"
WALKTHROUGH = GameLoader().load(GAME).walkthrough
END = 1


class CharacterTokenizer:
    """A token for each character; `\\x01` ends a turn, as the template writes it."""

    eos_token_id = END

    def apply_chat_template(
        self, messages: Sequence[Any], *, add_generation_prompt: bool, **_: Any
    ) -> list[int]:
        parts = [f"{each['role']}:{each['content']}\x01" for each in messages]
        return self.encode("".join(parts) + ("assistant:" if add_generation_prompt else ""))

    def encode(self, text: str) -> list[int]:
        return [ord(character) for character in text]

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        assert skip_special_tokens
        return "".join(chr(token) for token in ids if token != END)


class Trainer:
    """What `rollout_func` asks of a `GRPOTrainer`; its model recites a script for each rollout."""

    def __init__(self, scripts: Sequence[Sequence[str]], *, room: int = 100_000) -> None:
        self.processing_class = CharacterTokenizer()
        self.model = SimpleNamespace(training=True, config=SimpleNamespace())
        self.num_generations = len(scripts)
        self.max_completion_length = room
        self.eos_token_ids = [END]
        self.chat_template = None
        self.chat_template_kwargs: dict[str, Any] = {}
        self.state = SimpleNamespace(global_step=5)
        self.accelerator = SimpleNamespace(process_index=0)
        self.generation_config = SimpleNamespace(max_new_tokens=room)
        self.limits: list[int] = []
        self._scripts = [iter(script) for script in scripts]
        self._started: dict[int, int] = {}

    def _generate_single_turn(
        self, prompts: list[list[int]], images: None, fields: dict[str, Any], count: int
    ) -> tuple[list[list[int]], None]:
        assert (images, fields, count) == (None, {}, 1)
        self.limits.append(self.generation_config.max_new_tokens)
        return [self._reply() for _ in prompts], None

    def _reply(self) -> list[int]:
        for script in self._scripts:
            text = next(script, None)
            if text is not None:
                return [*self.processing_class.encode(text), END]
        raise AssertionError("the scripts are at their end")


def household(**options: Any) -> Episodes:
    return Episodes(AlfWorld, "alfworld_episode_reward", tasks=[Task(id=GAME)], **options)


def prompts_of(episodes: Episodes, count: int) -> list[Any]:
    (row,) = rows(episodes, system="Play.")
    return [row["prompt"] for _ in range(count)]


def test_a_rollout_is_tokens_with_those_of_observations_masked() -> None:
    with household(step_limit=9) as episodes:
        trainer = Trainer([WALKTHROUGH])
        result = rollout_func(episodes, turn_tokens=64)(prompts_of(episodes, 1), trainer)
    (ids,), (mask,), (episode,) = result["completion_ids"], result["env_mask"], result["episode"]
    tokenizer = trainer.processing_class
    shown = tokenizer.decode(result["prompt_ids"][0], skip_special_tokens=True)
    assert shown.startswith("system:Play.user:")
    assert shown.endswith("assistant:")
    assert "You are in the middle of a room." in shown
    written = [token for token, own in zip(ids, mask, strict=True) if own]
    assert written == [token for text in WALKTHROUGH for token in [*tokenizer.encode(text), END]]
    assert result["outcome"] == [1.0] == outcome([], [], **result)
    assert result["turn_rewards"] == [[0.0, 0.0, 1.0]]
    assert [tokenizer.decode(ids[a:b], skip_special_tokens=True) for a, b in result["turn_spans"][0]] == list(WALKTHROUGH)  # fmt: skip  # noqa: E501
    paid = credit.token_values(result["turn_rewards"][0], result["turn_spans"][0], len(ids))
    assert sum(paid) == 1.0 == paid[-1]
    assert episode.metadata == {"group": "5.0", "member": 0, "seed": 0}
    assert set(trainer.limits) == {64}
    assert trainer.generation_config.max_new_tokens == 100_000


def test_a_group_has_one_start_and_its_members_are_numbered() -> None:
    with household(step_limit=1, at_once=3) as episodes:
        trainer = Trainer([["look"]] * 8)
        result = rollout_func(episodes)(prompts_of(episodes, 8), trainer)
    assert len({tuple(ids) for ids in result["prompt_ids"]}) == 1
    records = result["episode"]
    assert {record.metadata["group"] for record in records} == {"5.0"}
    assert [record.metadata["member"] for record in records] == list(range(8))
    assert [record.stop_reason for record in records] == ["step_limit"] * 8
    assert len(trainer.limits) == 3, "played three at a time"


def test_an_episode_that_leaves_no_room_for_a_reply_ends() -> None:
    with household() as episodes:
        prompts = prompts_of(episodes, 1)
        result = rollout_func(episodes, turn_tokens=40)(prompts, Trainer([["look"] * 9], room=90))
        assert result["episode"][0].stop_reason == "budget_limit"
        assert len(result["completion_ids"][0]) <= 90
        assert result["outcome"] == [0.0]
        with pytest.raises(BadParameter, match="too few for a reply of 91 tokens"):
            rollout_func(episodes, turn_tokens=91)(prompts, Trainer([["look"]], room=90))


class Burning(AlfWorld):
    async def step(self, action: str) -> Observation:
        raise DeadResource(f"burnt down at {action!r}")


def test_a_failure_of_the_environment_is_no_reward() -> None:
    burning = Episodes(Burning, "alfworld_episode_reward", tasks=[Task(id=GAME)])
    with burning as episodes:
        roll_out = rollout_func(episodes)
        result = roll_out(prompts_of(episodes, 2), Trainer([["look"], ["look"]]))
        assert result["outcome"] == [None, None] == outcome([], [], **result)
        assert result["turn_rewards"] == [[0.0], [0.0]]
    for _ in range(30):
        outcome([], [], **result)
    with pytest.raises(NoScore, match=r"scored none of the last 64 rows \(env_error 64\)"):
        outcome([], [], **result)


def test_a_row_that_names_no_task_is_an_error() -> None:
    with household() as episodes, pytest.raises(BadParameter, match="has no task id"):
        rollout_func(episodes)([[{"role": "user", "content": "go"}]], Trainer([["look"]]))


def test_episodes_without_a_reward_are_refused() -> None:
    with Episodes(AlfWorld, tasks=[Task(id=GAME)]) as episodes:
        for make in (rollout_func, environment_factory):
            with pytest.raises(BadParameter, match="have no reward"):
                make(episodes)


def test_what_is_logged_says_group_seed_turns_and_why() -> None:
    metrics: dict[str, float] = {}
    table: dict[str, list[Any]] = {}
    with household(step_limit=1) as episodes:
        result = rollout_func(episodes)(prompts_of(episodes, 1), Trainer([["look"]]))
    outcome([], [], log_metric=metrics.__setitem__, log_extra=table.__setitem__, **result)
    assert metrics == {"outcome/abstained": 0.0, "outcome/turns": 1.0}
    assert table["group"] == ["5.0"]
    assert table["seed"] == [0]
    assert table["turn_rewards"] == [[0.0]]
    assert table["because"] == ["the goal was not reached"]


def double(number: int, *, twice: bool = False) -> int:
    """Twice the number.

    Args:
        number: which one
        twice: whether to do it again
    """
    return number * (4 if twice else 2)


def test_actions_are_tools_of_the_model() -> None:
    make = partial(Chat, tools=[double])
    task = {"id": "t", "question": "Twice 21?", "answer": "42"}
    with Episodes(make, "math_equal_reward_tool", tasks=[task]) as episodes:
        factory = environment_factory(episodes)
        method = factory.double  # type: ignore[attr-defined]  # made from the tool
        assert get_type_hints(method) == {"number": int, "twice": bool, "return": str}
        assert list(inspect.signature(method).parameters) == ["self", "number", "twice"]
        assert "number: " in inspect.getdoc(method)  # type: ignore[operator]  # it has one
        environments = [factory() for _ in range(2)]
        (row,) = rows(episodes)
        starts = {environment.reset(**row) for environment in environments}
        assert len(starts) == 1
        assert environments[0].double(number=21) == "42"
        completions = [
            [
                {"role": "assistant", "content": "", "tool_calls": []},
                {"role": "tool", "name": "double", "content": "42"},
                {"role": "assistant", "content": "It is 42."},
            ],
            [{"role": "assistant", "content": "It is 42."}],
        ]
        assert outcome([], completions, environments=environments) == [1.0, 0.0]
        records = [environment._live.finish() for environment in environments]
    assert {record.metadata["group"] for record in records} == {"1.t#0"}
    assert [record.metadata["member"] for record in records] == [0, 1]


def test_a_world_that_lists_no_actions_has_one_tool_for_all_of_them() -> None:
    with household(step_limit=3) as episodes:
        environment = environment_factory(episodes)()
        environment.reset(task_id=GAME, seed=0)
        assert "desk" in environment.act(action="go to desk 1")
        for action in WALKTHROUGH[1:]:
            last = environment.act(action=action)
        assert last
        assert environment.act(action="look") == "the episode is over"
        assert outcome([], [[{"role": "assistant", "content": ""}]], environments=[environment]) == [1.0]  # fmt: skip  # noqa: E501


def test_more_rollouts_than_environments_is_an_error_and_no_endless_wait() -> None:
    with household(at_once=1) as episodes:
        factory = environment_factory(episodes)
        factory()
        with pytest.raises(BadParameter, match="at_once=2"):
            factory()
