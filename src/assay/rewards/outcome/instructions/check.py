"""What a check of an instruction is: a rule of a text and the instruction's arguments.

A check has two rules. `published` decides as the benchmark's own program does, mistakes included;
`fixed` as the instruction reads, where that differs, and `deviation` says how. Where a rule would
need the data of a language model (a tagger, a language guesser), it is undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from assay.lazy import package_table
from assay.schema.values import Unreadable, is_list, is_missing, plain

Kind: TypeAlias = Literal["number", "text", "texts", "relation"]
Mode: TypeAlias = Literal["fixed", "published"]

LESS: Final = "less than"
AT_LEAST: Final = "at least"


class Undecided(NamedTuple):
    """Why a check cannot say whether an instruction was followed."""

    because: str


Decision: TypeAlias = bool | Undecided


class Arguments(dict[str, Any]):
    """The arguments of an instruction, each of the kind that its check declares."""

    def number(self, name: str) -> int:
        value: int = self[name]
        return value

    def text(self, name: str) -> str:
        value: str = self[name]
        return value

    def texts(self, name: str) -> Sequence[str]:
        value: Sequence[str] = self[name]
        return value

    def compares(self, count: int, limit: str, relation: str) -> bool:
        """Whether the count is less than, or at least, the limit."""
        most = self.number(limit)
        return count < most if self[relation] == LESS else count >= most


Rule: TypeAlias = Callable[[str, Arguments], Decision]


@dataclass(frozen=True, slots=True)
class InstructionCheck:
    """How one instruction is checked."""

    id: str
    published: Rule
    needs: Mapping[str, Kind] = field(default_factory=dict)
    """The arguments without which it cannot be checked."""
    fixed: Rule | None = None
    """The rule where it differs from the published one."""
    deviation: str = ""
    """How it differs."""

    def rule(self, mode: Mode) -> Rule:
        return self.fixed if mode == "fixed" and self.fixed is not None else self.published

    def read(self, arguments: Mapping[str, Any]) -> Arguments | Unreadable:
        """The arguments that the check needs; the benchmarks draw a missing one at random."""
        values = Arguments()
        for name, kind in self.needs.items():
            argument = plain(arguments.get(name))
            value = _READERS[kind](argument)
            if value is None:
                return Unreadable(f"has {name}={argument!r:.80} for {self.id}, no {kind}")
            values[name] = value
        return values


def checks_of(rules: Mapping[str, tuple[Rule, Rule | None]]) -> tuple[InstructionCheck, ...]:
    """The checks of these instructions, which `checks.toml` describes, with their two rules."""
    table = package_table(__package__, "checks")
    return tuple(
        InstructionCheck(id_, published, fixed=fixed, **table[id_])
        for id_, (published, fixed) in rules.items()
    )


def _number(value: Any) -> int | None:
    # Tables keep whole numbers beside gaps as floats.
    if isinstance(value, bool) or not isinstance(value, int | float) or is_missing(value):
        return None
    return int(value) if value >= 0 and value == int(value) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: Any) -> tuple[str, ...] | None:
    if not is_list(value) or not len(value):
        return None
    texts = tuple(value)
    return texts if all(isinstance(text, str) and text for text in texts) else None


def _relation(value: Any) -> str | None:
    return value if value in (LESS, AT_LEAST) else None


_READERS: Final[dict[Kind, Callable[[Any], Any]]] = {
    "number": _number,
    "text": _text,
    "texts": _texts,
    "relation": _relation,
}


def needs_model(what: str) -> Rule:
    """A rule that decides nothing, because the benchmark asks a model."""
    return lambda _text, _arguments: Undecided(f"the check needs {what}, which Assay does not have")
