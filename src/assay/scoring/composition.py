"""Compose one reward of several others, with weights, gates, factors and bounds.

    assay.compose(
        "short_maths",
        {
            "correct": "math_equal_reward",
            "length": {"reward": "length_reward", "weight": 0.2, "gate": "correct"},
        },
    )

The first component is the outcome. Every component is asked for every row, whatever its gate does,
and its number stays visible among the parts: a trainer may log it, or normalise it on its own.
A component that abstains makes the whole abstain, with its reason, whatever its gate does.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from dataclasses import replace as replace_fields
from functools import partial
from itertools import islice
from keyword import iskeyword
from math import fsum, isfinite, prod
from typing import Any, TypeAlias

from assay.errors import BadParameter, did_you_mean
from assay.registry import RESERVED, REWARDS, RewardSpec, describe
from assay.registry.code import code_of
from assay.schema.score import Abstained, Score, Scored
from assay.scoring.columns import RESPONSE
from assay.scoring.scorer import Scorer

Reward: TypeAlias = str | Callable[..., Any]
Bounds: TypeAlias = tuple[float, float]

FULL = 1.0
ROUNDING = 1e-9
"""A number such as 0.1 + 0.2 differs a little from what it is meant to be."""
PAID = "paid/"
GATE = "gate/"


@dataclass(frozen=True, slots=True)
class Term:
    """One component of a composition: its reward, and its weight, gate or factor."""

    reward: Reward
    """A registered name, or the function itself."""
    weight: float = 1.0
    """What its number is multiplied by before it is added; negative for a penalty."""
    gate: str | None = None
    """The component without which this one does not count: it opens at `opens_at`, unless it
    stands behind a closed gate itself."""
    unless: str | None = None
    """The component with which this one does not count: it closes at `opens_at`."""
    opens_at: float = FULL
    """What the gate's component must reach."""
    factor: bool = False
    """Whether the sum is multiplied by it, instead of its being added."""
    clip: Bounds | None = None
    """Bounds of its own number, before the weight."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """The reward's options."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Which column of a row holds a parameter of the reward."""

    @property
    def gated_by(self) -> str | None:
        return self.gate or self.unless


TermLike: TypeAlias = Reward | Term | Mapping[str, Any]
"""A component as it may be written: the reward alone, or with the fields of `Term`."""


class Composition:
    """A reward that combines the scores of other rewards, and can be pickled.

    Its number is the sum of the additive components, each times its weight where its gate is open,
    times every factor whose gate is open, within `clip`.
    """

    def __init__(
        self,
        name: str,
        terms: Mapping[str, Term],
        *,
        version: int = 1,
        clip: Bounds | None = None,
    ) -> None:
        self.name = name
        self.version = version
        self.terms = dict(terms)
        self.clip = clip
        self.scorers = {
            key: Scorer(term.reward, term.params, columns=term.columns)
            for key, term in self.terms.items()
        }
        self.recipe = _recipe(self.terms, self.scorers, clip)
        """What the number depends on, as plain values: another one under its name is refused."""
        self.__name__ = self.__qualname__ = name
        self.__doc__ = _document(self.terms, self.scorers, clip)
        self.__signature__ = _signature(self.scorers)
        self.annotations = {
            name: object if name == RESPONSE else inspect.Parameter.empty
            for name in self.__signature__.parameters
        }
        self.__assay__ = _spec(self)

    def __reduce__(self) -> tuple[Callable[..., Composition], tuple[Any, ...]]:
        fixed = (self.name, self.terms)
        return partial(Composition, *fixed, version=self.version, clip=self.clip), ()

    def __repr__(self) -> str:
        return f"<composition {self.name}@{self.version}: {', '.join(self.terms)}>"

    def __call__(self, **columns: Any) -> Score | Awaitable[Score]:
        """Score one row; the result is awaitable if a component is asynchronous."""
        if self.__assay__.is_async:
            return self._score_async(columns)
        return self._combine({key: scorer(columns) for key, scorer in self.scorers.items()})

    def split(self) -> tuple[Composition, ...]:
        """Split the sum into one reward per component. Raises `BadParameter` for other forms."""
        if self.clip is not None or any(term.factor for term in self.terms.values()):
            raise BadParameter(
                f"{self.name} has a factor or bounds, so it is not a sum and cannot be split; "
                "compose the components without them"
            )
        parts = []
        for key, term in self.terms.items():
            gates = reversed(list(_gates_before(key, self.terms)))
            silent = {gate: replace_fields(self.terms[gate], weight=0.0) for gate in gates}
            name = f"{self.name}.{key}"
            parts.append(Composition(name, {**silent, key: term}, version=self.version))
        return tuple(parts)

    async def _score_async(self, columns: Mapping[str, Any]) -> Score:
        scorers = self.scorers.items()
        return self._combine({key: await scorer.score_async(columns) for key, scorer in scorers})

    def _combine(self, scores: Mapping[str, Score]) -> Score:
        for key, score in scores.items():
            if isinstance(score, Abstained):
                notes = {"component": key, **score.notes}
                because = f"the component {key!r} abstained: {score.because}"
                return Abstained(score.reason, because, self.__assay__.parts or (), notes)
        values = {key: float(score) for key, score in scores.items()}
        is_open = {key: _is_open(key, self.terms, values) for key in self.terms}
        paid = {key: self._paid(key, values[key], opened=is_open[key]) for key in self.terms}
        added = fsum(paid[key] for key, term in self.terms.items() if not term.factor)
        factors = prod(paid[key] for key, term in self.terms.items() if term.factor)
        total = _within(added * factors, self.clip)
        parts: dict[str, float | None] = {}
        for key, score in scores.items():
            parts[key] = values[key]
            for part in self.scorers[key].spec.parts or ():
                parts[f"{key}/{part}"] = score.parts[part]
            parts[PAID + key] = paid[key]
            if self.terms[key].gated_by is not None:
                parts[GATE + key] = float(is_open[key])
        return Scored(total, self._because(values, paid, is_open, scores), parts)

    def _paid(self, key: str, value: float, *, opened: bool) -> float:
        """The number that a component adds to the sum or multiplies it by."""
        term = self.terms[key]
        if not opened:
            return 1.0 if term.factor else 0.0
        return term.weight * _within(value, term.clip)

    def _because(
        self,
        values: Mapping[str, float],
        paid: Mapping[str, float],
        is_open: Mapping[str, bool],
        scores: Mapping[str, Score],
    ) -> str:
        pieces = []
        for key, term in self.terms.items():
            sign = "x" if term.factor else "+" if paid[key] >= 0 else "-"
            closed = "" if is_open[key] else ", gate closed"
            pieces.append(f"{sign}{abs(paid[key]):g} {key} ({values[key]:g}{closed})")
        outcome = next(iter(self.terms))
        return f"{' '.join(pieces)}; {outcome}: {scores[outcome].because}"


