"""The statistics agree with SciPy, with closed forms, and with themselves."""

from __future__ import annotations

import json
from itertools import product
from math import comb, sqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.report import statistics

DATA = Path(__file__).parents[1] / "data/report/statistics.json"
CASES: list[dict[str, Any]] = json.loads(DATA.read_text("utf-8"))["cases"]
REWARDS = st.sampled_from([0.0, 0.0, 0.25, -0.5, 1.0, -1.0, 0.993])


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [case for case in CASES if case["kind"] == kind]


@pytest.mark.parametrize("case", of_kind("exact"))
def test_an_exact_permutation_p_is_scipys(case: dict[str, Any]) -> None:
    found = statistics.sign_flip(case["differences"])
    assert found.exact
    assert found.p == pytest.approx(case["p"], abs=1e-9)


@pytest.mark.parametrize("case", of_kind("monte-carlo"))
def test_a_monte_carlo_permutation_p_is_scipys_within_its_error(case: dict[str, Any]) -> None:
    found = statistics.sign_flip(case["differences"])
    error = sqrt(case["p"] * (1 - case["p"]) / statistics.PERMUTATIONS)
    assert not found.exact
    assert found.p == pytest.approx(case["p"], abs=4 * error)


@pytest.mark.parametrize("case", of_kind("bootstrap"))
def test_a_bootstrap_interval_is_scipys_within_its_error(case: dict[str, Any]) -> None:
    found = statistics.bootstrap_mean(case["differences"])
    assert found is not None
    # The error of a 2.5 % quantile of 10,000 draws, in units of the spread of the mean.
    error = 4 * 2.7 * (case["high"] - case["low"]) / 4 / sqrt(statistics.RESAMPLES)
    assert found.low == pytest.approx(case["low"], abs=error)
    assert found.high == pytest.approx(case["high"], abs=error)


@pytest.mark.parametrize("ones", [200, 700, 1_500])
def test_many_equal_values_drawn_together_have_the_interval_of_the_normal(ones: int) -> None:
    values = [1.0] * ones + [0.0] * (2_000 - ones)
    found = statistics.bootstrap_mean(values)
    assert found is not None
    share = ones / 2_000
    error = sqrt(share * (1 - share) / 2_000)
    assert found.low == pytest.approx(share - 1.96 * error, abs=0.2 * error)
    assert found.high == pytest.approx(share + 1.96 * error, abs=0.2 * error)


@pytest.mark.parametrize("case", of_kind("mcnemar"))
def test_mcnemars_p_is_scipys_binomial_test(case: dict[str, Any]) -> None:
    found = statistics.mcnemar(case["gained"], case["lost"])
    assert found.p == pytest.approx(case["p"], abs=1e-9)


@settings(deadline=None)
@given(st.lists(REWARDS, min_size=1, max_size=10))
def test_the_exact_p_counts_every_assignment_of_signs(differences: list[float]) -> None:
    total = abs(sum(differences))
    moved = [d for d in differences if d]
    flips = [abs(sum(s * d for s, d in zip(signs, moved, strict=True)))
             for signs in product((1, -1), repeat=len(moved))]  # fmt: skip
    expected = sum(flip >= total - 1e-9 for flip in flips) / len(flips)
    assert statistics.sign_flip(differences).p == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(st.lists(REWARDS, min_size=1, max_size=40))
def test_p_does_not_depend_on_the_direction_or_the_order(differences: list[float]) -> None:
    p = statistics.sign_flip(differences).p
    assert statistics.sign_flip([-d for d in differences]).p == p
    assert statistics.sign_flip(sorted(differences)).p == p
    assert 0 < p <= 1


@pytest.mark.parametrize(
    ("n", "best"), [(1, 1.0), (3, 0.25), (5, 0.0625), (6, 0.03125), (2_000, 0.0)]
)
def test_the_best_possible_p_follows_from_the_number_of_pairs(n: int, best: float) -> None:
    assert statistics.best_p(n) == best
    assert (statistics.best_p(n) <= statistics.ALPHA) == (n >= 6)
    if n <= statistics.EXACT_PAIRS:
        assert statistics.sign_flip([0.3] * n).p == best


@pytest.mark.parametrize(("n", "change"), [(3, 0.61), (10, 0.34), (33, 0.19), (214, 0.07)])
def test_the_detectable_change_is_the_known_table(n: int, change: float) -> None:
    assert statistics.detectable_change(0.38, n) == pytest.approx(change, abs=0.005)


def test_no_spread_gives_no_detectable_change() -> None:
    assert statistics.detectable([0.5]) is None
    assert statistics.detectable([0.0, 0.0, 0.0]) is None


def test_holm_steps_down_and_never_lets_an_order_flip() -> None:
    assert statistics.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert statistics.holm([]) == []
    assert statistics.holm([0.9, 0.8]) == [1.0, 1.0]


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_only_raises_p_values_and_keeps_their_order(ps: list[float]) -> None:
    adjusted = statistics.holm(ps)
    assert all(p <= q <= 1 for p, q in zip(ps, adjusted, strict=True))
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    assert [adjusted[i] for i in order] == sorted(adjusted)


def test_the_same_numbers_give_the_same_report() -> None:
    values = [i % 7 / 7 - 0.4 for i in range(50)]
    assert statistics.bootstrap_mean(values) == statistics.bootstrap_mean(values)
    assert statistics.sign_flip(values) == statistics.sign_flip(values)


def test_one_value_has_no_interval() -> None:
    assert statistics.bootstrap_mean([1.0]) is None


def test_the_binomial_tail_is_a_sum() -> None:
    assert statistics.tail_binomial(1, 1, 0.05) == pytest.approx(0.05)
    assert statistics.tail_binomial(2, 3, 0.5) == pytest.approx((comb(3, 2) + 1) / 8)
    assert statistics.tail_binomial(0, 3, 0.5) == 1.0
