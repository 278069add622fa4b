"""The two tasks: questions, demonstrations to start from, and a checker that knows no reward.

`arithmetic` asks for a+b*c; every step of it can be learned. `digits` asks for something that takes
working, and the working does not always fit into the completion: a sequence goes on with the last
digit of (the last + the fourth last), until a 0 comes; the answer is the digit before that 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Literal

BOX = r"\boxed{"
OR = " or "
_BOX = re.compile(r"\\boxed\{([^{}]*)\}")
_NUMBER = re.compile(r"-?\d+")
MAX_DIGITS = 12
"""Longer numbers are no answer to any of these questions."""

Style = Literal["single", "several", "none"]
"""What an answer commits to: one number, several, or nothing."""


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt, and the number that is the one right answer."""

    prompt: str
    answer: int


@dataclass(frozen=True, slots=True)
class Task:
    """Questions to train on and others to be measured by, demonstrations, and the token limit."""

    name: str
    questions: Callable[[], list[Question]]
    demonstrate: Callable[[Question, Random], str]
    max_completion: int
    """The longest completion in the training with the reward, in tokens."""
    held_out: int


@dataclass(frozen=True, slots=True)
class Split:
    """Questions to train on, and those that no training sees."""

    train: tuple[Question, ...]
    held_out: tuple[Question, ...]


def split(task: Task, seed: int) -> Split:
    """All questions of the task, shuffled by the seed and cut in two."""
    questions = task.questions()
    Random(f"{task.name} {seed}").shuffle(questions)
    return Split(tuple(questions[task.held_out :]), tuple(questions[: task.held_out]))


def committed(text: str) -> int | None:
    """The integer that the text commits to: in its only box, alone; else `None`.

    A text that lists several numbers commits to none of them, even if one is right.
    """
    boxes = _BOX.findall(text)
    if len(boxes) != 1 or not re.fullmatch(rf"-?\d{{1,{MAX_DIGITS}}}", boxes[0].strip(), re.ASCII):
        return None
    return int(boxes[0])


def is_true(text: str, answer: int) -> bool:
    """Whether the text commits to the answer."""
    return committed(text) == answer


def style(text: str) -> Style:
    """Whether the boxes of a text hold one number, several, or none."""
    count = sum(len(_NUMBER.findall(box)) for box in _BOX.findall(text))
    return "none" if count == 0 else "single" if count == 1 else "several"


def has_working(text: str) -> bool:
    """Whether anything stands before the first box."""
    return bool(text.partition(BOX)[0].strip())


def evaluate(prompt: str) -> int:
    """The value of `a+b*c=`."""
    left, right = prompt.removesuffix("=").split("+")
    first, second = right.split("*")
    return int(left) + int(first) * int(second)


def _arithmetic_questions() -> list[Question]:
    prompts = [f"{a}+{b}*{c}=" for a, b, c in product(range(10, 100), range(2, 13), range(2, 10))]
    return [Question(prompt, evaluate(prompt)) for prompt in prompts]


WRONG_PRODUCTS, WRONG_SUMS = 0.3, 1 / 7


def _off(number: int, share: float, rng: Random) -> int:
    """The number, or in that share of the cases another one near it."""
    if rng.random() >= share:
        return number
    return max(0, number + rng.choice((-10, -2, -1, 1, 2, 10)))


def _demonstrate_arithmetic(question: Question, rng: Random) -> str:
    """`6*8=48;47+48=95;` and the box, with wrong products and wrong sums among them."""
    left, right = question.prompt.removesuffix("=").split("+")
    first, second = right.split("*")
    multiple = _off(int(first) * int(second), WRONG_PRODUCTS, rng)
    total = _off(int(left) + multiple, WRONG_SUMS, rng)
    return f"{right}={multiple};{left}+{multiple}={total};{BOX}{total}}}"


SHORTEST_WORKING = 4
LONGEST_WORKING = 60


def continue_digits(digits: Sequence[int]) -> list[int]:
    """The digits that follow, to the first 0; none when no 0 comes."""
    sequence = list(digits)
    for _ in range(LONGEST_WORKING):
        sequence.append((sequence[-1] + sequence[-4]) % 10)
        if sequence[-1] == 0:
            return sequence[len(digits) :]
    return []


def _digits_questions() -> list[Question]:
    questions = []
    for digits in product(range(1, 10), repeat=4):
        following = continue_digits(digits)
        if len(following) >= SHORTEST_WORKING:
            questions.append(Question(f"{''.join(map(str, digits))}=", following[-2]))
    return questions


WORKED, GUESSED = 0.60, 0.34
"""Shares of the demonstrations that work it out, and that guess; the others list guesses."""
WRONG_WORKING = 0.2
MORE_GUESSES = 0.8


def _demonstrate_digits(question: Question, rng: Random) -> str:
    way = rng.random()
    if way < WORKED:
        return _work_out(question, rng)
    guesses = rng.sample(range(1, 10), 9)
    count = 1
    if way >= WORKED + GUESSED:
        count = 2
        while count < len(guesses) and rng.random() < MORE_GUESSES:
            count += 1
    return f"{BOX}{OR.join(map(str, guesses[:count]))}}}"


def _work_out(question: Question, rng: Random) -> str:
    """The digits that follow, then the box; some with a slip, from which they go on."""
    digits = [int(sign) for sign in question.prompt.removesuffix("=")]
    following = continue_digits(digits)
    if rng.random() < WRONG_WORKING:
        place = rng.randrange(len(following) - 1)
        slip = rng.choice([digit for digit in range(1, 10) if digit != following[place]])
        before = [*following[:place], slip]
        rest = continue_digits([*digits, *before])
        following = [*before, *rest] if rest else following
    return f"{','.join(map(str, following))};{BOX}{following[-2]}}}"


TASKS = {
    "arithmetic": Task(
        "arithmetic",
        _arithmetic_questions,
        _demonstrate_arithmetic,
        max_completion=64,
        held_out=1000,
    ),
    "digits": Task(
        "digits", _digits_questions, _demonstrate_digits, max_completion=20, held_out=1000
    ),
}
