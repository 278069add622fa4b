"""What counts as the same answer, and what does not: each row with its reason."""

import pytest

from assay.rewards.outcome.maths.compare.comparison import AnswerConventions
from assay.rewards.outcome.maths.compare.equality import Equality, compare

EQUAL = [
    # reference, prediction, reason
    ("42", "42.", "a final stop is punctuation"),
    ("1,234", "1234", "thousands separators are layout"),
    ("1{,}234", "1234", "TeX spelling of a thousands separator"),
    ("1000", "1 000", "a space may group digits by three"),
    ("1000.99", "1000,99", "a comma that cannot group is a decimal comma"),
    ("0.111", "0,111", "nothing is grouped after a leading zero"),
    (r"3\frac{1}{2}", "3.5", "a mixed number"),
    ("3/2", "1 1/2", "a mixed number in plain text"),
    (r"\frac12", "1/2", "TeX takes single digits as arguments"),
    ("1500", r"1.5 \times 10^3", "scientific notation"),
    ("0.001", "1E-3", "computer notation"),
    (r"0.1\overline{6}", "1/6", "a repeating decimal is exact"),
    (r"\frac13", "0.333333", "six digits that are the value cut off"),
    (r"\sqrt2", "1.41421356", "a correct rounding"),
    ("0.3", "0.30000000000000004", "a printed float"),
    (r"\frac{1}{\sqrt2}", r"\frac{\sqrt2}{2}", "radicals are exact"),
    (r"\sqrt{3+2\sqrt2}", r"1+\sqrt2", "a nested radical"),
    ("-2", "(-8)^{1/3}", "an odd root of a negative number is real"),
    ("(x+1)^2", "x^2+2x+1", "polynomials are expanded"),
    (r"\frac{x^2-1}{x-1}", "x+1", "equal wherever both are defined"),
    (r"\ln x^2", r"2\ln x", "equal wherever both are real"),
    ("1", "sin^2 x + cos^2 x", "identities hold at sample points"),
    (r"\sin^{-1}(1/2)", r"\frac{\pi}{6}", "an inverse function"),
    (r"\sin 30^\circ", r"\frac12", "degrees inside a function"),
    (r"\frac{n(n+1)}{2}", r"\sum_{i=1}^{n} i", "a finite sum is added up"),
    ("-1", r"e^{i\pi}", "complex values"),
    (r"\{1,2\}", r"\{2,1\}", "a set has no order"),
    ("-2,1", "1, -2", "a bare list is a collection"),
    ("(12,34)", "12,34", "a bare list meets a tuple in order"),
    (r"\pm 3", "3, -3", "both signs"),
    ("5", "x=5", "a name for the value"),
    ("x=5", "5", "the name may be left out"),
    ("y=2x+1", "2x-y+1=0", "proportional equations"),
    ("x>5", "5<x", "read from the other end"),
    ("x<1", "-x>-1", "multiplied by a negative number"),
    (r"(5,\infty)", "x>5", "an inequality is an interval"),
    ("x>3", "|-3|<x", "a number between bars on the left"),
    (r"x\in\mathbb R", r"|x|<\infty", "a bound that excludes nothing"),
    (r"(-\infty,2)\cup(3,\infty)", r"x<2 \text{ or } x>3", "alternatives are a union"),
    (r"x\ne 2", r"\mathbb{R}\setminus\{2\}", "all but one"),
    (r"1\le|z|\le2", r"[-2,-1]\cup[1,2]", "bars around a name"),
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "[[1,2],[3,4]]", "a nested list is a matrix"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", "(1,2)", "a column is a vector"),
    ("A", r"\text{(A)}", "an option letter"),
    ("A", "a", "an option letter in lower case"),
    (r"\text{Friday}", "friday.", "words do not depend on case"),
    ("the derivative", "derivative", "an article adds nothing"),
    (r"90^\circ", "90", "the degree sign may be left out"),
    ("10", r"10\text{ cm}", "a unit may be added"),
    (r"15\mbox{ cm}^2", "15", "a unit may be left out"),
    ("17", r"17\text{ apples}", "what is counted may be named"),
    ("1 km", "1000 m", "units convert"),
    (r"\$10", "10 dollars", "currency"),
    (r"50\%", "50%", "the sign in TeX"),
    (r"50\%", "0.5", "a percentage is a number"),
    ("0.335", r"33.5\%", "a share as a percentage"),
    ("10", r"10\%", "a bare number beyond 1 may be a percentage"),
    ("3:4", "6:8", "ratios are proportions"),
    ("-5", "−5", "a typographic minus"),
    ("5/2", "2½", "a vulgar fraction"),
    (r"x^2+\pi", "x² + π", "superscripts and Greek letters"),
    ("12", "１２", "full-width digits"),
    ("f(x)-ln|x|-c = 0", "f(x) = ln|x|+c", "an unknown function"),
    ("hb+hc", "h(b+c)", "a letter that also stands alone is no function"),
    (r"(\pm 1, 0)", "(1,0),(-1,0)", "both signs of a coordinate"),
    (r"\lceil n/2\rceil", r"\lfloor (n+1)/2\rfloor", "n is an integer where something is rounded"),
    ("6.02x10^23", r"6.02 \times 10^{23}", "a letter as a multiplication sign"),
    ("A,B,D", "ABD", "several option letters"),
    (r"\angle ABC = 45^\circ", "45", "a figure's name"),
    ("f(x) = x^2+1", "y = x^2+1", "y is the value of the function"),
    (r"\begin{vmatrix}2&1\\1&2\end{vmatrix}", "3", "a determinant"),
    (r"\boxed{\dfrac97}", r"\frac{9}{7}", "a boxed reference"),
    (r"$\\frac{1}{2}$", "1/2", "doubled backslashes of a JSON export"),
]

