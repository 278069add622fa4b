"""Use Assay's text environments in Gymnasium, as `gymnasium.Env` or as `VectorEnv`.

    env = gymnasium.TextEnvironment("alfworld", step_limit=50)
    envs = gymnasium.TextVectorEnvironment("alfworld", num_envs=64, group_size=8)

or, after `gymnasium.register_environments()`, `gym.make("assay/alfworld-v0", step_limit=50)` and
`gym.make_vec("assay/alfworld-v0", num_envs=64, group_size=8)`.

The reward of a step is what the environment itself pays for it. When an episode has ended,
`info["outcome"]` is the number of an Assay reward, and `info["record"]` the episode itself.

Abstained: an episode whose reward abstains has no `outcome` (in a vector, its mask `_outcome` is
False). An environment that dies raises; in a vector it ends its own episode alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from assay.adapters.binding import Reward, import_library
from assay.adapters.episodes import Episodes, LiveEpisode, LiveTurn
from assay.errors import BadParameter, DeadResource
from assay.schema.episode import StopReason
from assay.schema.evidence import WorldEvidence
from assay.schema.task import Task

Env: Any = import_library("gymnasium", package="gymnasium").Env
Space: Any = import_library("gymnasium", package="gymnasium").Space
vector: Any = import_library("gymnasium.vector", package="gymnasium")

ENVIRONMENT_NAMES = ("alfworld", "scienceworld", "webshop")
LIMITS: tuple[StopReason, ...] = ("step_limit", "budget_limit", "timeout", "env_error")
"""Endings that are none of the task's own: the episode was truncated."""

MAX_TEXT_CHARS = 1_000_000
"""Environments stay far below it."""
SEEDS = 2**31


