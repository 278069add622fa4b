"""Reads `game.tw-pddl`: JSON with a PDDL problem, which holds the initial facts and the goal.

PDDL is case-insensitive, so everything is read in lower case. Nothing here recurses, so a file
cannot overflow the stack; a file that is not what it claims to be is a `BadRecord`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from assay.errors import BadRecord
from assay.lazy import package_table

Expression: TypeAlias = "str | list[Expression]"
Fact: TypeAlias = tuple[str, ...]
"""A predicate and its arguments: `("inreceptacle", "mug_bar_…", "shelf_bar_…")`."""

MAX_FILE_CHARS = 1_000_000
"""The official files have around 90,000."""
MAX_DEPTH = 64

PREDICATES: Mapping[str, tuple[str, ...]] = {
    name: tuple(types.split())
    for types, names in package_table(__package__, "game")["predicates"].items()
    for name in names.split()
}
"""The predicates of the ALFRED domain, with the types of their arguments."""

# The rules of the game are written in `game.py`, not read from the file, so a file that brings
# other rules (an older release says "put X in/on Y") must be refused, not misread.
DOMAIN_SHA256 = "66bf521ae2b713e64de69a7e0d60d2b6f200c41f8104067b1778264d3ad00da6"
GRAMMAR_SHA256 = "5707a3ebe1675345bcfde07a9aa968f797f51f0446dee1af8e953245d794ae5d"
"""Of the grammar with its task sentence left out."""

_TOKEN = re.compile(r"[()]|[^\s()]+")
_COMMENT = re.compile(r";[^\n]*")
_TASK = re.compile(r'"Your task is to: ([^"]*)"')


@dataclass(frozen=True, slots=True)
class AlfWorldProblem:
    """The objects of a game, the facts at its start, and its goal."""

    objects: Mapping[str, str]
    """Every declared object and its type."""
    facts: frozenset[Fact]
    goal: Expression
    source: str
    """Where it was read, for error messages."""


@dataclass(frozen=True, slots=True)
class GameFile:
    """One game, read and checked."""

    problem: AlfWorldProblem
    goal: str
    """The task sentence, without "Your task is to: "."""
    walkthrough: tuple[str, ...]
    """Commands that win the game."""


def read_game(text: str, *, source: str) -> GameFile:
    """Return the game in the text of an official `game.tw-pddl`."""
    if len(text) > MAX_FILE_CHARS:
        raise BadRecord(f"{source}: {len(text)} characters; no game has over {MAX_FILE_CHARS}")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{source}: not JSON: {error}") from error
    if not isinstance(record, dict):
        raise BadRecord(f"{source}: expected a JSON object, found {type(record).__name__}")
    if _sha256(_text_of(record, "pddl_domain", source)) != DOMAIN_SHA256:
        raise BadRecord(
            f"{source}: 'pddl_domain' is not the domain of release json_2.1.2; Assay plays only "
            "that one (`alfworld-download` fetches it)"
        )
    grammar = _text_of(record, "grammar", source)
    task = _TASK.search(grammar)
    if task is None or _sha256(_TASK.sub("", grammar)) != GRAMMAR_SHA256:
        raise BadRecord(f"{source}: 'grammar' is not the grammar of release json_2.1.2")
    return GameFile(
        problem=read_problem(_text_of(record, "pddl_problem", source), source=source),
        goal=task.group(1),
        walkthrough=read_walkthrough(record.get("walkthrough") or [], source=source),
    )


def read_walkthrough(commands: object, *, source: str) -> tuple[str, ...]:
    """The winning commands, checked."""
    if not isinstance(commands, list) or not all(isinstance(c, str) for c in commands):
        raise BadRecord(f"{source}: 'walkthrough' is not a list of commands")
    return tuple(commands)


def read_problem(text: str, *, source: str) -> AlfWorldProblem:
    """Return the PDDL problem in `text`, after a check of its facts."""
    sections: dict[str, list[Expression]] = {}
    for part in read_expression(text, source=source)[1:]:
        if isinstance(part, list) and part and isinstance(part[0], str):
            sections[part[0]] = part[1:]
    for name in (":objects", ":init", ":goal"):
        if name not in sections:
            raise BadRecord(f"{source}: the PDDL problem has no {name!r}")
    if len(sections[":goal"]) != 1:
        raise BadRecord(f"{source}: ':goal' must hold one formula")
    objects = read_typed_names(sections[":objects"], source=source)
    facts = _read_facts(sections[":init"], objects, source)
    return AlfWorldProblem(objects=objects, facts=facts, goal=sections[":goal"][0], source=source)


def read_expression(text: str, *, source: str) -> list[Expression]:
    """Return the parenthesised expression in `text` as nested lists of lower-case words."""
    top: list[Expression] = []
    open_lists = [top]
    for token in _TOKEN.findall(_COMMENT.sub("", text).lower()):
        if token == "(":  # noqa: S105 - a parenthesis, not a secret
            if len(open_lists) > MAX_DEPTH:
                raise BadRecord(f"{source}: parentheses nest deeper than {MAX_DEPTH}")
            inner: list[Expression] = []
            open_lists[-1].append(inner)
            open_lists.append(inner)
        elif token == ")":  # noqa: S105
            if len(open_lists) == 1:
                raise BadRecord(f"{source}: a closing parenthesis without its opening one")
            open_lists.pop()
        else:
            open_lists[-1].append(token)
    if len(open_lists) > 1:
        raise BadRecord(f"{source}: {len(open_lists) - 1} parentheses are never closed")
    if len(top) != 1 or not isinstance(top[0], list):
        raise BadRecord(f"{source}: expected one expression in parentheses, found {len(top)}")
    return top[0]


def read_typed_names(words: list[Expression], *, source: str) -> dict[str, str]:
    """Return `a b - t c - u` as `{a: t, b: t, c: u}`; names without a type get `object`."""
    types: dict[str, str] = {}
    waiting: list[str] = []
    expect_type = False
    for word in words:
        if not isinstance(word, str):
            raise BadRecord(f"{source}: expected a name, found {_excerpt(word)}")
        if expect_type:
            types.update(dict.fromkeys(waiting, word))
            waiting = []
            expect_type = False
        elif word == "-":
            expect_type = True
        else:
            waiting.append(word)
    if expect_type:
        raise BadRecord(f"{source}: a list of names ends with '-' without a type")
    types.update(dict.fromkeys(waiting, "object"))
    return types


def _read_facts(
    expressions: list[Expression], objects: Mapping[str, str], source: str
) -> frozenset[Fact]:
    facts: set[Fact] = set()
    for expression in expressions:
        if not isinstance(expression, list) or list in map(type, expression):
            raise BadRecord(f"{source}: {_excerpt(expression)} in ':init' is not a fact")
        # The line above has checked that every element is a word.
        fact: Fact = tuple(expression)  # type: ignore[arg-type]
        if fact in facts:
            continue
        signature = PREDICATES.get(fact[0]) if fact else None
        if signature is None:
            raise BadRecord(f"{source}: unknown predicate in fact {_excerpt(expression)}")
        if tuple(map(objects.get, fact[1:])) != signature:
            raise BadRecord(f"{source}: fact {_excerpt(expression)} does not fit {signature}")
        facts.add(fact)
    return frozenset(facts)


def _text_of(record: Mapping[str, Any], key: str, source: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise BadRecord(f"{source}: {key!r} should be text, found {type(value).__name__}")
    return value


def _sha256(text: str) -> str:
    return hashlib.sha256("".join(text.split()).encode(errors="replace")).hexdigest()


def _excerpt(expression: Expression) -> str:
    words: list[str] = []
    waiting: list[Expression] = [expression]
    while waiting and len(words) < 8:
        item = waiting.pop()
        if isinstance(item, str):
            words.append(item[:80])
        else:
            waiting.extend(reversed(item))
    return repr(" ".join(words))
