"""`tool_call_reward` on BFCL's rows: every accepted value, mutations, its speed, and a peer.

    python perf/tool_calls.py DATA [--peer-python PYTHON] [--seconds 3] [--show 3]

DATA is a folder with BFCL's questions and answers, `BFCL_v4_X.jsonl.gz` and `answers_X.jsonl.gz`.
From each row come calls for every accepted value of every argument, and at least ten mutations
whose worth is known by construction: `right` ones say the same otherwise, `wrong` ones something
else, `open` ones are for the comparison alone. Exits with 1 if an accepted value is refused on a
row that the schema does not contradict, if a mutation is paid or refused against its worth, or if
fewer than 20,000 calls a second are scored.

With `--peer-python`, an interpreter that has `bfcl-eval`, the published checker gets the same
calls; what it decides otherwise is counted by kind of call, with examples.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import assay

PEER = Path(__file__).parent / "tool_peers" / "bfcl_verdicts.py"
CATEGORIES = (
    "simple_python", "live_simple", "multiple", "parallel", "live_parallel", "parallel_multiple",
    "live_parallel_multiple",
)  # fmt: skip
CALLS_A_SECOND = 20_000
LEAST_MUTATIONS = 10
CONTRADICTED = "any call to a row whose reference contradicts its schema"
Worth = Literal["right", "wrong", "open"]
Call = dict[str, Any]
"""A function's name and its arguments."""


@dataclass(frozen=True, slots=True)
class Row:
    """One question: its tools, the accepted answer, and where it comes from."""

    id: str
    category: str
    tools: list[dict[str, Any]]
    answer: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Case:
    """Calls that are put to both."""

    row: Row
    kind: str
    worth: Worth
    calls: list[Call]

    def trajectory(self) -> list[dict[str, Any]]:
        calls = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
            }
            for number, call in enumerate(self.calls)
        ]
        return [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": "", "tool_calls": calls},
        ]


def read_rows(folder: Path) -> Iterator[Row]:
    for category in CATEGORIES:
        with gzip.open(folder / f"answers_{category}.jsonl.gz", "rt", encoding="utf-8") as file:
            answers = {row["id"]: row["ground_truth"] for row in map(json.loads, file)}
        with gzip.open(folder / f"BFCL_v4_{category}.jsonl.gz", "rt", encoding="utf-8") as file:
            for row in map(json.loads, file):
                if row["id"] in answers:
                    yield Row(row["id"], category, row["function"], answers[row["id"]])


def concrete(accepted: Any) -> Any:
    """A value as a model would write it, of one that may list accepted values for its keys."""
    if isinstance(accepted, dict):
        chosen = {key: first(values) for key, values in accepted.items()}
        return {key: value for key, value in chosen.items() if value is not None}
    if isinstance(accepted, list):
        return [concrete(item) for item in accepted]
    return accepted


def first(values: Any) -> Any:
    """The first accepted value; `None` where the argument is left out."""
    options = values if isinstance(values, list) else [values]
    return next((concrete(value) for value in options if value != ""), None)


def schema_of(row: Row, name: str) -> dict[str, Any]:
    tool = next((tool for tool in row.tools if tool["name"] == name), None)
    return tool["parameters"] if tool else {"properties": {}, "required": []}


def written(row: Row) -> list[Call]:
    """The reference as calls: the first accepted value of every argument that has one."""
    calls = []
    for item in row.answer:
        ((name, accepted),) = item.items()
        known = schema_of(row, name)["properties"]
        arguments = {key: first(values) for key, values in accepted.items() if key in known}
        required = schema_of(row, name).get("required", [])
        for key in required:
            if arguments.get(key) is None and "" in accepted.get(key, []):
                arguments[key] = ""
        calls.append(
            {
                "name": name.replace(".", "_"),
                "arguments": {key: value for key, value in arguments.items() if value is not None},
            }
        )
    return calls


def accepted_cases(row: Row) -> Iterator[Case]:
    """One case for each accepted value of each argument, the others at their first."""
    base = written(row)
    yield Case(row, "first accepted values", "right", base)
    for at, item in enumerate(row.answer):
        ((name, accepted),) = item.items()
        schema = schema_of(row, name)
        for key, values in accepted.items():
            if key not in schema["properties"]:
                continue
            for value in values:
                calls = deepcopy(base)
                if value != "":
                    calls[at]["arguments"][key] = concrete(value)
                elif key not in schema.get("required", []):
                    calls[at]["arguments"].pop(key, None)
                yield Case(row, "accepted value", "right", calls)


