"""verifiers' `MathRubric`, asked for its own reward with its own parser."""

from __future__ import annotations

import asyncio
import atexit
from typing import Any

from verifiers import MathRubric  # type: ignore[import-not-found]

RUBRIC = MathRubric()


async def reward(completion: Any, answer: str) -> float:
    """What `MathRubric.correct_answer` pays."""
    return float(await RUBRIC.correct_answer(RUBRIC.parser, completion, answer))


atexit.register(lambda: asyncio.run(RUBRIC.teardown()))
