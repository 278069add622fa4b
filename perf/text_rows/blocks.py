"""Blocks of generated rows, scored: what each cost, and which promise a row broke."""

from __future__ import annotations

import faulthandler
import gc
import hashlib
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import assay
from assay.scoring import Scorer
from perf.gil import HOLD_LIMIT_S, longest_hold
from perf.text_rows import OPTIONS, TextRow, text_row

CALL_LIMIT_S = 1.0
STUCK_S = 120.0
"""A block in which nothing ends for so long is ended, with the place where it stands."""
MOST_PROBLEMS = 5
Call: TypeAlias = Callable[[], object]
WRONG_ANSWER = r"The answer is \boxed{271828}."


@dataclass(slots=True)
class BlockResult:
    """What the rows of a block came to."""

    rows: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    """Scores, and abstentions by reason."""
    odd: int = 0
    """Rows in which a value is no text, or not only text."""
    slowest_s: float = 0.0
    slowest_row: int = -1
    spent_s: float = 0.0
    hold_s: float = 0.0
    """Longest that the interpreter's lock was kept, by a call that took longer than the limit."""
    peak_mb: float = 0.0
    """Of the process so far."""
    peak_row: int = -1
    """The row of the block after which the process was larger than ever before."""
    digest: str = ""
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Block:
    """Rows `start` to `stop` of a seed, for one reward."""

    reward: str
    seed: int
    start: int
    stop: int


def warm_up() -> None:
    """Load every reward's code, so that no row pays for it."""
    for reward in OPTIONS:
        for params in OPTIONS[reward]:
            row = {"final_response": r"\boxed{x+1}", "answer": ["x+1", "2"], "trajectory": []}
            Scorer(reward, params)(row)


def score_block(block: Block) -> BlockResult:
    """The result of one block."""
    result, digest = BlockResult(), hashlib.sha256()
    peak = peak_mb()
    for index in range(block.start, block.stop):
        row = text_row(block.reward, block.seed, index)
        faulthandler.dump_traceback_later(STUCK_S, exit=True)
        _score_row(block, index, row, result, digest.update)
        if peak_mb() > peak:
            peak, result.peak_row = peak_mb(), index
    faulthandler.cancel_dump_traceback_later()
    result.digest, result.peak_mb = digest.hexdigest(), peak
    return result


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _score_row(
    block: Block, index: int, row: TextRow, result: BlockResult, write: Callable[[bytes], None]
) -> None:
    def call() -> assay.Score:
        return assay.score(block.reward, params=row.params, **row.columns)

    result.rows += 1
    result.odd += not all(type(value) is str for value in row.columns.values())
    start = time.thread_time()
    try:
        score = call()
    except BaseException as error:  # noqa: BLE001 - an exception is what is looked for
        problems = [f"{type(error).__name__} left assay.score"]
    else:
        spent = time.thread_time() - start
        reason = score.reason if isinstance(score, assay.Abstained) else "scored"
        write(repr((reason, score.because, sorted(score.parts.items()))).encode("utf-8", "replace"))
        result.counts[reason] += 1
        problems = [*_cost(call, spent, index, result), *_dodge(block.reward, row, score)]
    for problem in problems[: MOST_PROBLEMS - len(result.problems)]:
        result.problems.append(f"{block.reward} row {index}: {problem}")


def _cost(call: Call, spent: float, index: int, result: BlockResult) -> Iterator[str]:
    """Add what a call cost to the result; what was too much."""
    result.spent_s += spent
    if spent > CALL_LIMIT_S:
        spent = min(spent, *(_seconds(call) for _ in range(3)))
    if spent > result.slowest_s:
        result.slowest_s, result.slowest_row = spent, index
    if spent > CALL_LIMIT_S:
        yield f"took {spent:.2f} s"
    if spent > HOLD_LIMIT_S:
        hold = longest_hold(call)
        result.hold_s = max(result.hold_s, hold)
        if hold > HOLD_LIMIT_S:
            yield f"kept the interpreter's lock for {hold * 1e3:.0f} ms"


def _dodge(reward: str, row: TextRow, score: assay.Score) -> Iterator[str]:
    """What is wrong with the abstention from a response that is text, if it is one."""
    if not isinstance(score, assay.Abstained) or not row.has_text_response:
        return
    if row.is_plain and score.reason == "grader_error":
        yield f"abstained: {score.because:.200}"
    elif _scores_wrong_answer(reward, row):
        yield f"abstained ({score.reason}) where a wrong answer is scored: {score.because:.200}"


def _scores_wrong_answer(reward: str, row: TextRow) -> bool:
    """Whether a plain wrong answer in place of the response gets a score."""
    score = assay.score(
        reward, params=row.params, **(row.columns | {"final_response": WRONG_ANSWER})
    )
    return not isinstance(score, assay.Abstained)


def _seconds(call: Call) -> float:
    gc.collect()
    start = time.thread_time()
    call()
    return time.thread_time() - start
