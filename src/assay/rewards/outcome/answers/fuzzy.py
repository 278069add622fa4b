"""Compare an answer with a reference, in four bands: exact, form, partial, none.

Numbers are compared as numbers and dates as dates, never letter by letter: another number is
another answer. Words are compared by token F1 and by edit distance, and only what is nearly the
reference is a partial match.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from rapidfuzz.distance import Levenshtein

from assay.text.quantities import AnswerQuantity, quantity_of, same_unit
from assay.text.short_answers import MAX_ITEMS, AnswerReading, read, without_lead_in

Band: TypeAlias = Literal["exact", "form", "partial", "none"]
Form: TypeAlias = Literal[
    "white space", "typography", "letter case", "number", "unit", "list", "date", "punctuation",
    "accents", "lead-in", "percent as fraction", "ambiguous date",
]  # fmt: skip

MAX_CHARS = 10_000
"""Longest response that is compared, unless it is the reference itself."""

FORM_SCORES: dict[Form, float] = {
    "white space": 0.95, "typography": 0.94, "letter case": 0.93, "number": 0.92, "unit": 0.91,
    "list": 0.90, "date": 0.90, "punctuation": 0.88, "accents": 0.86, "lead-in": 0.85,
    "percent as fraction": 0.82, "ambiguous date": 0.80,
}  # fmt: skip
PARTIAL_FLOOR, PARTIAL_CEILING = 0.50, 0.79
MIN_F1 = 0.6
MIN_EDIT = 0.85
MIN_WORD_EDIT = 0.75
"""What each pair of words needs before a whole text counts as misspelt."""
MAX_PROSE_WORDS = 30

_STOPWORDS = frozenset({"of", "and", "in", "at", "on", "for", "to"})
_NEGATIONS = frozenset({"not", "no", "never", "nor", "neither", "isnt", "wasnt", "arent", "cannot"})
_COMPARISONS = frozenset("<>≤≥≠")
_HEDGES = frozenset({"or", "either", "maybe", "perhaps", "possibly", "alternatively"})
_ALTERNATIVE = re.compile(r"\bor\b|[/|;?]", re.IGNORECASE)
_CHUNK = re.compile(
    r"[+-]?\s?[$€£¥]?\s?\d[\d.,]*(?:\s?%|\s?(?:k|thousand|million|mn|billion|bn|percent)\b|M\b)?",
    re.IGNORECASE,
)


class FuzzyMatch(NamedTuple):
    """The result of a fuzzy comparison: the score, its band, and the reason."""

    score: float
    band: Band
    because: str
    similarity: float = 0.0
    """1.0 for exact and form; the place within the band for partial; 0.0 for none."""
    token_f1: float | None = None
    edit_similarity: float | None = None


class FuzzyAnswer:
    """A response that is parsed once and compared with any number of references."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def limit(self) -> str:
        """Why the response is too long to compare; empty if its length is fine."""
        size = len(self.text)
        if size <= MAX_CHARS and not self.text.isascii():
            # One character may stand for many: a ligature is eighteen letters.
            size = len(self.reading.tidy)
        if size <= MAX_CHARS:
            return ""
        return f"limit: the response has {size} characters, over {MAX_CHARS}"

    @cached_property
    def reading(self) -> AnswerReading:
        return read(self.text)

    @cached_property
    def bare(self) -> AnswerReading | None:
        """The answer after "The answer is"; `None` without these words."""
        return without_lead_in(self.reading)


def compare(response: str | FuzzyAnswer, reference: str, *, tolerance: float = 0.0) -> FuzzyMatch:
    answer = FuzzyAnswer(response) if isinstance(response, str) else response
    if answer.text == reference:
        return FuzzyMatch(1.0, "exact", "the same text", 1.0)
    if answer.limit:
        return _none(answer.limit)
    expected = read(reference)
    whole = _compare_readings(answer.reading, expected, tolerance)
    bare = answer.bare
    if bare is None or whole.band == "form":
        return whole
    inner = _compare_readings(bare, expected, tolerance)
    if inner.band == "form":
        return _form("lead-in", at_most=inner.score)
    return max(whole, inner, key=lambda match: match.score)


