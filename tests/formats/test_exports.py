"""An episode leaves in the shapes that other tools read, with nothing added and nothing lost."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from assay.formats import atif, otel
from assay.formats.lines import dump_json
from assay.schema.episode import Episode, Step, Trajectory
from assay.schema.manifest import RunManifest
from assay.schema.message import Message
from assay.schema.score import Abstained, Scored
from assay.schema.task import Task
from assay.schema.usage import Usage

MESSAGES: list[dict[str, Any]] = [
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
        "assay.scorer.name": "qa_f1_reward",
        "assay.scorer.version": "1",
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
    assert trajectory["schema_version"] == "ATIF-v1.8"
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


ROOT = Path(__file__).parents[2]
HARBOR = ROOT / ".venv-peers" / "harbor" / "bin" / "python"
"""An environment with Harbor, whose models define the format; `make harbor` sets it up."""
DEEP = '{"a":' * 500 + "1" + "}" * 500
HOSTILE: list[list[dict[str, Any]]] = [
    MESSAGES,
    [{"role": "tool", "tool_call_id": "nobody's", "content": "a result without a call"}],
    [
        {"role": "assistant", "content": "thinking"},
        {"role": "tool", "tool_call_id": "nobody's", "content": "the answer to no call"},
        {"role": "function", "content": None},
    ],
    [
        {
            "role": "user",
            "content": [{"type": "text", "text": "half a pair: \ud800"}],
            "reasoning_content": "users have none",
            "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "assistant", "content": None, "reasoning_content": {"not": "a text"}},
    ],
    [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "", "function": {"name": "", "arguments": ""}},
                {"id": "2", "function": {"name": "f", "arguments": '{"a": [1, NaN, "\\ud800"]}'}},
                {
                    "id": "3",
                    "function": {"name": "f", "arguments": '{"a":' * 500 + "1" + "}" * 500},
                },
                {"id": "4", "function": {"name": "f", "arguments": "[" * 100_000}},
            ],
        }
    ],
    [],
]


def hostile_trajectories() -> list[dict[str, Any]]:
    """Episodes with everything that a model can do to a conversation, as trajectories."""
    steps = (Step(index=1, action="go", usage=Usage(1, 2, None, 1)), Step(index=2, action="\udfff"))
    episodes = [
        EPISODE.model_copy(
            update={
                "trajectory": Trajectory(
                    messages=tuple(Message.model_validate(each) for each in messages), steps=steps
                ),
                "usage": Usage(10, 5, 0.25, 3),
            }
        )
        for messages in HOSTILE
    ]
    made = (atif.to_trajectory(each, agent="a", model="m") for each in episodes)
    return [json.loads(dump_json(each)) for each in made]


@pytest.mark.parametrize("trajectory", hostile_trajectories())
def test_a_trajectory_obeys_the_schema_of_its_format(trajectory: dict[str, Any]) -> None:
    schema = json.loads((ROOT / "tests/data/atif/trajectory-1.8.schema.json").read_bytes())
    jsonschema_rs.validate(schema, trajectory)
    # What the format's own models check beside their schema.
    assert [step["step_id"] for step in trajectory["steps"]] == [
        *range(1, len(trajectory["steps"]) + 1)
    ]
    assert trajectory["final_metrics"]["total_steps"] == len(trajectory["steps"])
    for step in trajectory["steps"]:
        assert step["source"] == "agent" or not step.keys() & {
            "reasoning_content", "tool_calls", "metrics", "model_name",
        }  # fmt: skip
        calls = {call["tool_call_id"] for call in step.get("tool_calls", ())}
        results = step.get("observation", {}).get("results", ())
        assert {
            result["source_call_id"] for result in results if "source_call_id" in result
        } <= calls
    json.dumps(trajectory, ensure_ascii=False).encode("utf-8")


@pytest.mark.skipif(not HARBOR.exists(), reason="`make harbor` installs the format's validator")
def test_the_validator_of_harbor_accepts_every_trajectory(tmp_path: Path) -> None:
    for i, trajectory in enumerate(hostile_trajectories()):
        path = tmp_path / f"{i}.json"
        path.write_bytes(dump_json(trajectory))
        command = [str(HARBOR), "-m", "harbor.utils.trajectory_validator", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"model": "openai", "model_options": {"model": "gpt-x"}}, "gpt-x"),
        ({"model": "rules"}, "rules"),
        ({"model": {"not": "a name"}}, ""),
        ({}, ""),
    ],
)
def test_the_name_of_a_model_is_not_that_of_its_provider(
    options: dict[str, Any], name: str
) -> None:
    config = {"agent": {"name": "chat", "options": options}}
    assert RunManifest(run_id="r", benchmark="b", agent="chat", config=config).model_name == name
