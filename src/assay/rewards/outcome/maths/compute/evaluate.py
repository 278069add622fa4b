"""The value of an expression: an exact rational number, or a decimal at a point."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from decimal import Decimal, DecimalException, getcontext
from fractions import Fraction
from typing import Any, Final
from zlib import crc32

from assay.rewards.outcome.maths.compute import complexes, rationals
from assay.rewards.outcome.maths.compute.complexes import Complex
from assay.rewards.outcome.maths.compute.decimals import (
    ONE,
    PI,
    ZERO,
    NotReal,
    nearest_integer,
    power,
)
from assay.rewards.outcome.maths.compute.notations import COMBINED, CONSTANTS, FUNCTIONS
from assay.rewards.outcome.maths.limits import TooLarge, WorkBudget
from assay.rewards.outcome.maths.nodes import (
    INFINITY,
    Add,
    BasedNumeral,
    BigOperator,
    Call,
    Constant,
    DegreeAngle,
    Div,
    Expr,
    Mul,
    Node,
    Number,
    Power,
    Rational,
    Relation,
    Symbol,
    children,
    walk,
)

LONGEST_RANGE: Final = 120
"""Most terms of a sum or product that is added up."""
Point = Mapping[str, Decimal]


class NumericEvaluator:
    """Evaluates expressions at one point, within a work budget."""

    def __init__(self, point: Point, budget: WorkBudget, *, real: bool) -> None:
        self.point = dict(point)
        self.budget = budget
        self.real = real
        self.smallest = 0
        """Decimal exponent of the smallest value, not zero, that was met on the way."""
        self.largest = 0
        """Decimal exponent of the largest."""
        digits = getcontext().prec
        self._weight = 1 + digits // 200
        # A series has more terms as well as longer ones.
        self._series_weight = 1 + (digits // 70) ** 2

    def value(self, node: Expr) -> Complex:
        """Return the value; raise NotReal if there is none, TooLarge if the budget is used up."""
        try:
            return self._at(node)
        except DecimalException as error:
            raise NotReal from error

    def _at(self, node: Expr) -> Complex:
        self.budget.spend(2 * self._weight)
        rule = _RULES.get(type(node))
        if rule is None:
            raise NotReal
        return rule(self, node)

    def _sized(self, value: Complex) -> Complex:
        """Record the size of a value, and return the value."""
        for part in value:
            if part:
                exponent = part.adjusted()
                if exponent > self.largest:
                    self.largest = exponent
                elif exponent < self.smallest:
                    self.smallest = exponent
        return value

    def number(self, node: Number) -> Complex:
        return self._sized(Complex(decimal(node.value), ZERO))

    def based(self, node: BasedNumeral) -> Complex:
        value = rational(node, self.budget)
        if value is None:
            raise NotReal
        return Complex(decimal(value), ZERO)

    def symbol(self, node: Symbol) -> Complex:
        return self._sized(Complex(self.point[node.name], ZERO))

    def constant(self, node: Constant) -> Complex:
        value = CONSTANTS[node.name]
        if value is None or (value.im and self.real):
            raise NotReal
        return Complex(+value.re, value.im)

    def sum(self, node: Add) -> Complex:
        re, im = ZERO, ZERO
        for term in node.terms:
            value = self._at(term)
            re += value.re
            im += value.im
        return Complex(re, im)

    def product(self, node: Mul) -> Complex:
        result = complexes.UNIT
        for factor in node.factors:
            value = self._at(factor)
            if value.im or result.im:
                result = complexes.multiply(result, value)
            else:
                result = Complex(result.re * value.re, ZERO)
        return result

    def quotient(self, node: Div) -> Complex:
        top, bottom = self._at(node.top), self._at(node.bottom)
        if not (top.im or bottom.im):
            return Complex(top.re / bottom.re, ZERO)
        return complexes.divide(top, bottom)

    def power(self, node: Power) -> Complex:
        return self._sized(self._power(node))

    def _power(self, node: Power) -> Complex:
        if isinstance(node.base, Constant) and node.base.name == "e":
            return self._function("exp", self._at(node.exponent))
        base = self._at(node.base)
        exponent = self._at(node.exponent)
        if base.im == 0 and exponent.im == 0:
            if base.re < 0:
                return self._negative_base(base, exponent, node.exponent)
            is_whole = exponent.re == exponent.re.to_integral_value()
            self.budget.spend(4 * (self._weight if is_whole else self._series_weight))
            return Complex(power(base.re, exponent.re), ZERO)
        self.budget.spend(40 * self._series_weight)
        return complexes.power(base, exponent)

    def _negative_base(self, base: Complex, exponent: Complex, node: Expr) -> Complex:
        """A power of a negative number; odd roots are real, so the cube root of -8 is -2."""
        exact = rational_or_none(node, self.budget)
        if exact is not None and exact.denominator % 2:
            size = power(-base.re, exponent.re)
            return Complex(-size if exact.numerator % 2 else size, ZERO)
        if self.real:
            return Complex(power(base.re, exponent.re), ZERO)
        return complexes.power(base, exponent)

    def degree(self, node: DegreeAngle) -> Complex:
        return complexes.scale(self._at(node.term), PI / 180)

    def call(self, node: Call) -> Complex:
        if node.opaque:
            return self._unknown(node.name, [self._at(a) for a in node.arguments])
        if node.name == "root":
            radicand, index = node.arguments
            return self.power(Power(radicand, Div(Number(1), index)))
        values = [self._at(argument) for argument in node.arguments]
        if len(values) == 1:
            return self._sized(self._function(node.name, values[0]))
        if node.name == "log" and len(values) == 2:
            top, base = (self._function("ln", value) for value in values)
            return complexes.divide(top, base)
        row = FUNCTIONS[node.name]
        fits = row.arity[0] <= len(values) <= row.arity[1]
        if row.real is None or not fits or any(value.im for value in values):
            raise NotReal
        return Complex(row.real(*(value.re for value in values)), ZERO)

    def _function(self, name: str, a: Complex) -> Complex:
        """The value of a function of one argument, real where a real value exists."""
        row = FUNCTIONS[name]
        if row.reciprocal:
            return complexes.divide(complexes.UNIT, self._function(row.reciprocal, a))
        if row.at_reciprocal:
            inverse = complexes.divide(complexes.UNIT, a)
            return self._function(row.at_reciprocal, inverse)
        if name == "log":
            return complexes.scale(self._function("ln", a), ONE / Decimal(10).ln())
        self.budget.spend(row.cost * self._series_weight)
        if a.im == 0 and row.real is not None and row.arity[0] == 1:
            try:
                return Complex(row.real(a.re), ZERO)
            except NotReal:
                if self.real or row.complex is None:
                    raise
        if row.complex is None:
            raise NotReal
        return row.complex(a)

    def _unknown(self, name: str, values: list[Complex]) -> Complex:
        """A stand-in value for an unknown function; equal names and arguments give equal values."""
        seed = crc32(name.encode())
        result = Complex(Decimal(seed % 997 + 1) / 499, ZERO)
        for index, value in enumerate(values):
            weight = Decimal((seed >> (index % 8)) % 887 + 3) / 443
            shifted = Complex(value.re + weight, value.im)
            square = complexes.multiply(shifted, shifted)
            result = complexes.add(complexes.scale(result, weight), square)
        return result

    def big(self, node: BigOperator) -> Complex:
        """The value of a finite sum or product; a stand-in value for other operators."""
        finite = self._finite(node)
        if finite is not None:
            return finite
        bound = running_name(node)
        if bound and bound not in self.point:
            self.point[bound] = Decimal(crc32(bound.encode()) % 9973) / 4999
        parts: list[Expr] = [node.body]
        infinite = 0
        for place, side in enumerate((node.lower, node.upper)):
            for part in side.sides[1:] if isinstance(side, Relation) else (side,):
                finite_part = _finite_expression(part)
                if finite_part is not None:
                    parts.append(finite_part)
                elif part is not None:
                    infinite += 1 << place
        signs = node.lower.operators if isinstance(node.lower, Relation) else ()
        name = f"{node.operator}{infinite}{''.join(signs)}"
        return self._unknown(name, [self._at(part) for part in parts])

    def _finite(self, node: BigOperator) -> Complex | None:
        name = running_name(node)
        ends = finite_range(node)
        if ends is None:
            return None
        start, combine = COMBINED[node.operator]
        first, last = (nearest_integer(self._at(end).re) for end in ends)
        if first is None or last is None or last - first > LONGEST_RANGE:
            return None
        earlier = self.point.get(name)
        result = Complex(start, ZERO)
        for k in range(int(first), int(last) + 1):
            self.point[name] = Decimal(k)
            self.budget.spend(2)
            result = combine(result, self._at(node.body))
        if earlier is None:
            del self.point[name]
        else:
            self.point[name] = earlier
        return result


def decimal(value: Rational) -> Decimal:
    if isinstance(value, int):
        return Decimal(value)
    return Decimal(value.numerator) / Decimal(value.denominator)


def rational(node: Expr, budget: WorkBudget) -> Rational | None:
    """The exact value, or None if no rational value is known; raises TooLarge above the limit."""
    match node:
        case Number(value):
            return value
        case Add(terms):
            return _fold(operator.add, 0, terms, budget)
        case Mul(factors):
            return _fold(operator.mul, 1, factors, budget)
        case Div(top, bottom):
            a, b = rational(top, budget), rational(bottom, budget)
            return rationals.bounded(Fraction(a) / b, budget) if a is not None and b else None
        case Power(base, exponent):
            a, b = rational(base, budget), rational(exponent, budget)
            return None if a is None or b is None else rationals.power(a, b)
        case Call(name, arguments, False):
            return _rational_call(name, [rational(argument, budget) for argument in arguments])
        case BasedNumeral(numeral, base):
            return rationals.in_base(numeral, base)
        case _:
            return None


def _fold(
    combine: Callable[[Rational, Rational], Rational],
    start: Rational,
    parts: tuple[Expr, ...],
    budget: WorkBudget,
) -> Rational | None:
    result = start
    for part in parts:
        value = rational(part, budget)
        if value is None:
            return None
        result = rationals.bounded(combine(result, value), budget)
    return result


def _rational_call(name: str, arguments: list[Rational | None]) -> Rational | None:
    row = FUNCTIONS[name]
    fewest, most = row.arity
    if row.exact is None or None in arguments or not fewest <= len(arguments) <= most:
        return None
    return row.exact(*arguments)


def rational_or_none(node: Expr, budget: WorkBudget) -> Rational | None:
    try:
        return rational(node, budget)
    except TooLarge:
        return None


# Any: each rule takes the node type that is its key
_RULES: Final[dict[type, Callable[[NumericEvaluator, Any], Complex]]] = {
    Number: NumericEvaluator.number,
    BasedNumeral: NumericEvaluator.based,
    Symbol: NumericEvaluator.symbol,
    Constant: NumericEvaluator.constant,
    Add: NumericEvaluator.sum,
    Mul: NumericEvaluator.product,
    Div: NumericEvaluator.quotient,
    Power: NumericEvaluator.power,
    DegreeAngle: NumericEvaluator.degree,
    Call: NumericEvaluator.call,
    BigOperator: NumericEvaluator.big,
}


def running_name(node: BigOperator) -> str:
    """The running variable of a sum, product or limit, or ""."""
    match node.lower:
        case Relation((Symbol(name), *_)) | Symbol(name):
            return name
        case _:
            return ""


def finite_range(node: BigOperator) -> tuple[Expr, Expr] | None:
    """The first and last index of a finite sum or product, or None."""
    if node.operator not in COMBINED or not running_name(node):
        return None
    if not isinstance(node.lower, Relation) or node.lower.operators != ("=",):
        return None
    low, high = _finite_expression(node.lower.sides[1]), _finite_expression(node.upper)
    return None if low is None or high is None else (low, high)


def is_unevaluated(node: Node) -> bool:
    """Whether the tree contains an integral, a limit, or a sum that is too long to add up."""
    return any(isinstance(part, BigOperator) and not _is_added_up(part) for part in walk(node))


def _is_added_up(node: BigOperator) -> bool:
    ends = finite_range(node)
    if ends is None:
        return False
    first, last = (rational_or_none(end, WorkBudget()) for end in ends)
    return first is None or last is None or last - first <= LONGEST_RANGE


def _finite_expression(node: Node | None) -> Expr | None:
    """The node if it is an expression without infinity, else None."""
    if not isinstance(node, Expr) or INFINITY in (node, *children(node)):
        return None
    return node
