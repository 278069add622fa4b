"""Batches of completions as a trainer hands them to a reward, and which grader gets which when.

Standard library only: it is imported in the environments of the trainers.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

BATCH = 256
ABSTENTIONS = 13
"""Rows of a mixed batch whose reference cannot be read: one in twenty."""
SLOW = 8
"""Rows of a mixed batch that are right, and take a grader longer than most."""

HOSTILE: Mapping[str, str] = {
    "9^{9^{9^9}}": "9^{9^{9^9}}",
    "10000000!": "10000000!",
    "(x+y+z+w)^{300}": "(x+y+z+w)^{300}-(x+y)^{300}",
    r"\sum k^k to 10^9": r"\sum_{k=1}^{1000000000} k^{k}",
    "((100!)!)!": "((100!)!)!",
    "nested product": (
        r"\prod_{k=1}^{n} f(\int_0^{0^\log_{\infty}(99999)+\sqrt[x]{e}} 2 dx"
        r"/\sqrt{\pi}^\binom{\pi}{1}^y 1e9!!)"
    ),
}
"""One pathological answer for each round, by its name in the table. The last is the one that took
`math_equal_reward` longest among the short ones of 6,000 fuzzed answers (perf/bounds.py)."""

UNREADABLE = r"\frac{1}{"
PROSE = (
    "We set up the equation, bring both terms to one side and simplify. Checking the borders of "
    "the interval shows that no other case remains, so that the answer is "
)
"""How every response begins; one token, so that a small model gets through a batch in a second."""


@dataclass(frozen=True, slots=True)
class Row:
    """One completion and its reference."""

    response: str
    reference: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a trainer: which grader scores which batch."""

    grader: str
    batch: str
    """`plain`, `mixed`, or `hostile`."""
    round: int
    rows: tuple[Row, ...]
    hostile: str = ""


def steps(data: Path, graders: Sequence[str], rounds: int, seed: int) -> Iterator[Step]:
    """Every grader on every kind of batch in every round, in an order that changes by turns.

    Within a round all of them get the same rows; the pathological one takes a place of its own.
    Round 0 warms up, and is not to be counted.
    """
    rng = random.Random(seed)
    pool = list(_pairs(data))
    rng.shuffle(pool)
    names = list(HOSTILE)
    for number in range(rounds + 1):
        rows = [_boxed(*pool[(number * BATCH + place) % len(pool)]) for place in range(BATCH)]
        name = names[number % len(names)]
        batches = {
            "plain": rows,
            "hostile": _with(rows, {rng.randrange(BATCH): _boxed("1", HOSTILE[name])}),
            "mixed": _mixed(rows, rng),
        }
        # Who comes first finds the caches cold: plain and hostile take turns at it.
        pair = ("plain", "hostile") if number % 2 else ("hostile", "plain")
        turn = number % len(graders)
        for batch in (*pair, "mixed"):
            for grader in (*graders[turn:], *graders[:turn]):
                hostile = name if batch == "hostile" else ""
                yield Step(grader, batch, number, tuple(batches[batch]), hostile)


def _pairs(data: Path) -> Iterator[tuple[str, str]]:
    """Reference and answer of each labelled case that is an answer and not a whole response."""
    for name in ("equivalence", "negative", "surface", "identity"):
        for line in (data / f"{name}.jsonl").read_text("utf-8").splitlines():
            case = json.loads(line)
            if len(case["pred"]) <= 80 and case["pred"].isascii() and case["gold"].isascii():
                yield case["gold"], case["pred"]


def _mixed(rows: Sequence[Row], rng: random.Random) -> list[Row]:
    places = rng.sample(range(BATCH), ABSTENTIONS + SLOW)
    odd = {place: _boxed(UNREADABLE, "1") for place in places[:ABSTENTIONS]}
    for number, place in enumerate(places[ABSTENTIONS:]):
        odd[place] = _slow(number + rng.randrange(1000))
    return _with(rows, odd)


def _slow(number: int) -> Row:
    """A product of powers, and the same multiplied in another order."""
    a, b = 2 + number % 7, 3 + number % 11
    return _boxed(
        f"(x+{a})^{{8}}(y-{b})^{{6}}(x-y)^{{4}}", f"(x-y)^{{4}}(y-{b})^{{6}}(x+{a})^{{8}}"
    )


def _with(rows: Sequence[Row], others: Mapping[int, Row]) -> list[Row]:
    return [others.get(place, row) for place, row in enumerate(rows)]


def _boxed(reference: str, answer: str) -> Row:
    return Row(f"{PROSE}$\\boxed{{{answer}}}$.", reference)
