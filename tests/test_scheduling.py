"""How the tests are dealt out to workers."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from tests.scheduling import ALONE, FIRST_GUESS, TOGETHER, LongestFirst, unit_of

ROOT = Path(__file__).parents[1]


class Node:
    """A worker that notes the numbers of the tests that it is given."""

    def __init__(self) -> None:
        self.given: list[int] = []

    def send_runtest_some(self, numbers: list[int]) -> None:
        self.given += numbers


def test_the_tests_of_a_file_stay_together_and_those_of_a_folder_with_one_server() -> None:
    assert unit_of("tests/schema/test_name.py::test_a[x::y]") == "tests/schema/test_name.py"
    assert unit_of("tests/viewer/test_http.py::test_a") == "tests/viewer"
    assert unit_of("tests/server/test_routes.py::test_a") == "tests/server"
    assert unit_of("tests/server/test_workers.py::test_a") == "tests/server/test_workers.py"


def test_what_the_schedule_names_exists() -> None:
    named = (*TOGETHER, *ALONE, *FIRST_GUESS)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_what_took_longest_is_begun_first_and_what_is_unknown_by_its_size() -> None:
    tests = ["short::a", "long::a", "long::b", "new::a", "new::b", "new::c"]
    schedule = object.__new__(LongestFirst)
    schedule._seconds = {"short": 0.01, "long": 9.0}
    schedule.workqueue = OrderedDict()
    for test in tests:
        schedule.workqueue.setdefault(unit_of(test), {})[test] = False
    node = Node()
    schedule.assigned_work, schedule.registered_collections = {}, {node: tests}
    while schedule.workqueue:
        schedule._assign_work_unit(node)
    assert node.given == [1, 2, 3, 4, 5, 0]
