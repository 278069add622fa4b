"""Engines: what applies a function to many items, such as the processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from itertools import islice
from typing import Literal, Protocol, TypeAlias, TypeVar

from assay.errors import BadParameter
from assay.isolation.processes import guarded_work, naming_losses, worker_pool

EngineName: TypeAlias = Literal["local", "ray"]
T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """Applies a function to many items, in this process or elsewhere."""

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """Every result once, in the order in which they are done.

        An item may be worked on more than once, so `work` has to have the same effect each time.
        """


@dataclass(frozen=True, slots=True)
class LocalProcesses:
    """`workers` processes of this machine; with one, the work is done in this process."""

    workers: int = 1

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise BadParameter(f"workers={self.workers!r}; at least one is needed")

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        if self.workers == 1 or len(items) < 2:
            yield from map(work, items)
            return
        pool = worker_pool(min(self.workers, len(items)))
        remaining = iter(items)
        running: set[Future[R]] = set()
        try:
            while True:
                capacity = 2 * self.workers - len(running)
                running.update(pool.submit(_do, work, item) for item in islice(remaining, capacity))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from naming_losses(future.result() for future in done)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _do(work: Callable[[T], R], item: T) -> R:
    """What the work returns, in a process of the pool."""
    with guarded_work():
        return work(item)
