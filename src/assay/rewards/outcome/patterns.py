"""Match regular expressions in linear time, whatever the text is.

Python's own matcher goes back and tries again, and a response can be written that makes it do so
for hours. Here the expression becomes a graph of states, and the text is read once: each character
leads from one set of states to the next, and the sets are remembered. What cannot be matched so
(back-references, looking around) is refused when the expression is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

MAX_STATES: Final = 500
MAX_SETS: Final = 2_000
"""Sets of states that are remembered; further ones are worked out again each time."""
MAX_MOVES: Final = 2_000
"""Characters whose move is remembered for one set."""
MAX_WORK: Final = 1_000_000
"""States that are looked at for one text, beyond what is remembered: a second's work or two."""

# Private to the standard library, and the only reader of its syntax; it has no types.
_SYNTAX: Any = import_module("re._parser")

_Test = Callable[[str], bool]


class UnsafePattern(ValueError):
    """A regular expression is refused; the message says why."""


class TooMuchWork(Exception):
    """Matching a text takes more steps than are allowed."""


class TextPattern:
    """A compiled regular expression that matches a whole text in bounded time."""

    def __init__(self, start: int, graph: _Graph) -> None:
        self._graph = graph
        self._sets: dict[frozenset[int], _StateSet] = {}
        self._start = self._set(graph.reach([start]))

    def matches(self, text: str) -> bool:
        """Whether the whole text matches. Raises `TooMuchWork` if matching takes too long."""
        current, left = self._start, MAX_WORK
        for char in text:
            following = current.moves.get(char)
            if following is None:
                left -= len(current.states)
                if left < 0:
                    raise TooMuchWork
                following = self._move(current, char)
            if not following.states:
                return False
            current = following
        return current.accepts

    def _move(self, current: _StateSet, char: str) -> _StateSet:
        graph = self._graph
        states = graph.reach(
            [graph.following[at] for at in current.states if graph.accepts(at, char)]
        )
        following = self._set(states)
        if len(current.moves) < MAX_MOVES:
            current.moves[char] = following
        return following

    def _set(self, states: frozenset[int]) -> _StateSet:
        known = self._sets.get(states)
        if known is not None:
            return known
        new = _StateSet(states, self._graph.end in states)
        return self._sets.setdefault(states, new) if len(self._sets) < MAX_SETS else new


@dataclass(slots=True)
class _StateSet:
    states: frozenset[int]
    accepts: bool
    moves: dict[str, _StateSet] = field(default_factory=dict)


class _Graph:
    """A graph of states: some read a character, the others only branch."""

    def __init__(self) -> None:
        self.tests: list[_Test | None] = [None]
        self.following: list[int] = [0]
        self.branches: list[Sequence[int]] = [()]
        self.end = 0

    def add(self, test: _Test | None, following: int, branches: Sequence[int] = ()) -> int:
        if len(self.tests) >= MAX_STATES:
            raise UnsafePattern(f"has more than {MAX_STATES} states; write a shorter expression")
        self.tests.append(test)
        self.following.append(following)
        self.branches.append(branches)
        return len(self.tests) - 1

    def accepts(self, state: int, char: str) -> bool:
        test = self.tests[state]
        return test is not None and test(char)

    def reach(self, states: Iterable[int]) -> frozenset[int]:
        """The reachable states that read a character or end the text."""
        reached: set[int] = set()
        waiting = list(states)
        while waiting:
            state = waiting.pop()
            if state in reached:
                continue
            reached.add(state)
            waiting += self.branches[state]
        return frozenset(at for at in reached if self.tests[at] is not None or at == self.end)

    def chain(self, items: Sequence[Any], following: int) -> int:
        """Add states for the items in a row, which lead to `following`; return the first state."""
        for operation, argument in reversed(items):
            following = self._item(str(operation), argument, following)
        return following

    def _item(self, operation: str, argument: Any, following: int) -> int:
        if operation in _TESTS:
            return self.add(_TESTS[operation](argument), following)
        if operation == "SUBPATTERN":
            return self.chain(argument[-1], following)
        if operation == "BRANCH":
            ways = [self.chain(way, following) for way in argument[1]]
            return self.add(None, following, ways)
        if operation in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._repeat(*argument, following=following)
        raise UnsafePattern(
            f"holds {operation.lower().replace('_', ' ')}, which has no linear-time match; "
            "rewrite the expression without it"
        )

    def _repeat(self, least: int, most: Any, items: Sequence[Any], *, following: int) -> int:
        if most is _SYNTAX.MAXREPEAT:
            loop = self.add(None, following)
            self.branches[loop] = (self.chain(items, loop), following)
            following = loop
        else:
            end = following
            for _ in range(most - least):
                following = self.add(None, end, (self.chain(items, following), end))
        for _ in range(least):
            following = self.chain(items, following)
        return following


def compile_pattern(pattern: str) -> TextPattern:
    """Compile an expression that matches whole texts in linear time, or raise `UnsafePattern`."""
    try:
        parsed = _SYNTAX.parse(pattern, re.DOTALL)
    except (re.error, RecursionError, OverflowError) as error:
        raise UnsafePattern(f"is not a regular expression: {error}") from None
    if parsed.state.flags & ~(re.DOTALL | re.UNICODE):
        raise UnsafePattern("sets flags, which are not supported; rewrite it without flags")
    items = list(parsed)
    # The whole text is matched, so its ends may be named and need not be.
    for at, name in ((0, "AT_BEGINNING"), (-1, "AT_END")):
        while items and str(items[at][0]) == "AT" and str(items[at][1]).startswith(name):
            items.pop(at)
    graph = _Graph()
    return TextPattern(graph.chain(items, graph.end), graph)


def _class(items: Sequence[Any]) -> _Test:
    negated = str(items[0][0]) == "NEGATE"
    tests = [_MEMBERS[str(name)](argument) for name, argument in items[negated:]]
    return lambda char: any(test(char) for test in tests) is not negated


def _category(name: object) -> _Test:
    kind = str(name).removeprefix("CATEGORY_")
    plain = kind.removeprefix("NOT_")
    expression = re.compile({"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}[plain])
    negated = kind != plain
    return lambda char: (expression.match(char) is None) is negated


_MEMBERS: Final[dict[str, Callable[[Any], _Test]]] = {
    "LITERAL": lambda code: lambda char: char == chr(code),
    "RANGE": lambda bounds: lambda char: bounds[0] <= ord(char) <= bounds[1],
    "CATEGORY": _category,
}
_TESTS: Final[dict[str, Callable[[Any], _Test]]] = {
    "LITERAL": _MEMBERS["LITERAL"],
    "NOT_LITERAL": lambda code: lambda char: char != chr(code),
    "ANY": lambda _: lambda _: True,
    "IN": _class,
}