DIFFERENT = [
    ("5", "5, 6", "two guesses"),
    ("42", r"42 \text{ or } 43", "a hedge"),
    ("12", "1,2", "a comma is not lost"),
    ("(12,3)", "(1,23)", "nor moved"),
    ("32349", "32, 349", "a comma with a space separates"),
    (r"8\sqrt5", r"8\sqrt2", "the radicand counts"),
    ("42", "41=42", "a false chain"),
    ("42", "x=41=42", "a false chain with a name"),
    ("42", r"42 \text{ is wrong}", "a retraction"),
    (r"\text{ red}", r"\text{ blue}", "text is compared"),
    (r"x\text{ and }y", "x", "half of a list"),
    ("42", "42х", "a Cyrillic letter is not a layout mark"),
    ("42", r"4200\%", "a percentage beyond a hundred is not its bare number"),
    ("0.5", r"0.5\%", "a share is not that many per cent"),
    ("y=5", "x=5", "another name"),
    ("a+3z=0", "0", "an equation names nothing"),
    ("x", "y=x", "an equation of two variables names neither"),
    ("[0,9)", "(0,9)", "ends of an interval"),
    ("1/2004!", "1/2006!", "both are tiny"),
    ("10^{40}", "10^{40}+1", "nearly equal is not equal"),
    ("10^{100}x", "10^{100}x+1", "nor at any scale"),
    (r"1-\frac1e", r"1+\frac1e", "a sign"),
    ("x", r"\sqrt{x^2}", "negative numbers exist"),
    ("0.0743", "0.074", "two decimals are compared exactly"),
    (r"\frac13", "0.33", "too few digits to stand for a third"),
    (r"\frac13", "0.333334", "six digits, the last one wrong"),
    ("12:00", "1:00", "times are not ratios"),
    ("5 meters", "5 feet", "two units"),
    ("(1,2)", "(2,1)", "a tuple has an order"),
    ("x=1,y=2", "2,1", "named members have one too"),
    (r"\pm 3", "3", "one of two"),
    (r"\text{odd}", "dod", "a word is not a product"),
    ("f(2)=f(3)+4", "f(5)=f(7)+4", "other arguments"),
    ("x^2=4", "x=2", "one solution of two"),
    ("5", "5_2", "a base changes the value"),
    ("n", "N", "case matters in formulas"),
    ("5", r"5\%\%", "nonsense after a number"),
    ("7", "7?", "an unread sign is not skipped"),
    ("x>5", "y>5", "another variable"),
    (r"\sqrt{7}", r"\sqrt{7\infty}", "infinity is not ignored"),
    ("25,000", "25, 0", "zeros after a comma belong to the number"),
    ("E", "A$E$", "two letters"),
    ("x", "x1", "an index, a product or a power"),
    ("5", r"5 \text{ (wrong)}", "a retraction in parentheses"),
    ("12:00", "5:0", "nothing is proportional to zero"),
    (r"\{x\mid x\ge0\}", r"\{x \heartsuit x\ge0\}", "an unknown sign is a factor"),
    (r"M = \begin{pmatrix}1\\2\end{pmatrix}+x", "3", "a sum of a matrix and a number"),
]


