"""What another reward does to groups: signs of advantages, flat groups, order."""

import random
from dataclasses import asdict
from itertools import combinations

import numpy as np
import pytest

from assay.report.group_effects import ROWS, GroupEffects, RowArray, compare_groups

Pairs = list[tuple[float | None, float | None]]


def rows_of(groups: list[Pairs], seed: int = 0) -> RowArray:
    listed = [
        ((key, key), *(float("nan") if value is None else value for value in pair), 0, 0)
        for key, pairs in enumerate(groups)
        for pair in pairs
    ]
    rows = np.array(listed, ROWS)
    rows["line"] = np.arange(1, len(rows) + 1)
    random.Random(seed).shuffle(order := list(range(len(rows))))
    shuffled: RowArray = rows[order]
    return shuffled


def compare(*groups: Pairs) -> GroupEffects:
    return compare_groups(rows_of(list(groups)), 1e-9)


@pytest.mark.parametrize(
    ("pairs", "counts"),
    [
        # A wrong row is paid now, a right one is not: both turn round, and change places.
        (
            [(1, 0), (0, 1), (0, 0)],
            {"flipped": 2, "inverted": 1, "best_changed": 1},
        ),
        # All are paid now: nothing is left to learn.
        ([(1, 1), (0, 1)], {"flat": 1, "flat_new": 1, "vanished": 2, "ties_made": 1}),
        ([(1, 1), (1, 0)], {"no_longer_flat": 1, "flat_old": 1, "appeared": 2, "ties_broken": 1}),
        # A row that abstains has no advantage, and the one that is left has none without it.
        ([(1, None), (0, 0)], {"flat": 1, "flat_new": 1, "vanished": 2, "pairs": 0}),
        # Moved, and nothing that a trainer sees: the same order about the mean.
        ([(1, 2), (0, 0)], {"flipped": 0, "flat": 0, "inverted": 0, "vanished": 0}),
        # 0.1 three times has no exact mean, and is flat all the same.
        ([(0.1, 0.1), (0.1, 0.1), (0.1, 0.1)], {"flat_old": 1, "flat_new": 1, "groups": 1}),
        ([(1, 0)], {"groups": 0, "single": 1, "flipped": 0}),
        ([(None, None), (None, None)], {"groups": 1, "flat_old": 1, "flat_new": 1}),
        # The mean moves under a row that stays where it is.
        ([(0.4, 0.4), (0, 0), (0.6, 2.0)], {"flipped": 1, "inverted": 0}),
    ],
)
def test_one_group(pairs: Pairs, counts: dict[str, int]) -> None:
    effects = compare(pairs)
    assert {name: getattr(effects, name) for name in counts} == counts


def test_pairs_are_counted_as_by_looking_at_each_of_them() -> None:
    rng = random.Random(4)
    groups: list[Pairs] = [
        [(rng.randint(0, 3), rng.randint(0, 3)) for _ in range(rng.randint(2, 12))]
        for _ in range(60)
    ]
    inverted = made = broken = 0
    for pairs in groups:
        for (a, b), (c, d) in combinations(pairs, 2):
            assert None not in (a, b, c, d)
            old, new = (a or 0) - (c or 0), (b or 0) - (d or 0)
            inverted += old * new < 0
            made += bool(old) and not new
            broken += bool(new) and not old
    effects = compare(*groups)
    assert (effects.inverted, effects.ties_made, effects.ties_broken) == (inverted, made, broken)
    assert effects.pairs == sum(len(pairs) * (len(pairs) - 1) // 2 for pairs in groups)


def test_the_order_of_rows_and_the_cut_into_buckets_make_no_difference() -> None:
    rng = random.Random(5)
    groups: list[Pairs] = [
        [(rng.choice((0, 1, None)), rng.choice((0, 1))) for _ in range(4)] for _ in range(200)
    ]
    whole = compare_groups(rows_of(groups), 1e-9)
    merged = GroupEffects()
    rows = rows_of(groups, seed=9)
    for bucket in range(7):
        merged.merge(compare_groups(rows[rows["key"][:, 0] % 7 == bucket], 1e-9))
    assert merged == whole
    assert asdict(merged) == asdict(whole)


def test_the_smallest_groups_are_the_examples() -> None:
    large: Pairs = [(1, 0), (0, 1), (0, 0), (0, 0), (0, 0)]
    effects = compare(large, large, [(1, 0), (0, 1)], large)
    assert [example.size for example in effects.examples["flipped"]] == [2, 5, 5]
    assert effects.examples["flipped"][0].rows == ((11, 1, 0), (12, 0, 1))


def test_a_group_of_all_rows_takes_no_square_of_them() -> None:
    number = 5_000
    effects = compare([(index, number - index) for index in range(number)])
    assert effects.inverted == effects.pairs == number * (number - 1) // 2
