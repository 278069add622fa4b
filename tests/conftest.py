"""Which tests `make quick` and `make test` leave out, and how tests are dealt out to workers."""

import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.scheduling import Durations

# The same cases every time; `--hypothesis-profile default` draws others.
settings.register_profile("same_cases", derandomize=True, deadline=None)
settings.load_profile("same_cases")

TESTS = Path(__file__).parent
SLOW = {
    "adapters/test_pytest_plugin.py": "pytest within pytest, and processes of rewards",
    "adapters/test_conformance.py": "every adapter on every row",
    "agents/test_cli_model.py": "programs that hang",
    "agents/test_rate_limits.py": "64 workers at a server",
    "agents/test_tool_calls.py": "a server for each test",
    "audit/test_cli.py": "audits in processes of their own",
    "audit/test_engine.py": "whole audits",
    "audit/test_groups.py": "whole audits",
    "cli/test_first_hour.py": "a run for each test",
    "docs/test_examples.py": "every example of the documentation",
    "browser": "Chromium",
    "isolation/test_child.py": "processes that are killed",
    "isolation/test_processes.py": "processes that are killed",
    "rewards/code/test_code_reward.py": "programs that run and hang",
    "rewards/maths/test_hostile.py": "answers up to the limits",
    "rewards/qa/test_properties.py": "thousands of generated rows",
    "rewards/qa/test_published_rules.py": "the published scripts, on thousands of rows",
    "rewards/sql/test_sql.py": "queries that run and hang",
    "rewards/test_text_bounds.py": "megabytes of text",
    "runner/test_budget.py": "a run for each test",
    "runner/test_driving.py": "Chromium",
    "runner/test_model_errors.py": "servers that fail",
    "scoring/test_batch.py": "processes that score",
    "scoring/test_folders.py": "jobs that are killed",
    "scoring/test_rows.py": "processes that score",
    "runner/test_run_browser.py": "Chromium",
    "server": "servers and their workers",
    "townsquare/test_chromium.py": "Chromium",
    "townsquare/test_tasks.py": "the whole town, read and solved twice",
    "viewer": "a server, and Chromium",
}
"""Files and folders of tests that `make quick` leaves out, and what they start."""
LONG = {
    "audit/test_callers.py": "graders in processes of their own",
    "audit/test_execution.py": "graders in processes of their own",
    "audit/test_isolation.py": "processes that are killed",
    "audit/test_machine_rewards.py": "processes that are killed",
    "audit/test_targets.py": "processes in other interpreters",
    "audit/test_broken_rewards.py": "an audit of every broken reward",
    "browser/test_browser_process.py": "browsers that are killed",
    "browser/test_hostile_pages.py": "pages as large and as restless as can be",
    "formats/test_parquet_bombs.py": "a gigabyte, unpacked",
    "ledger/test_writer.py": "writers that are killed",
    "resources/test_contract.py": "Chromium and Java",
    "resources/test_faults.py": "Java",
    "rewards/code/test_attacks.py": "programs that attack their grader",
    "rewards/maths/test_bounds.py": "hostile answers in four contexts",
    "runner/test_cluster.py": "Ray",
    "runner/test_failing_endpoint.py": "runners that are killed",
    "runner/test_installed_package.py": "a package that is installed",
    "runner/test_resume.py": "runs that are killed",
    "scoring/test_files.py": "jobs that are killed",
    "server/test_shutdown.py": "servers that are killed",
    "server/test_workers.py": "workers that are killed",
    "test_extras.py": "processes without a package",
    "worlds/scienceworld/test_scienceworld.py": "Java",
    "web/test_gate.py": "every route, page and tool with everything that is forbidden",
}
"""Files that `make test` leaves to `make test-long`, and why; single tests have the mark `long`."""
LEFT_OUT = {"not long": {*LONG}, "not long and not slow": {*LONG, *SLOW}}
"""By the expression of a `make` target, what it leaves out."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the rewritten code of test modules, also where Python is told to write no bytecode."""
    writes_none, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = writes_none


def pytest_configure(config: pytest.Config) -> None:
    """Record how long tests take, in the process that deals them out; heed interrupts."""
    # What a shell starts in the background ignores them, and some tests interrupt themselves.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(config))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import a file none of whose tests the expression of a `make` target selects."""
    wanted = config.option.markexpr
    if collection_path.suffix != ".py":
        return None
    listed = places(collection_path)
    if wanted == "long":
        left_out = listed.isdisjoint(LONG) and "mark.long" not in collection_path.read_text("utf-8")
    else:
        left_out = not listed.isdisjoint(LEFT_OUT.get(wanted, ()))
    return left_out or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of what is listed as slow or long."""
    listed = {path: places(path) for path in {item.path for item in items}}
    for item in items:
        if not listed[item.path].isdisjoint(SLOW):
            item.add_marker(pytest.mark.slow)
        if not listed[item.path].isdisjoint(LONG):
            item.add_marker(pytest.mark.long)


def places(path: Path) -> set[str]:
    """The names by which a file of tests may be listed: its own, and those of its folders."""
    name = path.relative_to(TESTS)
    return {name.as_posix(), *(folder.as_posix() for folder in name.parents)}


@pytest.fixture(scope="module", autouse=True)
def _forget_modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Modules that the tests of a file wrote and imported are not met by those of another."""
    yield
    written = str(tmp_path_factory.getbasetemp())
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(written):
            del sys.modules[name]


@pytest.fixture(scope="session")
def slow_paths() -> list[Path]:
    """The files and folders that are listed as slow or long."""
    return [TESTS / name for name in (*SLOW, *LONG)]
