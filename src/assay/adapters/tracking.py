"""Signals of a reward while it trains, for TensorBoard, Weights & Biases and Trackio.

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
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from math import inf
from pathlib import Path
from typing import Any, Final, Self

from assay.adapters.binding import RewardCall, import_library
from assay.adapters.tracking_signals import ALERTS, Alert, NotedRow, RewardHistory, signals
from assay.adapters.tracking_writers import TrackingWriter, open_writers
from assay.errors import BadParameter
from assay.schema.score import Score

FIRST: Final = 20
"""Steps that later ones are compared with."""
WORST: Final = 3
ROWS: Final = 65_536
"""Rows of one step that are remembered; of more, the first."""
TEXT_CHARS: Final = 500
THOUGHT_END: Final = "</think>"
PHASES: Final = ("", "eval")

logger = logging.getLogger("assay.adapters")


def after_thought(response: str) -> str:
    """What follows the last `</think>`, without white space around it."""
    return response.rpartition(THOUGHT_END)[2].strip()


class Tracker:
    """Collects scores, and sends the signals of each step to its writers.

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
        self._rows: list[NotedRow] = []
        self._histories: dict[str, RewardHistory] = {}
        self._steps = 0
        self.alerts: list[Alert] = []
        """Every alert so far."""

    def __reduce__(self) -> Any:
        raise TypeError("a tracker belongs to one process; make one in each with assay.track(…)")

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
        """The score belongs to the step that is under way; `group` is what its prompt is."""
        self._note(reward or score.name, score, response, group)

    def _note(self, reward: str, score: Score, response: Any, group: Hashable) -> None:
        text = response if isinstance(response, str) else ""
        answer = self._answer_in(text)
        digest = blake2b(answer.encode(errors="surrogatepass"), digest_size=16).digest()
        texts = (text[:TEXT_CHARS], len(text), answer[:TEXT_CHARS], digest)
        with self._lock:
            if len(self._rows) < ROWS:
                self._rows.append(NotedRow(reward, score, *texts, group))
            is_full = self._every is not None and len(self._rows) >= self._every
        if is_full:
            self.step()

    def _answer_in(self, response: str) -> str:
        try:
            return str(self._answer(response))
        except Exception:  # noqa: BLE001 - a training does not end with its log
            return response

    def watch(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The reward function of an adapter, whose scores are noted from now on.

        Raises `BadParameter` for what is no function of an adapter.
        """
        if not isinstance(function, RewardCall):
            raise BadParameter(
                f"{function!r:.100} is not the reward function of an adapter, such as "
                "trl.reward(…); note scores of your own with tracker.note(score, response=…, "
                "group=…)"
            )
        return function.observed_by(partial(self._note, function.name))

    def step(self, number: int | None = None, *, phase: str = "") -> dict[str, float]:
        """End the step: its signals are sent, and returned by name. Nothing noted, nothing sent.

        Rows of an evaluation (`phase="eval"`) have names and a history of their own.
        """
        if phase not in PHASES:
            raise BadParameter(f"phase={phase!r:.100}; there are {', '.join(map(repr, PHASES))}")
        with self._sending:
            with self._lock:
                rows, self._rows = self._rows, []
                if number is not None:
                    self._steps = number
                elif rows:
                    self._steps += 1
                step = self._steps
            return self._send(step, rows, phase) if rows else {}

    def _send(self, step: int, rows: Sequence[NotedRow], phase: str) -> dict[str, float]:
        by_reward: dict[str, list[NotedRow]] = defaultdict(list)
        for row in rows:
            by_reward[f"{phase}/{row.reward}" if phase else row.reward].append(row)
        metrics: dict[str, float] = {}
        alerts: list[Alert] = []
        for reward, noted in by_reward.items():
            numbers, new = self._signals_of(reward, step, noted)
            metrics |= {f"assay/{reward}/{name}": value for name, value in numbers.items()}
            alerts += new
        self.alerts += alerts
        for alert in alerts:
            logger.warning("%s, step %d, %s: %s", alert.reward, step, alert.name, alert.text)
        worst = [
            row for name, noted in by_reward.items() for row in _worst(name, noted, self._worst)
        ]
        for writer in tuple(self._writers):
            self._try(writer, partial(_write, writer, step, metrics, worst, alerts))
        return metrics

    def _signals_of(
        self, reward: str, step: int, rows: Sequence[NotedRow]
    ) -> tuple[dict[str, float], list[Alert]]:
        history = self._histories.setdefault(reward, RewardHistory(self._first))
        now = signals(rows)
        drift = history.add(now)
        new, raised = history.alerts(reward, step, now)
        flags = {f"alert/{name}": float(name in raised) for name in ALERTS}
        return {**now.metrics(), **drift, **flags}, new

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
        """A `transformers.TrainerCallback` that ends a step where TRL's trainers end theirs."""
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
        """What was noted is sent, and the files are complete; a second time nothing happens."""
        self.step()
        for writer in tuple(self._writers):
            self._try(writer, writer.close)
        self._writers = []


def _write(
    writer: TrackingWriter,
    step: int,
    metrics: Mapping[str, float],
    worst: Sequence[Mapping[str, Any]],
    alerts: Sequence[Alert],
) -> None:
    writer.write(step, metrics, worst)
    for alert in alerts:
        writer.alert(step, f"{alert.reward}: {alert.name}", alert.text)


def _worst(reward: str, rows: Sequence[NotedRow], count: int) -> list[dict[str, Any]]:
    """The rows without a score, then those with the lowest ones, as records."""
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
    """A tracker that sends a reward's signals to `"tensorboard"`, `"wandb"` or `"trackio"`.

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
            f"first={first!r}, worst={worst!r}, every={every!r}; at least 1, 0 and 1"
        )
    is_main = os.environ.get("RANK", "0") == "0"
    writers = open_writers(to if is_main else (), Path(folder), project)
    return Tracker(writers, first=first, worst=worst, every=every, answer=answer)
