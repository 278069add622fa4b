"""An agent that does what a list says, for tests, baselines and worlds with a known way through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.agents.protocol import Action, Limits
from assay.agents.transcript import Transcript
from assay.errors import BadParameter
from assay.schema.action import answer_in
from assay.schema.observation import Observation
from assay.schema.task import Task

Script = Sequence[str]


class ScriptedAgent:
    """Says its lines in order; `answer("…")` answers, and a script that ends without one gives up.

    `actions` is one script for every task, or a mapping from task id to script, whose entry `"*"`
    stands for the tasks it does not name.
    """

    name = "scripted"

    def __init__(self, *, actions: Script | Mapping[str, Script] = ()) -> None:
        self._scripts = _checked(actions)
        self._lines: Script = ()
        self._said = 0
        self._transcript = Transcript()

    async def start(self, task: Task, *, limits: Limits) -> None:  # noqa: ARG002 - the protocol's
        """Take up the script for this task."""
        lines = self._scripts.get(task.id, self._scripts.get("*"))
        if lines is None:
            raise BadParameter(
                f"the scripted agent has no actions for task {task.id!r}; name it in `actions`, "
                'or give a script for "*"'
            )
        self._lines = lines
        self._said = 0
        self._transcript = Transcript()
        self._transcript.observed(task.goal)

    async def act(self, observation: Observation, *, step: int) -> Action:  # noqa: ARG002
        """The next line of the script."""
        self._transcript.observed(observation.text)
        if self._said == len(self._lines):
            return Action("", gave_up=True, messages=self._transcript.added())
        text = self._lines[self._said]
        self._said += 1
        return spoken(text, self._transcript)

    async def close(self) -> None:
        """Nothing is held."""


def spoken(text: str, transcript: Transcript, *, think: str = "") -> Action:
    """The action that a line of a script or of a recording stands for, noted in the transcript."""
    answer = answer_in(text)
    if answer is None:
        transcript.called(text)
    else:
        transcript.said(answer)
    return Action(text, answer=answer, think=think, messages=transcript.added())


def _checked(actions: Script | Mapping[str, Script]) -> dict[str, Script]:
    scripts: Mapping[str, Script] = actions if isinstance(actions, Mapping) else {"*": actions}
    for task, lines in scripts.items():
        if isinstance(lines, str) or not all(isinstance(line, str) for line in lines):
            raise BadParameter(f"the script of {task!r} is {lines!r}; it is a list of action texts")
    return {task: tuple(lines) for task, lines in scripts.items()}
