"""Score an answer again in other forms, to show how much its form cost.

The forms are made from the answer alone, never from the reference. Which of them a reward likes
best is chosen by the reference, though, so the reward of the best form is an upper bound: an answer
that hedges between two numbers is "recovered" as the right one of them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from assay.errors import AssayError
from assay.ledger.summary import primary_score, reward_of
from assay.report.attempts import EQUAL
from assay.schema.episode import Episode
from assay.schema.score import Abstained, Score
from assay.scoring.scorer import Scorer

BEST = 1.0
SHOWN_CHARS = 2_000
LONGEST = 20_000
"""Longer answers are not taken apart."""
MOST_FORMS = 48
MOST_NUMBERS = 3
MOST_ITEMS = 200

SCALES = {
    "k": 3, "thousand": 3, "m": 6, "mn": 6, "mio": 6, "million": 6, "b": 9, "bn": 9, "billion": 9,
}  # fmt: skip
QUOTES = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"', "\u00a0": " ", "−": "-", "–": "-"}
)
_LANGUAGE = re.compile(r"[\w+-]{0,20}\s*")
_LEAD = re.compile(
    r"^.{0,400}?\b(?:answer|result|total|value)\b[^\n:]{0,40}?(?:\bis\b|\bare\b|:|=)\s*",
    re.IGNORECASE | re.DOTALL,
)
# A run of spaces or brackets is tried from its start only: from every place in it is quadratic.
_SOURCE = re.compile(
    r"(?<![\s,;(])[\s,;(]+(?:according to|based on|as of|as stated|as listed|source|sources|"
    r"per the|which|because|since|from the)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_NOTE = re.compile(r"(?<!\s)\s*\([^()]{0,300}\)")
_BOLD = re.compile(r"(?:\*\*|__|`)([^*_`\n]{1,300})(?:\*\*|__|`)")
_NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:\d{1,3}(?:[,\u00a0 _']\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?"
    r"(?:\s?(?P<scale>k|thousand|mn|mio|million|bn|billion|m|b)\b)?",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*•+]|\(?\d{1,3}[.)])\s+")
_COMMA = r"(?:(?<!\s)\s+)?,\s+(?:and\s+)?"
SEPARATORS = tuple(
    map(re.compile, (r"\n+", r"(?:(?<!\s)\s+)?;\s*", rf"{_COMMA}|(?<!\s)\s+and\s+", _COMMA))
)
_OBJECT = re.compile(r"\{[^{}]{0,4000}\}")


@dataclass(frozen=True, slots=True)
class ReformattedAnswer:
    """The best other form of an answer, with its reward."""

    reward: float
    form: str
    text: str


class AnswerRescorer:
    """Scores answers again in other forms, with the reward that scored them first."""

    def __init__(self) -> None:
        self._scorers: dict[tuple[str, str], Scorer | None] = {}

    def best(self, episode: Episode) -> ReformattedAnswer | None:
        """The best other form of the answer; `None` if no form scores more."""
        score, reward = primary_score(episode), reward_of(episode)
        if score is None or reward is None or not episode.final_response:
            return None
        key = (score.scorer, repr(sorted(score.params.items())))
        if key not in self._scorers:
            self._scorers[key] = _scorer_of(score)
        scorer = self._scorers[key]
        if scorer is None:
            return None
        columns = episode.columns()
        best: ReformattedAnswer | None = None
        for form in forms(episode.final_response):
            again = scorer({**columns, "final_response": form.text})
            bar = best.reward if best else reward
            if isinstance(again, Abstained) or again.value <= bar + EQUAL:
                continue
            best = ReformattedAnswer(again.value, form.name, form.text[:SHOWN_CHARS])
            if best.reward >= BEST:
                break
        return best


def _scorer_of(score: Score) -> Scorer | None:
    """The reward that gave the score; `None` for a missing reward or one on environments."""
    try:
        scorer = Scorer(score.scorer, score.params)
    except AssayError:
        return None
    needs = scorer.spec.required
    return scorer if "final_response" in needs and "context" not in needs else None


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """One other way to write an answer."""

    name: str
    text: str


def forms(answer: str) -> list[AnswerForm]:
    """The distinct other forms of the answer; forms with small changes come first."""
    if not answer.strip() or len(answer) > LONGEST:
        return []
    by_text: dict[str, AnswerForm] = {answer: AnswerForm("as submitted", answer)}
    cores = list(_cores(answer))
    for form in (*cores, *_values([AnswerForm("", answer), *cores])):
        text = form.text.strip()
        if text and text not in by_text:
            by_text[text] = AnswerForm(form.name, text)
        if len(by_text) > MOST_FORMS:
            break
    return list(by_text.values())[1:]


def _cores(answer: str) -> Iterator[AnswerForm]:
    """The answer without the text around it, in several forms."""
    plain = unicodedata.normalize("NFC", answer).translate(QUOTES).strip()
    yield AnswerForm("plain quotes and Unicode", plain)
    for block in plain.split("```")[1:-1:2][:2]:
        yield AnswerForm("unfenced", _LANGUAGE.sub("", block, count=1))
    for text in (_LEAD.sub("", plain, count=1), plain):
        bare = _SOURCE.sub("", text, count=1)
        yield AnswerForm("without explanation", _trim(bare))
        yield AnswerForm("without remark in brackets", _trim(_NOTE.sub("", bare)))
    yield AnswerForm("without quotes", _trim(plain))
    for bold in _BOLD.findall(plain)[:2]:
        yield AnswerForm("emphasised part", bold)
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    if len(lines) > 1:
        yield AnswerForm("last line", _trim(_LEAD.sub("", lines[-1], count=1)))
        yield AnswerForm("first line", _trim(lines[0]))


def _trim(text: str) -> str:
    return text.strip().strip("\"'`*_").rstrip(".!;,").strip().strip("\"'`*_")


def _values(cores: Iterable[AnswerForm]) -> Iterator[AnswerForm]:
    """Forms of the answer with bare numbers, JSON lists or JSON objects."""
    for core in cores:
        for name, read in (
            (f"list as JSON, {core.name}".rstrip(", "), _lists),
            ("inner JSON objects", _objects),
            ("bare number", _numbers),
        ):
            yield from (AnswerForm(name, text) for text in read(core.text))


def _numbers(text: str) -> Iterator[str]:
    """The first numbers and the last number of the text, in plain digits."""
    matches = list(_NUMBER.finditer(text[:2_000]))
    for match in dict.fromkeys([*matches[: MOST_NUMBERS - 1], *matches[-1:]]):
        digits = match.group().removesuffix(match["scale"] or "").strip()
        digits = re.sub(r"[,\u00a0 _'+]", "", digits)
        scale = SCALES.get((match["scale"] or "").lower(), 0)
        yield _shift(digits, scale) if scale else digits


def _shift(digits: str, places: int) -> str:
    """The number times ten to the power of `places`, without rounding."""
    whole, _, fraction = digits.partition(".")
    if "e" in digits.lower():
        return digits
    shifted = f"{whole}{fraction[:places].ljust(places, '0')}"
    rest = fraction[places:]
    return f"{shifted}.{rest}" if rest else shifted


def _lists(text: str) -> Iterator[str]:
    """The items of a text as a JSON list; lines, commas, semicolons and "and" separate items."""
    swapped = read_json(text.replace('"', "\0").replace("'", '"').replace("\0", "'"))
    if isinstance(swapped, list):
        yield json.dumps(swapped, ensure_ascii=False)
    start, end = text.find("["), text.rfind("]")
    if 0 <= start < end and isinstance(inner := read_json(text[start : end + 1]), list):
        yield json.dumps(inner, ensure_ascii=False)
    for separator in SEPARATORS:
        items = [_trim(_BULLET.sub("", item)) for item in separator.split(text.strip())]
        nonempty = [item for item in items if item]
        if 1 < len(nonempty) <= MOST_ITEMS:
            yield json.dumps(nonempty, ensure_ascii=False)


def _objects(text: str) -> Iterator[str]:
    """The JSON objects in a text, one on each line."""
    values = [read_json(match.group()) or read_json(match.group().replace("'", '"'))
             for match in list(_OBJECT.finditer(text))[:MOST_ITEMS]]  # fmt: skip
    objects = [item for item in values if isinstance(item, dict)]
    if objects:
        yield "\n".join(json.dumps(item, ensure_ascii=False) for item in objects)


def read_json(text: str) -> Any:
    """The JSON value of the text; `None` if the text is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
