# ruff: noqa: T201
import asyncio
from collections import defaultdict

import numpy as np

from assay import Episode, credit
from assay.adapters.openenv_episodes import TextClient

TASK = "look_at_obj_in_light-AlarmClock-None-DeskLamp-308/trial_T20190908_222917_366542"
COMMANDS = ["go to desk 2", "take alarmclock 1 from desk 2", "go to desk 1", "use desklamp 1"]
COMMANDS += ["go to bed 1", "look", "inventory", "go to safe 1"]
preferences = defaultdict(lambda: np.zeros(len(COMMANDS)))  # what is seen: one for each command
rng = np.random.default_rng(0)


async def play(url, seed, member):
    choices = []
    async with TextClient(url) as env:
        result = await env.reset(task=TASK, seed=seed, member=member)
        while not result.done:
            seen = result.observation.text
            weights = np.exp(preferences[seen] - preferences[seen].max())
            pick = rng.choice(len(COMMANDS), p=weights / weights.sum())
            choices.append((seen, pick, weights / weights.sum()))
            result = await env.step(COMMANDS[pick])
        return choices, Episode.model_validate((await env.state()).record)


async def train(url, iterations=12):
    for iteration in range(iterations):
        played = await asyncio.gather(*(play(url, iteration, member) for member in range(32)))
        rows = credit.turns_of([record for _, record in played], lambda e: e.scores[0]["reward"])
        turns = credit.Turns.of(rows)
        assigned = credit.assign(turns, method="potential", baseline="anchor_state")
        for (choices, _), part in zip(played, assigned.by_episode(turns), strict=True):
            for (seen, pick, chances), advantage in zip(choices, part.advantages, strict=True):
                preferences[seen] += 0.5 * advantage * (np.eye(len(COMMANDS))[pick] - chances)
        print(f"iteration {iteration}: mean outcome {turns.outcomes.mean():.3f}")
