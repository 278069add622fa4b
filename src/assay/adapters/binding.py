"""What the adapters share: a reward bound to a trainer's columns, as a function with a name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import Signature
from inspect import signature as signature_of
from math import isfinite
from typing import Any, TypeAlias

from assay.errors import BadParameter, MissingExtra, NoScore
from assay.schema.score import Abstained, Score
from assay.scoring.scorer import Scorer

Reward: TypeAlias = str | Callable[..., Any]
"""A registered name (`name` or `name@version`), or the reward function itself."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A reward bound to the columns of one trainer; picklable, and safe in any thread."""

    scorer: Scorer
    abstained: float | None = None
    """The number that the user chose for an abstention, in a trainer that knows only numbers."""

    @property
    def name(self) -> str:
        return self.scorer.spec.name

    @property
    def parts(self) -> tuple[str, ...]:
        """The part names that every result carries; none where the reward declares none."""
        return self.scorer.spec.parts or ()

    @property
    def columns(self) -> Mapping[str, str]:
        """Which column holds a parameter of the reward: `{"answer": "extra_info.solution"}`."""
        return self.scorer.columns

    def score(self, sample: Mapping[str, Any]) -> Score:
        """The score of one sample; raises `MissingParameter` if it lacks a column."""
        return self.scorer(sample)

    async def score_async(self, sample: Mapping[str, Any]) -> Score:
        """As `score`, without blocking the event loop."""
        return await self.scorer.score_async(sample)

    def number(self, score: Score) -> float:
        """The value; for an abstention the number chosen for it. Raises `NoScore` if none was."""
        if not isinstance(score, Abstained):
            return score.value
        if self.abstained is None:
            raise NoScore(
                f"{score.scorer} abstained ({score.reason}: {score.because}), and this trainer has "
                "no word for that; leave such rows out, or choose a number with abstained="
            )
        return self.abstained

    def function(
        self,
        function: Callable[..., Any],
        *first: Any,
        name: str | None = None,
        signature: Signature | None = None,
    ) -> RewardCall:
        """The function with this and `first` as its first arguments, named after the reward."""
        summary = self.scorer.spec.summary
        return RewardCall(function, (self, *first), {}, name or self.name, summary, signature)


def fill_parts(score: Score, parts: Iterable[str], filler: float) -> dict[str, float]:
    """Every part under its name; one that has no number in this score gets the filler."""
    numbers = {part: score.parts.get(part) for part in parts}
    return {part: filler if number is None else number for part, number in numbers.items()}


def bind(
    which: Reward,
    *,
    params: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    abstained: float | None = None,
) -> Binding:
    """The reward with its configuration.

    Raises `BadParameter` for a column of a parameter that the reward does not have.
    """
    scorer = Scorer(which, params, columns=columns)
    if abstained is not None and not isfinite(abstained):
        raise BadParameter(f"abstained={abstained!r}; choose a finite number")
    return Binding(scorer, abstained)


class RewardMaker:
    """The `reward` of an adapter, around a function that makes a trainer's from a bound reward.

    `params` are the reward's own options, `columns` say which column of the trainer holds a
    parameter, `abstained` is the number for an abstention, and the function that a trainer calls
    has `name`, by default the reward's.
    """

    def __init__(self, make: Callable[[Binding, str | None], Callable[..., Any]]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __call__(
        self,
        which: Reward,
        /,
        *,
        params: Mapping[str, Any] | None = None,
        abstained: float | None = None,
        name: str | None = None,
        **columns: str,
    ) -> Callable[..., Any]:
        binding = bind(which, params=params, columns=columns, abstained=abstained)
        return self._make(binding, name)


class RewardCall:
    """A function with its first arguments bound: picklable, and with a name of its own.

    `inspect` takes it for the function inside, so a bound coroutine function is seen to be one. An
    object with an asynchronous `__call__` is not, and a partial is logged under the name of the
    function that every reward shares.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        bound: tuple[Any, ...],
        keywords: Mapping[str, Any],
        name: str,
        doc: str,
        signature: Signature | None = None,
    ) -> None:
        self._state = (function, bound, keywords, name, doc, signature)
        rest = signature or _rest_of_signature(function, len(bound), keywords)
        imitate(self, function, name=name, doc=doc, signature=rest)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function, bound, keywords, *_ = self._state
        return function(*bound, *args, **{**keywords, **kwargs})

    def __reduce__(self) -> tuple[type[RewardCall], tuple[Any, ...]]:
        return RewardCall, self._state

    def __repr__(self) -> str:
        return f"<reward {self._state[3]}>"


def imitate(
    call: object, function: Callable[..., Any], *, name: str, doc: str | None, signature: Signature
) -> None:
    """Give the object what `inspect` looks for before it takes something for a function."""
    vars(call).update(
        __name__=name,
        __qualname__=name,
        __doc__=doc,
        __code__=function.__code__,
        __defaults__=function.__defaults__,
        __kwdefaults__=getattr(function, "__kwdefaults__", None),
        __signature__=signature,
    )


def _rest_of_signature(
    function: Callable[..., Any], bound: int, keywords: Mapping[str, Any]
) -> Signature:
    whole = signature_of(function)
    left = [p for p in list(whole.parameters.values())[bound:] if p.name not in keywords]
    return whole.replace(parameters=left)


def import_library(module: str, *, package: str) -> Any:
    """The module of a trainer's library; raises `MissingExtra`, which says what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{module} cannot be imported ({error}); install {package} in this environment"
        ) from error
