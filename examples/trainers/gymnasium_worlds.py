"""Gymnasium's own checker over our text environments, and a short seeded walk in each.

python examples/trainers/gymnasium_worlds.py [alfworld webshop scienceworld]
"""

# ruff: noqa: T201 - a script prints
from __future__ import annotations

import sys
import warnings

import gymnasium
from gymnasium.utils.env_checker import check_env

from assay.adapters.gymnasium import register_environments

ACTIONS = {
    "alfworld": ["look", "inventory", "go to drawer 1"],
    "webshop": ["search[red shirt]", "click[next >]"],
    "scienceworld": ["look around", "inventory"],
}


def main(names: list[str]) -> int:
    register_environments()
    differing = 0
    for name in names or list(ACTIONS):
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
        differing += not repeated
        print(f"  paid {paid}; a seed starts the same episode again: {repeated}")
        env.close()
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
