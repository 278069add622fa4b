"""Reward functions that verl loads by configuration: a reward server's, and Math-Verify's."""

# The trainer's library is not in this environment, so it has no types.
# mypy: disable-error-code="import-not-found,no-any-return,misc"
from __future__ import annotations

import os
from typing import Any

from assay.server.client import Client

NEUTRAL = 0.5
_clients: dict[str, Client] = {}


def ask_server(
    data_source: str,  # noqa: ARG001 - verl passes it
    solution_str: str,
    ground_truth: Any,
    extra_info: Any = None,  # noqa: ARG001 - verl passes it
) -> dict[str, float]:
    """The score that a reward server gives, at the address in ASSAY_URL."""
    url = os.environ["ASSAY_URL"]
    client = _clients.setdefault(url, Client(url)) if url not in _clients else _clients[url]
    score = client.score("math_equal_reward", final_response=solution_str, answer=ground_truth)
    value = NEUTRAL if score.abstained else float(score)
    return {"score": value, "abstained": float(score.abstained)}


def math_verify(
    data_source: str,  # noqa: ARG001 - verl passes it
    solution_str: str,
    ground_truth: Any,
    extra_info: Any = None,  # noqa: ARG001 - verl passes it
) -> float:
    """What verl's own Math-Verify scorer gives, in its own four processes."""
    from verl.utils.reward_score.math_verify import compute_score

    return float(compute_score(solution_str, ground_truth))
