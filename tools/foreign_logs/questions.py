"""What every tool is asked: eight questions, how the model replies, and one that breaks."""

from __future__ import annotations

from typing import NamedTuple


class Question(NamedTuple):
    """One question, its right answer, and what the scripted endpoint says to it."""

    id: str
    text: str
    answer: str
    reply: str
    """Empty: the endpoint fails with status 500."""


QUESTIONS = (
    Question("sum.1", "What is 2 + 3?", "5", "5"),
    Question("sum.2", "What is 11 + 31?", "42", "42"),
    Question("sum.3", "What is 8 + 9?", "17", "16"),
    Question("product.1", "What is 6 * 7?", "42", "42"),
    Question("product.2", "What is 12 * 12?", "144", "124"),
    Question("capital.1", "What is the capital of Peru?", "Lima", "Lima"),
    Question("capital.2", "What is the capital of Österreich?", "Wien", "Wien"),
    Question("broken.1", "What does a broken endpoint answer?", "nothing", ""),
)


def reply_to(prompt: str) -> str | None:
    """What the endpoint says to a prompt with one of the questions in it; `None` for a failure."""
    for question in QUESTIONS:
        if question.text in prompt:
            return question.reply or None
    return "I do not know."