def compose(
    name: str,
    components: Mapping[str, TermLike],
    *,
    version: int = 1,
    clip: Sequence[float] | None = None,
    register: bool = True,
    replace: bool = False,
) -> Composition:
    """Make one reward of several: a weighted sum behind gates, times factors, within bounds.

    `components` are named; the first is the outcome. Each is a reward, or a mapping with `reward`
    and the fields of `Term`: `weight`, `gate` or `unless` with `opens_at`, `factor`, `clip`,
    `params`, `columns`. It is found by its name afterwards, unless `register` is false; other
    components under the same name and version raise `NameCollision`, unless `replace` is set.
    Raises `BadParameter` for a component that does not fit.
    """
    if not components:
        raise BadParameter(f"the composition {name!r} has no components; give at least one")
    terms = {key: _to_term(key, value) for key, value in components.items()}
    _check(name, terms)
    bounds = _bounds(clip, "clip")
    composition = Composition(name, terms, version=version, clip=bounds)
    # A predefined reward refuses its options before the first row.
    for scorer in composition.scorers.values():
        spec = scorer.spec
        if scorer.params and not spec.is_async and spec.name in REWARDS.built_in():
            scorer(dict.fromkeys((*spec.required, *scorer.columns.values())))
    if register:
        REWARDS.add(name, composition, version=version, replace=replace)
    return composition


def _to_term(key: str, value: TermLike) -> Term:
    if isinstance(value, Term):
        term = value
    elif isinstance(value, Mapping):
        names = [each.name for each in fields(Term)]
        for option in value:
            if option not in names:
                hint = did_you_mean(str(option), names) or f"it may have {', '.join(names)}"
                raise BadParameter(f"the component {key!r} has no {option!r}; {hint}")
        if "reward" not in value:
            raise BadParameter(f"the component {key!r} has no reward; add the key 'reward'")
        term = Term(**{**value, "clip": _bounds(value.get("clip"), f"{key}'s clip")})
    else:
        term = Term(value)
    for option in ("weight", "opens_at"):
        number = getattr(term, option)
        if isinstance(number, bool) or not isinstance(number, int | float) or not isfinite(number):
            raise BadParameter(f"{option} of {key!r} is {number!r}; give a finite number")
    return term


def _bounds(clip: Sequence[float] | None, what: str) -> Bounds | None:
    if clip is None:
        return None
    numbers = tuple(map(float, clip))
    if len(numbers) != 2 or not numbers[0] <= numbers[1]:
        raise BadParameter(f"{what} is {clip!r}; give two numbers, the least and the greatest")
    return numbers[0], numbers[1]


