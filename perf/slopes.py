"""Proof that text rewards cost no more than linear time: hostile texts of growing length.

    python perf/slopes.py [--reward NAME] [--limit 1.2]

For each text reward and each family of hostile text, one response of 1,000 to 256,000 characters is
scored at a time, against a fixed reference. The slope of time against length, both in logarithms,
is fitted over the lengths that take at least ten milliseconds beyond the shortest; 1 is linear, 2
quadratic. Then the number of references grows instead, and the number of messages where a reward
reads them. A family that takes long enough is scored once more at 1,000,000 characters, to see for
how long it keeps the interpreter's lock in one piece. The forms of an answer that `assay diagnose`
tries are measured in the same way, as `--reward diagnosis`, and so are the public readings of
`assay.text` and the mask of secrets, under their names. Times are processor time. Exit code 1
when a slope is above the limit, a call takes more than a second or keeps the lock for more than
50 ms, or a reward raises.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

# A script has its own folder on the path, not the one above it.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import assay
from assay import text
from assay.report.reformatting import forms
from assay.schema.secrets import SecretMask
from perf.gil import HOLD_LIMIT_S, longest_hold

LENGTHS = (1_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000)
HOLD_CHARS = 1_000_000
ALIASES = (10, 40, 160, 640)
MESSAGES = (50, 200, 800, 3_200)
SLOPE_LIMIT = 1.2
CALL_LIMIT_S = 1.0
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
    "quoted line": "\n>", "layout tag": "<b>", "open tag": '<div style="', "backslash": "\\",
    "address": "http://a:b ", "member": '"api_key":"',
    "comment": "%", "struck": "~~a", "definition": r"\def\a{",
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

    @property
    def reads_messages(self) -> bool:
        return self.name.endswith("_tool")

    def score(self, response: str, reference: object, messages: int = 1) -> None:
        """Score a response; raise `GraderFailed` where the reward raised."""
        columns: dict[str, object] = {"final_response": response, "answer": reference}
        if self.reads_messages:
            columns["trajectory"] = [CALL, RESULT] * messages
        score = assay.score(self.name, params=dict(self.options), **columns)
        if isinstance(score, assay.Abstained) and score.reason == "grader_error":
            raise GraderFailed(score.because)


class AnswerForms(Reader):
    """What `assay diagnose` makes of an answer before it is scored again; no reward."""

    __slots__ = ()

    def score(self, response: str, reference: object, messages: int = 1) -> None:  # noqa: ARG002
        """Make the other forms of the response."""
        forms(response)


MASK = SecretMask(('sk-te"st/0123\\456789abcdef', "a-long-key-0123456789"))
PUBLIC_READINGS: tuple[Callable[[str], object], ...] = (
    text.final_text, text.find_answer, text.code_blocks, text.read_quantity, text.read_date,
    text.read_option, text.read_calls,
)  # fmt: skip
READINGS: Mapping[str, Callable[[str], object]] = {
    **{read.__name__: read for read in PUBLIC_READINGS},
    "secrets' mask": MASK.text,
}


class TextReading(Reader):
    """A function that reads foreign text; no reward."""

    __slots__ = ()

    def score(self, response: str, reference: object, messages: int = 1) -> None:  # noqa: ARG002
        """Read the response."""
        READINGS[self.name](response)


CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "a", "function": {"name": "search", "arguments": '{"q": "[[[["}'}}],
}
RESULT = {"role": "tool", "tool_call_id": "a", "content": '{"error": ' * 50}

READERS = (
    Reader("math_equal_reward", "42", {}, tuple(FRAMES)),
    Reader("math_equal_reward", r"x^2+\sin x", {}, ("box", "sentence")),
    *(
        Reader("qa_f1_reward", "a short answer of 12 words", {"mode": mode, "extract": extract})
        for mode in ("squad2", "hotpot", "drop", "inspect")
        for extract in ("none", "answer_tag")
    ),
    Reader("math_equal_reward_tool", "42", {}, ("answer tag", "box")),
    Reader("qa_f1_reward_tool", "a short answer of 12 words", {}, ("bare",)),
    Reader("assistantbench_reward", "a short answer\nof 12 words", {}, ("bare",)),
    Reader("fuzzy_answer_reward", "a short answer", {}, ("bare", "sentence")),
    AnswerForms("diagnosis", None, {}, ("bare", "sentence")),
    *(TextReading(name, None, {}, ("bare", "answer tag", "sentence")) for name in READINGS),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the steepest families of each reader; 1 when one is too steep, too slow or raises."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--reward", help="only this reward")
    parser.add_argument("--limit", type=float, default=SLOPE_LIMIT, help="steepest slope allowed")
    arguments = parser.parse_args(argv)
    problems: list[str] = []
    print("| reward | options | families | steepest | slope | slowest call ms | lock kept ms |")
    print("|---|---|---|---|---|---|---|")
    for reader in READERS:
        if arguments.reward in (None, reader.name):
            problems += _measure(reader, arguments.limit)
    for problem in problems:
        print(f"VIOLATION: {problem}")
    return 1 if problems else 0


@dataclass(frozen=True, slots=True)
class Family:
    """Inputs of one kind: their sizes, and what scoring one of a size does."""

    name: str
    sizes: tuple[int, ...]
    score: Callable[[int], None]
    is_text: bool = True

    def seconds(self, size: int) -> float:
        """Processor time of one call: the machine's other work does not count."""
        start = time.process_time()
        self.score(size)
        return time.process_time() - start


