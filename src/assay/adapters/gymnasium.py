"""Gymnasium: our text environments as `gymnasium.Env`.

    env = gymnasium.TextEnvironment("alfworld", step_limit=50)

or, after `gymnasium.register_environments()`, `gym.make("assay/alfworld-v0", step_limit=50)`.

Abstained: an environment does not score, so it never abstains; `reward` is what the environment
itself pays, and one that dies raises instead of paying 0.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any, TypeVar

from assay.adapters.binding import import_library
from assay.errors import BadParameter
from assay.registry import ENVIRONMENTS
from assay.resources.protocol import Environment, Startable
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.tasks.environments import environment_tasks

Env: Any = import_library("gymnasium", package="gymnasium").Env
Space: Any = import_library("gymnasium", package="gymnasium").Space

T = TypeVar("T")

ENVIRONMENT_NAMES = ("alfworld", "scienceworld", "webshop")

MAX_TEXT_CHARS = 1_000_000
"""Environments stay far below it."""


class TextSpace(Space):  # type: ignore[misc]  # Gymnasium is no dependency, so it has no types
    """Any text up to a length; Gymnasium's own text space needs a list of letters."""

    def __init__(self, max_length: int = MAX_TEXT_CHARS, seed: Any = None) -> None:
        self.max_length = max_length
        super().__init__(dtype=str, seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> str:  # noqa: ARG002
        """A few letters; environments have better sources of actions."""
        letters = "abcdefghijklmnopqrstuvwxyz "
        return "".join(
            letters[int(number)] for number in self.np_random.integers(len(letters), size=8)
        )

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"TextSpace(max_length={self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TextSpace) and self.max_length == other.max_length

    __hash__ = None  # type: ignore[assignment]  # mutable, as Gymnasium's spaces are


class TextEnvironment(Env):  # type: ignore[misc]  # as above
    """A text environment, by its registry name, over its own tasks or those of `tasks`.

    `reset(options={"task": …})` plays one task (a `Task` or its id); otherwise the seed decides. An
    episode that has not ended after `step_limit` steps is truncated. `info` holds the task's id and
    goal and the environment's testimony, enough to score the episode with our rewards.
    """

    metadata: Mapping[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(
        self,
        environment: str,
        *,
        config: Mapping[str, Any] | None = None,
        tasks: Sequence[Task] | None = None,
        step_limit: int = 100,
        render_mode: str | None = None,
    ) -> None:
        self.observation_space = TextSpace()
        self.action_space = TextSpace()
        self.render_mode = render_mode
        if tasks is None:
            tasks = environment_tasks(environment, dict(config or {}))
        self._tasks = list(tasks)
        if not self._tasks:
            raise BadParameter(f"the environment {environment!r} has no tasks; pass tasks=")
        self._step_limit = step_limit
        # A thread of its own: environments are asynchronous, and a notebook's loop runs already.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"assay-{environment}")
        self._runner = asyncio.Runner()
        self._environment: Environment = ENVIRONMENTS.get(environment)(**(config or {}))
        if isinstance(self._environment, Startable):
            self._run(self._environment.start())
        self._task = self._tasks[0]
        self._steps = 0
        self._last = Observation("")

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self._task = self._choose((options or {}).get("task"))
        self._steps = 0
        self._last = self._run(self._environment.reset(self._task))
        return self._last.text, self._info()

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self._last = self._run(self._environment.step(action))
        self._steps += 1
        done = self._last.done
        truncated = not done and self._steps >= self._step_limit
        return self._last.text, self._last.reward or 0.0, done, truncated, self._info()

    def render(self) -> str | None:
        return self._last.text if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Close the environment; closing twice is closing once."""
        if self._thread is not None:
            self._run(self._environment.close())
            self._thread.submit(self._runner.close).result()
            self._thread.shutdown()
            self._thread = None  # type: ignore[assignment]  # there is none any more
        super().close()

    def _choose(self, task: Any) -> Task:
        if task is None:
            return self._tasks[int(self.np_random.integers(len(self._tasks)))]
        if isinstance(task, Task):
            return task
        for candidate in self._tasks:
            if candidate.id == str(task):
                return candidate
        raise BadParameter(f"no task {task!r} among the {len(self._tasks)} of this environment")

    def _info(self) -> dict[str, Any]:
        return {
            "task_id": self._task.id,
            "goal": self._task.goal,
            "steps": self._steps,
            "testimony": asdict(self._environment.evidence()),
        }

    def _run(self, pending: Coroutine[Any, Any, T]) -> T:
        return self._thread.submit(self._runner.run, pending).result()


def register_environments() -> list[str]:
    """Register our text environments with `gymnasium.make`, and return their ids."""
    api = import_library("gymnasium", package="gymnasium")
    names = {f"assay/{name}-v0": name for name in ENVIRONMENT_NAMES}
    for id_, name in names.items():
        if id_ not in api.registry:
            entry_point = f"{__name__}:TextEnvironment"
            api.register(id_, entry_point=entry_point, kwargs={"environment": name})
    return list(names)
