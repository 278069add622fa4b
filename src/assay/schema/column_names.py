"""Usual column names for ids, questions, answers, responses and scores in data files."""

from __future__ import annotations

IDS = ("id", "task_id")
GOALS = ("goal", "task", "question", "prompt", "problem")
ANSWERS = ("answer", "gold", "golden_answers", "solution")
RESPONSES = ("final_response", "response", "completion", "prediction", "model_answer", "output")
SCORES = ("reward", "score", "correct", "is_correct", "accuracy")
