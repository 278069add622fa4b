"""Agents that know what to do beforehand."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from pathlib import Path
from typing import Any

import pytest

from assay.agents.protocol import Action, Agent, EpisodeLimits, as_action
from assay.agents.replay import ReplayAgent
from assay.agents.scripted import ScriptedAgent
from assay.errors import BadParameter, BadRecord
from assay.registry import AGENTS
from assay.schema.episode import Episode, Step, Trajectory
from assay.schema.evidence import PageEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task

TASK = Task(id="t", goal="Find it.")
SHOWN = Observation("a room")


def play(agent: Agent, *, task: Task = TASK, turns: int = 9) -> list[Action]:
    async def episode() -> list[Action]:
        await agent.start(task, limits=EpisodeLimits())
        actions: list[Action] = []
        for step in range(1, turns + 1):
            actions.append(as_action(await agent.act(SHOWN, step=step), SHOWN))
            if actions[-1].answer is not None or actions[-1].gave_up:
                break
        await agent.close()
        return actions

    return asyncio.run(episode())


def test_a_script_is_said_line_by_line_and_answers() -> None:
    actions = play(ScriptedAgent(actions=["search[red shoes]", 'click("3")', 'answer("42")']))
    assert [action.text for action in actions] == [
        "search[red shoes]",
        'click("3")',
        'answer("42")',
    ]
    assert actions[-1].answer == "42"
    roles = [message["role"] for action in actions for message in action.messages]
    assert roles == ["user", "user", "assistant", "tool", "assistant", "tool", "assistant"]


def test_a_script_that_ends_without_an_answer_gives_up_and_starts_anew() -> None:
    agent = ScriptedAgent(actions={"t": ["look"], "*": []})
    assert [action.gave_up for action in play(agent)] == [False, True]
    assert [action.gave_up for action in play(agent)] == [False, True]
    assert [action.gave_up for action in play(agent, task=Task(id="u"))] == [True]


@pytest.mark.parametrize("actions", ["look", [1], {"t": "look"}])
def test_a_script_is_a_list_of_texts(actions: Any) -> None:
    with pytest.raises(BadParameter, match="list of action texts"):
        ScriptedAgent(actions=actions)


def test_a_task_without_a_script_is_named() -> None:
    with pytest.raises(BadParameter, match="no actions for task 't'"):
        play(ScriptedAgent(actions={"u": []}))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


STEPS = (
    Step(index=0, action="", observation=digest("a room")),
    Step(index=1, action='click("3")', observation=digest("another room")),
    Step(index=2, action="search[it]"),
)


def recorded(answer: str | None) -> Episode:
    return Episode(task=TASK, trajectory=Trajectory(steps=STEPS), final_response=answer)


@pytest.mark.parametrize("source", ["episode", "steps", "file"])
def test_a_recorded_episode_is_done_again(source: str, tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    path.write_text("\n".join(step.model_dump_json() for step in STEPS) + "\n")
    agent = {
        "episode": lambda: ReplayAgent(episodes=[recorded("42")]),
        "steps": lambda: ReplayAgent(steps=STEPS, answer="42"),
        "file": lambda: ReplayAgent(steps=str(path), answer="42"),
    }[source]()
    actions = play(agent)
    assert [action.text for action in actions] == ['click("3")', "search[it]", 'answer("42")']
    assert actions[-1].answer == "42"
    assert [action.think for action in actions] == [
        "as recorded",
        "the environment differs from the recording here",
        "",
    ]


@pytest.mark.parametrize(
    ("then", "think"),
    [
        (PageEvidence(url="u1", dom="d", refs="r", text="t1"), "as recorded"),
        (PageEvidence(url="u2", dom="d", refs="r2", text="t2"), "the environment differs"),
    ],
    ids=["other addresses, same elements", "other elements"],
)
def test_a_page_is_compared_by_its_elements(then: PageEvidence, think: str) -> None:
    agent = ReplayAgent(steps=[Step(index=0, action="", observation="x" * 64, evidence=then)])
    now = PageEvidence(url="u2", dom="d", refs="r", text="t2")

    async def turn() -> Action:
        await agent.start(TASK, limits=EpisodeLimits())
        return await agent.act(Observation("a page", now), step=1)

    assert asyncio.run(turn()).think.startswith(think)


def test_a_recording_without_an_answer_gives_up() -> None:
    assert play(ReplayAgent(episodes=recorded(None)))[-1].gave_up


def test_an_answer_among_the_recorded_actions_answers() -> None:
    steps = (*STEPS, Step(index=3, action='answer("41")'))
    assert play(ReplayAgent(steps=steps))[-1].answer == "41"


def test_what_cannot_be_replayed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match="either"):
        ReplayAgent()
    with pytest.raises(BadParameter, match="has its own"):
        ReplayAgent(episodes=recorded("42"), answer="43")
    with pytest.raises(BadParameter, match="no recorded episode of task 'u'"):
        play(ReplayAgent(episodes=recorded("42")), task=Task(id="u"))
    with pytest.raises(BadRecord, match="cannot read"):
        ReplayAgent(steps=tmp_path / "missing.jsonl")
    (tmp_path / "bad.jsonl").write_text('{"index": 0, "action": ""}\nnonsense\n')
    with pytest.raises(BadRecord, match="line 2 is not a recorded step"):
        ReplayAgent(steps=tmp_path / "bad.jsonl")


@pytest.mark.parametrize("name", AGENTS.names())
def test_every_agent_is_configured_by_keywords_with_defaults(name: str) -> None:
    factory = AGENTS.get(name)
    parameters = inspect.signature(factory).parameters.values()
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)
    assert all(parameter.default is not parameter.empty for parameter in parameters)
    assert inspect.getdoc(factory)
    assert getattr(factory, "name", None) == name


def test_the_rules_agent_is_the_research_agent_with_the_model_and_sites_of_the_town() -> None:
    research = inspect.signature(AGENTS.get("web_research")).parameters
    rules = inspect.signature(AGENTS.get("rules")).parameters
    assert list(rules) == list(research)
    other = [name for name in rules if rules[name] != research[name]]
    assert other == ["model", "blocked_domains"]
    assert rules["model"].default == "rules"
