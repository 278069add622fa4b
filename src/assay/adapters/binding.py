"""Bind a reward to a trainer's columns, as a picklable function with a name."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from inspect import Signature
from inspect import signature as signature_of
from math import isfinite
from typing import Any, Literal, TypeAlias

from assay.adapters.tally import GROUP_COLUMNS, RecentRewards, group_of, mean_of, tally_of
from assay.errors import BadParameter, MissingExtra, MissingParameter, NoScore
from assay.schema.score import Abstained, Score
from assay.scoring.columns import RESPONSE
from assay.scoring.scorer import Scorer
from assay.text.channels import END_TOKENS, strip_end_tokens

Reward: TypeAlias = str | Callable[..., Any]
"""A registered name (`name` or `name@version`), or the reward function itself."""

StandIn: TypeAlias = float | Literal["mean"] | None
"""What stands for an abstention where only numbers are known: a number; the mean of the latest
rewards of its group; or nothing, so that it raises."""

Observer: TypeAlias = Callable[[Score, Any, Hashable], None]
"""Told of a score, the response, and what the rows of its group have in common."""

MAX_ABSTAINED = 64
"""Abstentions without a score between them, after which a trainer is stopped."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A reward bound to the columns of a trainer; picklable and thread-safe."""

    scorer: Scorer
    abstained: StandIn = None
    """What stands for an abstention, in a trainer that knows only numbers."""
    max_abstained: int | None = None
    """How many abstentions may follow each other; `None` for any number."""
    end_tokens: tuple[str, ...] = END_TOKENS
    """What is cut off the end of a response."""
    observer: Observer | None = field(default=None, compare=False, repr=False)
    """Told of every score, with the response and what the rows of its group have in common."""
    tally: RecentRewards = field(init=False, compare=False, repr=False)
    """What this configuration gave lately, in this process."""

    def __post_init__(self) -> None:
        spec = self.scorer.spec
        # Functions of several modules may have one name, unless they are registered.
        place = [getattr(spec.function, name, "") for name in ("__module__", "__qualname__")]
        about = (spec.id, place, self.scorer.params, self.columns, self.abstained)
        object.__setattr__(self, "tally", tally_of(repr(about)))

    @property
    def name(self) -> str:
        return self.scorer.spec.name

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts that the reward declares; empty without a declaration."""
        return self.scorer.spec.parts or ()

    @property
    def columns(self) -> Mapping[str, str]:
        """The column for each parameter of the reward: `{"answer": "extra_info.solution"}`."""
        return self.scorer.columns

    def score(self, sample: Mapping[str, Any]) -> Score:
        """Score one sample, without the end tokens of its response.

        Raises `MissingParameter` if it lacks a column and none was scored before it, for then all
        of them will; and `NoScore` if nothing is scored any more.
        """
        try:
            score = self.scorer(self._without_end_tokens(sample))
        except MissingParameter as error:
            score = self._abstain_from(error)
        return self.note(score, sample)

    async def score_async(self, sample: Mapping[str, Any]) -> Score:
        """Like `score`, without blocking the event loop."""
        try:
            score = await self.scorer.score_async(self._without_end_tokens(sample))
        except MissingParameter as error:
            score = self._abstain_from(error)
        return self.note(score, sample)

    def _abstain_from(self, error: MissingParameter) -> Score:
        if not self.tally.has_scored:
            raise error
        return self.scorer.abstain("bad_row", str(error))

    def _without_end_tokens(self, sample: Mapping[str, Any]) -> Mapping[str, Any]:
        response = self._cell(sample, RESPONSE)
        if not isinstance(response, str):
            return sample
        text = strip_end_tokens(response, self.end_tokens)
        # A dotted path is looked for as a column first.
        column = self.columns.get(RESPONSE, RESPONSE)
        return sample if text == response else {**sample, column: text}

    def _cell(self, sample: Mapping[str, Any], parameter: str) -> Any:
        try:
            return self.scorer.value_of(parameter, sample)
        except Exception:  # noqa: BLE001 - the scorer says what is wrong with the row
            return None

    def note(self, score: Score, sample: Mapping[str, Any]) -> Score:
        """Record a score; raise `NoScore` after too many abstentions without a score."""
        if self.observer is not None:
            self.observer(score, self._cell(sample, RESPONSE), self._group(sample))
        if self.abstained == "mean" or self.max_abstained is not None:
            self.tally.note(score, self._group(sample), limit=self.max_abstained)
        return score

    def number(self, score: Score, sample: Mapping[str, Any]) -> float:
        """The score's number, or the configured replacement for an abstention."""
        if not isinstance(score, Abstained):
            return score.value
        if self.abstained is None:
            raise NoScore(
                f"{score.scorer} abstained ({score.reason}: {score.because}), and this trainer "
                "takes only numbers; leave out such rows, or set abstained= to a number or to "
                '"mean"'
            )
        if self.abstained == "mean":
            return self.tally.mean(self._group(sample))
        return float(self.abstained)

    def group_numbers(
        self, scores: Sequence[Score], samples: Sequence[Mapping[str, Any]]
    ) -> list[float]:
        """The numbers of a group; an abstention gets the mean of the other scores."""
        values = [score.value for score in scores if not isinstance(score, Abstained)]
        if self.abstained == "mean" and values:
            mean = mean_of(values, 0.0)
            return [mean if score.abstained else float(score) for score in scores]
        return [self.number(*pair) for pair in zip(scores, samples, strict=True)]

    def _group(self, sample: Mapping[str, Any]) -> Hashable:
        return group_of(self._cell(sample, column) for column in GROUP_COLUMNS)

    def function(
        self,
        function: Callable[..., Any],
        *first: Any,
        name: str | None = None,
        signature: Signature | None = None,
    ) -> PicklablePartial:
        """Bind this object and `first` to a function, and name the function after the reward."""
        summary = self.scorer.spec.summary
        return PicklablePartial(function, (self, *first), {}, name or self.name, summary, signature)


