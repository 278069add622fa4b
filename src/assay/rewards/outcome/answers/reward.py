"""The rewards for short factual answers.

`assistantbench_reward` gives BrowserGym's number for AssistantBench, to be compared with other
people's. `fuzzy_answer_reward` grades in four named bands and knows numbers, dates and lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from json.encoder import encode_basestring_ascii
from typing import Literal, TypeAlias, get_args

from assay.errors import BadParameter, check_choice
from assay.registry import reward
from assay.rewards.outcome.answers.assistantbench import (
    MAX_CHARS,
    MAX_REFERENCE_ITEMS,
    AnswerMatch,
    BeyondLimitError,
    Negatives,
    ReferenceAnswer,
    clip,
    count_items,
    read_reference,
    score_answer,
)
from assay.rewards.outcome.answers.fuzzy import MAX_CHARS as MAX_FUZZY_CHARS
from assay.rewards.outcome.answers.fuzzy import FuzzyAnswer, FuzzyMatch, compare
from assay.schema.score import Abstained, CannotScore, Score, Scored
from assay.schema.values import Unreadable, describe, is_list, read_references

ASSISTANTBENCH_PARTS = (
    "answered", "reference_raises", "gold_hidden", "items_gold", "items_predicted",
)  # fmt: skip
FUZZY_PARTS = ("answered", "similarity", "token_f1", "edit_similarity")
MAX_ALIASES = 100
NOTE_PAIRS = 20
"""Aligned pairs that the note of a score shows."""

_TOO_MANY = f"over {MAX_REFERENCE_ITEMS}"

HiddenGold: TypeAlias = Literal["reference", "abstain"]

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
    hidden_gold: HiddenGold = "reference",
    negatives: Negatives = "reference",
) -> Score:
    """AssistantBench's score of the answer, equal to that of BrowserGym 0.14.3.

    Where BrowserGym's scorer raises, the score is 0.0 and the part `reference_raises` 1.0. Against
    an empty reference, the test split's, BrowserGym gives 0.0 to every answer; so does this reward,
    marked by the part `gold_hidden`, unless `hidden_gold="abstain"`. Against a negative reference,
    BrowserGym gives wrong negative numbers more than 1.0; `negatives="mirrored"` compares them as
    their absolute values. No reference at all (`None`) abstains.
    """
    check_choice("hidden_gold", hidden_gold, get_args(HiddenGold))
    check_choice("negatives", negatives, get_args(Negatives))
    try:
        lines = _reference_lines(answer)
        if not lines and hidden_gold == "abstain":
            because = "the gold is empty, as in AssistantBench's test split"
            raise CannotScore("missing_reference", because)
        reference = read_reference(lines)
        if reference.kind == "json" and count_items(reference.value) > MAX_REFERENCE_ITEMS:
            raise CannotScore("unparseable_reference", f"the gold has {_TOO_MANY} items")
    except CannotScore as error:
        return error.abstain(ASSISTANTBENCH_PARTS)
    except BeyondLimitError as error:
        because = f"the gold cannot be read: {error}"
        return Abstained("unparseable_reference", because, ASSISTANTBENCH_PARTS)
    match = score_answer(final_response or "", reference, negatives=negatives)
    return _to_score(match, reference, lines)


@reward(name="fuzzy_answer_reward", version=1, parts=FUZZY_PARTS, kind="qa")
def fuzzy_answer_reward(
    final_response: str | None, answer: object, *, tolerance: float = 0.0
) -> Score:
    """1.0 for the reference, 0.8-0.95 for an equal value, 0.5-0.8 for a near miss, else 0.0.

    `answer` is a text, a number, or a list of either, of which the best match counts. A number
    that is off by no more than `tolerance`, relative to the reference, is a near miss; by default
    another number is another answer. No reference abstains.
    """
    if not 0.0 <= tolerance < 1.0:
        raise BadParameter(f"tolerance is {tolerance!r}; choose a number from 0 to less than 1")
    try:
        references = _references(answer)
    except CannotScore as error:
        return error.abstain(FUZZY_PARTS)
    if final_response is None or not final_response.strip():
        best, reference, answered = FuzzyMatch(0.0, "none", "no answer"), "", 0.0
    else:
        response, answered = FuzzyAnswer(final_response), 1.0
        matches = [(compare(response, each, tolerance=tolerance), each) for each in references]
        best, reference = max(matches, key=lambda match: match[0].score)
    against = f" ({clip(reference)!r})" if reference else ""
    numbers = (answered, best.similarity, best.token_f1, best.edit_similarity)
    parts = dict(zip(FUZZY_PARTS, numbers, strict=True))
    return Scored(best.score, f"{best.band}: {best.because}{against}", parts, {"band": best.band})


def _references(answer: object) -> list[str]:
    """Return the reference answers as texts. Raises `CannotScore`."""
    texts = []
    for reference in _read(answer):
        if str(reference).strip():
            texts.append(str(reference))
        # A whole float may be written as one, or without its point.
        if isinstance(reference, float) and reference.is_integer():
            texts.append(f"{reference:.0f}")
    if not texts:
        because = f"the reference is {answer!r:.80}, which holds no text"
        raise CannotScore("missing_reference", because)
    if len(texts) > MAX_ALIASES or any(len(text) > MAX_FUZZY_CHARS for text in texts):
        because = f"over {MAX_ALIASES} references, or one over {MAX_FUZZY_CHARS} characters"
        raise CannotScore("unparseable_reference", because)
    return texts


def _read(answer: object) -> Sequence[object]:
    references = read_references(answer)
    if isinstance(references, Unreadable):
        raise CannotScore("bad_reference", f"'answer' {references.because}")
    return references


def _reference_lines(answer: object) -> list[str]:
    """Return the non-blank lines of the reference. Raises `CannotScore`."""
    if isinstance(answer, str):
        if len(answer) > MAX_CHARS:
            because = f"the gold has over {MAX_CHARS} characters"
            raise CannotScore("unparseable_reference", because)
        lines = [line for line in answer.split("\n") if line.strip()]
    else:
        references = _read(answer)
        if not references and not (is_list(answer) and not answer):
            raise CannotScore("missing_reference", "there is no gold answer")
        if isinstance(answer, bool) or (
            len(references) > 1 and not all(isinstance(line, str) for line in references)
        ):
            because = f"'answer' is {describe(answer)}; give a text, a number or a list of texts"
            raise CannotScore("bad_reference", because)
        lines = [str(reference) for reference in references]
    if len(lines) > MAX_REFERENCE_ITEMS:
        raise CannotScore("unparseable_reference", f"the gold has {_TOO_MANY} lines")
    return lines


def _to_score(match: AnswerMatch, reference: ReferenceAnswer, lines: Sequence[str]) -> Scored:
    because = match.because if lines else "the gold is hidden; BrowserGym gives 0.0 to everything"
    notes: dict[str, str] = {"gold_kind": reference.kind}
    if match.pairs:
        notes["alignment"] = _alignment(match, lines)
    numbers = (match.answered, match.raises, not lines, len(lines), len(match.predicted))
    parts = dict(zip(ASSISTANTBENCH_PARTS, map(float, numbers), strict=True))
    return Scored(match.value, because, parts, notes)


def _alignment(match: AnswerMatch, lines: Sequence[str]) -> str:
    """The aligned pairs as a JSON list of `[reference, predicted, score]`, of limited length."""
    rows = [
        f"[{_quote(lines[pair.reference])}, {_quote(match.predicted[pair.predicted])}, "
        f"{pair.score:.4f}]"
        for pair in match.pairs[:NOTE_PAIRS]
    ]
    return f"[{', '.join(rows)}]"


def _quote(item: object) -> str:
    # Lone surrogates, which JSON answers may hold, stay escaped: notes are written as UTF-8.
    return encode_basestring_ascii(clip(item))
