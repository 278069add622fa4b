"""An episode leaves in the shapes that other tools read, with nothing added and nothing lost."""

from __future__ import annotations

import json

from assay.formats import atif, otel
from assay.schema.episode import Episode, Step, Trajectory
from assay.schema.message import Message
from assay.schema.score import Abstained, Scored
from assay.schema.task import Task

MESSAGES = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "capital?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "function": {"name": "search", "arguments": '{"q": "capital"}'}},
            {"id": "2", "function": {"name": "search", "arguments": "not JSON"}},
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": "Paris"},
    {"role": "tool", "tool_call_id": "2", "content": "?"},
    {"role": "assistant", "content": "Paris", "reasoning_content": "it said so"},
]

EPISODE = Episode(
    attempt="a1",
    task=Task(id="t1", goal="capital?", answer="Paris"),
    trajectory=Trajectory(messages=tuple(Message.model_validate(each) for each in MESSAGES)),
    final_response="Paris",
    scores=(
        Scored(1.0, "the same", {"f1": 1.0, "em": None}, scorer="qa_f1_reward@1"),
        Abstained("missing_reference", "none", ("acc",), scorer="math_equal_reward@2"),
    ),
    started_at="2026-01-01T00:00:00Z",
)


def test_every_score_becomes_an_evaluation_event() -> None:
    scored, abstained = otel.to_events(EPISODE, run_id="r1")
    assert scored["event_name"] == "gen_ai.evaluation.result"
    assert scored["attributes"] == {
        "gen_ai.evaluation.name": "qa_f1_reward",
        "gen_ai.evaluation.score.value": 1.0,
        "gen_ai.evaluation.explanation": "the same",
        "assay.scorer": "qa_f1_reward@1",
        "assay.task.id": "t1",
        "assay.attempt": "a1",
        "assay.run.id": "r1",
        "assay.part.f1": 1.0,
    }
    assert abstained["attributes"]["error.type"] == "missing_reference"
    assert "gen_ai.evaluation.score.value" not in abstained["attributes"]


def test_an_event_becomes_a_line_that_a_collector_reads() -> None:
    scored, _ = map(otel.to_otlp, otel.to_events(EPISODE, run_id="r1"))
    (record,) = scored["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    assert record["eventName"] == "gen_ai.evaluation.result"
    assert record["timeUnixNano"] == "1767225600000000000"
    values = {each["key"]: each["value"] for each in record["attributes"]}
    assert values["gen_ai.evaluation.score.value"] == {"doubleValue": 1.0}
    assert values["gen_ai.evaluation.name"] == {"stringValue": "qa_f1_reward"}
    undated = otel.to_events(EPISODE.model_copy(update={"started_at": ""}))[0]
    assert "timeUnixNano" not in json.dumps(otel.to_otlp(undated))


def test_an_agent_without_a_conversation_has_its_actions_for_steps() -> None:
    steps = (
        Step(index=0, action="", observation="0a"),
        Step(index=1, action='click("1")', observation="0b", think="that one"),
        Step(index=2, action='answer("Paris")'),
    )
    episode = EPISODE.model_copy(update={"trajectory": Trajectory(steps=steps)})
    shown = {"0a": "a page", "0b": "another page"}
    trajectory = atif.to_trajectory(episode, agent="scripted", read=shown.__getitem__)
    assert trajectory["steps"] == [
        {"step_id": 1, "source": "user", "message": "capital?"},
        {"step_id": 2, "source": "system", "message": "a page"},
        {
            "step_id": 3,
            "source": "agent",
            "message": 'click("1")',
            "reasoning_content": "that one",
            "observation": {"results": [{"content": "another page"}]},
        },
        {"step_id": 4, "source": "agent", "message": 'answer("Paris")'},
    ]


def test_an_episode_becomes_an_atif_trajectory() -> None:
    trajectory = atif.to_trajectory(EPISODE, agent="web_research", model="m")
    assert trajectory["schema_version"] == "ATIF-v1.4"
    assert [step["source"] for step in trajectory["steps"]] == ["system", "user", "agent", "agent"]
    assert [step["step_id"] for step in trajectory["steps"]] == [1, 2, 3, 4]
    acting, answering = trajectory["steps"][2:]
    assert [call["arguments"] for call in acting["tool_calls"]] == [
        {"q": "capital"},
        {"arguments": "not JSON"},
    ]
    assert acting["observation"]["results"] == [
        {"source_call_id": "1", "content": "Paris"},
        {"source_call_id": "2", "content": "?"},
    ]
    assert answering["reasoning_content"] == "it said so"
    assert [score["value"] for score in trajectory["extra"]["scores"]] == [1.0, None]
    assert json.loads(json.dumps(trajectory)) == trajectory
