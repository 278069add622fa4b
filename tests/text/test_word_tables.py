"""Every table of words is read, each phrase once, and becomes a pattern that is matched quickly."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest
from hatchling.builders.wheel import WheelBuilder

from assay.browser.outcome import classify
from assay.browser.words import languages as browser_words
from assay.errors import BadRecord
from assay.rewards.outcome.maths.read import lexicon, nouns
from assay.text import channels, markup, quantities
from assay.text import languages as maths_words
from assay.text import words as instruction_words
from assay.text.phrasebook import all_books
from assay.text.word_tables import phrase_pattern, read_rows, read_table, trie_pattern
from assay.viewer import words as viewer_words

ROOT = Path(__file__).parents[2]
READERS: dict[Callable[[], object], tuple[ModuleType, list[str]]] = {
    maths_words.languages: (maths_words, [f"{code}.toml" for code in maths_words.CODES]),
    browser_words.languages: (browser_words, [f"{code}.toml" for code in browser_words.CODES]),
    browser_words.shared: (browser_words, ["shared.toml"]),
    classify.error_rows: (browser_words, ["errors.toml"]),
    lexicon.synonyms: (lexicon, ["synonyms.toml"]),
    nouns.read_nouns: (nouns, ["nouns.toml"]),
    viewer_words.page_words: (viewer_words, ["words.toml"]),
    lambda: lexicon.GREEK: (
        lexicon,
        [f"{name}.toml" for name in ("clauses", "clean", "lexicon", "signs", "units")],
    ),
    lambda: channels.SECTIONS: (channels, ["sections.toml", "turns.toml"]),
    lambda: markup.UNSEEN: (markup, ["unseen.toml"]),
    lambda: quantities.UNITS: (quantities, ["units.toml"]),
    lambda: instruction_words.WORDS: (instruction_words, ["words.toml"]),
}
"""The files that each reader reads, which lie beside its module."""
FILES = sorted(
    Path(str(module.__file__)).with_name(name).relative_to(ROOT).as_posix()
    for module, names in READERS.values()
    for name in names
)
_SYNTAX: Any = import_module("re._parser")
GAP = str(_SYNTAX.parse(r"(?: [^ ]+){0,3}"))


def test_every_reader_fills_its_records() -> None:
    for reader in READERS:
        assert reader(), reader


def test_every_file_beside_a_table_is_read_by_one() -> None:
    folders = {Path(file).parent for file in FILES}
    there = {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).glob("*.toml")
    }
    assert there == set(FILES)


def test_every_file_is_in_the_wheel() -> None:
    packed = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert {file.removeprefix("src/") for file in FILES} <= packed


@pytest.mark.parametrize("file", FILES)
def test_lines_are_short(file: str) -> None:
    lines = (ROOT / file).read_text("utf-8").splitlines()
    assert all(len(line) <= 100 and line == line.rstrip() for line in lines)


def tables() -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name and the phrases of each table that becomes a pattern."""
    for book in all_books():
        for field in fields(book.language):
            if isinstance(getattr(book.language, field.name), tuple):
                yield f"maths.{book.language.code}.{field.name}", book.endings(field.name)
    for language in browser_words.languages():
        for field in fields(language):
            listed = getattr(language, field.name)
            if isinstance(listed, tuple):
                yield f"browser.{language.code}.{field.name}", listed


def test_phrases_have_single_spaces_within() -> None:
    for name, listed in tables():
        # A space after a comma or a colon at the end counts.
        bare = [each[:-1] if each.endswith((", ", ": ")) else each for each in listed]
        assert [" ".join(each.split()) for each in bare] == bare, name


def test_no_pattern_goes_back_over_more_than_a_few_words() -> None:
    for name, listed in tables():
        for pattern in [trie_pattern(listed), *map(phrase_pattern, listed)]:
            _check_repeats(_SYNTAX.parse(pattern), name)
    for code, beginnings in classify.error_patterns():
        _check_repeats(_SYNTAX.parse(beginnings.pattern), code)


def _check_repeats(items: Any, name: str) -> None:
    """A repeat is of single characters, or it is the gap of up to three words."""
    for operation, argument in items:
        if str(operation) in ("MAX_REPEAT", "MIN_REPEAT"):
            most, inner = argument[1], argument[2]
            is_gap = str(_SYNTAX.SubPattern(items.state, [(operation, argument)])) == GAP
            assert most == 1 or is_gap or inner.getwidth() == (1, 1), name
            if not is_gap:
                _check_repeats(inner, name)
        elif str(operation) == "BRANCH":
            for way in argument[1]:
                _check_repeats(way, name)
        elif str(operation) == "SUBPATTERN":
            _check_repeats(argument[-1], name)


