"""AssistantBench's scoring rules, as BrowserGym 0.14.3 implements them.

The reference decides the rule: a number is compared by the logarithm of the ratio, a string by
token F1, several lines by the best one-to-one alignment of their token sets, and JSON objects by
the best alignment of their keys and values. `score_answer` gives the value of BrowserGym's
`question_scorer` wherever that returns one. Where it raises, the value is 0.0 and `raises` is set.

The semantics, quirks included, restate BrowserGym's AssistantBench evaluator (Apache-2.0,
ServiceNow and the AssistantBench authors); the code is ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import accumulate
from math import isfinite, isnan, log
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from assay.rewards.outcome.bags import (
    BagPair,
    TokenBag,
    align,
    align_bags,
    bag_f1,
    bag_of,
    mean_score,
)

MAX_CHARS = 100_000
"""Longest answer, and longest reference, that is read."""
MAX_REFERENCE_ITEMS = 100
MAX_PAIRS = 20_000
"""Most pairs of a reference item with a predicted one; the alignment is cubic at worst."""
MAX_NESTING = 100
"""Deepest brackets in an answer that are read as JSON."""

NOT_JSON: Final = object()
_COMPOUND_STARTS = frozenset('{["')
_SCALAR_STARTS = frozenset("-0123456789tfnNI")
_SCALAR = re.compile(
    r"[ \t\n\r]*(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
    r"|true|false|null|NaN|-?Infinity)[ \t\n\r]*"
)

ReferenceKind: TypeAlias = Literal["number", "string", "string list", "json"]
Negatives: TypeAlias = Literal["reference", "mirrored"]

_DIGITS = frozenset("0123456789")
_ZERO = 1e-4
"""What stands for zero in a ratio."""


class ReferenceAnswer(NamedTuple):
    """A reference answer, and the type of answer that decides its scoring rule."""

    kind: ReferenceKind
    value: Any  # a float, a text, a list of texts, or a list of decoded JSON values


class AnswerMatch(NamedTuple):
    """The score of one answer against the reference, with the compared items."""

    value: float
    because: str
    answered: bool = True
    raises: bool = False
    predicted: Sequence[object] = ()
    """The predicted items, as they were compared."""
    pairs: Sequence[BagPair] = ()


class _BrowserGymRaisesError(Exception):
    """BrowserGym's scorer raises an exception for this answer."""


class BeyondLimitError(Exception):
    """The text is too long, is nested too deeply or has too many items."""


def read_reference(lines: Sequence[str]) -> ReferenceAnswer:
    """Read the reference answer from its lines, without blank lines."""
    if len(lines) == 1:
        number = to_number(lines[0])
        if number is not None:
            return ReferenceAnswer("number", number)
    values = [decode(with_json_quotes(line)) for line in lines]
    if NOT_JSON in values:
        if len(lines) == 1:
            return ReferenceAnswer("string", lines[0])
        return ReferenceAnswer("string list", list(lines))
    return ReferenceAnswer("json", values)


def score_answer(
    text: str, reference: ReferenceAnswer, *, negatives: Negatives = "reference"
) -> AnswerMatch:
    mirrored = negatives == "mirrored"
    if len(text) > MAX_CHARS:
        return AnswerMatch(0.0, f"limit: the answer has {len(text)} characters, over {MAX_CHARS}")
    try:
        prediction = _read_prediction(text, reference)
        answered = _is_answered(prediction)
        items = prediction if type(prediction) is list else ()
        is_empty = type(prediction) is not float and len(prediction) == 0
        if is_empty or (reference.kind == "number" and len(items) > 1):
            why = "no answer" if not answered else "several answers for one number"
            match = AnswerMatch(0.0, f"{reference.kind}: {why}", predicted=items)
        elif reference.kind == "number":
            match = _score_number(prediction, reference.value, mirrored=mirrored)
        elif reference.kind == "json":
            match = _score_json(prediction, reference.value, mirrored=mirrored)
        else:
            match = _score_strings(prediction, reference)
        return match._replace(answered=answered)
    except _BrowserGymRaisesError as error:
        because = f"{reference.kind}: BrowserGym's scorer raises: {error}"
        return AnswerMatch(0.0, because, raises=True)
    except BeyondLimitError as error:
        return AnswerMatch(0.0, f"limit: {error}")


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        raise _BrowserGymRaisesError("OverflowError, the integer is too large") from None


