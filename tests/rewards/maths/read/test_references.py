"""References as data sets have them: backslashes that JSON ate, and sentences."""

from __future__ import annotations

import json
import re

import pytest

import assay
from assay.rewards.outcome.maths.reward import is_prose, repair_escapes

COMMANDS = (
    r"\frac{1}{2}", r"5\text{ cm}", r"2\times 3", r"\beta", r"\binom{5}{2}", r"x\neq 3", r"\theta",
    r"\left(1,2\right)", r"\tan x", r"\begin{pmatrix}1\\2\end{pmatrix}", r"\boxed{7}", r"\rho",
    r"\forall x", r"x\notin A", r"\tfrac12", r"\nabla f", r"\rfloor", r"\bar{x}", r"\therefore",
)  # fmt: skip


EATABLE, KEPT = re.compile(r"\\(?![bfnrt])|(?<=\\)\\"), r"\\\\"
"""The backslashes that JSON does not read as one of its own escapes, written as it wants them."""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_backslash_that_json_ate_is_put_back(command: str) -> None:
    eaten = json.loads(f'"{EATABLE.sub(KEPT, command)}"')
    assert repair_escapes(eaten) == command


@pytest.mark.parametrize("text", ["x=1\ny=2", "a\tb", "1,\n2", r"\frac12", "first\r\nsecond", "42"])
def test_layout_stays_layout(text: str) -> None:
    assert repair_escapes(text) == text


@pytest.mark.parametrize("text", ["\x08zz", "4\x0c2", "\x07", "a\x00b", "\x1b[31m42"])
def test_a_control_character_that_is_left_abstains(text: str) -> None:
    assert repair_escapes(text) is None
    score = assay.score("math_equal_reward", final_response=r"\boxed{42}", answer=text)
    assert score.abstained
    assert score["abstained"] == "bad_reference"


def test_a_repaired_reference_is_compared_as_it_was_meant() -> None:
    score = assay.score("math_equal_reward", final_response=r"\boxed{0.5}", answer="\x0crac{1}{2}")
    assert float(score) == 1.0


PROSE = "The sequence is bounded but it does not converge."


def test_prose_is_paid_for_its_own_words_and_otherwise_abstained_from() -> None:
    assert is_prose(PROSE)
    boxed = rf"\boxed{{\text{{{PROSE}}}}}"
    own = assay.score("math_equal_reward", final_response=boxed, answer=PROSE)
    assert float(own) == 1.0
    other = assay.score("math_equal_reward", final_response=r"\boxed{7}", answer=PROSE)
    assert other.abstained
    assert "prose" in other.because


@pytest.mark.parametrize("text", ["Friday", "all real numbers", "no solution", "x = 5 or x = 7"])
def test_short_words_and_formulas_are_no_prose(text: str) -> None:
    assert not is_prose(text)
