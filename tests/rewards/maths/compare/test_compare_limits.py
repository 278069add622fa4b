"""Hostile answers: bounded, never an exception, never the reference's fault."""

import sys
import threading
from decimal import Inexact, localcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.rewards.outcome.maths.compare.equality import compare
from assay.rewards.outcome.maths.nodes import Node
from assay.rewards.outcome.maths.read import answers as parse
from assay.rewards.outcome.maths.read.tokens import Token

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
    "a factorial of a power": "2024^{4046}!!!!",
    "a binomial of a power": "\\binom{2024^{4046}}{2024^{4045}}",
    "a power of a sum": "(x+1)^{2024^{4046}}",
    "a radius beyond the arithmetic": "e^{1234567}{\\pi}i",
    "an index of many digits": "a_{1e30000}",
    "a long numeral in a base": "1" * 9_000 + "_7",
    "a long period": "0.\\overline{" + "1" * 9_000 + "}",
    "many letters": "not " * 500,
    "nested functions of nothing": "f(" * 1_500 + "=" + ")" * 1_500,
    "a zero denominator": "\\frac{1}{0}",
    "control characters": "12\x00\x01",
    "a lone surrogate": "12\ud800",
    "code": "__import__('os').system('true')",
    "dunder access": "().__class__.__base__.__subclasses__()",
}
REFERENCES = [
    "1",
    "x",
    r"\sin(x)",
    "1,2",
    r"\begin{pmatrix}1\\2\end{pmatrix}",
    "blue",
    "x>5",
    "5 cm",
]


@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_answer_is_wrong_and_nothing_worse(answer: str) -> None:
    for reference in REFERENCES:
        assert compare(answer, reference).equal is False, reference


@pytest.mark.parametrize("reference", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_reference_is_compared_or_not_understood(reference: str) -> None:
    assert compare("17", reference).equal in (False, None)


@pytest.mark.parametrize("error", [OverflowError, ValueError, RecursionError, MemoryError])
def test_an_unforeseen_limit_is_the_fault_of_whoever_meets_it(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(tokens: list[Token], *, commas_group: bool = True) -> Node:
        if any(token.text == "9" for token in tokens):
            raise error
        return parse.read(tokens, commas_group=commas_group)

    monkeypatch.setattr("assay.rewards.outcome.maths.compare.equality.read", read)
    assert compare("9+x", "1+x").rule == "limit_prediction"
    assert compare("1+x", "9+x").rule == "limit_gold"


def test_identical_text_is_equal_at_any_length() -> None:
    assert compare("9" * 100_000, "9" * 100_000).equal is True


def test_a_matrix_of_forty_by_forty_is_compared() -> None:
    rows = [[str(i * j) for j in range(40)] for i in range(40)]
    reference = "\\begin{pmatrix}" + "\\\\".join("&".join(row) for row in rows) + "\\end{pmatrix}"
    assert compare(reference.replace("&", ".0&"), reference).equal is True


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


def test_the_caller_s_decimal_context_changes_nothing() -> None:
    with localcontext() as own:
        own.prec = 2
        own.traps[Inexact] = True
        assert compare(r"\sin^2 x+\cos^2 x", "1").equal is True
        assert compare(r"x^2 - 1.00001", "x^2 - 1").equal is False
        assert compare(r"\sqrt{2} < x", r"(\frac{2}{\sqrt2}, \infty)").equal is True


_PIECES = st.sampled_from(
    r"1 2 3 0.5 x y \frac \sqrt { } ( ) [ ] , ; = < > + - * / ^ _ ! | \pm \pi e i \text{a} \{ \} "
    r"\cup \infty sin \ln & \\ \begin{pmatrix} \end{pmatrix} % \$ ' : or and cm \sum \int "
    "² ½ √ х".split()
)


@settings(max_examples=400, deadline=None)
@given(st.lists(_PIECES, max_size=14), st.lists(_PIECES, max_size=8))
def test_no_text_raises_and_no_prediction_makes_the_result_unknown(
    prediction_parts: list[str], reference_parts: list[str]
) -> None:
    reference, answer = "".join(reference_parts), " ".join(prediction_parts)
    equality = compare(answer, reference)
    if equality.equal is None:
        assert "gold" in equality.rule


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_any_text_equals_itself_and_never_raises(text: str) -> None:
    equality = compare(text, text)
    assert equality.equal is (True if text.strip() else None)
    assert compare(text, "42").equal in (True, False)