def _read_prediction(text: str, reference: ReferenceAnswer) -> Any:
    if text[:1] in _DIGITS:
        try:
            number = float(text)
        except ValueError:
            pass
        else:
            # JSON spells the same number, except for integers that no float holds.
            if isfinite(number):
                return [number] if reference.kind == "json" else number
    decoded = decode(text)
    return _to_evaluated_shape(text if decoded is NOT_JSON else decoded, reference)


def _to_evaluated_shape(prediction: Any, reference: ReferenceAnswer) -> Any:
    """Return the prediction in the types that BrowserGym's evaluators receive."""
    if type(prediction) is list:
        if len(prediction) != 1:
            return prediction
        only = prediction[0]
        if type(only) is int:
            prediction = (_as_float(only), True)
        elif type(only) is str and only.isnumeric():
            number = to_number(only)
            prediction = (only, False) if number is None else (number, True)
        else:
            return prediction
    elif type(prediction) is int:
        prediction = _as_float(prediction)
    elif type(prediction) is str:
        number = to_number(prediction)
        prediction = prediction if number is None else number
    if reference.kind != "json":
        return prediction
    lines = prediction.split("\n") if type(prediction) is str else []
    values = [decode(line) for line in lines]
    return values if values and NOT_JSON not in values else [prediction]


def _is_answered(prediction: Any) -> bool:
    if prediction is None or prediction is True or prediction is False:
        raise _BrowserGymRaisesError(f"TypeError, a bare JSON {json.dumps(prediction)}")
    if type(prediction) is float:
        return not isnan(prediction)
    if len(prediction) == 0 or _is_lone_nan(prediction):
        return False
    return type(prediction) is not list or not all(map(_is_void, prediction))


def _is_void(item: Any) -> bool:
    if item is None or item is True or item is False:
        raise _BrowserGymRaisesError(f"TypeError, a JSON {json.dumps(item)} in a list")
    return _is_lone_nan(item) or (type(item) not in (float, int) and len(item) == 0)


def _is_lone_nan(value: Any) -> bool:
    while type(value) is list and len(value) == 1:
        value = value[0]
    return type(value) is float and isnan(value)


def _score_number(prediction: Any, reference: float, *, mirrored: bool) -> AnswerMatch:
    if type(prediction) is str:
        because = f"number: {clip(prediction)!r} is no number"
        return AnswerMatch(0.0, because, predicted=(prediction,))
    if type(prediction) is not float:
        raise _BrowserGymRaisesError("TypeError, a list or an object instead of a number")
    value = log_closeness(prediction, reference, mirrored=mirrored)
    because = f"number: {prediction!r} against {reference!r}"
    if isfinite(value):
        because = f"{because}, 1 - |ln ratio| = {value:.3f}"
    else:
        value, because = 0.0, f"{because} is infinity in BrowserGym, no score"
    return AnswerMatch(value, because, predicted=(prediction,))


def log_closeness(predicted: float, reference: float, *, mirrored: bool = False) -> float:
    """Return 1 - ln(greater / smaller) of two numbers, but at least 0.

    Two negative numbers divide the other way round in BrowserGym, so a wrong one scores above
    1.0, and up to infinity; `mirrored` gives them what their absolute values would get.
    """
    if predicted == reference == 0:
        return 1.0
    first, second = predicted or _ZERO, reference or _ZERO
    ratio = first / second if first > second else second / first
    if ratio == 0:
        return 0.0 if mirrored else float("inf")
    # NaN fails this too.
    if not ratio > 0:
        return 0.0
    return max(0.0, 1.0 - (abs(log(ratio)) if mirrored else log(ratio)))


