"""A small part of `python -m perf.endpoints`: no failure of an endpoint or runner is a score."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from perf.endpoints.proof import Arm, alfworld, chat, prove


@pytest.mark.parametrize("make", [chat, alfworld])
def test_a_failing_endpoint_and_a_killed_runner_change_no_score(
    make: Callable[[int], Arm], tmp_path: Path
) -> None:
    outcome, faults = prove(tmp_path, make(20), share=0.2, kills=1, rng=random.Random(3))
    assert outcome.clean, outcome
    assert sum(faults.values()) > 0
    assert outcome.attempts >= outcome.planned
