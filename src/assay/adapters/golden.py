"""Golden files: rows with the recorded scores of a reward, one JSON object per line.

    {"final_response": "1/2", "answer": "0.5", "score": {"scorer": "math_equal_reward@2", …}}

A row is what the reward is given; `score` is what it returned then. A row without one is new, and
gets it when the file is updated. The pre-commit hook runs this module:

    python -m assay.adapters.golden [--import MODULE] FILES

It scores the rows again, and compares the files with those of the last commit: a number that
changed under the same `name@version` is refused, because old scores would carry that name too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from assay.errors import AssayError, BadInput, BadRecord
from assay.formats.lines import dump_line, load_record
from assay.resources.files import atomic_write
from assay.schema.score import Score, score_from_record, score_to_record
from assay.scoring.scorer import Scorer

SCORE: Final = "score"
"""The column of a golden file that is not the reward's."""
COMPARED: Final = ("value", "abstained", "parts", "scorer", "params")
"""What of a score is held; the wording of its reason may change."""
SHOWN: Final = 5


class GoldenRow(NamedTuple):
    """One row of a golden file, with its recorded score."""

    number: int
    columns: dict[str, Any]
    score: dict[str, Any] | None
    """The record of the score; `None` for a row that was not scored yet."""


class GoldenChange(NamedTuple):
    """A golden row whose new score differs from the recorded score."""

    row: GoldenRow
    score: Score

    @property
    def keeps_version(self) -> bool:
        """Whether the score changed although the reward's version stayed the same."""
        old = self.row.score
        return old is not None and old.get("scorer") == self.score.scorer

    def __str__(self) -> str:
        place = f"line {self.row.number}: {shorten(self.row.columns)}"
        if self.row.score is None:
            return f"{place}\n  has no score yet; now {explain(self.score)}"
        before = score_from_record(self.row.score)
        return f"{place}\n  was {explain(before)}\n  now {explain(self.score)}"


def explain(score: Score) -> str:
    """The number or the abstention of a score with its reason, in one line."""
    number = f"abstained ({score['abstained']})" if score.abstained else f"{score['reward']:g}"
    name = f" by {score.scorer}" if score.scorer else ""
    return f"{number}{name}, because: {score.because or 'it gives no reason'}"


def shorten(columns: Mapping[str, Any]) -> str:
    """The columns of a row in one readable line, shortened."""
    return ", ".join(f"{name}={value!r:.120}" for name, value in columns.items())[:400]


def read_golden(path: Path) -> list[GoldenRow]:
    """Read the rows of a golden file; raise `BadInput` if the file is unreadable."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"the golden file {str(path)!r} cannot be read: {error.strerror}") from error
    return parse_golden(data, str(path))


def parse_golden(data: bytes, name: str) -> list[GoldenRow]:
    """Parse the rows of a golden file; raise `BadInput` for an invalid line."""
    rows = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            columns = load_record(line)
            score = columns.pop(SCORE, None)
            if score is not None:
                score_from_record(score)
        except (BadRecord, KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(
                f"{name}, line {number}: {error!s:.200}; each line must be a row"
            ) from error
        rows.append(GoldenRow(number, columns, score))
    return rows


def write_golden(path: Path, rows: Iterable[tuple[Mapping[str, Any], Score]]) -> None:
    """Write rows and their scores to a golden file, completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft:
        lines = (dump_line({**row, SCORE: score_to_record(score)}) for row, score in rows)
        draft.write_bytes(b"".join(lines))


def changes(rows: Iterable[GoldenRow], scorer: Scorer) -> list[GoldenChange]:
    """The rows whose new score differs from the recorded score or is the first score."""
    changed = []
    for row in rows:
        score = scorer(row.columns)
        if row.score is None or _compared(row.score) != _compared(score_to_record(score)):
            changed.append(GoldenChange(row, score))
    return changed


def _compared(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: record.get(key) or None if key != "value" else record["value"] for key in COMPARED}


def report(path: Path, changed: Sequence[GoldenChange], advice: str) -> str:
    """Report the changes of a golden file, with the first few rows in full."""
    shown = "\n".join(str(change) for change in changed[:SHOWN])
    more = f"\n… and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
    return f"{path}: {len(changed)} row(s) changed\n{shown}{more}\n{advice}"


def check_file(path: Path, *, rescore: bool = True) -> list[str]:
    """List the problems of a golden file, such as missing scores and changed scores."""
    rows = read_golden(path)
    unscored = [row.number for row in rows if row.score is None]
    if unscored:
        return [f"{path}, line {unscored[0]}: a row without a score; run pytest --assay-update"]
    problems = _compare_with_commit(path, rows)
    if rescore:
        problems += _rescore(path, rows)
    return problems


def _rescore(path: Path, rows: Sequence[GoldenRow]) -> list[str]:
    by_reward: dict[str, list[GoldenRow]] = {}
    for row in rows:
        assert row.score is not None
        key = json.dumps([row.score["scorer"].partition("@")[0], row.score.get("params") or {}])
        by_reward.setdefault(key, []).append(row)
    changed = []
    for key, group in by_reward.items():
        name, params = json.loads(key)
        changed += changes(group, Scorer(name, params))
    advice = "run pytest --assay-update if this is meant"
    return [report(path, changed, advice)] if changed else []


def _compare_with_commit(path: Path, rows: Iterable[GoldenRow]) -> list[str]:
    """List rows whose score changed since the last commit under the same reward version."""
    before = {_key(row): row.score for row in _committed(path) if row.score is not None}
    problems = []
    for row in rows:
        old = before.get(_key(row))
        assert row.score is not None
        if old is None or _compared(old) == _compared(row.score):
            continue
        if old.get("scorer") == row.score.get("scorer"):
            problems.append(
                f"{path}, line {row.number}: another score under the same version\n"
                f"  was {explain(score_from_record(old))}\n"
                f"  now {explain(score_from_record(row.score))}\n"
                "raise the version of the reward, so that its scores can be told apart"
            )
    return problems


def _key(row: GoldenRow) -> bytes:
    return dump_line(dict(sorted(row.columns.items())))


def _committed(path: Path) -> list[GoldenRow]:
    try:
        shown = subprocess.run(
            ["git", "show", f"HEAD:./{path.name}"],
            cwd=path.absolute().parent,
            capture_output=True,
            check=False,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return parse_golden(shown.stdout, f"HEAD:{path}") if shown.returncode == 0 else []


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if all golden files are right, 1 if not, and 2 after an error."""
    parser = argparse.ArgumentParser(
        prog="python -m assay.adapters.golden",
        description="Check golden files of rewards: scored again, and against the last commit.",
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument(
        "--import", dest="imports", action="append", default=[], metavar="MODULE",
        help="import this module, which registers your own rewards",
    )  # fmt: skip
    parser.add_argument(
        "--no-rescore",
        action="store_true",
        help="compare with the last commit, and do not score again",
    )
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(Path.cwd()))
    try:
        for module in options.imports:
            import_module(module)
        checked = [check_file(path, rescore=not options.no_rescore) for path in options.files]
    except (AssayError, ImportError) as error:
        sys.stderr.write(f"assay: {error}\n")
        return 2
    problems = [problem for problems in checked for problem in problems]
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
