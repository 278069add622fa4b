"""Comparison of matrices and vectors, after their sums and products are carried out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assay.rewards.outcome.maths.compare.comparison import AnswerComparer
from assay.rewards.outcome.maths.compare.scalars import same_scalar
from assay.rewards.outcome.maths.limits import TooLarge
from assay.rewards.outcome.maths.nodes import (
    Add,
    Call,
    Constant,
    Div,
    Expr,
    Group,
    Matrix,
    Mul,
    Node,
    Number,
    Symbol,
    children,
    expression,
    product,
    rebuild,
    substitute,
    total,
    walk,
)

_MOST_PRODUCTS = 500
_MOST_FACTORS = 3
_UNIT_VECTORS: Final = ("hat:i", "hat:j", "hat:k")
_LETTERS: Final[dict[Node, Symbol]] = {
    Constant("i"): Symbol("hat:i"),
    Symbol("j"): Symbol("hat:j"),
    Symbol("k"): Symbol("hat:k"),
}


def involves_matrix(node: Node) -> bool:
    if isinstance(node, Matrix):
        return True
    if isinstance(node, (Add, Mul, Div, Call)):
        return any(map(involves_matrix, children(node)))
    return False


def same_matrix(prediction: Expr, reference: Expr, comparison: AnswerComparer) -> str | None:
    """Return the rule by which two matrix expressions are equal, or None."""
    left, right = carry_out(prediction), carry_out(reference)
    if isinstance(right, Matrix) and not isinstance(left, Matrix):
        left = carry_out(_with_identity(prediction, len(right.rows)))
    elif isinstance(left, Matrix) and not isinstance(right, Matrix):
        right = carry_out(_with_identity(reference, len(left.rows)))
    if not isinstance(left, Matrix) and not isinstance(right, Matrix):
        return same_scalar(left, right, comparison)
    if not isinstance(left, Matrix) or not isinstance(right, Matrix):
        return None
    if len(left.rows) != len(right.rows) or len(left.rows[0]) != len(right.rows[0]):
        return None
    pairs = zip(left.rows, right.rows, strict=True)
    return "matrix" if all(all(map(comparison.same, a, b)) for a, b in pairs) else None


def _with_identity(node: Expr, size: int) -> Expr:
    """Replace the letter I by the identity matrix of the given size."""
    match node:
        case Symbol(name) if name in ("I", f"I_{size}"):
            rows = range(size)
            return _matrix((Number(int(row == column)) for column in rows) for row in rows)
        case Add() | Mul() | Div():
            changed = rebuild(node, lambda child: _with_identity(expression(child), size))
            return expression(changed)
        case _:
            return node


def carry_out(node: Expr) -> Expr:
    """Carry out the sums, products and determinants of matrices in an expression."""
    match node:
        case Add(terms):
            return _sum([carry_out(term) for term in terms])
        case Mul(factors):
            return _product([carry_out(factor) for factor in factors])
        case Div(Matrix() as matrix, bottom):
            return _scale(matrix, Div(Number(1), bottom))
        case Call("det", (Matrix() as matrix,)):
            return _determinant([[expression(cell) for cell in row] for row in matrix.rows])
        case _:
            return node


def _sum(terms: list[Expr]) -> Expr:
    matrices = [term for term in terms if isinstance(term, Matrix)]
    sizes = {(len(matrix.rows), len(matrix.rows[0])) for matrix in matrices}
    if len(matrices) != len(terms) or len(sizes) != 1:
        return total(terms)
    rows = zip(*(matrix.rows for matrix in matrices), strict=True)
    return _matrix(
        (Add(tuple(map(expression, cells))) for cells in zip(*row, strict=True)) for row in rows
    )


def _product(factors: list[Expr]) -> Expr:
    scalars: list[Expr] = [factor for factor in factors if not isinstance(factor, Matrix)]
    matrices = [factor for factor in factors if isinstance(factor, Matrix)]
    if not matrices:
        return product(factors)
    if len(matrices) > _MOST_FACTORS:
        raise TooLarge(f"a product has more than {_MOST_FACTORS} matrices")
    result = matrices[0]
    for matrix in matrices[1:]:
        if len(result.rows[0]) != len(matrix.rows):
            return product(factors)
        result = _times(result, matrix)
    return _scale(result, product(scalars)) if scalars else result


def _times(left: Matrix, right: Matrix) -> Matrix:
    if len(left.rows) * len(right.rows) * len(right.rows[0]) > _MOST_PRODUCTS:
        raise TooLarge("a product of large matrices")
    columns = list(zip(*right.rows, strict=True))
    return _matrix(
        (
            total([Mul((expression(a), expression(b))) for a, b in zip(row, column, strict=True)])
            for column in columns
        )
        for row in left.rows
    )


def _scale(matrix: Matrix, factor: Expr) -> Matrix:
    return _matrix((Mul((factor, expression(cell))) for cell in row) for row in matrix.rows)


def _matrix(rows: Iterable[Iterable[Expr]]) -> Matrix:
    return Matrix(tuple(map(tuple, rows)))


def _determinant(rows: list[list[Expr]]) -> Expr:
    """Return the determinant, for matrices up to 4 x 4."""
    if len(rows) != len(rows[0]) or len(rows) > 4:
        raise TooLarge("a determinant needs a square matrix up to 4 x 4")
    if len(rows) == 1:
        return rows[0][0]
    terms: list[Expr] = []
    for k, entry in enumerate(rows[0]):
        minor = [row[:k] + row[k + 1 :] for row in rows[1:]]
        terms.append(Mul((Number(-1 if k % 2 else 1), entry, _determinant(minor))))
    return total(terms)


def reconcile_vectors(left: Node, right: Node) -> tuple[Node, Node]:
    """Turn sums of unit vectors into tuples in both answers.

    Plain letters are unit vectors if the other side marks them as such, or if both i and j occur
    and the other side is a tuple.
    """
    if isinstance(left, Group) != isinstance(right, Group):
        left, right = point(left), point(right)
    marked = _is_marked(left), _is_marked(right)
    if not any(marked) and not _is_plain_sum(left, right) and not _is_plain_sum(right, left):
        return left, right
    left = left if marked[0] else substitute(left, _LETTERS.get)
    right = right if marked[1] else substitute(right, _LETTERS.get)
    lengths = [size for size in (_length(left), _length(right)) if size]
    if not lengths:
        return left, right
    return _tuple(left, lengths[0]), _tuple(right, lengths[0])


def _is_marked(node: Node) -> bool:
    return any(isinstance(part, Symbol) and part.name in _UNIT_VECTORS for part in walk(node))


def _is_plain_sum(node: Node, other: Node) -> bool:
    if not isinstance(node, Expr) or not _length(other):
        return False
    return {Constant("i"), Symbol("j")} <= set(walk(node))


def _length(node: Node) -> int:
    """The number of components of a tuple or vector, else 0."""
    if isinstance(node, Group) and node.opening in ("(", "["):
        return len(node.items)
    if isinstance(node, Matrix) and (len(node.rows) == 1 or len(node.rows[0]) == 1):
        return max(len(node.rows), len(node.rows[0]))
    return 0


def _tuple(node: Node, length: int) -> Node:
    if not isinstance(node, Expr) or isinstance(node, Matrix) or not 2 <= length <= 3:
        return node
    parts: dict[str, list[Expr]] = {name: [] for name in _UNIT_VECTORS[:length]}
    for term in node.terms if isinstance(node, Add) else (node,):
        split = _component(term)
        if split is None or split[0] not in parts:
            return node
        parts[split[0]].append(split[1])
    return Group("(", tuple(total(part) if part else Number(0) for part in parts.values()), ")")


def _component(term: Expr) -> tuple[str, Expr] | None:
    """Split a term such as `3i` into its unit vector and its coefficient."""
    match term:
        case Symbol(name) if name in _UNIT_VECTORS:
            return name, Number(1)
        case Mul(factors):
            marked = [factor for factor in factors if _is_marked(factor)]
            split = _component(marked[0]) if len(marked) == 1 else None
            if split is None:
                return None
            return split[0], product([*(f for f in factors if f is not marked[0]), split[1]])
        case Div(top, bottom) if not _is_marked(bottom):
            split = _component(top)
            return None if split is None else (split[0], Div(split[1], bottom))
        case _:
            return None


def point(node: Node) -> Node:
    """Turn a named point such as `P(1, 2)` into the tuple `(1, 2)`."""
    match node:
        case Call(name, (_, _, *_) as arguments, True) if len(name) == 1 and name.isupper():
            return Group("(", arguments, ")")
        case _:
            return node
