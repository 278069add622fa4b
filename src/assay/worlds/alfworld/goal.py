"""The goal formula of a game, written out once over its objects and tested at every step.

Quantifiers are written out over the objects of the game, and conditions that no command can change
are evaluated. What is left of "some mug is hot and in some cabinet" is an `AnyCondition` of
several `AllConditions`, such as `{ishot mug 1, inreceptacle mug 1 cabinet 2}`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias

from assay.errors import BadRecord
from assay.worlds.alfworld.reader import (
    PREDICATES,
    AlfWorldProblem,
    Expression,
    Fact,
    read_typed_names,
)

DYNAMIC = frozenset(
    "atlocation objectatlocation opened inreceptacle holds holdsany isclean ishot iscool ison "
    "istoggled issliced".split()
)
"""The predicates that a command can change."""

MAX_STEPS = 50_000
"""How much work grounding a goal may take; the official ones take about a thousand steps."""
MAX_VARIABLES = 16
"""How many variables one quantifier may bind; the official goals bind up to four."""

HOLE = ""
"""No word of an expression is empty."""

Binding: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AllConditions:
    """A goal condition: the `present` facts hold, the `absent` facts do not, all parts are true."""

    present: frozenset[Fact] = frozenset()
    absent: frozenset[Fact] = frozenset()
    parts: frozenset[AnyCondition] = frozenset()

    def holds(self, facts: AbstractSet[Fact]) -> bool:
        """Whether the facts make this condition true."""
        return (
            self.present <= facts
            and self.absent.isdisjoint(facts)
            and all(part.holds(facts) for part in self.parts)
        )

    def conditions(self, facts: AbstractSet[Fact]) -> tuple[int, int]:
        """Return how many single conditions are met, and how many there are."""
        own = len(self.present & facts) + len(self.absent - facts)
        counts = [(own, len(self.present) + len(self.absent))]
        counts += [part.conditions(facts) for part in self.parts]
        return sum(met for met, _ in counts), sum(total for _, total in counts)


@dataclass(frozen=True, slots=True)
class AnyCondition:
    """A goal condition: at least one of its choices is true."""

    choices: frozenset[AllConditions] = frozenset()

    def holds(self, facts: AbstractSet[Fact]) -> bool:
        """Whether the facts make this condition true."""
        return any(choice.holds(facts) for choice in self.choices)

    def conditions(self, facts: AbstractSet[Fact]) -> tuple[int, int]:
        """Return the counts of the choice that has the largest share of conditions met."""
        counts = (choice.conditions(facts) for choice in self.choices)
        return max(counts, key=lambda count: (count[0] / count[1], count[1]), default=(0, 1))


TRUE = AllConditions()
FALSE = AnyCondition()
Formula: TypeAlias = AllConditions | AnyCondition


def ground_goal(problem: AlfWorldProblem) -> Formula:
    """Return the problem's goal without variables; raise BadRecord if the goal is invalid."""
    return _Grounding(problem).ground(problem.goal, {}, positive=True)


def conjunction(formulas: Iterable[Formula]) -> Formula:
    """The conjunction, simplified."""
    present: set[Fact] = set()
    absent: set[Fact] = set()
    parts: set[AnyCondition] = set()
    for formula in formulas:
        if formula == FALSE:
            return FALSE
        if isinstance(formula, AllConditions):
            present |= formula.present
            absent |= formula.absent
            parts |= formula.parts
        else:
            parts.add(formula)
    return AllConditions(frozenset(present), frozenset(absent), frozenset(parts))


def disjunction(formulas: Iterable[Formula]) -> Formula:
    """The disjunction, simplified."""
    choices: set[AllConditions] = set()
    for formula in formulas:
        if formula == TRUE:
            return TRUE
        if isinstance(formula, AllConditions):
            choices.add(formula)
        else:
            choices |= formula.choices
    return choices.pop() if len(choices) == 1 else AnyCondition(frozenset(choices))


@dataclass(frozen=True, slots=True)
class _Quantifier:
    variables: tuple[tuple[str, str], ...]
    """Names and types."""
    conditions: tuple[Fact, ...]
    """What must hold of the variables, and no command can change."""


