"""`assistantbench_reward` against the scorer that BrowserGym ships: the same values, sooner.

    python perf/answers.py --peer-python PATH --cases 50000 --seed 1

PATH is the Python of a virtual environment with browsergym-assistantbench 0.14.3, which is not
installed beside Assay. Random cases of every kind go to both; the first table counts where they
agree, the second compares their CPU time on the same cases. Exits with 1 when they disagree.
`--record FILE` also writes the cases and BrowserGym's results, for the tests.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.rewards.outcome.answers.assistantbench import read_reference, score_answer
from assay.rewards.outcome.answers.reward import assistantbench_reward
from assay.schema.score import Scored

PEER = """
import importlib.metadata, importlib.util, json, os, sys, time, types, warnings
warnings.simplefilter("ignore")
# The package fetches a data set when imported; a bare module in its place does not.
name = "browsergym.assistantbench"
places = importlib.util.find_spec("browsergym").submodule_search_locations
package = types.ModuleType(name)
package.__path__ = [os.path.join(place, "assistantbench") for place in places]
sys.modules[name] = package
from browsergym.assistantbench.evaluation.evaluator import question_scorer

def score_pair(prediction, gold):
    try:
        value, answered = question_scorer(prediction, gold)
        return [float(value), float(answered)]
    except Exception as error:
        return type(error).__name__

def clock(cases, rounds):
    started = time.process_time()
    for _ in range(rounds):
        for prediction, gold in cases:
            try:
                question_scorer(prediction, gold)
            except Exception:
                pass
    return time.process_time() - started

print(json.dumps(importlib.metadata.version("browsergym-assistantbench")), flush=True)
for line in sys.stdin:
    cases, rounds = json.loads(line)
    answer = clock(cases, rounds) if rounds else [score_pair(*case) for case in cases]
    print(json.dumps(answer), flush=True)
