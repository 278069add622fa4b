"""What the gate refuses before a request comes near a reward."""

from pathlib import Path

import pytest

from assay.errors import BadParameter
from assay.resources import row_files
from assay.resources.row_files import confine_row_files
from assay.schema.score import Abstained
from assay.schema.values import OversizedInteger
from assay.scoring.gate import RequestScorer, check_size, request_scorer
from assay.scoring.scorer import Scorer

ROW = {"final_response": "Paris", "gold": {"city": "Paris", "_note": "Paris"}}


@pytest.fixture
def confined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_files, "_FOLDERS", [])
    confine_row_files(tmp_path)


@pytest.mark.parametrize(
    ("reward", "params", "columns", "words"),
    [
        ("mine.py:mine", {}, {}, "is an address"),
        ("os:system", {}, {}, "is an address"),
        ("code_reward", {"isolation": "process"}, {}, "cannot set 'isolation'"),
        ("qa_f1_reward", {"nonsense": 1}, {}, "nonsense"),
        ("qa_f1_reward", {}, {"answer": "gold._note"}, "no name that begins with '_'"),
        ("qa_f1_reward", {}, {"answer": "gold.__class__"}, "no name that begins with '_'"),
        ("qa_f1_reward", {}, {"answer": "x" * 401}, "at most 400 characters"),
        ("qa_f1_reward", {}, dict.fromkeys(map(str, range(65)), "x"), "65 columns"),
    ],
)
def test_what_is_the_owners_is_refused(
    reward: str, params: dict[str, object], columns: dict[str, str], words: str
) -> None:
    with pytest.raises(BadParameter, match=words):
        RequestScorer(reward, params, columns=columns)


@pytest.mark.usefixtures("confined")
def test_a_column_is_found_by_keys_and_never_by_attributes() -> None:
    assert RequestScorer("qa_f1_reward", columns={"answer": "gold.city"})(ROW)["reward"] == 1.0
    row = {"final_response": "5000", "gold": OversizedInteger(5000)}
    for scorer in (Scorer, RequestScorer):
        score = scorer("qa_f1_reward", columns={"answer": "gold.digits"})(row)
        assert isinstance(score, Abstained)
        assert score.reason == "bad_row"


def test_a_process_that_is_not_confined_scores_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_files, "_FOLDERS", [])
    with pytest.raises(RuntimeError, match="confine_row_files"):
        RequestScorer("qa_f1_reward")({"final_response": "a", "answer": "a"})


def test_the_owner_may_allow_addresses() -> None:
    scorer = request_scorer("assay.rewards.outcome.qa.reward:qa_f1_reward", {}, run_code=True)
    assert scorer.spec.name == "qa_f1_reward"


@pytest.mark.parametrize("value", [["x"] * 500_001, "x" * 101, [["x" * 60], {"x" * 60: 1}]])
def test_too_much_is_refused(value: object) -> None:
    with pytest.raises(BadParameter, match="at most 100 characters"):
        check_size(value, 100)


def test_too_many_levels_are_refused_in_linear_time() -> None:
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(BadParameter, match="200 levels"):
        check_size(deep, 100)
