"""One digest a subject over everything that the rewards say, to tell that a change moved no number.

    python perf/digests.py --save before.json            # on the version before
    python perf/digests.py --compare before.json         # on the version after

A digest is over value, reason, parts and notes of every row: the labelled rows of the tests and of
`--data`, generated rows, calls, programs, queries and worlds; and over the sentence that explains
each, unless `--no-sentences` leaves those out. Exit code 1 when one differs.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import logging
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import assay  # noqa: E402
from perf.maths_cases import cases  # noqa: E402
from perf.text_rows import OPTIONS, text_row  # noqa: E402

TESTS = ROOT / "tests" / "data"
QA_MODES = ("squad1", "squad2", "hotpot", "musique", "drop", "inspect")
FORMS: Mapping[str, dict[str, Any]] = {
    "format_reward": {"pattern": r"<answer>.*</answer>"},
    "length_reward": {"max_length": 100},
    "repetition_reward": {},
    "choice_reward": {},
    "json_reward": {},
}


def read_lines(path: Path) -> Iterator[Any]:
    """The JSON lines of a file, packed or not."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    yield from map(json.loads, filter(bytes.strip, data.splitlines()))


def record_of(score: Any, *, sentences: bool) -> str:
    """All that a score says, as text, but for a traceback, which names lines of the source."""
    shown = {key: value for key, value in dict(score).items() if key != "traceback"}
    explained = [score.because] if sentences else []
    return json.dumps([shown, *explained], default=str, sort_keys=True)


def digest(
    rewards: Mapping[str, Any] | str, rows: Iterable[Mapping[str, Any]], *, sentences: bool = True
) -> tuple[int, str]:
    """How many rows there were, and the digest of their scores."""
    total, count = hashlib.sha256(), 0
    for row in rows:
        columns = dict(row)
        params = columns.pop("params", {})
        try:
            score = assay.score(columns.pop("reward", rewards), params=params, **columns)
            text = record_of(score, sentences=sentences)
        except (assay.errors.AssayError, TypeError) as error:
            text = f"{type(error).__name__}: {error}" if sentences else type(error).__name__
        total.update(text.encode("utf-8", "surrogatepass"))
        count += 1
    return count, total.hexdigest()[:16]


def maths_rows(path: Path) -> Iterator[dict[str, Any]]:
    for row in read_lines(path):
        answer = row.get("pred", row.get("response", row.get("text", row.get("input", ""))))
        reference = row.get("gold", row.get("reference", row.get("answer", "42")))
        yield {"final_response": answer, "answer": reference}
        yield {"final_response": f"\\boxed{{{answer}}}", "answer": reference}


def generated_rows(count: int) -> Iterator[dict[str, Any]]:
    for case in cases(seed=11, count=count):
        yield {"final_response": f"\\boxed{{{case.answer}}}", "answer": case.reference}


def fuzz_rows(reward: str, count: int) -> Iterator[dict[str, Any]]:
    for index in range(count):
        row = text_row(reward, 0, index)
        yield {**row.columns, "params": row.params}


def answer_pairs(data: Path | None) -> Iterator[tuple[str, Any]]:
    """Answers in words and their references, of all sets."""
    for row in read_lines(TESTS / "qa" / "normalisation_variants.jsonl"):
        yield row["pred"], row["gold"]
    for row in read_lines(TESTS / "qa" / "drop_and_inspect.jsonl"):
        yield row["answer"], row["golds"]
    for answer, reference, _ in read_lines(TESTS / "answers" / "reference_cases.jsonl.gz"):
        yield answer, reference
    for name in ("nq301", "evouna"):
        path = data and data / name / f"{name}.jsonl.gz"
        if path and path.exists():
            for row in read_lines(path):
                yield row["candidate"], row["references"]


def tool_rows(data: Path) -> Iterator[dict[str, Any]]:
    from perf.tool_calls import accepted_cases, mutations, read_rows

    for row in read_rows(data):
        for case in (*accepted_cases(row), *mutations(row)):
            yield {"trajectory": case.trajectory(), "answer": row.answer, "tools": row.tools}


def program_rows(data: Path, count: int) -> Iterator[dict[str, Any]]:
    for row in list(read_lines(data / "code" / "HumanEval.jsonl.gz"))[:count]:
        tests = {"code": row["test"], "entry_point": row["entry_point"]}
        right = row["prompt"] + row["canonical_solution"]
        for program in (right, row["prompt"] + "    return None\n", "no code", f"```\n{right}```"):
            yield {"final_response": program, "tests": tests}


