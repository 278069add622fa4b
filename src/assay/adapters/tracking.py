"""Send signals of a reward during training to TensorBoard, W&B or Trackio.

    with assay.track("tensorboard", "wandb") as tracker:
        trainer = GRPOTrainer(
            reward_funcs=[tracker.watch(trl.reward("math_equal_reward", answer="solution"))],
            callbacks=[tracker.callback()], …)
        trainer.train()

What is sent are signals, with what they may mean; none of them proves that a policy cheats.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from math import inf
from pathlib import Path
from typing import Any, Final, Protocol, Self, runtime_checkable

from assay.adapters.binding import PicklablePartial, import_library
from assay.adapters.tracking_signals import ALERTS, Alert, RewardHistory, TrackedRow, signals
from assay.errors import BadParameter, did_you_mean
from assay.schema.score import Score

FIRST: Final = 20
"""Steps that later ones are compared with."""
WORST: Final = 3
ROWS: Final = 65_536
"""Rows of one step that are remembered; of more, the first."""
TEXT_CHARS: Final = 500
THOUGHT_END: Final = "</think>"
PHASES: Final = ("", "eval")
COLUMNS: Final = ("reward", "score", "because", "response")
"""The columns of the table of worst examples."""
WANDB_TITLE_CHARS: Final = 63
"""W&B refuses an alert with a longer title."""

logger = logging.getLogger("assay.adapters")


@runtime_checkable
class TrackingWriter(Protocol):
    """Protocol of a writer, which receives the signals of each training step."""

    def write(
        self, step: int, metrics: Mapping[str, float], worst: Sequence[Mapping[str, Any]]
    ) -> None:
        """Send the numbers and the worst rows of a step."""

    def alert(self, step: int, title: str, text: str) -> None:
        """Send an alert."""

    def close(self) -> None:
        """Close the writer, after all sent data is saved."""


class TensorBoardWriter:
    """Writes TensorBoard event files with the package `tensorboard`, without torch."""

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
    """Writes to the current W&B run, or to a new run that is offline by default."""

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
    """Writes to the current Trackio run, or to a new local run in `TRACKIO_DIR`."""

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
    """The writers with these names; raises `BadParameter` for an unknown name."""
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
    head = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"
    return "\n".join([head, *(f"| {' | '.join(map(_cell, _cells(row)))} |" for row in rows)])


def _cells(row: Mapping[str, Any]) -> list[Any]:
    return [row[name] for name in COLUMNS]


def _cell(value: Any) -> str:
    text = str(value).replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return " ".join(text.split())


def after_thought(response: str) -> str:
    """The text after the last `</think>`, without surrounding white space."""
    return response.rpartition(THOUGHT_END)[2].strip()


class Tracker:
    """Collects scores, and sends the signals of each training step to its writers.

    It belongs to the process that made it, and any thread may use it. A writer that fails is
    logged and left out from then on: a training does not end with its log.
    """

    def __init__(
        self,
        writers: Sequence[TrackingWriter],
        *,
        first: int = FIRST,
        worst: int = WORST,
        every: int | None = None,
        answer: Callable[[str], str] = after_thought,
    ) -> None:
        self._writers = list(writers)
        self._worst = worst
        self._first = first
        self._every = every
        self._answer = answer
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._rows: list[TrackedRow] = []
        self._histories: dict[str, RewardHistory] = {}
        self._steps = 0
        self.alerts: list[Alert] = []
        """Every alert so far."""

    def __reduce__(self) -> Any:
        raise TypeError("a tracker cannot be pickled; create one in each process: assay.track(…)")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def note(
        self,
        score: Score,
        *,
        response: str = "",
        group: Hashable = None,
        reward: str | None = None,
    ) -> None:
        """Add a score to the current step; `group` identifies the prompt."""
        self._note(reward or score.name, score, response, group)

    def _note(self, reward: str, score: Score, response: Any, group: Hashable) -> None:
        text = response if isinstance(response, str) else ""
        try:
            answer = str(self._answer(text))
        except Exception:  # noqa: BLE001 - a training does not end with its log
            answer = text
        digest = blake2b(answer.encode(errors="surrogatepass"), digest_size=16).digest()
        texts = (text[:TEXT_CHARS], len(text), answer[:TEXT_CHARS], digest)
        with self._lock:
            if len(self._rows) < ROWS:
                self._rows.append(TrackedRow(reward, score, *texts, group))
            is_full = self._every is not None and len(self._rows) >= self._every
        if is_full:
            self.step()

    def watch(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a copy of an adapter's reward function whose scores are tracked."""
        if not isinstance(function, PicklablePartial):
            raise BadParameter(
                f"{function!r:.100} is not the reward function of an adapter, such as "
                "trl.reward(…); for other scores call tracker.note(score, response=…, "
                "group=…)"
            )
        return function.observed_by(partial(self._note, function.name))

    def step(self, number: int | None = None, *, phase: str = "") -> dict[str, float]:
        """End the current step, send its signals, and return the signals by name.

        Rows of an evaluation (`phase="eval"`) have names and a history of their own.
        """
        if phase not in PHASES:
            raise BadParameter(f"phase={phase!r:.100}; choose {' or '.join(map(repr, PHASES))}")
        with self._sending:
            with self._lock:
                rows, self._rows = self._rows, []
                if number is not None:
                    self._steps = number
                elif rows:
                    self._steps += 1
                step = self._steps
            return self._send(step, rows, phase) if rows else {}

    def _send(self, step: int, rows: Sequence[TrackedRow], phase: str) -> dict[str, float]:
        by_reward: dict[str, list[TrackedRow]] = defaultdict(list)
        for row in rows:
            by_reward[f"{phase}/{row.reward}" if phase else row.reward].append(row)
        metrics: dict[str, float] = {}
        alerts: list[Alert] = []
        for reward, noted in by_reward.items():
            history = self._histories.setdefault(reward, RewardHistory(self._first))
            now = signals(noted)
            numbers = {**now.metrics(), **history.add(now)}
            new, raised = history.alerts(reward, step, now)
            numbers |= {f"alert/{name}": float(name in raised) for name in ALERTS}
            metrics |= {f"assay/{reward}/{name}": value for name, value in numbers.items()}
            alerts += new
        self.alerts += alerts
        for alert in alerts:
            logger.warning("%s, step %d, %s: %s", alert.reward, step, alert.name, alert.text)
        worst = [
            row for name, noted in by_reward.items() for row in _worst(name, noted, self._worst)
        ]

        def write(writer: TrackingWriter) -> None:
            writer.write(step, metrics, worst)
            for alert in alerts:
                writer.alert(step, f"{alert.reward}: {alert.name}", alert.text)

        for writer in tuple(self._writers):
            self._try(writer, partial(write, writer))
        return metrics

    def _try(self, writer: TrackingWriter, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:  # noqa: BLE001 - a training does not end with its log
            self._writers.remove(writer)
            logger.warning(
                "%s failed (%s: %s); nothing more is sent there",
                type(writer).__name__,
                type(error).__name__,
                error,
            )

    def callback(self) -> Any:
        """A `transformers.TrainerCallback` that ends the tracker's step with the trainer's step."""
        library = import_library("transformers", package="transformers")
        tracker = self

        class TrackingCallback(library.TrainerCallback):  # type: ignore[misc, name-defined]
            def on_step_end(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
                tracker.step(state.global_step)

            def on_evaluate(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
                # An evaluation follows the end of a step, so what was noted since is its own.
                tracker.step(state.global_step, phase="eval")

        return TrackingCallback()

    def close(self) -> None:
        """Send the remaining scores and close all writers; a second call does nothing."""
        self.step()
        for writer in tuple(self._writers):
            self._try(writer, writer.close)
        self._writers = []


def _worst(reward: str, rows: Sequence[TrackedRow], count: int) -> list[dict[str, Any]]:
    ranked = sorted(rows, key=lambda row: -inf if row.score.abstained else float(row.score))
    return [
        {
            "reward": reward,
            "score": row.score["reward"],
            "because": row.score.because[:TEXT_CHARS],
            "response": row.response,
        }
        for row in ranked[:count]
    ]


def track(
    *to: str | TrackingWriter,
    folder: str | Path = "tracking",
    project: str = "assay",
    first: int = FIRST,
    worst: int = WORST,
    every: int | None = None,
    answer: Callable[[str], str] = after_thought,
) -> Tracker:
    """Create a tracker that sends signals to `"tensorboard"`, `"wandb"` or `"trackio"`.

    Each needs its own package. TensorBoard and W&B write below `folder`, Trackio where
    `TRACKIO_DIR` says; a run of W&B or Trackio that is under way already gets the signals. W&B is
    offline unless `WANDB_MODE` says otherwise. An object with `write`, `alert` and `close` serves
    as well. Later steps are compared with the `first`, and the `worst` rows of each step are sent
    as texts. With `every`, a step ends by itself after so many rows, where nothing else ends it.
    `answer` gives the answer out of a response, by default what follows its thought. Of several
    processes with a `RANK`, the one with rank 0 writes, of its own rows.
    """
    if first < 1 or worst < 0 or (every is not None and every < 1):
        raise BadParameter(
            f"first={first!r}, worst={worst!r}, every={every!r}; the minimums are 1, 0 and 1"
        )
    is_main = os.environ.get("RANK", "0") == "0"
    writers = open_writers(to if is_main else (), Path(folder), project)
    return Tracker(writers, first=first, worst=worst, every=every, answer=answer)