"""

SPEED_CASES = 8_000
TOLERANCE = 1e-12
"""The two sum in different orders, so the last bits may differ."""

Case = tuple[str, str]
"""A prediction and a reference."""

WORDS = (
    "Shanghai Villa the The a an Red Bamboo CrossFit East-River Pilates Route Diner Köln Koln "
    "McDonald's McDonald’s Fidelity® (FPADX) Glass Onion: Mystery, nan inf infinity No. İstanbul "
    "ΣΊΣΥΦΟΣ 五 ½ ² ٣ x\ty b\nc 5\ta a\t5 non-stop 'quoted' \"double\" e-mail https://a.b/c-d {x} "
    "[y] 1e5 1_000 12:30 1,000 $55 55% 3.50 66 66.0 2023-09-01 -7 +7 .5 5."
).split(" ")
KEYS = ("sender", "Sender", "price (usd)", "days", "name", "")
ODDITIES = (
    *("true", "false", "null", "[45]", "[45.0]", '["45"]', '["½"]', "[44, 45]", '{"a": 45}', "{}"),
    *("[]", "[[]]", '[""]', '["", ""]', "[NaN]", "[[NaN]]", "[NaN, NaN]", "[true]", "[null]"),
    *('["", null]', '["x", null]', "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "", " "),
    *("\n", '""', '" "', "[{}]", "[{}, {}]", '[{"sender": "x"}, "y"]', '[[{"sender": "x"}]]', "-0"),
    *("1" + "0" * 400, "[1" + "0" * 400 + "]", "1" + "0" * 5000, '"\\ud800 villa"', "\ufeff45"),
    *('["a", 1]', '["a", ["b"]]', '["a", {"b": 1}]', "[1, 2]", '"{\\"sender\\": \\"x\\"}"', "nan"),
    *("```json\n[1]\n```", "{'sender': 'USPS'}", "I don't know", "1\n2", '{"a": 1}\n', "[" * 50),
)
REFERENCE_ODDITIES = (
    *("", "\n \n", '"abc"', "true", "null", "[1, 2]", '["a", "b"]', "1\n2", "{}", "{}\n{}", "nan"),
    *('{"sender": null}', '{"sender": {"a": 1}}', '{"sender": []}', "inf", "-5", "0", "0.0"),
    *("{'sender': 'USPS', 'price (usd)': 41}", '{"days": -5}', '{"days": [1, "a"]}', '"a"\n"b"'),
)


def number_text(rng: random.Random, value: float | None = None) -> str:
    """A number in one of the spellings that models use, some of them unreadable."""
    if value is None:
        value = rng.choice(
            (0.0, 45.0, -45.0, 14.2, 1_010_000.0, 850_000.0, 1e-5, rng.uniform(-10, 10))
        )
        value *= rng.choice((1.0, 1.0, 1.0, 1.01, 1.5, 2.7, 2.8, 1000.0, 1e-3))
    plain = f"{value:.{rng.choice((0, 1, 2, 4))}f}"
    spelling: Callable[[], str] = rng.choice(
        (
            lambda: plain,
            lambda: plain,
            lambda: repr(value),
            lambda: f"{value:,.2f}",
            lambda: f"{value:e}",
            lambda: plain.replace(".", ","),
            lambda: f"${plain}",
            lambda: f"-${plain}",
            lambda: f"{plain}%",
            lambda: f"{plain} %",
            lambda: f"{plain} sqft",
            lambda: f"{plain} square kilometers",
            lambda: f" {plain}\n",
            lambda: f'"{plain}"',
            lambda: f"~{plain}",
            lambda: f"{plain} USD",
            lambda: f"{value:_.0f}",
            lambda: f"{value / 1000:g}k",
        )
    )
    return spelling()


def phrase(rng: random.Random) -> str:
    glue = rng.choice((" ", " ", " ", "-", "  ", ", "))
    return glue.join(rng.choices(WORDS, k=rng.choice((1, 2, 2, 3, 4, 6))))


def field_value(rng: random.Random) -> Any:
    kind = rng.randrange(12)
    if kind < 4:
        return phrase(rng)
    if kind < 6:
        return number_text(rng)
    if kind < 8:
        return round(rng.uniform(-5, 100), 2)
    if kind == 8:
        return rng.randint(-3, 60)
    return rng.choice((True, False, None, [], ["a b", "c"], [phrase(rng)], {"n": 1}, [1, "a"]))


def plain_object(rng: random.Random) -> dict[str, Any]:
    keys = rng.sample(KEYS, k=rng.choice((0, 1, 2, 2, 2, 3)))
    return {key: field_value(rng) for key in keys}


def near_object(rng: random.Random, item: dict[str, Any]) -> dict[str, Any]:
    near = dict(item)
    for key in list(near):
        if rng.random() < 0.3:
            near[key] = field_value(rng)
        elif rng.random() < 0.2:
            del near[key]
    if rng.random() < 0.2:
        near[rng.choice(KEYS)] = field_value(rng)
    return near


def near_text(rng: random.Random, text: str) -> str:
    words = text.split(" ")
    if rng.random() < 0.4:
        rng.shuffle(words)
    if rng.random() < 0.4:
        words.insert(rng.randrange(len(words) + 1), rng.choice(WORDS))
    if rng.random() < 0.3:
        del words[rng.randrange(len(words))]
    near = " ".join(words)
    change: Callable[[str], str] = rng.choice((str, str, str.upper, str.title, lambda t: f"{t}."))
    return change(near)


def number_case(rng: random.Random) -> Case:
    reference = number_text(rng)
    choice = rng.random()
    if choice < 0.3:
        return near_text(rng, reference), reference
    return (number_text(rng) if choice < 0.9 else phrase(rng)), reference


def string_case(rng: random.Random) -> Case:
    reference = phrase(rng)
    choice = rng.random()
    if choice < 0.6:
        return near_text(rng, reference), reference
    if choice < 0.75:
        return json.dumps([near_text(rng, reference) for _ in range(rng.randint(1, 3))]), reference
    return (phrase(rng) if choice < 0.9 else number_text(rng)), reference


def list_case(rng: random.Random) -> Case:
    items = [phrase(rng) for _ in range(rng.choice((2, 2, 3, 5, 9)))]
    reference = "\n".join(items)
    near = [near_text(rng, item) if rng.random() < 0.6 else item for item in items]
    rng.shuffle(near)
    near = near[: rng.randint(1, len(near))] + [phrase(rng)] * rng.choice((0, 0, 1, 3))
    spell: Callable[[list[str]], str] = rng.choice(
        (json.dumps, json.dumps, json.dumps, "\n".join, ", ".join, str)
    )
    return spell(near), reference


def json_case(rng: random.Random) -> Case:
    items = [plain_object(rng) for _ in range(rng.choice((1, 1, 2, 3, 5)))]
    reference = "\n".join(map(json.dumps, items))
    near = [near_object(rng, item) for item in items]
    rng.shuffle(near)
    if rng.random() < 0.2:
        near.append(plain_object(rng))
    if rng.random() < 0.3:
        return json.dumps(near), reference
    return "\n".join(map(json.dumps, near)), reference


def odd_case(rng: random.Random) -> Case:
    makers = (number_case, string_case, list_case, json_case)
    prediction, reference = rng.choice(makers)(rng)
    if rng.random() < 0.7:
        prediction = rng.choice(ODDITIES)
    if rng.random() < 0.5:
        reference = rng.choice(REFERENCE_ODDITIES)
    return prediction, reference


def random_cases(seed: int, count: int) -> Iterator[Case]:
    """Cases of every kind, the same for the same seed."""
    rng = random.Random(seed)
    makers = (number_case, string_case, list_case, json_case, odd_case)
    for index in range(count):
        yield makers[index % len(makers)](rng)


@dataclass(frozen=True, slots=True)
class Peer:
    """BrowserGym's scorer in a process of its own."""

    process: subprocess.Popen[str]

    def ask(self, cases: Sequence[Case], rounds: int = 0) -> Any:
        """The verdicts on the cases or, for one round and more, the CPU seconds they take."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([cases, rounds]) + "\n")
        self.process.stdin.flush()
        return self.read()

    def read(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())


def outcome(case: Case, expected_result: Any) -> str:
    """How our score of a case stands to the peer's."""
    score = assistantbench_reward(*case)
    if not isinstance(score, Scored):
        return "DIFFERENT: abstained"
    if isinstance(expected_result, str):
        marked = score.value == 0.0 and score.parts["reference_raises"] == 1.0
        return "raises, marked 0.0" if marked else "DIFFERENT: raises, not marked"
    value, answered = expected_result
    if score.parts["reference_raises"] or score.parts["answered"] != answered:
        return "DIFFERENT: parts"
    if value == float("inf"):
        return "infinite, 0.0" if score.value == 0.0 else "DIFFERENT: infinite"
    if score.value == value:
        return "equal to the last bit"
    close = abs(score.value - value) <= TOLERANCE * max(1.0, abs(value))
    return "equal within 1e-12" if close else "DIFFERENT: value"


