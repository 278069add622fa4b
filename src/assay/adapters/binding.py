"""A reward in a trainer's terms: where its columns are, and what an abstention becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import Signature
from inspect import signature as signature_of
from math import isfinite
from types import NoneType
from typing import Any, TypeAlias

from assay.errors import BadParameter, MissingExtra, MissingParameter, NoScore
from assay.schema.score import Abstained, Score
from assay.scoring.scorer import Scorer

Reward: TypeAlias = str | Callable[..., Any]
"""A registered name (`name` or `name@version`), or the reward function itself."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A reward bound to the columns of one trainer; picklable, and safe in any thread."""

    scorer: Scorer
    columns: Mapping[str, str]
    """Where a parameter of the reward is found: `{"answer": "extra_info.solution"}`."""
    abstained: float | None = None
    """The number that the user chose for an abstention, in a trainer that knows only numbers."""

    @property
    def name(self) -> str:
        return self.scorer.spec.name

    @property
    def parts(self) -> tuple[str, ...]:
        """The part names that every result carries; none where the reward declares none."""
        return self.scorer.spec.parts or ()

    def row(self, offered: Mapping[str, Any]) -> dict[str, Any]:
        """What the trainer offers, with the reward's own names added."""
        row = dict(offered)
        for parameter, column in self.columns.items():
            row[parameter] = _look_up(offered, column, parameter, self.name)
        return row

    def score(self, offered: Mapping[str, Any]) -> Score:
        """The score of one sample; raises when a column that the reward needs is not offered."""
        return self.scorer(self.row(offered))

    async def score_async(self, offered: Mapping[str, Any]) -> Score:
        """As `score`, without blocking the event loop."""
        return await self.scorer.score_async(self.row(offered))

    def number(self, score: Score) -> float:
        """The value; an abstention is the number chosen for it, and an error if none was."""
        if not isinstance(score, Abstained):
            return score.value
        if self.abstained is None:
            raise NoScore(
                f"{score.scorer} abstained ({score.reason}: {score.because}), and this trainer has "
                "no word for that; leave such rows out, or choose a number with abstained="
            )
        return self.abstained


def bind(
    which: Reward,
    *,
    params: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    abstained: float | None = None,
) -> Binding:
    """The reward with its configuration; a column for a parameter that it lacks is an error."""
    scorer = Scorer(which, params)
    known = {*scorer.spec.required, *scorer.spec.optional}
    for parameter, column in (columns or {}).items():
        if not isinstance(column, str):
            raise BadParameter(
                f"{parameter}={column!r}: name the column that holds {parameter!r}; "
                "the reward's own options go into params="
            )
        if parameter not in known and not scorer.spec.takes_any:
            raise BadParameter(
                f"{scorer.spec.name} has no parameter {parameter!r}; it takes {sorted(known)}"
            )
    if abstained is not None and not isfinite(abstained):
        raise BadParameter(f"abstained={abstained!r}; choose a finite number")
    return Binding(scorer, dict(columns or {}), abstained)


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
        doc: str = "",
        signature: Signature | None = None,
    ) -> None:
        self._state = (function, bound, keywords, name, doc, signature)
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        # What `inspect` asks for before it believes that something is a function.
        self.__code__ = function.__code__
        self.__defaults__ = function.__defaults__
        self.__kwdefaults__ = getattr(function, "__kwdefaults__", None)
        self.__signature__ = signature or _rest_of_signature(function, len(bound), keywords)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function, bound, keywords, *_ = self._state
        return function(*bound, *args, **{**keywords, **kwargs})

    def __reduce__(self) -> tuple[type[RewardCall], tuple[Any, ...]]:
        return RewardCall, self._state

    def __repr__(self) -> str:
        return f"<reward {self.__name__}>"


def reward_call(
    function: Callable[..., Any],
    /,
    *bound: Any,
    name: str,
    doc: str = "",
    signature: Signature | None = None,
) -> RewardCall:
    """The function with these arguments bound, under this name."""
    return RewardCall(function, bound, {}, name, doc, signature)


def _rest_of_signature(
    function: Callable[..., Any], bound: int, keywords: Mapping[str, Any]
) -> Signature:
    whole = signature_of(function)
    left = [p for p in list(whole.parameters.values())[bound:] if p.name not in keywords]
    return whole.replace(parameters=left)


def import_library(module: str, *, package: str) -> Any:
    """The module of a trainer's library, or one error that says what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{module} cannot be imported ({error}); install {package} in this environment"
        ) from error


def union_of_parts(bindings: Iterable[Binding]) -> tuple[str, ...]:
    """Every part name of several rewards, each once, in order."""
    return tuple(dict.fromkeys(part for binding in bindings for part in binding.parts))


def _look_up(offered: Mapping[str, Any], path: str, parameter: str, reward: str) -> Any:
    """The value at a column, or at a dotted path into one; keys and attributes both count."""
    if path in offered:
        return offered[path]
    value: Any = offered
    for step in path.split("."):
        if isinstance(value, Mapping):
            found = step in value
            value = value[step] if found else None
        elif isinstance(value, (str, int, float, list, NoneType)):
            # Columns may come from a stranger's request, who must not see Python behind the JSON.
            found = False
        else:
            found = hasattr(value, step)
            value = getattr(value, step, None)
        if not found:
            have = ", ".join(sorted(map(str, offered))) or "nothing"
            raise MissingParameter(
                f"{reward} takes {parameter!r} from the column {path!r}, which is not there; "
                f"the trainer offers: {have}"
            )
    return value
