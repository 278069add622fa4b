"""Properties over generated expressions: rewriting keeps equality, changing breaks it."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.rewards.outcome.maths.compare.equality import compare

_INTEGERS = st.integers(-(10**12), 10**12)
_FRACTIONS = st.fractions(max_denominator=10**6).filter(lambda f: abs(f) < 10**9)
_LEAVES = st.sampled_from(["x", "y", "2", "3", r"\pi", r"\sqrt{2}", r"\frac{1}{3}"])


def _grow(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(parts, parts)
    return st.one_of(
        pairs.map(lambda p: f"({p[0]}+{p[1]})"),
        pairs.map(lambda p: f"({p[0]}-{p[1]})"),
        pairs.map(lambda p: rf"{p[0]} \cdot {p[1]}"),
        parts.map(lambda p: f"({p})^{{2}}"),
        parts.map(lambda p: rf"\sin({p})"),
        parts.map(lambda p: rf"\frac{{{p}}}{{7}}"),
    )


_EXPRESSIONS = st.recursive(_LEAVES, _grow, max_leaves=6)


@given(_INTEGERS, _INTEGERS)
def test_integers_are_equal_exactly_when_they_are(a: int, b: int) -> None:
    assert compare(str(a), str(b)).equal is (a == b)


@given(_FRACTIONS)
def test_a_fraction_survives_every_spelling(f: Fraction) -> None:
    top, bottom = f.numerator, f.denominator
    for spelling in (
        f"{top}/{bottom}",
        rf"\frac{{{3 * top}}}{{{3 * bottom}}}",
        rf"-\dfrac{{{-top}}}{{{bottom}}}",
    ):
        assert compare(spelling, rf"\tfrac{{{top}}}{{{bottom}}}").equal is True


@given(_FRACTIONS, _FRACTIONS)
def test_different_fractions_differ(f: Fraction, g: Fraction) -> None:
    equality = compare(
        f"{f.numerator}/{f.denominator}", rf"\frac{{{g.numerator}}}{{{g.denominator}}}"
    )
    assert equality.equal is (f == g)


@settings(max_examples=150, deadline=None)
@given(_EXPRESSIONS, _EXPRESSIONS)
def test_rewriting_an_expression_keeps_it_equal(a: str, b: str) -> None:
    for left, right in (
        (f"{a}+{b}", f"{b}+{a}"),
        (f"({a})({b})", f"({b})({a})"),
        (f"({a}+{b})^2", f"({a})^2+2({a})({b})+({b})^2"),
        (f"({a})-({b})", f"-(({b})-({a}))"),
        (rf"\frac{{{a}}}{{5}}", f"0.2({a})"),
    ):
        assert compare(left, right).equal is True, (left, right)


@settings(max_examples=150, deadline=None)
@given(_EXPRESSIONS, st.sampled_from(["1", r"10^{-30}", "x^3", r"\pi^5"]))
def test_adding_anything_makes_it_different(a: str, change: str) -> None:
    assert compare(f"{a}+{change}", a).equal is False


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=1, max_size=6, unique=True), st.randoms())
def test_a_set_is_equal_in_any_order_and_a_tuple_in_one(items: list[int], random: object) -> None:
    shuffled = sorted(items, key=lambda item: (item * 7919) % 101)
    written, other = ", ".join(map(str, items)), ", ".join(map(str, shuffled))
    assert compare(rf"\{{{other}\}}", rf"\{{{written}\}}").equal is True
    if len(items) > 2:
        assert compare(f"({other})", f"({written})").equal is (items == shuffled)


@given(st.integers(-99, 99), st.integers(1, 99))
def test_an_inequality_is_its_interval(a: int, width: int) -> None:
    low, high = a, a + width
    assert compare(f"{low} < x \\le {high}", f"({low}, {high}]").equal is True
    assert compare(f"{low} < x < {high}", f"({low}, {high}]").equal is False
