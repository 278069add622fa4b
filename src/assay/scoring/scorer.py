"""The one place where a reward runs: columns in, a score out.

A `Scorer` is a reward bound to its configuration. It picks the columns that the reward asks for,
calls it, turns whatever came back into a score, and turns whatever was raised into an abstention
that keeps the traceback. Everything else in Assay goes through it: a call from Python, a batch
file, a server, a trainer, a run.

Nothing that a row holds, and nothing that a reward returns or raises, leaves this boundary as an
exception. What does is for the caller to mend, on every row alike: a column that is not there, an
option that the reward refuses; and what stops the program from outside, such as Ctrl-C.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeAlias

from assay.errors import BadParameter, MissingExtra, MissingParameter
from assay.registry import RewardSpec, bound_options, find_reward
from assay.resources import threads
from assay.schema.score import Abstained, Json, Score, Scored
from assay.schema.values import describe, is_missing, plain
from assay.scoring.columns import (
    RESPONSE,
    TEXT,
    ColumnKind,
    NoSuchPath,
    asks_for_none,
    check_columns,
    column_kinds,
    look_up,
)
from assay.scoring.results import FAILURES, PASSED, SCORES, message_of, to_score, traceback_of

ROW_REASONS = frozenset(
    {"bad_row", "bad_reference", "bad_response", "missing_reference", "unparseable_reference"}
)
"""Abstentions that are about the row's own data: whoever mends it needs to know which row it is."""


