"""Gymnasium's own checker over our text environments, and groups of them in its vector environment.

    python examples/trainers/gymnasium_worlds.py [alfworld webshop chat scienceworld]

ScienceWorld is a Java process for each member of a group, so it plays only where it is named. At
the end, the loop of `gymnasium_loop.py` trains a small policy.
"""

# ruff: noqa: T201 - a script prints
from __future__ import annotations

import sys
import time
import warnings

import gymnasium
from group_of_eight import GROUP, SEED, World, report, worlds
from group_of_four import named
from gymnasium.utils.env_checker import check_env

from assay.adapters.gymnasium import TextVectorEnvironment, register_environments

ACTIONS = {
    "alfworld": ["look", "inventory", "go to drawer 1"],
    "webshop": ["search[red shirt]", "click[next >]"],
    "scienceworld": ["look around", "inventory"],
}


def check(name: str) -> int:
    """The library's checker, and a short walk with the same seed, twice."""
    env = gymnasium.make(f"assay/{name}-v0", step_limit=20, render_mode="ansi").unwrapped
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env, skip_close_check=True)
    first, info = env.reset(seed=3)
    paid = [env.step(action)[1] for action in ACTIONS[name]]
    again, same = env.reset(seed=3)
    print(f"{name}: the checker passed with {len(caught)} warnings; task {info['task_id']}")
    for warning in caught:
        print(f"  {str(warning.message)[:160]}")
    repeated = (first, info) == (again, same)
    print(f"  paid {paid}; a seed starts the same episode again: {repeated}")
    env.close()
    return not repeated


def play_group(name: str, world: World) -> int:
    """One group of eight in a vector environment, and what its records show."""
    envs = TextVectorEnvironment(
        world.environment,
        num_envs=GROUP,
        tasks=[world.task],
        reward=world.reward,
        step_limit=world.step_limit,
    )
    texts, info = envs.reset(seed=SEED)
    ended, step = [False] * GROUP, 0
    while not all(ended):
        replies = [world.policy(member, step, texts[member]) for member in range(GROUP)]
        texts, _, terminated, truncated, info = envs.step(replies)
        ended, step = terminated | truncated, step + 1
    envs.close()
    return report(named("gymnasium"), name, world, list(info["record"]))


def play_sixty_four() -> int:
    """Sixty-four households in one process, eight groups of them."""
    begin = time.perf_counter()
    envs = gymnasium.make_vec("assay/alfworld-v0", num_envs=64, group_size=GROUP, step_limit=20)
    texts, info = envs.reset(seed=SEED)
    starts = len({*zip(texts, info["group"], strict=True)})
    for _ in range(20):
        _, _, terminated, truncated, info = envs.step(["look"] * 64)
    envs.close()
    spent = time.perf_counter() - begin
    print(f"alfworld: {starts} starts of 64 episodes, 1,280 steps in {spent:.1f} s")
    return not (starts == 8 and (terminated | truncated).all() and info["_outcome"].all())


def main(names: list[str]) -> int:
    register_environments()
    failures = sum(check(name) for name in ACTIONS)
    for name, world in worlds(*names or ("alfworld", "webshop", "chat")).items():
        failures += play_group(name, world)
    failures += play_sixty_four()
    import gymnasium_loop

    return failures + int(gymnasium_loop.info["outcome"].mean() < 0.5)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
