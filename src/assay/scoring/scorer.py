"""Run rewards: take columns, call the reward, and return a score or an abstention.

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
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.errors import BadParameter, MissingExtra, MissingParameter, UsageError
from assay.registry import RewardSpec, find_reward
from assay.registry.annotations import annotations_of, names_none
from assay.registry.options import bound_options, check_options, without_defaults
from assay.resources import threads
from assay.schema.score import Abstained, Json, Score, Scored
from assay.schema.values import describe, is_missing, plain
from assay.scoring.columns import (
    RESPONSE,
    ColumnKind,
    NoSuchPath,
    check_columns,
    is_text_for_context,
    look_up,
    missing_message,
    signature_of,
)
from assay.scoring.results import FAILURES, PASSED, SCORES, message_of, to_score, traceback_of

if TYPE_CHECKING:
    from assay.resources.context import Context
    from assay.schema.episode import Episode

SCORE_S = 60.0
"""How long one reward may take for one recorded episode."""
ROW_REASONS = frozenset(
    {"bad_row", "bad_reference", "bad_response", "missing_reference", "unparseable_reference"}
)
"""Abstentions that are about the row's own data: whoever mends it needs to know which row it is."""


class Scorer:
    """A reward with its options, ready to score many rows.

    `columns` says which column of a row holds a parameter of the reward, where it has another name:
    `{"answer": "solution"}`; a dotted path leads into a column.
    """

    __slots__ = (
        "_has_scored", "_kinds", "_optional", "_required", "asks_for_none", "columns", "params",
        "spec",
    )  # fmt: skip

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
        self._kinds, self.asks_for_none = signature_of(self.spec)
        options = {**bound_options(reward), **(params or {})}
        check_options(self.spec, options)
        check_columns(self.spec, columns or {})
        self.params: dict[str, Any] = without_defaults(self.spec, options)
        """The configuration where it differs from the reward's defaults, as scores record it."""
        self.columns: dict[str, str] = dict(columns or {})
        self._has_scored = False

    def __reduce__(self) -> tuple[Callable[..., Scorer], tuple[Any, ...]]:
        return partial(Scorer, self.spec.function, self.params, columns=self.columns), ()

    def __call__(self, columns: Mapping[str, Any]) -> Score:
        """Score one row. Raises an error for a missing column or for refused options."""
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
        """Score one row without blocking the event loop: a plain function runs in a thread."""
        arguments = self._arguments(columns)
        if not isinstance(arguments, dict):
            return arguments
        return await self._score_async(arguments)

    def score_many(self, rows: Sequence[Mapping[str, Any]]) -> list[Score]:
        """Score each row, in order; a reward with `call_many` gets all rows in one call."""
        call_many = getattr(self.spec.function, "call_many", None)
        if call_many is None:
            return [self(row) for row in rows]
        prepared = [self._arguments(row) for row in rows]
        results = iter(call_many([each for each in prepared if isinstance(each, dict)]))
        return [self._sign(next(results)) if isinstance(each, dict) else each for each in prepared]

    def abstain(self, reason: str, because: str) -> Abstained:
        """Make an abstention of this reward for a row that was not scored."""
        return Abstained(
            reason, because, self.spec.parts or (), scorer=self.spec.id, params=self.params
        )

    def score_no_answer(self, because: str) -> Scored:
        """The score 0.0 for a missing response, without calling the reward."""
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
        """Call the reward; an exception is returned, since a thread cannot pass every exception."""
        try:
            return self.spec.function(**arguments)
        except PASSED:
            raise
        except BaseException as error:  # noqa: BLE001 - a grader's failure is an abstention, whatever it is
            return _Raised(error)

    async def _settle(self, pending: Any, arguments: dict[str, Any] | None = None) -> Score:
        """Await the result of the reward and convert it to a score."""
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
        """The arguments for the reward, or a score if it cannot be called for this row."""
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
        """Add the mapped columns to the row under the reward's own names."""
        row = dict(columns)
        for parameter, column in self.columns.items():
            row[parameter] = self._look_up(columns, column, parameter)
        return row

    def value_of(self, parameter: str, row: Mapping[str, Any]) -> Any:
        """The value that a row holds for a parameter. Raises as `look_up` does."""
        return self._look_up(row, self.columns.get(parameter, parameter), parameter)

    def _look_up(self, row: Mapping[str, Any], column: str, parameter: str) -> Any:
        return look_up(row, column, parameter, self.spec.name)

    def _pick(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        for name in self._required:
            if name not in columns or is_text_for_context(name, columns):
                raise MissingParameter(missing_message(self.spec, name, columns))
            arguments[name] = columns[name]
        for name in self._optional:
            if name in columns and not is_text_for_context(name, columns):
                arguments[name] = columns[name]
        if self.spec.takes_any:
            options = self.spec.options
            for name, value in columns.items():
                if name not in arguments and name not in options and isinstance(name, str):
                    arguments[name] = value
        return arguments

    def _refuse(self, arguments: dict[str, Any]) -> Score | None:
        """The score of a row for which the reward is not called; `None` if it must be called."""
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
            f"{sorted(score.parts)}; return exactly the declared parts"
        )

    def _failed(self, error: BaseException) -> Abstained:
        """Make an abstention from an exception; raise it again if the options are refused.

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
    """An exception that a reward raised in another thread."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _run_coroutine(pending: Any, name: str) -> Score:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        score: Score = asyncio.run(pending)
        return score
    pending.close()
    raise RuntimeError(
        f"{name} is asynchronous, and an event loop is already running; "
        "use `await assay.score_async(...)`"
    )


