"""sympy as a second opinion: in a process of its own, bounded, and never the first word."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay.rewards.outcome.maths.compare.second_opinion as opinions
from assay.errors import MissingExtra
from assay.rewards.outcome.maths.compare.second_opinion import (
    SympyOpinion,
    SympyProcess,
    second_opinion,
    shared_process,
)
from assay.rewards.outcome.maths.compare.sympy_worker import FUNCTIONS, build
from assay.rewards.outcome.maths.compare.trees import Tree, to_trees

EQUAL = [
    (r"\sum_{k=1}^{n} k", r"\frac{n(n+1)}{2}", "a sum in closed form"),
    (r"\int_0^1 x^2 dx", r"\frac13", "an integral"),
    (r"\prod_{k=1}^{4} k", "24", "a product"),
    (r"\sin^2 x + \cos^2 x", "1", "an identity"),
]
NOT_PROVED = [
    (r"\sum_{k=1}^{n} k", r"\frac{n(n-1)}{2}", "another sum"),
    ("x", "y", "another letter"),
    (r"\frac{1}{0}", r"\frac{2}{0}", "two undefined values are not equal"),
    (r"\log x", r"\ln x", "a logarithm without a base is not natural for everyone"),
    ("f(x)", "f(x)", "an unknown function is not asked about"),
    (r"\{1, 2\}", r"\{2, 1\}", "a set is not asked about"),
    ("9" * 400, "9" * 400, "a number with more digits than are sent"),
]


@pytest.fixture(autouse=True, scope="module")
def _end_the_worker() -> Iterator[None]:
    yield
    shared_process().close()


@pytest.mark.parametrize(("prediction", "reference", "reason"), EQUAL)
def test_sympy_proves_what_the_comparator_does_not_attempt(
    prediction: str, reference: str, reason: str
) -> None:
    assert second_opinion(prediction, reference).equal is True, reason


@pytest.mark.parametrize(("prediction", "reference", "reason"), NOT_PROVED)
def test_what_sympy_does_not_prove_is_not_equal(
    prediction: str, reference: str, reason: str
) -> None:
    assert second_opinion(prediction, reference).equal is not True, reason


def test_the_process_is_reused_and_ends_when_closed() -> None:
    process = SympyProcess()
    assert process.ask(["symbol", "x"], ["symbol", "x"]).equal
    first = process.pid
    assert process.ask(["symbol", "x"], ["symbol", "y"]).equal is False
    assert process.pid == first
    process.close()
    assert not Path(f"/proc/{first}").exists()


def test_a_question_beyond_its_processor_time_has_no_answer() -> None:
    process = SympyProcess()
    tower: Tree = ["pow", ["number", "9"], ["pow", ["number", "9"], ["number", "99"]]]
    opinion = process.ask(["add", tower, ["symbol", "x"]], ["number", "1"], cpu_s=0.3)
    assert opinion.equal is None
    assert "processor time" in opinion.because
    assert process.ask(["symbol", "x"], ["symbol", "x"]).equal, "the next question gets an answer"
    process.close()


def test_a_question_beyond_its_memory_has_no_answer() -> None:
    process = SympyProcess(memory_mb=300)
    huge: Tree = ["pow", ["number", "2"], ["number", "9999999999"]]
    opinion = process.ask(["call", "floor", huge], ["number", "1"], cpu_s=5.0)
    assert opinion.equal is None
    process.close()


FORBIDDEN: list[Tree] = [
    ["call", "eval", ["symbol", "x"]],
    ["call", "__import__"],
    ["sympify", ["symbol", "x"], ["symbol", "y"]],
]


@pytest.mark.parametrize("tree", FORBIDDEN)
def test_an_operation_outside_the_tables_is_not_built(tree: Tree) -> None:
    assert shared_process().ask(tree, ["symbol", "x"]).equal is None
    with pytest.raises((KeyError, ValueError)):
        build(tree)


def test_no_function_in_the_tables_reads_text() -> None:
    assert not {"sympify", "parse_expr", "N", "S", "lambdify"} & set(FUNCTIONS.values())


def test_a_symbol_is_a_name_whatever_it_spells() -> None:
    import sympy  # type: ignore[import-untyped, unused-ignore]

    assert isinstance(build(["symbol", "__import__('os')"]), sympy.Symbol)


def test_several_threads_share_one_process() -> None:
    answers: list[SympyOpinion] = []
    threads = [
        threading.Thread(target=lambda: answers.append(second_opinion("x+1", "1+x")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.equal for answer in answers] == [True] * 8


def test_an_event_loop_runs_on_while_sympy_works() -> None:
    async def both() -> tuple[SympyOpinion, int]:
        beats = 0
        asking = asyncio.ensure_future(asyncio.to_thread(second_opinion, "(x+1)^2", "x^2+2x+1"))
        while not asking.done():
            beats += 1
            await asyncio.sleep(0)
        return asking.result(), beats

    opinion, beats = asyncio.run(both())
    assert opinion.equal
    assert beats > 1


def test_a_forked_child_starts_its_own_process_and_leaves_the_parents() -> None:
    script = """
import os, sys
from assay.rewards.outcome.maths.compare.second_opinion import second_opinion, shared_process
assert second_opinion("x+1", "1+x").equal
mine = shared_process().pid
child = os.fork()
if child == 0:
    good = second_opinion("2x", "x+x").equal and shared_process().pid != mine
    shared_process().close()
    os._exit(0 if good else 1)
assert os.waitpid(child, 0)[1] == 0
assert second_opinion("2x", "x+x").equal and shared_process().pid == mine
print("ok")
"""
    done = _python(script)
    assert done.stdout == "ok\n", done.stderr


def test_no_worker_outlives_an_interpreter_that_ends_or_is_killed() -> None:
    script = """
import os, signal, sys
from assay.rewards.outcome.maths.compare.second_opinion import second_opinion, shared_process
second_opinion("x+1", "1+x")
print(shared_process().pid, flush=True)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""
    for ending, code in (("normal", 0), ("killed", -signal.SIGKILL)):
        done = _python(script, ending)
        assert done.returncode == code, done.stderr
        assert _ends(int(done.stdout)), ending


def test_without_sympy_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opinions, "_has_sympy", lambda: False)
    with pytest.raises(MissingExtra, match=r"assay\[maths\]"):
        second_opinion("x", "y")


def test_trees_hold_no_text_of_the_response() -> None:
    assert to_trees("x + 1", "1/2") == (
        ["add", ["symbol", "x"], ["number", "1"]],
        ["div", ["number", "1"], ["number", "2"]],
    )
    assert to_trees("__import__('os').system('true')", "1") is None


def _python(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def _ends(pid: int) -> bool:
    """Whether the process is gone, or will be within a minute."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 60.0)[0])
    finally:
        os.close(descriptor)
