"""`qa_f1_reward` against the plain SQuAD 1.1 script: the same numbers, sooner.

    python perf/qa.py --rows 2000 --seed 1 --repeat 15

The script is restated here: it normalises answer and reference, for exact match and for F1, at
every question. Ours is the reward itself, called with keywords, and includes making the score and
its reason. Every row is scored by both in the same run and must be equal, bit for bit; exits with
1 otherwise. Times are CPU time, the best of `--repeat` passes over the rows. "to F1" is the ratio
to a script that leaves exact match out.

"seen" references were scored before, as in a group of rollouts of one task; "new" ones never.
"""

from __future__ import annotations

import argparse
import random
import re
import string
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from assay.rewards.outcome.qa.reward import ModeName, qa_f1_reward

PLACES = (
    "Paris London Rome Berlin Oslo Cairo Lima Quito Tokyo Delhi Perth Sofia Minsk Accra".split()
)
NAMES = "Ada Alan Grace Edsger Barbara Donald Leslie Frances John Margaret Tony Radia".split()
FILLER = (
    "the a an of in and to was is that it for on as with by at from city river music film"
    " president born century known first work year between large north history people called"
).split()
ACCENTED = "São Zürich Kraków Málaga Århus Łódź Besançon Göteborg".split()


@dataclass(frozen=True, slots=True)
class Row:
    """One question's answer and reference."""

    response: str
    reference: str


def squad_form(text: str) -> str:
    marks = set(string.punctuation)
    bare = "".join(char for char in text.lower() if char not in marks)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def squad_f1(prediction: str, reference: str) -> float:
    actual = squad_form(prediction).split()
    expected = squad_form(reference).split()
    same = sum((Counter(actual) & Counter(expected)).values())
    if same == 0:
        return 0.0
    precision = 1.0 * same / len(actual)
    recall = 1.0 * same / len(expected)
    return (2 * precision * recall) / (precision + recall)


def squad_em(prediction: str, reference: str) -> bool:
    return squad_form(prediction) == squad_form(reference)


def best(metric: Callable[[str, str], float], prediction: str, references: Sequence[str]) -> float:
    return max([metric(prediction, reference) for reference in references])


def squad_script(row: Row) -> tuple[float, float]:
    references = [row.reference]
    em = best(squad_em, row.response, references)
    return best(squad_f1, row.response, references), float(em)


def short_rows(count: int, rng: random.Random, *, unique: bool, words: Sequence[str]) -> list[Row]:
    """A third the reference itself, a third a short sentence with it, a third another name."""
    rows = []
    for index in range(count):
        reference = rng.sample(words, k=rng.randint(1, 4))
        answers = (
            ["The", *(word.upper() for word in reference)],
            [*rng.choices(FILLER, k=rng.randint(4, 8)), *reference],
            rng.choices(words, k=rng.randint(1, 4)),
        )
        tail = [str(index)] if unique else []
        answer = " ".join([*answers[index % 3], *tail]) + rng.choice(["", ".", "!"])
        rows.append(Row(answer, " ".join([*reference, *tail])))
    return rows


def long_rows(count: int, rng: random.Random, *, words: Sequence[str]) -> list[Row]:
    """Answers of two hundred words with ordinary punctuation, half of them naming the reference."""
    rows = []
    for index in range(count):
        reference = rng.sample(words, k=rng.randint(1, 4))
        text = [
            word + rng.choice(["", "", "", "", "", ",", "."])
            for word in rng.choices([*FILLER, *words], k=200)
        ]
        if index % 2:
            text[50 : 50 + len(reference)] = reference
        rows.append(Row(" ".join(text), " ".join(reference)))
    return rows


def microseconds(
    scorers: Sequence[Callable[[Row], object]], rows: Sequence[Row], repeat: int
) -> list[float]:
    """CPU time of one call of each; they take turns, so that a busy machine slows all alike."""
    fastest = [float("inf")] * len(scorers)
    for _ in range(repeat):
        for index, score in enumerate(scorers):
            started = time.process_time()
            for row in rows:
                score(row)
            fastest[index] = min(fastest[index], time.process_time() - started)
    return [seconds / len(rows) * 1e6 for seconds in fastest]


def ours(mode: ModeName) -> Callable[[Row], Any]:
    def score(row: Row) -> Any:
        return qa_f1_reward(final_response=row.response, answer=row.reference, mode=mode)

    return score


def disagreements(rows: Sequence[Row]) -> int:
    score = ours("squad1")
    return sum((score(row)["f1"], score(row)["em"]) != squad_script(row) for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--rows", type=int, default=2000, help="short answers; a tenth as many long"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=15)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    plain, accented = [*PLACES, *NAMES], [*PLACES, *ACCENTED]
    few = max(options.rows // 10, 1)
    cases = {
        "short, seen": short_rows(options.rows, rng, unique=False, words=plain),
        "short, new": short_rows(options.rows * 5, rng, unique=True, words=plain),
        "short, accents": short_rows(options.rows, rng, unique=False, words=accented),
        "200 words": long_rows(few, rng, words=plain),
        "200 words, accents": long_rows(few, rng, words=accented),
    }
    print("| answers | rows | words | unequal | script µs | its F1 µs | ours µs | ratio | to F1 |")
    print("|---|---|---|---|---|---|---|---|---|")
    unequal = 0
    for name, rows in cases.items():
        scorers = [squad_script, lambda row: squad_f1(row.response, row.reference), ours("squad1")]
        script, alone, mine = microseconds(scorers, rows, options.repeat)
        words = sum(len(row.response.split()) for row in rows) / len(rows)
        wrong = disagreements(rows)
        unequal += wrong
        print(
            f"| {name} | {len(rows)} | {words:.0f} | {wrong} | {script:.1f} | {alone:.1f} "
            f"| {mine:.1f} | {script / mine:.1f}x | {alone / mine:.1f}x |"
        )
    print("\n| mode | short µs | short /s | 200 words µs | 200 words /s |\n|---|---|---|---|---|")
    modes = get_args(ModeName)
    short = microseconds([ours(mode) for mode in modes], cases["short, seen"], options.repeat)
    long = microseconds([ours(mode) for mode in modes], cases["200 words"], options.repeat)
    for mode, brief, full in zip(modes, short, long, strict=True):
        print(f"| {mode} | {brief:.1f} | {1e6 / brief:,.0f} | {full:.1f} | {1e6 / full:,.0f} |")
    return 1 if unequal else 0


if __name__ == "__main__":
    sys.exit(main())
