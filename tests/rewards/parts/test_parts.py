"""The rewards that pay one side of a response: its form, its length, its variety, its choice."""

from __future__ import annotations

import random
import re
import time
from typing import Any

import pytest

import assay
from assay.errors import BadParameter
from assay.rewards.outcome import patterns
from assay.rewards.outcome.patterns import UnsafePattern, compile_pattern

GOOD = "<think>Two and two.</think>\n<answer>4</answer>"


def value(reward: str, response: str | None, /, **columns: Any) -> Any:
    params = columns.pop("params", None)
    return assay.score(reward, params=params, final_response=response, **columns)["reward"]


@pytest.mark.parametrize(
    ("response", "expected", "share"),
    [
        (GOOD, 1.0, 1.0),
        (f"  \n{GOOD}\n ", 1.0, 1.0),
        (f"Sure! {GOOD}", 0.0, 0.5),  # text around the form
        (f"{GOOD} I hope this helps.", 0.0, 1.0),
        ("<think>Two.</think><answer></answer>", 0.0, 0.5),  # the form without an answer
        ("<think>Two.</think><answer>\u200b </answer>", 0.0, 0.5),
        ("<think></think><answer>4</answer>", 0.0, 0.5),
        ("<answer>4</answer><think>Two.</think>", 0.0, 0.0),  # another order
        (f"{GOOD}<answer>5</answer>", 0.0, 0.5),  # two answers
        ("<think>Two <answer>4</answer></think>", 0.0, 0.5),  # one inside the other
        ("<think>Two.<answer>4</answer>", 0.0, 0.0),  # never closed
        ("</think>Two.<think><answer>4</answer>", 0.0, 0.0),
        ("4", 0.0, 0.0),
        ("", 0.0, 0.0),
        (None, 0.0, 0.0),
    ],
)
def test_the_form_is_kept_whole_or_not_paid(
    response: str | None, expected: float, share: float
) -> None:
    score = assay.score("format_reward", final_response=response)
    assert (score["reward"], score["tags"]) == (expected, share)


def test_a_prompt_may_have_opened_the_first_tag() -> None:
    rest = GOOD.removeprefix("<think>")
    assert value("format_reward", rest) == 0.0
    assert value("format_reward", rest, params={"opened": True}) == 1.0
    assert value("format_reward", GOOD, params={"opened": True}) == 1.0


def test_a_form_may_be_a_pattern() -> None:
    params = {"pattern": r"^<think>.*?</think>\s*<answer>.+?</answer>$"}
    assert value("format_reward", GOOD, params=params) == 1.0
    assert value("format_reward", GOOD + "!", params=params) == 0.0
    assert value("format_reward", "", params={"pattern": ".*"}) == 0.0


@pytest.mark.parametrize(
    "params",
    [
        {"tags": []},
        {"tags": ["a b"]},
        {"tags": ["x", "x"]},
        {"pattern": "("},
        {"pattern": r"(a)\1"},
    ],
)
def test_a_form_that_is_none_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(BadParameter):
        value("format_reward", GOOD, params=params)


PATTERNS = (
    "a*b", "(a|b)*c", "[^a]+a{2,3}", r"(?:x\d)+?y", "(a+)+b", r"\w+\s\W?", "a{0}b|c", ".?b.",
)  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_matches_what_python_matches(pattern: str) -> None:
    rng = random.Random(pattern)
    ours, theirs = compile_pattern(pattern), re.compile(pattern, re.DOTALL)
    for _ in range(2_000):
        text = "".join(rng.choices("aaabbcxy1 .\n", k=rng.randint(0, 7)))
        assert ours.matches(text) == bool(theirs.fullmatch(text)), text


def test_a_pattern_that_backtracks_takes_linear_time() -> None:
    assert not compile_pattern("(a+)+b").matches("a" * 200_000)
    hostile = "<think>" + "</think><answer>" * 12_000
    assert not compile_pattern("<think>.*?</think>.*?<answer>.*?</answer>").matches(hostile)


@pytest.mark.parametrize("pattern", [r"(?=a)a", r"(?i)a", r"a\b", "a{900}"])
def test_what_is_not_matched_in_linear_time_is_refused(pattern: str) -> None:
    with pytest.raises(UnsafePattern):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    ("length", "curve", "expected"),
    [
        (1, "soft", 1.0), (75, "soft", 1.0), (80, "soft", 0.8), (100, "soft", 0.0),
        (900, "soft", 0.0), (75, "dapo", 0.0), (80, "dapo", -0.2), (100, "dapo", -1.0),
        (101, "dapo", -1.0), (0, "dapo", 0.0), (50, "cosine", 0.5), (100, "cosine", 0.0),
        (50, "linear", 0.5), (900, "linear", 0.0), (0, "linear", 0.0), (0, "soft", 0.0),
    ],
)  # fmt: skip
def test_each_curve_falls_as_it_is_published(length: int, curve: str, expected: float) -> None:
    params = {"curve": curve, "max_length": 100}
    assert value("length_reward", "x" * length, params=params) == pytest.approx(expected)


def test_lengths_are_counted_in_characters_words_or_tokens() -> None:
    params: dict[str, Any] = {"curve": "linear", "max_length": 10}
    assert value("length_reward", "one two", params={**params, "unit": "words"}) == 0.8
    tokens = {**params, "unit": "tokens"}
    assert value("length_reward", "one two", params=tokens, response_tokens=4) == 0.6
    missing = assay.score("length_reward", params=tokens, final_response="one two")
    assert isinstance(missing, assay.Abstained)
    assert missing.reason == "missing_tokens"