def query_rows(folder: Path) -> Iterator[dict[str, Any]]:
    import sqlite3

    database = folder / "emp.db"
    with sqlite3.connect(database) as connection:
        connection.executescript((TESTS / "sql" / "emp.sql").read_text())
    connection.close()
    for row in read_lines(TESTS / "sql" / "pairs.jsonl"):
        answer = {"final_response": f"```sql\n{row['query']}\n```", "answer": row["reference"]}
        yield {**answer, "database": str(database)}


def instruction_rows(data: Path) -> Iterator[dict[str, Any]]:
    folder = data / "instructions"
    responses = {
        row["prompt"]: row["response"] for row in read_lines(folder / "sample_output.jsonl.gz")
    }
    for row in read_lines(folder / "IFBench_test.jsonl.gz"):
        ids = {"instruction_id_list": row["instruction_id_list"], "kwargs": row["kwargs"]}
        for text in (responses.get(row["prompt"], ""), row["prompt"]):
            yield {"final_response": text, "instructions": ids, "prompt": row["prompt"]}


def file_bytes(
    folder: Path, rows: list[dict[str, Any]], *flags: str, sentences: bool = True
) -> tuple[int, str]:
    """The digest of the results of `assay score` on a file of the rows."""
    source, out = folder / "rows.jsonl", folder / f"out{len(list(folder.iterdir()))}.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    program = "import sys; from assay.cli.main import run; sys.exit(run())"
    command = [sys.executable, "-c", program, "score", str(source), "--out", str(out), *flags]
    subprocess.run(command, check=True, capture_output=True)
    data = out.read_bytes()
    if not sentences:
        data = re.sub(rb'"because":"(?:[^"\\]|\\.)*"', b"", data)
    return len(rows), hashlib.sha256(data).hexdigest()[:16]


def subjects(
    data: Path | None, scale: int, folder: Path
) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every subject by name, and what gives its count and digest."""
    for base in filter(None, (TESTS / "math", data and data / "math")):
        for path in sorted(base.glob("*.jsonl")):
            yield (
                f"maths {base.parent.parent.name}/{path.stem}",
                partial(digest, "math_equal_reward", maths_rows(path)),
            )
    yield "maths generated", partial(digest, "math_equal_reward", generated_rows(2 * scale))
    for reward in OPTIONS:
        yield f"fuzz {reward}", partial(digest, reward, fuzz_rows(reward, scale))
    answers = [{"final_response": answer, "answer": ref} for answer, ref in answer_pairs(data)]
    for mode in QA_MODES:
        rows = ({**row, "params": {"mode": mode}} for row in answers)
        yield f"qa {mode}", partial(digest, "qa_f1_reward", list(rows))
    for reward in ("assistantbench_reward", "fuzzy_answer_reward", "math_equal_reward"):
        yield f"answers {reward}", partial(digest, reward, answers)
    for reward, params in FORMS.items():
        rows = ({**row, "params": params} for row in answers)
        yield f"form {reward}", partial(digest, reward, list(rows))
    yield "queries", partial(digest, "sql_reward", query_rows(folder))
    if data is not None:
        yield "calls", partial(digest, "tool_call_reward", tool_rows(data / "tools"))
        yield "programs", partial(digest, "code_reward", program_rows(data, 40))
        yield "instructions", partial(digest, "instructions_reward", instruction_rows(data))
    batch, rewards = answers[:4000], ("--reward", "qa_f1_reward,math_equal_reward")
    yield "batch", partial(file_bytes, folder, batch, *rewards)
    yield "batch, 2 workers", partial(file_bytes, folder, batch, *rewards, "--workers", "2")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help="a folder of labelled sets of other projects")
    parser.add_argument("--scale", type=int, default=10_000, help="generated rows of each reward")
    parser.add_argument("--only", default="", help="subjects whose name begins so")
    parser.add_argument("--no-sentences", action="store_true", help="numbers and reasons alone")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--compare", type=Path)
    options = parser.parse_args()
    logging.disable()
    before = json.loads(options.compare.read_text()) if options.compare else {}
    digests: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, make in subjects(options.data, options.scale, Path(folder)):
            if not name.startswith(options.only):
                continue
            digests[name] = list(make(sentences=not options.no_sentences))
            known = before.get(name)
            state = "" if known is None else "same" if known == digests[name] else "DIFFERS"
            print(f"{name:<44} {digests[name][0]:>8,} {digests[name][1]} {state}", flush=True)
            if options.save:
                options.save.write_text(json.dumps(digests, indent=1))
    changed = [name for name in digests if name in before and before[name] != digests[name]]
    if before:
        print(f"{len(digests)} subjects, {len(changed)} differ: {', '.join(changed) or 'none'}")
    return bool(changed)


if __name__ == "__main__":
    sys.exit(main())
