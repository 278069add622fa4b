"""Eight rollouts of one task in each text environment: how they are played, and what must be true.

`WORLDS` has the environments, with a task each and a policy for each member of a group. `report`
looks at the eight records that a trainer's library came to, and prints what it sees: one start, one
group id and one seed in all of them, and outcomes that are those of `assay.score` on the same
records.
"""

# ruff: noqa: T201 - scripts print
from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import assay
from assay import Context, Episode, Task
from assay.adapters.episodes import turn_rewards
from assay.worlds import Chat, GameLoader, WebShop

GROUP = 8
SEED = 7
GOLD = Path(__file__).resolve().parents[2] / "tests/data/scienceworld/gold_paths.json.gz"


def multiply(a: int, b: int) -> int:
    """The product of two whole numbers."""
    return a * b


@dataclass(frozen=True)
class World:
    """An environment as a trainer names it, a task, and what the members of a group do there."""

    environment: Any
    reward: str
    task: Task
    policy: Callable[[int, int, str], str]
    """From the member, the number of the step and what is seen to the reply."""
    step_limit: int
    asked: tuple[str, ...] = ("context",)
    """The columns of the record that the reward asks for."""
    options: dict[str, Any] = field(default_factory=dict)


def follow(way: Sequence[str], idle: str) -> Callable[[int, int, str], str]:
    """The last member goes all the way, the others a shorter piece of it."""

    def reply(member: int, step: int, _: str) -> str:
        return way[step] if step < len(way) * (member + 1) // GROUP else idle

    return reply


def shop(goal: str) -> Callable[[int, int, str], str]:
    """Search, look at the product that is the member's, and buy it; the first only looks."""

    def reply(member: int, step: int, text: str) -> str:
        if step == 0:
            return f"search[{goal}]"
        if step == 1:
            products = re.findall(r"\bB[0-9A-Z]{9}\b", text)
            return f"click[{products[member % len(products)]}]"
        return "click[buy now]" if member else "click[< prev]"

    return reply


def calculate(member: int, step: int, text: str) -> str:
    """Members call the tool and report what it says; every other one is wrong by one."""
    if step == 0:
        return f'multiply({{"a": {12 + member % 2}, "b": 12}})'
    return f"It is \\boxed{{{text}}}."


def worlds(*names: str) -> dict[str, World]:
    """The environments of these names; all four without names."""
    makers = {"alfworld": _alfworld, "webshop": _webshop, "scienceworld": _science, "chat": _chat}
    return {name: makers[name]() for name in names or makers}


def _alfworld() -> World:
    task = GameLoader().tasks("valid_unseen")[0]
    way = GameLoader().walkthrough(task.id)
    policy = follow(way, "look")
    return World("alfworld", "alfworld_episode_reward", task, policy, len(way) + 1)


def _webshop() -> World:
    asked = ("final_response", "context", "task_id")
    task = WebShop().tasks()[0]
    return World("webshop", "webshop_reward", task, shop(task.goal), 4, asked)


def _science() -> World:
    gold = json.loads(gzip.decompress(GOLD.read_bytes()))["find-living-thing"]
    task = Task(id=f"find-living-thing/{gold['var']}")
    policy, asked = follow(gold["actions"], "look around"), ("final_response", "context")
    return World(
        "scienceworld", "scienceworld_reward", task, policy, len(gold["actions"]) + 1, asked
    )


def _chat() -> World:
    task = Task(id="product", goal="What is 12 * 12?", answer="144")
    asked = ("final_response", "answer", "trajectory")
    chat = partial(Chat, tools=[multiply])
    return World(chat, "math_equal_reward_tool", task, calculate, 4, asked)


def report(library: str, name: str, world: World, records: Sequence[Episode]) -> int:
    """Print what the records of a group show; the number of things that are not so."""
    columns = [{**each.columns(), "context": Context.recorded(each)} for each in records]
    again = [
        assay.score(world.reward, **{key: row[key] for key in world.asked})["reward"]
        for row in columns
    ]
    outcomes = [each.scores[0]["reward"] for each in records]
    starts = {each.trajectory.steps[0].observation for each in records}
    groups = {each.metadata["group"] for each in records}
    seeds = {each.metadata["seed"] for each in records}
    members = [each.metadata["member"] for each in records]
    wrong = {
        f"{len(records)} rollouts": len(records) != GROUP,
        f"{len(starts)} starts": len(starts) != 1,
        f"{len(groups)} group ids": len(groups) != 1,
        f"seeds {seeds}": seeds != {SEED},
        f"members {members}": sorted(members) != list(range(GROUP)),
        f"assay.score gives {again}": outcomes != again or None in again,
    }
    problems = [what for what, is_wrong in wrong.items() if is_wrong]
    print(f"{library}, {name}: {len(records)} rollouts, group {groups.pop()!r}, seed {SEED}")
    print(f"  outcomes {[round(float(value or 0), 3) for value in outcomes]}, as assay.score's")
    print(f"  turn rewards of the last: {[round(value, 3) for value in turn_rewards(records[-1])]}")
    for problem in problems:
        print(f"  WRONG: {problem}")
    return len(problems)