class _Grounding:
    def __init__(self, problem: AlfWorldProblem) -> None:
        self.problem = problem
        self.steps = 0
        self.by_type: dict[str, set[str]] = defaultdict(set)
        for entity, type_ in problem.objects.items():
            self.by_type[type_].add(entity)
        self.quantifiers: dict[int, _Quantifier] = {}
        """By identity of the expression, which the problem keeps alive."""
        self.fillings: dict[str, dict[Fact, set[str]]] = {}
        """By predicate: what makes a fact of a pattern with one hole."""

    def ground(self, expression: Expression, binding: Binding, *, positive: bool) -> Formula:
        self.spend()
        if not isinstance(expression, list) or not expression:
            raise self.refusal("a formula must be in parentheses")
        operator, arguments = expression[0], expression[1:]
        if operator == "not" and len(arguments) == 1:
            return self.ground(arguments[0], binding, positive=not positive)
        if operator in ("and", "or"):
            formulas = (self.ground(part, binding, positive=positive) for part in arguments)
        elif operator in ("exists", "forall") and len(arguments) == 2:
            bindings = self.bindings(self.quantifier(expression), 0, binding)
            formulas = (self.ground(arguments[1], inner, positive=positive) for inner in bindings)
        else:
            return self.ground_atom(expression, binding, positive=positive)
        combine = conjunction if (operator in ("and", "forall")) == positive else disjunction
        return combine(formulas)

    def ground_atom(self, atom: list[Expression], binding: Binding, *, positive: bool) -> Formula:
        predicate, names = atom[0], [self.value(word, binding) for word in atom[1:]]
        if predicate == "=" and len(names) == 2:
            return TRUE if (names[0] == names[1]) == positive else FALSE
        signature = PREDICATES.get(predicate) if isinstance(predicate, str) else None
        if signature is None or len(signature) != len(names):
            name = predicate[:80] if isinstance(predicate, str) else "(…)"
            raise self.refusal(f"{name!r} with {len(names)} arguments is not a known predicate")
        if predicate == "checked":
            # The domain lets `look` and `examine` set it; no official goal asks, so no game does.
            raise self.refusal("the predicate 'checked' is not supported")
        fact: Fact = (str(predicate), *names)
        if predicate not in DYNAMIC:
            return TRUE if (fact in self.problem.facts) == positive else FALSE
        return (
            AllConditions(present=frozenset([fact]))
            if positive
            else AllConditions(absent=frozenset([fact]))
        )

    def quantifier(self, expression: list[Expression]) -> _Quantifier:
        """Return the quantifier of `expression`, which is prepared once and then reused.

        An `exists` leaves out what its fixed conditions exclude: it could only add falsehoods.
        """
        key = id(expression)
        if key not in self.quantifiers:
            names, limit = expression[1], MAX_VARIABLES
            if not isinstance(names, list) or len(names) > limit * 3:
                raise self.refusal(f"a quantifier takes a list of at most {limit} variables")
            types = read_typed_names(names, source=self.problem.source)
            conditions = _fixed_conjuncts(expression[2]) if expression[0] == "exists" else ()
            self.quantifiers[key] = _Quantifier(tuple(types.items()), conditions)
        return self.quantifiers[key]

    def bindings(self, quantifier: _Quantifier, done: int, binding: Binding) -> Iterator[Binding]:
        """Yield every assignment of the quantifier's variables from number `done` on."""
        if done == len(quantifier.variables):
            yield binding
            return
        name, type_ = quantifier.variables[done]
        fitting = self.by_type.get(type_, set())
        self.spend(len(quantifier.conditions))
        for condition in quantifier.conditions:
            pattern = tuple(HOLE if word == name else binding.get(word, word) for word in condition)
            if pattern.count(HOLE) == 1 and not any(word.startswith("?") for word in pattern):
                filling = self.filling(pattern)
                self.spend(min(len(fitting), len(filling)))
                fitting = fitting & filling
        for entity in fitting:
            self.spend()
            yield from self.bindings(quantifier, done + 1, {**binding, name: entity})

    def filling(self, pattern: Fact) -> set[str]:
        """Return the objects that turn the pattern into a fact when they fill its hole."""
        predicate = pattern[0]
        if predicate not in self.fillings:
            fillings = self.fillings[predicate] = defaultdict(set)
            for fact in self.problem.facts:
                if fact[0] == predicate:
                    for place in range(1, len(fact)):
                        holed = (*fact[:place], HOLE, *fact[place + 1 :])
                        fillings[holed].add(fact[place])
        return self.fillings[predicate].get(pattern, set())

    def value(self, word: Expression, binding: Binding) -> str:
        if not isinstance(word, str):
            raise self.refusal("the arguments of a predicate must be names")
        name = binding.get(word, word)
        if name not in self.problem.objects:
            raise self.refusal(f"{word[:80]!r} is neither a declared object nor a bound variable")
        return name

    def spend(self, steps: int = 1) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise self.refusal(f"the formula takes more than {MAX_STEPS} steps to write out")

    def refusal(self, what: str) -> BadRecord:
        return BadRecord(f"{self.problem.source}: ':goal': {what}")


def _fixed_conjuncts(body: Expression) -> tuple[Fact, ...]:
    """Return the conditions that must hold for `body` and that no command can change.

    Those about a variable of an inner quantifier are left out: that name may mean something else
    outside.
    """
    atoms: list[Fact] = []
    hidden: set[Expression] = set()
    waiting: list[Expression] = [body]
    while waiting:
        match waiting.pop():
            case ["and", *parts]:
                waiting.extend(parts)
            case ["exists", [*names], inner]:
                hidden.update(name for name in names if isinstance(name, str))
                waiting.append(inner)
            case [str(predicate), *words] if predicate in PREDICATES and predicate not in DYNAMIC:
                atoms.append((predicate, *(word for word in words if isinstance(word, str))))
    return tuple(atom for atom in atoms if hidden.isdisjoint(atom))