def test_a_number_of_tokens_that_is_none_abstains() -> None:
    params = {"unit": "tokens", "curve": "linear"}
    for tokens in (-50, 2.5, "12", True, float("inf")):
        score = assay.score(
            "length_reward", params=params, final_response="a", response_tokens=tokens
        )
        assert score["abstained"] == "bad_reference", tokens


@pytest.mark.parametrize("params", [{"curve": "steep"}, {"max_length": 0}, {"buffer": -1}])
def test_a_length_that_is_none_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(BadParameter):
        value("length_reward", "x", params=params)


@pytest.mark.parametrize(
    ("response", "params", "expected"),
    [
        ("one two three four five", {}, 1.0),
        ("one two", {}, 1.0),  # fewer words than an n-gram repeat nothing
        ("a b a b a b", {"ngram": 2}, 0.4),
        ("A b a B a b", {"ngram": 2}, 0.4),
        ("a b a b a b", {"ngram": 2, "scale": "penalty"}, -0.6),
        ("哈哈哈哈", {"ngram": 1, "unit": "chars"}, 0.25),
        ("", {}, 0.0),
        ("", {"scale": "penalty"}, 0.0),
        (None, {}, 0.0),
    ],
)
def test_what_is_said_again_is_not_paid(
    response: str | None, params: dict[str, Any], expected: float
) -> None:
    assert value("repetition_reward", response, params=params) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("response", "answer", "choices", "expected"),
    [
        ("The answer is B", "B", None, 1.0),
        ("(b)", "B", None, 1.0),
        ("Ｂ", "B", None, 1.0),
        ("B. A pear", "B", None, 1.0),
        ("A) an hour", "A", None, 1.0),
        (r"so \boxed{\text{C}}", "(C)", None, 1.0),
        ("B", 1, ["fig", "pear"], 1.0),  # the number of the option, as data sets keep it
        ("pear", 1, ["fig", "pear"], 1.0),
        ("pear", "pear", {"label": ["A", "B"], "text": ["fig", "pear"]}, 1.0),
        ("B) fig", "B", ["fig", "pear"], 0.0),  # letter and text disagree
        ("C", "B", ["fig", "pear"], 0.0),
        ("A and B", "A", None, 0.0),
        ("A, B, C, D", "A", None, 0.0),
        ("A) fig, B) pear", "A", None, 0.0),
        ("A/B", "A", None, 0.0),
        ("(A) (b) (c) (d)", "A", None, 0.0),  # every option, in small letters
        ("A) b) c) d)", "A", None, 0.0),
        (r"\boxed{A. b. c.}", "A", None, 0.0),
        ("(A) b", "A", None, 0.0),
        (r"\boxed{A: f(x) is even, e.g. a square}", "A", None, 1.0),
        ("B: x", "B", None, 1.0),
        (rf"\boxed{{A: {'x' * 2_000} B}}", "A", None, 0.0),  # longer than any option
        ("2", "2", {"label": ["1", "2"], "text": ["fig", "pear"]}, 1.0),  # as some of ARC's
        ("2. pear", "2", {"label": ["1", "2"], "text": ["fig", "pear"]}, 1.0),
        ("The answer is 1", "2", {"label": ["1", "2"], "text": ["fig", "pear"]}, 0.0),
        ("2", "2", {"label": ["1", "2"], "text": ["2", "1"]}, 0.0),  # the label, or the text?
        ("2", "B", None, 0.0),
        ("Because", "B", None, 0.0),
        ("It is not B.", "B", None, 0.0),
        ("", "B", None, 0.0),
        (None, "B", None, 0.0),
    ],
)
def test_one_option_is_a_choice(
    response: str | None, answer: object, choices: object, expected: float
) -> None:
    assert value("choice_reward", response, answer=answer, choices=choices) == expected


@pytest.mark.parametrize(
    ("answer", "choices", "reason"),
    [
        (None, None, "missing_reference"),
        ("pear", None, "unparseable_reference"),
        (7, ["fig", "pear"], "unparseable_reference"),
        ("A", 3, "bad_reference"),
        ({"A": 1}, None, "bad_reference"),
    ],
)
def test_a_reference_of_no_option_abstains(answer: object, choices: object, reason: str) -> None:
    score = assay.score("choice_reward", final_response="A", answer=answer, choices=choices)
    assert isinstance(score, assay.Abstained)
    assert score.reason == reason


@pytest.mark.parametrize(
    "reward", ["format_reward", "length_reward", "repetition_reward", "choice_reward"]
)
def test_an_empty_answer_is_paid_by_none(reward: str) -> None:
    for response in ["", " ", "\n\n", "\u200b", "\u00a0", None]:
        columns = {"answer": "A"} if reward == "choice_reward" else {}
        assert value(reward, response, **columns) == 0.0, repr(response)


def test_an_ngram_beyond_use_is_refused() -> None:
    with pytest.raises(BadParameter, match="from 1 to 64"):
        value("repetition_reward", "a b c", params={"ngram": 50_000})


def test_a_response_that_leads_a_pattern_through_many_states_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = random.Random(1)
    text = "".join(rng.choice("ab") for _ in range(300_000))
    params = {"pattern": ".*a.{200}"}
    assert value("format_reward", text[:800] + "a" * 201, params=params) == 1.0
    monkeypatch.setattr(patterns, "MAX_WORK", 100_000)
    start = time.process_time()
    score = assay.score("format_reward", params=params, final_response=text)
    assert (float(score), score.because) == (
        0.0,
        "matching the response with the pattern takes too long",
    )
    schema = {"not": {"pattern": "a.{200}c"}}
    assert value("json_reward", f'"{text[:100_000]}"', schema=schema) == 0.0
    assert time.process_time() - start < 3
