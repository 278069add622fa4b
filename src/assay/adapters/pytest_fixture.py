"""Test a reward: its scores, its speed, and equal results in threads and processes."""

from __future__ import annotations

import os
import pickle
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import KW_ONLY, dataclass, replace
from math import inf
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

from assay.adapters.golden import (
    GoldenRow,
    changes,
    explain,
    read_golden,
    report,
    shorten,
    write_golden,
)
from assay.errors import BadInput, BadParameter
from assay.isolation.processes import kill_family, worker_pool
from assay.registry import REWARDS
from assay.schema.score import Score
from assay.schema.values import describe
from assay.scoring.columns import RESPONSE
from assay.scoring.scorer import Scorer

Response: TypeAlias = str | Mapping[str, Any] | None
"""A text, or no answer; or, for what is no text, the columns that differ from the others."""

NO_OPS: Final = ("", "I do not know.")
"""Responses that answer nothing; a test names its own where these are worth something."""
WITHIN_S: Final = 5.0
START_S: Final = 60.0
"""For a new process to import the reward, and for its first call."""
SEND_S: Final = 2.0
THREADS: Final = 4
HALF: Final = 0.5


class TimedScore(NamedTuple):
    """A score, and the seconds that the scoring took."""

    score: Score
    seconds: float


class RewardProcess:
    """A separate process for rewards under test; it is killed if a reward hangs."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._pid = 0

    def score(self, scorer: Scorer, row: Mapping[str, Any], *, timeout_s: float) -> TimedScore:
        """Score a row in the process; raise `TimeoutError` if scoring takes too long."""
        message = pickle.dumps((scorer, dict(row)))
        if self._pool is None:
            self._pool = worker_pool(1)
            self._pid = self._pool.submit(os.getpid).result(START_S)
        future = self._pool.submit(_score_pickled, message)
        try:
            return future.result(timeout_s)
        except (TimeoutError, BrokenProcessPool):
            self.close()
            raise

    def close(self) -> None:
        """The process has ended."""
        if self._pool is not None:
            if self._pid:
                kill_family(self._pid)
            self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool, self._pid = None, 0


def _score_pickled(message: bytes) -> TimedScore:
    scorer, row = pickle.loads(message)  # noqa: S301 - written by `RewardProcess.score`
    return _timed(scorer, row)


def _timed(scorer: Scorer, row: Mapping[str, Any]) -> TimedScore:
    started = time.perf_counter()
    return TimedScore(scorer(row), time.perf_counter() - started)


@dataclass(frozen=True, slots=True, eq=False)
class RewardFixture:
    """The tester of a reward; call the tester to choose another reward.

    `columns` of its methods are those of the row other than the response.
    """

    _scorer: Scorer | None = None
    _: KW_ONLY
    process: RewardProcess
    folder: Path
    """Golden files are relative to it."""
    update: bool
    """Whether they are written anew."""
    updated: list[str]
    """A line for each that was."""

    def __call__(self, which: str | Callable[..., Any], /, **params: Any) -> RewardFixture:
        """Return the tester of another reward, given as a name, an address or a function."""
        function = REWARDS.find(which) if isinstance(which, str) and ":" in which else which
        return replace(self, _scorer=Scorer(function, params))

    @property
    def scorer(self) -> Scorer:
        """The reward with its options; raises `BadParameter` if no reward was chosen."""
        if self._scorer is None:
            raise BadParameter(
                'no reward is named; mark the test with @pytest.mark.reward("NAME"), or call the '
                "fixture: reward(my_function).check(…)"
            )
        return self._scorer

    def score(self, response: Response = None, /, **columns: Any) -> Score:
        """Return the score of one response, computed in this process."""
        return self.scorer(_rows([response], columns)[0])

    def pays(self, *responses: Response, at_least: float = 1.0, **columns: Any) -> None:
        """Fail if a response earns less than `at_least`."""
        __tracebackhide__ = True
        for row in _rows(responses, columns):
            self._require(row, "is paid too little", least=at_least)

    def refuses(self, *responses: Response, at_most: float = 0.0, **columns: Any) -> None:
        """Fail if a response earns more than `at_most`, or if the reward abstains."""
        __tracebackhide__ = True
        for row in _rows(responses, columns):
            self._require(row, "is paid", -inf, at_most)

    def abstains(self, *responses: Response, reason: str | None = None, **columns: Any) -> None:
        """Fail if the reward does not abstain, or abstains for another reason."""
        __tracebackhide__ = True
        for row in _rows(responses, columns):
            score = self.scorer(row)
            if not score.abstained or reason not in (None, score["abstained"]):
                self._fail("should abstain" + (f" ({reason})" if reason else ""), row, score)

    def agrees(self, *responses: Response, **columns: Any) -> None:
        """Fail if these forms of one answer get different scores."""
        __tracebackhide__ = True
        rows = _rows(responses, columns)
        scores = [self.scorer(row) for row in rows]
        for row, score in zip(rows, scores, strict=True):
            if score["reward"] is None or score["reward"] != scores[0]["reward"]:
                first = f"{rows[0].get(RESPONSE)!r:.120} gets {explain(scores[0])}"
                self._fail(f"is scored unlike another form\n  another {first}", row, score)

    def check(
        self,
        gold: Response,
        /,
        *,
        forms: Iterable[Response] = (),
        near_misses: Iterable[Response] = (),
        no_ops: Iterable[Response] = NO_OPS,
        at_least: float = 1.0,
        at_most: float | None = None,
        within_s: float = WITHIN_S,
        threads: int = THREADS,
        processes: bool = True,
        **columns: Any,
    ) -> None:
        """Fail if the reward breaks a rule that every reward must keep.

        The gold response earns `at_least`; other `forms` of it earn the same; a no-op earns
        nothing (`at_most`, if given); a near miss earns less than half of the gold (or `at_most`).
        No call takes longer than `within_s`; every number is the same in `threads` at once and in
        a process of its own, which is where a call that does not return is noticed and ended.
        """
        __tracebackhide__ = True
        paid = _rows([gold, *forms], columns)
        empty, near = _rows(no_ops, columns), _rows(near_misses, columns)
        rows = [*paid, *empty, *near]
        self._check_time_and_places(rows, within_s, threads, processes=processes)
        best = self._require(paid[0], "is the gold answer, and is paid too little", least=at_least)
        for row in paid[1:]:
            score = self.scorer(row)
            if score["reward"] != best["reward"]:
                self._fail(
                    f"is another form of the gold, which gets {best['reward']:g}", row, score
                )
        for row in empty:
            self._require(row, "is no answer, and is paid", -inf, at_most or 0.0)
        bar = HALF * best["reward"] if at_most is None else at_most
        for row in near:
            self._require(row, "is a near miss, and is paid", -inf, bar)

    def golden(self, path: str | Path, rows: Iterable[Mapping[str, Any]] = ()) -> None:
        """Fail if a row gets another score than the golden file records.

        The path is relative to the test's file. `rows` are those that the file should have; without
        any, they are those that it has. `pytest --assay-update` writes it anew.
        """
        __tracebackhide__ = True
        file = self.folder / path
        requested = [dict(row) for row in rows]
        known = read_golden(file) if file.exists() or not requested else []
        if requested:
            scores = {repr(sorted(row.columns.items())): row.score for row in known}
            known = [
                GoldenRow(number, row, scores.get(repr(sorted(row.items()))))
                for number, row in enumerate(requested, 1)
            ]
        if not known:
            raise BadInput(f"the golden file {str(file)!r} has no rows; add rows to it")
        changed = changes(known, self.scorer)
        if not changed:
            return
        if self.update:
            write_golden(file, [(row.columns, self.scorer(row.columns)) for row in known])
            same = sum(change.keeps_version for change in changed)
            note = f", {same} of them under an unchanged version" if same else ""
            self.updated.append(f"{len(changed)} row(s) of {file} written anew{note}")
            return
        keeps_version = any(change.keeps_version for change in changed)
        version = "raise the reward's version, then " if keeps_version else ""
        advice = f"If this is meant, {version}write the file anew: pytest --assay-update"
        raise AssertionError(report(file, changed, advice))

    def _check_time_and_places(
        self, rows: Sequence[dict[str, Any]], within_s: float, threads: int, *, processes: bool
    ) -> None:
        """Fail if a call is too slow, or if threads or processes change a score."""
        __tracebackhide__ = True
        apart = self._in_process(rows, within_s) if processes else None
        together = self._in_threads(rows, within_s, threads)
        here = [_timed(self.scorer, row) for row in rows]
        for row, call in zip(rows, apart or here, strict=True):
            if call.seconds > within_s:
                self._fail(f"took {call.seconds:.1f} s; within_s={within_s:g}", row, call.score)
        places = [] if apart is None else [("another process", apart)]
        places += [(f"a thread among {threads}", calls) for calls in together]
        for place, there in places:
            for row, mine, other in zip(rows, here, there, strict=True):
                if _numbers(mine.score) != _numbers(other.score):
                    what = f"is scored otherwise in {place}\n  there   {explain(other.score)}"
                    self._fail(what, row, mine.score)

    def _in_process(self, rows: Sequence[dict[str, Any]], within_s: float) -> list[TimedScore]:
        __tracebackhide__ = True
        scores = []
        # The first call there imports the reward; that is not what is timed.
        for number, row in enumerate([rows[0], *rows]):
            timeout_s = START_S if number == 0 else within_s + SEND_S
            try:
                scores.append(self.process.score(self.scorer, row, timeout_s=timeout_s))
            except TimeoutError:
                self._fail(f"took more than within_s={within_s:g}, and was ended", row)
            except BrokenProcessPool:
                self._fail("ended the process in which it was scored", row)
            except (pickle.PicklingError, TypeError, AttributeError, ImportError) as error:
                self._fail(
                    f"cannot be scored in another process ({error}); define the reward with `def` "
                    "in a module, or pass processes=False",
                    row,
                )
        return scores[1:]

    def _in_threads(
        self, rows: Sequence[dict[str, Any]], within_s: float, threads: int
    ) -> list[list[TimedScore]]:
        __tracebackhide__ = True
        results: list[list[TimedScore]] = [[] for _ in range(threads)]
        raised: list[BaseException] = []

        def work(result: list[TimedScore]) -> None:
            try:
                result.extend(_timed(self.scorer, row) for row in rows)
            except BaseException as error:  # noqa: BLE001 - raised where the test waits
                raised.append(error)

        # Daemons: a call that never returns must not keep pytest from ending.
        workers = [threading.Thread(target=work, args=(each,), daemon=True) for each in results]
        for worker in workers:
            worker.start()
        deadline = time.monotonic() + threads * len(rows) * within_s
        for worker, result in zip(workers, results, strict=True):
            worker.join(max(0.0, deadline - time.monotonic()))
            if worker.is_alive():
                self._fail(f"did not return in a thread; within_s={within_s:g}", rows[len(result)])
        if raised:
            raise raised[0]
        return results

    def _require(self, row: Mapping[str, Any], what: str, least: float, most: float = inf) -> Score:
        __tracebackhide__ = True
        score = self.scorer(row)
        if score["reward"] is None or not least <= score["reward"] <= most:
            bound = f"at least {least:g}" if most == inf else f"at most {most:g}"
            self._fail(f"{what}; {bound}", row, score)
        return score

    def _fail(self, what: str, row: Mapping[str, Any], score: Score | None = None) -> NoReturn:
        __tracebackhide__ = True
        rest = {name: value for name, value in row.items() if name != RESPONSE}
        lines = [f"{self.scorer.spec.id}: a response {what}"]
        if RESPONSE in row:
            lines.append(f"  text    {row[RESPONSE]!r:.400}")
        if rest:
            cells = {name: _cell(value) for name, value in rest.items()}
            lines.append(f"  columns {shorten(cells)}")
        if score is not None:
            lines.append(f"  score   {explain(score)}")
            if "traceback" in score.notes:
                lines.append(score.notes["traceback"])
        # What the boundary caught is in the lines.
        raise AssertionError("\n".join(lines)) from None


def _rows(responses: Iterable[Response], columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    own = (each if isinstance(each, Mapping) else {RESPONSE: each} for each in responses)
    return [{**columns, **each} for each in own]


def _cell(value: Any) -> Any:
    is_plain = isinstance(value, str | int | float | list | tuple | dict | None)
    return value if is_plain else describe(value)


def _numbers(score: Score) -> tuple[Any, ...]:
    return score["reward"], score["abstained"] if score.abstained else None, dict(score.parts)
