"""Read JSON strictly and within limits, and compare two JSON values field by field."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from assay.rewards.outcome.calls.values import TextRule, equals, normal_text
from assay.schema.values import is_list, plain
from assay.text.calls import RepeatedKey, strict_json

ListRule: TypeAlias = Literal["ordered", "any"]
JSON_CHARS: Final = 200_000
"""Of a JSON text; a longer one is not read."""
MOST_LEVELS: Final = 100


class BadJson(ValueError):
    """A value is not readable JSON; the message says why."""


def read_json(text: str) -> Any:
    """Parse a JSON text. Raises `BadJson` for bad JSON, repeated keys, NaN or over 100 levels."""
    if len(text) > JSON_CHARS:
        raise BadJson(f"has over {JSON_CHARS:,} characters")
    try:
        value = strict_json(text)
    except RepeatedKey:
        raise BadJson("has the same key twice in one object") from None
    except (ValueError, RecursionError):
        raise BadJson("is not valid JSON") from None
    if levels_of(value) > MOST_LEVELS:
        raise BadJson(f"has over {MOST_LEVELS} levels")
    return value


def levels_of(value: Any) -> int:
    """The nesting depth of lists and objects in a value."""
    level, inner = 0, [value]
    while level <= MOST_LEVELS and (
        inner := [item for item in inner if isinstance(item, (list, dict))]
    ):
        level += 1
        inner = [
            below for item in inner for below in (item.values() if type(item) is dict else item)
        ]
    return level


def to_json(value: Any, levels: int = MOST_LEVELS) -> Any:
    """Convert a value of a data set to plain JSON types. Raises `BadJson`."""
    value = plain(value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if not levels:
        raise BadJson(f"has over {MOST_LEVELS} levels")
    if isinstance(value, Mapping):
        return {str(key): to_json(item, levels - 1) for key, item in value.items()}
    if is_list(value):
        return [to_json(item, levels - 1) for item in value]
    raise BadJson(f"holds a {type(value).__name__}, which is not a JSON type")


@dataclass(slots=True)
class FieldCounts:
    """The numbers of right, wrong, missing and extra fields; a field is one value in a record."""

    right: int = 0
    wrong: int = 0
    missing: int = 0
    extra: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        return not (self.wrong or self.missing or self.extra)

    @property
    def share(self) -> float:
        """The share of right fields among the fields of the value and the reference."""
        total = self.right + self.wrong + self.missing + self.extra
        return self.right / total if total else 1.0

    def add(self, other: FieldCounts) -> None:
        self.right += other.right
        self.wrong += other.wrong
        self.missing += other.missing
        self.extra += other.extra
        self.differences += other.differences


def compare(
    value: Any, reference: Any, texts: TextRule, lists: ListRule, path: str = "$"
) -> FieldCounts:
    """Compare a value with the reference, field by field, inside lists and objects too."""
    count = FieldCounts()
    if isinstance(reference, dict) and isinstance(value, dict):
        for key, expected in reference.items():
            place = f"{path}.{key}"
            if key in value:
                count.add(compare(value[key], expected, texts, lists, place))
            else:
                count.missing += _size(expected)
                count.differences.append(f"{place:.80} is missing")
        for key in sorted(value.keys() - reference.keys()):
            count.extra += _size(value[key])
            count.differences.append(f"{path}.{key!s:.80} is too much")
    elif isinstance(reference, list) and isinstance(value, list):
        for one, expected, place in _pairs(value, reference, texts, lists, path):
            count.add(compare(one, expected, texts, lists, place))
        if len(value) != len(reference):
            count.missing += sum(map(_size, reference[len(value) :]))
            count.extra += sum(map(_size, value[len(reference) :]))
            count.differences.append(f"{path:.80} has {len(value)} items, not {len(reference)}")
    elif equals(value, reference, texts):
        count.right += 1
    else:
        count.wrong += max(_size(reference), _size(value))
        count.differences.append(f"{path:.80} is {value!r:.60}, not {reference!r:.60}")
    if not reference and equals(value, reference, "exact") and isinstance(value, (list, dict)):
        count.right += 1
    return count


def _pairs(
    value: list[Any], reference: list[Any], texts: TextRule, lists: ListRule, path: str
) -> Iterator[tuple[Any, Any, str]]:
    """The pairs of items that are compared, each with its path."""
    if lists == "ordered":
        for at in range(min(len(value), len(reference))):
            yield value[at], reference[at], f"{path}[{at}]"
        return
    places: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for at, item in enumerate(value):
        places[_key(item, texts)].append(at)
    rest: list[Any] = []
    for item in reference:
        same = places[_key(item, texts)]
        if same:
            at = same.popleft()
            yield value[at], item, f"{path}[{at}]"
        else:
            rest.append(item)
    left = sorted(at for same in places.values() for at in same)
    for at, item in zip(left, rest, strict=False):
        yield value[at], item, f"{path}[{at}]"


def _key(value: Any, texts: TextRule) -> Hashable:
    """A key that is equal for equal values; lists are compared in any order."""
    if isinstance(value, list):
        return "list", frozenset(Counter(_key(item, texts) for item in value).items())
    if isinstance(value, dict):
        return "record", frozenset((key, _key(item, texts)) for key, item in value.items())
    if isinstance(value, str):
        form = normal_text(value) if texts == "normal" else ""
        return "text", bool(form), form or value
    if isinstance(value, int | float) and not isinstance(value, bool):
        # As text: numbers can be chosen that all have one hash.
        whole = isinstance(value, int) or value.is_integer()
        return "number", hex(int(value)) if whole else repr(value)
    return "constant", repr(value)


def _size(value: Any) -> int:
    """The number of fields in a value; an empty list or object counts as one."""
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(_size, below)) or 1
