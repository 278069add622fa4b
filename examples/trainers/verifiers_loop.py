# ruff: noqa: T201
import asyncio
from collections import defaultdict

import numpy as np
import verifiers.v1 as vf
from loopback import serve

from assay import credit

COMMANDS = ["go to desk 1", "use desklamp 1", "take alarmclock 1 from desk 1", "look", "inventory"]
preferences = defaultdict(lambda: np.zeros(len(COMMANDS)))  # what is seen: one for each command
rng = np.random.default_rng(0)


def chances(seen):
    return np.exp(preferences[seen]) / np.exp(preferences[seen]).sum()


async def train(context, iterations=10):
    env = vf.load_environment(vf.resolve_env_config({"taskset": {"id": "household"}}))
    async with env.serving():
        (task,) = env.taskset
        for iteration in range(iterations):
            slots = env.slots(task, 16)
            await asyncio.gather(*(env.run_slot(slot, context) for slot in slots))
            traces = [slot.traces[0] for slot in slots if slot.episode.ok]  # scored, no failures
            talks = [[node.content for node in trace.branches[-1].messages] for trace in traces]
            rows = [(task.key, t.reward, talk[::2]) for t, talk in zip(traces, talks, strict=True)]
            turns = credit.Turns.of(credit.EpisodeTurns(*row) for row in rows)
            assigned = credit.assign(turns, baseline="anchor_state")
            for talk, part in zip(talks, assigned.by_episode(turns), strict=True):
                for seen, command, gain in zip(talk[::2], talk[1::2], part.advantages, strict=True):
                    step = np.eye(len(COMMANDS))[COMMANDS.index(command)] - chances(seen)
                    preferences[seen] += 0.5 * gain * step
            print(f"iteration {iteration}: mean outcome {turns.outcomes.mean():.3f}")


with serve(lambda _, talk: rng.choice(COMMANDS, p=chances(talk[-1]["content"]))) as endpoint:
    asyncio.run(train(vf.ModelContext(model="table", client=endpoint)))
