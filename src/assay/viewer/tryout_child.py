"""The process in which one reward is tried: one request, one answer, then the end.

request   {"do": "score", "reward": "name@1", "module": …, "columns": {…}, "params": {…}}
          {"do": "probe", "reward": …, "module": …, "reference": …, "columns": …, "params": …}
answer    {"score": …} or {"probe": …}, or {"problem": why there is none}
"""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import asdict
from numbers import Real
from typing import Any

from assay.errors import AssayError, BadParameter, UnknownName
from assay.isolation import frames
from assay.registry import find_reward
from assay.report.sensitivity import probe
from assay.schema.score import score_to_record
from assay.scoring.scorer import Scorer


def main() -> None:
    """Say that it is ready, then answer the one request."""
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
    """Import the module that registers the reward, unless its name is enough."""
    try:
        find_reward(name)
    except UnknownName:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise BadParameter(f"{name} is in {module!r}, which cannot be imported") from error


def _to_plain(record: dict[str, Any]) -> Any:
    """The record as JSON values; a number of another type is a float, anything else its text."""
    text = json.dumps(
        record, default=lambda value: float(value) if isinstance(value, Real) else str(value)
    )
    return json.loads(text)


if __name__ == "__main__":
    main()
