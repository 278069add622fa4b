# ruff: noqa: T201
from collections import defaultdict

import numpy as np

from assay import credit
from assay.adapters.gymnasium import TextVectorEnvironment

TASK = "look_at_obj_in_light-AlarmClock-None-DeskLamp-308/trial_T20190908_222917_366542"
COMMANDS = ["go to desk 2", "take alarmclock 1 from desk 2", "go to desk 1", "use desklamp 1"]
COMMANDS += ["go to bed 1", "look", "inventory", "go to safe 1"]
envs = TextVectorEnvironment("alfworld", num_envs=64, group_size=8, step_limit=8)
preferences = defaultdict(lambda: np.zeros(len(COMMANDS)))  # what is seen: one for each command
rng = np.random.default_rng(0)
for iteration in range(12):
    texts, info = envs.reset(seed=8 * iteration, options={"task": TASK})
    choices = [[] for _ in texts]
    ended = np.zeros(envs.num_envs, dtype=bool)
    while not ended.all():
        picks = []
        for turns_taken, seen, over in zip(choices, texts, ended, strict=True):
            weights = np.exp(preferences[seen] - preferences[seen].max())
            chances = weights / weights.sum()
            picks.append(rng.choice(len(COMMANDS), p=chances))
            if not over:
                turns_taken.append((seen, picks[-1], chances))
        texts, _, terminated, truncated, info = envs.step([COMMANDS[pick] for pick in picks])
        ended = terminated | truncated
    rows = credit.turns_of(info["record"], lambda episode: episode.scores[0]["reward"])
    turns = credit.Turns.of(rows)
    assigned = credit.assign(turns, method="potential", baseline="anchor_state")
    for turns_taken, part in zip(choices, assigned.by_episode(turns), strict=True):
        for (seen, pick, chances), advantage in zip(turns_taken, part.advantages, strict=True):
            preferences[seen] += 0.5 * advantage * (np.eye(len(COMMANDS))[pick] - chances)
    print(f"iteration {iteration}: mean outcome {info['outcome'].mean():.3f}")
envs.close()