def _score_strings(prediction: Any, reference: ReferenceAnswer) -> AnswerMatch:
    items = prediction if type(prediction) is list else [prediction]
    expected = [reference.value] if reference.kind == "string" else reference.value
    _check_pairs(len(items), len(expected))
    texts = items if type(prediction) is list else [str(prediction)]
    predicted = _bags(texts)
    if predicted is None:
        because = f"{reference.kind}: the answer lists something that is not text"
        return AnswerMatch(0.0, because, predicted=items)
    if len(predicted) == len(expected) == 1:
        value = bag_f1(predicted[0], bag_of(expected[0]))
        because = f"{reference.kind}: token F1 {value:.3f} against {clip(expected[0])!r}"
        return AnswerMatch(value, because, predicted=texts, pairs=(BagPair(0, 0, value),))
    pairs = align_bags(predicted, [bag_of(text) for text in expected])
    value = mean_score(pairs, max(len(predicted), len(expected)))
    because = _alignment_summary(reference.kind, pairs, len(predicted), len(expected), value)
    return AnswerMatch(value, because, predicted=texts, pairs=pairs)


def _bags(texts: Sequence[object]) -> list[TokenBag] | None:
    """Return the token bag of each text, or `None` if an item is not text."""
    bags = [bag_of(text) for text in texts if isinstance(text, str)]
    return bags if len(bags) == len(texts) else None


def _score_json(prediction: list[Any], reference: list[Any], *, mirrored: bool) -> AnswerMatch:
    if type(prediction[0]) is not dict:
        because = "json: the answer is not a JSON object, one per line or in a list"
        return AnswerMatch(0.0, because, predicted=prediction)
    if not reference:
        return AnswerMatch(0.0, "json: there is no gold", predicted=prediction)
    _check_pairs(count_items(prediction), count_items(reference))
    expected = [_prepare(item) for item in reference]
    predicted = [_prepare(item) for item in prediction]
    pairs = align([[_pair_f1(item, target, mirrored) for item in predicted] for target in expected])
    value = mean_score(pairs, max(len(predicted), len(expected)))
    because = _alignment_summary("json", pairs, len(predicted), len(expected), value)
    return AnswerMatch(value, because, predicted=prediction, pairs=pairs)


class _Field(NamedTuple):
    """One value of a JSON object, prepared for comparison."""

    type: type
    number: float
    bags: list[TokenBag] | None


def _prepare(item: Any) -> dict[str, _Field]:
    if type(item) is not dict:
        raise _BrowserGymRaisesError("AttributeError, an item that is not an object")
    if not item:
        raise _BrowserGymRaisesError("ValueError, an object without keys")
    return {key: _field(value) for key, value in item.items()}


def _field(value: Any) -> _Field:
    if type(value) is str:
        # BrowserGym reads square kilometers in answers, but not inside objects.
        number = None if " square kilometers" in value else to_number(value)
        if number is None:
            return _Field(str, 0.0, [bag_of(value)])
        return _Field(float, number, None)
    if type(value) is int:
        return _Field(float, _as_float(value), None)
    if type(value) is float:
        return _Field(float, value, None)
    if type(value) is list:
        return _Field(list, 0.0, _bags(value))
    return _Field(type(value), 0.0, [bag_of(str(value))] if type(value) is bool else None)


