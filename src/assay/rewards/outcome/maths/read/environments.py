"""Environments of TeX: matrices, systems of statements, and functions given in pieces."""

from __future__ import annotations

from typing import Final

from assay.rewards.outcome.maths.limits import MAX_CELLS, TooLarge, UnreadableAnswer
from assay.rewards.outcome.maths.nodes import Call, Group, Matrix, Node
from assay.rewards.outcome.maths.read import lexicon
from assay.rewards.outcome.maths.read.cursor import Cursor
from assay.rewards.outcome.maths.read.items import read_item

_CONDITION_WORDS: Final = frozenset({"if", "for", "when", "where", "on"})


def read_environment(cursor: Cursor) -> Node:
    """A matrix, a system of statements, or a function given in pieces."""
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
            raise TooLarge(f"a matrix of more than {MAX_CELLS:,} entries")
        if cursor.accept("op", "&"):
            continue
        breaks = False
        while cursor.accept("command", "row") or cursor.accept("command", "hline"):
            breaks = True
        if cursor.accept("command", "end"):
            return rows
        if not breaks:
            raise UnreadableAnswer(f"{cursor.token.text or 'the end'!r} in a matrix")
        rows.append([])


def _read_cell(cursor: Cursor, *, first: bool) -> Node:
    """One entry, without the comma that may end it or the `if` that may start it."""
    if not first and cursor.token.text.lower() in _CONDITION_WORDS:
        cursor.take()
    cell = read_item(cursor)
    while cursor.token.kind == "sep" and cursor.token.text in (",", ";"):
        cursor.take()
    return cell


def _read_system(cursor: Cursor, *, aligned: bool) -> Node:
    """Statements one below the other; two columns are values with their conditions."""
    if aligned:
        _drop_alignment(cursor)
    rows = _read_rows(cursor)
    widths = {len(row) for row in rows}
    if widths == {1}:
        items = tuple(row[0] for row in rows)
        return items[0] if len(items) == 1 else Group("", items, "")
    if widths != {2}:
        raise UnreadableAnswer("a system with rows of different lengths")
    return Group("{", tuple(Group("(", tuple(row), ")") for row in rows), "}")


def _drop_alignment(cursor: Cursor) -> None:
    """The marks at which lines are aligned are layout."""
    end = cursor.at
    while cursor.tokens[end].kind != "end" and cursor.tokens[end].text != "end":
        end += 1
    unaligned = [token for token in cursor.tokens[cursor.at : end] if token.text != "&"]
    cursor.tokens[cursor.at : end] = unaligned


def _matrix(rows: list[list[Node]], environment: str) -> Node:
    if len({len(row) for row in rows}) != 1:
        raise UnreadableAnswer("matrix rows of different lengths")
    matrix = Matrix(tuple(tuple(row) for row in rows))
    return Call("det", (matrix,)) if environment == "vmatrix" else matrix
