"""The table of functions, constants and operators: what a notation needs is one row.

A row says how a function is written, how many arguments it takes, its rule over the rationals,
its rules over the real and the complex numbers, and what its arguments stand for. The reader, the
arithmetic and the sample points all look here; a name that is in no row is an
unknown function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, TypeAlias

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

_TWO: Final = (2, 2)
_SEVERAL: Final = (2, MAX_ITEMS)
_ANY: Final = (1, MAX_ITEMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionRow:
    """One function: how it is written and what it is worth."""

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
    """What the exponent -1 makes of it."""
    cost: int = 20
    """Steps of work that one numeric value takes."""
    domain: Domain = "reals"
    """What letters in the arguments stand for: reals; angles, whose function is a number to be
    found; naturals; integers; or reals of which n, m and k are integers."""
    breaks: Breaks = "nowhere"
    """Where one formula gives way to another: at zeros of the argument, where it is an integer,
    where the quotient of the two arguments is, where two arguments are equal, where the argument is
    1 or -1, or where it has a pole."""


FUNCTIONS: Final[dict[str, FunctionRow]] = {
    "sin": FunctionRow(
        written="sin", real=decimals.sine, complex=complexes.sine,
        inverse="arcsin", domain="angles",
    ),
    "cos": FunctionRow(
        written="cos", real=decimals.cosine, complex=complexes.cosine,
        inverse="arccos", domain="angles",
    ),
    "tan": FunctionRow(
        written=r"tan \tg", real=decimals.tangent, complex=complexes.tangent,
        inverse="arctan", domain="angles",
    ),
    "cot": FunctionRow(
        written=r"cot \ctg \cotg", reciprocal="tan", inverse="arccot", domain="angles"
    ),
    "sec": FunctionRow(
        written="sec", reciprocal="cos", inverse="arcsec", domain="angles"
    ),
    "csc": FunctionRow(
        written="csc cosec", reciprocal="sin", inverse="arccsc", domain="angles"
    ),
    "arcsin": FunctionRow(
        written=r"arcsin asin \Arcsin", real=decimals.arcsine, complex=complexes.arcsine,
        breaks="ones",
    ),
    "arccos": FunctionRow(
        written=r"arccos acos \Arccos", real=decimals.arccosine, complex=complexes.arccosine,
        breaks="ones",
    ),
    "arctan": FunctionRow(
        written=r"arctan atan arctg \Arctan", real=decimals.arctangent,
        complex=complexes.arctangent, breaks="poles",
    ),
    "arccot": FunctionRow(
        written=r"arccot acot \arcctg", at_reciprocal="arctan", breaks="zeros"
    ),
    "arcsec": FunctionRow(written="arcsec asec", at_reciprocal="arccos", breaks="ones"),
    "arccsc": FunctionRow(written="arccsc acsc", at_reciprocal="arcsin", breaks="ones"),
    "sinh": FunctionRow(
        written=r"sinh \sh", real=decimals.hyperbolic_sine, complex=complexes.hyperbolic_sine,
        inverse="arsinh",
    ),
    "cosh": FunctionRow(
        written=r"cosh \ch", real=decimals.hyperbolic_cosine,
        complex=complexes.hyperbolic_cosine, inverse="arcosh",
    ),
    "tanh": FunctionRow(
        written=r"tanh \th", real=decimals.hyperbolic_tangent,
        complex=complexes.hyperbolic_tangent, inverse="artanh",
    ),
    "coth": FunctionRow(written=r"coth \cth", reciprocal="tanh", inverse="arcoth"),
    "sech": FunctionRow(written="sech", reciprocal="cosh", inverse="arsech"),
    "csch": FunctionRow(written="csch cosech", reciprocal="sinh", inverse="arcsch"),
    "arsinh": FunctionRow(
        written=r"arcsinh arsinh asinh \arsh \Arsh", real=decimals.inverse_sinh,
        complex=complexes.inverse_sinh,
    ),
    "arcosh": FunctionRow(
        written=r"arccosh arcosh acosh \arch \Arch", real=decimals.inverse_cosh,
        complex=complexes.inverse_cosh,
    ),
    "artanh": FunctionRow(
        written=r"arctanh artanh atanh \arth \Arth", real=decimals.inverse_tanh,
        complex=complexes.inverse_tanh,
    ),
    "arcoth": FunctionRow(written="arccoth arcoth acoth", at_reciprocal="artanh"),
    "arsech": FunctionRow(written="arcsech arsech asech", at_reciprocal="arcosh"),
    "arcsch": FunctionRow(written="arccsch arcsch acsch", at_reciprocal="arsinh"),
    "cis": FunctionRow(written=r"\cis", complex=complexes.cis, domain="angles"),
    "exp": FunctionRow(
        written="exp", real=decimals.exponential, complex=complexes.exp
    ),
    "ln": FunctionRow(
        written="ln Ln", real=decimals.logarithm, complex=complexes.log
    ),
    # Without a base it is decimal; the arithmetic makes both forms from ln.
    "log": FunctionRow(written="log lg Log", arity=(1, 2)),
    "lb": FunctionRow(written=r"\lb", real=decimals.binary_logarithm),
    # The arithmetic and the algebra read roots as powers.
    "root": FunctionRow(written="sqrt[]", arity=_TWO, exact=rationals.root),
    "cbrt": FunctionRow(written="cbrt", real=decimals.cube_root),
    "abs": FunctionRow(
        written="abs |_| ||_||", exact=abs, real=abs, complex=complexes.absolute, cost=0,
        breaks="zeros",
    ),
    "sgn": FunctionRow(written="sgn", real=decimals.sign, cost=2, breaks="zeros"),
    "sign": FunctionRow(written="sign", real=decimals.sign, cost=2, breaks="zeros"),
    "floor": FunctionRow(
        written=r"floor \lfloor_\rfloor", exact=math.floor, real=decimals.floor,
        domain="counters", cost=2, breaks="integers",
    ),
    "ceil": FunctionRow(
        written=r"ceil ceiling \lceil_\rceil", exact=math.ceil, real=decimals.ceiling,
        domain="counters", cost=2, breaks="integers",
    ),
    "max": FunctionRow(
        written="max", arity=_SEVERAL, exact=max, real=max, breaks="order"
    ),
    "min": FunctionRow(
        written="min", arity=_SEVERAL, exact=min, real=min, breaks="order"
    ),
    "gcd": FunctionRow(written="gcd", arity=_ANY, exact=rationals.greatest_divisor),
    "lcm": FunctionRow(written="lcm", arity=_ANY, exact=rationals.least_multiple),
    "mod": FunctionRow(
        written=r"_\bmod_ _\mod_", arity=_TWO, exact=rationals.modulo, real=decimals.modulo,
        domain="integers", breaks="ratios",
    ),
    "factorial": FunctionRow(
        written="_!", exact=rationals.factorial, real=decimals.factorial, domain="naturals",
    ),
    "double_factorial": FunctionRow(
        written="_!!", exact=rationals.double_factorial, real=decimals.double_factorial,
        domain="naturals",
    ),
    "binomial": FunctionRow(
        written=r"\binom{} \dbinom{} \tbinom{} {_\choose_}", arity=_TWO, exact=rationals.binomial,
        real=decimals.binomial, domain="naturals",
    ),
    # Worked out on matrices before anything is computed.
    "det": FunctionRow(written="det"),
    "deg": FunctionRow(written=r"\deg"),
    "arg": FunctionRow(written=r"\arg"),
}  # fmt: skip
"""Name of a function to its row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantRow:
    """One constant: the words and commands for it, and its value."""

    written: str
    value: Complex | None


CONSTANTS: Final[dict[ConstantName, ConstantRow]] = {
    "pi": ConstantRow(written="pi", value=Complex(PI, ZERO)),
    # The letters e and i are read as names first: they may be variables.
    "e": ConstantRow(written="", value=Complex(E, ZERO)),
    "i": ConstantRow(written="imath", value=complexes.IMAGINARY),
    "infinity": ConstantRow(
        written="infty infin infinity inf oo", value=None
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRow:
    """One big operator; one that combines its terms is computed over a finite range."""

    start: Decimal = ZERO
    combine: Callable[[Complex, Complex], Complex] | None = None


OPERATORS: Final[dict[OperatorName, OperatorRow]] = {
    "sum": OperatorRow(start=ZERO, combine=complexes.add),
    "prod": OperatorRow(start=ONE, combine=complexes.multiply),
    "int": OperatorRow(),
    "lim": OperatorRow(),
}

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
    """The spellings of these forms, without their marks, to the functions that they write."""
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
CONSTANT_WORDS: Final = {
    spelling: name for name, row in CONSTANTS.items() for spelling in row.written.split()
}
