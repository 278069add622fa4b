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
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from assay.adapters.binding import RewardCall, import_library
from assay.adapters.tracking_writers import TrackingWriter, open_writers
from assay.errors import BadParameter
from assay.schema.score import Score

FIRST: Final = 20
"""Steps that later ones are compared with."""
RECENT: Final = 5
"""Steps whose mean is compared with that of the first."""
WORST: Final = 3
ROWS: Final = 65_536
"""Rows of one step that are remembered; of more, the first."""
TEXT_CHARS: Final = 500
MORE_ABSTAINED: Final = 0.1
HIGHER_REWARD: Final = 0.05
LONGER: Final = 2.0
DOMINANT: Final = 0.5
FEW_ROWS: Final = 8

logger = logging.getLogger("assay.adapters")


class NotedRow(NamedTuple):
    """One scored row of the step that is under way."""

    reward: str
    score: Score
    response: str
    group: Hashable


@dataclass(frozen=True, slots=True)
class Alert:
    """A signal that deserves a look."""

    name: str
    step: int
    reward: str
    text: str
    """What was seen, and what it may mean."""


@dataclass(frozen=True, slots=True)
class StepSignals:
    """What the rows of one step say of one reward."""

    rows: int
    abstained: float
    reward: float | None
    """The mean of the scored rows; `None` if there are none."""
    deviation: float | None
    parts: Mapping[str, float]
    reasons: Mapping[str, float]
    flat_groups: float | None
    """The share of groups whose scored rows, two at least, have one reward: they teach nothing."""
    length: float
    """Mean characters of a response."""
    top_answer: str
    top_share: float
    """The share of rows whose response is the commonest text."""
    groups: int

    def metrics(self) -> dict[str, float]:
        """The numbers that have a value, by name."""
        numbers = {
            "reward": self.reward,
            "reward_deviation": self.deviation,
            "abstained": self.abstained,
            "flat_groups": self.flat_groups,
            "length": self.length,
            "top_answer_share": self.top_share,
            "rows": float(self.rows),
            **{f"parts/{name}": value for name, value in self.parts.items()},
            **{f"abstained/{reason}": share for reason, share in self.reasons.items()},
        }
        return {name: value for name, value in numbers.items() if value is not None}


def signals(rows: Sequence[NotedRow]) -> StepSignals:
    """What these rows of one reward say; there is at least one."""
    scored = [row for row in rows if not row.score.abstained]
    values = [float(row.score) for row in scored]
    parts: dict[str, list[float]] = defaultdict(list)
    for row in scored:
        for name, number in row.score.parts.items():
            if number is not None:
                parts[name].append(number)
    reasons = Counter(row.score["abstained"] for row in rows if row.score.abstained)
    top_answer, top_count = Counter(row.response for row in rows).most_common(1)[0]
    mean = _mean(values)
    return StepSignals(
        rows=len(rows),
        abstained=1 - len(scored) / len(rows),
        reward=mean,
        deviation=None
        if mean is None
        else sqrt(fsum((x - mean) ** 2 for x in values) / len(values)),
        parts={name: fsum(numbers) / len(numbers) for name, numbers in parts.items()},
        reasons={reason: count / len(rows) for reason, count in reasons.items()},
        flat_groups=_flat_share(scored),
        length=fsum(len(row.response) for row in rows) / len(rows),
        top_answer=top_answer,
        top_share=top_count / len(rows),
        groups=len({row.group for row in rows}),
    )


def _mean(numbers: Iterable[float | None]) -> float | None:
    present = [number for number in numbers if number is not None]
    return fsum(present) / len(present) if present else None


def _deviation(values: Sequence[float], mean: float | None) -> float | None:
    return None if mean is None else sqrt(fsum((x - mean) ** 2 for x in values) / len(values))


def _flat_share(scored: Iterable[NotedRow]) -> float | None:
    groups: dict[Hashable, list[float]] = defaultdict(list)
    for row in scored:
        groups[row.group].append(float(row.score))
    compared = [values for values in groups.values() if len(values) > 1]
    return _mean(float(len(set(values)) == 1) for values in compared)


