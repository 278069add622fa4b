"""Which tests `make quick` leaves out: those that start something heavy, or run long."""

from pathlib import Path

import pytest
from hypothesis import settings

# The same cases every time; `--hypothesis-profile default` draws others.
settings.register_profile("same_cases", derandomize=True, deadline=None)
settings.load_profile("same_cases")

TESTS = Path(__file__).parent
SLOW = {
    "agents/test_cli_model.py": "programs that hang",
    "audit/test_cli.py": "audits in processes of their own",
    "audit/test_isolation.py": "processes that are killed",
    "audit/test_machine_rewards.py": "processes that are killed",
    "audit/test_targets.py": "processes in other interpreters",
    "audit/test_broken_rewards.py": "an audit of every broken reward",
    "docs/test_examples.py": "every example of the documentation",
    "browser": "Chromium",
    "worlds/scienceworld/test_scienceworld.py": "Java",
    "resources/test_contract.py": "Chromium and Java",
    "ledger/test_writer.py": "writers that are killed",
    "isolation/test_child.py": "processes that are killed",
    "resources/test_faults.py": "Java",
    "isolation/test_processes.py": "processes that are killed",
    "rewards/maths/test_bounds.py": "hostile answers in four contexts",
    "rewards/qa/test_published_rules.py": "the published scripts, on thousands of rows",
    "runner/test_driving.py": "Chromium",
    "runner/test_failing_endpoint.py": "runners that are killed",
    "runner/test_cluster.py": "Ray",
    "scoring/test_files.py": "jobs that are killed",
    "scoring/test_folders.py": "jobs that are killed",
    "runner/test_installed_package.py": "a package that is installed",
    "runner/test_resume.py": "runs that are killed",
    "runner/test_run_browser.py": "Chromium",
    "server": "servers and their workers",
    "test_extras.py": "processes without a package",
    "townsquare/test_chromium.py": "Chromium",
    "townsquare/test_tasks.py": "the whole town, read and solved twice",
    "viewer/test_browser.py": "Chromium",
    "viewer/test_http.py": "servers",
    "viewer/test_tryout.py": "processes that are killed",
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
