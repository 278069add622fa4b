"""An agent that plays a list of actions, for tests, baselines and known solutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.agents.protocol import Action, EpisodeLimits
from assay.agents.transcript import Transcript
from assay.errors import BadParameter
from assay.schema.action import answer_in
from assay.schema.observation import Observation
from assay.schema.task import Task

Script = Sequence[str]


class ScriptedAgent:
    """An agent that plays its actions in order; it gives up after the last action.

    `actions` is one script for every task, or a mapping from task id to script, whose entry `"*"`
    stands for the tasks it does not name.
    """

    name = "scripted"

    def __init__(self, *, actions: Script | Mapping[str, Script] = ()) -> None:
        self._scripts = _read_scripts(actions)
        self._begin((), "")

    async def start(self, task: Task, *, limits: EpisodeLimits) -> None:  # noqa: ARG002 - the protocol's
        """Go to the first action of this task's script."""
        self._begin(self._find_script(task), task.goal)

    async def act(self, observation: Observation, *, step: int) -> Action:  # noqa: ARG002
        """Return the next action of the script."""
        self._transcript.add_observation(observation.text)
        think = self._think(observation)
        if self._position == len(self._script):
            messages = self._transcript.take_new()
            return Action("", gave_up=True, think=think, messages=messages)
        text = self._script[self._position]
        self._position += 1
        answer = answer_in(text)
        if answer is None:
            self._transcript.add_call(text)
        else:
            self._transcript.add_reply(answer)
        return Action(text, answer=answer, think=think, messages=self._transcript.take_new())

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _begin(self, script: Script, goal: str) -> None:
        self._script = script
        self._position = 0
        self._transcript = Transcript()
        self._transcript.add_observation(goal)

    def _find_script(self, task: Task) -> Script:
        script = self._scripts.get(task.id, self._scripts.get("*"))
        if script is None:
            raise BadParameter(
                f"the scripted agent has no actions for task {task.id!r}; name it in `actions`, "
                'or give a script for "*"'
            )
        return script

    def _think(self, observation: Observation) -> str:  # noqa: ARG002 - for agents with more to say
        return ""


def _read_scripts(actions: Script | Mapping[str, Script]) -> dict[str, Script]:
    scripts: Mapping[str, Script] = actions if isinstance(actions, Mapping) else {"*": actions}
    for task, script in scripts.items():
        if isinstance(script, str) or not all(isinstance(text, str) for text in script):
            raise BadParameter(
                f"the script of {task!r} is {script!r}; it must be a list of action texts"
            )
    return {task: tuple(script) for task, script in scripts.items()}