class RewardHistory:
    """The first steps of one reward, and the latest."""

    def __init__(self, first: int) -> None:
        self._first: list[StepSignals] = []
        self._count = first
        self._recent: deque[StepSignals] = deque(maxlen=RECENT)
        self._raised: set[str] = set()

    def add(self, step: StepSignals) -> dict[str, float]:
        """How far this step is from the first ones, once there are enough of them."""
        if len(self._first) < self._count:
            self._first.append(step)
            return {}
        self._recent.append(step)
        drift = {}
        for name in ("reward", "abstained", "length"):
            before, now = self._before(name), getattr(step, name)
            if before is not None and now is not None:
                drift[f"drift/{name}"] = now - before
        return drift

    def _before(self, name: str) -> float | None:
        return _mean(getattr(step, name) for step in self._first)

    def alerts(self, reward: str, number: int, step: StepSignals) -> tuple[list[Alert], set[str]]:
        """The alerts that begin with this step, and the names of all that hold now."""
        texts = dict(self._texts(step))
        new = [
            Alert(name, number, reward, text)
            for name, text in texts.items()
            if name not in self._raised
        ]
        self._raised = set(texts)
        return new, set(texts)

    def _texts(self, step: StepSignals) -> Iterable[tuple[str, str]]:
        if step.rows >= FEW_ROWS and step.groups > 1 and step.top_share >= DOMINANT:
            text = (
                f"{step.top_share:.0%} of {step.rows} responses to {step.groups} prompts are "
                f"{step.top_answer[:80]!r}: the policy may have collapsed, or this text is paid "
                "whatever was asked; score it with `assay audit`, and look at the worst examples"
            )
            yield "one_answer_dominates", text
        if len(self._recent) < RECENT:
            return
        before, now = self._before("abstained"), _mean(each.abstained for each in self._recent)
        if before is not None and now is not None and now >= before + MORE_ABSTAINED:
            text = (
                f"{now:.0%} of the latest rows have no score, {before:.0%} of the first: the "
                f"grader fails on what the policy writes now, or its data changed; {_why(step)}"
            )
            yield "abstentions_rose", text
        paid_before, paid = self._before("reward"), _mean(each.reward for each in self._recent)
        long_before, long = self._before("length"), _mean(each.length for each in self._recent)
        if paid_before is None or paid is None or not long_before or long is None:
            return
        if paid >= paid_before + HIGHER_REWARD and long >= LONGER * long_before:
            text = (
                f"reward {paid_before:.2f} to {paid:.2f} while responses grew from "
                f"{long_before:.0f} to {long:.0f} characters: long answers may be paid for being "
                "long or for naming many candidates; compare the reward of short and long ones"
            )
            yield "longer_for_more", text


def _why(step: StepSignals) -> str:
    reasons = ", ".join(f"{reason} {share:.0%}" for reason, share in step.reasons.items())
    return f"reasons now: {reasons or 'none'}"


