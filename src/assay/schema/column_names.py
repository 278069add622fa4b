"""The names under which files of questions and answers keep their parts, most usual first."""

from __future__ import annotations

IDS = ("id", "task_id")
GOALS = ("goal", "task", "question", "prompt", "problem")
ANSWERS = ("answer", "gold", "golden_answers", "solution")
RESPONSES = ("final_response", "response", "completion", "prediction", "model_answer", "output")
SCORES = ("reward", "score", "correct", "is_correct", "accuracy")
