"""Where signals are sent: TensorBoard, Weights & Biases and Trackio, through their own packages."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from assay.adapters.binding import import_library
from assay.errors import BadParameter, did_you_mean

COLUMNS: Final = ("reward", "score", "because", "response")
"""The columns of the table of worst examples."""
WANDB_TITLE_CHARS: Final = 63
"""W&B refuses an alert with a longer title."""


@runtime_checkable
class TrackingWriter(Protocol):
    """Where the signals of each step go."""

    def write(
        self, step: int, metrics: Mapping[str, float], worst: Sequence[Mapping[str, Any]]
    ) -> None:
        """Send the numbers of a step, and its worst rows."""

    def alert(self, step: int, title: str, text: str) -> None:
        """Send an alert."""

    def close(self) -> None:
        """What was sent is in the file."""


class TensorBoardWriter:
    """Event files, written by the package `tensorboard`; torch is not needed."""

    def __init__(self, folder: Path, project: str) -> None:
        library = import_library(
            "tensorboard.summary.writer.event_file_writer", package="tensorboard"
        )
        self._events = import_library("tensorboard.compat.proto.event_pb2", package="tensorboard")
        self._protos = import_library("tensorboard.compat.proto.summary_pb2", package="tensorboard")
        self._texts = import_library("tensorboard.plugins.text.summary_v2", package="tensorboard")
        self._writer = library.EventFileWriter(str(folder / "tensorboard" / project))

    def write(
        self, step: int, metrics: Mapping[str, float], worst: Sequence[Mapping[str, Any]]
    ) -> None:
        values = [
            self._protos.Summary.Value(tag=name, simple_value=value)
            for name, value in metrics.items()
        ]
        self._add(step, self._protos.Summary(value=values))
        if worst:
            self._add(step, self._texts.text_pb("assay/worst", _markdown(worst)))
        self._writer.flush()

    def alert(self, step: int, title: str, text: str) -> None:
        self._add(step, self._texts.text_pb("assay/alerts", f"**{title}**: {text}"))
        self._writer.flush()

    def _add(self, step: int, summary: Any) -> None:
        event = self._events.Event(wall_time=time.time(), step=step, summary=summary)
        self._writer.add_event(event)

    def close(self) -> None:
        self._writer.close()


class WandbWriter:
    """The W&B run that is under way, or one of its own, offline unless W&B's settings say more."""

    def __init__(self, folder: Path, project: str) -> None:
        self._library = import_library("wandb", package="wandb")
        self._is_own = self._library.run is None
        if self._is_own:
            folder.mkdir(parents=True, exist_ok=True)
            mode = os.environ.get("WANDB_MODE", "offline")
            self._run = self._library.init(project=project, dir=str(folder), mode=mode)
        else:
            self._run = self._library.run
        # A trainer that reports to the same run has steps of its own.
        self._run.define_metric("assay/step")
        self._run.define_metric("assay/*", step_metric="assay/step")

    def write(
        self, step: int, metrics: Mapping[str, float], worst: Sequence[Mapping[str, Any]]
    ) -> None:
        self._run.log({**metrics, "assay/step": step, **self._table(worst)})

    def _table(self, worst: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        data = [_cells(row) for row in worst]
        return {"assay/worst": self._library.Table(columns=[*COLUMNS], data=data)} if data else {}

    def alert(self, step: int, title: str, text: str) -> None:
        self._run.alert(title=title[:WANDB_TITLE_CHARS], text=f"step {step}: {text}")

    def close(self) -> None:
        if self._is_own:
            self._run.finish()


class TrackioWriter(WandbWriter):
    """The Trackio run that is under way, or a local one of its own; `TRACKIO_DIR` says where."""

    def __init__(self, folder: Path, project: str) -> None:
        del folder  # Trackio reads its folder when it is imported.
        self._library = import_library("trackio", package="trackio")
        self._run = import_library("trackio.context_vars", package="trackio").current_run.get()
        self._is_own = self._run is None
        if self._is_own:
            self._run = self._library.init(
                project=project, embed=False, auto_log_gpu=False, auto_log_cpu=False
            )

    def write(
        self, step: int, metrics: Mapping[str, float], worst: Sequence[Mapping[str, Any]]
    ) -> None:
        rows = [{name: str(row[name]) for name in COLUMNS} for row in worst]
        self._run.log({**metrics, **self._table(rows)}, step=step)

    def alert(self, step: int, title: str, text: str) -> None:
        self._run.alert(title=title, text=text, step=step)


WRITERS: Final[Mapping[str, Callable[[Path, str], TrackingWriter]]] = {
    "tensorboard": TensorBoardWriter,
    "wandb": WandbWriter,
    "trackio": TrackioWriter,
}


def open_writers(
    to: Sequence[str | TrackingWriter], folder: Path, project: str
) -> list[TrackingWriter]:
    """The writers of these names.

    Raises `BadParameter` for a name that there is not, and `MissingExtra` for a package.
    """
    for name in to:
        known = isinstance(name, TrackingWriter) or name in WRITERS
        if not known:
            hint = did_you_mean(str(name), WRITERS, f"there are {', '.join(WRITERS)}")
            raise BadParameter(f"no tracker {name!r:.100}; {hint}")
    writers: list[TrackingWriter] = []
    try:
        writers.extend(
            WRITERS[name](folder, project) if isinstance(name, str) else name for name in to
        )
    except BaseException:
        for writer in writers:
            writer.close()
        raise
    return writers


def _markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as a table; what a model wrote cannot end a cell."""
    head = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"
    return "\n".join([head, *(f"| {' | '.join(map(_cell, _cells(row)))} |" for row in rows)])


def _cells(row: Mapping[str, Any]) -> list[Any]:
    return [row[name] for name in COLUMNS]


def _cell(value: Any) -> str:
    text = str(value).replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return " ".join(text.split())
