"""The tables of known functions, constants and operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias

from assay.lazy import package_table
from assay.rewards.outcome.maths.compute import complexes, decimals, rationals
from assay.rewards.outcome.maths.compute.complexes import Complex
from assay.rewards.outcome.maths.compute.decimals import ONE, PI, ZERO, E
from assay.rewards.outcome.maths.limits import MAX_ITEMS
from assay.rewards.outcome.maths.nodes import ConstantName, OperatorName, Rational

ExactRule: TypeAlias = Callable[..., Rational | None]
RealRule: TypeAlias = Callable[..., Decimal]
ComplexRule: TypeAlias = Callable[[Complex], Complex]
Domain: TypeAlias = Literal["reals", "angles", "naturals", "integers", "counters"]
Breaks: TypeAlias = Literal["nowhere", "zeros", "integers", "ratios", "order", "ones", "poles"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionRow:
    """A known function: its spellings and the rules for its value."""

    written: str
    """The ways to write it. `sin` is a word or a command; `\\tg` is a command only; `\\binom{}` is
    a command with as many braced arguments as the function takes; `sqrt[]` may have an index in
    brackets; `_!` follows its argument, `_\\bmod_` stands between two factors, `{_\\choose_}`
    between the halves of a group, and `|_|` around one."""
    arity: tuple[int, int] = (1, 1)
    """The fewest and the most arguments."""
    exact: ExactRule | None = None
    """The value at rationals; None where it is not rational."""
    real: RealRule | None = None
    """The value at decimals; raises NotReal outside the real domain."""
    complex: ComplexRule | None = None
    """The principal value, for a function of one argument."""
    reciprocal: str = ""
    """The function that this is one over."""
    at_reciprocal: str = ""
    """The function that this is, at one over the argument."""
    inverse: str = ""
    """The function that the exponent -1 turns it into."""
    cost: int = 20
    """Steps of work that one numeric value takes."""
    domain: Domain = "reals"
    """The kind of the letters in the arguments: reals; angles, whose function is a number to be
    found; naturals; integers; or reals of which n, m and k are integers."""
    breaks: Breaks = "nowhere"
    """Where the formula changes: at zeros of the argument, where it is an integer,
    where the quotient of the two arguments is, where two arguments are equal, where the argument is
    1 or -1, or where it has a pole."""


def _row(*, rule: str, arity: Sequence[int] = (1, 1), **entries: Any) -> FunctionRow:
    """Build the row of a function from its entry in `functions.toml`."""
    modules = {"exact": rationals, "real": decimals, "complex": complexes}
    rules: dict[str, Any] = {kind: getattr(module, rule, None) for kind, module in modules.items()}
    return FunctionRow(arity=(arity[0], arity[1] or MAX_ITEMS), **rules, **entries)


FUNCTIONS: Final = {
    name: _row(**{"rule": name, **entry})
    for name, entry in package_table(__package__, "functions").items()
}
"""Name of a function to its row."""


CONSTANTS: Final[dict[ConstantName, Complex | None]] = {
    "pi": Complex(PI, ZERO),
    "e": Complex(E, ZERO),
    "i": complexes.IMAGINARY,
    "infinity": None,
}
CONSTANT_WORDS: Final[dict[str, ConstantName]] = {
    "pi": "pi",
    # The letters e and i are read as names first: they may be variables.
    "imath": "i",
    **dict.fromkeys(("infty", "infin", "infinity", "inf", "oo"), "infinity"),
}
"""Words and commands for constants."""
COMBINED: Final[dict[OperatorName, tuple[Decimal, Callable[[Complex, Complex], Complex]]]] = {
    "sum": (ZERO, complexes.add),
    "prod": (ONE, complexes.multiply),
}
"""Operators that combine their terms over a finite range: what they start from, and how."""

_Form: TypeAlias = Literal[
    "word", "command", "index", "braced", "after", "between", "halves", "around"
]


def _form(spelling: str) -> _Form:
    if spelling.endswith("{}"):
        return "braced"
    if spelling[0] == "{":
        return "halves"
    if spelling.endswith("[]"):
        return "index"
    if spelling[0] == "_":
        return "between" if spelling[-1] == "_" else "after"
    if "_" in spelling:
        return "around"
    return "command" if spelling[0] == "\\" else "word"


def _written(*forms: _Form) -> dict[str, str]:
    """Map all spellings of the given forms to the names of their functions."""
    return {
        spelling.strip("[]{}").strip("_").removeprefix("\\"): name
        for name, row in FUNCTIONS.items()
        for spelling in row.written.split()
        if _form(spelling) in forms
    }


INDEXED: Final = _written("index")
WORDS: Final = {**_written("word"), **{word: word for word in INDEXED}}
"""Spellings that are recognised in a run of letters, to the functions that they write; one that may
have an index stands for itself until the index is read."""
SPELLINGS: Final = {**WORDS, **_written("command")}
"""Every spelling before an argument, as a word or as a command."""
BRACED: Final = _written("braced")
AFTER: Final = _written("after")
BETWEEN: Final = _written("between")
HALVES: Final = _written("halves")
"""Commands between the halves of a group, to the functions that they write."""
AROUND: Final = {
    opening.partition("_")[0].removeprefix("l"): name
    for opening, name in _written("around").items()
}
"""Brackets to the functions of what stands between them: bars, `floor` and `ceil`."""
