"""The instructions reward: whether a response follows instructions that a program can check."""

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
    BadInstruction,
    InstructionCheck,
    Mode,
    Undecided,
)
from assay.schema.score import Abstained, Scored
from assay.schema.values import is_list, is_missing, plain
from assay.text.tags import is_blank

Pay: TypeAlias = Literal["all", "share"]

PARTS: Final = ("all", "share", "checks")
CHECKS: Final[Mapping[str, InstructionCheck]] = MappingProxyType(
    ifeval.CHECKS | ifbench_words.CHECKS | ifbench_formats.CHECKS
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
    """1.0 if the response follows every instruction, else 0.0; `pay="share"` pays the share.

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
    try:
        parsed = read_instructions(instructions)
    except BadInstruction as error:
        missing = is_missing(plain(instructions))
        reason = "missing_reference" if missing else "bad_reference"
        return Abstained(reason, f"'instructions': {error}", PARTS)
    if final_response is None or is_blank(final_response):
        return Scored(0.0, "there is no response", _parts(0, len(parsed)))
    variants = list(variants_of(final_response)) if loose else [final_response]
    decisions = [decide(variants, each, mode) for each in parsed]
    return _score(parsed, decisions, pay)


def _score(
    parsed: Sequence[Instruction], decisions: Sequence[bool | Undecided], pay: Pay
) -> Scored | Abstained:
    ids = [each.check.id for each in parsed]
    broken = [name for name, one in zip(ids, decisions, strict=True) if one is False]
    pairs = zip(ids, decisions, strict=True)
    undecided = [(name, one) for name, one in pairs if isinstance(one, Undecided)]
    followed = len(ids) - len(broken) - len(undecided)
    because = f"{followed} of {len(ids)} followed"
    because += f"; not {', '.join(broken[:SHOWN])}" if broken else ""
    if undecided and (pay == "share" or not broken):
        name, reason = undecided[0]
        return Abstained("needs_language_data", f"{name}: {reason}", PARTS)
    parts = _parts(followed, len(ids))
    if undecided:
        return Scored(0.0, because, {**parts, "share": None})
    return Scored(parts[pay], because, parts)


def _parts(followed: int, total: int) -> dict[str, float]:
    return {"all": float(followed == total), "share": followed / total, "checks": float(total)}


def decide(variants: Sequence[str], instruction: Instruction, mode: Mode) -> bool | Undecided:
    """Whether a variant of the response follows the instruction, or why this is undecided."""
    undecided: Undecided | None = None
    for variant in variants:
        try:
            if not is_blank(variant) and instruction.check.decide(
                variant, instruction.arguments, mode
            ):
                return True
        except Undecided as error:
            undecided = error
    return undecided or False


def variants_of(response: str) -> Iterator[str]:
    """The response, also without its first and last lines, each with and without stars."""
    lines = response.split("\n")
    for part in (lines, lines[1:], lines[:-1], lines[1:-1]):
        text = "\n".join(part) if part is lines else "\n".join(part).strip()
        yield text
        if "*" in text:
            yield text.replace("*", "")


def read_instructions(value: object) -> list[Instruction]:
    """Read the instructions of a row and their arguments. Raises `BadInstruction` for a bad one."""
    pairs = _pairs(value)
    if not pairs or len(pairs) > MAX_INSTRUCTIONS:
        raise BadInstruction(f"there are {len(pairs)} instructions; give 1 to {MAX_INSTRUCTIONS}")
    parsed: list[Instruction] = []
    for name, arguments in pairs:
        check = CHECKS.get(name) if isinstance(name, str) else None
        if check is None:
            hint = did_you_mean(str(name)[:80], list(CHECKS)) or "docs/rewards.md lists them"
            raise BadInstruction(f"unknown instruction {name!r:.80}; {hint}")
        parsed.append(Instruction(check, check.read(arguments)))
    return parsed


def _pairs(value: object) -> list[tuple[Any, Mapping[str, Any]]]:
    """Read ids and arguments from any format that the data sets use."""
    shape = plain(value)
    if isinstance(shape, str):
        try:
            shape = json.loads(shape)
        except (ValueError, RecursionError):
            raise BadInstruction("the text is not valid JSON") from None
    if is_missing(shape):
        raise BadInstruction("the row has no instructions")
    if not isinstance(shape, Mapping) and not is_list(shape):
        raise BadInstruction("the value is not a list of instructions or a mapping")
    items = [shape] if isinstance(shape, Mapping) else map(plain, shape)
    return [pair for item in items for pair in _pairs_of(item)]


def _pairs_of(item: Any) -> list[tuple[Any, Mapping[str, Any]]]:
    if not isinstance(item, Mapping):
        return [(item, {})]
    ids = plain(next((item[name] for name in _IDS if name in item), None))
    arguments = plain(next((item[name] for name in _ARGUMENTS if name in item), None))
    if ids is None:
        raise BadInstruction(f"an entry has no 'id': {', '.join(map(str, item))[:80] or 'empty'}")
    names = list(ids) if is_list(ids) else [ids]
    values = list(arguments) if is_list(arguments) else [arguments] * len(names)
    if len(values) != len(names):
        raise BadInstruction(f"there are {len(names)} ids but {len(values)} sets of arguments")
    filled = [plain(each) for each in values]
    if not all(each is None or isinstance(each, Mapping) for each in filled):
        raise BadInstruction("the arguments are not a mapping")
    return [(name, each or {}) for name, each in zip(names, filled, strict=True)]
