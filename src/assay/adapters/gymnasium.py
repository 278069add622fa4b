"""Gymnasium: our text worlds as `gymnasium.Env`.

    env = gymnasium.TextEnvironment("alfworld", step_limit=50)

or, after `gymnasium.register_environments()`, `gym.make("assay/alfworld-v0", step_limit=50)`.

Abstained: a world does not score, so there is nothing to abstain from; `reward` is what the world
itself pays, and a world that dies raises instead of paying 0.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

from assay.adapters.binding import import_library
from assay.errors import BadParameter
from assay.registry import ENVIRONMENTS
from assay.resources.protocol import Environment, Startable
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.tasks.environments import environment_tasks

if TYPE_CHECKING:

    class Env:
        """What this module uses of Gymnasium's own class."""

        np_random: Any

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any: ...

        def close(self) -> None: ...

    class Space:
        """What this module uses of Gymnasium's own class."""

        np_random: Any

        def __init__(self, dtype: Any = None, seed: Any = None) -> None: ...

else:
    Env = import_library("gymnasium", package="gymnasium").Env
    Space = import_library("gymnasium", package="gymnasium").Space

T = TypeVar("T")

WORLDS = ("alfworld", "scienceworld", "webshop")

LONGEST = 1_000_000
"""Characters of a text; worlds stay far below it."""


class TextSpace(Space):
    """Any text up to a length; Gymnasium's own text space wants every letter listed."""

    def __init__(self, max_length: int = LONGEST, seed: Any = None) -> None:
        self.max_length = max_length
        super().__init__(dtype=str, seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> str:  # noqa: ARG002
        """A few letters; worlds have better sources of actions."""
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


class TextEnvironment(Env):
    """A text world, by its registry name, over its own tasks or those given.

    `reset(options={"task": …})` plays one task (a `Task` or its id); otherwise the seed decides. An
    episode that the world has not ended after `step_limit` steps is truncated. `info` holds the
    task's id and goal and the world's testimony, enough to score the episode with our rewards.
    """

    metadata: Mapping[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(
        self,
        world: str,
        *,
        config: Mapping[str, Any] | None = None,
        tasks: Sequence[Task] | None = None,
        step_limit: int = 100,
        render_mode: str | None = None,
    ) -> None:
        self.observation_space = TextSpace()
        self.action_space = TextSpace()
        self.render_mode = render_mode
        self._tasks = list(
            tasks if tasks is not None else environment_tasks(world, dict(config or {}))
        )
        if not self._tasks:
            raise BadParameter(f"the world {world!r} has no tasks; pass tasks=")
        self._step_limit = step_limit
        # A thread of its own: worlds are asynchronous, and a notebook's loop is running already.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"assay-{world}")
        self._runner = asyncio.Runner()
        self._world: Environment = ENVIRONMENTS.get(world)(**(config or {}))
        if isinstance(self._world, Startable):
            self._run(self._world.start())
        self._task = self._tasks[0]
        self._steps = 0
        self._last = Observation("")

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self._task = self._choose((options or {}).get("task"))
        self._steps = 0
        self._last = self._run(self._world.reset(self._task))
        return self._last.text, self._info()

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self._last = self._run(self._world.step(action))
        self._steps += 1
        done = self._last.done
        truncated = not done and self._steps >= self._step_limit
        return self._last.text, self._last.reward or 0.0, done, truncated, self._info()

    def render(self) -> str | None:
        return self._last.text if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Let go of the world; closing twice is closing once."""
        if self._thread is not None:
            self._run(self._world.close())
            self._thread.submit(self._runner.close).result()
            self._thread.shutdown()
            self._thread = None  # type: ignore[assignment]  # there is none any more
        super().close()

    def _choose(self, wanted: Any) -> Task:
        if wanted is None:
            return self._tasks[int(self.np_random.integers(len(self._tasks)))]
        if isinstance(wanted, Task):
            return wanted
        for task in self._tasks:
            if task.id == str(wanted):
                return task
        raise BadParameter(f"no task {wanted!r} among the {len(self._tasks)} of this environment")

    def _info(self) -> dict[str, Any]:
        return {
            "task_id": self._task.id,
            "goal": self._task.goal,
            "steps": self._steps,
            "testimony": asdict(self._world.evidence()),
        }

    def _run(self, pending: Coroutine[Any, Any, T]) -> T:
        return self._thread.submit(self._runner.run, pending).result()


def register_environments() -> list[str]:
    """The ids under which `gymnasium.make` finds our text worlds from now on."""
    api = import_library("gymnasium", package="gymnasium")
    ids = [f"assay/{world}-v0" for world in WORLDS]
    for world, name in zip(WORLDS, ids, strict=True):
        if name not in api.registry:
            api.register(name, entry_point=f"{__name__}:TextEnvironment", kwargs={"world": world})
    return ids
