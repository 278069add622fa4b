"""Looking through a long text slice by slice finds what one look finds."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text import slices
from assay.text.slices import Cut, VisibleText, matches, matches_in_lines

TEXTS = st.text(alphabet="<>[]ab %\n.~", max_size=120)
MARK = re.compile(r"<[^<>\s]{1,4}(?:\s[^<>]{0,5})?>|\[[ab]{1,3}\](?!\[)|(?<=a)~~(?=b)")
LINE = re.compile(r"^[ \t]*>(?!>>)[^\n]*|%(?<=\. %)[^\n]*", re.MULTILINE)


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "SLICE_CHARS", 7)


def replace(text: str, cuts: Iterable[Cut]) -> str:
    visible = VisibleText(text)
    visible.leave_out(cuts)
    return visible.text


@given(TEXTS)
def test_the_matches_are_those_of_one_look(text: str) -> None:
    whole = [match.span() for match in MARK.finditer(text)]
    assert [match.span() for match in matches(MARK, text, longest=12)] == whole
    cuts = (Cut(*match.span(), "-") for match in matches(MARK, text, longest=12))
    assert replace(text, cuts) == MARK.sub("-", text)


@given(TEXTS, st.integers(0, 20))
def test_a_look_may_start_anywhere(text: str, start: int) -> None:
    whole = [match.span() for match in MARK.finditer(text, start)]
    assert [match.span() for match in matches(MARK, text, start, longest=12)] == whole


@given(TEXTS)
def test_a_line_is_never_cut(text: str) -> None:
    whole = [match.span() for match in LINE.finditer(text)]
    assert [match.span() for match in matches_in_lines(LINE, text)] == whole
    cuts = (Cut(*match.span()) for match in matches_in_lines(LINE, text))
    assert replace(text, cuts) == LINE.sub("", text)


def test_a_replacement_may_depend_on_the_match() -> None:
    found = matches(MARK, "<a> [b] <b>", longest=12)
    cuts = (Cut(*match.span(), match[0].upper()) for match in found)
    assert replace("<a> [b] <b>", cuts) == "<A> [B] <B>"


CUTS = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4), st.sampled_from(("", "-", "{{}}"))))


@given(CUTS, CUTS)
def test_what_is_left_is_found_again_where_it_stood(
    first: list[tuple[int, int, str]], second: list[tuple[int, int, str]]
) -> None:
    # No two letters are the same, so that the place of each is known.
    letters = "".join(map(chr, range(0x4E00, 0x4E00 + 60)))
    visible = VisibleText(letters)
    for each in (first, second):
        cuts, position = [], 0
        for gap, size, new in each:
            start, end = position + gap, position + gap + size
            if end <= len(visible.text):
                cuts.append(Cut(start, end, new))
            position = end
        visible.leave_out(cuts)
    for place, letter in enumerate(visible.text):
        if letter in letters:
            at = letters.index(letter)
            assert visible.origin(place, place + 1) == (at, at + 1)
    start, end = visible.origin(0, len(visible.text))
    assert 0 <= start <= end <= len(letters)
    kept = [letters.index(letter) for letter in visible.text if letter in letters]
    assert all(start <= place < end for place in kept)