def mutations(row: Row) -> Iterator[Case]:
    base = written(row)
    for kind, worth, change in (*CHANGES, *ARGUMENT_CHANGES):
        calls = deepcopy(base)
        altered = change(calls, row)
        if altered is not None:
            yield Case(row, kind, worth, altered)


def _reverse(calls: list[Call], _: Row) -> list[Call] | None:
    return calls[::-1] if len(calls) > 1 else None


def _key_order(calls: list[Call], _: Row) -> list[Call]:
    for call in calls:
        call["arguments"] = dict(reversed(call["arguments"].items()))
    return calls


def _twice(calls: list[Call], _: Row) -> list[Call]:
    return [*calls, deepcopy(calls[-1])]


def _one_less(calls: list[Call], _: Row) -> list[Call]:
    return calls[:-1]


def _other_name(calls: list[Call], _: Row) -> list[Call]:
    calls[0]["name"] += "_x"
    return calls


def _thrice(calls: list[Call], _: Row) -> list[Call]:
    return [*calls, *deepcopy(calls), *deepcopy(calls)]


def _beside(calls: list[Call], _: Row) -> list[Call]:
    return [*calls, {"name": "assay_quill", "arguments": {}}]


def _deeper(calls: list[Call], _: Row) -> list[Call]:
    calls[0]["arguments"] = {"arguments": calls[0]["arguments"]}
    return calls


def _extra_null(calls: list[Call], _: Row) -> list[Call]:
    calls[-1]["arguments"]["assay_extra"] = None
    return calls


def _capital_name(calls: list[Call], _: Row) -> list[Call] | None:
    name = calls[0]["name"].swapcase()
    if name == calls[0]["name"]:
        return None
    calls[0]["name"] = name
    return calls


def _extra(calls: list[Call], _: Row) -> list[Call]:
    calls[0]["arguments"]["assay_extra"] = 1
    return calls


def _no_required(calls: list[Call], row: Row) -> list[Call] | None:
    required = schema_of(row, next(iter(row.answer[0]))).get("required", [])
    names = [name for name in required if name in calls[0]["arguments"]]
    if not names:
        return None
    del calls[0]["arguments"][names[0]]
    return calls


def _no_arguments(calls: list[Call], row: Row) -> list[Call] | None:
    if not schema_of(row, next(iter(row.answer[0]))).get("required"):
        return None
    calls[0]["arguments"] = {}
    return calls


def _swapped(calls: list[Call], _: Row) -> list[Call] | None:
    """The values of two arguments of one type exchanged."""
    values = calls[0]["arguments"]
    for one in values:
        for other in values:
            if type(values[one]) is type(values[other]) and values[one] != values[other]:
                values[one], values[other] = values[other], values[one]
                return calls
    return None


def _defaults(calls: list[Call], row: Row) -> list[Call] | None:
    """Every argument that is left out given with the schema's default."""
    changed = False
    for call, item in zip(calls, row.answer, strict=True):
        for key, schema in schema_of(row, next(iter(item)))["properties"].items():
            if key not in call["arguments"] and schema.get("default") is not None:
                call["arguments"][key] = schema["default"]
                changed = True
    return calls if changed else None


def _empty_for_omitted(calls: list[Call], row: Row) -> list[Call] | None:
    ((name, accepted),) = row.answer[0].items()
    schema = schema_of(row, name)
    for key, values in accepted.items():
        details = schema["properties"].get(key, {})
        free = key not in schema.get("required", []) and details.get("default", "x") != ""
        if free and "" in values and details.get("type") == "string":
            calls[0]["arguments"][key] = ""
            return calls
    return None