def _check(name: str, terms: Mapping[str, Term]) -> None:
    """Raise `BadParameter` for a bad name, a gate that does not exist, or no added component."""
    outcome = next(iter(terms))
    for key, term in terms.items():
        if not key.isidentifier():
            raise BadParameter(
                f"{key!r} is no valid name for a component of {name!r}; use letters and '_'"
            )
        if term.gate is not None and term.unless is not None:
            raise BadParameter(f"the component {key!r} has both 'gate' and 'unless'; choose one")
        gate = term.gated_by
        if gate is None:
            continue
        if gate not in terms or gate == key:
            others = [other for other in terms if other != key]
            hint = did_you_mean(gate, others) or f"the others are {', '.join(others) or 'none'}"
            raise BadParameter(f"the gate of {key!r}, {gate!r}, is not another component; {hint}")
        if key == outcome:
            raise BadParameter(
                f"the first component of {name!r}, {key!r}, has a gate; the first component is "
                "the outcome, so put one without a gate first"
            )
    for key in terms:
        if len(list(islice(_gates_before(key, terms), len(terms)))) == len(terms):
            raise BadParameter(f"the gates before {key!r} form a circle")
    if all(term.factor for term in terms.values()):
        raise BadParameter(f"every component of {name!r} is a factor; at least one must not be")


def _is_open(key: str, terms: Mapping[str, Term], values: Mapping[str, float]) -> bool:
    """Whether a component's gate is open; a closed gate also closes the gates behind it."""
    term = terms[key]
    if term.gated_by is None:
        return True
    reached = values[term.gated_by] >= term.opens_at - ROUNDING
    if term.gate is None:
        return not reached
    return reached and _is_open(term.gate, terms, values)


def _within(value: float, bounds: Bounds | None) -> float:
    return value if bounds is None else min(max(value, bounds[0]), bounds[1])


def _gates_before(key: str, terms: Mapping[str, Term]) -> Iterator[str]:
    """Yield the gate of the component, then the gate of that gate, and so on."""
    gate = terms[key].gated_by
    while gate is not None:
        yield gate
        gate = terms[gate].gated_by


def _recipe(
    terms: Mapping[str, Term], scorers: Mapping[str, Scorer], clip: Bounds | None
) -> tuple[Any, ...]:
    described = []
    for key, term in terms.items():
        scorer = scorers[key]
        gate = (term.gate, term.unless, term.opens_at)
        options = (sorted(scorer.params.items()), sorted(scorer.columns.items()))
        code = code_of(scorer.spec.function)
        shape = (term.weight, term.factor, term.clip)
        described.append((key, scorer.spec.id, code, *shape, *gate, *options))
    return (*described, clip)


def _document(terms: Mapping[str, Term], scorers: Mapping[str, Scorer], clip: Bounds | None) -> str:
    lines = []
    for key, term in terms.items():
        spec = scorers[key].spec
        share = "times" if term.factor else f"{term.weight:g} x"
        gate = f", where {term.gate} is at least {term.opens_at:g}" if term.gate else ""
        gate = f", where {term.unless} is below {term.opens_at:g}" if term.unless else gate
        options = f" {scorers[key].params}" if scorers[key].params else ""
        lines.append(f"- {key}: {share} {spec.id}{options}{gate}")
    bounds = f", between {clip[0]:g} and {clip[1]:g}" if clip else ""
    return f"Composed of {', '.join(terms)}{bounds}.\n\n" + "\n".join(lines)


def _signature(scorers: Mapping[str, Scorer]) -> inspect.Signature:
    """The signature: columns that a component requires, then the optional ones."""
    required: list[str] = []
    optional: list[str] = []
    for scorer in scorers.values():
        required += [scorer.columns.get(name, name) for name in scorer.spec.required]
        optional += [scorer.columns.get(name, name) for name in scorer.spec.optional]
        optional += scorer.columns.values()
    # A dotted path leads into a column.
    roots = dict.fromkeys(path.partition(".")[0] for path in required)
    others = dict.fromkeys(path.partition(".")[0] for path in optional if path not in required)
    ordered = sorted(roots, key=lambda name: name not in RESERVED)
    kinds = inspect.Parameter
    parameters = [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in ordered if _is_name(name)]
    parameters += [
        kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=None)
        for name in others
        if name not in roots and _is_name(name)
    ]
    takes_any = any(scorer.spec.takes_any for scorer in scorers.values())
    if takes_any or not all(map(_is_name, (*roots, *others))):
        parameters.append(kinds("columns", kinds.VAR_KEYWORD))
    return inspect.Signature(parameters)


def _is_name(column: str) -> bool:
    """Whether a column's name can be the name of a parameter."""
    return column.isidentifier() and not iskeyword(column)


def _spec(composition: Composition) -> RewardSpec:
    parts: list[str] = []
    for key, scorer in composition.scorers.items():
        parts += [key, *(f"{key}/{part}" for part in scorer.spec.parts or ()), PAID + key]
        if composition.terms[key].gated_by is not None:
            parts.append(GATE + key)
    spec = describe(composition, name=composition.name, version=composition.version, parts=parts)
    specs = [scorer.spec for scorer in composition.scorers.values()]
    return replace_fields(
        spec,
        is_async=any(each.is_async for each in specs),
        waits=any(each.waits for each in specs),
    )
