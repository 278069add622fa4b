"""What an annotation admits, and how a typed text is read for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Optional

import pytest

from assay.registry.annotations import UNKNOWN, OptionText, admits, annotations_of, read_option

if TYPE_CHECKING:
    from nowhere import Missing  # type: ignore[import-not-found]


@pytest.mark.parametrize(
    ("annotation", "text", "value"),
    [
        (str, "43", "43"),
        (str, "043", "043"),
        (str, "true", "true"),
        (str, "null", "null"),
        (str, '["a"]', '["a"]'),
        (str, '"43"', "43"),  # a text that was typed as JSON
        (Optional[str], "43", "43"),  # noqa: UP045 - as people write it
        (str | None, "null", None),
        (int, "43", 43),
        (float, "43", 43),
        (bool, "true", True),
        (int, "true", True),  # for the option to refuse
        (int, "no", "no"),
        (str | Sequence[str], "a,b", "a,b"),
        (str | Sequence[str], '["a", "b"]', ["a", "b"]),
        (str | Sequence[str], "43", "43"),
        (Mapping[str, Any], '{"a": 1}', {"a": 1}),
        (Literal["1", "2"], "1", "1"),
        (Literal[1, 2], "1", 1),
        (Any, "43", 43),
        (object, "43", 43),
        (UNKNOWN, "43", 43),
        (UNKNOWN, "x=y", "x=y"),
        (str, "NaN", "NaN"),
        (float, "1e999", "1e999"),
    ],
)
def test_a_typed_text_is_read_by_the_options_type(annotation: Any, text: str, value: Any) -> None:
    read = read_option(OptionText(text), annotation)
    assert (read, type(read)) == (value, type(value))


def test_a_value_of_a_program_stays_as_it_is() -> None:
    assert read_option(43, str) == 43
    assert read_option("43", int) == "43"


@dataclass
class Options:
    guess: str
    tries: int = 3


class Agent:
    def __init__(self, *, guess: str | None, other: Missing = None) -> None:
        pass

    def __call__(self, guess: str) -> None:
        pass


def function(guess: str, other: Missing) -> None:
    pass


@pytest.mark.parametrize(
    ("what", "guess"),
    [
        (Options, str),
        (partial(Options, tries=2), str),
        (Agent, str | None),  # though another name in the signature cannot be looked up
        (Agent(guess=""), str),
        (function, str),
        (lambda guess: None, UNKNOWN),
    ],
)
def test_annotations_are_found_on_whatever_can_be_called(what: Any, guess: Any) -> None:
    assert annotations_of(what)["guess"] == guess


def test_an_annotation_that_is_not_understood_admits_everything() -> None:
    assert admits(annotations_of(function)["other"], None)
    assert admits(Agent, "43") is False