CHANGES: tuple[tuple[str, Worth, Any], ...] = (
    ("calls in another order", "right", _reverse),
    ("arguments in another order", "right", _key_order),
    ("the last call twice", "wrong", _twice),
    ("the last call missing", "wrong", _one_less),
    ("another function", "wrong", _other_name),
    ("an argument that there is not", "wrong", _extra),
    ("null for an argument that there is not", "wrong", _extra_null),
    ("the arguments one level deeper", "wrong", _deeper),
    ("every call three times", "wrong", _thrice),
    ("a call of another function beside", "wrong", _beside),
    ("the name in other letters", "wrong", _capital_name),
    ("a required argument missing", "wrong", _no_required),
    ("no arguments", "wrong", _no_arguments),
    ("two values exchanged", "open", _swapped),
    ("defaults written out", "open", _defaults),
    ("an empty text for an argument left out", "open", _empty_for_omitted),
)


def _on_value(wanted: type | tuple[type, ...], alter: Any) -> Any:
    """A change of the first argument of a type; none where there is no such argument."""

    def change(calls: list[Call], _: Row) -> list[Call] | None:
        for call in calls:
            for key, value in call["arguments"].items():
                if isinstance(value, bool) and wanted is not bool:
                    continue
                if isinstance(value, wanted) and (altered := alter(value)) is not None:
                    call["arguments"][key] = altered
                    return calls
        return None

    return change


def _inner_text(value: str) -> str | None:
    """The text without the decimal points and signs of its numbers, and without operators."""
    bare = "".join(
        char
        for at, char in enumerate(value)
        if not (char in "*^" or (char in ".-" and value[at + 1 : at + 2].isdigit()))
    )
    return bare if bare != value else None


def _without_point(value: float) -> int | None:
    return int(value) if value == int(value) else None


def _negated(value: float) -> float | None:
    return -value if value else None


def _without_spaces(value: str) -> str | None:
    return value.replace(" ", "") if " " in value else None


def _spaced(value: str) -> str | None:
    return f" {value} " if value.strip() else None


def _backwards(value: list[Any]) -> list[Any] | None:
    return value[::-1] if value != value[::-1] else None


def _less_last(value: list[Any]) -> list[Any] | None:
    return value[:-1] if value else None


ARGUMENT_CHANGES: tuple[tuple[str, Worth, Any], ...] = (
    ("a text for a number", "wrong", _on_value((int, float), str)),
    ("a number plus one", "open", _on_value((int, float), lambda value: value + 1)),
    ("a number with its sign changed", "open", _on_value((int, float), _negated)),
    ("5.0 for 5", "right", _on_value(int, float)),
    ("5 for 5.0", "right", _on_value(float, _without_point)),
    ("a list of the number", "wrong", _on_value((int, float), lambda value: [value])),
    ("true for a number", "wrong", _on_value((int, float), lambda _: True)),
    ("a text for true or false", "wrong", _on_value(bool, lambda value: str(value).lower())),
    ("1 or 0 for true or false", "wrong", _on_value(bool, int)),
    ("true for false", "open", _on_value(bool, lambda value: not value)),
    ("another text", "wrong", _on_value(str, lambda _: "assay quill")),
    ("capitals", "right", _on_value(str, lambda value: value.upper())),
    ("spaces around", "right", _on_value(str, _spaced)),
    ("no spaces", "open", _on_value(str, _without_spaces)),
    ("a text without its points, signs and operators", "open", _on_value(str, _inner_text)),
    ("a text in a list", "wrong", _on_value(str, lambda value: [value])),
    ("a list backwards", "open", _on_value(list, _backwards)),
    ("a list less its last item", "open", _on_value(list, _less_last)),
    ("a list with one item more", "wrong", _on_value(list, lambda value: [*value, "assay"])),
    ("a record with one key more", "wrong", _on_value(dict, lambda value: {**value, "assay": 1})),
    ("a record as text", "wrong", _on_value(dict, json.dumps)),
)  # fmt: skip


def score(case: Case) -> float | str:
    result = assay.score(
        "tool_call_reward",
        trajectory=case.trajectory(),
        answer=case.row.answer,
        tools=case.row.tools,
    )
    return result["abstained"] if result.abstained else float(result)


def peer_verdicts(python: str, cases: list[Case]) -> list[Any]:
    lines = [
        json.dumps(
            {
                "tools": case.row.tools,
                "answer": case.row.answer,
                "category": case.row.category,
                "calls": [{call["name"]: call["arguments"]} for call in case.calls],
            }
        )
        for case in cases
    ]
    text = "\n".join(lines) + "\n"
    result = subprocess.run(
        [python, str(PEER)], input=text, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in result.stdout.splitlines()]


