"""Definite integrals of polynomials, worked out exactly; any other integral is left as it is."""

from __future__ import annotations

from typing import Final

from assay.rewards.outcome.maths.compute.algebra import (
    ONE,
    Monomial,
    PolynomialRing,
    ZeroDenominator,
    quotient,
)
from assay.rewards.outcome.maths.limits import TooLarge, WorkBudget
from assay.rewards.outcome.maths.nodes import (
    INFINITY,
    Add,
    Big,
    Constant,
    ConstantName,
    Div,
    Expr,
    Mul,
    Node,
    Number,
    Power,
    Rational,
    Symbol,
    expression,
    negate,
    product,
    rebuild,
    total,
    walk,
)

_CONSTANTS: Final[dict[str, ConstantName]] = {"pi": "pi", "e": "e", "i": "i"}
_MOST_STEPS: Final = 400


def with_integrals(node: Node) -> Node:
    """The tree with each definite integral of a polynomial in its place worked out."""
    if not isinstance(node, Big) or node.operator != "int":
        return rebuild(node, with_integrals)
    return _worked_out(node) or node


def _worked_out(node: Big) -> Expr | None:
    """The value of an integral, or of integrals one inside the other with all their ends.

    Of several differentials the first belongs to the innermost integral.
    """
    ends: list[tuple[Node | None, Node | None]] = []
    body: Expr = node
    while isinstance(body, Big) and body.operator == "int":
        ends.append((body.lower, body.upper))
        body = body.body
    factors = list(body.factors) if isinstance(body, Mul) else [body]
    names: list[str] = []
    for _ in ends:
        match factors[-2:]:
            case [Symbol("d"), Symbol(name)]:
                names.append(name)
                del factors[-2:]
            case _:
                return None
    value = expression(with_integrals(product(factors))) if factors else Number(1)
    for (low, high), name in zip(reversed(ends), reversed(names), strict=True):
        integral = _integral(value, name, low, high)
        if integral is None:
            return None
        value = integral
    return value


def _integral(body: Expr, name: str, low: Node | None, high: Node | None) -> Expr | None:
    if not isinstance(low, Expr) or not isinstance(high, Expr):
        return None
    if {INFINITY, Symbol(name)} & set(walk(low, high)):
        return None
    try:
        return _between(body, name, low, high)
    except (TooLarge, ZeroDenominator):
        return None


def _between(body: Expr, name: str, low: Expr, high: Expr) -> Expr | None:
    ring = PolynomialRing(WorkBudget(_MOST_STEPS))
    value = quotient(body, ring)
    atom = ring.atom("symbol", name)
    kinds = {kind for kind, _ in ring.atoms}
    below = {part for monomial in value.bottom for part, _ in monomial}
    if not kinds <= {"symbol", "prime", *_CONSTANTS} or atom in below:
        return None
    terms: list[Expr] = []
    for monomial, coefficient in value.top.items():
        power = next((exponent for part, exponent in monomial if part == atom), 0)
        if not isinstance(power, int):
            return None
        rest = tuple(part for part in monomial if part[0] != atom)
        last, first = (Power(end, Number(power + 1)) for end in (high, low))
        factor = _term(rest, coefficient, ring)
        terms.append(Div(Mul((factor, Add((last, negate(first))))), Number(power + 1)))
    top = total(terms) if terms else Number(0)
    if value.bottom == ONE:
        return top
    return Div(top, total([_term(*term, ring) for term in value.bottom.items()]))


def _term(monomial: Monomial, coefficient: Rational, ring: PolynomialRing) -> Expr:
    factors: list[Expr] = [Number(coefficient)]
    for atom, exponent in monomial:
        kind, key = ring.atoms[atom]
        base: Expr = Number(key) if isinstance(key, int) else Symbol(str(key))
        if kind in _CONSTANTS:
            base = Constant(_CONSTANTS[kind])
        factors.append(Power(base, Number(exponent)))
    return product(factors)
