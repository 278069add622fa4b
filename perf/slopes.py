"""Proof that text rewards cost no more than linear time: hostile texts of growing length.

    python perf/slopes.py [--reward NAME] [--limit 1.2]

For each text reward and each family of hostile text, one response of 1,000 to 256,000 characters is
scored at a time, against a fixed reference. The slope of time against length, both in logarithms,
is fitted over the lengths that take at least ten milliseconds beyond the shortest; 1 is linear, 2
quadratic. Then the number of references grows instead. Exit code 1 when a slope is above the limit,
a call takes more than two seconds, or a call raises.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import assay

LENGTHS = (1_000, 4_000, 16_000, 32_000, 64_000, 128_000, 256_000)
ALIASES = (10, 40, 160, 640)
SLOPE_LIMIT = 1.2
CALL_LIMIT_S = 2.0
MEASURABLE_S = 0.01
"""Shorter calls are overhead and noise; a text that stays below it at every length is no attack."""
RETRIES = 5

PIECES = {
    "open parenthesis": "(", "open brace": "{", "close brace": "}", "open bracket": "[",
    "escaped parenthesis": r"\(", "escaped bracket": r"\[", "dollar": "$", "two dollars": "$$",
    "box": r"\boxed{", "empty box": r"\boxed{}", "tag": "<answer>", "closed tag": "</answer>",
    "think": "<think>", "hash": "####", "answer is": "the answer is ", "not": "not ", "or": "1 or ",
    "space": " ", "line": "\n", "full stop": ". ", "comma": ",", "minus": "-", "digit": "9",
    "grouped digits": ",123", "fraction": r"\frac{1}{2}", "root": r"\sqrt{", "text": r"\text{a}",
    "power": "2^", "word": "word ", "letters": "a", "quote": '"', "backtick": "```",
    "star": "**", "ligature": "\ufdfa", "accent": "a\u0301", "combining": "\u0301",
    "chinese answer": "答案是", "less than": "<", "period digits": "12", "date": "2024-01-01 ",
    "json": '[{"a": ', "matrix": r"\begin{pmatrix}", "left": r"\left(", "bar": "|x",
}  # fmt: skip
FRAMES = {
    "bare": ("", ""),
    "answer tag": ("<answer>", ""),
    "closed answer tag": ("<answer>", "</answer>"),
    "box": (r"\boxed{", "}"),
    "sentence": ("The answer is ", "."),
}


class GraderFailed(Exception):
    """The reward raised, so the row was abstained from."""


@dataclass(frozen=True, slots=True)
class Reader:
    """One reward, bound to a reference and to the frames in which a response is read."""

    name: str
    reference: object
    options: dict[str, str]
    frames: tuple[str, ...] = ("bare", "answer tag", "closed answer tag")

    def score(self, response: str, reference: object) -> None:
        """Score a response; raise `GraderFailed` where the reward raised."""
        columns = {"final_response": response, "answer": reference}
        score = assay.score(self.name, params=dict(self.options), **columns)
        if isinstance(score, assay.Abstained) and score.reason == "grader_error":
            raise GraderFailed(score.because)


READERS = (
    Reader("math_equal_reward", "42", {}, tuple(FRAMES)),
    Reader("math_equal_reward", r"x^2+\sin x", {}, ("box", "sentence")),
    *(
        Reader("qa_f1_reward", "a short answer of 12 words", {"mode": mode, "extract": extract})
        for mode in ("squad2", "hotpot", "drop", "inspect")
        for extract in ("none", "answer_tag")
    ),
    Reader("assistantbench_reward", "a short answer\nof 12 words", {}, ("bare",)),
    Reader("fuzzy_answer_reward", "a short answer", {}, ("bare", "sentence")),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the steepest families of each reader; 1 when one is too steep, too slow or raises."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--reward", help="only this reward")
    parser.add_argument("--limit", type=float, default=SLOPE_LIMIT, help="steepest slope allowed")
    arguments = parser.parse_args(argv)
    problems: list[str] = []
    print("| reward | options | families | steepest | slope | slowest call ms |")
    print("|---|---|---|---|---|---|")
    for reader in READERS:
        if arguments.reward in (None, reader.name):
            problems += _measure(reader, arguments.limit)
    for problem in problems:
        print(f"VIOLATION: {problem}")
    return 1 if problems else 0


def _measure(reader: Reader, limit: float) -> list[str]:
    """Print one line for a reader; what it does not hold."""
    problems: list[str] = []
    steepest, slowest, families = ("-", 0.0), 0.0, 0
    for name, make in _families(reader):
        families += 1
        try:
            slope, longest = _fit(make, limit)
        except GraderFailed as error:
            problems.append(f"{reader.name} on {name}: {error}"[:300])
            continue
        steepest = max(steepest, (name, slope), key=lambda pair: pair[1])
        slowest = max(slowest, longest)
        if slope > limit:
            problems.append(f"{reader.name} on {name}: slope {slope:.2f}")
        if longest > CALL_LIMIT_S:
            problems.append(f"{reader.name} on {name}: a call took {longest:.2f} s")
    options = " ".join(map(str, reader.options.values())) or "-"
    print(
        f"| {reader.name} | {options} | {families} | {steepest[0]} | {steepest[1]:.2f} | "
        f"{slowest * 1e3:.0f} |",
        flush=True,
    )
    return problems


Measured = Callable[[int], float]


def _families(reader: Reader) -> list[tuple[str, tuple[Sequence[int], Measured]]]:
    """Each family's name, the sizes to try, and what one size costs."""
    families: list[tuple[str, tuple[Sequence[int], Measured]]] = []
    for frame in reader.frames:
        before, after = FRAMES[frame]
        for name, piece in PIECES.items():

            def cost(
                size: int, piece: str = piece, ends: tuple[str, str] = (before, after)
            ) -> float:
                text = ends[0] + piece * (size // len(piece)) + ends[1]
                return _seconds(lambda: reader.score(text, reader.reference))

            families.append((f"{name} in {frame}", (LENGTHS, cost)))

    # AssistantBench has one reference, and a list is its lines.
    if reader.name != "assistantbench_reward":
        families.append(("references", (ALIASES, partial(_cost_of_references, reader))))
    return families


def _cost_of_text(reader: Reader, before: str, piece: str, after: str, size: int) -> float:
    text = before + piece * (size // len(piece)) + after
    return _seconds(lambda: reader.score(text, reader.reference))


def _cost_of_references(reader: Reader, count: int) -> float:
    references = [f"{reader.reference} {k}" for k in range(count)]
    response = "The answer is " + "some words 12 + x " * 500
    return _seconds(lambda: reader.score(response, references))


def _fit(family: tuple[Sequence[int], Measured], limit: float) -> tuple[float, float]:
    """The slope of a family and its longest call.

    A steep one is measured again, and on to four times the size: memory caches bend a line for a
    while. Each size counts with its quickest try, since a neighbour's work is not the text's.
    """
    sizes, cost = family
    times = [cost(size) for size in sizes]
    longest = max(times)
    for attempt in range(RETRIES):
        if _slope(sizes, times) <= limit:
            break
        if not attempt:
            further = (2 * sizes[-1], 4 * sizes[-1])
            sizes, times = (*sizes, *further), [*times, *map(cost, further)]
        times = [min(before, cost(size)) for before, size in zip(times, sizes, strict=True)]
    return _slope(sizes, times), longest


def _slope(sizes: Sequence[int], times: Sequence[float]) -> float:
    """The least-squares slope over the measurable sizes; 0 when there are not two of them."""
    points = [
        (math.log(size), math.log(seconds))
        for size, seconds in zip(sizes, times, strict=True)
        if seconds - times[0] >= MEASURABLE_S
    ]
    if len(points) < 2:
        return 0.0
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


def _seconds(call: Callable[[], None]) -> float:
    """Processor time of one call: the machine's other work does not count."""
    start = time.process_time()
    call()
    return time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