def _pair_f1(predicted: dict[str, _Field], expected: dict[str, _Field], mirrored: bool) -> float:
    """The F1 of two objects: recall over the reference's keys, precision over the answer's keys."""
    recall = precision = 0.0
    for key, target in expected.items():
        field = predicted.get(key)
        if field is None:
            continue
        if target.type in (dict, type(None)):
            raise _BrowserGymRaisesError("KeyError, a null or an object inside the gold")
        if field.type is target.type:
            recall += _field_score(field, target, mirrored)
            precision += _field_score(target, field, mirrored)
    recall /= len(expected)
    precision /= len(predicted)
    total = precision + recall
    if total == 0:
        return 0.0
    f1 = 2 * (precision * recall) / total
    if not isfinite(f1):
        raise _BrowserGymRaisesError("ValueError, a pair without a finite score")
    return f1


def _field_score(predicted: _Field, expected: _Field, mirrored: bool) -> float:
    if expected.type is float:
        return log_closeness(predicted.number, expected.number, mirrored=mirrored)
    if predicted.bags is None or expected.bags is None:
        return 0.0
    if len(predicted.bags) == len(expected.bags) == 1:
        return bag_f1(predicted.bags[0], expected.bags[0])
    pairs = align_bags(predicted.bags, expected.bags)
    return mean_score(pairs, max(len(predicted.bags), len(expected.bags)))


def count_items(items: Sequence[object]) -> int:
    """The number of items in an answer; items of lists inside objects count too."""
    values = (value for item in items if isinstance(item, dict) for value in item.values())
    return len(items) + sum(len(value) for value in values if isinstance(value, list))


def _check_pairs(predicted: int, expected: int) -> None:
    if predicted * expected > MAX_PAIRS:
        raise BeyondLimitError(
            f"{predicted} predicted items times {expected} gold items are over {MAX_PAIRS} pairs"
        )


def _alignment_summary(
    kind: str, pairs: Sequence[BagPair], predicted: int, expected: int, value: float
) -> str:
    hits = f"{sum(pair.score > 0 for pair in pairs)} of {expected} gold items matched"
    mean = f"mean over {max(predicted, expected)} = {value:.3f}"
    return f"{kind}: {hits} by {predicted} predicted, {mean}"


def clip(value: object, width: int = 60) -> str:
    """The first characters of a value as text, short enough for a note."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= width else text[: width - 1] + "…"


def decode(text: str) -> Any:
    """Parse the text as JSON; `NOT_JSON` if it is not valid JSON."""
    start = text.lstrip(" \t\n\r")[:1]
    if start in _SCALAR_STARTS:
        # A failing parser composes a message at length; most answers are not JSON.
        if not _SCALAR.fullmatch(text):
            return NOT_JSON
    elif start not in _COMPOUND_STARTS:
        return NOT_JSON
    elif _nesting(text) > MAX_NESTING:
        raise BeyondLimitError(f"the JSON has more than {MAX_NESTING} levels of nesting")
    try:
        return json.loads(text)
    except ValueError:
        return NOT_JSON
    except RecursionError:
        raise BeyondLimitError("the JSON is nested too deeply for Python's parser") from None


def _nesting(text: str) -> int:
    """The greatest depth of open brackets; brackets inside strings count too."""
    if text.count("[") + text.count("{") <= MAX_NESTING:
        return 0
    return max(accumulate((char in "[{") - (char in "]}") for char in text))


def with_json_quotes(line: str) -> str:
    """Replace the single quotes of a printed Python dictionary with double quotes."""
    if "'" not in line:
        return line
    for python, standard in (("{'", '{"'), ("', '", '", "'), ("': '", '": "'), ("'}", '"}')):
        line = line.replace(python, standard)
    return line.replace("': ", '": ')


def to_number(text: str) -> float | None:
    """Parse a text as a number; each comma is read as a decimal point, even `1,000`."""
    start = text[:1]
    # Most answers are words: a failed `float` costs more than looking at the first character.
    if start.isalpha() and start not in "nNiIs":
        return None
    try:
        return float(text)
    except ValueError:
        bare = text.replace("$", " ").replace("%", " ").replace("sqft", " ").strip()
        bare = bare.replace(",", ".").replace(" square kilometers", "")
    if bare == text:
        return None
    try:
        return float(bare)
    except ValueError:
        return None
