"""One site and one Chromium for all the tests in here."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from assay.browser.chromium.shared import close_shared_browsers
from tests.browser.drive import Driver
from tests.browser.site import Site, serve


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with serve() as running:
        yield running
        asyncio.run(close_shared_browsers())


@pytest.fixture(scope="module")
def driver(site: Site) -> Iterator[Driver]:
    """A world that the tests of a module use in turn; a test begins with `driver.open`."""
    driven = Driver(site)
    yield driven
    driven.close()
