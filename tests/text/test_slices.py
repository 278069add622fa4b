"""Looking through a long text slice by slice finds what one look finds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text import slices
from assay.text.slices import matches, matches_in_lines, replace

TEXTS = st.text(alphabet="<>[]ab %\n.~", max_size=120)
MARK = re.compile(r"<[^<>\s]{1,4}(?:\s[^<>]{0,5})?>|\[[ab]{1,3}\](?!\[)|(?<=a)~~(?=b)")
LINE = re.compile(r"^[ \t]*>(?!>>)[^\n]*|%(?<=\. %)[^\n]*", re.MULTILINE)


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "SLICE_CHARS", 7)


@given(TEXTS)
def test_the_matches_are_those_of_one_look(text: str) -> None:
    whole = [match.span() for match in MARK.finditer(text)]
    assert [match.span() for match in matches(MARK, text, longest=12)] == whole
    assert replace(matches(MARK, text, longest=12), text, "-") == MARK.sub("-", text)


@given(TEXTS, st.integers(0, 20))
def test_a_look_may_start_anywhere(text: str, start: int) -> None:
    whole = [match.span() for match in MARK.finditer(text, start)]
    assert [match.span() for match in matches(MARK, text, start, longest=12)] == whole


@given(TEXTS)
def test_a_line_is_never_cut(text: str) -> None:
    whole = [match.span() for match in LINE.finditer(text)]
    assert [match.span() for match in matches_in_lines(LINE, text)] == whole
    assert replace(matches_in_lines(LINE, text), text, "") == LINE.sub("", text)


def test_a_replacement_may_depend_on_the_match() -> None:
    found = matches(MARK, "<a> [b] <b>", longest=12)
    assert replace(found, "<a> [b] <b>", lambda match: match[0].upper()) == "<A> [B] <B>"
