"""Actions as text: one grammar, and what its two readers take and refuse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.browser.drive.actions import parse_action
from assay.schema.action import ActionCall, BadAction, answer_in, parse_call, read_call

NO_ACTION, NO_CALL, BAD_ARGUMENTS = "there is no action", "is not a call", "are not quoted strings"
BOTH = [
    ('click("12")', ("click", "12"), "a number in quotes"),
    ("click('12')", ("click", "12"), "single quotes"),
    ("click(12)", ("click", "12"), "a bare number"),
    ("click(1e5)", ("click", "1e5"), "a bare number stays as it is written"),
    ("press(Enter)", ("press", "Enter"), "a bare word"),
    ("fill(5, a.b_c-d)", ("fill", "5", "a.b_c-d"), "a bare word with signs"),
    ("fill(5, ü)", ("fill", "5", "ü"), "a bare letter beyond ASCII"),
    ("click(null)", ("click", "null"), "no value of JSON, but a word"),
    ('\n fill ( "5" , "two words" ) ', ("fill", "5", "two words"), "spaces everywhere"),
    ('click\u00a0("12"\u00a0)', ("click", "12"), "spaces that do not break"),
    ('click         ("1")', ("click", "1"), "many spaces"),
    ('fill("5", "a, b) c(")', ("fill", "5", "a, b) c("), "commas and brackets in quotes"),
    ("fill('5', \"it's\")", ("fill", "5", "it's"), "one quote in the other"),
    ("fill('5', 'it\\'s')", ("fill", "5", "it's"), "an escaped single quote"),
    ("fill(5, 'say \"hi\"')", ("fill", "5", 'say "hi"'), "a double quote in single ones"),
    ('fill(5, "a\\"b")', ("fill", "5", 'a"b'), "an escaped double quote"),
    ("press('a\\\"b')", ("press", 'a"b'), "a needlessly escaped double quote"),
    ("press('a\\\\b')", ("press", "a\\b"), "an escaped backslash"),
    ('fill("5", "a\\nb\\tc")', ("fill", "5", "a\nb\tc"), "JSON's escapes"),
    ("fill('5', 'a\\nb\\u00e9')", ("fill", "5", "a\nbé"), "JSON's escapes in single quotes"),
    ('fill("5", "line\nbreak")', ("fill", "5", "line\nbreak"), "a line break"),
    ("fill('5', 'C:\\dir \\'')", ("fill", "5", "C:\\dir '"), "other escapes mean themselves"),
    ('fill("5", "")', ("fill", "5", ""), "an empty string"),
    ('press("a\x00\ud800")', ("press", "a\x00\ud800"), "control characters and half a pair"),
    ("back( \n)", ("back",), "no arguments"),
]
DIFFERENT: list[tuple[str, tuple[str, ...] | None, tuple[str, ...] | str, str]] = [
    # The text, what a reply says with it, what the browser does or says, and why.
    ('fill("5", "C:\\dir")', None, ("fill", "5", "C:\\dir"), "JSON has no such escape"),
    ("goto(http://x.org/a?b=1)", ("goto", "http://x.org/a?b=1"), BAD_ARGUMENTS, "a bare address"),
    ("press(Control+a)", ("press", "Control+a"), BAD_ARGUMENTS, "a bare key"),
    ("click(#12)", ("click", "#12"), BAD_ARGUMENTS, "a bare sign"),
    ("click(`12`)", ("click", "`12`"), BAD_ARGUMENTS, "quotes that are none"),
    ("click(id=5)", ("click", "id=5"), BAD_ARGUMENTS, "a name for the argument"),
    ('click("12",)', ("click", "12"), BAD_ARGUMENTS, "a comma at the end"),
    (f"click({'a' * 201})", None, ("click", "a" * 201), "a long bare word"),
    ('back("x")', ("back", "x"), "back takes 0 argument(s), got 1", "too many arguments"),
    ("click()", ("click",), "click takes 1 argument(s), got 0", "too few arguments"),
    (f"click({'1,' * 8}1)", None, "click takes 1 argument(s), got 9", "far too many arguments"),
    ('jump("12")', ("jump", "12"), NO_ACTION, "an action that nobody has"),
    ('Click("12")', ("Click", "12"), NO_ACTION, "upper case"),
    ('answer("42")', ("answer", "42"), NO_ACTION, "an action of the agent, not of the browser"),
    (f'fill("5", "{"a" * 20_000}")', ("fill", "5", "a" * 20_000), "20,000 are allowed", "length"),
]
NEITHER = [
    ("", NO_ACTION, "nothing"),
    ("(", NO_ACTION, "no name"),
    ("click[12]", NO_ACTION, "other brackets"),
    ('x click("12")', NO_ACTION, "words before"),
    ("click", NO_CALL, "no brackets"),
    ('click("12"', NO_CALL, "unclosed"),
    ('click("12") and more', NO_CALL, "words after"),
    ('click("12"); back()', BAD_ARGUMENTS, "two calls"),
    ('click("12" "13")', BAD_ARGUMENTS, "no comma"),
    ('click(,"12")', BAD_ARGUMENTS, "a comma too early"),
    ('click("12))', BAD_ARGUMENTS, "an unclosed string"),
    ("fill('5', '\\')", BAD_ARGUMENTS, "a string closed by an escape alone"),
    ('fill("5", "a" + "b")', BAD_ARGUMENTS, "code"),
    ("click(open('x'))", BAD_ARGUMENTS, "a call in a call"),
    ('noop("a"))', BAD_ARGUMENTS, "one bracket too many"),
    ('fill(id="5", text="x")', BAD_ARGUMENTS, "names for the arguments"),
]


def call_of(words: tuple[str, ...]) -> ActionCall:
    return ActionCall(words[0], words[1:])


@pytest.mark.parametrize(("text", "words", "why"), BOTH)
def test_both_readers_take(text: str, words: tuple[str, ...], why: str) -> None:
    assert parse_call(text) == call_of(words), why
    assert parse_action(text) == call_of(words), why


@pytest.mark.parametrize(("text", "reply", "browser", "why"), DIFFERENT)
def test_the_readers_differ_on(
    text: str, reply: tuple[str, ...] | None, browser: tuple[str, ...] | str, why: str
) -> None:
    assert parse_call(text) == (reply and call_of(reply)), why
    action = parse_action(text)
    if isinstance(action, BadAction):
        assert isinstance(browser, str), why
        assert browser in action.problem, why
    else:
        assert isinstance(browser, tuple), why
        assert action == call_of(browser), why


@pytest.mark.parametrize(("text", "words", "why"), NEITHER)
def test_neither_reader_takes(text: str, words: str, why: str) -> None:
    assert parse_call(text) is None, why
    action = parse_action(text)
    assert isinstance(action, BadAction), why
    assert words in action.problem, why


@given(
    st.from_regex(r"[a-z_]{1,12}", fullmatch=True),
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=8),
)
def test_a_call_reads_back_as_it_was_written(name: str, arguments: list[str]) -> None:
    call = ActionCall(name, tuple(arguments))
    assert parse_call(call.text) == call


@given(st.text())
def test_reading_any_text_never_raises(text: str) -> None:
    for action in (text, f"click({text})", f"click('{text}')"):
        parse_call(action)
        parse_action(action)


@pytest.mark.parametrize(
    "text",
    ["click(" * 300_000, "f('" + "\\" * 1_000_000, 'f("' + "\\u" * 500_000, "f(" + " " * 1_000_000],
    ids=["brackets", "backslashes", "bad escapes", "spaces"],
)
def test_a_megabyte_of_nonsense_is_no_call(text: str) -> None:
    assert parse_call(text) is None


def test_a_call_ends_where_its_bracket_closes() -> None:
    assert read_call('back() and click("12")') == (ActionCall("back"), 6)


def test_only_answer_with_one_argument_is_an_answer() -> None:
    assert answer_in('answer("42")') == "42"
    assert answer_in('answer("42", "43")') is None
    assert answer_in('click("42")') is None
