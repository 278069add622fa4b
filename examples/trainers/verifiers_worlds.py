"""verifiers plays our environments over many turns: eight rollouts of one task in a group, side by
side, with a model behind a loopback endpoint that says one of a handful of actions at random.

For WebShop, ALFWorld, a chat with tools and ScienceWorld; then a household that breaks half-way,
whose traces carry an error and no reward.

    python examples/trainers/verifiers_worlds.py [webshop alfworld chat scienceworld]
"""

# ruff: noqa: T201 - a script prints
from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from types import ModuleType

import verifiers.v1 as vf
from loopback import serve
from worlds import WORLDS, Fragile, check_groups, names

import assay
from assay.adapters.episodes import Episodes
from assay.adapters.verifiers_episodes import environment

GROUP = 8


async def play_group(
    name: str, model: str, episodes: Episodes, client: vf.EvalClientConfig
) -> list[vf.Episode]:
    """Eight episodes of the first task, by verifiers' own slots."""
    module = ModuleType(name)  # a file of one's own, in earnest: verifiers finds it by its name
    vars(module).update(zip(("Tasks", "Play", "Say"), environment(episodes), strict=True))
    vars(module)["__all__"] = ["Tasks", "Play", "Say"]
    sys.modules[name] = module
    env = vf.load_environment(vf.resolve_env_config({"taskset": {"id": name}}))
    context = vf.ModelContext(model=model, client=client)
    async with env.serving():
        (task,) = env.taskset
        slots = env.slots(task, GROUP)
        return list(await asyncio.gather(*(env.run_slot(slot, context) for slot in slots)))


def play(name: str, client: vf.EvalClientConfig) -> None:
    start, records = time.perf_counter(), list[assay.Episode]()
    with WORLDS[name].open(step_limit=12, at_once=GROUP, on_episode=records.append) as episodes:
        played = asyncio.run(play_group(f"{name}_world", name, episodes, client))
    figures = check_groups(records, GROUP)
    traces = [trace for episode in played for trace in episode.traces]
    assert len(traces) == GROUP, [episode.errors for episode in played]
    assert all(trace.ok for trace in traces), [trace.errors for trace in traces]
    by_member = {record.metadata["member"]: float(record.scores[0]) for record in records}
    infos = [trace.info["episode"] for trace in traces]
    assert [trace.reward for trace in traces] == [by_member[info["member"]] for info in infos]
    assert len({(info["group"], info["seed"], info["start"]) for info in infos}) == 1
    openings = {trace.branches[-1].messages[0].content for trace in traces}
    assert len(openings) == 1, "every trace opens with the one reset observation"
    print(f"{name}, verifiers {version('verifiers')}: {figures}")
    print(
        f"  rewards on the traces {[round(trace.reward, 3) for trace in traces]}; group "
        f"{infos[0]['group']!r}, seed {infos[0]['seed']}; {time.perf_counter() - start:.1f} s"
    )


def play_with_failures(client: vf.EvalClientConfig) -> None:
    """What fails is an error on the trace, and no reward."""
    tasks = WORLDS["alfworld"].open().tasks
    with Episodes(Fragile, "alfworld_episode_reward", tasks=tasks, step_limit=12) as episodes:
        played = asyncio.run(play_group("failing_world", "alfworld", episodes, client))
    traces = [trace for episode in played for trace in episode.traces]
    failures = [trace for trace in traces if not trace.ok]
    print(
        f"alfworld with failures: {len(failures)} of {len(traces)} traces carry an error, rewards "
        f"{[trace.rewards['outcome'] and trace.rewards['outcome'].score for trace in traces]}"
    )
    print(f"  {failures[0].last_error.type}: {failures[0].last_error.message}")
    assert all(trace.rewards.get("outcome") is None for trace in failures)
    assert len(failures) == sum(not episode.ok for episode in played) > 0


def main(arguments: Sequence[str]) -> int:
    rng = random.Random(7)
    with serve(lambda model, _: rng.choice(WORLDS[model].actions)) as client:
        for name in names(arguments):
            play(name, client)
        play_with_failures(client)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
