"""Try a reward on the rows of a request, in a child process with a time limit.

The process runs this module too. It answers one request:

request   {"do": "score", "reward": "name@1", "module": …, "root": folder, "run_code": false,
           "params": {…}, "rows": [{…}, …]}
          {"do": "probe", …, "reference": text, "columns": {…}} without `rows`
answer    {"reward": …, "scores": […]} or {"probe": …}, or {"problem": why there is none}
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from numbers import Real
from pathlib import Path
from typing import Any

from assay.errors import AssayError, BadParameter, UnknownName
from assay.isolation import frames
from assay.isolation.child import module_child
from assay.isolation.frames import BadFrame, PipeClosed
from assay.registry import find_reward
from assay.report.form_sensitivity import FormSensitivity, ScoredVariant, probe
from assay.resources.row_files import confine_row_files
from assay.schema.score import score_to_record
from assay.scoring.gate import check_name, request_scorer

TRYOUT_S = 20.0
START_S = 60.0
"""For the process to start, which does not count as the reward's time."""
MEMORY_MB = 4096


class RewardTryout:
    """Tries a few rewards at the same time, each in a child process of its own.

    A row may name files below `root`. With `run_code` a request may also give the address of a
    reward, and set the options that only the owner may set.
    """

    def __init__(
        self, root: Path, *, places: int = 2, limit_s: float = TRYOUT_S, run_code: bool = False
    ) -> None:
        self._root = root
        self._places = threading.Semaphore(places)
        self._limit_s = limit_s
        self._run_code = run_code

    def score(
        self, reward: str, rows: Sequence[Mapping[str, Any]], params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Score rows; return the records of the reward and of the scores, or raise BadParameter."""
        return self._run("score", reward, rows=list(rows), params=params)

    def probe(
        self, reward: str, reference: str, columns: Mapping[str, Any], params: Mapping[str, Any]
    ) -> FormSensitivity:
        """Score the variants of a reference; raise `BadParameter` with the reason if that fails."""
        answer = self._run("probe", reward, reference=reference, columns=columns, params=params)
        record = answer["probe"]
        rows = tuple(ScoredVariant(**row) for row in record["rows"])
        return FormSensitivity(**{**record, "rows": rows})

    def _run(self, kind: str, reward: str, **parts: Any) -> dict[str, Any]:
        is_name = check_name(reward, run_code=self._run_code)
        request = {
            "do": kind,
            "reward": reward,
            "module": find_reward(reward).function.__module__ if is_name else "",
            "root": str(self._root),
            "run_code": self._run_code,
            **parts,
        }
        if not self._places.acquire(timeout=self._limit_s):
            raise BadParameter("other rewards are being tried; try again in a moment")
        child = module_child("assay.web.tryout", memory_bytes=MEMORY_MB << 20)
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


def main() -> None:
    """Run the child process: report that it is ready, then answer one request."""
    read_fd, write_fd = frames.inherited_pipes(sys.argv)
    frames.send(write_fd, {"ready": True})
    frames.send(write_fd, _answer(frames.receive(read_fd)))


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    name = request["reward"]
    confine_row_files(request["root"])
    try:
        _load(name, request["module"])
        scorer = request_scorer(name, request["params"], run_code=request["run_code"])
        if request["do"] == "score":
            scores = [score_to_record(scorer(row)) for row in request["rows"]]
            return _to_plain({"reward": scorer.spec.to_record(), "scores": scores})
        table = probe(scorer, request["reference"], columns=request["columns"])
        return _to_plain({"probe": asdict(table)})
    except AssayError as error:
        return {"problem": str(error)}


def _load(name: str, module: str) -> None:
    """Import the module that registers the reward, unless the reward is registered already."""
    if not module:
        return
    try:
        find_reward(name)
    except UnknownName:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise BadParameter(f"{name} is in {module!r}, which cannot be imported") from error


def _to_plain(record: dict[str, Any]) -> dict[str, Any]:
    """The record as JSON values; other numbers become floats, and other objects text."""
    text = json.dumps(
        record, default=lambda value: float(value) if isinstance(value, Real) else str(value)
    )
    plain: dict[str, Any] = json.loads(text)
    return plain


if __name__ == "__main__":
    main()
