"""Each test starts with a process in which nothing has been scored."""

from __future__ import annotations

import pytest

from assay.adapters.tally import tally_of


@pytest.fixture(autouse=True)
def no_earlier_rewards() -> None:
    tally_of.cache_clear()
