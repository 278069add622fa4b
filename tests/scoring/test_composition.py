"""Rewards made of others: what they pay, what stays visible, and where they run."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

import assay
from assay.errors import BadParameter, MissingParameter, NameCollision
from assay.registry import REWARDS
from assay.scoring.composition import Composition, Term, compose


@assay.reward(name="mentions", version=3, parts=("chars",), register=False)
def mentions(final_response: str, answer: str) -> dict[str, float]:
    return {"reward": float(answer in final_response), "chars": float(len(final_response))}


def size(final_response: str) -> float:
    return len(final_response) / 10


def unsure(final_response: str) -> assay.Score:
    if "?" in final_response:
        return assay.Abstained("no_opinion", "the response asks")
    return assay.Scored(0.5)


async def slow(final_response: str, answer: str) -> float:
    await asyncio.sleep(0)
    return float(final_response == answer)


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    for name in [name for name in REWARDS._objects if name.startswith("test_")]:
        del REWARDS._objects[name]


def pay(components: dict[str, Any], response: str, answer: str = "yes", **options: Any) -> float:
    reward = compose("test_it", components, register=False, **options)
    return float(assay.score(reward, final_response=response, answer=answer))


@pytest.mark.parametrize(
    ("shape", "right", "wrong"),
    [
        ({}, 1.3, 0.3),
        ({"weight": 0.5}, 1.15, 0.15),
        ({"weight": -0.5}, 0.85, -0.15),
        ({"gate": "outcome"}, 1.3, 0.0),  # only where the outcome is right
        ({"unless": "outcome"}, 1.0, 0.3),  # only where it is wrong
        ({"gate": "outcome", "opens_at": 0.0}, 1.3, 0.3),
        ({"factor": True}, 0.3, 0.0),
        ({"factor": True, "gate": "outcome"}, 0.3, 0.0),
        ({"factor": True, "unless": "outcome"}, 1.0, 0.0),
        ({"clip": (0.0, 0.2)}, 1.2, 0.2),
        ({"clip": (0.5, 1.0), "weight": 2.0}, 2.0, 1.0),
    ],
)
def test_a_component_is_weighed_gated_multiplied_and_bounded(
    shape: dict[str, Any], right: float, wrong: float
) -> None:
    components = {"outcome": mentions, "size": {"reward": size, **shape}}
    assert pay(components, "yes") == pytest.approx(right)
    assert pay(components, "no!") == pytest.approx(wrong)


def test_the_whole_may_be_bounded() -> None:
    assert pay({"outcome": mentions, "size": size}, "yes", clip=(0.0, 1.0)) == 1.0
    assert (
        pay({"outcome": mentions, "size": {"reward": size, "weight": -9}}, "no", clip=[0, 1]) == 0.0
    )


def test_every_component_stays_visible_whatever_its_gate_does() -> None:
    reward = compose(
        "test_seen", {"outcome": mentions, "size": {"reward": size, "gate": "outcome", "weight": 2}}
    )
    expected = {
        "outcome": 0.0, "outcome/chars": 2.0, "paid/outcome": 0.0, "size": 0.2, "paid/size": 0.0,
        "gate/size": 0.0,
    }  # fmt: skip
    score = assay.score("test_seen", final_response="no", answer="yes")
    assert dict(score.parts) == expected
    assert tuple(score.parts) == assay.Scorer(reward).spec.parts
    assert score.scorer == "test_seen@1"
    assert "gate closed" in score.because
    opened = assay.score("test_seen", final_response="yes", answer="yes")
    assert opened["paid/size"] == pytest.approx(0.6)
    assert opened["gate/size"] == 1.0


@pytest.mark.parametrize("shape", [{}, {"gate": "outcome"}, {"factor": True}, {"weight": 0.0}])
def test_a_component_that_abstains_makes_the_whole_abstain(shape: dict[str, Any]) -> None:
    reward = compose(
        "test_unsure", {"outcome": mentions, "unsure": {"reward": unsure, **shape}}, register=False
    )
    score = assay.score(reward, final_response="no?", answer="yes")
    assert isinstance(score, assay.Abstained)
    assert (score.reason, score.notes["component"]) == ("no_opinion", "unsure")
    assert set(score.parts) == set(assay.Scorer(reward).spec.parts or ())


def test_a_component_that_raises_makes_the_whole_abstain() -> None:
    def broken(final_response: str) -> float:
        raise ZeroDivisionError

    reward = compose("test_broken", {"outcome": mentions, "broken": broken}, register=False)
    score = assay.score(reward, final_response="yes", answer="yes")
    assert isinstance(score, assay.Abstained)
    assert score.reason == "grader_error"


def test_the_columns_of_every_component_are_asked_for() -> None:
    reward = compose(
        "test_columns",
        {
            "outcome": Term(mentions, columns={"answer": "extra.solution"}),
            "choice": {"reward": "choice_reward", "weight": 0.5},
        },
        register=False,
    )
    spec = assay.Scorer(reward).spec
    assert (set(spec.required), spec.optional) == (
        {"final_response", "extra", "answer"},
        ("choices",),
    )
    row: dict[str, Any] = {
        "final_response": "B",
        "answer": "B",
        "extra": {"solution": "B"},
        "other": object(),
    }
    assert float(assay.score(reward, **row)) == 1.5
    with pytest.raises(MissingParameter, match="test_columns needs 'extra'"):
        assay.score(reward, final_response="B", answer="B")


def test_no_response_is_worth_nothing_and_no_failure() -> None:
    reward = compose("test_none", {"outcome": mentions, "form": "format_reward"}, register=False)
    assert float(assay.score(reward, final_response=None, answer="x")) == 0.0


def test_a_composition_travels_to_other_processes() -> None:
    reward = compose(
        "test_travels", {"outcome": mentions, "size": {"reward": size, "gate": "outcome"}}
    )
    rows: list[dict[str, Any]] = [
        {"final_response": text, "answer": "yes"} for text in ("yes", "no", "yes!")
    ]
    here = [assay.score(reward, **row) for row in rows]
    copy = pickle.loads(pickle.dumps(reward))
    assert [assay.score(copy, **row) for row in rows] == here
    assert list(assay.score_batch("test_travels", rows, workers=2)) == here


def test_a_coroutine_among_the_components_makes_the_whole_one() -> None:
    reward = compose("test_slow", {"outcome": slow, "size": size}, register=False)
    assert assay.Scorer(reward).spec.is_async
    row: dict[str, Any] = {"final_response": "yes", "answer": "yes"}
    assert float(assay.score(reward, **row)) == pytest.approx(1.3)
    assert float(asyncio.run(assay.score_async(reward, **row))) == pytest.approx(1.3)


def test_a_component_that_waits_makes_the_whole_one_that_waits() -> None:
    waiting = assay.reward(name="waiting", waits=True, register=False)(lambda final_response: 1.0)
    assert assay.Scorer(compose("test_waits", {"a": mentions, "b": waiting})).spec.waits
    assert not assay.Scorer(compose("test_quick", {"a": mentions})).spec.waits


def test_a_composition_of_compositions() -> None:
    inner = compose("test_inner", {"outcome": mentions, "size": size}, register=False)
    outer = compose("test_outer", {"inner": inner, "form": "format_reward"}, register=False)
    score = assay.score(outer, final_response="yes", answer="yes")
    assert float(score) == pytest.approx(1.3)
    assert score["inner/paid/size"] == pytest.approx(0.3)


def test_another_composition_under_the_same_name_is_refused() -> None:
    compose("test_same", {"outcome": mentions, "size": size})
    compose("test_same", {"outcome": mentions, "size": size})
    with pytest.raises(NameCollision):
        compose("test_same", {"outcome": mentions, "size": Term(size, weight=0.5)})
    compose("test_same", {"outcome": mentions, "size": Term(size, weight=0.5)}, version=2)
    assert assay.score("test_same@1", final_response="yes", answer="yes")["reward"] == 1.3
    with pytest.raises(NameCollision):
        compose("qa_f1_reward", {"outcome": mentions})


@pytest.mark.parametrize(
    ("components", "message"),
    [
        ({}, "no components"),
        ({"a": {"weight": 1.0}}, "names no reward"),
        ({"a": {"reward": mentions, "wieght": 1.0}}, "did you mean 'weight'"),
        ({"a": mentions, "b": {"reward": size, "gate": "c"}}, "no other component"),
        ({"a": mentions, "b": {"reward": size, "gate": "b"}}, "no other component"),
        ({"a": {"reward": mentions, "gate": "b"}, "b": size}, "put the outcome first"),
        ({"a": mentions, "b": {"reward": size, "gate": "a", "unless": "a"}}, "choose one"),
        ({"a": {"reward": mentions, "factor": True}}, "one must be added"),
        ({"a": mentions, "b": {"reward": size, "weight": float("nan")}}, "finite number"),
        ({"a": mentions, "b": {"reward": size, "clip": [1, 0]}}, "the least and the most"),
        ({"a b": mentions}, "cannot name a component"),
        (
            {"a": mentions, "b": {"reward": "length_reward", "params": {"curve": "up"}}},
            "curve is 'up'",
        ),
        ({"a": mentions, "b": {"reward": size, "params": {"limit": 1}}}, "has no option 'limit'"),
    ],
)
def test_components_that_do_not_fit_are_refused(components: dict[str, Any], message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        compose("test_bad", components, register=False)


def test_a_sum_splits_into_rewards_that_a_trainer_normalises_one_by_one() -> None:
    reward = compose(
        "test_split",
        {"outcome": mentions, "size": {"reward": size, "weight": 2, "gate": "outcome"}},
        register=False,
    )
    outcome, length = reward.split()
    assert isinstance(outcome, Composition)
    for response in ("yes", "no"):
        row: dict[str, Any] = {"final_response": response, "answer": "yes"}
        numbers = [float(assay.score(each, **row)) for each in (outcome, length)]
        assert sum(numbers) == pytest.approx(float(assay.score(reward, **row)))
    assert assay.score(length, final_response="no", answer="yes")["reward"] == 0.0
    bounded = compose("test_bound", {"outcome": mentions}, clip=(0, 1), register=False)
    with pytest.raises(BadParameter, match="no sum"):
        bounded.split()


def test_a_gate_that_stands_behind_a_closed_gate_is_closed() -> None:
    chain = compose(
        "chain",
        {
            "right": mentions,
            "form": {"reward": size, "gate": "right", "opens_at": 1.0, "weight": 0.1},
            "length": {"reward": unsure, "gate": "form", "opens_at": 0.3},
            "other": {"reward": unsure, "unless": "form", "opens_at": 0.3},
        },
        register=False,
    )
    wrong, right = (
        assay.score(chain, final_response="four", answer=answer) for answer in ("five", "four")
    )
    assert (float(wrong), wrong.parts["gate/length"]) == (0.0, 0.0)
    assert right.parts["gate/length"] == 1.0
    assert float(right) == pytest.approx(1.54)
    parts = [assay.score(part, final_response="four", answer="five") for part in chain.split()]
    assert [float(part) for part in parts] == [0.0] * 4
    parts = [assay.score(part, final_response="four", answer="four") for part in chain.split()]
    assert sum(float(part) for part in parts) == pytest.approx(float(right))


def test_gates_that_lead_in_a_circle_are_refused() -> None:
    components: dict[str, Any] = {
        "right": mentions,
        "one": {"reward": size, "gate": "other"},
        "other": {"reward": unsure, "unless": "one"},
    }
    with pytest.raises(BadParameter, match="in a circle"):
        compose("circle", components, register=False)