def report_peer(cases: list[Case], ours: list[float | str], theirs: list[Any], show: int) -> None:
    kinds: dict[tuple[str, str], list[Case]] = defaultdict(list)
    same = 0
    for case, own, other in zip(cases, ours, theirs, strict=True):
        verdict = "raises" if isinstance(other, str) else "pays" if other else "refuses"
        mine = own if isinstance(own, str) else "pays" if own else "refuses"
        if verdict == mine:
            same += 1
        else:
            kind = (
                "any call to a row that contradicts its schema"
                if mine == "bad_reference"
                else case.kind
            )
            kinds[kind, f"ours {mine}, bfcl-eval {verdict}"].append(case)
    print(f"\nbeside bfcl-eval: {same} of {len(cases)} the same ({same / len(cases):.2%})")
    for (kind, how), hits in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"  {len(hits):5}  {kind}: {how}")
        for case in hits[:show]:
            print(f"         {case.row.id}: {json.dumps(case.calls, ensure_ascii=False)[:240]}")


def measure(cases: list[Case], seconds: float) -> float:
    """Calls that are scored in a second, over right and wrong cases alike."""
    rows = [(case.trajectory(), case.row.answer, case.row.tools, len(case.calls)) for case in cases]
    scorer = assay.Scorer("tool_call_reward")
    best = 0.0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        started, calls = time.process_time(), 0
        for trajectory, answer, tools, count in rows[:2_000]:
            scorer({"trajectory": trajectory, "answer": answer, "tools": tools})
            calls += count
        best = max(best, calls / (time.process_time() - started))
    return best


def irrelevance(folder: Path) -> int:
    """Rows on which no call is right, and that a refusal, a call or silence is paid wrongly."""
    wrong = 0
    with gzip.open(folder / "BFCL_v4_irrelevance.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        tool = row["function"][0]["name"] if row["function"] else "any"
        call = {"function": {"name": tool, "arguments": "{}"}}
        replies: list[tuple[dict[str, Any], float]] = [
            ({"role": "assistant", "content": "No tool does that."}, 1.0),
            ({"role": "assistant", "content": "", "tool_calls": [call]}, 0.0),
            ({"role": "assistant", "content": ""}, 0.0),
        ]
        for message, expected in replies:
            result = assay.score(
                "tool_call_reward", trajectory=[message], answer=[], tools=row["function"]
            )
            wrong += result["reward"] != expected
    print(f"irrelevance: {len(rows)} rows, {wrong} wrong verdicts of {3 * len(rows)}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--peer-python")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--show", type=int, default=2)
    options = parser.parse_args()
    rows = list(read_rows(options.data))
    accepted = [case for row in rows for case in accepted_cases(row)]
    altered = [list(mutations(row)) for row in rows]
    cases = [*accepted, *(case for group in altered for case in group)]
    ours = [score(case) for case in cases]
    abstained = Counter(
        case.row.id for case, own in zip(cases, ours, strict=True) if isinstance(own, str)
    )
    wrong = [
        (case, own)
        for case, own in zip(cases, ours, strict=True)
        if not isinstance(own, str) and case.worth != "open" and own != (case.worth == "right")
    ]
    few = [group[0].row.id for group in altered if len(group) < LEAST_MUTATIONS]
    print(
        f"{len(rows)} rows, {len(accepted)} cases of accepted values, {len(cases) - len(accepted)} "
        f"mutations (at least {min(map(len, altered))} a row, {len(few)} rows below "
        f"{LEAST_MUTATIONS}); {len(abstained)} rows abstain: {', '.join(abstained)}"
    )
    print(f"against their worth: {len(wrong)}")
    for case, own in wrong[: 10 * options.show]:
        print(
            f"  {own} for {case.kind} ({case.worth}), {case.row.id}: {json.dumps(case.calls)[:300]}"
        )
    bad = irrelevance(options.data)
    rate = measure(cases, options.seconds)
    print(f"{rate:,.0f} calls a second (CPU time of one core), {CALLS_A_SECOND:,} needed")
    if options.peer_python:
        report_peer(cases, ours, peer_verdicts(options.peer_python, cases), options.show)
    return int(bool(wrong) or bool(few) or bool(bad) or rate < CALLS_A_SECOND)


if __name__ == "__main__":
    sys.exit(main())
