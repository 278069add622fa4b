"""Trying a reward on text, in a process that is stopped when its time is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from assay.errors import BadParameter
from assay.isolation.child import module_child
from assay.isolation.frames import BadFrame, PipeClosed
from assay.registry import find_reward
from assay.report.sensitivity import ScoredVariant, Sensitivity
from assay.schema.score import Score, score_from_record

TRYOUT_S = 20.0
START_S = 60.0
"""For the process to start, which does not count as the reward's time."""
MEMORY_MB = 4096


class RewardTryout:
    """Tries rewards, a few at the same time, each in a process of its own.

    A process has `limit_s` seconds and `memory_mb` of memory; then it is killed, with all that it
    started.
    """

    def __init__(
        self, *, places: int = 2, limit_s: float = TRYOUT_S, memory_mb: int = MEMORY_MB
    ) -> None:
        self._places = threading.Semaphore(places)
        self._limit_s = limit_s
        self._memory_mb = memory_mb

    def score(self, reward: str, columns: Mapping[str, Any], params: Mapping[str, Any]) -> Score:
        """The score of one row. Raises `BadParameter` if there is none, with the reason."""
        answer = self._run({"do": "score", **_to_request(reward, columns, params)})
        return score_from_record(answer["score"])

    def probe(
        self,
        reward: str,
        reference: str,
        columns: Mapping[str, Any],
        params: Mapping[str, Any],
    ) -> Sensitivity:
        """The scores of the reference's variants. Raises `BadParameter` as `score` does."""
        request = {"do": "probe", "reference": reference, **_to_request(reward, columns, params)}
        record = self._run(request)["probe"]
        return Sensitivity(
            **{**record, "rows": tuple(ScoredVariant(**row) for row in record["rows"])}
        )

    def _run(self, request: dict[str, Any]) -> dict[str, Any]:
        if not self._places.acquire(timeout=self._limit_s):
            raise BadParameter("other rewards are being tried; try again in a moment")
        child = module_child("assay.viewer.tryout_child", memory_bytes=self._memory_mb << 20)
        try:
            child.start()
            child.receive(time.monotonic() + START_S)
            answer: dict[str, Any] = child.ask(request, timeout_s=self._limit_s)
        except TimeoutError as error:
            raise BadParameter(f"no result within {self._limit_s:g} s") from error
        except (BadFrame, PipeClosed, OSError) as error:
            output = child.stderr_tail().rpartition("\n")[2]
            raise BadParameter(f"{error}" + (f": {output}" if output else "")) from error
        finally:
            child.close()
            self._places.release()
        if "problem" in answer:
            raise BadParameter(answer["problem"])
        return answer


def _to_request(
    reward: str, columns: Mapping[str, Any], params: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "reward": reward,
        "module": find_reward(reward).function.__module__,
        "columns": dict(columns),
        "params": dict(params),
    }