def _compare_readings(
    response: AnswerReading, reference: AnswerReading, tolerance: float
) -> FuzzyMatch:
    match = _compare_lists(response, reference)
    if match is not None:
        return match
    form = same_value(response, reference)
    if form is not None:
        return _form(form)
    if reference.quantity is not None:
        if response.quantity is not None:
            return _compare_quantities(response.quantity, reference.quantity, tolerance)
        return _find_quantity(response, reference, reference.quantity)
    # Equal dates were matched before; others are of one precision or say nothing of each other.
    pairs = zip(response.dates, reference.dates, strict=False)
    if any(one and other and (one.day is None) == (other.day is None) for one, other in pairs):
        return _none("another date")
    return _compare_words(response, reference)


def same_value(response: AnswerReading, reference: AnswerReading) -> Form | None:
    """The kind of difference between two texts with equal values; `None` if their values differ."""
    if response.pieces == reference.pieces:
        return "white space"
    if response.tidy == reference.tidy:
        return "typography"
    if response.folded == reference.folded:
        return "letter case"
    if response.quantity is not None and reference.quantity is not None:
        return _same_quantity(response.quantity, reference.quantity)
    pairs = zip(response.dates, reference.dates, strict=False)
    agreeing = sum(one is not None and one == other for one, other in pairs)
    if agreeing:
        return "date" if agreeing == 2 else "ambiguous date"
    # Two numbers, or a number and words, are not told apart by their punctuation alone.
    if response.quantity is not None or reference.quantity is not None or not reference.words:
        return None
    if response.numerals != reference.numerals:
        return None
    if response.joined == reference.joined:
        return "punctuation"
    return "accents" if response.joined_unaccented == reference.joined_unaccented else None


def _same_quantity(response: AnswerQuantity, reference: AnswerQuantity) -> Form | None:
    if same_unit(response.unit, reference.unit) and response.value == reference.value:
        return "number" if response.unit == reference.unit else "unit"
    for one, other in ((response, reference), (reference, response)):
        if (one.unit, other.unit) == ("%", "") and one.value == other.value * 100:
            return "percent as fraction"
    return None


def _compare_quantities(
    response: AnswerQuantity, reference: AnswerQuantity, tolerance: float
) -> FuzzyMatch:
    if not same_unit(response.unit, reference.unit):
        return _none(f"another unit, {response.unit} for {reference.unit}")
    off = abs(response.value - reference.value)
    allowed = Fraction(tolerance) * abs(reference.value)
    if off > allowed or not allowed:
        return _none("another number")
    return _partial(float(1 - off / allowed), f"a number within {tolerance:g} of the reference")


def _find_quantity(
    response: AnswerReading, reference: AnswerReading, expected: AnswerQuantity
) -> FuzzyMatch:
    """Match a number inside a sentence: a partial match if it is the only number there."""
    chunks = [chunk.strip(" .,") for chunk in _CHUNK.findall(response.tidy)]
    quantities = [quantity_of(chunk) for chunk in chunks]
    if len(quantities) != 1 or len(response.words) > MAX_PROSE_WORDS:
        return _none("no number" if not quantities else "more than the number")
    if _contradicts(response, reference) or _alternatives(response, reference):
        return _none("the number is denied or one of several")
    quantity = quantities[0]
    if quantity is None or _same_quantity(quantity, expected) is None:
        return _none("another number")
    return _partial(1 / max(1, len(response.words)), "the number, among other words")


