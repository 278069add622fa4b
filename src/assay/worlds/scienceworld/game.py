"""The blocking engine of ScienceWorld: one episode after another on one simulator."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Final

from assay.schema.worlds import UNKNOWN_ACTION
from assay.worlds.scienceworld.simulator import Simulator
from assay.worlds.scienceworld.tasks import TaskVariation

ACTION_LIMIT = 1_000
"""Characters of an action; the longest that the simulator knows has under 200."""

_NO_GOLD_PATH: Final = False
"""Asking for the gold path makes every later load of the process compute one, for seconds."""

_SUBGOAL = re.compile(r"^\d+\t(true|false)\t", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ScienceProgress:
    """The progress of an episode; scores are whole numbers from -100 to 100."""

    score: int = 0
    max_score: int = 0
    """The highest score so far: a fatal mistake lowers `score` to -100, and not this."""
    moves: int = 0
    completed: bool = False
    """Whether the simulator says that the task is complete."""
    done: bool = False
    """Completed, failed (a negative score), or out of moves."""
    subgoals_met: int = 0
    subgoals: int = 0


@dataclass(frozen=True, slots=True)
class ScienceTurn:
    """The result of one action in a game."""

    text: str
    progress: ScienceProgress
    gained: int = 0
    """The difference in score that this action made."""


class ScienceGame:
    """Plays ScienceWorld as its original Python wrapper does.

    That list is most of the wrapper's time; `valid_actions` asks for it. The end is frozen: after
    it nothing changes any more.
    """

    def __init__(self, simulator: Simulator, *, step_limit: int = 100) -> None:
        self._simulator = simulator
        self._step_limit = step_limit
        self._progress = ScienceProgress()

    def load(self, task_variation: TaskVariation) -> ScienceTurn:
        """Start an episode; its text is the goal and the first view."""
        call = self._simulator.call
        topic, variation = task_variation.topic.name, task_variation.variation
        call("load", topic, variation, task_variation.simplifications, _NO_GOLD_PATH)
        goal, view = call("getTaskDescription"), call("step", "look around")
        self._progress = self._with_subgoals(ScienceProgress())
        return ScienceTurn(f"{goal}\n\n{view}", self._progress)

    def step(self, action: str) -> ScienceTurn:
        """Carry out an action; an action that is not understood costs no step."""
        before = self._progress
        if before.done:
            return ScienceTurn("The episode is over.", before)
        # A model's line ends in a newline, and may hold a tab or a second one; the parser, which
        # reads words, is asked about those.
        words = " ".join(action.split())
        if len(words) > ACTION_LIMIT:
            return ScienceTurn(_too_long(len(words)), before)
        if not words.isprintable():
            return ScienceTurn(UNKNOWN_ACTION, before)
        call = self._simulator.call
        text = str(call("step", words))
        score = round(100 * float(str(call("getScore"))))
        moves = int(str(call("getNumMoves")))
        completed = call("getCompleted") is True
        after = replace(
            before,
            score=score,
            max_score=max(before.max_score, score),
            moves=moves,
            completed=completed,
            done=completed or score < 0 or moves > self._step_limit,
        )
        self._progress = after if score == before.score else self._with_subgoals(after)
        return ScienceTurn(text, self._progress, score - before.score)

    def valid_actions(self) -> list[str]:
        """Return all actions that the simulator accepts now; this takes long."""
        record = json.loads(self._simulator.text("getValidActionObjectCombinationsJSON"))
        return sorted({entry["action"] for entry in record["validActions"]})

    def _with_subgoals(self, progress: ScienceProgress) -> ScienceProgress:
        text = self._simulator.text("getGoalProgressStr")
        flags = _SUBGOAL.findall(text.partition("Unordered and Optional")[0])
        return replace(progress, subgoals_met=flags.count("true"), subgoals=len(flags))


def _too_long(characters: int) -> str:
    return (
        f"{UNKNOWN_ACTION} It has {characters} characters, and an action at most {ACTION_LIMIT}; "
        "give one action, such as 'look around'."
    )
