"""An agent that repeats the actions of a recorded episode."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from assay.agents.scripted import Script, ScriptedAgent
from assay.errors import BadParameter, BadRecord
from assay.schema.action import quote
from assay.schema.episode import Episode, Step
from assay.schema.evidence import PageEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task


@dataclass(frozen=True, slots=True)
class _Recording:
    steps: tuple[Step, ...]
    answer: str | None

    def script(self) -> list[str]:
        actions = [step.action for step in self.steps if step.index > 0]
        return actions if self.answer is None else [*actions, f"answer({quote(self.answer)})"]


class ReplayAgent(ScriptedAgent):
    """An agent that repeats the recorded actions and the recorded answer, or gives up at the end.

    `episodes` are records, found by task id; `steps` are records, or the path of a file of JSON
    lines, for every task, with `answer`. `think` says whether the environment shows the same.
    """

    name = "replay"

    def __init__(
        self,
        *,
        episodes: Episode | Iterable[Episode] | None = None,
        steps: str | Path | Iterable[Step] | None = None,
        answer: str | None = None,
    ) -> None:
        if (episodes is None) == (steps is None):
            raise BadParameter("the replay agent takes either `episodes` or `steps`")
        if episodes is not None and answer is not None:
            raise BadParameter("`answer` needs `steps`; an episode has its own answer")
        super().__init__()
        self._by_task = _recordings(episodes)
        self._any = None if steps is None else _Recording(_read_steps(steps), answer)
        self._recording = _Recording((), None)

    def _find_script(self, task: Task) -> Script:
        recording = self._by_task.get(task.id, self._any)
        if recording is None:
            raise BadParameter(f"no recorded episode of task {task.id!r} to replay")
        self._recording = recording
        return recording.script()

    def _think(self, observation: Observation) -> str:
        recorded = next(
            (item for item in self._recording.steps if item.index == self._position), None
        )
        same = None if recorded is None else _same(recorded, observation)
        if same is None:
            return ""
        return "as recorded" if same else "the environment differs from the recording here"


def _same(recorded: Step, observation: Observation) -> bool | None:
    """Whether the environment shows the same as in the recording; `None` if unknown.

    Pages are compared by their structure and their elements, which is what actions refer to: a
    page's text also holds addresses, which change with the port of a local server.
    """
    then, now = recorded.evidence, observation.evidence
    if isinstance(then, PageEvidence) and isinstance(now, PageEvidence) and then.refs and now.refs:
        return (then.dom, then.refs) == (now.dom, now.refs)
    if not recorded.observation:
        return None
    digest = hashlib.sha256(observation.text.encode("utf-8", "surrogatepass")).hexdigest()
    return digest == recorded.observation


def _recordings(episodes: Episode | Iterable[Episode] | None) -> Mapping[str, _Recording]:
    recordings: dict[str, _Recording] = {}
    several: Iterable[Episode] = [episodes] if isinstance(episodes, Episode) else episodes or ()
    for episode in several:
        recording = _Recording(episode.trajectory.steps, episode.final_response)
        recordings.setdefault(episode.task.id, recording)
    return recordings


def _read_steps(steps: str | Path | Iterable[Step]) -> tuple[Step, ...]:
    if not isinstance(steps, (str, Path)):
        return tuple(steps)
    path = Path(steps)
    try:
        lines: Sequence[bytes] = path.read_bytes().splitlines()
    except OSError as error:
        raise BadRecord(f"cannot read the recorded steps {str(path)!r}: {error}") from error
    records = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            records.append(Step.model_validate_json(line))
        except ValidationError as error:
            raise BadRecord(f"{path}, line {number} is not a recorded step: {error}") from error
    return tuple(records)