class Scorer:
    """A reward with its configuration, ready for many rows.

    `columns` says which column of a row holds a parameter of the reward, where it has another name:
    `{"answer": "solution"}`; a dotted path leads into a column.
    """

    __slots__ = (
        "_has_scored",
        "_kinds",
        "_optional",
        "_required",
        "asks_for_none",
        "columns",
        "params",
        "spec",
    )

    def __init__(
        self,
        reward: str | Callable[..., Any],
        params: Mapping[str, Any] | None = None,
        *,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self.spec: RewardSpec = find_reward(reward)
        self._required = self.spec.required
        self._optional = self.spec.optional
        self._kinds, self.asks_for_none = _signature_of(self.spec)
        options = {**bound_options(reward), **(params or {})}
        _check_params(self.spec, options)
        check_columns(self.spec, columns or {})
        self.params: dict[str, Any] = without_defaults(self.spec, options)
        """The configuration where it differs from the reward's defaults, as scores record it."""
        self.columns: dict[str, str] = dict(columns or {})
        self._has_scored = False

    def __reduce__(self) -> tuple[Callable[..., Scorer], tuple[Any, ...]]:
        return _make_scorer, (self.spec.function, self.params, self.columns)

    def __call__(self, columns: Mapping[str, Any]) -> Score:
        """The score of one row.

        Raises when the row lacks a column that the reward needs, and when the reward refuses its
        configuration (`BadParameter`): that is the caller's to mend, on every row alike.
        """
        arguments = self._arguments(columns)
        if not isinstance(arguments, dict):
            return arguments
        if self.spec.is_async:
            return _run_coroutine(self._score_async(arguments), self.spec.name)
        try:
            result = self.spec.function(**arguments)
        except PASSED:
            raise
        except BaseException as error:  # noqa: BLE001 - a grader's failure is an abstention, whatever it is
            return self._failed(error)
        if type(result) not in SCORES and inspect.isawaitable(result):
            return _run_coroutine(self._settle(result), self.spec.name)
        return self._sign(result)

    async def score_async(self, columns: Mapping[str, Any]) -> Score:
        """As a call, without blocking the event loop: a plain function runs in a thread."""
        arguments = self._arguments(columns)
        if not isinstance(arguments, dict):
            return arguments
        return await self._score_async(arguments)

    def score_many(self, rows: Sequence[Mapping[str, Any]]) -> list[Score]:
        """The score of each row, in order; raises as a call does.

        A reward that has a `call_many`, because one call of it is dear, gets all of them at once: a
        list of arguments, for which it returns a list of results.
        """
        call_many = getattr(self.spec.function, "call_many", None)
        if call_many is None:
            return [self(row) for row in rows]
        prepared = [self._arguments(row) for row in rows]
        results = iter(call_many([each for each in prepared if isinstance(each, dict)]))
        return [self._sign(next(results)) if isinstance(each, dict) else each for each in prepared]

    def abstain(self, reason: str, because: str) -> Abstained:
        """An abstention in this reward's name, for a row that never reached it."""
        return Abstained(
            reason, because, self.spec.parts or (), scorer=self.spec.id, params=self.params
        )

    def score_no_answer(self, because: str) -> Scored:
        """The score where there is no response, of a reward that does not ask to be called then."""
        parts = dict.fromkeys(self.spec.parts or ())
        return Scored(0.0, because, parts).sign(self.spec.id, self.params)

    async def _score_async(self, arguments: dict[str, Any]) -> Score:
        if self.spec.is_async:
            return await self._settle(self.spec.function, arguments)
        if self.spec.waits:
            result = await threads.call(self._call, arguments)
        else:
            result = await asyncio.to_thread(self._call, arguments)
        if isinstance(result, _Raised):
            return self._failed(result.error)
        if inspect.isawaitable(result):
            return await self._settle(result)
        return self._sign(result)

    def _call(self, arguments: dict[str, Any]) -> Any:
        """What the reward returned, or raised: not every exception passes from thread to loop."""
        try:
            return self.spec.function(**arguments)
        except PASSED:
            raise
        except BaseException as error:  # noqa: BLE001 - a grader's failure is an abstention, whatever it is
            return _Raised(error)

    async def _settle(self, pending: Any, arguments: dict[str, Any] | None = None) -> Score:
        """The score of what the awaitable, or the coroutine function, returns."""
        try:
            result = await (pending if arguments is None else pending(**arguments))
        except PASSED:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return self._failed(error)
        except BaseException as error:  # noqa: BLE001 - a grader's failure is an abstention, whatever it is
            return self._failed(error)
        return self._sign(result)

    def _arguments(self, columns: Mapping[str, Any]) -> dict[str, Any] | Score:
        """What the reward is called with, or the score of a row that it is not called for."""
        try:
            arguments = self._pick(self._with_columns(columns) if self.columns else columns)
            score = self._refuse(arguments)
            return (arguments | self.params) if score is None else score
        except (MissingParameter, *PASSED):
            raise
        except NoSuchPath as error:
            return self.abstain("bad_row", str(error))
        except BaseException as error:  # noqa: BLE001 - a row's objects may fail at anything
            return self.abstain("bad_row", f"the row cannot be read: {message_of(error)}")

    def _with_columns(self, columns: Mapping[str, Any]) -> Mapping[str, Any]:
        """The row, with the reward's own names added."""
        row = dict(columns)
        for parameter, column in self.columns.items():
            row[parameter] = look_up(columns, column, parameter, self.spec.name)
        return row

    def _pick(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
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

    def _refuse(self, arguments: dict[str, Any]) -> Score | None:
        """The score of a row that the reward is not called for; `None` if it is.

        It abstains if a column is not of the kind that the reward's annotation declares. Values of
        other libraries are replaced by Python's own where the kind is declared.
        """
        if arguments.get(RESPONSE, "") is None and not self.asks_for_none:
            return self.score_no_answer("there is no response")
        for name, kind in self._kinds.items():
            if name not in arguments:
                continue
            value = arguments[name]
            if (type(value) is str and kind.takes_any_text) or (value is None and name == RESPONSE):
                continue
            value = plain(value)
            missing = is_missing(value)
            if not kind.accepts(value) or (missing and name == RESPONSE):
                return self._abstain_from(name, value, kind)
            arguments[name] = None if missing else value
        return None

    def _abstain_from(self, name: str, value: Any, kind: ColumnKind) -> Abstained:
        because = f"{name!r} is {describe(value)}, and {self.spec.name} reads {kind.text}"
        if name == RESPONSE:
            return self.abstain("bad_response", because)
        reason = "missing_reference" if is_missing(value) else "bad_reference"
        return self.abstain(reason, because)

    def _sign(self, result: Any) -> Score:
        try:
            score = to_score(result)
            if self.spec.parts is not None:
                score = self._with_fixed_parts(score)
        except PASSED:
            raise
        except BaseException as error:  # noqa: BLE001 - what a reward returned may fail at anything
            FAILURES.add(self.spec.id, error, "its result")
            known = type(error) in (TypeError, ValueError)
            because = str(error) if known else f"returned a result that raised {message_of(error)}"
            return self.abstain("grader_error", f"{self.spec.name} {because}")
        self._has_scored = True
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
        raise ValueError(
            f"declares the parts {sorted(declared)} and returned "
            f"{sorted(score.parts)}; every result carries all of them and no other"
        )

    def _failed(self, error: BaseException) -> Abstained:
        """The abstention for what the reward raised; raises it again if its options are refused.

        With its defaults, or after it has scored a row, a reward that speaks of its configuration
        means something else.
        """
        if isinstance(error, (BadParameter, MissingExtra)) and self.params and not self._has_scored:
            raise error
        FAILURES.add(self.spec.id, error)
        return Abstained(
            "grader_error",
            f"{self.spec.name} raised {message_of(error)}",
            self.spec.parts or (),
            {"traceback": traceback_of(error)},
            self.spec.id,
            self.params,
        )


RewardLike: TypeAlias = str | Callable[..., Any] | Scorer
"""A reward by its name, the function itself, or with its configuration."""


class _Raised:
    """What a reward raised in another thread."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _make_scorer(
    function: Callable[..., Any], params: dict[str, Any], columns: dict[str, str]
) -> Scorer:
    return Scorer(function, params, columns=columns)


class _Signature(NamedTuple):
    """What a reward's annotations say."""

    kinds: Mapping[str, ColumnKind]
    """Of the columns that it takes; the response is text where nothing is declared."""
    asks_for_none: bool


def _signature_of(spec: RewardSpec) -> _Signature:
    try:
        return _cached_signature(spec.function, spec.required, spec.optional)
    except TypeError:  # a callable that cannot be hashed
        return _signature(spec.function, spec.required, spec.optional)


def _signature(
    function: Callable[..., Any], required: tuple[str, ...], optional: tuple[str, ...]
) -> _Signature:
    names = [name for name in (*required, *optional) if name not in ("trajectory", "context")]
    kinds = column_kinds(function, names, default={RESPONSE: TEXT})
    return _Signature(kinds, asks_for_none(function))


_cached_signature = lru_cache(maxsize=256)(_signature)


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
