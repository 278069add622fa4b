"""Labelled answers from other projects' tests and from perf keep their results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.rewards.outcome.maths.reward import math_equal_reward

DATA = Path(__file__).parents[2] / "data" / "math"

KNOWN_MISSES: dict[str, dict[int, str]] = {
    "equivalence": {
        7: "the reference may be a list of two; `decimal_comma` reads it as a number",
        16: "the reference may be a list of two; `decimal_comma` reads it as a number",
        8: "the number stands between words of another language and a stray letter",
        29: "a line break inside the dollar signs is no reason to refuse",
        30: "a line break inside the delimiters is no reason to refuse",
        33: "an escaped dollar sign inside a formula is read as a currency",
        95: "a chain of equalities that is false in the middle is refused",
        97: "a chain of equalities that is false is refused",
        100: "an approximation that is false is refused",
        105: "the reference is a chain of equalities that is false",
        110: "a chain of equalities that is false in the middle is refused",
        128: "the label is for two digits; by default six are asked for",
        134: "the label is for two digits; by default six are asked for",
        180: "the label is for a setting that tells an interval from its inequality",
        182: "the reference lost a backslash to an escape, which is put back: 13 is 13",
        242: "the label is for a setting that does not compare variables",
        258: "by default the order of a list is free",
        265: "by default the order of a list is free",
        288: "words after a number that are neither a unit nor a noun are refused",
        328: "an unreduced fraction has the same value",
        363: "the label is wrong: 3/12 is not 4",
        537: "the label is wrong: the exponents differ by one",
    }
}
"""Line of each file whose label the reward does not reproduce, and why."""

DISPUTED = frozenset({7, 8, 16, 33, 95, 97, 100, 105, 110, 180, 182, 242, 288, 363, 537})
"""Lines of `equivalence` without a declared convention whose label a careful person would dispute:
the reason is above, and in docs/rewards.md."""

DECIDED: dict[str, tuple[bool, str]] = {
    "two boxes, right last": (True, "a self-correction: the last box counts"),
    "approx": (False, "another value; no rounding of 42 has seven decimals"),
    "42 percent": (True, "a bare reference above 1 is met by the same number of percent"),
    "unit": (True, "the reference has no unit that it could contradict"),
    "unclosed": (False, "cut off: the next character might have been a digit"),
    "code fence": (True, "layout"),
    "bold": (True, "layout"),
    "fullwidth": (True, "the same digits in another width"),
    "zero width": (True, "an invisible character is layout"),
}
"""What the reward says where a label would be a matter of taste."""


def _results(name: str) -> list[tuple[dict[str, object], bool | None]]:
    rows = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]
    results = []
    for row in rows:
        boxed = row.get("kind") == "answer"
        # A backslash at the end would escape the brace.
        space = " " if row["pred"].endswith("\\") else ""
        response = f"\\boxed{{{row['pred']}{space}}}" if boxed else row["pred"]
        score = math_equal_reward(response, row["gold"])
        results.append((row, None if score.abstained else float(score) == 1.0))
    return results


@pytest.mark.parametrize(
    "name", ["equivalence", "reward_doctor_cases", "hack_probes", "identity", "surface", "negative"]
)
def test_the_labels_hold_but_for_the_known_misses(name: str) -> None:
    missed = {
        line
        for line, (row, right) in enumerate(_results(name), start=1)
        if row["label"] is not None and (right is True) != row["label"]
    }
    assert missed == set(KNOWN_MISSES.get(name, {}))


def test_every_undisputed_label_without_a_convention_holds() -> None:
    rows = list(enumerate(_results("equivalence"), start=1))
    missed = {
        line
        for line, (row, right) in rows
        if "policy" not in row and row["label"] is not None and (right is True) != row["label"]
    }
    assert missed == DISPUTED


def test_unlabelled_probes_are_decided_as_documented() -> None:
    decided = {
        str(row["probe"]): right for row, right in _results("hack_probes") if row["label"] is None
    }
    assert decided == {probe: expected for probe, (expected, _) in DECIDED.items()}


@pytest.mark.parametrize("name", ["reward_doctor_cases", "hack_probes", "negative"])
def test_no_wrong_answer_is_paid(name: str) -> None:
    assert not [row for row, right in _results(name) if row["label"] is False and right]
