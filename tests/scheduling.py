"""How the tests are dealt out to several workers: a file at a time, the longest first.

The tests of a file stay together, so that what its fixtures start is started once, and so do
those of a folder that share a server.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]  # it has no types

TOGETHER = ("tests/server", "tests/viewer")
"""Folders whose files share a server."""
ALONE = ("tests/server/test_shutdown.py", "tests/server/test_workers.py")
"""Files of such a folder that mostly start servers of their own."""
FIRST_GUESS = {
    "tests/viewer": 85.0,
    "tests/browser/test_watch.py": 55.0,
    "tests/browser/test_hostile_pages.py": 25.0,
    "tests/server": 45.0,
    "tests/runner/test_driving.py": 40.0,
    "tests/browser/miniwob/test_miniwob_environment.py": 37.0,
    "tests/browser/test_browser_environment.py": 34.0,
    "tests/browser/test_evidence_kinds.py": 31.0,
    "tests/rewards/code/test_code_reward.py": 30.0,
    "tests/cli/test_first_hour.py": 26.0,
    "tests/docs/test_examples.py": 25.0,
    "tests/audit/test_machine_rewards.py": 67.0,
    "tests/server/test_workers.py": 47.0,
    "tests/worlds/scienceworld/test_scienceworld.py": 40.0,
    "tests/runner/test_cluster.py": 29.0,
    "tests/test_extras.py": 26.0,
}
"""Seconds, for the first run in a fresh clone; afterwards the times of the run before are used."""
SECONDS_A_TEST = 0.05
"""Of a test in a file of which nothing is known."""
RECORD = "assay/seconds"
"""The name in pytest's cache under which the seconds of each file are kept."""


def unit_of(nodeid: str) -> str:
    """The file of a test, or the folder whose tests stay together."""
    file = nodeid.partition("::")[0]
    folder = file.rpartition("/")[0]
    return folder if folder in TOGETHER and file not in ALONE else file


class LongestFirst(LoadScopeScheduling):  # type: ignore[misc]  # as above
    """Gives each worker that has nothing left to do the unit that took longest in the last run."""

    def __init__(self, config: pytest.Config, log: Any, seconds: Mapping[str, float]) -> None:
        super().__init__(config, log)
        self._seconds = seconds

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        self.workqueue.move_to_end(max(self.workqueue, key=self._length), last=False)
        super()._assign_work_unit(node)

    def _length(self, unit: str) -> float:
        return self._seconds.get(unit, SECONDS_A_TEST * len(self.workqueue[unit]))


class Durations:
    """Schedules by the seconds that each unit took in the last run, and records those of this."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._taken: dict[str, float] = defaultdict(float)

    def _recorded(self) -> dict[str, float]:
        cache = getattr(self._config, "cache", None)
        return dict(FIRST_GUESS if cache is None else cache.get(RECORD, FIRST_GUESS))

    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> LongestFirst:
        return LongestFirst(config, log, self._recorded())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._taken[unit_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self) -> None:
        cache = getattr(self._config, "cache", None)
        if cache is not None:
            taken = {unit: round(seconds, 2) for unit, seconds in self._taken.items()}
            cache.set(RECORD, {**self._recorded(), **taken})
