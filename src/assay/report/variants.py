"""Systematic variants of a reference: other forms of the right one, and wrong ones like it."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import isfinite
from typing import Final, Literal, TypeAlias

from assay.lazy import package_table
from assay.report.alignment import number_in

Family: TypeAlias = Literal[
    "gold", "case", "white space", "unicode", "quotes", "markdown", "explanation", "JSON",
    "number", "units", "words", "date", "list", "letter", "wrong",
]  # fmt: skip

MOST_WORDS = 10**9
_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS: Final = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
_ELSE: Final = "Bartholomew Quill"
"""A name that is in no reference."""


@dataclass(frozen=True, slots=True)
class AnswerVariant:
    """One way to answer."""

    family: Family
    name: str
    text: str
    right: bool
    """Whether it says what the reference says."""


def variants(reference: str) -> list[AnswerVariant]:
    """Distinct variants of the reference, which comes first itself."""
    items = [line.strip() for line in reference.splitlines() if line.strip()]
    number = number_in(reference)
    by_text: dict[str, AnswerVariant] = {}
    for variant in (
        AnswerVariant("gold", "the gold itself", reference, right=True),
        *_frames(reference),
        *(_list_forms(items) if len(items) > 1 else _letters(reference)),
        *(_numbers(reference, number) if number is not None else ()),
        *_dates(reference),
        *_wrong(reference, items, number),
    ):
        by_text.setdefault(variant.text, variant)
    return list(by_text.values())


def choice_variants(letter: str) -> list[AnswerVariant]:
    """Forms in which an option is chosen by its letter, and choices of others."""
    other = "A" if letter.upper() != "A" else "B"
    forms = package_table(__package__, "variants")["letter"]
    return [
        AnswerVariant(
            "letter" if right else "wrong",
            name,
            form.replace("{}", letter).replace("{other}", other).replace("{small}", other.lower()),
            right,
        )
        for right in (True, False)
        for name, form in forms["right" if right else "wrong"].items()
    ]


def _right(family: Family, *named: tuple[str, str]) -> Iterator[AnswerVariant]:
    return (AnswerVariant(family, name, text, right=True) for name, text in named)


def _filled(family: Family, forms: Mapping[str, str], text: str) -> Iterator[AnswerVariant]:
    return _right(family, *((name, form.replace("{}", text)) for name, form in forms.items()))


def _frames(reference: str) -> Iterator[AnswerVariant]:
    """What models put around an answer."""
    for family, forms in package_table(__package__, "variants")["frames"].items():
        yield from _filled(family, forms, reference)
    yield from _right("JSON", ("JSON string", json.dumps(reference)),
                      ("list of one", json.dumps([reference])),
                      ("object", json.dumps({"answer": reference})))  # fmt: skip


def _letters(reference: str) -> Iterator[AnswerVariant]:
    """Forms of a text; a text without letters has none."""
    yield from _right(
        "case",
        ("lower case", reference.lower()),
        ("upper case", reference.upper()),
        ("title case", reference.title()),
    )
    yield from _right(
        "unicode",
        ("decomposed", unicodedata.normalize("NFD", reference)),
        ("composed", unicodedata.normalize("NFC", reference)),
        ("full width", "".join(_wide(char) for char in reference)),
        ("without accents", _plain(reference)),
        ("curly apostrophe", reference.replace("'", "’")),
        ("zero-width space", f"{reference}\u200b"),
    )
    if " " in reference:
        yield from _right("white space", ("double spaces", reference.replace(" ", "  ")))
        yield from _right("case", ("hyphens for spaces", reference.replace(" ", "-")))
    if reference[:1].isalpha():
        yield from _right("words", ("article", f"the {reference}"))


def _wide(char: str) -> str:
    return chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char


def _plain(text: str) -> str:
    parts = unicodedata.normalize("NFD", text)
    return "".join(char for char in parts if not unicodedata.combining(char))


def _numbers(reference: str, number: float) -> Iterator[AnswerVariant]:
    """Forms of a number."""
    bare = _digits(number)
    yield from _right(
        "number",
        ("bare", bare),
        ("one more decimal", f"{bare}0" if "." in bare else f"{bare}.0"),
        ("two decimals", f"{number:.2f}" if round(number, 2) == number else bare),
        ("thousands commas", f"{number:,.{_decimals(bare)}f}"),
        ("thousands spaces", f"{number:,.{_decimals(bare)}f}".replace(",", " ")),
        ("decimal comma", bare.replace(".", ",")),
        ("scientific", f"{number:e}" if float(f"{number:e}") == number else bare),
        ("plus sign", f"+{bare}" if number >= 0 else bare),
        ("leading zero", f"0{bare}" if number >= 0 else bare),
    )
    yield from _filled("units", package_table(__package__, "variants")["units"], bare)
    if number.is_integer() and abs(number) >= 1000 and number % 100 == 0:
        yield from _right("units", ("k", f"{number / 1000:g}k"), ("M", f"{number / 1e6:g}M"))
    words = number_words(number)
    if words:
        yield from _right("words", ("in words", words))
    if not reference.strip()[-1:].isdigit() or not reference.strip()[:1].isdigit():
        yield from _right("number", ("without sign or unit", bare))


def _digits(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)


def _round(number: float) -> float:
    """The number without the dust of its multiplication."""
    return float(f"{number:.12g}")


def _decimals(bare: str) -> int:
    return len(bare.partition(".")[2]) if "e" not in bare else 0


def number_words(number: float) -> str:
    """The whole number in English words, below a thousand million; empty for any other."""
    if not number.is_integer() or not 0 <= number < MOST_WORDS:
        return ""
    n = int(number)
    for size, name in ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred")):
        if n >= size:
            rest = number_words(float(n % size)) if n % size else ""
            return f"{number_words(float(n // size))} {name} {rest}".strip()
    if n < 20:
        return _ONES[n]
    return _TENS[n // 10] + (f"-{_ONES[n % 10]}" if n % 10 else "")


def _dates(reference: str) -> Iterator[AnswerVariant]:
    day = read_date(reference)
    forms = package_table(__package__, "variants")["dates"]
    if day is not None:
        yield from _right("date", *((name, day.strftime(form)) for name, form in forms.items()))


def read_date(text: str) -> date | None:
    """The day that the text names in one of the unambiguous forms."""
    for form in ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%b %d, %Y", "%Y/%m/%d", "%B %d %Y"):
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC).date()
        except ValueError:
            continue
    return None


def _list_forms(items: Sequence[str]) -> Iterator[AnswerVariant]:
    """Forms of a list."""
    backwards = list(reversed(items))
    yield from _right(
        "list",
        ("lines, reversed", "\n".join(backwards)),
        ("commas", ", ".join(items)),
        ("commas and 'and'", f"{', '.join(items[:-1])} and {items[-1]}"),
        ("semicolons", "; ".join(items)),
        ("slashes", " / ".join(items)),
        ("bullets", "\n".join(f"- {item}" for item in items)),
        ("numbered", "\n".join(f"{n}. {item}" for n, item in enumerate(items, 1))),
        ("JSON list", json.dumps(items, ensure_ascii=False)),
        ("JSON list, reversed", json.dumps(backwards, ensure_ascii=False)),
        ("Python list", repr(list(items))),
        ("fenced JSON", f"```json\n{json.dumps(items, ensure_ascii=False)}\n```"),
    )
    yield from _right("case", ("lower case", json.dumps([item.lower() for item in items])))


def _wrong(reference: str, items: Sequence[str], number: float | None) -> Iterator[AnswerVariant]:
    """Answers that are not the reference, however they look."""
    named: list[tuple[str, str]] = [
        ("nothing", ""),
        ("a space", " "),
        ("I don't know", "I don't know"),
        ("another name", _ELSE),
        ("denied", f"not {reference}"),
        ("hedged", f"{reference} or {_ELSE}"),
        ("drowned", f"{reference} {' '.join(f'word{n}' for n in range(30))}"),
        ("NaN", "NaN"),
        ("true", "true"),
    ]
    if number is not None and isfinite(number):
        named += [(name, _digits(_round(number * factor))) for name, factor in _FACTORS if number]
        named += [("one more", _digits(number + 1)), ("zero", "0")] if number else []
        ends = (_digits(_round(number * factor)) for factor in (0.5, 1.5))
        named += [("range around it", "-".join(ends))]
    elif len(items) > 1:
        named += _wrong_lists(items)
    elif " " in reference.strip():
        words = reference.split()
        named += [("first word only", words[0]), ("last word only", words[-1])]
        named += [("last word changed", " ".join([*words[:-1], "Quill"]))]
        named += [("words repeated", f"{reference} {reference} {reference}")]
    yield from (AnswerVariant("wrong", name, text, right=False) for name, text in named)


_FACTORS: Final = (
    ("0.5 % more", 1.005), ("5 % more", 1.05), ("25 % less", 0.75), ("twice", 2.0),
    ("a hundredth", 0.01), ("a thousand times", 1000.0), ("negative", -1.0),
)  # fmt: skip


def _wrong_lists(items: Sequence[str]) -> list[tuple[str, str]]:
    wrong = {
        "one item missing": items[:-1],
        "first item only": items[:1],
        "one item too many": [*items, _ELSE],
        "one item changed": [*items[:-1], _ELSE],
        "first item repeated": [items[0]] * len(items),
    }
    return [(name, json.dumps(list(some), ensure_ascii=False)) for name, some in wrong.items()]
