"""Recent rewards of this process, which supply a neutral number for abstentions.

Trainers that know only numbers need one for a row that has no score. In a group whose members are
compared with their mean, the mean of the others is the number that says nothing: the row gets no
advantage, and the baseline of the others stays where it was.
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from math import fsum
from threading import Lock
from typing import Any

from assay.errors import NoScore
from assay.schema.score import Abstained, Score
from assay.schema.values import plain

FIRST = 0.5
"""The number of an abstention before anything was scored: the middle of the scale from 0 to 1."""

GROUPS = 4096
"""Groups whose rewards are remembered; the one that was longest unused goes first."""

GROUP_SIZE = 16
RECENT = 1024

GROUP_COLUMNS = ("group_index", "index", "prompt", "answer")
"""Columns that the members of a group have in common, in the trainers that pass them."""

logger = logging.getLogger("assay.adapters")


class RecentRewards:
    """The latest rewards of one function by group, and the abstentions since the last score.

    It pickles as its identity: in another process it is that process's own.
    """

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._lock = Lock()
        self._groups: OrderedDict[Hashable, deque[float]] = OrderedDict()
        self._recent: deque[float] = deque(maxlen=RECENT)
        self._abstentions: Counter[str] = Counter()
        self._firsts: dict[str, Abstained] = {}

    def __reduce__(self) -> tuple[Callable[[str], RecentRewards], tuple[str]]:
        return tally_of, (self._identity,)

    def note(self, score: Score, group: Hashable, *, limit: int | None) -> None:
        """Remember the score; raises `NoScore` after `limit` abstentions without a score."""
        with self._lock:
            if not isinstance(score, Abstained):
                self._remember(score.value, group)
                return
            self._firsts.setdefault(score.reason, score)
            self._abstentions[score.reason] += 1
            reasons = Counter(self._abstentions)
            first = self._firsts[reasons.most_common(1)[0][0]]
        count = reasons.total()
        if limit is not None and count >= limit:
            counts = ", ".join(f"{reason} {number}" for reason, number in reasons.most_common())
            message = (
                f"{first.scorer} scored none of the last {count} rows ({counts}); one of them: "
                f"{first.reason}: {first.because}. Mend the reward, its columns or the rows; "
                "max_abstained= sets the limit, and max_abstained=None removes it"
            )
            if count == limit:
                # Some trainers swallow what a reward raises.
                logger.error(message)
            raise NoScore(message)

    def _remember(self, value: float, group: Hashable) -> None:
        self._abstentions.clear()
        self._firsts.clear()
        self._recent.append(value)
        self._groups.setdefault(group, deque(maxlen=GROUP_SIZE)).append(value)
        self._groups.move_to_end(group)
        if len(self._groups) > GROUPS:
            self._groups.popitem(last=False)

    @property
    def has_scored(self) -> bool:
        """Whether any row was scored in this process."""
        return bool(self._recent)

    def mean(self, group: Hashable) -> float:
        """The mean of the group's latest rewards, or of all groups if the group has none."""
        with self._lock:
            values = list(self._groups.get(group) or self._recent)
        return mean_of(values, FIRST)


@lru_cache(maxsize=256)
def tally_of(identity: str) -> RecentRewards:
    """The tally of recent rewards for one configuration in this process.

    It does not live in the function that a trainer calls: several trainers unpickle that function
    for every row, or name it in a configuration and bind it anew.
    """
    return RecentRewards(identity)


def mean_of(values: Sequence[float], default: float) -> float:
    return fsum(values) / len(values) if values else default


def group_of(cells: Iterable[Any]) -> Hashable:
    """A value that is equal for all rows of one group."""
    return hash(tuple(map(_text, cells)))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        # The whole of it: prompts of many tasks begin with one long system message.
        return repr(plain(value))
    except Exception:  # noqa: BLE001 - a row's objects may fail at anything
        return type(value).__name__