def conform(cases: Sequence[Case], expected_results: Sequence[Any]) -> bool:
    """Print how the two compare; whether they agree on every case."""
    counts: Counter[str] = Counter()
    for case, expected_result in zip(cases, expected_results, strict=True):
        kind = outcome(case, expected_result)
        if kind.startswith("DIFFERENT") and counts[kind] < 5:
            print(kind, case, expected_result, assistantbench_reward(*case), file=sys.stderr)
        counts[kind] += 1
    print(f"| BrowserGym's result on {len(cases):,} cases, and ours | cases |\n|---|---:|")
    for kind, count in sorted(counts.items()):
        print(f"| {kind} | {count:,} |")
    return not any(kind.startswith("DIFFERENT") for kind in counts)


def cpu_time(function: Callable[[str, str], object], cases: Sequence[Case], rounds: int) -> float:
    started = time.process_time()
    for _ in range(rounds):
        for prediction, reference in cases:
            function(prediction, reference)
    return time.process_time() - started


def bare_score(prediction: str, reference: str) -> object:
    return score_answer(
        prediction, read_reference([line for line in reference.split("\n") if line.strip()])
    )


def compare_speed(peer: Peer, cases: Sequence[Case], *, rounds: int = 3) -> None:
    """Print the CPU time per case of both, by the kind of the reference."""
    print("\n| reference | cases | BrowserGym µs | value µs | times | whole reward µs | times |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    kinds: dict[str, list[Case]] = {}
    for case in cases:
        score = assistantbench_reward(*case)
        kinds.setdefault(score.notes["gold_kind"], []).append(case)
    for kind, members in sorted(kinds.items()):
        print_row(kind, peer, members, rounds)
    print_row("all", peer, cases, rounds)


def print_row(name: str, peer: Peer, cases: Sequence[Case], rounds: int) -> None:
    # Best of three: the machine may be busy with other things.
    scale = 1e6 / (len(cases) * rounds)
    theirs = min(peer.ask(cases, rounds) for _ in range(3)) * scale
    bare = min(cpu_time(bare_score, cases, rounds) for _ in range(3)) * scale
    whole = min(cpu_time(assistantbench_reward, cases, rounds) for _ in range(3)) * scale
    print(
        f"| {name} | {len(cases):,} | {theirs:.1f} | {bare:.1f} | {theirs / bare:.1f} "
        f"| {whole:.1f} | {theirs / whole:.1f} |"
    )


def record(path: Path, cases: Sequence[Case], expected_results: Sequence[Any]) -> None:
    """Write each case with BrowserGym's result, one JSON line each, reproducibly."""
    rows = (
        json.dumps([*case, expected_result])
        for case, expected_result in zip(cases, expected_results, strict=True)
    )
    with path.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        packed.write("".join(f"{row}\n" for row in rows).encode())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--peer-python", required=True)
    parser.add_argument("--cases", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    with subprocess.Popen(
        [options.peer_python, "-c", PEER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        peer = Peer(process)
        print(f"browsergym-assistantbench {peer.read()}, seed {options.seed}\n")
        cases = list(random_cases(options.seed, options.cases))
        expected_results = peer.ask(cases)
        agree = conform(cases, expected_results)
        if options.record:
            record(options.record, cases, expected_results)
        compare_speed(peer, cases[:SPEED_CASES])
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
