"""Gold paths: actions that complete a task, as the simulator's authors have them generated.

They are for tests, demonstrations and oracles. They come from a Java process of their own, which no
agent plays in: to ask for one makes every later load of a process work one out, for seconds; and
so there is nothing that an observation or a tool of a live environment could show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Final

from assay.errors import BadRecord
from assay.schema.task import Task
from assay.worlds.scienceworld.simulator import Simulator
from assay.worlds.scienceworld.tasks import TaskVariation, read_task

HEAP_MB: Final = 1024
"""To work a path out takes several times the memory that playing it does."""

_WITH_GOLD_PATH: Final = True


def gold_path(task: Task, *, simplifications: str = "", java: str = "auto") -> tuple[str, ...]:
    """The actions that complete the task; it starts a Java process, and ends it.

    Raises `BadParameter` for a task that ScienceWorld does not have, `BadRecord` for one without a
    gold path.
    """
    (path,) = gold_paths([task], simplifications=simplifications, java=java)
    return path


def gold_paths(
    tasks: Iterable[Task], *, simplifications: str = "", java: str = "auto"
) -> Iterator[tuple[str, ...]]:
    """As `gold_path`, of one task after the other, on one Java process."""
    variations = [read_task(task, simplifications) for task in tasks]
    with closing(Simulator(java=java, heap_mb=HEAP_MB)) as simulator:
        simulator.start()
        for variation in variations:
            yield _generate(simulator, variation)


def _generate(simulator: Simulator, variation: TaskVariation) -> tuple[str, ...]:
    name, number = variation.topic.name, variation.variation
    simulator.call("load", name, number, variation.simplifications, _WITH_GOLD_PATH)
    path = tuple(simulator.lines("getGoldActionSequence"))
    if not path or path[0].startswith("ERROR"):
        raise BadRecord(f"the simulator has no gold path for {name}/{number}: {path[:1]!r}")
    return path