async def score_episode(
    scorers: Sequence[Scorer], episode: Episode, context: Context, *, limit_s: float
) -> tuple[Score, ...]:
    """Score an episode by every reward, in order; no failure of a reward ends the run.

    Every reward abstains from an episode that its model or environment ended: the agent could not
    finish it. An attempt without an answer is 0.0, unless the reward asks to be called with `None`:
    its annotation admits `None` (`str | None`, `object`), `None` is the parameter's default, or it
    names no type and takes the rollout's `context`, since it asks the environment.

    A crash earns nothing by its silence. Some rewards pay an empty answer, as for a question that
    has none; where the agent broke, that pay is 0.0, unless the reward names `None`.
    """
    if episode.no_fault:
        because = episode.no_fault_reason
        return tuple(scorer.abstain(episode.stop_reason, because) for scorer in scorers)
    message = episode.failure.message if episode.failure else None
    context.trajectory = episode.trajectory.messages
    context.steps = episode.trajectory.steps
    columns = {**episode.columns(), "context": context}
    unanswered = episode.final_response is None
    scores: list[Score] = []
    for scorer in scorers:
        score = None
        if unanswered:
            score = score_missing_answer(scorer, stop_reason=episode.stop_reason, failure=message)
        if score is None:
            score = await _score_within(limit_s, scorer, columns)
            if unanswered and episode.stop_reason == "agent_error":
                score = without_pay_for_a_crash(scorer, score, failure=message)
        scores.append(score)
    return tuple(scores)


async def _score_within(limit_s: float, scorer: Scorer, columns: dict[str, object]) -> Score:
    try:
        async with asyncio.timeout(limit_s):
            return await scorer.score_async(columns)
    except TimeoutError:
        return scorer.abstain("grader_timeout", f"no score within {limit_s:g} s")
    except UsageError as error:
        return scorer.abstain("bad_row", str(error))


def score_missing_answer(scorer: Scorer, *, stop_reason: str, failure: str | None) -> Score | None:
    """The score of an attempt without an answer; `None` if the reward must be called."""
    if scorer.asks_for_none:
        return None
    if stop_reason == "answered":
        return scorer.abstain("missing_response", "the answer that was given is not in the record")
    ending = ": ".join(filter(None, (stop_reason, failure)))
    return scorer.score_no_answer(f"the agent gave no answer: {ending}")


def without_pay_for_a_crash(scorer: Scorer, score: Score, *, failure: str | None) -> Score:
    """Set a positive score to 0.0 if the agent crashed before it answered."""
    function = scorer.spec.function
    parameters = inspect.signature(function).parameters
    if (
        not isinstance(score, Scored)
        or score.value <= 0
        or RESPONSE not in parameters
        or "context" in parameters
        or parameters[RESPONSE].default is None
        or names_none(annotations_of(function).get(RESPONSE))
    ):
        return score
    because = ": ".join(filter(None, ("the agent gave no answer", "agent_error", failure)))
    return Scored(0.0, because, score.parts, score.notes, score.scorer, score.params)


def score(
    reward: str | Callable[..., Any],
    /,
    *,
    params: Mapping[str, Json] | None = None,
    **columns: Any,
) -> Score:
    """Score one finished answer, and say why it has this score.

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
    """Score one finished answer inside an event loop, without blocking the loop."""
    return await _scorer_for(reward, params, columns).score_async(columns)


def _scorer_for(
    reward: str | Callable[..., Any], params: Mapping[str, Json] | None, columns: Mapping[str, Any]
) -> Scorer:
    """Make the scorer. Raises `BadParameter` if a column has the name of an option."""
    scorer = Scorer(reward, params)
    for name in columns:
        if name in scorer.spec.options:
            raise BadParameter(
                f"{name!r} is an option of {scorer.spec.name}, not a column; "
                f"pass params={{{name!r}: {columns[name]!r}}}"
            )
    return scorer
