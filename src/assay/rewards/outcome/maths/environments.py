"""Environments of TeX: matrices, systems of statements, and functions given in pieces."""

from __future__ import annotations

from abc import abstractmethod
from typing import Final

from assay.rewards.outcome.maths import lexicon
from assay.rewards.outcome.maths.expressions import ExpressionReader
from assay.rewards.outcome.maths.limits import MAX_CELLS, TooLarge, UnreadableAnswer
from assay.rewards.outcome.maths.nodes import Call, Group, Matrix, Node

_CONDITION_WORDS: Final = frozenset({"if", "for", "when", "where", "on"})


class EnvironmentReader(ExpressionReader):
    """Reads what stands between `\\begin` and `\\end`; items are read by the subclass."""

    @abstractmethod
    def read_item(self) -> Node: ...

    def read_matrix(self) -> Node:
        self.enter()
        environment = self._read_environment()
        if environment in ("array", "alignedat") and self.token.text == "{":
            while not self.accept("close", "}"):
                if self.take().kind == "end":
                    raise UnreadableAnswer("an unclosed column specification")
        if environment in lexicon.MATRICES:
            node = _matrix(self._read_rows(), environment)
        elif environment in lexicon.SYSTEMS:
            node = self._read_system(aligned=environment != "cases")
        else:
            raise UnreadableAnswer(f"environment {environment!r}")
        if self._read_environment() != environment:
            raise UnreadableAnswer("environments that do not match")
        self.leave()
        return node

    def _read_environment(self) -> str:
        self.expect("open", "{")
        name = ""
        while not self.accept("close", "}"):
            token = self.take()
            if token.kind == "end" or len(name) > 20:
                raise UnreadableAnswer("an environment without a name")
            name += token.text
        return name.rstrip("*")

    def _read_rows(self) -> list[list[Node]]:
        rows: list[list[Node]] = [[]]
        cells = 0
        while True:
            rows[-1].append(self._read_cell(first=not rows[-1]))
            cells += 1
            if cells > MAX_CELLS:
                raise TooLarge(f"a matrix of more than {MAX_CELLS:,} entries")
            if self.accept("op", "&"):
                continue
            breaks = False
            while self.accept("command", "row") or self.accept("command", "hline"):
                breaks = True
            if self.accept("command", "end"):
                return rows
            if not breaks:
                raise UnreadableAnswer(f"{self.token.text or 'the end'!r} in a matrix")
            rows.append([])

    def _read_cell(self, *, first: bool) -> Node:
        """One entry, without the comma that may end it or the `if` that may start it."""
        if not first and self.token.text.lower() in _CONDITION_WORDS:
            self.take()
        cell = self.read_item()
        while self.token.kind == "sep" and self.token.text in (",", ";"):
            self.take()
        return cell

    def _read_system(self, *, aligned: bool) -> Node:
        """Statements one below the other; two columns are values with their conditions."""
        if aligned:
            self._drop_alignment()
        rows = self._read_rows()
        widths = {len(row) for row in rows}
        if widths == {1}:
            items = tuple(row[0] for row in rows)
            return items[0] if len(items) == 1 else Group("", items, "")
        if widths != {2}:
            raise UnreadableAnswer("a system with rows of different lengths")
        return Group("{", tuple(Group("(", tuple(row), ")") for row in rows), "}")

    def _drop_alignment(self) -> None:
        """The marks at which lines are aligned are layout."""
        end = self.at
        while self.tokens[end].kind != "end" and self.tokens[end].text != "end":
            end += 1
        unaligned = [token for token in self.tokens[self.at : end] if token.text != "&"]
        self.tokens[self.at : end] = unaligned


def _matrix(rows: list[list[Node]], environment: str) -> Node:
    if len({len(row) for row in rows}) != 1:
        raise UnreadableAnswer("matrix rows of different lengths")
    matrix = Matrix(tuple(tuple(row) for row in rows))
    return Call("det", (matrix,)) if environment == "vmatrix" else matrix
