"""Scores read like dictionaries, are frozen, and never hide a failure in a number."""

import math
import pickle
from typing import Any

import pytest

from assay import Abstained, Scored
from assay.errors import NoScore
from assay.schema.score import score_from_record, score_to_record

SCORED = Scored(0.5, "half of it", {"f1": 0.5, "em": 0.0}, {"extracted": "Paris"})
ABSTAINED = Abstained("missing_reference", "there is no gold", ("f1", "em"))


def test_a_score_reads_like_the_dictionary_people_know() -> None:
    assert SCORED["reward"] == 0.5
    assert SCORED["f1"] == 0.5
    assert dict(SCORED) == {"reward": 0.5, "f1": 0.5, "em": 0.0, "extracted": "Paris"}
    assert float(SCORED) == 0.5
    assert SCORED.get("nothing") is None
    with pytest.raises(KeyError):
        SCORED["nothing"]


def test_an_abstention_has_the_same_part_names_and_no_number() -> None:
    assert dict(ABSTAINED) == {
        "reward": None,
        "f1": None,
        "em": None,
        "abstained": "missing_reference",
    }
    with pytest.raises(NoScore, match="missing_reference"):
        float(ABSTAINED)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_cannot_be_a_score_or_a_part(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Scored(value)
    with pytest.raises(ValueError, match="finite"):
        Scored(1.0, parts={"f1": value})


def test_an_abstention_without_a_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="reason"):
        Abstained("")


@pytest.mark.parametrize("score", [SCORED, ABSTAINED])
def test_a_score_is_frozen(score: Any) -> None:
    with pytest.raises(AttributeError, match="immutable"):
        score.because = "another"
    with pytest.raises(AttributeError, match="immutable"):
        del score.because


@pytest.mark.parametrize("score", [SCORED, ABSTAINED, SCORED.sign("x@1", {"mode": "hotpot"})])
def test_a_score_survives_pickling_and_its_record(score: Scored | Abstained) -> None:
    assert pickle.loads(pickle.dumps(score)) == score
    assert score_from_record(score_to_record(score)) == score


def test_scores_differ_when_anything_in_them_differs() -> None:
    assert Scored(0.5, "half of it") != SCORED
    assert SCORED.sign("x@1", {}) != SCORED
    assert Abstained("missing_reference") != ABSTAINED
    assert hash(SCORED) == hash(Scored(0.5, "half of it", {"f1": 0.5, "em": 0.0}, SCORED.notes))
