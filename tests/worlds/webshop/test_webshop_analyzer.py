from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.worlds.webshop.analyzer import LONGEST_TOKEN, terms, tokens
from assay.worlds.webshop.porter import stem

TOKENS = [
    ("red cotton shirt", ["red", "cotton", "shirt"], "spaces separate"),
    ("men's o’neill", ["men's", "o’neill"], "an apostrophe joins letters"),
    ("10.5 3,000 5;6", ["10.5", "3,000", "5;6"], "point, comma and semicolon join digits"),
    ("e.g. u.s.a", ["e.g", "u.s.a"], "a point joins letters, but not at the end"),
    ("a:b 5:3", ["a:b", "5", "3"], "a colon joins letters only"),
    ("a,b a.1 1.a", ["a", "b", "a", "1", "1", "a"], "nothing joins a letter and a digit"),
    ("ab12 12ab", ["ab12", "12ab"], "letters and digits run together"),
    ("x_y _a_ __", ["x_y", "_a_"], "underscores join, but are no word alone"),
    ("wi-fi a/b", ["wi", "fi", "a", "b"], "hyphen and slash separate"),
    ("cafe\u0301 x", ["cafe\u0301", "x"], "a combining mark belongs to its letter"),
    ("中文かな", ["中", "文", "か", "な"], "each ideograph and hiragana is a word"),
    ("カタカナ 한국어", ["カタカナ", "한국어"], "katakana and hangul run together"),
    ("ไทยภาษา", ["ไทยภาษา"], "a run of Thai is a word"),
    ("❤️x🌸🌸", ["❤️", "x", "🌸", "🌸"], "each emoji is a word, with its selector"),
    ("👨‍👩‍👧 👍🏽", ["👨‍👩‍👧", "👍🏽"], "joined and toned emoji are one word"),
    ("🇩🇪🇫🇷 🇩", ["🇩🇪", "🇫🇷"], "two regional indicators are a flag, one is nothing"),
    ("#️⃣ # *", ["#️⃣"], "a key cap is an emoji"),
    ("™ ® ★ ✿ ½ ²", ["™", "®", "★"], "some symbols count as pictographs, fractions do not"),
    ("\u200b\u00ad\u0301", [], "what is invisible is no word"),
    ("", [], "nothing"),
]


@pytest.mark.parametrize(("text", "expected", "reason"), TOKENS)
def test_words_are_cut_by_the_unicode_rules(text: str, expected: list[str], reason: str) -> None:
    assert tokens(text) == expected, reason


STEMS = [
    ("as", "as", "two letters stay"),
    ("caresses", "caress", "1a"),
    ("ponies", "poni", "1a"),
    ("caress", "caress", "1a"),
    ("agreed", "agre", "1b: a measure before -eed"),
    ("feed", "feed", "1b: no measure"),
    ("plastered", "plaster", "1b"),
    ("bled", "bled", "1b: no vowel"),
    ("conflated", "conflat", "1b restores an e, 4 drops -ate"),
    ("hopping", "hop", "1b: double consonant"),
    ("falling", "fall", "1b: but not l, s, z"),
    ("filing", "file", "1b: short word"),
    ("happy", "happi", "1c"),
    ("sky", "sky", "1c: no vowel"),
    ("relational", "relat", "2"),
    ("possibly", "possibl", "2: bli becomes ble"),
    ("technology", "technolog", "2: logi becomes log"),
    ("geology", "geologi", "2: but not without a measure before it"),
    ("electrical", "electr", "3"),
    ("replacement", "replac", "4"),
    ("adoption", "adopt", "4: -ion after t"),
    ("rate", "rate", "5a: short"),
    ("controlling", "control", "5b: double l"),
    ("120ml", "120ml", "digits count as consonants"),
]


@pytest.mark.parametrize(("word", "expected", "rule"), STEMS)
def test_words_are_stemmed_by_porters_rules(word: str, expected: str, rule: str) -> None:
    assert stem(word) == expected, rule


def test_terms_are_lower_case_stems_without_possessives_and_stop_words() -> None:
    assert terms("The MEN'S shoes, and O’Neill’s are not for running") == [
        "men",
        "shoe",
        "o’neil",
        "run",
    ]


def test_an_endless_word_is_cut_into_pieces() -> None:
    assert [len(piece) for piece in tokens("x" * (2 * LONGEST_TOKEN + 1))] == [
        LONGEST_TOKEN,
        LONGEST_TOKEN,
        1,
    ]


@pytest.mark.parametrize("unit", ["_", "a_", "1,", "a.", "❤\u200d", "\u0301", "🇩", "#️", "ア_"])
def test_long_repetitions_are_read_to_the_end(unit: str) -> None:
    text = unit * 20_000
    assert sum(len(token) for token in tokens(text + " end")) <= len(text) + 3
    assert tokens(text + " end")[-1] == "end"


@settings(deadline=None)
@given(st.text(max_size=60))
def test_tokens_are_parts_of_the_text_in_order(text: str) -> None:
    at = 0
    for token in tokens(text):
        found = text.find(token, at)
        assert found >= 0
        at = found + len(token)
