"""A taskset, an environment and a program that verifiers finds by the name of this module."""

from assay.adapters.episodes import Episodes
from assay.adapters.verifiers_episodes import environment

TASK = "look_at_obj_in_light-AlarmClock-None-DeskLamp-308/trial_T20190908_222951_616606"
EPISODES = Episodes("alfworld", "alfworld_episode_reward", step_limit=6)
Tasks, Household, Speak = environment(EPISODES, [TASK])

__all__ = ["Household", "Speak", "Tasks"]
