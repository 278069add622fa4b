"""One JSON object a line on stderr: what was asked and how it went, never what was in it."""

from __future__ import annotations

import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

import orjson

LOGGER = "assay.server"


class JsonLines(logging.Formatter):
    """A log record as JSON; of an exception its kind and place, since its text may hold data."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            line["error"] = type(error).__name__
            line["at"] = [
                f"{frame.filename}:{frame.lineno} {frame.name}"
                for frame in traceback.extract_tb(error.__traceback__)[-8:]
            ]
        return orjson.dumps(line, default=repr).decode()


def log_to_stderr() -> None:
    """The server's own log and uvicorn's warnings go to stderr, as JSON lines."""
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(JsonLines())
    for name, level in ((LOGGER, logging.INFO), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers = [lines]
        logger.setLevel(level)
        logger.propagate = False


def log(event: str, *, level: int = logging.INFO, **fields: Any) -> None:
    """An event with its fields."""
    logging.getLogger(LOGGER).log(level, event, extra={"fields": fields})
