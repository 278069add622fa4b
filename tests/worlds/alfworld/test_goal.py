"""The grounded goal says what the formula says, whatever its shape."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import BadRecord
from assay.worlds.alfworld.goal import MAX_STEPS, AllConditions, AnyCondition, ground_goal
from assay.worlds.alfworld.reader import (
    AlfWorldProblem,
    Expression,
    Fact,
    read_expression,
    read_typed_names,
)

OBJECTS = {
    "m1": "object",
    "m2": "object",
    "a1": "object",
    "r1": "receptacle",
    "r2": "receptacle",
    "mugtype": "otype",
    "appletype": "otype",
}
FIXED: list[Fact] = [
    ("objecttype", "m1", "mugtype"),
    ("objecttype", "m2", "mugtype"),
    ("objecttype", "a1", "appletype"),
    ("heatable", "m1"),
    ("openable", "r1"),
]
CHANGING: list[Fact] = [
    ("inreceptacle", thing, place) for thing in ("m1", "m2", "a1") for place in ("r1", "r2")
] + [("ishot", thing) for thing in ("m1", "m2", "a1")]


def problem(goal: Expression, objects: Mapping[str, str] = OBJECTS) -> AlfWorldProblem:
    return AlfWorldProblem(objects=objects, facts=frozenset(FIXED), goal=goal, source="test")


def parsed(text: str) -> Expression:
    return read_expression(text, source="test")


def truth(expression: Expression, facts: set[Fact], binding: Mapping[str, str]) -> bool:
    """The plain meaning of a formula, by trying everything."""
    assert isinstance(expression, list)
    head, *parts = expression
    match head:
        case "and":
            return all(truth(part, facts, binding) for part in parts)
        case "or":
            return any(truth(part, facts, binding) for part in parts)
        case "not":
            return not truth(parts[0], facts, binding)
        case "exists" | "forall":
            assert isinstance(parts[0], list)
            types = read_typed_names(parts[0], source="test")
            choices = [[o for o, t in OBJECTS.items() if t == type_] for type_ in types.values()]
            truths = [
                truth(parts[1], facts, {**binding, **dict(zip(types, choice, strict=True))})
                for choice in itertools.product(*choices)
            ]
            return any(truths) if head == "exists" else all(truths)
    words = [binding.get(word, word) for word in expression if isinstance(word, str)]
    return words[1] == words[2] if head == "=" else tuple(words) in facts


VARIABLES = {"?o": "object", "?p": "object", "?r": "receptacle"}
THINGS = st.sampled_from(["?o", "?p", "m1", "a1"])
PLACES = st.sampled_from(["?r", "r1"])
ATOMS: st.SearchStrategy[Expression] = st.one_of(
    st.tuples(st.just("inreceptacle"), THINGS, PLACES).map(list),
    st.tuples(st.sampled_from(["ishot", "heatable"]), THINGS).map(list),
    st.tuples(st.just("objecttype"), THINGS, st.sampled_from(["mugtype", "appletype"])).map(list),
    st.tuples(st.just("openable"), PLACES).map(list),
    st.tuples(st.just("="), THINGS, THINGS).map(list),
)


def compound(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    names = st.lists(st.sampled_from(sorted(VARIABLES)), min_size=1, max_size=2, unique=True)
    typed = names.map(lambda chosen: [w for name in chosen for w in (name, "-", VARIABLES[name])])
    joined: st.SearchStrategy[Expression] = st.builds(
        lambda head, parts: [head, *parts],
        st.sampled_from(["and", "or"]),
        st.lists(inner, max_size=3),
    )
    negated: st.SearchStrategy[Expression] = inner.map(lambda part: ["not", part])
    quantified: st.SearchStrategy[Expression] = st.builds(
        lambda head, words, body: [head, words, body],
        st.sampled_from(["exists", "forall"]),
        typed,
        inner,
    )
    return st.one_of(joined, negated, quantified)


FORMULAS = st.recursive(ATOMS, compound, max_leaves=8)


@settings(max_examples=300, deadline=None)
@given(formula=FORMULAS, changing=st.sets(st.sampled_from(CHANGING)))
def test_a_grounded_goal_is_true_exactly_when_the_formula_is(
    formula: Expression, changing: set[Fact]
) -> None:
    # Closing the formula binds what it left free.
    goal: Expression = ["exists", ["?o", "?p", "-", "object", "?r", "-", "receptacle"], formula]
    facts = changing | set(FIXED)
    grounded = ground_goal(problem(goal))
    assert grounded.holds(facts) == truth(goal, facts, {})
    met, total = grounded.conditions(facts)
    assert 0 <= met <= total
    assert grounded.holds(facts) == (met == total)


COUNTS = [
    # (goal, facts, conditions met and in all, why)
    ("(exists (?o - object) (and (objecttype ?o mugtype) (ishot ?o)))", [], (0, 1),
     "what no command changes is not a condition"),
    ("(exists (?o - object ?r - receptacle) (and (ishot ?o) (inreceptacle ?o ?r)))",
     [("ishot", "m1"), ("inreceptacle", "m2", "r1")], (1, 2),
     "two objects that meet one condition each meet one together"),
    ("(and (exists (?o - object) (ishot ?o)) (exists (?o - object) (inreceptacle ?o r1)))",
     [("ishot", "m1"), ("inreceptacle", "m2", "r1")], (2, 2), "separate wishes may be met apart"),
    (("(exists (?r - receptacle) (exists (?o - object) (and (objecttype ?o mugtype) "
      "(inreceptacle ?o ?r) (exists (?p - object) (and (not (= ?o ?p)) (objecttype ?p mugtype) "
      "(inreceptacle ?p ?r))))))"),
     [("inreceptacle", "m1", "r1"), ("inreceptacle", "m2", "r2")], (1, 2),
     "two mugs in one place, not one each in two"),
    ("(not (exists (?o - object) (ishot ?o)))", [("ishot", "m1")], (2, 3), "absences count"),
    ("(exists (?o - object) (and (objecttype ?o mugtype) (heatable a1)))", [], (0, 1),
     "what can never be is one condition, never met"),
    ("(and)", [], (0, 0), "nothing wanted"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("goal", "facts", "expected"), [pytest.param(g, f, e, id=why) for g, f, e, why in COUNTS]
)
def test_conditions_are_counted(goal: str, facts: list[Fact], expected: tuple[int, int]) -> None:
    assert ground_goal(problem(parsed(goal))).conditions({*FIXED, *facts}) == expected


def test_a_choice_between_objects_becomes_a_choice_between_facts() -> None:
    goal = parsed("(exists (?o - object) (and (objecttype ?o mugtype) (ishot ?o)))")
    assert ground_goal(problem(goal)) == AnyCondition(
        frozenset(AllConditions(present=frozenset([("ishot", mug)])) for mug in ("m1", "m2"))
    )


def test_an_inner_variable_does_not_lend_its_conditions_to_an_outer_one_of_that_name() -> None:
    goal = parsed(
        "(exists (?o - object) (and (ishot ?o) (exists (?o - object) (objecttype ?o appletype))))"
    )
    assert ground_goal(problem(goal)).holds({*FIXED, ("ishot", "m1")})


REFUSED = [
    ("(exists (?o - object) (shiny ?o))", "not a known predicate", "an unknown predicate"),
    ("(ishot ?o)", "bound variable", "a free variable"),
    ("(ishot m9)", "declared object", "an unknown object"),
    ("(ishot m1 m2)", "not a known predicate", "too many arguments"),
    ("(exists ?o (ishot ?o))", "list of at most", "variables without parentheses"),
    ("(exists (?o - object) ishot)", "in parentheses", "a body that is a word"),
    ("(checked r1)", "not supported", "a fact that the game does not keep"),
    ("(not)", "not a known predicate", "a not of nothing"),
    ("(ishot (m1))", "must be names", "an argument in parentheses"),
    (f"(exists ({'?x ' * 60} - object) (ishot m1))", "at most", "too many variables"),
]


@pytest.mark.parametrize(
    ("goal", "message"), [pytest.param(goal, message, id=why) for goal, message, why in REFUSED]
)
def test_a_goal_that_makes_no_sense_is_refused(goal: str, message: str) -> None:
    with pytest.raises(BadRecord, match=message):
        ground_goal(problem(parsed(goal)))


def test_a_goal_that_would_take_for_ever_is_refused() -> None:
    objects = {f"o{i}": "object" for i in range(1000)}
    goal = parsed("(forall (?a ?b ?c - object) (or (ishot ?a) (ishot ?b) (ishot ?c)))")
    with pytest.raises(BadRecord, match=str(MAX_STEPS)):
        ground_goal(problem(goal, objects))
