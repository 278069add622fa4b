"""How a reward depends on the form of an answer: the reward of each variant."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from math import isfinite
from typing import Any, Final, Literal, TypeAlias

from assay.errors import UsageError
from assay.lazy import package_table
from assay.report.alignment import number_in
from assay.report.attempts import EQUAL
from assay.schema.score import Abstained, Score
from assay.scoring.scorer import Scorer

LONGEST = 10_000
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
    """One variant of the reference answer, right or wrong."""

    family: Family
    name: str
    text: str
    right: bool
    """Whether it says what the reference says."""


def variants(reference: str) -> list[AnswerVariant]:
    """The distinct variants of the reference; the first is the reference itself."""
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
    """Variants that choose an option by its letter, right and wrong."""
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
    """Variants with text that models put around an answer."""
    for family, forms in package_table(__package__, "variants")["frames"].items():
        yield from _filled(family, forms, reference)
    yield from _right("JSON", ("JSON string", json.dumps(reference)),
                      ("list of one", json.dumps([reference])),
                      ("object", json.dumps({"answer": reference})))  # fmt: skip


def _letters(reference: str) -> Iterator[AnswerVariant]:
    """Variants of a text: case, Unicode, spaces and an article."""
    decomposed = unicodedata.normalize("NFD", reference)
    wide = {code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}
    yield from _right(
        "case",
        ("lower case", reference.lower()),
        ("upper case", reference.upper()),
        ("title case", reference.title()),
    )
    yield from _right(
        "unicode",
        ("decomposed", decomposed),
        ("composed", unicodedata.normalize("NFC", reference)),
        ("full width", reference.translate(wide)),
        ("without accents", "".join(c for c in decomposed if not unicodedata.combining(c))),
        ("curly apostrophe", reference.replace("'", "’")),
        ("zero-width space", f"{reference}\u200b"),
    )
    if " " in reference:
        yield from _right("white space", ("double spaces", reference.replace(" ", "  ")))
        yield from _right("case", ("hyphens for spaces", reference.replace(" ", "-")))
    if reference[:1].isalpha():
        yield from _right("words", ("article", f"the {reference}"))


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
    """The number without the rounding errors of a multiplication."""
    return float(f"{number:.12g}")


def _decimals(bare: str) -> int:
    return len(bare.partition(".")[2]) if "e" not in bare else 0


def number_words(number: float) -> str:
    """A whole number below 10**9 in English words; empty for any other number."""
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
    """The date that the text states in an unambiguous form; `None` for other texts."""
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
    """Wrong answers, some of which look similar to the reference."""
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


@dataclass(frozen=True, slots=True)
class ScoredVariant(AnswerVariant):
    """One variant of an answer, and its score."""

    reward: float | None
    """`None` when the reward abstained."""
    because: str


@dataclass(frozen=True, slots=True)
class FormSensitivity:
    """A reward's scores for every variant of one right answer."""

    reward: str
    """`name@version`."""
    params: Mapping[str, Any]
    gold: str
    full: float | None
    """The best that any right form scores."""
    rows: tuple[ScoredVariant, ...]

    @property
    def losing(self) -> tuple[ScoredVariant, ...]:
        """Right forms that score less than the best right form."""
        full = self.full or 0.0
        return tuple(row for row in self.rows if row.right and (row.reward or 0.0) < full - EQUAL)

    @property
    def gaining(self) -> tuple[ScoredVariant, ...]:
        """Wrong answers whose reward is above 0."""
        return tuple(row for row in self.rows if not row.right and (row.reward or 0.0) > EQUAL)

    @property
    def sentence(self) -> str:
        """The finding in one sentence."""
        right = sum(row.right for row in self.rows)
        wrong = len(self.rows) - right
        most = Counter(row.family for row in self.losing).most_common(4)
        rest = len(self.losing) - sum(n for _, n in most)
        named = [f"{name} {n}" for name, n in (*most, *([("others", rest)] if rest else []))]
        where = f" ({', '.join(named)})" if named else ""
        return (
            f"{len(self.losing)} of {right} right forms lose points{where}; "
            f"{len(self.gaining)} of {wrong} wrong answers gain some"
        )

    def to_record(self) -> dict[str, Any]:
        """The table as plain JSON values."""
        return {
            **asdict(self),
            "losing": [row.name for row in self.losing],
            "gaining": [row.name for row in self.gaining],
            "sentence": self.sentence,
        }


CHOICES = "choices"
"""The column of a reward whose answers may be letters."""
FILLED = frozenset({"answer", "golden_answers", "task_id", "goal", "final_response", "trajectory"})
"""What a probe hands to every reward."""


def probe(
    reward: str | Scorer,
    answer: str,
    *,
    params: Mapping[str, Any] | None = None,
    columns: Mapping[str, Any] | None = None,
) -> FormSensitivity:
    """Score variants of the right `answer`: other right forms and similar wrong answers.

    A reward that asks for a trajectory gets a short one in which a tool was used; `columns` fills
    in whatever else it asks for. Raises `UsageError` for a reward that scores the state of an
    environment or has no reference answer, and for columns that are missing.
    """
    if not answer.strip() or len(answer) > LONGEST:
        raise UsageError(f"the reference answer must have 1 to {LONGEST} characters")
    scorer = reward if isinstance(reward, Scorer) else Scorer(reward, params)
    needs = (*scorer.spec.required, *scorer.spec.optional)
    scores = "" if "answer" in needs else "compares a response with no reference answer"
    if "context" in scorer.spec.required or "final_response" not in needs:
        scores = "scores what happened in an environment, not the form of an answer"
    if scores:
        raise UsageError(f"{scorer.spec.name} {scores}; there is nothing to vary")
    missing = [name for name in scorer.spec.required if name not in {*FILLED, *(columns or {})}]
    if missing:
        raise UsageError(
            f"{scorer.spec.name} also needs {', '.join(map(repr, missing))}; give these columns"
        )
    forms = variants(answer)
    if CHOICES in needs and len(answer.strip()) == 1 and answer.strip().isalpha():
        forms += choice_variants(answer.strip())
    rows = tuple(_score(scorer, variant, answer, columns or {}) for variant in forms)
    right = [row.reward for row in rows if row.right and row.reward is not None]
    return FormSensitivity(scorer.spec.id, scorer.params, answer, max(right, default=None), rows)


def _score(
    scorer: Scorer, variant: AnswerVariant, reference: str, columns: Mapping[str, Any]
) -> ScoredVariant:
    task = {"answer": reference, "golden_answers": [reference], "task_id": "probe", "goal": ""}
    attempt = {"final_response": variant.text, "trajectory": _trajectory(variant.text)}
    score: Score = scorer({**task, **columns, **attempt})
    value = None if isinstance(score, Abstained) else score.value
    return ScoredVariant(**asdict(variant), reward=value, because=score.because)


def _trajectory(answer: str) -> list[dict[str, Any]]:
    """A short conversation with a tool call, its result and the answer."""
    function = {"name": "search", "arguments": "{}"}
    call = {"id": "call_1", "type": "function", "function": function}
    return [
        {"role": "user", "content": "What is it?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "name": "search", "content": "found"},
        {"role": "assistant", "content": answer},
    ]
