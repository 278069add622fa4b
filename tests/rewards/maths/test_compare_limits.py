"""Hostile answers: bounded, never an exception, never the reference's fault."""

import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.rewards.outcome.maths.compare import compare

HOSTILE = {
    "a tower of powers": "9^{9^{9^{9}}}",
    "a plain tower": "9**9**9**9",
    "a long integer": "9" * 100_000,
    "a megabyte": "the answer " * 100_000,
    "a huge exponent": "1e999999",
    "a tiny number": "1e-999999999",
    "deep parentheses": "(" * 10_000 + "1" + ")" * 10_000,
    "deep braces": "{" * 5_000 + "1" + "}" * 5_000,
    "nested roots": "\\sqrt{" * 300 + "2" + "}" * 300,
    "roots of nothing": "\\sqrt" * 3_000,
    "a factorial of factorials": "((100!)!)!",
    "a large factorial": "10000000!",
    "many factorials": "+".join(["1/2004!"] * 1_500),
    "a large matrix": "\\begin{pmatrix}" + "\\\\".join(["1&" * 60 + "1"] * 60) + "\\end{pmatrix}",
    "a product of matrices": "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}" * 60,
    "an expansion": "(x+y+z+w)^{300}-(x+y)^{300}",
    "a long product": "".join(f"(x+{k}y)" for k in range(200)),
    "a long sum of sines": "+".join(f"\\sin({k}x)" for k in range(600)),
    "nested sums": "\\sum_{k=1}^{100}" * 4 + "k",
    "a long sum": "\\sum_{k=1}^{1000000000} k^{k}",
    "an integral": "\\int_0^1 \\sin(x^x) \\log(\\cos(x)) dx",
    "a large set": "\\{" + ",".join(map(str, range(2_000))) + "\\}",
    "a set of roots": "\\{" + ",".join(f"\\sqrt{{{k}}}" for k in range(2, 60)) + "\\}",
    "many dollars": "$" * 200_000,
    "many minus signs": "-" * 16_000 + "1",
    "many bars": "|x" * 5_000,
    "unclosed text": "\\text{a" * 2_000,
    "a zero denominator": "\\frac{1}{0}",
    "control characters": "12\x00\x01",
    "a lone surrogate": "12\ud800",
    "code": "__import__('os').system('true')",
    "dunder access": "().__class__.__base__.__subclasses__()",
}
GOLDS = ["1", "x", r"\sin(x)", "1,2", r"\begin{pmatrix}1\\2\end{pmatrix}", "blue", "x>5", "5 cm"]


@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("gold", GOLDS)
def test_a_hostile_answer_is_wrong_and_nothing_worse(answer: str, gold: str) -> None:
    assert compare(answer, gold).equal is False


@pytest.mark.parametrize("gold", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_reference_is_judged_or_left_alone(gold: str) -> None:
    assert compare("17", gold).equal in (False, None)


def test_identical_text_is_equal_at_any_length() -> None:
    assert compare("9" * 100_000, "9" * 100_000).equal is True


def test_a_matrix_of_forty_by_forty_is_compared() -> None:
    rows = [[str(i * j) for j in range(40)] for i in range(40)]
    gold = "\\begin{pmatrix}" + "\\\\".join("&".join(row) for row in rows) + "\\end{pmatrix}"
    assert compare(gold.replace("&", ".0&"), gold).equal is True


def test_deep_nesting_needs_little_of_the_stack() -> None:
    deepest = "\\frac{1}{1+" * 11 + "x" + "}" * 11
    verdicts: list[bool | None] = []

    def run() -> None:
        verdicts.append(compare(deepest, deepest + "+0").equal)

    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert verdicts == [True]


def test_comparing_leaves_interpreter_settings_alone() -> None:
    before = (sys.getrecursionlimit(), sys.get_int_max_str_digits())
    compare("2^{60000}", "2^{60000}+1")
    assert (sys.getrecursionlimit(), sys.get_int_max_str_digits()) == before


_PIECES = st.sampled_from(
    r"1 2 3 0.5 x y \frac \sqrt { } ( ) [ ] , ; = < > + - * / ^ _ ! | \pm \pi e i \text{a} \{ \} "
    r"\cup \infty sin \ln & \\ \begin{pmatrix} \end{pmatrix} % \$ ' : or and cm \sum \int "
    "² ½ √ х".split()
)


@settings(max_examples=400, deadline=None)
@given(st.lists(_PIECES, max_size=14), st.lists(_PIECES, max_size=8))
def test_no_text_raises_and_no_prediction_makes_the_verdict_unknown(
    said: list[str], meant: list[str]
) -> None:
    gold, answer = "".join(meant), " ".join(said)
    verdict = compare(answer, gold)
    if verdict.equal is None:
        assert "gold" in verdict.rule


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_any_text_equals_itself_and_never_raises(text: str) -> None:
    verdict = compare(text, text)
    assert verdict.equal is (True if text.strip() else None)
    assert compare(text, "42").equal in (True, False)
