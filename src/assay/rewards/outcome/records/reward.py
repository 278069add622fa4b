"""The reward of JSON answers: equal to the reference, valid under a schema, or both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from assay.errors import check_choice
from assay.registry import reward
from assay.rewards.outcome.calls.values import TextRule
from assay.rewards.outcome.records.comparison import (
    BadJson,
    FieldCounts,
    ListRule,
    compare,
    read_json,
    to_json,
)
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
    sides = []
    for column, cell in (("answer", answer), ("schema", schema)):
        try:
            sides.append(_read(cell))
        except BadJson as error:
            return Abstained("bad_reference", f"{column!r} {error}", PARTS)
    reference, rules = sides
    if reference is MISSING and rules is MISSING:
        return Abstained("missing_reference", "the row has no reference and no schema", PARTS)
    response = read_response(final_response)
    if isinstance(response, Unreadable):
        return Abstained("bad_response", f"'final_response' {response.because}", PARTS)
    offer, problem = None, ""
    try:
        offer = find_json(response or "", extract)
    except BadJson as error:
        problem = f"the response {error}"
    fault = ""
    if rules is not MISSING:
        try:
            # Also without a value it is found out whether the schema can be used.
            fault = check_value(offer, rules)
        except SchemaError as error:
            return Abstained("unparseable_reference", f"the schema {error}", PARTS)
    parts: dict[str, float | None] = dict.fromkeys(PARTS)
    if problem:
        wrong = None if reference is MISSING else 0.0
        valid = None if rules is MISSING else 0.0
        parts |= {"readable": 0.0, "valid": valid, "equal": wrong, "right_fields": wrong}
        return Scored(0.0, problem, parts)
    parts |= {"readable": 1.0, "valid": None if rules is MISSING else float(not fault)}
    count = None if reference is MISSING else compare(offer, reference, texts, lists)
    return _to_score(fault, parts, count, partial=partial)


MISSING: Final = object()
"""Stands for no value; `None` is one that JSON has."""


def _read(value: object) -> Any:
    """Read a reference or a schema as JSON; `MISSING` if the row has none."""
    value = plain(value)
    if is_missing(value):
        return MISSING
    if isinstance(value, str):
        return read_json(value) if value.strip() else MISSING
    return to_json(value)


def find_json(response: str, extract: BlockRule) -> Any:
    """Find the JSON value in a response. Raises `BadJson` if there is not exactly one."""
    blocks = [block for block in offered_blocks(response, LANGUAGES, extract) if block.strip()]
    if not blocks:
        raise BadJson("holds nothing")
    if len(blocks) > 1:
        raise BadJson(f"offers {len(blocks)} different blocks")
    return read_json(blocks[0])


def _to_score(
    fault: str, parts: dict[str, float | None], count: FieldCounts | None, *, partial: bool
) -> Scored:
    because = "JSON that is valid"
    value = float(not fault)
    if count is not None:
        numbers = (count.equal, count.share, count.wrong, count.missing, count.extra)
        parts |= zip(PARTS[2:], map(float, numbers), strict=True)
        value *= count.share if partial else float(count.equal)
        because = "equal to the reference"
        if not count.equal:
            more = len(count.differences) - SHOWN
            because = "; ".join(count.differences[:SHOWN])
            because += f" and {more} more" if more > 0 else ""
    if fault:
        because = f"not valid: {fault}"
    return Scored(value, because, parts)
