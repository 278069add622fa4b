"""What a failed reward raised, in words; and the first of each kind in the log.

Whoever trains with a broken reward sees abstentions, and no reason for them: the trainer keeps
none. So the first failure of each kind is logged, wherever the reward runs.
"""

from __future__ import annotations

import logging
import threading
import traceback

from assay.errors import Interruption, printable

LOGGER = logging.getLogger("assay")
TRACEBACK_LIMIT = 4_000
"""Characters kept of a reward's traceback; the end of it names the cause."""
MESSAGE_LIMIT = 300
LOGGED_KINDS = 1_000
"""Kinds that are remembered; what comes after them is no longer logged."""

PASSED = (KeyboardInterrupt, Interruption)
"""What is raised into a reward from outside, and passes the boundary."""


def message_of(error: BaseException) -> str:
    """`Name: message`, whatever the exception does when it is asked."""
    name = type(error).__name__
    try:
        message = str(error)[:MESSAGE_LIMIT]
    except PASSED:
        raise
    except BaseException:  # noqa: BLE001 - an exception may fail at describing itself
        message = "its message cannot be read"
    return f"{name}: {message}" if message else name


def traceback_of(error: BaseException) -> str:
    """The end of the traceback."""
    try:
        return "".join(traceback.format_exception(error))[-TRACEBACK_LIMIT:]
    except PASSED:
        raise
    except BaseException:  # noqa: BLE001 - an exception may fail at describing itself
        return message_of(error)


class FailureLog:
    """Logs the first failure of each kind: of a reward, by exception and place."""

    def __init__(self, logger: logging.Logger = LOGGER) -> None:
        self._logger = logger
        self._kinds: set[tuple[str, ...]] = set()
        self._lock = threading.Lock()

    def add(self, scorer: str, error: BaseException, place: str = "") -> None:
        """Log the exception, unless one of its kind has been."""
        place = place or _place_of(error)
        kind = (scorer, type(error).__name__, place)
        with self._lock:
            if kind in self._kinds or len(self._kinds) >= LOGGED_KINDS:
                return
            self._kinds.add(kind)
        self._logger.warning(
            "%s abstained (grader_error) at %s: %s; further ones of this kind are not logged",
            scorer,
            place,
            printable(message_of(error)),
        )


def _place_of(error: BaseException) -> str:
    """File and line where it was raised."""
    trace = error.__traceback__
    if trace is None:
        return "nowhere"
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"


FAILURES = FailureLog()
"""One for the process, as loggers are: a scorer may live for one row."""
