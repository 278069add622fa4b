"""Try a reward on text, in a child process with a time limit.

The process runs this module too. It answers one request:

request   {"do": "score", "reward": "name@1", "module": …, "columns": {…}, "params": {…}}
          {"do": "probe", "reward": …, "module": …, "reference": …, "columns": …, "params": …}
answer    {"score": …} or {"probe": …}, or {"problem": why there is none}
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from numbers import Real
from typing import Any

from assay.errors import AssayError, BadParameter, UnknownName
from assay.isolation import frames
from assay.isolation.child import module_child
from assay.isolation.frames import BadFrame, PipeClosed
from assay.registry import find_reward
from assay.report.form_sensitivity import FormSensitivity, ScoredVariant, probe
from assay.schema.score import Score, score_from_record, score_to_record
from assay.scoring.scorer import Scorer

TRYOUT_S = 20.0
START_S = 60.0
"""For the process to start, which does not count as the reward's time."""
MEMORY_MB = 4096


class RewardTryout:
    """Tries a few rewards at the same time, each in a child process of its own."""

    def __init__(self, *, places: int = 2, limit_s: float = TRYOUT_S) -> None:
        self._places = threading.Semaphore(places)
        self._limit_s = limit_s

    def score(self, reward: str, columns: Mapping[str, Any], params: Mapping[str, Any]) -> Score:
        """Score one row; raise `BadParameter` with the reason if there is no score."""
        return score_from_record(self._run("score", reward, columns=columns, params=params))

    def probe(
        self, reward: str, reference: str, columns: Mapping[str, Any], params: Mapping[str, Any]
    ) -> FormSensitivity:
        """Score the variants of a reference; raise `BadParameter` with the reason if that fails."""
        record = self._run("probe", reward, reference=reference, columns=columns, params=params)
        rows = tuple(ScoredVariant(**row) for row in record["rows"])
        return FormSensitivity(**{**record, "rows": rows})

    def _run(self, kind: str, reward: str, **parts: Any) -> dict[str, Any]:
        module = find_reward(reward).function.__module__
        request = {"do": kind, "reward": reward, "module": module, **parts}
        if not self._places.acquire(timeout=self._limit_s):
            raise BadParameter("other rewards are being tried; try again in a moment")
        child = module_child("assay.viewer.tryout", memory_bytes=MEMORY_MB << 20)
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
        record: dict[str, Any] = answer[kind]
        return record


def main() -> None:
    """Run the child process: report that it is ready, then answer one request."""
    read_fd, write_fd = frames.inherited_pipes(sys.argv)
    frames.send(write_fd, {"ready": True})
    frames.send(write_fd, _answer(frames.receive(read_fd)))


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    name, params = request["reward"], request["params"]
    try:
        _load(name, request["module"])
        if request["do"] == "score":
            record = score_to_record(Scorer(name, params)(request["columns"]))
            return {"score": _to_plain(record)}
        table = probe(name, request["reference"], params=params, columns=request["columns"])
        return {"probe": _to_plain(asdict(table))}
    except AssayError as error:
        return {"problem": str(error)}


def _load(name: str, module: str) -> None:
    """Import the module that registers the reward, unless the reward is registered already."""
    try:
        find_reward(name)
    except UnknownName:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise BadParameter(f"{name} is in {module!r}, which cannot be imported") from error


def _to_plain(record: dict[str, Any]) -> Any:
    """The record as JSON values; other numbers become floats, and other objects text."""
    text = json.dumps(
        record, default=lambda value: float(value) if isinstance(value, Real) else str(value)
    )
    return json.loads(text)


if __name__ == "__main__":
    main()
