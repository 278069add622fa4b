"""Generate equivalent forms of a right answer, and similar answers that are wrong.

Every form is safe for a careful reader: a rewrite means the same whatever the answer is, and a
near miss means something else. Answers that a generator does not understand it leaves alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias

from assay.audit.conversations import read_calls
from assay.audit.findings import Sample
from assay.report.form_sensitivity import variants
from assay.schema.audit import Kind

Named: TypeAlias = tuple[str, str]
"""What was done to the answer, and the answer that came of it."""

NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_WHOLE: Final = re.compile(r"-?\d+")
_DECIMAL: Final = re.compile(r"-?\d+\.\d+")
_FRACTION: Final = re.compile(r"(-?)\\frac\{(\d+)\}\{(\d+)\}")
_MEMBERS: Final = re.compile(r"(\\\{|\(|\[)([^()\[\]{}\\]+)(\\\}|\)|\])")
_TEXT_FORMS: Final = frozenset(
    ("lower case", "upper case", "spaces around", "line break after", "article", "full stop")
)
LETTERS: Final = "ABCD"
"""Of the options that a question nearly always has."""
ELSE: Final = "Bartholomew Quill"
"""A name that is in no reference."""


@dataclass(frozen=True, slots=True)
class BracketedList:
    """A tuple, a set or an interval, as its items and its brackets."""

    opening: str
    items: tuple[str, ...]
    closing: str

    def to_text(self, items: Sequence[str] | None = None) -> str:
        return f"{self.opening}{', '.join(self.items if items is None else items)}{self.closing}"


def is_single(answer: str) -> bool:
    """Whether the answer is a single value, not a list, record, alternative or equation."""
    return bool(answer.strip()) and not re.search(r"[,;|{}\[\]()=<>\n]|\bor\b|\band\b|&", answer)


def number_of(answer: str) -> Decimal | None:
    """Parse the whole answer as a number, or return `None`."""
    text = answer.strip()
    return Decimal(text) if NUMBER.fullmatch(text) and len(text) <= 30 else None


def rewrites(kind: Kind, answer: str) -> list[Named]:
    """Return other forms of the answer that have the same meaning."""
    makers = {
        "maths": _maths_forms, "structured": _record_forms, "qa": _text_forms,
        "choice": _letter_forms, "sql": _query_forms, "tools": _call_forms,
    }  # fmt: skip
    return _distinct(makers[kind](answer), answer) if kind in makers else []


def near_misses(kind: Kind, sample: Sample, answer: str) -> list[Named]:
    """Return answers that look similar to the right answer but are wrong."""
    makers: dict[str, Callable[[str], Iterable[Named]]] = {
        "maths": _maths_misses,
        "structured": _record_misses,
        "choice": _letter_misses,
        "tools": _call_misses,
        # Which other program is surely wrong is for the data to say.
        **dict.fromkeys(("code", "files", "sql"), lambda _: ()),
    }
    make = makers.get(kind, _text_misses)
    listed = [("near miss of the data", text) for text in sample.wrong]
    right = {text.strip().casefold() for text in sample.right}
    misses = _distinct([*listed, *make(answer)], answer)
    return [(name, text) for name, text in misses if text.strip().casefold() not in right]


def _distinct(forms: Iterable[Named], answer: str) -> list[Named]:
    """Remove duplicate forms, and forms that equal the answer."""
    names: dict[str, str] = {}
    for name, text in forms:
        if text != answer:
            names.setdefault(text, name)
    return [(name, text) for text, name in names.items()]


def _maths_forms(answer: str) -> Iterator[Named]:
    yield "in dollar signs", f"${answer}$"
    yield "spaces around", f" {answer} "
    yield from _number_forms(answer)
    fraction = _FRACTION.fullmatch(answer)
    if fraction:
        yield from _fraction_forms(*fraction.groups())
    members = split_members(answer)
    if members:
        tight, spaced = (comma.join(members.items) for comma in (",", ", "))
        yield "no spaces", f"{members.opening}{tight}{members.closing}"
        yield "sized brackets", f"\\left{members.opening}{spaced}\\right{members.closing}"
        if members.opening == "\\{":
            yield "set in another order", members.to_text(members.items[::-1])
    left, equals, right = answer.partition("=")
    if equals and "=" not in right:
        yield "sides exchanged", f"{right.strip()} = {left.strip()}"


def _number_forms(answer: str) -> Iterator[Named]:
    number = number_of(answer)
    if number is None:
        return
    if _WHOLE.fullmatch(answer):
        yield "decimal zero", f"{answer}.0"
        if abs(number) >= 1000:
            yield "thousands comma", f"{int(number):,}"
            yield "thousands in braces", f"{int(number):,}".replace(",", "{,}")
            yield "thin space", f"{int(number):,}".replace(",", "\\,")
    if _DECIMAL.fullmatch(answer):
        exact = Fraction(answer)
        sign = "-" if exact < 0 else ""
        yield "as a fraction", f"{sign}\\frac{{{abs(exact.numerator)}}}{{{exact.denominator}}}"
        yield "as a quotient", f"{exact.numerator}/{exact.denominator}"


def _fraction_forms(sign: str, upper: str, lower: str) -> Iterator[Named]:
    yield "display fraction", f"{sign}\\dfrac{{{upper}}}{{{lower}}}"
    yield "text fraction", f"{sign}\\tfrac{{{upper}}}{{{lower}}}"
    yield "quotient", f"{sign}{upper}/{lower}"
    if len(upper) == len(lower) == 1:
        yield "fraction without braces", f"{sign}\\frac{upper}{lower}"
    if int(lower) and 10**6 % int(lower) == 0:
        value = Decimal(upper) / Decimal(lower)
        yield "decimal", f"{sign}{value.normalize():f}"
    yield "not in lowest terms", f"{sign}\\frac{{{2 * int(upper)}}}{{{2 * int(lower)}}}"


def split_members(answer: str) -> BracketedList | None:
    """Split a tuple, set or interval into its items; `None` for any other text."""
    match = _MEMBERS.fullmatch(answer.strip())
    if match is None:
        return None
    opening, inner, closing = match.groups()
    items = tuple(item.strip() for item in inner.split(","))
    return BracketedList(opening, items, closing) if len(items) > 1 and all(items) else None


def _maths_misses(answer: str) -> Iterator[Named]:
    yield from _number_misses(answer)
    fraction = _FRACTION.fullmatch(answer)
    if fraction and fraction[2] != fraction[3] and int(fraction[2]):
        yield "fraction upside down", f"{fraction[1]}\\frac{{{fraction[3]}}}{{{fraction[2]}}}"
    members = split_members(answer)
    if members:
        yield from _member_misses(members)
    last = [match for match in NUMBER.finditer(answer) if "." not in match[0]][-1:]
    if last and number_of(answer) is None:
        start, end = last[0].span()
        yield "last number raised by one", f"{answer[:start]}{int(last[0][0]) + 1}{answer[end:]}"


def _member_misses(members: BracketedList) -> Iterator[Named]:
    items = members.items
    if members.opening == "\\{":
        yield "one member missing", members.to_text(items[:-1])
        yield "one member too many", members.to_text((*items, "9876"))
    elif len(set(items)) > 1:
        yield "members in another order", members.to_text(items[::-1])
    other = {"[": "(", ")": "]", "]": ")"}
    if members.opening == "[" or members.closing == "]":
        swapped = BracketedList(members.opening, items, other[members.closing])
        yield "closing bracket exchanged", swapped.to_text()


def _number_misses(answer: str) -> Iterator[Named]:
    number = number_of(answer)
    if number is None:
        return
    if _WHOLE.fullmatch(answer):
        yield "one more", str(int(number) + 1)
        yield "one less", str(int(number) - 1)
        yield "one more digit", f"{answer}7"
    else:
        yield "last digit raised", str(number + Decimal(1).scaleb(int(number.as_tuple().exponent)))
    if number:
        yield "sign changed", answer.removeprefix("-") if number < 0 else f"-{answer}"
        yield "ten times", f"{number * 10:f}"
    digits = answer.lstrip("-")
    swapped = f"{digits[1:2]}{digits[:1]}{digits[2:]}"
    if _WHOLE.fullmatch(answer) and len(digits) > 1 and swapped != digits and swapped[0] != "0":
        yield "two digits exchanged", answer.replace(digits, swapped)


def _text_forms(answer: str) -> Iterator[Named]:
    for variant in variants(answer):
        named = variant.name in _TEXT_FORMS and variant.right
        if named and (variant.name != "article" or answer[:1].isupper()):
            yield variant.name, variant.text


def _text_misses(answer: str) -> Iterator[Named]:
    yield "another name", ELSE
    number = number_of(answer)
    if number is not None and _WHOLE.fullmatch(answer):
        yield "one more", str(int(number) + 1)
        yield "one more digit", f"{answer}7"
    elif is_single(answer) and not NUMBER.search(answer):
        yield "word doubled into another", f"{answer}{answer}".replace(" ", "")


def _letter_forms(answer: str) -> Iterator[Named]:
    yield "in brackets", f"({answer})"
    yield "full stop", f"{answer}."
    yield "lower case", answer.lower()


def _letter_misses(answer: str) -> Iterator[Named]:
    for letter in LETTERS:
        if letter != answer.strip("(). ").upper():
            yield "another letter", letter


def _record_forms(answer: str) -> Iterator[Named]:
    record = read_record(answer)
    if record is None:
        yield from ((name, text) for name, text in _number_forms(answer) if name == "decimal zero")
        return
    backwards = dict(reversed(list(record.items())))
    yield "keys in another order", json.dumps(backwards, ensure_ascii=False)
    yield "indented", json.dumps(record, ensure_ascii=False, indent=2)
    yield "compact", json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    floats = {key: float(value) if _is_whole(value) else value for key, value in record.items()}
    yield "whole numbers as floats", json.dumps(floats, ensure_ascii=False)


def _record_misses(answer: str) -> Iterator[Named]:
    record = read_record(answer)
    if record is None:
        yield from _number_misses(answer)
        return
    keys, values = list(record), list(record.values())
    if len(keys) > 1:
        yield "values exchanged", json.dumps(dict(zip(keys, values[::-1], strict=True)))
    yield "every value another", json.dumps(dict.fromkeys(keys, ELSE))
    yield "every key another", json.dumps({f"{key}_x": value for key, value in record.items()})


def _query_forms(answer: str) -> Iterator[Named]:
    yield "semicolon", f"{answer};"
    yield "comment after", f"{answer} -- that is all"
    if "'" not in answer and '"' not in answer:
        yield "a line for each word", answer.replace(" ", "\n")


def _call_forms(answer: str) -> Iterator[Named]:
    calls = read_calls(answer)
    if calls:
        backwards = [
            {**one, "arguments": dict(reversed(one["arguments"].items()))} for one in calls
        ]
        yield "arguments in another order", json.dumps(backwards)
        yield "calls in another order", json.dumps(calls[::-1])


def _call_misses(answer: str) -> Iterator[Named]:
    calls = read_calls(answer)
    if calls:
        yield "no call", "I would rather not."
        yield "another function", json.dumps([{**one, "name": "assay_quill"} for one in calls])
        yield "one call less", json.dumps(calls[:-1]) if calls[1:] else "None."


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def read_record(answer: str) -> Mapping[str, Any] | None:
    """Parse the answer as a non-empty JSON object, or return `None`."""
    try:
        record = json.loads(answer)
    except ValueError:
        return None
    return record if isinstance(record, dict) and record else None