LAZY = """
import sys
import assay
assert assay.score("qa_f1_reward", final_response="Paris", answer="Paris")["reward"] == 1.0
assert "tomllib" not in sys.modules, "another reward has read a table"
assert "assay.text.word_tables" not in sys.modules
import assay.browser.outcome.classify, assay.browser.outcome.notices, assay.browser.outcome.risk
import assay.rewards.outcome.maths.reward
from assay.browser.outcome import classify
from assay.browser.words import languages
from assay.text import languages as maths
from assay.rewards.outcome.maths.read import lexicon, nouns
for reader in (languages.languages, languages.shared, classify.error_rows, maths.languages,
               lexicon.synonyms, nouns.read_nouns):
    assert reader.cache_info().currsize == 0, reader
"""


def test_tables_are_read_when_they_are_first_needed() -> None:
    subprocess.run([sys.executable, "-c", LAZY], check=True)


@dataclass(frozen=True, kw_only=True)
class Shape:
    code: str
    kind: Literal["big", "small"] = "small"
    buys: tuple[str, ...]
    sells: frozenset[str] = frozenset()
    spaced: bool = True


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a package that can be imported as `shop_words`."""
    folder = tmp_path / "shop_words"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "shop_words", raising=False)
    return folder


def test_a_line_break_parts_phrases_as_a_bar_does(package: Path) -> None:
    (package / "en.toml").write_text(
        "code = 'en'\nsells = ['a|b', 'c']\nbuys = '''buy|Pay now\nget'''"
    )
    table = read_table(Shape, "shop_words", "en.toml", fold=str.lower)
    assert table.buys == ("buy", "pay now", "get")
    assert table.sells == frozenset({"a|b", "c"})
    assert table.spaced


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("code = 'en'", r"shop_words/en.toml: the key 'buys' is missing"),
        (
            "code = 'en'\nbuys = 'buy'\nbys = 'x'",
            r"en.toml: unknown key 'bys'; did you mean 'buys'",
        ),
        ("code = 'en'\nbuys = 'buy|pay|Buy'", r"en.toml: buys: 'buy' is there twice"),
        ("code = 'en'\nbuys = ['buy', 'buy']", r"en.toml: buys: 'buy' is there twice"),
        ("code = 3\nbuys = 'buy'", r"en.toml: code: 3 has the wrong type"),
        ("code = 'en'\nkind = 'odd'\nbuys = 'buy'", r"en.toml: kind: 'odd' has the wrong type"),
        ("code = 'en'\nspaced = 1\nbuys = 'buy'", r"en.toml: spaced: 1 has the wrong type"),
        ("code = 'en'\nbuys = 1", r"en.toml: buys: 1 is not a text and not an array"),
        ("code = 'en'\nbuys = [1]", r"en.toml: buys: 1 has the wrong type"),
        ("code = ", r"shop_words/en.toml is not valid TOML"),
    ],
)
def test_a_bad_table_is_named_with_its_key(package: Path, text: str, message: str) -> None:
    (package / "en.toml").write_text(text)
    with pytest.raises(BadRecord, match=message):
        read_table(Shape, "shop_words", "en.toml", fold=str.lower)


def test_rows_are_counted_in_messages(package: Path) -> None:
    (package / "rows.toml").write_text("[[row]]\ncode = 'a'\nbuys = 'b'\n[[row]]\ncode = 'c'\n")
    with pytest.raises(BadRecord, match=r"rows.toml, row 2: the key 'buys' is missing"):
        read_rows(Shape, "shop_words", "rows.toml")
    (package / "rows.toml").write_text("[[rows]]\ncode = 'a'\n")
    with pytest.raises(BadRecord, match="unknown key 'rows'"):
        read_rows(Shape, "shop_words", "rows.toml")


def test_a_pattern_of_phrases_has_gaps_and_choices() -> None:
    pattern = re.compile(phrase_pattern("this/that page * gone") + "(?= )")
    assert pattern.match(" that page is long gone ")
    assert pattern.match(" this page gone ")
    assert not pattern.match(" this page is by now quite gone ")


def test_a_trie_matches_the_longest_phrase() -> None:
    pattern = re.compile(trie_pattern(["is", "is not", "isn't", "a.b"]))
    assert [match[0] for match in pattern.finditer("is not isn't a.b axb is")] == [
        "is not", "isn't", "a.b", "is",
    ]  # fmt: skip


def test_every_table_is_what_its_file_says() -> None:
    document = tomllib.loads(Path(viewer_words.__file__).with_suffix(".toml").read_text("utf-8"))
    assert viewer_words.page_words().words == document["words"]
