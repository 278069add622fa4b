"""A batch keeps the order, survives bad rows, and gives the same from several processes."""

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import Abstained
from assay.errors import BadParameter


def length(final_response: str) -> float:
    return float(len(final_response))


def rows(number: int) -> list[dict[str, Any]]:
    return [{"final_response": "x" * (index % 50)} for index in range(number)]


@pytest.mark.parametrize("workers", [1, 2])
def test_scores_come_in_the_order_of_the_rows(workers: int) -> None:
    scores = assay.score_batch(length, rows(3_000), workers=workers)
    assert [float(score) for score in scores] == [index % 50 for index in range(3_000)]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_bad_row_abstains_with_its_number(workers: int) -> None:
    given: list[Any] = [{"final_response": "ab"}, {"answer": "no response"}, "text", None]
    scores = list(assay.score_batch(length, given, workers=workers))
    assert float(scores[0]) == 2.0
    for score, place in zip(scores[1:], ("row 2", "row 3", "row 4"), strict=True):
        assert isinstance(score, Abstained)
        assert score.reason == "bad_row"
        assert place in score.because


def test_rows_may_be_endless() -> None:
    endless: Iterator[dict[str, Any]] = ({"final_response": "x" * (n % 3)} for n in count())
    scores = assay.score_batch(length, endless)
    assert [float(score) for score in islice(scores, 4)] == [0.0, 1.0, 2.0, 0.0]


def test_leaving_early_ends_the_workers() -> None:
    scores = assay.score_batch(length, rows(50_000), workers=2)
    assert float(next(scores)) == 0.0
    scores.close()
    with pytest.raises(StopIteration):
        next(scores)


def test_no_workers_is_an_error() -> None:
    with pytest.raises(BadParameter, match="workers=0"):
        assay.score_batch(length, [], workers=0)


def test_a_lambda_scores_a_batch_in_this_process_alone() -> None:
    rows = [{"final_response": "x"}] * 3
    scores = list(assay.score_batch(lambda final_response: 0.5, rows))
    assert [float(score) for score in scores] == [0.5] * 3
    with pytest.raises(BadParameter, match="lambda cannot be sent to another process"):
        assay.score_batch(lambda final_response: 0.5, rows, workers=2)


SCRIPT = """
import assay
rows = [{"final_response": "a", "answer": "a"}] * 2000
print(sum(map(float, assay.score_batch("qa_f1_reward", rows, workers=2))))
"""


def test_a_script_without_a_main_guard_is_told_of_it(tmp_path: Path) -> None:
    script = tmp_path / "plain.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("assay.errors.ResourceError: a worker process ended")
    assert 'below `if __name__ == "__main__":`' in last
