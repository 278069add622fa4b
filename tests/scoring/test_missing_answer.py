"""An attempt without an answer: a zero with its reason, unless the reward asks for `None`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

import pytest

from assay.ledger.run import Run
from assay.registry import reward
from assay.runner.rescore import rescore
from assay.schema.episode import StopReason
from assay.schema.score import Abstained, Score, Scored
from assay.scoring.scorer import Scorer, score_missing_answer, without_pay_for_a_crash
from tests.runner.test_rollout import Doing, explode, play


def number(final_response: str, answer: str) -> float:
    return float(float(final_response) == float(answer))


def untyped(final_response, answer):  # type: ignore[no-untyped-def]  # as people write them
    return float(final_response) == float(answer)


def asking(final_response: str | None) -> float:
    return 0.25 if final_response is None else 1.0


def asking_in_old_words(final_response: Optional[str]) -> float:  # noqa: UP045 - as people write it
    return 0.25 if final_response is None else 1.0


def asking_by_default(final_response: str = None) -> float:  # type: ignore[assignment]  # noqa: RUF013 - as people write it
    return 0.25 if not final_response else 1.0


def asking_for_anything(final_response: object) -> float:
    return 0.25 if final_response is None else 1.0


def of_the_world(answer: str) -> float:
    return 0.25


def of_the_world_in_the_usual_form(final_response, context):  # type: ignore[no-untyped-def]
    return 0.25


def of_everything(**columns: Any) -> float:
    return 0.25


class Grader:
    """A reward that is an object."""

    __name__ = "grader"

    def __call__(self, final_response: str) -> float:
        return float(final_response)


def score_of(
    function: str | Callable[..., Any], stop_reason: StopReason, failure: str | None = None
) -> Score | None:
    return score_missing_answer(Scorer(function), stop_reason=stop_reason, failure=failure)


@pytest.mark.parametrize("function", [number, untyped])
def test_a_reward_that_does_not_ask_never_sees_none(function: Callable[..., Any]) -> None:
    score = score_of(function, "agent_error", "ValueError: kaboom")
    assert isinstance(score, Scored)
    assert score.value == 0.0
    assert score.because == "the agent gave no answer: agent_error: ValueError: kaboom"
    assert score.scorer == f"{function.__name__}@1"


@pytest.mark.parametrize(
    "function",
    [
        asking, asking_in_old_words, asking_by_default, asking_for_anything, of_the_world,
        of_the_world_in_the_usual_form, of_everything,
    ],
)  # fmt: skip
def test_a_reward_that_asks_is_called(function: Callable[..., Any]) -> None:
    assert score_of(function, "agent_error", "boom") is None


PREDEFINED = (
    "alfworld_episode_reward", "assistantbench_reward", "environment_reward",
    "fuzzy_answer_reward", "math_equal_reward", "math_equal_reward_tool", "qa_f1_reward",
    "qa_f1_reward_tool", "scienceworld_reward", "webshop_reward",
)  # fmt: skip


@pytest.mark.parametrize("name", PREDEFINED)
def test_predefined_rewards_say_themselves_what_no_answer_is_worth(name: str) -> None:
    assert score_of(name, "step_limit") is None


def test_a_crash_is_not_paid_as_the_answer_that_there_is_none() -> None:
    scorer = Scorer("qa_f1_reward")
    silence = scorer({"final_response": None, "answer": ""})
    assert float(silence) == 1.0
    score = without_pay_for_a_crash(scorer, silence, failure="ValueError: kaboom")
    assert isinstance(score, Scored)
    assert score.value == 0.0
    assert score.because == "the agent gave no answer: agent_error: ValueError: kaboom"
    asked = Scorer(asking)
    paid = asked({"final_response": None})
    assert without_pay_for_a_crash(asked, paid, failure=None) is paid


def test_an_answer_that_is_not_in_the_record_is_no_zero() -> None:
    score = score_of(number, "answered")
    assert isinstance(score, Abstained)
    assert score.reason == "missing_response"


def test_declared_parts_are_there_without_a_value() -> None:
    @reward(name="parted", parts=("x",), replace=True)
    def parted(final_response: str) -> dict[str, float]:
        return {"reward": 1.0, "x": len(final_response)}

    score = score_of(parted, "timeout")
    assert isinstance(score, Scored)
    assert dict(score.parts) == {"x": None}


def test_a_crash_stays_in_the_mean_of_a_reward_of_ones_own_also_when_scored_again(
    tmp_path: Path,
) -> None:
    reward(name="number", replace=True)(number)
    episode = play(tmp_path / "a", Doing(explode), rewards=("number",))
    assert episode.stop_reason == "agent_error"
    (score,) = episode.scores
    assert isinstance(score, Scored)
    assert "kaboom" in score.because
    again = rescore(Run(tmp_path / "a" / "run"), [Scorer("number")])
    assert [each.scores for each in again.final()] == [episode.scores]
