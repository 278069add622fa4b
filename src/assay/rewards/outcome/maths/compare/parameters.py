"""Answers with free parameters: integers such as `k`, and arbitrary constants such as `C`.

`x = k\\pi, k \\in \\mathbb Z` names every value of a family, which another letter, another start or
another split also names. A family of values `a + bk` is compared as a set: by its period and its
values within one. Any other answer with declared parameters is compared after its letters have been
renamed. In antiderivatives and in solutions of differential equations, C and K stand for any
number, so only their factors count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations
from typing import Final

from assay.rewards.outcome.maths.compare.comparison import AnswerComparer
from assay.rewards.outcome.maths.compare.relations import NamedValue, same_label, statement
from assay.rewards.outcome.maths.compare.resolve import variants
from assay.rewards.outcome.maths.compare.scalars import same_scalar
from assay.rewards.outcome.maths.compute.decimals import context
from assay.rewards.outcome.maths.compute.points import agree, proportional, value_of
from assay.rewards.outcome.maths.limits import WorkBudget
from assay.rewards.outcome.maths.nodes import (
    Add,
    Call,
    ConditionSet,
    Constant,
    DegreeAngle,
    Div,
    Expr,
    Group,
    Mul,
    Node,
    Number,
    PlusMinus,
    Power,
    Quantity,
    Relation,
    Symbol,
    expression,
    negate,
    product,
    substitute,
    total,
    walk,
    with_names,
)

_DOMAINS: Final = {f"{prefix}{name}": name for prefix in ("mathbb:", "") for name in "ZNRQ"}
_RUNNING: Final = frozenset("kmnlj")
"""Letters that count the turns of an angle where nobody says so."""
_ARBITRARY: Final = re.compile(r"[CK]|[CcK]_\{?\d\}?")
"""Names of constants that can be nothing but arbitrary."""
_PLAUSIBLE: Final = re.compile(r"[A-Zck]|[A-Za-z]_\{?\d\}?|alpha|beta|lambda|mu")
"""Names that an arbitrary constant may have if the other answer has one."""
_MOST_MEMBERS: Final = 12
_MOST_RESIDUES: Final = 60
_MOST_CONSTANTS: Final = 3
_DIGITS: Final = 60
_NEAR: Final = Decimal("1e-40")


def same_with_parameters(
    prediction: Node, reference: Node, comparison: AnswerComparer
) -> str | None:
    """Return the rule by which two answers with integer parameters are equal, or None."""
    left, right = _declared(prediction), _declared(reference)
    family, expected = _family(left), _family(right)
    if family is not None and expected is not None:
        return "family" if _same_families(family, expected, comparison) else None
    if not left.domains and not right.domains:
        return None
    return _same_renamed(left, right, comparison)


@dataclass(frozen=True, slots=True)
class _Declared:
    """An answer without declarations such as `k in Z`, and the domain of each parameter."""

    body: Node
    domains: Mapping[str, str]


def _declared(node: Node) -> _Declared:
    match node:
        case Group("" | "(", items):
            domains, rest = _declarations(items)
            if not domains or not rest:
                return _Declared(node, {})
            body = rest[0] if len(rest) == 1 else Group("", tuple(rest), "", node.joint)
        case ConditionSet(member, conditions):
            domains, rest = _declarations(conditions)
            match rest:
                case [] if domains:
                    body = member
                case [Relation((name, _), ("=",)) as equation] if name == member:
                    body = equation
                case _:
                    return _Declared(node, {})
        case _:
            return _Declared(node, {})
    names = _names(body)
    return _Declared(body, domains) if names >= domains.keys() else _Declared(node, {})


def _declarations(items: Iterable[Node]) -> tuple[dict[str, str], list[Node]]:
    """Split the items into declared domains, such as `k in Z`, and all other items."""
    domains: dict[str, str] = {}
    rest: list[Node] = []
    for item in items:
        match item:
            case Relation((*names, Symbol(domain)), (*_, "in")) if domain in _DOMAINS and all(
                isinstance(name, Symbol) for name in names
            ):
                domains.update(
                    (name.name, _DOMAINS[domain]) for name in names if isinstance(name, Symbol)
                )
            case _:
                rest.append(item)
    return domains, rest


def _names(*nodes: Node) -> frozenset[str]:
    return frozenset(part.name for part in walk(*nodes) if isinstance(part, Symbol))


@dataclass(frozen=True, slots=True)
class _Progression:
    """The numbers `start + k * step` for all integers k."""

    start: Expr
    step: Expr


@dataclass(frozen=True, slots=True)
class _Family:
    """A family of values: its name, and its arithmetic progressions."""

    label: Node | None
    members: list[_Progression]
    declared: bool
    """Whether the answer says that its parameter is an integer."""


def _family(answer: _Declared) -> _Family | None:
    """Read the answer as a family of values over the integers, or return None."""
    items = answer.body.items if isinstance(answer.body, Group) else (answer.body,)
    if isinstance(answer.body, Group) and answer.body.opening not in ("", "{"):
        return None
    if len(items) > _MOST_MEMBERS or set(answer.domains.values()) - {"Z"}:
        return None
    if len(items) == 1 and (congruence := _congruence(items[0])) is not None:
        return congruence
    named = [value for item in items if (value := _named(item)) is not None]
    labels = {value.label for value in named}
    if len(named) != len(items) or len(labels) != 1:
        return None
    members: list[_Progression] = []
    for value in named:
        progressions = _progressions(value.value, answer.domains)
        if not progressions:
            return None
        members += progressions
    return _Family(labels.pop(), members, bool(answer.domains))


def _congruence(item: Node) -> _Family | None:
    """Read a congruence such as `x + 2 \\equiv 5 \\pmod{13}` as the family of its solutions."""
    match item:
        case Relation((Expr() as side, Quantity(Call("mod", (residue, modulus)))), ("=",)):
            names = _names(side)
            if len(names) != 1 or _names(residue, modulus):
                return None
            (name,) = names
            line = _linear(side, name)
            if line is None or _number(line.step) != 1:
                return None
            first = Add((expression(residue), negate(line.start)))
            return _Family(Symbol(name), [_Progression(first, expression(modulus))], declared=True)
        case _:
            return None


def _named(item: Node) -> NamedValue | None:
    if isinstance(item, Relation):
        return statement(item, None) if item.operators == ("=",) else None
    return NamedValue(None, item) if isinstance(item, Expr) else None


def _progressions(value: Node, domains: Mapping[str, str]) -> list[_Progression]:
    """The progressions of one value, one for each sign and parity."""
    names = _names(value)
    parameters = names & domains.keys() if domains else names & _RUNNING
    if not isinstance(value, Expr) or len(parameters) != 1:
        return []
    if not domains and not any(
        p == Constant("pi") or isinstance(p, DegreeAngle) for p in walk(value)
    ):
        return []
    (name,) = parameters
    result: list[_Progression] = []
    for variant in variants(value):
        for piece in _by_parity(expression(variant), name):
            line = _linear(piece, name)
            if line is None:
                return []
            result.append(line)
    return result


def _linear(node: Expr, name: str) -> _Progression | None:
    """The progression of an expression that is linear in its parameter, or None."""
    if _degree(node, name) != 1:
        return None
    start = _with(node, {name: Number(0)})
    return _Progression(start, Add((_with(node, {name: Number(1)}), negate(start))))


def _by_parity(node: Expr, name: str) -> list[Expr]:
    """Split an expression with `(-1)^k` into one for even k and one for odd k."""
    signs = [
        part
        for part in walk(node)
        if isinstance(part, Power) and part.base == Number(-1) and name in _names(part.exponent)
    ]
    if not signs:
        return [node]
    pieces: list[Expr] = []
    for parity in (0, 1):
        replaced: dict[Node, Expr] = {}
        for sign in signs:
            count = _parity(_with(sign.exponent, {name: Number(parity)}))
            if count is None or _degree(sign.exponent, name) != 1:
                return [node]
            replaced[sign] = Number(-1 if count else 1)
        plain = expression(substitute(node, replaced.get))
        doubled = Add((Mul((Number(2), Symbol(name))), Number(parity)))
        pieces.append(_with(plain, {name: doubled}))
    return pieces


def _parity(node: Expr) -> int | None:
    """The value of a closed integer expression modulo 2, or None."""
    value = value_of(node, WorkBudget())
    if value is None or value.im or value.re != value.re.to_integral_value():
        return None
    return int(value.re) % 2


def _degree(node: Node, name: str) -> int | None:
    """The degree of a polynomial in one variable, or None for other expressions."""
    if name not in _names(node):
        return 0
    match node:
        case Symbol():
            return 1
        case Add(parts) | Mul(parts):
            degrees = [degree for part in parts if (degree := _degree(part, name)) is not None]
            if len(degrees) != len(parts):
                return None
            return max(degrees) if isinstance(node, Add) else sum(degrees)
        case Div(top, bottom):
            return _degree(top, name) if name not in _names(bottom) else None
        case DegreeAngle(term) | PlusMinus(term):
            return _degree(term, name)
        case _:
            return None


def _with(node: Expr, values: Mapping[str, Expr]) -> Expr:
    """Replace variables by expressions."""
    parts: dict[Node, Expr] = {Symbol(name): value for name, value in values.items()}
    return expression(substitute(node, parts.get))


def _same_families(left: _Family, right: _Family, comparison: AnswerComparer) -> bool:
    # Without a declaration, only a name shows that values are meant and not a formula.
    if not (left.declared or right.declared or left.label or right.label):
        return False
    names = NamedValue(left.label, Number(0)), NamedValue(right.label, Number(0))
    if not same_label(*names, comparison):
        return False
    if len(left.members) == len(right.members) == 1:
        return _same_progression(left.members[0], right.members[0], comparison)
    return _covers(left, right, comparison) and _covers(right, left, comparison)


def _same_progression(one: _Progression, other: _Progression, comparison: AnswerComparer) -> bool:
    if not same_scalar(one.step, other.step, comparison) and not same_scalar(
        one.step, negate(other.step), comparison
    ):
        return False
    return _is_in(one.start, other, comparison)


def _is_in(value: Expr, progression: _Progression, comparison: AnswerComparer) -> bool:
    """Whether the value is a member of the progression."""
    start, step = progression.start, progression.step
    return any(
        same_scalar(value, Add((start, Mul((Number(turn), step)))), comparison)
        for turn in _turns(value, progression)
    )


def _turns(value: Expr, progression: _Progression) -> Sequence[int]:
    """The values of k for which the progression may reach the value."""
    distance = _number(Add((value, negate(progression.start))))
    step = _number(progression.step)
    if distance is None or not step:
        return 0, 1, -1
    with localcontext(context(_DIGITS)):
        ratio = distance / step
        near = ratio.to_integral_value()
        return [int(near)] if abs(ratio - near) < _NEAR else []


def _number(node: Expr) -> Decimal | None:
    value = value_of(node, WorkBudget(), digits=_DIGITS)
    return None if value is None or abs(value.im) > _NEAR else value.re


def _covers(family: _Family, other: _Family, comparison: AnswerComparer) -> bool:
    """Whether the family contains every value of the other family."""
    period = _period([*family.members, *other.members])
    if period is None:
        return False
    for member in other.members:
        for value in _within(member, period):
            if not any(_is_in(value, one, comparison) for one in family.members):
                return False
    return True


def _period(members: Sequence[_Progression]) -> Expr | None:
    """The least common multiple of all steps, or None."""
    first, *_ = steps = [_number(member.step) for member in members]
    if not first:
        return None
    multiple = Fraction(1)
    with localcontext(context(_DIGITS)):
        for step in steps:
            ratio = None if step is None else abs(step / first)
            if not ratio:
                return None
            simple = Fraction(ratio).limit_denominator(720)
            top, bottom = simple.numerator, simple.denominator
            if abs(ratio - Decimal(top) / bottom) > _NEAR:
                return None
            multiple = Fraction(
                math.lcm(multiple.numerator, top), math.gcd(multiple.denominator, bottom)
            )
    return Mul((Number(multiple), members[0].step))


def _within(member: _Progression, period: Expr) -> Iterator[Expr]:
    """The members of a progression within one common period."""
    length, own = _number(period), _number(member.step)
    if length is None or not own:
        return
    with localcontext(context(_DIGITS)):
        count = int(abs(length / own).to_integral_value())
    for turn in range(min(count, _MOST_RESIDUES)):
        yield Add((member.start, Mul((Number(turn), member.step))))


def _same_renamed(left: _Declared, right: _Declared, comparison: AnswerComparer) -> str | None:
    """Compare two answers after a renaming of the parameters of one."""
    if left.domains and right.domains:
        names, others = list(left.domains), list(right.domains)
        if sorted(left.domains.values()) != sorted(right.domains.values()):
            return None
    else:
        declared, free = (left, right) if left.domains else (right, left)
        shared = _names(left.body) & _names(right.body)
        undeclared = sorted(_names(free.body) - (shared - declared.domains.keys()))
        # What an answer adds to a reference that is silent must be what silence means.
        if not right.domains and not set(left.domains.values()) <= {"Z", "R"}:
            return None
        names, others = list(declared.domains), undeclared
        if not left.domains:
            names, others = others, names
    if len(names) != len(others) or len(names) > _MOST_CONSTANTS:
        return None
    renamed = (with_names(left.body, naming) for naming in _namings(names, others))
    rules = (comparison.rule(body, right.body) for body in renamed)
    return next((rule for rule in rules if rule is not None), None)


def _namings(names: Sequence[str], others: Sequence[str]) -> Iterator[dict[str, str]]:
    for order in permutations(others):
        yield dict(zip(names, order, strict=True))


def same_up_to_constants(left: Expr, right: Expr, comparison: AnswerComparer) -> bool:
    """Whether two expressions are equal for some choice of their arbitrary constants."""
    names, others = _names(left), _names(right)
    constants, other_constants = _constants(names, others), _constants(others, names)
    if not constants or len(constants) != len(other_constants) or len(constants) > _MOST_CONSTANTS:
        return False
    variables = (names - constants) | (others - other_constants)
    # With another capital, C is a letter of a figure or a formula and no constant.
    if not variables or any(len(name) == 1 and name.isupper() for name in variables):
        return False
    parts, other_parts = _parts(left, constants), _parts(right, other_constants)
    if parts is not None and other_parts is not None:
        return _same_span(parts, other_parts, comparison)
    return any(
        same_scalar(left, expression(with_names(right, naming)), comparison)
        for naming in _namings(sorted(other_constants), sorted(constants))
    )


def _constants(names: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    """The names in an expression that denote arbitrary constants."""
    evident = frozenset(name for name in names if _ARBITRARY.fullmatch(name))
    if any(_ARBITRARY.fullmatch(name) for name in others):
        private = names - others
        return evident | frozenset(name for name in private if _PLAUSIBLE.fullmatch(name))
    return evident


@dataclass(frozen=True, slots=True)
class _LinearParts:
    """An expression that is linear in its constants: their coefficients, and the rest."""

    rest: Expr
    factors: list[Expr]


def _parts(node: Expr, names: frozenset[str]) -> _LinearParts | None:
    factors = [factor for name in sorted(names) if (factor := _factor(node, name)) is not None]
    if len(factors) != len(names) or any(_names(factor) & names for factor in factors):
        return None
    return _LinearParts(_with(node, dict.fromkeys(names, Number(0))), factors)


def _factor(node: Expr, name: str) -> Expr | None:
    """The coefficient of a variable, if the expression is linear in it."""
    if _degree(node, name) != 1:
        return None
    match node:
        case Add(terms):
            return total([factor for term in terms if (factor := _factor(term, name)) is not None])
        case Mul(parts):
            factors = [_factor(part, name) if name in _names(part) else part for part in parts]
            return product([factor for factor in factors if factor is not None])
        case Div(top, bottom):
            factor = _factor(top, name)
            return None if factor is None else Div(factor, bottom)
        case Symbol():
            return Number(1)
        case _:
            return None


def _same_span(left: _LinearParts, right: _LinearParts, comparison: AnswerComparer) -> bool:
    """Whether the constants have the same coefficients, and the rests differ by a constant.

    `C` may be multiplied by a number and, where it is added, take up a number: `2C + 5` is any
    number as much as `C` is.
    """
    unpaired = list(right.factors)
    for factor in left.factors:
        partner = next((o for o in unpaired if _same_direction(factor, o, comparison)), None)
        if partner is None:
            return False
        unpaired.remove(partner)
    if same_scalar(left.rest, right.rest, comparison):
        return True
    return any(not _names(factor) for factor in left.factors) and _differ_by_number(
        left.rest, right.rest, comparison.budget
    )


def _same_direction(one: Expr, other: Expr, comparison: AnswerComparer) -> bool:
    """Whether the first expression is the second times a nonzero number."""
    if not _names(one) or not _names(other):
        return not _names(one, other) and bool(_number(one)) and bool(_number(other))
    return proportional(one, other, comparison.budget, positive=False)


def _differ_by_number(left: Expr, right: Expr, budget: WorkBudget) -> bool:
    """Whether two functions differ by a constant."""
    elsewhere = {name: f"{name}'" for name in _names(left, right)}
    moved = expression(with_names(left, elsewhere)), expression(with_names(right, elsewhere))
    return agree(Add((left, moved[1])), Add((right, moved[0])), budget)
