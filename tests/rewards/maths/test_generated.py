"""Pairs that are equal or different by construction are judged so, with a fresh seed every time."""

from __future__ import annotations

import random

from perf.maths import LEAST_ACCURACY, judge_generated

COUNT = 1_200
LEFT_OPEN = frozenset(
    "angle binomial closed_interval complex_number exact_integer fraction function_value half_line "
    "integer_with_words labels multiplied named_angle nothing_or_everything numeral_in_base "
    "open_interval ordinal point punctured_line ratio solutions true_equation two_rays "
    "word_of_letters".split()
)
"""Families with misses that are known."""


def test_generated_pairs_are_judged_as_they_were_made() -> None:
    seed = random.SystemRandom().randrange(10**9)
    judged = judge_generated(seed, COUNT)
    families = {name: tally for name, tally in judged.items() if name not in LEFT_OPEN}
    paid = {name: tally.misses for name, tally in families.items() if tally.paid}
    assert not paid, f"seed {seed}"
    missed = {name: tally.misses for name, tally in families.items() if tally.misses}
    wrong = sum(map(len, missed.values()))
    assert wrong <= COUNT * (1 - LEAST_ACCURACY), f"seed {seed}: {missed}"
