"""A tool tells a model what it takes, and answers what it does not take."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import BadParameter, DeadResource
from assay.resources.context import Context
from assay.schema.observation import Observation
from assay.worlds.tool import ARGUMENTS_LIMIT, Tool, tool


@tool
async def shelf(
    context: Context,
    action: Annotated[Literal["take", "put"], "What to do."],
    thing: str,
    count: int = 1,
    weights: list[float] | None = None,
) -> Observation:
    """Move things on a shelf.

    Nothing falls.
    """
    return Observation(f"{action} {count} {thing} {weights}", reward=1.0)


@tool
async def glance(context: Context) -> str:
    """Look."""
    return "a shelf"


def test_the_schema_is_what_chat_apis_take() -> None:
    assert shelf.schema() == {
        "type": "function",
        "function": {
            "name": "shelf",
            "description": "Move things on a shelf.\n\nNothing falls.",
            "parameters": {
                "type": "object",
                "properties": {
                    "action": {
                        "type": "string",
                        "enum": ["take", "put"],
                        "description": "What to do.",
                    },
                    "thing": {"type": "string"},
                    "count": {"type": "integer", "default": 1},
                    "weights": {
                        "anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "null"}],
                        "default": None,
                    },
                },
                "required": ["action", "thing"],
                "additionalProperties": False,
            },
        },
    }


def test_a_call_gives_the_text_and_observe_the_whole_observation() -> None:
    context = Context()
    assert asyncio.run(shelf(context, action="take", thing="cup")) == "take 1 cup None"
    seen = asyncio.run(shelf.observe(context, '{"action": "put", "thing": "cup", "weights": [1]}'))
    assert (seen.text, seen.reward) == ("put 1 cup [1]", 1.0)
    assert asyncio.run(glance(context)) == "a shelf"
    assert asyncio.run(glance.observe(context, "")).text == "a shelf"


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({}, "the argument 'action' is missing"),
        ({"action": "take"}, "the argument 'thing' is missing"),
        ({"action": "eat", "thing": "cup"}, "'action' does not take 'eat'"),
        ({"action": "take", "thing": 3}, "'thing' does not take a int"),
        ({"action": "take", "thing": "cup", "count": True}, "'count' does not take True"),
        ({"action": "take", "thing": "cup", "count": 1.5}, "'count' does not take 1.5"),
        ({"action": "take", "thing": "cup", "weights": ["a"]}, "'weights' does not take a list"),
        ({"action": "take", "thing": "cup", "context": 1}, "it has no argument 'context'"),
        ({"action": "take", "thing": 10**5000}, "'thing' does not take a int"),
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[1]", "are a JSON object, not a list"),
        ('"look"', "are a JSON object, not 'look'"),
        (" " * (ARGUMENTS_LIMIT + 1), "characters long"),
    ],
)
def test_arguments_that_do_not_fit_are_answered_with_what_would(
    arguments: dict[str, object] | str, answer: str
) -> None:
    seen = asyncio.run(shelf.observe(Context(), arguments))
    assert answer in seen.text
    assert "Its arguments: action: one of 'take', 'put', thing: string" in seen.text
    assert len(seen.text) < 1_000


@settings(deadline=None)
@given(st.text())
def test_no_text_of_a_model_makes_a_tool_raise(text: str) -> None:
    asyncio.run(shelf.observe(Context(), text))


def test_a_tool_without_arguments_says_so() -> None:
    assert asyncio.run(glance(Context(), far=True)).endswith("It takes no arguments.")


def test_a_dead_world_is_not_an_observation() -> None:
    @tool
    async def broken(context: Context) -> str:
        """Break."""
        raise DeadResource("gone")

    with pytest.raises(DeadResource):
        asyncio.run(broken(Context()))


def test_a_function_that_has_no_schema_is_refused() -> None:
    async def untyped(context: Context, thing) -> str:  # type: ignore[no-untyped-def]
        return ""

    async def odd(context: Context, thing: dict[str, int]) -> str:
        return ""

    with pytest.raises(BadParameter, match="'thing' has no annotation"):
        tool(untyped)
    with pytest.raises(BadParameter, match="no JSON schema"):
        tool(odd)
    assert isinstance(glance, Tool)
