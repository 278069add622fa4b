"""Nothing that a row holds, and nothing that a reward returns or raises, leaves the boundary."""

import asyncio
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NoReturn

import numpy as np
import pytest

import assay
from assay import Abstained, Scored
from assay.errors import BadParameter, MissingParameter, RewardStopped
from assay.schema.values import OversizedInteger
from assay.scoring import Scorer


class NAType:
    """As pandas' NA: comparing it gives no truth value."""

    def __bool__(self) -> bool:
        raise TypeError("boolean value of NA is ambiguous")

    def __eq__(self, other: object) -> Any:
        return self

    __ne__ = __eq__
    __hash__ = object.__hash__


class NaTType(datetime):
    """As pandas' NaT."""


NA, NAT = NAType(), NaTType(1970, 1, 1)
MESSAGES = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Paris"}]
UNREADABLE_RESPONSES: list[Any] = [
    7, 0.5, True, float("nan"), b"Paris", {"content": "Paris"}, MESSAGES, ["Paris"], [],
    np.float64(7), np.int32(7), np.array(["a", "b"]), NAT, NA, date(2026, 1, 1),
    10**5000, OversizedInteger(5000), Decimal(1), object(), {1}, range(3), np.datetime64("NaT"),
]  # fmt: skip
UNREADABLE_REFERENCES: list[Any] = [
    {"answer": "Paris"}, b"Paris", bytearray(b"x"), memoryview(b"x"), [["a"], ["b"]], [{"a": 1}],
    [b"x", "y"], float("inf"), Decimal("-Infinity"), 10**5000, OversizedInteger(5000), object(),
    date(2026, 1, 1), np.array([[1, 2], [3, 4]]),
]  # fmt: skip
MISSING_REFERENCES: list[Any] = [
    None, float("nan"), np.float32("nan"), NAT, NA, Decimal("nan"), [], [None], np.array([]),
]  # fmt: skip
REWARDS = [
    "qa_f1_reward", "qa_f1_reward_tool", "math_equal_reward", "math_equal_reward_tool",
    "assistantbench_reward", "fuzzy_answer_reward",
]  # fmt: skip


def annotated(final_response: str, answer: str) -> float:
    return float(final_response == answer)


def lenient(final_response: object, answer: Any) -> float:
    return 0.5


def plural(final_response: str | None, answer: str | list[str]) -> float:
    return float(final_response in answer)


@pytest.mark.parametrize("reward", [*REWARDS, annotated, plural, lambda final_response: 1.0])
def test_a_response_that_is_not_text_abstains(reward: Any) -> None:
    for number, response in enumerate(UNREADABLE_RESPONSES):
        score = assay.score(reward, final_response=response, answer="Paris", trajectory=[])
        assert isinstance(score, Abstained), number
        assert score.reason == "bad_response", number
        assert "'final_response'" in score.because, number


@pytest.mark.parametrize("reward", [*REWARDS, annotated, plural])
def test_a_reference_that_cannot_be_read_abstains(reward: Any) -> None:
    for number, reference in enumerate(UNREADABLE_REFERENCES):
        score = assay.score(reward, final_response="Paris", answer=reference, trajectory=[])
        assert isinstance(score, Abstained), number
        assert score.reason == "bad_reference", number
        assert "'answer'" in score.because, number


@pytest.mark.parametrize("reward", [*REWARDS, annotated])
def test_a_reference_that_is_not_there_abstains(reward: Any) -> None:
    for number, reference in enumerate(MISSING_REFERENCES):
        params = {"hidden_gold": "abstain"} if reward == "assistantbench_reward" else None
        row = {"final_response": "Paris", "answer": reference, "trajectory": []}
        score = Scorer(reward, params)(row)
        assert isinstance(score, Abstained), number
        empty_list = reward is annotated and isinstance(reference, list | np.ndarray)
        reason = "bad_reference" if empty_list else "missing_reference"
        assert score.reason == reason, number


