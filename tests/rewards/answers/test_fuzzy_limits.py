"""A response is read once for all references, and its limit counts what it expands to."""

from __future__ import annotations

import pytest

from assay.rewards.outcome.answers import fuzzy
from assay.rewards.outcome.answers.fuzzy import MAX_CHARS
from assay.rewards.outcome.answers.reward import fuzzy_answer_reward
from assay.text.short_answers import AnswerReading, read


def test_the_response_is_read_once_for_all_references(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def counted(text: str) -> AnswerReading:
        texts.append(text)
        return read(text)

    monkeypatch.setattr(fuzzy, "read", counted)
    references = [f"answer number {word}" for word in ("one", "two", "three")]
    fuzzy_answer_reward("another answer", references)
    assert texts.count("another answer") == 1


def test_one_character_that_stands_for_many_counts_as_many() -> None:
    ligature = "\ufdfa"
    score = fuzzy_answer_reward(ligature * MAX_CHARS, [f"{ligature}{k}" for k in range(100)])
    assert "limit" in score.because
    assert float(fuzzy_answer_reward(ligature, ligature)) == 1.0
