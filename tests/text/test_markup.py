"""What a reader does not see, or sees as source or as a quotation, is no answer."""

from __future__ import annotations

import pytest

from assay.text.markup import LAYOUT_TAGS, UNSEEN, HiddenMarkup, leave_out_unseen
from assay.text.slices import VisibleText


def seen_text(text: str) -> str:
    visible = VisibleText(text)
    leave_out_unseen(visible)
    return visible.text


@pytest.mark.parametrize("unseen", UNSEEN, ids=lambda unseen: unseen.opening)
def test_what_prints_nothing_is_not_seen(unseen: HiddenMarkup) -> None:
    assert "42" not in seen_text(f"a {unseen.opening} 42 {unseen.closing} b")
    assert seen_text(f"a {unseen.opening} 42 {unseen.closing} b").split()[-1] == "b"
    assert ("42" not in seen_text(f"a {unseen.opening} 42")) is unseen.lasts


@pytest.mark.parametrize("tag", sorted(LAYOUT_TAGS))
def test_layout_is_dropped_and_what_it_surrounds_stays(tag: str) -> None:
    assert seen_text(f"<{tag}>42</{tag}>") == "42"
    assert seen_text(f'<{tag} class="x">42</{tag}>') == "42"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("x<sup>2</sup>", "x^{2}"), ("a<sub>1</sub>", "a_{1}"), ("1<br>2", "1\n2"),
        ("a<b and c>d", "a<b and c>d"), ("x <i> y", "x <i> y"), ("50 % of 84", "50 % of 84"),
        ("% a remark\n42", "\n42"), (r"\verb|\boxed{42}| ", "  "),
        ("```python\nprint(42)\n```\n41", "\n41"), ("```python\nprint(42)", ""),
        ("```\n42\n```", "```\n42\n```"), ("> 41\n\n42", "\n\n42"), ("so\n> 42", "so\n> 42"),
        ('<span style="display: none">42</span>', " "), ("1&nbsp;000", "1 000"),
    ],
)  # fmt: skip
def test_markup_is_read_as_a_reader_sees_it(text: str, seen: str) -> None:
    assert seen_text(text) == seen