@pytest.mark.parametrize(
    "response", ["", " ", "\ud800", "\x00", "\ufdfa" * 50, "9" * 5000, r"\boxed{\ud83d", "[" * 300]
)
def test_a_text_never_makes_a_predefined_reward_abstain(response: str) -> None:
    for reward in REWARDS:
        score = assay.score(reward, final_response=response, answer="Paris", trajectory=[])
        assert isinstance(score, Scored), score


def test_no_response_is_no_answer_and_no_failure() -> None:
    for reward in REWARDS:
        score = assay.score(reward, final_response=None, answer="Paris", trajectory=[])
        assert float(score) == 0.0


def test_what_the_annotation_does_not_restrict_reaches_the_reward() -> None:
    assert float(assay.score(lenient, final_response=MESSAGES, answer={"a": 1})) == 0.5
    assert float(assay.score(plural, final_response="a", answer=np.array(["a", "b"]))) == 1.0
    assert float(assay.score(annotated, final_response=np.str_("x"), answer="x")) == 1.0


def test_a_gap_of_a_table_is_none_for_a_reward_that_takes_none() -> None:
    def is_none(final_response: str, answer: str | None) -> float:
        return float(answer is None)

    assert float(assay.score(is_none, final_response="x", answer=float("nan"))) == 1.0


class Hostile:
    """Fails at whatever it is asked."""

    def __init__(self, error: type[BaseException] = ZeroDivisionError) -> None:
        self._error = error

    def __str__(self) -> str:
        raise self._error

    __repr__ = __str__

    def item(self) -> NoReturn:
        raise self._error


