"""WebShop as an environment, around a `ShopSession`."""

from __future__ import annotations

import asyncio
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, get_args

from assay.errors import BadParameter, DeadResource, NotReset, check_choice
from assay.resources.pool import PoolLimits
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.worlds.webshop.goals import GoalKind
from assay.worlds.webshop.nouns import NounSource
from assay.worlds.webshop.session import NAME, ShopSession
from assay.worlds.webshop.shop import DEFAULT_SEED, Shop, open_shop
from assay.worlds.webshop.tasks import tasks


@dataclass(eq=False, repr=False)
class WebShop:
    """A WebShop environment with the ranking, goals and score of the original.

    `Task.id` is the number of a goal. `goals`, `seed` and `shuffled` in the task's metadata, as
    `tasks` writes them, come before the settings of the instance; so one instance serves all.
    """

    name = NAME
    limits: ClassVar[PoolLimits] = PoolLimits(cap=1024)
    """An instance is a session over the catalogue that all of a process share."""

    folder: str | None = None
    _: KW_ONLY
    goals: GoalKind = "human"
    seed: int = DEFAULT_SEED
    shuffle: bool = False
    clickables: bool = True
    nouns: NounSource = "auto"

    def __post_init__(self) -> None:
        check_choice("goals of WebShop", self.goals, get_args(GoalKind))
        check_choice("nouns of WebShop", self.nouns, get_args(NounSource))
        self._shop: Shop | None = None
        self._session: ShopSession | None = None
        self._closed = False
        self._binding = object()
        """Another one whenever the instance is unbound: a reset that was overtaken can tell."""

    async def start(self) -> None:
        """Read the catalogue, which all instances of a process share."""
        await self._open(self.seed)

    def tasks(self, kind: GoalKind | None = None) -> tuple[Task, ...]:
        """Return one task for each goal of a kind, by default the kind of this instance."""
        goals = self.goals if kind is None else kind
        return tasks(goals=goals, folder=self.folder, seed=self.seed, shuffle=self.shuffle)

    async def reset(self, task: Task) -> Observation:
        self.forget()
        binding, metadata = self._binding, task.metadata
        seed, shuffle = metadata.get("seed", self.seed), metadata.get("shuffled", self.shuffle)
        if type(seed) is not int or type(shuffle) is not bool:
            raise BadParameter(
                f"WebShop task {task.id!r} needs a whole number as `seed` and true or false as "
                f"`shuffled`, not {seed!r} and {shuffle!r}"
            )
        kind = metadata.get("goals", self.goals)
        check_choice("goals of WebShop", kind, get_args(GoalKind))
        session = ShopSession(await self._open(seed), clickables=self.clickables)
        observation = session.reset(task.id, kind=kind, shuffle=shuffle)
        if binding is not self._binding:
            raise NotReset(f"this WebShop was released during its reset to task {task.id!r}")
        self._session = session
        return observation

    async def step(self, action: str) -> Observation:
        return self.session.step(action)

    def evidence(self) -> WorldEvidence:
        return self.session.evidence()

    def forget(self) -> None:
        self._session = None
        self._binding = object()

    def alive(self) -> bool:
        return not self._closed

    async def close(self) -> None:
        self._closed = True
        self.forget()

    @property
    def session(self) -> ShopSession:
        """The shopping session of the current task."""
        if self._closed:
            raise DeadResource("this WebShop environment was closed; open another environment")
        if self._session is None:
            raise NotReset("this WebShop environment has no task; call `reset(task)` first")
        return self._session

    async def _open(self, seed: int) -> Shop:
        if self._closed:
            raise DeadResource("this WebShop environment was closed; open another environment")
        if self._shop is None or self._shop.seed != seed:
            self._shop = await asyncio.to_thread(
                open_shop, self.folder, seed=seed, nouns=self.nouns
            )
        return self._shop
