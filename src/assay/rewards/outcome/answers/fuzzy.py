"""How near an answer is to a reference, in four bands: exact, form, partial, none.

Numbers are compared as numbers and dates as dates, never letter by letter: another number is
another answer. Words are compared by token F1 and by edit distance, and only what is nearly the
reference is a partial match.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

from rapidfuzz.distance import Levenshtein

from assay.rewards.outcome.answers.quantities import Quantity, read_quantity, same_unit
from assay.rewards.outcome.answers.reading import (
    MAX_ITEMS,
    Reading,
    json_items,
    line_items,
    read,
    separated_items,
    without_accents,
    without_lead_in,
)

Band: TypeAlias = Literal["exact", "form", "partial", "none"]
Form: TypeAlias = Literal[
    "white space",
    "typography",
    "letter case",
    "number",
    "unit",
    "list",
    "date",
    "punctuation",
    "accents",
    "lead-in",
    "percent as fraction",
    "ambiguous date",
]

MAX_CHARS = 10_000
"""Longest response that is compared, unless it is the reference itself."""

FORM_SCORES: dict[Form, float] = {
    "white space": 0.95,
    "typography": 0.94,
    "letter case": 0.93,
    "number": 0.92,
    "unit": 0.91,
    "list": 0.90,
    "date": 0.90,
    "punctuation": 0.88,
    "accents": 0.86,
    "lead-in": 0.85,
    "percent as fraction": 0.82,
    "ambiguous date": 0.80,
}
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


class Match(NamedTuple):
    """The band of an answer and its place in it."""

    score: float
    band: Band
    because: str
    similarity: float = 0.0
    """1.0 for exact and form; the place within the band for partial; 0.0 for none."""
    token_f1: float | None = None
    edit_similarity: float | None = None


def compare(response: str, reference: str, *, tolerance: float = 0.0) -> Match:
    """How near the response is to one reference."""
    if response == reference:
        return Match(1.0, "exact", "the same text", 1.0)
    if len(response) > MAX_CHARS:
        return _none(f"limit: the response has {len(response)} characters, over {MAX_CHARS}")
    gold, given = read(reference), read(response)
    found = _compare_readings(given, gold, tolerance)
    bare = without_lead_in(given)
    if bare is None or found.band == "form":
        return found
    inner = _compare_readings(bare, gold, tolerance)
    if inner.band == "form":
        return _form("lead-in", at_most=inner.score)
    return max(found, inner, key=lambda match: match.score)


def _compare_readings(given: Reading, gold: Reading, tolerance: float) -> Match:
    listed = _compare_lists(given, gold)
    if listed is not None:
        return listed
    form = same_value(given, gold)
    if form is not None:
        return _form(form)
    if gold.quantity is not None:
        if given.quantity is not None:
            return _compare_quantities(given.quantity, gold.quantity, tolerance)
        return _find_quantity(given, gold, gold.quantity)
    if _is_other_day(given, gold):
        return _none("another date")
    return _compare_words(given, gold)


def same_value(given: Reading, gold: Reading) -> Form | None:
    """What alone tells two texts apart that say the same, or `None` when they do not."""
    if given.text.split() == gold.text.split():
        return "white space"
    if given.tidy == gold.tidy:
        return "typography"
    if given.tidy.casefold() == gold.tidy.casefold():
        return "letter case"
    if given.quantity is not None and gold.quantity is not None:
        return _same_quantity(given.quantity, gold.quantity)
    agreeing = sum(
        one is not None and one == other
        for one, other in zip(given.dates, gold.dates, strict=False)
    )
    if agreeing:
        return "date" if agreeing == 2 else "ambiguous date"
    # Two numbers, or a number and words, are not told apart by their punctuation alone.
    if given.quantity is not None or gold.quantity is not None or not gold.words:
        return None
    if given.numerals != gold.numerals:
        return None
    if "".join(given.words) == "".join(gold.words):
        return "punctuation"
    one, other = without_accents(given.words), without_accents(gold.words)
    return "accents" if "".join(one) == "".join(other) else None


def _same_quantity(given: Quantity, gold: Quantity) -> Form | None:
    if same_unit(given.unit, gold.unit) and given.value == gold.value:
        return "number" if given.unit == gold.unit else "unit"
    if (given.unit, gold.unit) == ("%", "") and given.value == gold.value * 100:
        return "percent as fraction"
    if (given.unit, gold.unit) == ("", "%") and given.value * 100 == gold.value:
        return "percent as fraction"
    return None


def _is_other_day(given: Reading, gold: Reading) -> bool:
    """Whether both are dates of the same precision; equal ones were found before."""
    pairs = zip(given.dates, gold.dates, strict=False)
    return any(one and other and (one.day is None) == (other.day is None) for one, other in pairs)


def _compare_quantities(given: Quantity, gold: Quantity, tolerance: float) -> Match:
    if not same_unit(given.unit, gold.unit):
        return _none(f"another unit, {given.unit} for {gold.unit}")
    off = abs(given.value - gold.value)
    allowed = Fraction(tolerance) * abs(gold.value)
    if off > allowed or not allowed:
        return _none("another number")
    return _partial(float(1 - off / allowed), f"a number within {tolerance:g} of the reference")


def _find_quantity(given: Reading, gold: Reading, wanted: Quantity) -> Match:
    """A number given in words around it: a partial match when it is the only one there."""
    chunks = [chunk.strip(" .,") for chunk in _CHUNK.findall(given.tidy)]
    found = [read_quantity(chunk) for chunk in chunks]
    if len(found) != 1 or len(given.words) > MAX_PROSE_WORDS:
        return _none("no number" if not found else "more than the number")
    if _contradicts(given, gold) or _alternatives(given, gold):
        return _none("the number is denied or one of several")
    if found[0] is None or _same_quantity(found[0], wanted) is None:
        return _none("another number")
    return _partial(1 / max(1, len(given.words)), "the number, among other words")


def _compare_lists(given: Reading, gold: Reading) -> Match | None:
    """The match of two lists, in any order and notation; `None` when neither is a list."""
    wanted = json_items(gold.text) or line_items(gold.text)
    listed = json_items(given.text)
    if len(wanted) < 2 and listed is None:
        return None
    items = listed if listed is not None else line_items(given.text)
    if len(items) == 1 < len(wanted):
        items = separated_items(items[0])
    if len(items) > MAX_ITEMS or len(wanted) > MAX_ITEMS:
        return _none(f"limit: over {MAX_ITEMS} items")
    left = [read(item) for item in items]
    forms: list[Form] = []
    for target in map(read, wanted):
        for item in left:
            form = same_value(item, target)
            if form is not None:
                forms.append(form)
                left.remove(item)
                break
    f1 = 2 * len(forms) / (len(items) + len(wanted))
    if f1 == 1:
        return _form("list", at_most=min(FORM_SCORES[form] for form in forms))
    story = f"{len(forms)} of {len(wanted)} items, {len(items)} given"
    return _graded(_above(f1, MIN_F1), story, f1, None)


def _compare_words(given: Reading, gold: Reading) -> Match:
    if not gold.numerals <= given.numerals:
        return _none("a number of the reference is missing")
    if _contradicts(given, gold):
        return _none("the response denies something")
    f1 = _token_f1(given.words, gold.words)
    edit = _edit_similarity(given, gold)
    strength = max(_above(f1, MIN_F1), _above(edit, MIN_EDIT))
    choices = _alternatives(given, gold)
    if choices and strength >= 0:
        # Two alternatives are worth the floor of the band, more of them nothing.
        strength = 0.0 if choices == 1 else -1.0
    return _graded(strength, f"token F1 {f1:.3f}, edit similarity {edit:.3f}", f1, edit)


def _token_f1(given: Sequence[str], gold: Sequence[str]) -> float:
    """F1 of two bags of words, in which a repeated word counts each time."""
    one, other = (
        [word for word in words if word not in _STOPWORDS] or words
        for words in (without_accents(given), without_accents(gold))
    )
    shared = (Counter(one) & Counter(other)).total()
    return 2 * shared / (len(one) + len(other)) if shared else 0.0


def _edit_similarity(given: Reading, gold: Reading) -> float:
    """Similarity of the spelling; 0.0 where numerals differ or a single word is another one."""
    if given.numerals != gold.numerals or not given.words or not gold.words:
        return 0.0
    one, other = without_accents(given.words), without_accents(gold.words)
    if len(one) != len(other):
        return Levenshtein.normalized_similarity(
            "".join(one), "".join(other), score_cutoff=MIN_EDIT
        )
    pairs = zip(one, other, strict=True)
    if any(Levenshtein.normalized_similarity(*pair) < MIN_WORD_EDIT for pair in pairs):
        return 0.0
    return Levenshtein.normalized_similarity(" ".join(one), " ".join(other))


def _contradicts(given: Reading, gold: Reading) -> bool:
    """Whether the response denies what the reference does not, or compares the other way."""
    said, meant = set(given.words), set(gold.words)
    return bool((said & _NEGATIONS) - meant) or said & _COMPARISONS != meant & _COMPARISONS


def _alternatives(given: Reading, gold: Reading) -> int:
    """How many times the response offers another choice, where the reference offers none."""
    if _ALTERNATIVE.search(gold.tidy):
        return 0
    marks = len(_ALTERNATIVE.findall(given.tidy))
    return marks or int(bool((set(given.words) & _HEDGES) - set(gold.words)))


def _above(similarity: float, threshold: float) -> float:
    """Where a similarity stands between its threshold (0) and identity (1)."""
    return (similarity - threshold) / (1 - threshold)


def _form(form: Form, *, at_most: float = 1.0) -> Match:
    return Match(
        min(FORM_SCORES[form], at_most), "form", f"the same value in another form, {form}", 1.0
    )


def _graded(strength: float, story: str, f1: float | None, edit: float | None) -> Match:
    if strength < 0:
        return _none(story)._replace(token_f1=f1, edit_similarity=edit)
    return _partial(strength, story)._replace(token_f1=f1, edit_similarity=edit)


def _partial(strength: float, story: str) -> Match:
    score = PARTIAL_FLOOR + (PARTIAL_CEILING - PARTIAL_FLOOR) * min(1.0, strength)
    return Match(score, "partial", story, min(1.0, strength))


def _none(story: str) -> Match:
    return Match(0.0, "none", story)