class HostileMapping(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise ZeroDivisionError

    def __iter__(self) -> Iterator[str]:
        raise ZeroDivisionError

    def __len__(self) -> int:
        raise ZeroDivisionError


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise SystemExit


class Endless:
    def item(self) -> "Endless":
        return self


RETURNED: dict[str, Callable[[], Any]] = {
    "an integer that no float holds": lambda: 10**400,
    "such an integer in a mapping": lambda: {"reward": 1.0, "part": 10**400},
    "an item that raises": Hostile,
    "an item that exits": lambda: Hostile(SystemExit),
    "an item without end": Endless,
    "a mapping that raises": HostileMapping,
    "a mapping of keys that raise": lambda: {"reward": 1.0, Hostile(): 1.0},
    "a mapping of texts that raise": lambda: {"reward": 1.0, "note": Hostile()},
    "a reason that raises": lambda: Scored(1.0, Hostile()),  # type: ignore[arg-type]
    "a note that raises": lambda: Scored(1.0, "", {}, {"note": Hostile()}),  # type: ignore[dict-item]
    "parts that raise": lambda: Abstained("no", "", HostileMapping()),
    "an abstention without a text": lambda: Abstained(Hostile()),  # type: ignore[arg-type]
    "nothing": lambda: None,
    "NaN": lambda: float("nan"),
}


@pytest.mark.parametrize("name", RETURNED)
def test_whatever_a_reward_returns_is_a_score(name: str) -> None:
    def reward(final_response: str) -> Any:
        return RETURNED[name]()

    async def reward_async(final_response: str) -> Any:
        return RETURNED[name]()

    for function in (reward, reward_async):
        (score,) = assay.score_batch(function, [{"final_response": "x"}])
        assert isinstance(score, Abstained)
        assert score.reason == "grader_error"
        assert score.because.startswith("reward")


RAISED: list[BaseException | type[BaseException]] = [
    ZeroDivisionError, RecursionError, MemoryError, SystemExit, GeneratorExit, StopIteration,
    StopAsyncIteration, asyncio.CancelledError, Unspeakable, BaseException, MissingParameter("x"),
    BadParameter("the row is bad"), AssertionError, UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"),
]  # fmt: skip


@pytest.mark.parametrize("error", RAISED, ids=range(len(RAISED)))
def test_whatever_a_reward_raises_is_an_abstention(error: BaseException) -> None:
    def reward(final_response: str, *, option: int = 0) -> float:
        raise error

    async def reward_async(final_response: str) -> float:
        raise error

    async def awaited(function: Callable[..., Any]) -> assay.Score:
        return await asyncio.wait_for(assay.score_async(function, final_response="x"), 20)

    for function in (reward, reward_async):
        assert assay.score(function, final_response="x")["abstained"] == "grader_error"
        assert asyncio.run(awaited(function))["abstained"] == "grader_error"


@pytest.mark.parametrize("error", [KeyboardInterrupt, RewardStopped])
def test_what_stops_the_program_from_outside_passes(error: type[BaseException]) -> None:
    def reward(final_response: str) -> float:
        raise error

    with pytest.raises(error):
        assay.score(reward, final_response="x")


def test_a_reward_that_is_cancelled_from_outside_ends() -> None:
    async def reward(final_response: str) -> float:
        await asyncio.sleep(60)
        return 1.0

    async def cancel() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(assay.score_async(reward, final_response="x"), 0.01)

    asyncio.run(cancel())


def test_a_reward_that_exits_ends_no_batch() -> None:
    def reward(final_response: str) -> float:
        if final_response == "exit":
            sys.exit(3)
        return 1.0

    rows = [{"final_response": text} for text in ("a", "exit", "b")]
    assert [score["reward"] for score in assay.score_batch(reward, rows)] == [1.0, None, 1.0]


def test_a_row_that_cannot_be_read_is_a_bad_row() -> None:
    rows: list[Any] = [HostileMapping(), {"final_response": "x", "answer": "x"}]
    first, second = assay.score_batch(annotated, rows)
    assert isinstance(first, Abstained)
    assert (first.reason, first.because) == (
        "bad_row", "row 1: the row cannot be read: ZeroDivisionError",
    )  # fmt: skip
    assert float(second) == 1.0


def test_a_strange_value_is_that_rows_affair() -> None:
    class Strange:
        def tolist(self) -> NoReturn:
            raise OSError("the disk")

    for reward in REWARDS:
        score = assay.score(reward, final_response="x", answer=Strange(), trajectory=[])
        assert score.abstained


def picky(final_response: str, *, mode: str = "a") -> float:
    if mode != "a":
        raise BadParameter(f"no mode {mode!r}")
    if final_response == "bad":
        raise BadParameter("this response is bad")
    return 1.0


def test_a_refused_option_raises_at_once_and_a_refused_row_never() -> None:
    with pytest.raises(BadParameter, match="no mode"):
        list(assay.score_batch(picky, [{"final_response": "x"}], params={"mode": "b"}))
    rows = [{"final_response": "bad"}, {"final_response": "x"}]
    assert [score["reward"] for score in assay.score_batch(picky, rows)] == [None, 1.0]


def test_the_first_failure_of_each_kind_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def typo(final_response: str) -> float:
        if final_response == "number":
            return float("x")
        return final_response.lenght()  # type: ignore[attr-defined,no-any-return]

    rows = [{"final_response": text} for text in ("a", "b", "number", "c", "number")]
    with caplog.at_level(logging.WARNING, "assay"):
        scores = list(assay.score_batch(typo, rows))
    assert all(score.abstained for score in scores)
    messages = [record.getMessage() for record in caplog.records if record.name == "assay"]
    assert len(messages) == 2
    assert "typo@1" in messages[0]
    assert "AttributeError: 'str' object has no attribute 'lenght'" in messages[0]
    assert "test_boundary.py:" in messages[0]
    assert "ValueError" in messages[1]


def test_columns_of_other_names_are_found() -> None:
    scorer = Scorer(annotated, columns={"answer": "extra.solution"})
    assert float(scorer({"final_response": "x", "extra": {"solution": "x"}})) == 1.0
    assert scorer({"final_response": "x", "extra": {}})["abstained"] == "bad_row"
    with pytest.raises(MissingParameter, match=r"'extra\.solution', which the row lacks"):
        scorer({"final_response": "x"})
    with pytest.raises(BadParameter, match="no parameter 'gold'"):
        Scorer(annotated, columns={"gold": "solution"})