@pytest.mark.parametrize(("reference", "prediction", "reason"), EQUAL)
def test_the_same_answer_is_recognised(reference: str, prediction: str, reason: str) -> None:
    equality = compare(prediction, reference)
    assert equality.equal is True, (reason, equality)


@pytest.mark.parametrize(("reference", "prediction", "reason"), DIFFERENT)
def test_another_answer_is_not_accepted(reference: str, prediction: str, reason: str) -> None:
    equality = compare(prediction, reference)
    assert equality.equal is False, (reason, equality)


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("", "nothing to compare with"),
        (r"9^{9^{9^9}}", "a reference beyond the limits"),
        (r"\bigstar @ 7", "a reference in no notation"),
        (r"\int_0^1 x^2 dx", "an integral is not evaluated"),
        (
            "It means that the three vectors lie in one plane, tails together.",
            "prose can be reworded",
        ),
    ],
)
def test_a_reference_that_is_not_understood_is_neither_equal_nor_different(
    reference: str, reason: str
) -> None:
    assert compare("1", reference).equal is None, reason


def test_a_reference_that_is_not_understood_still_equals_itself() -> None:
    assert compare(r"\bigstar  @ 7", r"\bigstar @ 7").equal is True


@pytest.mark.parametrize(
    ("conventions", "reference", "prediction", "equal"),
    [
        (AnswerConventions(list_order="kept"), "4, 10, -2", "10, 4, -2", False),
        (AnswerConventions(percent="strict"), "10", r"10\%", False),
        (AnswerConventions(percent="value"), "10", r"10\%", False),
        (AnswerConventions(percent="value"), "0.1", r"10\%", True),
        (AnswerConventions(percent="sign"), "0.1", r"10\%", False),
        (AnswerConventions(units="required"), "5 cm", "5", False),
        (AnswerConventions(units="required"), "5", "5 cm", True),
        (AnswerConventions("exact"), r"\frac13", "0.333333333333333333", False),
        (AnswerConventions("digits"), r"\frac13", "0.333333", True),
        (AnswerConventions("digits"), r"\frac13", "0.33333", False),
        (AnswerConventions("digits"), r"(\frac35,\frac83]", "(0.6,2.66667]", True),
        (AnswerConventions("relative"), r"\pi", "3.14159", True),
        (AnswerConventions("relative"), r"\pi", "3.1415", False),
    ],
)
def test_conventions_decide_where_people_disagree(
    conventions: AnswerConventions, reference: str, prediction: str, equal: bool
) -> None:
    assert compare(prediction, reference, conventions=conventions).equal is equal


def test_the_result_names_its_rule_and_both_answers() -> None:
    equality = compare(r"\frac{2}{4}", "1/2")
    assert equality == Equality(
        equal=True, rule="rational", because="'\\\\frac{2}{4}' equals '1/2' (rational)"
    )


def test_the_reason_stays_short_for_long_answers() -> None:
    assert len(compare("9" * 5_000, "8" * 5_000).because) < 400
