"""Records survive their JSON form, and refuse what they do not know."""

import pydantic
import pytest

from assay import Abstained, Episode, Message, Scored, Step, Task, Trajectory
from assay.schema.evidence import PageEvidence, WorldEvidence
from assay.schema.manifest import RunManifest
from assay.schema.usage import Usage

EPISODE = Episode(
    task=Task(id="t1", goal="Where?", answer=["Paris", "paris"], metadata={"level": 3}),
    trajectory=Trajectory(
        messages=(Message(role="user", content="Where?"),),
        steps=(
            Step(index=0, action="click('a1')", evidence=PageEvidence(url="d1:url:1", n_refs=3)),
            Step(
                index=1,
                action="look",
                evidence=WorldEvidence("alfworld", "t1", 0.0, progress={"left": 2}),
            ),
        ),
        stop_reason="answered",
    ),
    final_response="Paris",
    scores=(Scored(1.0, "exact", {"f1": 1.0}), Abstained("grader_error", "it broke")),
)


def test_an_episode_survives_its_json_form() -> None:
    assert Episode.model_validate_json(EPISODE.model_dump_json()) == EPISODE


def test_the_totals_of_an_episode_follow_from_its_steps_unless_they_are_given() -> None:
    steps = (
        Step(index=0, action=""),
        Step(index=1, action="a", reward=0.25, raw_reward=1.0, usage=Usage(10, 2, 0.5, 1)),
        Step(index=2, action="b", reward=0.5, usage=Usage(5, 1, 0.25, 1)),
    )
    episode = Episode(task=Task(id="t"), trajectory=Trajectory(steps=steps))
    assert (episode.n_steps, episode.cum_reward, episode.cum_raw_reward) == (2, 0.75, 1.0)
    assert episode.usage == Usage(15, 3, 0.75, 2)
    assert Episode(task=Task(id="t"), n_steps=7, cum_reward=0.5).n_steps == 7
    assert Episode(task=Task(id="t")).usage == Usage()


@pytest.mark.parametrize(
    ("one", "other", "cost_usd", "why"),
    [
        (Usage(), Usage(cost_usd=0.5, calls=1), 0.5, "nothing adds nothing"),
        (Usage(1, 1, 0.25, 1), Usage(1, 1, 0.5, 1), 0.75, "prices add up"),
        (Usage(1, 1, None, 1), Usage(1, 1, 0.5, 1), None, "an unknown price stays unknown"),
        (Usage(1, 1, 0.0, 1), Usage(1, 1, 0.0, 1), 0.0, "free is a price"),
    ],
)
def test_usages_add_up(one: Usage, other: Usage, cost_usd: float | None, why: str) -> None:
    assert (one + other).cost_usd == cost_usd, why
    assert (other + one) == (one + other), why


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_refused(number: float) -> None:
    for field in ("reward", "raw_reward", "elapsed_s"):
        with pytest.raises(pydantic.ValidationError, match="finite"):
            Step.model_validate({"index": 0, "action": "", field: number})
    with pytest.raises(pydantic.ValidationError, match="finite"):
        Episode.model_validate({"task": {"id": "t"}, "cum_reward": number})
    with pytest.raises(ValueError, match="finite"):
        Usage(cost_usd=number)


def test_an_unknown_field_is_an_error() -> None:
    with pytest.raises(pydantic.ValidationError, match="taks"):
        Episode.model_validate({"taks": {}})


def test_an_unknown_ending_is_an_error() -> None:
    with pytest.raises(pydantic.ValidationError, match="stop_reason"):
        Trajectory.model_validate({"stop_reason": "bored"})


def test_a_message_reads_like_a_dictionary_and_keeps_what_it_does_not_know() -> None:
    message = Message.model_validate(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "function": {"name": "search", "arguments": '{"q": broken'}}
            ],
            "reasoning_content": "hm",
        }
    )
    assert message["role"] == "assistant"
    assert message["tool_calls"][0]["function"]["arguments"] == '{"q": broken'
    assert message.get("reasoning_content") == "hm"
    assert message.get("nothing", 1) == 1
    assert "nothing" not in message
    with pytest.raises(KeyError):
        message["nothing"]


def test_a_task_offers_its_metadata_as_columns_but_not_over_its_own_fields() -> None:
    task = Task(id="7", goal="g", answer="a", metadata={"level": 2, "answer": "other"})
    assert task.columns() == {"level": 2, "answer": "a", "task_id": "7", "goal": "g"}


def test_an_episode_offers_what_a_reward_asks_for() -> None:
    columns = EPISODE.columns()
    assert columns["final_response"] == "Paris"
    assert columns["trajectory"][0]["role"] == "user"
    assert columns["level"] == 3


def test_a_manifest_survives_its_json_form() -> None:
    manifest = RunManifest(run_id="r1", benchmark="townsquare", agent="rules", rewards=("a@1",))
    assert RunManifest.model_validate_json(manifest.model_dump_json()) == manifest
