"""A taskset of three sums and the program that asks them; `verifiers_env.py` runs it.

verifiers finds a taskset and its program by the name of the module that exports them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpx
import verifiers.v1 as vf

from assay.adapters import verifiers


class SumData(vf.TaskData):
    answer: str | None = None


class SumTask(vf.Task[SumData, vf.State, vf.TaskConfig]):
    math_equal_reward = verifiers.reward("math_equal_reward")


class AskOnce(vf.Harness[vf.HarnessConfig]):
    """The smallest program there is: one question, one answer."""

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: Any,
        trace: Any,  # noqa: ARG002 - verifiers' signature
        runtime: Any,  # noqa: ARG002
        endpoint: str,
        secret: str,
        mcp_urls: Any,  # noqa: ARG002
        data: Any,
        tool_interception_url: str | None = None,  # noqa: ARG002
    ) -> vf.ProgramResult:
        async with httpx.AsyncClient(timeout=30, trust_env=False) as client:
            answer = await client.post(
                f"{endpoint}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={
                    "model": ctx.model,
                    "messages": [{"role": "user", "content": data.prompt}],
                },
            )
        return vf.ProgramResult(0 if answer.is_success else 1, answer.text, "")


class Sums(vf.Taskset[SumTask, vf.TasksetConfig]):
    """Two sums with an answer, and one without."""

    def load(self) -> Iterable[SumTask]:
        yield SumTask(SumData(prompt="What is 1 - 1/2?", answer="0.5"), self.config.task)
        yield SumTask(SumData(prompt="What is 2 * 3?", answer="6"), self.config.task)
        yield SumTask(SumData(prompt="How many?"), self.config.task)


__all__ = ["AskOnce", "Sums"]
