"""Pairs that are equal or different by construction are judged so, with a fresh seed every time."""

from __future__ import annotations

import random

from perf.maths import LEAST_ACCURACY, judge_generated

COUNT = 1_200


def test_generated_pairs_are_judged_as_they_were_made() -> None:
    seed = random.SystemRandom().randrange(10**9)
    families = judge_generated(seed, COUNT)
    paid = {name: tally.misses for name, tally in families.items() if tally.paid}
    assert not paid, f"seed {seed}"
    missed = {name: tally.misses for name, tally in families.items() if tally.misses}
    wrong = sum(map(len, missed.values()))
    assert wrong <= COUNT * (1 - LEAST_ACCURACY), f"seed {seed}: {missed}"
