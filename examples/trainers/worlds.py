"""Four environments for the examples of trainers: a task of each, and actions that matter there.

A policy of random weights that says one of a handful of actions at a time wins now and then, so
that groups of rollouts differ and there is something to learn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import assay
from assay.adapters.episodes import Episodes, turn_rewards
from assay.errors import DeadResource
from assay.schema import Observation
from assay.worlds import AlfWorld, Chat

PRICES = {"tea": "17", "rum": "29"}


def price(item: str) -> str:
    """What one of it costs.

    Args:
        item: the name of the item
    """
    return PRICES.get(item, "not sold here")


class Fragile(AlfWorld):
    """A household that breaks at the second `look` of an episode."""

    looks = 0

    async def reset(self, task: assay.Task) -> Observation:
        self.looks = 0
        return await super().reset(task)

    async def step(self, action: str) -> Observation:
        self.looks += action == "look"
        if self.looks == 2:
            raise DeadResource("the house has burnt down")
        return await super().step(action)


class World(NamedTuple):
    """An environment of the examples."""

    open: Callable[..., Episodes]
    """Its episodes; keyword arguments are those of `Episodes`."""
    actions: Sequence[str]
    """What the policy can say."""


def _shop(**options: Any) -> Episodes:
    tasks = [assay.Task(id="3", metadata={"goals": "human", "seed": 0, "shuffled": False})]
    return Episodes("webshop", "webshop_reward", tasks=tasks, **options)


def _house(**options: Any) -> Episodes:
    game = "look_at_obj_in_light-AlarmClock-None-DeskLamp-308/trial_T20190908_222951_616606"
    return Episodes("alfworld", "alfworld_episode_reward", tasks=[assay.Task(id=game)], **options)


def _science(**options: Any) -> Episodes:
    tasks = [assay.Task(id="lifespan-longest-lived/93")]
    return Episodes("scienceworld", "scienceworld_reward", tasks=tasks, **options)


def _chat(**options: Any) -> Episodes:
    question = "What do a tea and three more coins cost? A number."
    tasks = [{"id": "tea", "question": question, "answer": "20"}]
    make = partial(Chat, tools=[price])
    return Episodes(make, "math_equal_reward_tool", tasks=tasks, **options)


WORLDS: dict[str, World] = {
    "webshop": World(
        _shop,
        (
            "search[B09PY89B1S organic hair serum roller]",
            "click[B09PY89B1S]",
            "click[1pcs]",
            "click[buy now]",
        ),
    ),
    "alfworld": World(
        _house, ("go to desk 1", "use desklamp 1", "take alarmclock 1 from desk 1", "look")
    ),
    "chat": World(
        _chat, ('price({"item": "tea"})', 'price({"item": "rum"})', "It is 20.", "It is 17.")
    ),
    "scienceworld": World(
        _science, ("open door to outside", "go to outside", "focus on crocodile", "look around")
    ),
}


def names(arguments: Sequence[str]) -> list[str]:
    """The environments to play: those named, or all that can be started here."""
    if arguments:
        return list(arguments)
    left_out = () if find_spec("scienceworld") else ("scienceworld",)
    if left_out:
        print("scienceworld is left out: pip install 'assay[envs]' adds it")  # noqa: T201
    return [name for name in WORLDS if name not in left_out]


def check_groups(episodes: Sequence[assay.Episode], size: int) -> str:
    """A line of figures, or an `AssertionError`: one start for each group, its id and its seed in
    every record, and outcomes as `assay.score` gives them on the records."""
    groups: dict[str, list[assay.Episode]] = {}
    rescored: list[float] = []
    for episode in episodes:
        groups.setdefault(episode.metadata["group"], []).append(episode)
        reward = episode.scores[0].scorer
        context = assay.Context.recorded(episode)
        again = assay.score(reward, **episode.columns(), context=context)
        assert again == episode.scores[0], (again, episode.scores[0])
        rescored.append(float(again))
    for group in groups.values():
        assert len(group) == size, [len(each) for each in groups.values()]
        assert len({(e.task.id, e.metadata["seed"]) for e in group}) == 1
        assert len({episode.trajectory.steps[0].observation for episode in group}) == 1
        assert sorted(episode.metadata["member"] for episode in group) == list(range(size))
    outcomes = [float(episode.scores[0]) for episode in episodes]
    paid = [sum(turn_rewards(episode)) for episode in episodes]
    turns = [episode.n_steps for episode in episodes]
    return (
        f"{len(episodes)} rollouts in {len(groups)} groups of {size}, one start each; seeds "
        f"{sorted({episode.metadata['seed'] for episode in episodes})}; {min(turns)} to "
        f"{max(turns)} turns; outcomes {sum(outcomes):g} in all, by assay.score {sum(rescored):g}, "
        f"turn rewards {sum(paid):g}"
    )
