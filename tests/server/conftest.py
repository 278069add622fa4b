"""Two servers for all tests here: a usual one, and a small one that asks for a token."""

from collections.abc import Iterator

import pytest

from tests.server.running import TOKEN, Running, running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("server")
    with running(folder, "--workers", "2", "--import", "served_rewards") as started:
        yield started


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One worker, four rows in a request and 64 in the queue, one megabyte in a body."""
    folder = tmp_path_factory.mktemp("small")
    limits = ["--workers", "1", "--max-rows", "4", "--queue-rows", "64", "--max-body-mb", "1"]
    served = ["--rewards", "gated,length", "--default-reward", "length"]
    with running(folder, *limits, *served, "--import", "served_rewards", token=TOKEN) as started:
        yield started


@pytest.fixture(scope="module")
def bounded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One worker with half a gigabyte, and a second to stop."""
    folder = tmp_path_factory.mktemp("bounded")
    limits = ["--workers", "1", "--worker-memory-mb", "512", "--grace-s", "1"]
    with running(folder, *limits, "--import", "served_rewards") as started:
        yield started