class TextSpace(Space):  # type: ignore[misc]  # Gymnasium is no dependency, so it has no types
    """A space of all texts up to a maximum length."""

    def __init__(self, max_length: int = MAX_TEXT_CHARS, seed: Any = None) -> None:
        self.max_length = max_length
        super().__init__(dtype=str, seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> str:  # noqa: ARG002
        """Return a few random letters, which are rarely a useful action."""
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
    """A Gymnasium environment around one of Assay's text environments.

    `reset(options={"task": …})` plays one task (a `Task` or its id); otherwise the seed decides.
    `group` and `member` are further options, for the record. An episode that has not ended after
    `step_limit` steps is truncated. `info` holds the task's id and goal, group, seed and the
    environment's testimony, and of an episode that ended its `outcome` and `record`.
    """

    metadata: Mapping[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(
        self,
        environment: Any,
        *,
        config: Mapping[str, Any] | None = None,
        tasks: Sequence[Task] | None = None,
        reward: Reward | None = None,
        params: Mapping[str, Any] | None = None,
        step_limit: int = 100,
        render_mode: str | None = None,
    ) -> None:
        self.observation_space = TextSpace()
        self.action_space = TextSpace()
        self.render_mode = render_mode
        options = {"config": config, "params": params, "tasks": tasks, "step_limit": step_limit}
        self._episodes = Episodes.scored(environment, reward, **options, at_once=1)
        assert self._episodes.tasks, "it raises where there are none"
        self._live = self._episodes.new()

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        choice = dict(options or {})
        task = choice.pop("task", None)
        drawn = int(self.np_random.integers(SEEDS)) if seed is None and task is None else seed
        turn = self._live.reset(task, seed=drawn, **choice)
        return self._checked(turn).text, _info(self._live)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        turn = self._checked(self._live.step(str(action)))
        truncated = turn.stop_reason in LIMITS
        return turn.text, turn.reward, turn.done and not truncated, truncated, _info(self._live)

    def render(self) -> str | None:
        return self._live.turn.text if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Close the environment; a second call does nothing."""
        self._live.close()
        self._episodes.close()
        super().close()

    def _checked(self, turn: LiveTurn) -> LiveTurn:
        if turn.stop_reason == "env_error":
            failure = self._live.finish().failure
            raise DeadResource(failure.message if failure else "the environment failed")
        return turn


class TextVectorEnvironment(vector.VectorEnv):  # type: ignore[misc]  # as above
    """Many parallel episodes of a text environment, in groups with the same task.

    The first `group_size` of them are the first group, and so on. `reset(seed=s)` gives the group
    with number g the seed s + g, which draws its task; `options={"tasks": [...]}` names one for
    each group. All members of a group see the same start. An episode that ended stays ended, and
    its steps are unpaid, until `reset(options={"reset_mask": mask})` starts its whole group anew.
    `info` has, for each of them, what `TextEnvironment` has, and `stop_reason`.
    """

    metadata: Mapping[str, Any] = {
        "render_modes": ["ansi"],
        "autoreset_mode": vector.AutoresetMode.DISABLED,
    }

    def __init__(
        self,
        environment: Any,
        *,
        num_envs: int = 64,
        group_size: int = 8,
        config: Mapping[str, Any] | None = None,
        tasks: Sequence[Task] | None = None,
        reward: Reward | None = None,
        params: Mapping[str, Any] | None = None,
        step_limit: int = 100,
        render_mode: str | None = None,
    ) -> None:
        if num_envs < 1 or group_size < 1 or num_envs % group_size:
            raise BadParameter(
                f"num_envs={num_envs!r} is not a positive multiple of group_size={group_size!r}"
            )
        self.num_envs, self._group_size = num_envs, group_size
        self.render_mode = render_mode
        self.single_observation_space, self.single_action_space = TextSpace(), TextSpace()
        batch = import_library("gymnasium.vector.utils", package="gymnasium").batch_space
        self.observation_space = batch(self.single_observation_space, num_envs)
        self.action_space = batch(self.single_action_space, num_envs)
        options = {"config": config, "params": params, "tasks": tasks, "step_limit": step_limit}
        self._episodes = Episodes.scored(environment, reward, **options, at_once=num_envs)
        assert self._episodes.tasks, "it raises where there are none"
        self._lives = [self._episodes.new() for _ in range(num_envs)]

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        super().reset(seed=seed)
        choice = dict(options or {})
        mask = self._whole_groups(choice.pop("reset_mask", None))
        groups = self.num_envs // self._group_size
        tasks, task = choice.pop("tasks", None), choice.pop("task", None)
        tasks = [task] * groups if tasks is None else list(tasks)
        if len(tasks) != groups:
            raise BadParameter(f"{len(tasks)} tasks for {groups} groups; give one per group")
        if choice:
            raise BadParameter(
                f"unknown option {next(iter(choice))!r}; choose from task, tasks and reset_mask"
            )
        seeds = [
            int(self.np_random.integers(SEEDS)) if seed is None else seed + group
            for group in range(groups)
        ]
        places = [divmod(number, self._group_size) for number in range(self.num_envs)]
        self._episodes.all(
            live.reset_async(tasks[group], seed=seeds[group], member=member)
            for live, (group, member), chosen in zip(self._lives, places, mask, strict=True)
            if chosen
        )
        return self._texts(), self._infos(mask)

    def step(
        self, actions: Sequence[str]
    ) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        if len(actions) != self.num_envs:
            raise BadParameter(f"{len(actions)} actions for {self.num_envs} environments")
        pairs = zip(self._lives, actions, strict=True)
        turns = self._episodes.all(live.step_async(str(action)) for live, action in pairs)
        truncated = np.array([turn.stop_reason in LIMITS for turn in turns])
        return (
            self._texts(),
            np.array([turn.reward for turn in turns]),
            np.array([turn.done for turn in turns]) & ~truncated,
            truncated,
            self._infos([True] * self.num_envs),
        )

    def render(self) -> tuple[str, ...] | None:
        return self._texts() if self.render_mode == "ansi" else None

    def close_extras(self, **_: Any) -> None:
        """Close every environment."""
        self._episodes.all(live.close_async() for live in self._lives)
        self._episodes.close()

    def _texts(self) -> tuple[str, ...]:
        return tuple(live.turn.text for live in self._lives)

    def _infos(self, mask: Sequence[bool]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for number, (live, chosen) in enumerate(zip(self._lives, mask, strict=True)):
            if chosen:
                for key, value in _info(live).items():
                    _put(infos, key, value, number, self.num_envs)
        return infos

    def _whole_groups(self, mask: Any) -> list[bool]:
        chosen = [True] * self.num_envs if mask is None else [bool(each) for each in mask]
        groups = {
            tuple(chosen[first : first + self._group_size])
            for first in range(0, len(chosen), self._group_size)
        }
        if len(chosen) != self.num_envs or any(len(set(group)) > 1 for group in groups):
            raise BadParameter(
                f"reset_mask has {len(chosen)} values; give {self.num_envs} values, equal for all "
                f"{self._group_size} members of a group"
            )
        return chosen


def _info(live: LiveEpisode) -> dict[str, Any]:
    """The `info` of an episode; `outcome` and `record` exist after its end."""
    task, observation = live.task or Task(id=""), live.observation
    evidence = None if observation is None else observation.evidence
    info = {
        "task_id": task.id,
        "goal": task.goal,
        "group": live.group,
        "member": live.member,
        "steps": live.steps,
        "testimony": asdict(evidence) if isinstance(evidence, WorldEvidence) else {},
    }
    if live.seed is not None:
        info["seed"] = live.seed
    if live.turn.done:
        info |= {"stop_reason": live.turn.stop_reason, "record": live.finish()}
        if live.outcome is not None:
            info["outcome"] = live.outcome
    return info


def _put(infos: dict[str, Any], key: str, value: Any, number: int, count: int) -> None:
    """Add a value to a column and to the column's mask, as Gymnasium does."""
    if key not in infos:
        kind: Any = type(value) if type(value) in (int, float) else object
        infos[key] = np.full(count, None if kind is object else kind(), dtype=kind)
        infos[f"_{key}"] = np.zeros(count, dtype=np.bool_)
    infos[key][number] = value
    infos[f"_{key}"][number] = True


def register_environments() -> list[str]:
    """Register Assay's text environments with Gymnasium, and return their ids."""
    api = import_library("gymnasium", package="gymnasium")
    names = {f"assay/{name}-v0": name for name in ENVIRONMENT_NAMES}
    for id_, name in names.items():
        if id_ not in api.registry:
            api.register(
                id_,
                entry_point=f"{__name__}:TextEnvironment",
                vector_entry_point=f"{__name__}:TextVectorEnvironment",
                kwargs={"environment": name},
            )
    return list(names)
