"""The rewards for short factual answers.

`assistantbench_reward` gives BrowserGym's number for AssistantBench, to be compared with other
people's. `fuzzy_answer_reward` grades in four named bands and knows numbers, dates and lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from json.encoder import encode_basestring_ascii
from typing import Literal

from assay.errors import BadParameter
from assay.registry import reward
from assay.rewards.outcome.answers.assistantbench import (
    MAX_CHARS,
    MAX_REFERENCE_ITEMS,
    AnswerMatch,
    Negatives,
    ReferenceAnswer,
    clip,
    count_items,
    read_reference,
    score_answer,
)
from assay.rewards.outcome.answers.decoding import BeyondLimitError
from assay.rewards.outcome.answers.fuzzy import MAX_CHARS as MAX_FUZZY_CHARS
from assay.rewards.outcome.answers.fuzzy import FuzzyAnswer, FuzzyMatch, compare
from assay.schema.score import Abstained, Score, Scored
from assay.schema.values import Unreadable, describe, is_list, read_references, read_response

ASSISTANTBENCH_PARTS = (
    "answered", "reference_raises", "gold_hidden", "items_gold", "items_predicted",
)  # fmt: skip
FUZZY_PARTS = ("answered", "similarity", "token_f1", "edit_similarity")
MAX_ALIASES = 100
NOTE_PAIRS = 20
"""Aligned pairs that the note of a score shows."""


PARITY = (
    "parity with BrowserGym's AssistantBench scorer, which pays numbers by the logarithm of their "
    "ratio (negative ones the other way round, so that some earn more than 1) and texts by words"
)
ACCEPTED = (
    "near_misses_refused", "lazy_constant", "range", "or_list", "negation", "retraction",
    "foreign_denial",
)  # fmt: skip
"""Checks of the audit whose findings parity brings with it."""


@reward(
    name="assistantbench_reward",
    version=1,
    parts=ASSISTANTBENCH_PARTS,
    kind="structured",
    accepts=dict.fromkeys(ACCEPTED, PARITY),
)
def assistantbench_reward(
    final_response: str | None,
    answer: object,
    *,
    hidden_gold: Literal["reference", "abstain"] = "reference",
    negatives: Negatives = "reference",
) -> Score:
    """AssistantBench's score of the answer, equal to BrowserGym 0.14.3 where that has a value.

    Where BrowserGym's scorer raises, the score is 0.0 and the part `reference_raises` 1.0. Against
    an empty reference, the test split's, BrowserGym gives 0.0 to every answer; so does this reward,
    marked by the part `gold_hidden`, unless `hidden_gold="abstain"`. Against a negative reference,
    BrowserGym gives wrong negative numbers more than 1.0; `negatives="mirrored"` compares them as
    their absolute values. No reference at all (`None`) abstains.
    """
    _check_option("hidden_gold", hidden_gold, ("reference", "abstain"))
    _check_option("negatives", negatives, ("reference", "mirrored"))
    lines = _reference_lines(answer)
    if isinstance(lines, Abstained):
        return lines
    if not lines and hidden_gold == "abstain":
        return _abstain("missing_reference", "the gold is empty, as in AssistantBench's test split")
    try:
        reference = read_reference(lines)
    except BeyondLimitError as error:
        return _abstain("unparseable_reference", f"the gold cannot be read: {error}")
    if reference.kind == "json" and count_items(reference.value) > MAX_REFERENCE_ITEMS:
        return _abstain("unparseable_reference", f"the gold has over {MAX_REFERENCE_ITEMS} items")
    response = read_response(final_response)
    if isinstance(response, Unreadable):
        return _abstain("bad_response", f"'final_response' {response.because}")
    match = score_answer(response or "", reference, negatives=negatives)
    return _to_score(match, reference, lines)


@reward(name="fuzzy_answer_reward", version=1, parts=FUZZY_PARTS, kind="qa")
def fuzzy_answer_reward(
    final_response: str | None, answer: object, *, tolerance: float = 0.0
) -> Score:
    """1.0 for the reference, 0.8-0.95 for another form of it, 0.5-0.8 for a near miss, else 0.0.

    `answer` is a text, a number, or a list of either, of which the best match counts. A number
    that is off by no more than `tolerance`, relative to the reference, is a near miss; by default
    another number is another answer. No reference abstains.
    """
    if not 0.0 <= tolerance < 1.0:
        raise BadParameter(f"tolerance is a number from 0 up to 1, not {tolerance!r}")
    references = _references(answer)
    if isinstance(references, Abstained):
        return references
    text = read_response(final_response)
    if isinstance(text, Unreadable):
        return Abstained("bad_response", f"'final_response' {text.because}", FUZZY_PARTS)
    if text is None or not text.strip():
        return _to_fuzzy_score(FuzzyMatch(0.0, "none", "no answer"), "", answered=False)
    best, reference = FuzzyMatch(0.0, "none", ""), ""
    response = FuzzyAnswer(text)
    for candidate in references:
        match = compare(response, candidate, tolerance=tolerance)
        if match.score > best.score or not reference:
            best, reference = match, candidate
    return _to_fuzzy_score(best, reference, answered=True)


def _references(answer: object) -> list[str] | Abstained:
    """The references as texts, or why there are none to compare with."""
    references = read_references(answer)
    if isinstance(references, Unreadable):
        return Abstained("bad_reference", f"'answer' {references.because}", FUZZY_PARTS)
    texts = [text for reference in references for text in _spellings(reference)]
    if not texts:
        because = f"the reference is {answer!r:.80}, which holds no text"
        return Abstained("missing_reference", because, FUZZY_PARTS)
    if len(texts) > MAX_ALIASES or any(len(text) > MAX_FUZZY_CHARS for text in texts):
        because = f"over {MAX_ALIASES} references, or one over {MAX_FUZZY_CHARS} characters"
        return Abstained("unparseable_reference", because, FUZZY_PARTS)
    return texts


def _spellings(reference: object) -> list[str]:
    """How one reference may be written exactly; none for a blank text."""
    if isinstance(reference, str):
        return [reference] if reference.strip() else []
    is_whole = isinstance(reference, float) and reference.is_integer()
    return [str(reference), *([f"{reference:.0f}"] if is_whole else [])]


def _to_fuzzy_score(match: FuzzyMatch, reference: str, *, answered: bool) -> Scored:
    against = f" ({clip(reference)!r})" if reference else ""
    parts = {
        "answered": 1.0 if answered else 0.0,
        "similarity": match.similarity,
        "token_f1": match.token_f1,
        "edit_similarity": match.edit_similarity,
    }
    return Scored(
        match.score, f"{match.band}: {match.because}{against}", parts, {"band": match.band}
    )


def _check_option(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise BadParameter(f"{name} is one of {', '.join(choices)}, not {value!r}")


def _abstain(reason: str, because: str) -> Abstained:
    return Abstained(reason, because, ASSISTANTBENCH_PARTS)


def _reference_lines(answer: object) -> list[str] | Abstained:
    """The lines of the reference that are not blank, or why there are none to compare with."""
    if isinstance(answer, str):
        if len(answer) > MAX_CHARS:
            return _abstain("unparseable_reference", f"the gold has over {MAX_CHARS} characters")
        lines = [line for line in answer.split("\n") if line.strip()]
    else:
        references = read_references(answer)
        if isinstance(references, Unreadable):
            return _abstain("bad_reference", f"'answer' {references.because}")
        if not references and not (is_list(answer) and not answer):
            return _abstain("missing_reference", "there is no gold answer")
        if isinstance(answer, bool) or (
            len(references) > 1 and not all(isinstance(line, str) for line in references)
        ):
            because = f"'answer' is {describe(answer)}; give a text, a number or a list of texts"
            return _abstain("bad_reference", because)
        lines = [str(reference) for reference in references]
    if len(lines) > MAX_REFERENCE_ITEMS:
        return _abstain("unparseable_reference", f"the gold has over {MAX_REFERENCE_ITEMS} lines")
    return lines


def _to_score(match: AnswerMatch, reference: ReferenceAnswer, lines: Sequence[str]) -> Scored:
    because = match.because if lines else "the gold is hidden; BrowserGym gives 0.0 to everything"
    notes: dict[str, str] = {"gold_kind": reference.kind}
    if match.pairs:
        notes["alignment"] = _alignment(match, lines)
    return Scored(
        match.value,
        because,
        {
            "answered": 1.0 if match.answered else 0.0,
            "reference_raises": 1.0 if match.raises else 0.0,
            "gold_hidden": 0.0 if lines else 1.0,
            "items_gold": float(len(lines)),
            "items_predicted": float(len(match.predicted)),
        },
        notes,
    )


def _alignment(match: AnswerMatch, lines: Sequence[str]) -> str:
    """`[reference, predicted, score]` for each aligned pair, as bounded JSON."""
    rows = [
        f"[{_quote(lines[pair.reference])}, {_quote(match.predicted[pair.predicted])}, "
        f"{pair.score:.4f}]"
        for pair in match.pairs[:NOTE_PAIRS]
    ]
    return f"[{', '.join(rows)}]"


def _quote(item: object) -> str:
    # Lone surrogates, which JSON answers may hold, stay escaped: notes are written as UTF-8.
    return encode_basestring_ascii(clip(item))