def _compare_lists(response: AnswerReading, reference: AnswerReading) -> FuzzyMatch | None:
    """Compare two lists in any order; `None` if neither text is a list."""
    expected = reference.json_list or reference.lines
    json_list = response.json_list
    if len(expected) < 2 and json_list is None:
        return None
    items = json_list if json_list is not None else response.lines
    if len(items) == 1 < len(expected):
        items = items[0].separated
    if len(items) > MAX_ITEMS or len(expected) > MAX_ITEMS:
        return _none(f"limit: over {MAX_ITEMS} items")
    remaining = list(items)
    forms: list[Form] = []
    for target in expected:
        for item in remaining:
            form = same_value(item, target)
            if form is not None:
                forms.append(form)
                remaining.remove(item)
                break
    f1 = 2 * len(forms) / (len(items) + len(expected))
    if f1 == 1:
        return _form("list", at_most=min(FORM_SCORES[form] for form in forms))
    because = f"{len(forms)} of {len(expected)} items, {len(items)} given"
    return _grade(_above(f1, MIN_F1), because, f1, None)


def _compare_words(response: AnswerReading, reference: AnswerReading) -> FuzzyMatch:
    if not reference.numerals <= response.numerals:
        return _none("a number of the reference is missing")
    if _contradicts(response, reference):
        return _none("the response denies something")
    f1 = _token_f1(response.unaccented, reference.unaccented)
    edit = _edit_similarity(response, reference)
    strength = max(_above(f1, MIN_F1), _above(edit, MIN_EDIT))
    choices = _alternatives(response, reference)
    if choices and strength >= 0:
        # Two alternatives are worth the floor of the band, more of them nothing.
        strength = 0.0 if choices == 1 else -1.0
    return _grade(strength, f"token F1 {f1:.3f}, edit similarity {edit:.3f}", f1, edit)


def _token_f1(response: Sequence[str], reference: Sequence[str]) -> float:
    """The F1 of two lists of words; a word that occurs twice counts twice."""
    one, other = (
        [word for word in words if word not in _STOPWORDS] or words
        for words in (response, reference)
    )
    shared = (Counter(one) & Counter(other)).total()
    return 2 * shared / (len(one) + len(other)) if shared else 0.0


def _edit_similarity(response: AnswerReading, reference: AnswerReading) -> float:
    """The similarity of the spelling; 0.0 if numbers differ or a single word is too different."""
    if response.numerals != reference.numerals or not response.words or not reference.words:
        return 0.0
    one, other = response.unaccented, reference.unaccented
    similarity = Levenshtein.normalized_similarity
    if len(one) != len(other):
        return similarity("".join(one), "".join(other), score_cutoff=MIN_EDIT)
    if any(similarity(*pair) < MIN_WORD_EDIT for pair in zip(one, other, strict=True)):
        return 0.0
    return similarity(" ".join(one), " ".join(other))


def _contradicts(response: AnswerReading, reference: AnswerReading) -> bool:
    """Whether the response has a negation or comparison sign that the reference does not have."""
    words, others = response.word_set, reference.word_set
    return bool((words & _NEGATIONS) - others) or words & _COMPARISONS != others & _COMPARISONS


def _alternatives(response: AnswerReading, reference: AnswerReading) -> int:
    """The number of alternatives that the response offers ("A or B"), if the reference has none."""
    if _ALTERNATIVE.search(reference.tidy):
        return 0
    marks = len(_ALTERNATIVE.findall(response.tidy))
    return marks or int(bool((response.word_set & _HEDGES) - reference.word_set))


def _above(similarity: float, threshold: float) -> float:
    """Scale a similarity: 0 at its threshold, 1 for identical texts."""
    return (similarity - threshold) / (1 - threshold)


def _form(form: Form, *, at_most: float = 1.0) -> FuzzyMatch:
    because = f"the same value in another form, {form}"
    return FuzzyMatch(min(FORM_SCORES[form], at_most), "form", because, 1.0)


def _grade(strength: float, because: str, f1: float | None, edit: float | None) -> FuzzyMatch:
    match = _none(because) if strength < 0 else _partial(strength, because)
    return match._replace(token_f1=f1, edit_similarity=edit)


def _partial(strength: float, because: str) -> FuzzyMatch:
    score = PARTIAL_FLOOR + (PARTIAL_CEILING - PARTIAL_FLOOR) * min(1.0, strength)
    return FuzzyMatch(score, "partial", because, min(1.0, strength))


def _none(because: str) -> FuzzyMatch:
    return FuzzyMatch(0.0, "none", because)
