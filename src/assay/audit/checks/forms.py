"""Other forms of a right answer, and near misses of it: what rewrites keep and what they change.

Every form is safe for a careful reader: a rewrite means the same whatever the answer is, and a
near miss means something else. Answers that a generator does not understand it leaves alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias

from assay.audit.findings import Sample
from assay.report.variants import variants
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
ELSE: Final = "Bartholomew Quill"
"""A name that is in no gold."""


@dataclass(frozen=True, slots=True)
class Members:
    """A tuple, a set or an interval, taken apart."""

    opening: str
    items: tuple[str, ...]
    closing: str

    def written(self, items: Sequence[str] | None = None) -> str:
        """It with these items."""
        return f"{self.opening}{', '.join(self.items if items is None else items)}{self.closing}"


def is_single(answer: str) -> bool:
    """Whether the answer is one thing: no list, tuple, set, record, alternative or equation."""
    return bool(answer.strip()) and not re.search(r"[,;|{}\[\]()=<>\n]|\bor\b|\band\b|&", answer)


def number_of(answer: str) -> Decimal | None:
    """The number that the answer is, and nothing but it."""
    text = answer.strip()
    return Decimal(text) if NUMBER.fullmatch(text) and len(text) <= 30 else None


def rewrites(kind: Kind, answer: str) -> list[Named]:
    """Forms of an answer that say the same."""
    made = {"maths": _maths_forms, "structured": _record_forms, "qa": _text_forms}.get(kind)
    found = [] if made is None else list(made(answer))
    return _distinct(found, answer)


def near_misses(kind: Kind, sample: Sample, answer: str) -> list[Named]:
    """Answers like it that say something else."""
    listed = [("near miss of the data", text) for text in sample.wrong]
    made: Iterator[Named]
    if kind == "maths":
        made = _maths_misses(answer)
    elif kind == "structured":
        made = _record_misses(answer)
    else:
        made = _text_misses(answer)
    known = {text.strip().casefold() for text in sample.right}
    found = _distinct([*listed, *made], answer)
    return [(name, text) for name, text in found if text.strip().casefold() not in known]


def _distinct(found: Sequence[Named], answer: str) -> list[Named]:
    kept: dict[str, str] = {}
    for name, text in found:
        if text != answer and text not in kept:
            kept[text] = name
    return [(name, text) for text, name in kept.items()]


def _maths_forms(answer: str) -> Iterator[Named]:
    yield "in dollar signs", f"${answer}$"
    yield "spaces around", f" {answer} "
    yield from _number_forms(answer)
    fraction = _FRACTION.fullmatch(answer)
    if fraction:
        yield from _fraction_forms(*fraction.groups())
    members = take_apart(answer)
    if members:
        tight = ",".join(members.items)
        yield "no spaces", f"{members.opening}{tight}{members.closing}"
        yield (
            "sized brackets",
            (f"\\left{members.opening}{', '.join(members.items)}\\right{members.closing}"),
        )
        if members.opening == "\\{":
            yield "set in another order", members.written(members.items[::-1])
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


def take_apart(answer: str) -> Members | None:
    """The members of a tuple, set or interval; `None` for anything else."""
    found = _MEMBERS.fullmatch(answer.strip())
    if found is None:
        return None
    opening, inner, closing = found.groups()
    items = tuple(item.strip() for item in inner.split(","))
    return Members(opening, items, closing) if len(items) > 1 and all(items) else None


def _maths_misses(answer: str) -> Iterator[Named]:
    yield from _number_misses(answer)
    fraction = _FRACTION.fullmatch(answer)
    if fraction and fraction[2] != fraction[3] and int(fraction[2]):
        yield "fraction upside down", f"{fraction[1]}\\frac{{{fraction[3]}}}{{{fraction[2]}}}"
    members = take_apart(answer)
    if members:
        yield from _member_misses(members)
    last = [found for found in NUMBER.finditer(answer) if "." not in found[0]][-1:]
    if last and number_of(answer) is None:
        start, end = last[0].span()
        yield "last number raised by one", f"{answer[:start]}{int(last[0][0]) + 1}{answer[end:]}"


def _member_misses(members: Members) -> Iterator[Named]:
    items = members.items
    if members.opening == "\\{":
        yield "one member missing", members.written(items[:-1])
        yield "one member too many", members.written((*items, "9876"))
    elif len(set(items)) > 1:
        yield "members in another order", members.written(items[::-1])
    other = {"[": "(", ")": "]", "]": ")"}
    if members.opening == "[" or members.closing == "]":
        swapped = Members(members.opening, items, other[members.closing])
        yield "closing bracket exchanged", swapped.written()


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


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def read_record(answer: str) -> Mapping[str, Any] | None:
    """The JSON object that the answer is; `None` for anything else."""
    try:
        record = json.loads(answer)
    except ValueError:
        return None
    return record if isinstance(record, dict) and record else None
