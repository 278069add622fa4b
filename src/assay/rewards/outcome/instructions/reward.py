"""`instructions_reward`: whether a response follows the instructions that a program can check."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from assay.errors import check_choice, did_you_mean
from assay.registry import reward
from assay.rewards.outcome.instructions import ifbench_formats, ifbench_words, ifeval
from assay.rewards.outcome.instructions.check import (
    Arguments,
    Decision,
    InstructionCheck,
    Mode,
    Undecided,
)
from assay.schema.score import Abstained, Scored
from assay.schema.values import Unreadable, is_list, is_missing, plain, read_response
from assay.text.tags import is_blank

Pay: TypeAlias = Literal["all", "share"]

PARTS: Final = ("all", "share", "checks")
CHECKS: Final[Mapping[str, InstructionCheck]] = MappingProxyType(
    {check.id: check for check in (*ifeval.CHECKS, *ifbench_words.CHECKS, *ifbench_formats.CHECKS)}
)
"""By its id in the benchmarks: how an instruction is checked."""
MAX_INSTRUCTIONS: Final = 64
SHOWN: Final = 4
_IDS: Final = ("id", "instruction_id", "instruction_id_list")
_ARGUMENTS: Final = ("kwargs", "arguments")


class Instruction(NamedTuple):
    """One instruction with its arguments."""

    check: InstructionCheck
    arguments: Arguments


@reward(name="instructions_reward", version=1, parts=PARTS, kind="format")
def instructions_reward(
    final_response: str | None,
    instructions: object,
    *,
    mode: Mode = "fixed",
    pay: Pay = "all",
    loose: bool = False,
) -> Scored | Abstained:
    """1.0 when the response follows every instruction, else 0.0; with `pay="share"`, their share.

    `instructions` is a list of `{"id": …, "kwargs": {…}}`, or one mapping with
    `instruction_id_list` and `kwargs` as IFEval and IFBench have them, or JSON of either. The ids
    are theirs. `mode` is `fixed`, or `published` for the programs' own decisions. With `loose` a
    response also follows if it does so without its first line, its last, or its stars.

    An empty response follows none. An instruction that only a language model's data decides makes
    the score abstain (`needs_language_data`), unless the others decide it: with `pay="all"` one
    that was not followed does.
    """
    check_choice("mode", mode, get_args(Mode))
    check_choice("pay", pay, get_args(Pay))
    parsed = read_instructions(instructions)
    if isinstance(parsed, Unreadable):
        missing = is_missing(plain(instructions))
        reason = "missing_reference" if missing else "bad_reference"
        return Abstained(reason, f"'instructions' {parsed.because}", PARTS)
    response = read_response(final_response)
    if isinstance(response, Unreadable):
        return Abstained("bad_response", f"'final_response' {response.because}", PARTS)
    total = len(parsed)
    if response is None or is_blank(response):
        return Scored(0.0, "there is no response", _parts(0, total))
    variants = list(variants_of(response)) if loose else [response]
    decisions = [decide(variants, each, mode) for each in parsed]
    return _score(parsed, decisions, pay)


def _score(
    parsed: Sequence[Instruction], decisions: Sequence[Decision], pay: Pay
) -> Scored | Abstained:
    ids = [each.check.id for each in parsed]
    broken = [name for name, one in zip(ids, decisions, strict=True) if one is False]
    undecided = [
        (name, one) for name, one in zip(ids, decisions, strict=True) if isinstance(one, Undecided)
    ]
    followed = len(ids) - len(broken) - len(undecided)
    because = f"{followed} of {len(ids)} followed"
    because += f"; not {', '.join(broken[:SHOWN])}" if broken else ""
    if undecided and (pay == "share" or not broken):
        name, reason = undecided[0]
        return Abstained("needs_language_data", f"{name}: {reason.because}", PARTS)
    if undecided:
        parts = {"all": 0.0, "share": None, "checks": float(len(ids))}
        return Scored(0.0, because, parts)
    parts = _parts(followed, len(ids))
    value = parts["all" if pay == "all" else "share"]
    return Scored(value or 0.0, because, parts)


def _parts(followed: int, total: int) -> dict[str, float | None]:
    return {
        "all": float(followed == total),
        "share": followed / total,
        "checks": float(total),
    }


def decide(variants: Sequence[str], instruction: Instruction, mode: Mode) -> Decision:
    """Whether one of the variants follows the instruction; undecided if it may."""
    decision: Decision = False
    for variant in variants:
        if is_blank(variant):
            continue
        one = instruction.check.decide(variant, instruction.arguments, mode)
        if one is True:
            return True
        decision = one if isinstance(one, Undecided) else decision
    return decision


def variants_of(response: str) -> Iterator[str]:
    """The response, and without its first line, its last or both, each with and without stars."""
    lines = response.split("\n")
    for part in (lines, lines[1:], lines[:-1], lines[1:-1]):
        text = "\n".join(part) if part is lines else "\n".join(part).strip()
        yield text
        if "*" in text:
            yield text.replace("*", "")


def read_instructions(value: object) -> list[Instruction] | Unreadable:
    """The instructions of a row, with the arguments that their checks need."""
    pairs = _pairs(value)
    if isinstance(pairs, Unreadable):
        return pairs
    if not pairs or len(pairs) > MAX_INSTRUCTIONS:
        return Unreadable(f"has {len(pairs)} instructions; 1 to {MAX_INSTRUCTIONS} are checked")
    parsed: list[Instruction] = []
    for name, arguments in pairs:
        check = CHECKS.get(name) if isinstance(name, str) else None
        if check is None:
            hint = did_you_mean(str(name)[:80], list(CHECKS)) or "docs/rewards.md lists them"
            return Unreadable(f"names {name!r:.80}, no instruction of IFEval or IFBench; {hint}")
        values = check.read(arguments)
        if isinstance(values, Unreadable):
            return values
        parsed.append(Instruction(check, values))
    return parsed


def _pairs(value: object) -> list[tuple[Any, Mapping[str, Any]]] | Unreadable:
    """Ids and arguments, out of any of the shapes that data sets keep them in."""
    shape = plain(value)
    if isinstance(shape, str):
        try:
            shape = json.loads(shape)
        except (ValueError, RecursionError):
            return Unreadable("is text that is no JSON")
    if is_missing(shape):
        return Unreadable("are not there")
    if isinstance(shape, Mapping):
        return _pairs_of(shape)
    if not is_list(shape):
        return Unreadable("is neither a list of instructions nor a mapping")
    pairs: list[tuple[Any, Mapping[str, Any]]] = []
    for item in map(plain, shape):
        more = _pairs_of(item) if isinstance(item, Mapping) else [(item, {})]
        if isinstance(more, Unreadable):
            return more
        pairs += more
    return pairs


def _pairs_of(item: Mapping[str, Any]) -> list[tuple[Any, Mapping[str, Any]]] | Unreadable:
    ids = plain(next((item[name] for name in _IDS if name in item), None))
    arguments = plain(next((item[name] for name in _ARGUMENTS if name in item), None))
    if ids is None:
        return Unreadable(f"has an entry without 'id': {', '.join(map(str, item))[:80] or 'empty'}")
    names = list(ids) if is_list(ids) else [ids]
    values = list(arguments) if is_list(arguments) else [arguments] * len(names)
    if len(values) != len(names):
        return Unreadable(f"has {len(names)} ids and {len(values)} sets of arguments")
    filled = [plain(each) for each in values]
    if not all(each is None or isinstance(each, Mapping) for each in filled):
        return Unreadable("has arguments that are no mapping")
    return [(name, each or {}) for name, each in zip(names, filled, strict=True)]
