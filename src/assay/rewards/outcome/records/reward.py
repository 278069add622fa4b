"""The reward of JSON: equal to the reference, valid under the schema, or both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from assay.errors import check_choice
from assay.registry import reward
from assay.rewards.outcome.calls.values import TextRule
from assay.rewards.outcome.records.comparison import FieldCount, ListRule, compare
from assay.rewards.outcome.records.reading import read_json, to_json
from assay.rewards.outcome.records.schemas import SchemaError, check_value
from assay.schema.score import Abstained, Scored
from assay.schema.values import Unreadable, is_missing, plain, read_response
from assay.text.blocks import BlockRule, offered_blocks

PARTS: Final = (
    "readable", "valid", "equal", "right_fields", "wrong_fields", "missing_fields", "extra_fields",
)  # fmt: skip
LANGUAGES: Final = ("json", "jsonc", "json5")
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "extract": get_args(BlockRule),
    "texts": get_args(TextRule),
    "lists": get_args(ListRule),
}
SHOWN: Final = 3


@reward(name="json_reward", version=1, parts=PARTS, kind="structured")
def json_reward(
    final_response: object,
    answer: object = None,
    schema: object = None,
    *,
    extract: BlockRule = "single",
    texts: TextRule = "exact",
    lists: ListRule = "ordered",
    partial: bool = False,
) -> Scored | Abstained:
    """1.0 if the response is JSON that equals the reference and is valid under the schema.

    `answer` is the reference, as a value or as JSON text; `schema` a JSON schema; one of them is
    needed, and where both are given both must agree. Numbers are equal by value (5 is 5.0), keys
    in any order, and everything else by type: "5" is not 5, and an extra key is one too many.
    `lists="any"` compares lists as bags, `texts="normal"` leaves case and spacing out.

    The JSON is the only one that the response offers, in `<answer>` tags, in a fenced block, or as
    the whole of it; `extract="last"` takes the last block, `"whole"` the text as it is. With
    `partial`, a reference pays the share of fields that are right, of all that either side has.
    Schemas need the extra `schema`; nothing that they refer to is fetched.
    """
    for name, value in (("extract", extract), ("texts", texts), ("lists", lists)):
        check_choice(name, value, CHOICES[name])
    reference, rules = _read(answer), _read(schema)
    for column, side in (("answer", reference), ("schema", rules)):
        if isinstance(side, Unreadable):
            return Abstained("bad_reference", f"{column!r} {side.because}", PARTS)
    if reference is MISSING and rules is MISSING:
        return Abstained("missing_reference", "the row has neither a reference nor a schema", PARTS)
    response = read_response(final_response)
    if isinstance(response, Unreadable):
        return Abstained("bad_response", f"'final_response' {response.because}", PARTS)
    offer = find_json(response or "", extract)
    fault = ""
    if rules is not MISSING:
        try:
            # Also without a value it is found out whether the schema can be used.
            fault = check_value(None if isinstance(offer, Unreadable) else offer, rules)
        except SchemaError as error:
            return Abstained("unparseable_reference", f"the schema {error}", PARTS)
    if isinstance(offer, Unreadable):
        return Scored(0.0, offer.because, _parts(rules is not MISSING, reference is not MISSING))
    count = None if reference is MISSING else compare(offer, reference, texts, lists)
    return _to_score(fault, rules is not MISSING, count, partial=partial)


class _Missing:
    """Stands for no value; `None` is one that JSON has."""


MISSING: Final = _Missing()


def _read(value: object) -> Any:
    """A reference or schema as JSON's own; `MISSING` where there is none."""
    value = plain(value)
    if is_missing(value):
        return MISSING
    if isinstance(value, str):
        return read_json(value) if value.strip() else MISSING
    return to_json(value)


def find_json(response: str, extract: BlockRule) -> Any:
    """The value that a response offers, or why there is none."""
    blocks = offered_blocks(response, LANGUAGES, extract)
    blocks = [block for block in blocks if block.strip()]
    if not blocks:
        return Unreadable("the response holds nothing")
    if len(blocks) > 1:
        return Unreadable(f"the response offers {len(blocks)} different blocks")
    value = read_json(blocks[0])
    return Unreadable(f"the response {value.because}") if isinstance(value, Unreadable) else value


def _parts(has_schema: bool, has_reference: bool) -> dict[str, float | None]:
    """Those of a response that cannot be read."""
    equal = 0.0 if has_reference else None
    return {
        "readable": 0.0,
        "valid": 0.0 if has_schema else None,
        "equal": equal,
        "right_fields": equal,
        "wrong_fields": None,
        "missing_fields": None,
        "extra_fields": None,
    }


def _to_score(fault: str, has_schema: bool, count: FieldCount | None, *, partial: bool) -> Scored:
    parts: dict[str, float | None] = dict.fromkeys(PARTS)
    parts |= {"readable": 1.0, "valid": float(not fault) if has_schema else None}
    because = "JSON that is valid"
    value = float(not fault)
    if count is not None:
        parts |= {
            "equal": float(count.equal),
            "right_fields": count.share,
            "wrong_fields": float(count.wrong),
            "missing_fields": float(count.missing),
            "extra_fields": float(count.extra),
        }
        value *= count.share if partial else float(count.equal)
        because = "equal to the reference"
        if not count.equal:
            more = len(count.differences) - SHOWN
            because = "; ".join(count.differences[:SHOWN]) + (
                f" and {more} more" if more > 0 else ""
            )
    if fault:
        because = f"not valid: {fault}"
    return Scored(value, because, parts)
