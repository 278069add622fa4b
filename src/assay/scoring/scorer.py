"""The one place where a reward runs: columns in, a score out.

A `Scorer` is a reward bound to its configuration. It picks the columns that the reward asks for,
calls it, turns whatever came back into a score, and turns whatever was raised into an abstention
that keeps the traceback. Everything else in Assay goes through it: a call from Python, a batch
file, a server, a trainer, a run.
"""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Awaitable, Callable, Mapping
from importlib.util import find_spec
from math import isfinite
from numbers import Real
from typing import Any

from assay.errors import BadParameter, MissingExtra, MissingParameter
from assay.registry import RewardSpec, bound_options, find_reward
from assay.schema.score import Abstained, Json, Score, Scored

TRACEBACK_LIMIT = 4_000
"""Characters kept of a reward's traceback; the end of it names the cause."""


class Scorer:
    """A reward with its configuration, ready for many rows."""

    __slots__ = ("_optional", "_required", "params", "spec")

    def __init__(
        self, reward: str | Callable[..., Any], params: Mapping[str, Any] | None = None
    ) -> None:
        self.spec: RewardSpec = find_reward(reward)
        self._required = self.spec.required
        self._optional = self.spec.optional
        options = {**bound_options(reward), **(params or {})}
        _check_params(self.spec, options)
        self.params: dict[str, Any] = without_defaults(self.spec, options)
        """The configuration where it differs from the reward's defaults, as scores record it."""

    def __reduce__(self) -> tuple[type[Scorer], tuple[Any, ...]]:
        return Scorer, (self.spec.function, self.params)

    def __call__(self, columns: Mapping[str, Any]) -> Score:
        """The score of one row.

        Raises when the row lacks a column that the reward needs, and when the reward refuses its
        configuration (`BadParameter`): that is the caller's to mend, on every row alike.
        """
        arguments = self._arguments(columns)
        if self.spec.is_async:
            return _run_coroutine(self._score_async(arguments), self.spec.name)
        try:
            result = self.spec.function(**arguments)
        except BadParameter:
            raise
        except Exception as error:  # noqa: BLE001 - a grader's failure is an abstention, whatever it is
            return self._grader_error(error)
        if inspect.isawaitable(result):
            return _run_coroutine(self._settle(result), self.spec.name)
        return self._sign(result)

    async def score_async(self, columns: Mapping[str, Any]) -> Score:
        """As a call, without blocking the event loop: a plain function runs in a thread."""
        return await self._score_async(self._arguments(columns))

    def abstain(self, reason: str, because: str) -> Abstained:
        """An abstention in this reward's name, for a row that never reached it."""
        return Abstained(
            reason, because, self.spec.parts or (), scorer=self.spec.id, params=self.params
        )

    async def _score_async(self, arguments: dict[str, Any]) -> Score:
        call = self.spec.function if self.spec.is_async else self._call_in_thread
        return await self._settle(call(**arguments))

    async def _call_in_thread(self, /, **arguments: Any) -> Any:
        result = await asyncio.to_thread(self.spec.function, **arguments)
        return await result if inspect.isawaitable(result) else result

    async def _settle(self, pending: Awaitable[Any]) -> Score:
        try:
            return self._sign(await pending)
        except BadParameter:
            raise
        except Exception as error:  # noqa: BLE001 - a grader's failure is an abstention, whatever it is
            return self._grader_error(error)

    def _arguments(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        arguments = dict(self.params)
        for name in self._required:
            if name not in columns or _is_text_for_context(name, columns):
                raise MissingParameter(_missing(self.spec, name, columns))
            arguments[name] = columns[name]
        for name in self._optional:
            if name in columns and not _is_text_for_context(name, columns):
                arguments[name] = columns[name]
        if self.spec.takes_any:
            options = self.spec.options
            for name, value in columns.items():
                if name not in arguments and name not in options and isinstance(name, str):
                    arguments[name] = value
        return arguments

    def _sign(self, result: Any) -> Score:
        try:
            score = to_score(result)
        except (TypeError, ValueError) as error:
            return self.abstain("grader_error", f"{self.spec.name} {error}")
        if self.spec.parts is not None:
            score = self._with_fixed_parts(score)
        return score.sign(self.spec.id, self.params)

    def _with_fixed_parts(self, score: Score) -> Score:
        declared = self.spec.parts or ()
        if tuple(score.parts) == declared:
            return score
        if isinstance(score, Abstained):
            return Abstained(score.reason, score.because, declared, score.notes)
        if set(score.parts) == set(declared):
            ordered = {name: score.parts[name] for name in declared}
            return Scored(score.value, score.because, ordered, score.notes)
        return Abstained(
            "grader_error",
            f"{self.spec.name} declares the parts {sorted(declared)} and returned "
            f"{sorted(score.parts)}; every result carries all of them and no other",
            declared,
        )

    def _grader_error(self, error: Exception) -> Abstained:
        trace = "".join(traceback.format_exception(error))[-TRACEBACK_LIMIT:]
        return Abstained(
            "grader_error",
            f"{self.spec.name} raised {type(error).__name__}: {str(error)[:300]}",
            self.spec.parts or (),
            {"traceback": trace},
            self.spec.id,
            self.params,
        )


def to_score(result: Any) -> Score:
    """Whatever a reward function returned, as a score.

    A number, a mapping with a `reward` key (its other numbers become parts, its texts notes), or
    a score. Anything else, `None` and NaN included, is an error: it does not say what it means.
    """
    if isinstance(result, (Scored, Abstained)):
        return result
    if isinstance(result, Mapping):
        return _from_mapping(result)
    if isinstance(result, Real):
        return Scored(_finite(result, "reward"))
    number = getattr(result, "item", None)
    if callable(number):
        return to_score(number())
    raise TypeError(f"returned {result!r:.200}; a reward is a number, a mapping or a Score")


def _from_mapping(result: Mapping[Any, Any]) -> Score:
    if "reward" not in result:
        raise ValueError(
            f"returned a mapping without 'reward'; its keys: {sorted(map(str, result))}"
        )
    value = result["reward"]
    if value is None:
        reason = result.get("abstained") or "unscored"
        return Abstained(str(reason), "the reward function returned no number")
    parts: dict[str, float | None] = {}
    notes: dict[str, str] = {}
    for key, item in result.items():
        if key == "reward":
            continue
        if item is None:
            parts[str(key)] = None
        elif isinstance(item, Real):
            parts[str(key)] = _finite(item, str(key))
        else:
            notes[str(key)] = item if isinstance(item, str) else repr(item)
    return Scored(_finite(value, "reward"), "", parts, notes)


def _finite(value: Any, name: str) -> float:
    number = float(value)
    if not isfinite(number):
        raise ValueError(
            f"returned {name}={number!r}; a score is finite, an abstention has no number"
        )
    return number


def _check_params(spec: RewardSpec, params: Mapping[str, Any]) -> None:
    for name in params:
        if name not in spec.options:
            names = ", ".join(spec.options) or "it takes none"
            raise BadParameter(f"{spec.name} has no option {name!r}; its options: {names}")
    for name, option in spec.options.items():
        if option.default is inspect.Parameter.empty and name not in params:
            raise BadParameter(
                f"{spec.name} needs its option {name!r}; pass params={{{name!r}: …}}"
            )
    for name, module in spec.extras.items():
        if params.get(name) and find_spec(module) is None:
            raise MissingExtra.of(f"{spec.name} with {name}={params[name]!r}", module)


def without_defaults(spec: RewardSpec, params: Mapping[str, Any]) -> dict[str, Any]:
    """The options that differ from the reward's defaults: what identifies a configuration."""
    return {
        name: value
        for name, value in params.items()
        if name not in spec.options or not _is_equal(value, spec.options[name].default)
    }


def _is_equal(value: Any, default: Any) -> bool:
    """Whether two options mean the same, as JSON knows them: a list is a tuple, true is not 1."""
    if isinstance(value, (list, tuple)) and isinstance(default, (list, tuple)):
        return len(value) == len(default) and all(map(_is_equal, value, default))
    if isinstance(value, bool) or isinstance(default, bool):
        return value is default
    if isinstance(value, (str, int, float, dict)):
        return bool(value == default)
    return value is default


def _is_text_for_context(name: str, columns: Mapping[str, Any]) -> bool:
    """Whether a data column called `context`, as QA data sets have, would pose as the rollout's."""
    return name == "context" and not hasattr(columns[name], "acquire_resource")


def _missing(spec: RewardSpec, name: str, columns: Mapping[str, Any]) -> str:
    have = ", ".join(sorted(map(str, columns))) or "nothing"
    hint = " (the Context of a rollout, never a data column)" if name == "context" else ""
    return f"{spec.name} needs {name!r}{hint}; the row has: {have}"


def _run_coroutine(pending: Any, name: str) -> Score:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        score: Score = asyncio.run(pending)
        return score
    pending.close()
    raise RuntimeError(
        f"{name} is asynchronous and an event loop is running here; "
        "use `await assay.score_async(...)`"
    )


def score(
    reward: str | Callable[..., Any],
    /,
    *,
    params: Mapping[str, Json] | None = None,
    **columns: Any,
) -> Score:
    """What one finished answer is worth, and why.

    `columns` are what the reward asks for by name: `final_response`, `trajectory`, `context`, and
    the columns of the task; what it does not ask for is ignored. `params` is its configuration.
    """
    return _scorer_for(reward, params, columns)(columns)


async def score_async(
    reward: str | Callable[..., Any],
    /,
    *,
    params: Mapping[str, Json] | None = None,
    **columns: Any,
) -> Score:
    """As `score`, from inside an event loop and without blocking it."""
    return await _scorer_for(reward, params, columns).score_async(columns)


def _scorer_for(
    reward: str | Callable[..., Any], params: Mapping[str, Json] | None, columns: Mapping[str, Any]
) -> Scorer:
    """The scorer; raise `BadParameter` if one of the columns is an option of it."""
    scorer = Scorer(reward, params)
    for name in columns:
        if name in scorer.spec.options:
            raise BadParameter(
                f"{name!r} is configuration of {scorer.spec.name}, not a column; "
                f"pass params={{{name!r}: {columns[name]!r}}}"
            )
    return scorer