def _measure(reader: Reader, limit: float) -> list[str]:
    """Print one line for a reader; what it does not hold."""
    problems: list[str] = []
    families = _families(reader)
    steepest, slowest, hold = ("-", 0.0), 0.0, 0.0
    for family in families:
        try:
            slope, longest = _fit(family, limit)
            kept = _hold(family, longest)
        except GraderFailed as error:
            problems.append(f"{reader.name} on {family.name}: {error}"[:300])
            continue
        steepest = max(steepest, (family.name, slope), key=lambda pair: pair[1])
        slowest, hold = max(slowest, longest), max(hold, kept)
        if slope > limit:
            problems.append(f"{reader.name} on {family.name}: slope {slope:.2f}")
        if longest > CALL_LIMIT_S:
            problems.append(f"{reader.name} on {family.name}: a call took {longest:.2f} s")
        if kept > HOLD_LIMIT_S:
            problems.append(f"{reader.name} on {family.name}: lock kept for {kept * 1e3:.0f} ms")
    options = " ".join(map(str, reader.options.values())) or "-"
    print(
        f"| {reader.name} | {options} | {len(families)} | {steepest[0]} | {steepest[1]:.2f} | "
        f"{slowest * 1e3:.0f} | {hold * 1e3:.0f} |",
        flush=True,
    )
    return problems


def _families(reader: Reader) -> list[Family]:
    families = [
        Family(f"{name} in {frame}", LENGTHS, partial(_score_text, reader, FRAMES[frame], piece))
        for frame in reader.frames
        for name, piece in PIECES.items()
    ]
    # AssistantBench has one reference, and a list is its lines.
    if reader.name != "assistantbench_reward" and reader.reference is not None:
        score = partial(_score_references, reader)
        families.append(Family("references", ALIASES, score, is_text=False))
    if reader.reads_messages:
        score = partial(reader.score, "42", reader.reference)
        families.append(Family("messages", MESSAGES, score, is_text=False))
    return families


def _score_text(reader: Reader, ends: tuple[str, str], piece: str, size: int) -> None:
    reader.score(ends[0] + piece * (size // len(piece)) + ends[1], reader.reference)


def _score_references(reader: Reader, count: int) -> None:
    references = [f"{reader.reference} {k}" for k in range(count)]
    reader.score("The answer is " + "some words 12 + x " * 500, references)


def _fit(family: Family, limit: float) -> tuple[float, float]:
    """The slope of a family and its longest call.

    A steep or long one is measured again, and a steep one on to four times the size: memory caches
    bend a line for a while. Each size counts with its quickest try, since a neighbour's work is not
    the text's.
    """
    sizes = family.sizes
    times = [family.seconds(size) for size in sizes]
    for attempt in range(RETRIES):
        steep = _slope(sizes, times) > limit
        if not steep and max(times[: len(family.sizes)]) <= CALL_LIMIT_S:
            break
        if steep and not attempt:
            sizes = (*sizes, 2 * sizes[-1], 4 * sizes[-1])
            times += [family.seconds(size) for size in sizes[-2:]]
        times = [min(old, family.seconds(size)) for old, size in zip(times, sizes, strict=True)]
    return _slope(sizes, times), max(times[: len(family.sizes)])


def _hold(family: Family, longest: float) -> float:
    """How long the lock is kept in one piece; 0 where the whole call is too short to matter."""
    size = HOLD_CHARS if family.is_text else family.sizes[-1]
    if longest * size / family.sizes[-1] < HOLD_LIMIT_S / 2:
        return 0.0
    return longest_hold(partial(family.score, size))


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


if __name__ == "__main__":
    sys.exit(main())
