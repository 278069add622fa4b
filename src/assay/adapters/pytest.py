"""A pytest plugin with a fixture and a marker for testing rewards.

    @pytest.mark.reward("math_equal_reward", tolerance="exact")
    def test_halves(reward):
        reward.check(r"\\boxed{\\tfrac12}", answer="0.5", forms=["1/2"], near_misses=["1/3"])

Installed with Assay, and loaded by every pytest of that environment: so nothing is imported here
before a test asks for the fixture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from assay.adapters.pytest_fixture import RewardFixture

_PROCESS = pytest.StashKey[Any]()
_UPDATED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--assay-update` writes golden files anew."""
    parser.getgroup("assay").addoption(
        "--assay-update",
        action="store_true",
        help="write the golden files of rewards again, with the current scores",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, so that pytest accepts it under --strict-markers."""
    config.addinivalue_line(
        "markers",
        "reward(name, **params): the reward, by name or address, that the fixture `reward` is; "
        "for a function of yours call the fixture: reward(function, **params)",
    )


@pytest.fixture
def reward(request: pytest.FixtureRequest) -> RewardFixture:
    """Return a tester for the reward of the marker `reward`."""
    from assay.adapters.pytest_fixture import RewardFixture, RewardProcess

    stash = request.config.stash
    process = stash.setdefault(_PROCESS, RewardProcess())
    tester = RewardFixture(
        process=process,
        folder=request.path.parent,
        update=bool(request.config.getoption("--assay-update")),
        updated=stash.setdefault(_UPDATED, []),
    )
    marker = request.node.get_closest_marker("reward")
    return tester if marker is None else tester(*marker.args, **marker.kwargs)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the golden files that were written again."""
    for line in terminalreporter.config.stash.get(_UPDATED, []):
        terminalreporter.write_line(f"assay: {line}")


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the process in which rewards were tested."""
    if _PROCESS in config.stash:
        config.stash[_PROCESS].close()