def fill_parts(score: Score, parts: Iterable[str], filler: float) -> dict[str, float]:
    """The value of each part; a part without a number gets the number `filler`."""
    numbers = {part: score.parts.get(part) for part in parts}
    return {part: filler if number is None else number for part, number in numbers.items()}


def bind(
    which: Reward,
    params: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    abstained: StandIn = None,
    max_abstained: int | None = None,
    *,
    end_tokens: Sequence[str] = END_TOKENS,
    observer: Observer | None = None,
) -> Binding:
    """Bind a reward to options and columns; raises `BadParameter` if they do not fit."""
    scorer = Scorer(which, params, columns=columns)
    number: Any = abstained
    if number not in (None, "mean"):
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise BadParameter(f'abstained={number!r}; choose a number, or "mean"')
        if not isfinite(number):
            raise BadParameter(f"abstained={number!r}; choose a finite number")
    if max_abstained is not None and max_abstained < 1:
        raise BadParameter(f"max_abstained={max_abstained!r}; choose at least 1, or None")
    return Binding(scorer, abstained, max_abstained, tuple(end_tokens), observer)


class RewardMaker:
    """Turns an adapter's function into a factory of reward functions for a trainer.

    `params` are the reward's own options, `columns` say which column of the trainer holds a
    parameter, and the function that a trainer calls has `name`, by default the reward's.
    `abstained` is what stands for an abstention: by default the mean of the latest rewards of its
    group (`"mean"`), a number, or `None` to raise. When `max_abstained` of them follow each other
    with no score between, the reward raises in any case.
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
        abstained: StandIn = "mean",
        max_abstained: int | None = MAX_ABSTAINED,
        name: str | None = None,
        **columns: str,
    ) -> Callable[..., Any]:
        return self._make(bind(which, params, columns, abstained, max_abstained), name)


class PicklablePartial:
    """A picklable function with its first arguments bound and with its own name.

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
        if signature is None:
            whole = signature_of(function)
            left = list(whole.parameters.values())[len(bound) :]
            signature = whole.replace(parameters=[p for p in left if p.name not in keywords])
        imitate(self, function, name=name, doc=doc, signature=signature)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function, bound, keywords, *_ = self._state
        return function(*bound, *args, **{**keywords, **kwargs})

    @property
    def name(self) -> str:
        """The name under which a trainer logs the reward."""
        return self._state[3]

    def observed_by(self, observer: Observer) -> PicklablePartial:
        """A copy of the function that reports its scores to the observer."""
        function, bound, keywords, name, doc, signature = self._state
        if bound and isinstance(bound[0], Binding):
            watched = (replace(bound[0], observer=observer), *bound[1:])
            twin = PicklablePartial(function, watched, keywords, name, doc, signature)
        else:
            observed = {**keywords, "observer": observer}
            twin = PicklablePartial(function, bound, observed, name, doc, signature)
        # What an adapter marked the function with.
        vars(twin).update({k: v for k, v in vars(self).items() if k not in vars(twin)})
        return twin

    def __reduce__(self) -> tuple[type[PicklablePartial], tuple[Any, ...]]:
        return PicklablePartial, self._state

    def __repr__(self) -> str:
        return f"<reward {self.name}>"


def imitate(
    call: object, function: Callable[..., Any], *, name: str, doc: str | None, signature: Signature
) -> None:
    """Make a callable object look like a function to the module `inspect`."""
    vars(call).update(
        __name__=name,
        __qualname__=name,
        __doc__=doc,
        __code__=function.__code__,
        __defaults__=function.__defaults__,
        __kwdefaults__=getattr(function, "__kwdefaults__", None),
        __signature__=signature,
    )


def import_library(module: str, *, package: str) -> Any:
    """Import a trainer's library; raise `MissingExtra` if it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{module} cannot be imported ({error}); install {package} in this environment"
        ) from error