class Tracker:
    """Collects scores, and sends the signals of each step to its writers.

    It belongs to the process that made it, and any thread may use it.
    """

    def __init__(self, writers: Sequence[TrackingWriter], *, first: int, worst: int) -> None:
        self._writers = writers
        self._worst = worst
        self._first = first
        self._lock = threading.Lock()
        self._rows: list[NotedRow] = []
        self._histories: dict[str, RewardHistory] = {}
        self._steps = 0
        self.alerts: list[Alert] = []
        """Every alert so far."""

    def __reduce__(self) -> Any:
        raise TypeError("a tracker belongs to one process; make one in each with assay.track(…)")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def note(
        self,
        score: Score,
        *,
        response: str | None = None,
        group: Hashable = None,
        reward: str | None = None,
    ) -> None:
        """The score belongs to the step that is under way; `group` is what its prompt is."""
        self._note(reward or score.name, score, response, group)

    def _note(self, reward: str, score: Score, response: Any, group: Hashable) -> None:
        row = NotedRow(reward, score, response if isinstance(response, str) else "", group)
        with self._lock:
            if len(self._rows) < ROWS:
                self._rows.append(row)

    def watch(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The reward function of an adapter, whose scores are noted from now on.

        Of verl's, whose results are mappings, the results are. Raises `BadParameter` for what no
        adapter made.
        """
        if not isinstance(function, RewardCall):
            raise BadParameter(
                f"{function!r:.100} is not the reward of an adapter, such as trl.reward(…); note "
                "scores of your own with tracker.note(score, response=…, group=…)"
            )
        return function.observed_by(self._note)

    def step(self, number: int | None = None) -> dict[str, float]:
        """End the step: its signals are sent, and returned by name. Nothing noted, nothing sent."""
        with self._lock:
            rows, self._rows = self._rows, []
            self._steps = self._steps + 1 if number is None else number
            step = self._steps
        if not rows:
            return {}
        by_reward: dict[str, list[NotedRow]] = defaultdict(list)
        for row in rows:
            by_reward[row.reward].append(row)
        metrics: dict[str, float] = {}
        alerts: list[Alert] = []
        for reward, noted in by_reward.items():
            numbers, new = self._signals_of(reward, step, noted)
            metrics |= {f"assay/{reward}/{name}": value for name, value in numbers.items()}
            alerts += new
        self._send(step, metrics, by_reward, alerts)
        return metrics

    def _signals_of(
        self, reward: str, step: int, rows: Sequence[NotedRow]
    ) -> tuple[dict[str, float], list[Alert]]:
        history = self._histories.setdefault(reward, RewardHistory(self._first))
        now = signals(rows)
        drift = history.add(now)
        new, raised = history.alerts(reward, step, now)
        flags = {f"alert/{name}": 1.0 for name in raised}
        return {**now.metrics(), **drift, **flags}, new

    def _send(
        self,
        step: int,
        metrics: Mapping[str, float],
        by_reward: Mapping[str, Sequence[NotedRow]],
        alerts: Sequence[Alert],
    ) -> None:
        self.alerts += alerts
        for alert in alerts:
            logger.warning("%s, step %d, %s: %s", alert.reward, step, alert.name, alert.text)
        worst = [row for rows in by_reward.values() for row in _worst(rows, self._worst)]
        for writer in self._writers:
            writer.write(step, metrics, worst)
            for alert in alerts:
                writer.alert(step, f"{alert.reward}: {alert.name}", alert.text)

    def callback(self) -> Any:
        """A `transformers.TrainerCallback` that ends a step where TRL's trainers end theirs."""
        library = import_library("transformers", package="transformers")
        tracker = self

        class TrackingCallback(library.TrainerCallback):  # type: ignore[misc, name-defined]
            def on_step_end(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
                tracker.step(state.global_step)

        return TrackingCallback()

    def close(self) -> None:
        """What was noted is sent, and the files are complete."""
        if self._rows:
            self.step()
        for writer in self._writers:
            writer.close()


def _worst(rows: Sequence[NotedRow], count: int) -> list[dict[str, Any]]:
    """The rows without a score and with the lowest ones, as records."""
    ranked = sorted(rows, key=lambda row: -1e308 if row.score.abstained else float(row.score))
    return [
        {
            "reward": row.reward,
            "score": row.score["reward"],
            "because": row.score.because[:TEXT_CHARS],
            "response": row.response[:TEXT_CHARS],
        }
        for row in ranked[:count]
    ]


def track(
    *to: str | TrackingWriter,
    folder: str | Path = "tracking",
    project: str = "assay",
    first: int = FIRST,
    worst: int = WORST,
) -> Tracker:
    """A tracker that sends a reward's signals to `"tensorboard"`, `"wandb"` or `"trackio"`.

    Each needs its own package, and writes below `folder`, unless a run of it is under way already:
    then that run gets the signals too. W&B is offline unless its own settings say otherwise. An
    object with `write`, `alert` and `close` serves as well. Later steps are compared with the
    `first`, and the `worst` rows of each step are sent as texts.
    """
    if first < 1 or worst < 0:
        raise BadParameter(f"first={first!r}, worst={worst!r}; at least 1 and at least 0")
    return Tracker(open_writers(to, Path(folder), project), first=first, worst=worst)
