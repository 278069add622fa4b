"""The check of one instruction: a function of the text and the instruction's arguments.

A rule decides in two ways: as the benchmark's own program does, mistakes included, or `fixed`, as
the instruction reads. One that takes no `fixed` decides alike in both; of the others the docstring
says how they differ. Where a rule would need the data of a language model (a tagger, a language
guesser), it raises `Undecided`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from assay.schema.values import is_list, is_missing, plain

Mode: TypeAlias = Literal["fixed", "published"]
Texts: TypeAlias = tuple[str, ...]
Relation: TypeAlias = Literal["less than", "at least"]


class Undecided(Exception):
    """A check cannot decide whether the response follows the instruction."""


Rule: TypeAlias = Callable[..., bool]
"""Of a text and the instruction's arguments, by their names, and `fixed` where that differs."""
Arguments: TypeAlias = dict[str, Any]
"""The arguments of an instruction, each of the kind that its rule declares."""


class BadInstruction(ValueError):
    """An instruction cannot be checked; the message says why."""


def compares(count: int, relation: Relation, limit: int) -> bool:
    """Whether the count is below the limit, or at least the limit."""
    return count < limit if relation == "less than" else count >= limit


@dataclass(frozen=True, slots=True)
class InstructionCheck:
    """The check of one instruction; its rule's parameters are the arguments that it needs."""

    id: str
    rule: Rule

    def decide(self, text: str, arguments: Arguments, mode: Mode) -> bool:
        """Whether the text follows the instruction. Raises `Undecided`."""
        options = {"fixed": mode == "fixed"} if "fixed" in self.rule.__annotations__ else {}
        return self.rule(text, **arguments, **options)

    def read(self, arguments: Mapping[str, Any]) -> Arguments:
        """Read the arguments that the check needs. Raises `BadInstruction` for a bad one."""
        values: Arguments = {}
        for name, annotation in self.rule.__annotations__.items():
            if name not in ("text", "fixed", "return"):
                argument = plain(arguments.get(name))
                kind, read = _KINDS[annotation]
                values[name] = read(argument)
                if values[name] is None:
                    raise BadInstruction(f"{self.id} has {name}={argument!r:.80}, not a {kind}")
        return values


def checks(family: str, **rules: Rule) -> dict[str, InstructionCheck]:
    """The checks of one family of instructions, by their ids in the benchmarks."""
    return {f"{family}:{name}": InstructionCheck(f"{family}:{name}", rules[name]) for name in rules}


def _number(value: Any) -> int | None:
    # Tables keep whole numbers beside gaps as floats.
    if isinstance(value, bool) or not isinstance(value, int | float) or is_missing(value):
        return None
    return int(value) if value >= 0 and value == int(value) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: Any) -> Texts | None:
    return tuple(value) if is_list(value) and value and all(map(_text, value)) else None


_KINDS: Final[Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "int": ("number", _number),
    "str": ("text", _text),
    "Texts": ("texts", _texts),
    "Relation": ("relation", lambda value: value if value in get_args(Relation) else None),
}
"""By the annotation of a rule's parameter: what messages call such a value, and how it is read."""
