"""Names are found, collisions are errors, and a decorated function stays a plain function."""

import inspect
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest

import assay
from assay.errors import BadParameter, NameCollision, UnknownName
from assay.registry import REWARDS, Registry, describe, find_reward


@assay.reward(name="registry_brevity", version=2, parts=("words",))
def brevity(final_response: str, *, max_words: int = 20) -> dict[str, float]:
    """One when the answer is short."""
    words = len(final_response.split())
    return {"reward": float(words <= max_words), "words": words}


def _make(function_name: str) -> Callable[..., Any]:
    def scorer(final_response: str) -> float:
        return float(len(final_response))

    scorer.__qualname__ = function_name
    return scorer


def test_a_decorated_function_is_still_that_function() -> None:
    assert brevity(final_response="so short") == {"reward": 1.0, "words": 2}
    assert brevity.__doc__ == "One when the answer is short."
    assert list(inspect.signature(brevity).parameters) == ["final_response", "max_words"]
    assert pickle.loads(pickle.dumps(brevity)) is brevity


def test_a_reward_is_found_by_name_and_by_name_and_version() -> None:
    assert REWARDS.get("registry_brevity") is brevity
    assert REWARDS.get("registry_brevity@2") is brevity
    assert find_reward("registry_brevity").id == "registry_brevity@2"
    with pytest.raises(UnknownName, match="registry_brevity@2"):
        REWARDS.get("registry_brevity@1")


def test_an_unknown_name_says_what_may_have_been_meant() -> None:
    with pytest.raises(UnknownName, match=re.escape("did you mean 'qa_f1_reward'")):
        REWARDS.get("qa_f1_rewrd")


def test_two_functions_cannot_share_a_name_and_version() -> None:
    registry: Registry[Callable[..., Any]] = Registry("reward", {})
    registry.add("same", _make("first"))
    with pytest.raises(NameCollision, match="claims it too"):
        registry.add("same", _make("second"))
    registry.add("same", _make("second"), version=2)
    assert registry.get("same").__qualname__ == "second"
    assert registry.get("same@1").__qualname__ == "first"


def test_defining_the_same_function_again_replaces_it_as_in_a_notebook() -> None:
    registry: Registry[Callable[..., Any]] = Registry("reward", {})
    registry.add("again", _make("cell"))
    newer = _make("cell")
    registry.add("again", newer)
    assert registry.get("again") is newer


def test_a_built_in_name_cannot_be_taken() -> None:
    with pytest.raises(NameCollision, match="built in"):
        REWARDS.add("math_equal_reward", _make("mine"))


def test_an_entry_point_offers_a_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    point = metadata.EntryPoint("offered", "math:sqrt", "assay.rewards")
    monkeypatch.setattr(metadata, "entry_points", lambda group: [point] if group else [])
    registry: Registry[Callable[..., Any]] = Registry("reward", {})
    assert registry.names() == ["offered"]
    assert registry.get("offered")(4) == 2


@pytest.mark.parametrize("name", ["", "with space", "a/b", "x@1"])
def test_a_name_that_could_not_be_typed_is_refused(name: str) -> None:
    with pytest.raises(BadParameter, match="cannot name"):
        Registry[object]("reward", {}).add(name, object())


def test_a_signature_says_what_a_reward_needs() -> None:
    def scorer(
        final_response: str, answer: str, level: int = 0, *, mode: str, **rest: Any
    ) -> float:
        return 0.0

    spec = describe(scorer)
    assert (spec.required, spec.optional) == (("final_response", "answer"), ("level",))
    assert (list(spec.options), spec.takes_any, spec.is_async) == (["mode"], True, False)


def test_a_reward_cannot_take_arguments_by_position() -> None:
    def scorer(final_response: str, /) -> float:
        return 0.0

    with pytest.raises(BadParameter, match="by position"):
        describe(scorer)


def test_the_bare_decorator_takes_the_functions_own_name() -> None:
    @assay.reward
    def bare_decorated_reward(final_response: str) -> float:
        return 1.0

    assert find_reward("bare_decorated_reward").function is bare_decorated_reward
