"""Which tests `make quick` leaves out: those that start something heavy, or run long."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SLOW = {
    "audit/test_isolation.py": "processes that are killed",
    "audit/test_machine_zoo.py": "processes that are killed",
    "audit/test_targets.py": "processes in other interpreters",
    "docs/test_examples.py": "every example of the documentation",
    "envs/browser": "Chromium",
    "envs/miniwob": "Chromium",
    "envs/scienceworld/test_scienceworld.py": "Java",
    "envs/test_contract.py": "Chromium and Java",
    "ledger/test_writer.py": "writers that are killed",
    "resources/test_faults.py": "Java",
    "rewards/maths/test_second_opinion.py": "sympy",
    "runner/test_cluster.py": "Ray",
    "runner/test_resume.py": "runs that are killed",
    "runner/test_run_browser.py": "Chromium",
    "server/test_client.py": "servers",
    "server/test_hostile.py": "servers",
    "server/test_shutdown.py": "servers that are killed",
    "server/test_workers.py": "servers whose workers are killed",
    "townsquare/test_chromium.py": "Chromium",
    "townsquare/test_tasks.py": "the whole town, read and solved twice",
    "viewer/test_browser.py": "Chromium",
    "viewer/test_export.py": "a site of files",
    "viewer/test_http.py": "servers",
}
"""Files and folders of tests, and what they start."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of a slow file or folder as slow."""
    slow = {TESTS / name for name in SLOW}
    for item in items:
        if not slow.isdisjoint({item.path, *item.path.parents}):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def slow_paths() -> list[Path]:
    """The files and folders that are listed as slow."""
    return [TESTS / name for name in SLOW]
