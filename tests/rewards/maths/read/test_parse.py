"""How notation is read."""

from fractions import Fraction

import pytest

from assay.rewards.outcome.maths.limits import TooLarge, UnreadableAnswer
from assay.rewards.outcome.maths.nodes import (
    Add,
    Call,
    CallOrProduct,
    Div,
    Group,
    Mul,
    Node,
    Number,
    Power,
    Quantity,
    Ratio,
    Relation,
    Symbol,
    Text,
)
from assay.rewards.outcome.maths.read.answers import read
from assay.rewards.outcome.maths.read.clean import clean
from assay.rewards.outcome.maths.read.tokens import scan

X = Symbol("x")


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("42", Number(42)),
        ("0.50", Number(Fraction(1, 2), 2, 2)),
        ("1,234", Number(1234)),
        ("(1,234)", Group("(", (Number(1), Number(234)), ")")),
        (r"\frac12", Div(Number(1), Number(2))),
        (r"\sqrt23", Mul((Call("root", (Number(2), Number(2))), Number(3)))),
        ("x^10", Power(X, Number(10))),
        ("-x^2", Mul((Number(-1), Power(X, Number(2))))),
        ("1/2x", Mul((Div(Number(1), Number(2)), X))),
        ("3 1/2", Add((Number(3), Div(Number(1), Number(2))))),
        ("sin 2x", Call("sin", (Mul((Number(2), X)),))),
        ("f(x)", CallOrProduct("f", (X,))),
        ("x = 5", Relation((X, Number(5)), ("=",))),
        ("5 cm", Quantity(Number(5), (("cm", 1),))),
        (r"\$5", Quantity(Number(5), (("usd", 1),))),
        ("3:4", Ratio((Number(3), Number(4)), clock=False)),
        ("12:05", Ratio((Number(12), Number(5)), clock=True)),
        ("1, 2", Group("", (Number(1), Number(2)), "")),
        ("1 or 2", Group("", (Number(1), Number(2)), "", joint="or")),
        (r"\text{blue}", Text("blue")),
        (r"\text{4}", Number(4)),
        ("x_{12}", Symbol("x_12")),
        ("x_12", Symbol("x_12")),
        ("[5]", Number(5)),
        ("|x|", Call("abs", (X,))),
        (r"\log_2 8", Call("log", (Number(8), Number(2)))),
    ],
)
def test_notation_is_read_as_meant(text: str, node: Node) -> None:
    assert read(scan(clean(text))) == node


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("42 43", "two numbers side by side"),
        ("5 +", "a sign without a term"),
        ("(1, 2", "an open bracket"),
        (r"\frac{1}", "a missing argument"),
        (r"5 \text{ is wrong}", "a statement after a value"),
        ("42х", "a letter of another script"),
        ("5 @ 6", "an unknown sign"),
        (r"\begin{pmatrix}1&2\\3\end{pmatrix}", "rows of different lengths"),
        ("2 * * 3", "two operators"),
        ("", "nothing"),
    ],
)
def test_what_is_not_understood_as_a_whole_is_refused(text: str, reason: str) -> None:
    with pytest.raises(UnreadableAnswer):
        read(scan(clean(text)))


@pytest.mark.parametrize(
    "text",
    ["9" * 5_000, "1e99999", "(" * 60 + "1" + ")" * 60, "1" + ",1" * 1_000, "1" + "+1" * 5_000],
)
def test_limits_are_met_before_work_is_done(text: str) -> None:
    with pytest.raises(TooLarge):
        read(scan(clean(text)))
