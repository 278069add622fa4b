"""Parser rules for TeX commands and environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn, TypeAlias, get_args

from assay.rewards.outcome.maths.compute.notations import BRACED, FUNCTIONS
from assay.rewards.outcome.maths.limits import MAX_CELLS, TooLarge, UnreadableAnswer
from assay.rewards.outcome.maths.nodes import (
    INFINITY,
    BigOperator,
    Call,
    CallOrProduct,
    Constant,
    Div,
    Expr,
    Group,
    IntervalNode,
    Matrix,
    Mul,
    Node,
    Number,
    OperatorName,
    Power,
    Relation,
    SetDifference,
    Symbol,
    expression,
    negate,
    with_variable,
)
from assay.rewards.outcome.maths.read import lexicon
from assay.rewards.outcome.maths.read.arithmetic import (
    STOP_COMMANDS,
    read_argument,
    read_signed_product,
)
from assay.rewards.outcome.maths.read.atoms import maybe_apply, read_primes, read_subscript
from assay.rewards.outcome.maths.read.items import read_item
from assay.rewards.outcome.maths.read.tokens import Cursor

_OPERATORS: Final[dict[str, OperatorName]] = {name: name for name in get_args(OperatorName)}
_DIFFERENTIALS: Final = {Symbol("d"): "", Symbol("partial"): "partial "}
_HIGHEST_ORDER: Final = 9
_CONDITION_WORDS: Final = frozenset({"if", "for", "when", "where", "on"})
CommandRule: TypeAlias = Callable[[Cursor, str], Node]


def read_command(cursor: Cursor) -> Node:
    """Parse a command with its arguments."""
    name = cursor.take().text
    return _COMMANDS.get(name, _read_symbol)(cursor, name)


def _read_fraction(cursor: Cursor, _name: str) -> Expr:
    cursor.enter()
    fraction = _quotient(read_argument(cursor), read_argument(cursor))
    cursor.leave()
    return fraction


def _read_braced(cursor: Cursor, name: str) -> Expr:
    """Parse a function with arguments in braces."""
    function = BRACED[name]
    count, _ = FUNCTIONS[function].arity
    return Call(function, tuple(read_argument(cursor) for _ in range(count)))


def _read_box(cursor: Cursor, _name: str) -> Node:
    return cursor.read_group() if cursor.token.kind == "open" else read_argument(cursor)


def _refuse(_cursor: Cursor, name: str) -> NoReturn:
    raise UnreadableAnswer(f"\\{name} stands in the place of a value")


def _read_figure(cursor: Cursor, name: str) -> Expr:
    """Parse an angle or another figure; the angle ABC is the angle CBA."""
    figure = lexicon.FIGURES[name]
    braced = cursor.token.text == "{"
    if braced:
        cursor.take()
    points: list[str] = []
    while cursor.token.kind == "name" and (cursor.token.text.isupper() or not points):
        points.extend(cursor.take().text)
        points[-1] += read_primes(cursor)
        if cursor.token.text == "_" and cursor.peek().kind == "number":
            points[-1] += cursor.take().text + cursor.take().text
    if not points and cursor.token.kind == "number":
        points = [cursor.take().text]
    if braced:
        cursor.expect("close", "}")
    if figure == "angle" and len(points) == 3:
        points = min(points, points[::-1])
    return Symbol(" ".join([figure, "".join(points)]) if points else figure)


def _read_symbol(cursor: Cursor, name: str) -> Expr:
    """Parse a Greek letter or an unknown command, which counts as a letter."""
    if cursor.token.kind == "op" and cursor.token.text == "_":
        return read_subscript(cursor, name)
    name = name.removeprefix("var") + read_primes(cursor)
    return maybe_apply(cursor, name) if name in lexicon.GREEK else Symbol(name)


def _read_styled(cursor: Cursor, _name: str) -> Node:
    """Parse a group in bold or another style; a bold i, j or k is a unit vector."""
    token, after, closing = cursor.token, cursor.peek(1), cursor.peek(2)
    letter = after if token.text == "{" and closing.text == "}" else token
    if letter.kind in ("name", "constant") and letter.text in ("i", "j", "k"):
        return _read_decorated(cursor, "hat")
    return cursor.read_group() if token.kind == "open" else read_argument(cursor)


def _read_decorated(cursor: Cursor, name: str) -> Node:
    """Parse a letter with an accent or in another alphabet, which is another name."""
    token, after, closing = cursor.token, cursor.peek(1), cursor.peek(2)
    if token.text == "{" and closing.text == "}" and after.kind in ("name", "constant"):
        cursor.at += 3
        inner = after.text
    elif token.kind in ("name", "constant"):
        inner = cursor.take().text
    else:
        inner = repr(read_argument(cursor))
    if name == "mathbb" and inner in "RQZ":
        part = _read_part(cursor)
        if part and inner == "R":
            return _PARTS_OF_LINE[part]
        if part or inner != "Z" or cursor.token.text != "_":
            return Symbol(f"mathbb:{inner}{part}")
    if cursor.token.kind == "op" and cursor.token.text == "_":
        return read_subscript(cursor, f"{name}:{inner}")
    return Symbol(f"{name}:{inner}")


def _read_part(cursor: Cursor) -> str:
    """Parse the mark of a subset of the numbers, such as `+` in `\\mathbb{R}^+`."""
    ahead = "".join(cursor.peek(k).text for k in range(7)) if cursor.token.kind == "op" else ""
    for mark, part in lexicon.PARTS_OF_LINE.items():
        for spelling in (f"{mark[0]}{{{mark[1:]}}}", mark):
            if ahead.startswith(spelling):
                cursor.at += len(spelling) - spelling.count(">=") - spelling.count("<=")
                return part
    return ""


_PARTS_OF_LINE: Final[dict[str, Node]] = {
    ">0": IntervalNode("(", Number(0), INFINITY, ")"),
    ">=0": IntervalNode("[", Number(0), INFINITY, ")"),
    "<0": IntervalNode("(", negate(INFINITY), Number(0), ")"),
    "<=0": IntervalNode("(", negate(INFINITY), Number(0), "]"),
    "!=0": SetDifference(Symbol("mathbb:R"), Group("{", (Number(0),), "}")),
}


def _read_big(cursor: Cursor, name: str) -> Expr:
    """Parse a sum, product, integral or limit with its bounds and its body."""
    cursor.enter()
    lower: Node | None = None
    upper: Node | None = None
    for _ in range(2):
        if cursor.accept("op", "_"):
            lower = _read_bound(cursor)
        elif cursor.accept("op", "^"):
            upper = _read_bound(cursor)
    body = read_signed_product(cursor)
    cursor.leave()
    if isinstance(lower, Relation) and lower.sides[0] == Constant("i"):
        lower, body = with_variable(lower, "i"), expression(with_variable(body, "i"))
    return BigOperator(_OPERATORS[name], lower, upper, body)


def _read_bound(cursor: Cursor) -> Node:
    """Parse a bound of a sum; in braces it may be a relation such as `k=1`."""
    return cursor.read_group() if cursor.token.text == "{" else read_argument(cursor)


def _quotient(top: Expr, bottom: Expr) -> Expr:
    """Return a fraction, or the derivative for a fraction such as `\\frac{dy}{dx}`."""
    order = _order_below(bottom)
    if order is None:
        return Div(top, bottom)
    sign, variable, count = order
    lead = sign if count == 1 else Power(sign, Number(count))
    match top:
        case Mul((first, Symbol(name))) if first == lead:
            pass
        case Mul((first, CallOrProduct(name, (argument,)))) if (
            first == lead and argument == variable
        ):
            pass
        case Power(base, Number(power)) if base == sign and power == count:
            name = "d"
        case Symbol() if top == lead:
            name = "d"
        case _:
            return Div(top, bottom)
    return CallOrProduct(_DIFFERENTIALS[sign] + name + "'" * count, (variable,))


def _order_below(bottom: Expr) -> tuple[Symbol, Symbol, int] | None:
    """Split `dx` or `dx^n` into its sign, its variable and n, or return None."""
    match bottom:
        case Mul((Symbol() as sign, Symbol() as variable)) if sign in _DIFFERENTIALS:
            return sign, variable, 1
        case Mul((Symbol() as sign, Power(Symbol() as variable, Number(int(count))))) if (
            sign in _DIFFERENTIALS and 1 < count <= _HIGHEST_ORDER
        ):
            return sign, variable, count
        case _:
            return None


def _read_environment(cursor: Cursor, _name: str) -> Node:
    """Parse a matrix, a system of equations, or a piecewise function."""
    cursor.enter()
    environment = _read_environment_name(cursor)
    if environment in ("array", "alignedat") and cursor.token.text == "{":
        while not cursor.accept("close", "}"):
            if cursor.take().kind == "end":
                raise UnreadableAnswer("an unclosed column specification")
    if environment in lexicon.MATRICES:
        node = _matrix(_read_rows(cursor), environment)
    elif environment in lexicon.SYSTEMS:
        node = _read_system(cursor, aligned=environment != "cases")
    else:
        raise UnreadableAnswer(f"environment {environment!r}")
    if _read_environment_name(cursor) != environment:
        raise UnreadableAnswer("environments that do not match")
    cursor.leave()
    return node


def _read_environment_name(cursor: Cursor) -> str:
    cursor.expect("open", "{")
    name = ""
    while not cursor.accept("close", "}"):
        token = cursor.take()
        if token.kind == "end" or len(name) > 20:
            raise UnreadableAnswer("an environment without a name")
        name += token.text
    return name.rstrip("*")


def _read_rows(cursor: Cursor) -> list[list[Node]]:
    rows: list[list[Node]] = [[]]
    cells = 0
    while True:
        rows[-1].append(_read_cell(cursor, first=not rows[-1]))
        cells += 1
        if cells > MAX_CELLS:
            raise TooLarge(f"a matrix has more than {MAX_CELLS:,} entries")
        if cursor.accept("op", "&"):
            continue
        breaks = False
        while cursor.accept("command", "row") or cursor.accept("command", "hline"):
            breaks = True
        if cursor.accept("command", "end"):
            return rows
        if not breaks:
            raise UnreadableAnswer(
                f"{cursor.token.text or 'the end'!r} stands after a matrix entry"
            )
        rows.append([])


def _read_cell(cursor: Cursor, *, first: bool) -> Node:
    """Parse one entry of a matrix, without a comma after it or the word `if` before it."""
    if not first and cursor.token.text.lower() in _CONDITION_WORDS:
        cursor.take()
    cell = read_item(cursor)
    while cursor.token.kind == "sep" and cursor.token.text in (",", ";"):
        cursor.take()
    return cell


def _read_system(cursor: Cursor, *, aligned: bool) -> Node:
    """Parse a system of statements; two columns are values and their conditions."""
    if aligned:
        _drop_alignment(cursor)
    rows = _read_rows(cursor)
    widths = {len(row) for row in rows}
    if widths == {1}:
        items = tuple(row[0] for row in rows)
        return items[0] if len(items) == 1 else Group("", items, "")
    if widths != {2}:
        raise UnreadableAnswer("the rows of a system have different lengths")
    return Group("{", tuple(Group("(", tuple(row), ")") for row in rows), "}")


def _drop_alignment(cursor: Cursor) -> None:
    """Remove the alignment marks `&` of an environment."""
    end = cursor.at
    while cursor.tokens[end].kind != "end" and cursor.tokens[end].text != "end":
        end += 1
    unaligned = [token for token in cursor.tokens[cursor.at : end] if token.text != "&"]
    cursor.tokens[cursor.at : end] = unaligned


def _matrix(rows: list[list[Node]], environment: str) -> Node:
    if len({len(row) for row in rows}) != 1:
        raise UnreadableAnswer("the rows of a matrix have different lengths")
    matrix = Matrix(tuple(tuple(row) for row in rows))
    return Call("det", (matrix,)) if environment == "vmatrix" else matrix


_COMMANDS: Final[dict[str, CommandRule]] = {
    **dict.fromkeys(("emptyset", "varnothing"), lambda _cursor, _name: Symbol("emptyset")),
    **dict.fromkeys((*STOP_COMMANDS, *lexicon.UNREAD), _refuse),
    **dict.fromkeys(lexicon.FIGURES, _read_figure),
    **dict.fromkeys(lexicon.FONTS, _read_styled),
    **dict.fromkeys(lexicon.DECORATIONS, _read_decorated),
    **dict.fromkeys(("boxed", "fbox"), _read_box),
    **dict.fromkeys(_OPERATORS, _read_big),
    **dict.fromkeys(BRACED, _read_braced),
    "begin": _read_environment,
    "frac": _read_fraction,
}
