"""What `code_reward` pays, in a process with limits alone, so that it runs on every machine."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import Mock

import psutil
import pytest

import assay
from assay.errors import BadParameter
from assay.isolation import sandbox as sandboxes
from assay.isolation.frames import PipeClosed
from assay.isolation.sandbox import NoSandbox, RunEnd, Sandbox, SandboxLimits
from assay.rewards.outcome.code import reward as code
from assay.rewards.outcome.code.execute import ProgramTester, SandboxLost
from assay.schema.score import Abstained, Score

ADD = {"fn": "add", "calls": [{"args": [1, 2], "expected": 3}, {"args": [2, 2], "expected": 4}]}
CHECK = {
    "code": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
    "entry_point": "add",
}
SUM = {"stdio": [{"input": "1 2\n", "output": "3\n"}, {"input": "5 6", "output": "11"}]}
RIGHT = "def add(a, b):\n    return a + b\n"


def score(program: str, tests: Any, **params: Any) -> Score:
    return assay.score(
        "code_reward",
        final_response=f"```python\n{program}\n```",
        tests=tests,
        params={"isolation": "process", "time_s": 5.0, **params},
    )


def test_a_right_program_is_paid_for_every_kind_of_test() -> None:
    assert float(score(RIGHT, ADD)) == 1.0
    assert float(score(RIGHT, CHECK)) == 1.0
    assert float(score("print(sum(map(int, input().split())))", SUM)) == 1.0
    paid = score("class Solution:\n    def add(self, a, b): return a + b", ADD)
    assert dict(paid.parts) == {"passed": 2.0, "total": 2.0, "fraction": 1.0, "compiled": 1.0}
    assert (
        float(score(RIGHT, {**CHECK, "entry_point": "add", "code": "assert add(1, 2) == 3"})) == 1
    )


WRONG = [
    ("def add(a, b): return a * b", "1 of 2 tests passed; test 1: 2 for 3", 0.5, 1.0),
    ("def add(a, b) return a", "it is no python: SyntaxError", 0.0, 0.0),
    ("raise ValueError('no')", "loading: ValueError: no", 0.0, 1.0),
    ("x = 1", "loading: AttributeError", 0.0, 1.0),
    ("def add(a, b): return object()", "returned object, which is not plain data", 0.0, 1.0),
    ("def add(a, b): raise KeyError(a)", "test 1: KeyError: 1", 0.0, 1.0),
    ("import sys\ndef add(a, b): sys.exit(0)", "it ended with exit code 1", 0.0, 1.0),
    ("import os\nos._exit(0)", "it ended with exit code 0", 0.0, 1.0),
    ("import os\ndef add(a, b): os.kill(os.getpid(), 9)", "ended by signal 9", 0.0, 1.0),
]


@pytest.mark.parametrize(("program", "because", "fraction", "compiled"), WRONG)
def test_a_wrong_program_is_not_paid_and_the_reason_is_named(
    program: str, because: str, fraction: float, compiled: float
) -> None:
    result = score(program, ADD)
    assert float(result) == 0.0
    assert because in result.because
    assert (result["fraction"], result["compiled"]) == (fraction, compiled)


def test_a_part_of_the_tests_can_be_paid() -> None:
    assert float(score("def add(a, b): return a * b", ADD, pay="fraction")) == 0.5


def test_one_limit_holds_for_the_whole_set() -> None:
    program = "import time\ndef add(a, b):\n    a == 2 and time.sleep(99)\n    return a + b"
    result = score(program, ADD, time_s=2.0)
    assert float(result) == 0.0
    assert result["passed"] == 1.0
    assert "no answer within 2 s" in result.because
    assert "within 0.5 s" in score("while True: pass", SUM, time_s=0.5).because


def test_memory_and_output_have_limits() -> None:
    hungry = "def add(a, b):\n    return len([bytes(10**6) for _ in range(10**4)])"
    assert "MemoryError" in score(hungry, ADD, memory_mb=100).because
    assert "it wrote more than 4 MB" in score("print('x' * 10**7)", SUM).because


def test_tests_that_are_code_see_values_exceptions_and_changed_arguments() -> None:
    program = """
def work(values, *, by=1):
    if not values:
        raise ValueError("empty")
    values.sort()
    return {"all": tuple(values), "by": by}
"""
    tests = """
def check(candidate):
    values = [3, 1]
    assert candidate(values, by=2) == {"all": (1, 3), "by": 2}
    assert values == [1, 3]
    try:
        candidate([])
    except ValueError as error:
        assert str(error) == "empty"
    else:
        raise AssertionError("no error")
"""
    assert float(score(program, {"code": tests, "entry_point": "work"})) == 1.0


def test_an_exception_of_the_program_does_not_end_the_tests_own_loops() -> None:
    tests = (
        "for one, other in zip(map(candidate, [1, 2], [2, 2]), [3, 4]):\n    assert one == other"
    )
    for raised in ("StopIteration", "GeneratorExit", "StopAsyncIteration"):
        program = f"def add(a, b): raise {raised}"
        assert float(score(program, {"code": tests, "entry_point": "add"})) == 0.0, raised
    assert float(score(RIGHT, {"code": tests, "entry_point": "add"})) == 1.0


def test_a_stub_in_the_tests_does_not_stand_in_for_the_program() -> None:
    prompt = 'def add(a, b):\n    """Add."""\n    return 3\n'
    tests = {
        "code": f"{prompt}\ndef check(candidate):\n    assert add(1, 2) == 3",
    }
    assert float(score("def add(a, b): return 0", {**tests, "entry_point": "add"})) == 0.0


def test_a_data_sets_own_checker_judges_where_the_program_never_was() -> None:
    checker = "def check(args, output, expected):\n    return sorted(output) == sorted(expected)"
    tests = {"fn": "f", "calls": [{"args": [], "expected": [1, 2]}], "checker": checker}
    assert float(score("def f(): return [2, 1]", tests)) == 1.0
    assert "the checker rejects [2]" in score("def f(): return [2]", tests).because
    result = score("def f(): return [2, 1]", {**tests, "checker": "def check(*a): 1 / 0"})
    assert isinstance(result, Abstained)
    assert result.reason == "bad_reference"


def test_tests_that_cannot_be_judged_abstain() -> None:
    assert score(RIGHT, None)["abstained"] == "missing_reference"
    assert score(RIGHT, {"code": "f(", "entry_point": "add"})["abstained"] == "bad_reference"
    lambdas = {"code": "assert candidate(lambda: 1, 2)", "entry_point": "add"}
    result = score(RIGHT, lambdas)
    assert result["abstained"] == "bad_reference"
    assert "an argument of type function" in result.because


def test_no_program_is_no_pay() -> None:
    for response in (None, "", "```bash\nls\n```"):
        result = assay.score("code_reward", final_response=response, tests=ADD)
        assert (float(result), result["total"], result["compiled"]) == (0.0, 2.0, 0.0)


def test_programs_of_other_languages_read_and_write() -> None:
    program = "read a b; echo $((a + b))"
    response = f"```bash\n{program}\n```"
    params = {"isolation": "process", "language": "bash"}
    paid = assay.score("code_reward", final_response=response, tests=SUM, params=params)
    assert float(paid) == 1.0, paid
    assert score(program, ADD, language="bash")["abstained"] == "no_toolchain"
    with pytest.raises(BadParameter, match="language is 'cobol'"):
        score(program, SUM, language="cobol")


def test_an_option_that_is_none_is_refused() -> None:
    for params in ({"pay": "some"}, {"isolation": "none"}, {"time_s": 0}, {"order": "any"}):
        with pytest.raises(BadParameter, match="choose"):
            score(RIGHT, ADD, **params)


def test_where_nothing_isolates_the_reward_abstains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.mkdtemp", lambda prefix: "/nonexistent/folder")
    sandbox = Sandbox("full")
    with pytest.raises(NoSandbox, match="does not isolate programs"):
        sandbox.check()
    assert not all(layer.holds for layer in sandbox.layers() if layer.required)
    monkeypatch.setattr(code, "shared_sandbox", lambda isolation: sandbox)
    result = assay.score("code_reward", final_response=f"```\n{RIGHT}```", tests=ADD)
    sandbox.close()
    assert isinstance(result, Abstained)
    assert result.reason == "no_isolation"
    assert set(result.parts) == {"passed", "total", "fraction", "compiled"}


def test_another_system_than_linux_abstains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(NoSandbox, match="only Linux"):
        Sandbox("full").check()


def test_values_that_are_hard_to_read_are_wrong_and_cost_little() -> None:
    """Each of these made the reader fail, or take quadratic time."""
    for result in (
        "10 ** 5000",
        "{i * (2 ** 61 - 1): 0 for i in range(1000)}",
        "{(i * (2 ** 61 - 1), 'a') for i in range(1000)}",
        "[[]] * 10 ** 7",
        "'\\ud800\\x1b[2K'",
    ):
        scored = score(f"def add(a, b): return {result}", ADD)
        assert float(scored) == 0.0
        assert scored.because.isprintable()
        scored.because.encode()


def test_rows_of_a_batch_do_not_wait_for_slow_programs() -> None:
    rows = [
        {"final_response": f"```python\n{program}\n```", "tests": ADD}
        for program in ["import time; time.sleep(99)"] * 6 + [RIGHT] * 3
    ]
    params: dict[str, Any] = {"isolation": "process", "time_s": 4.0}
    began = time.monotonic()
    values = [float(one) for one in assay.score_batch("code_reward", rows, params=params)]
    assert values == [0.0] * 6 + [1.0] * 3
    # One after the other they would take six limits.
    assert time.monotonic() - began < 5 * 4.0


@pytest.mark.parametrize(
    ("checker", "program", "value"),
    [
        ("    return int(output) == int(expected)", "print('junk')", 0.0),
        ("    return int(output) == int(expected)", "print(3)", 1.0),
        ("    while int(output) > 3: pass\n    return True", "print(5)", 0.0),
        ("    raise SystemExit if int(output) > 3 else 0", "print(5)", "bad_reference"),
        ("    return expected == 'another form of it'", "print(3)", 0.0),
        ("    return output + 1", "print(3)", "bad_reference"),
        ("    while True: pass", "print(3)", "bad_reference"),
    ],
)
def test_an_output_that_the_checker_fails_on_is_wrong_and_no_excuse(
    checker: str, program: str, value: float | str
) -> None:
    code_of_checker = f"def check(input, output, expected):\n{checker}"
    tests = {"stdio": [{"input": "", "output": "3"}], "checker": code_of_checker}
    result = score(program, tests, time_s=2.0)
    assert (result.reason if isinstance(result, Abstained) else float(result)) == value


def test_each_output_is_checked_though_one_breaks_the_checker() -> None:
    checker = "def check(args, output, expected): return output[0] == expected[0]"
    calls = [{"args": [at], "expected": [at]} for at in range(3)]
    tests = {"fn": "f", "calls": calls, "checker": checker}
    result = score("def f(n): return [n] if n != 1 else None", tests, pay="fraction")
    assert float(result) == pytest.approx(2 / 3)
    assert "the checker rejects None (TypeError" in result.because


CALLED = pytest.mark.parametrize("tests", [ADD, CHECK], ids=["calls", "code"])
SHAPES = pytest.mark.parametrize("tests", [ADD, SUM, CHECK], ids=["calls", "stdio", "code"])


@pytest.fixture
def launcher(monkeypatch: pytest.MonkeyPatch) -> Iterator[psutil.Process]:
    """The process of a sandbox that the reward uses, and no other test."""
    sandbox = Sandbox("process")
    monkeypatch.setattr(code, "shared_sandbox", lambda _: sandbox)
    try:
        assert float(score(RIGHT, ADD)) == 1.0
        yield psutil.Process(sandbox.pid)
    finally:
        sandbox.close()


@SHAPES
def test_a_sandbox_that_does_not_answer_is_no_score(
    launcher: psutil.Process, tests: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher.suspend()
    with monkeypatch.context() as patch:
        patch.setattr(sandboxes, "BEGIN_S", 0.5)
        result = score(RIGHT, tests)
    assert isinstance(result, Abstained), result
    assert result.reason == "sandbox_error"
    launcher.resume()
    assert float(score("while True: pass", tests, time_s=0.5)) == 0.0


@CALLED
def test_a_program_that_begins_late_has_all_its_time(launcher: psutil.Process, tests: Any) -> None:
    launcher.suspend()
    with ThreadPoolExecutor(1) as threads:
        scoring = threads.submit(score, RIGHT, tests, time_s=1.5)
        time.sleep(2.2)
        launcher.resume()
        assert float(scoring.result()) == 1.0


@SHAPES
def test_a_program_that_ran_is_wrong_also_where_its_guard_reports_late(
    tests: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody waits for the report any more when it comes.
    monkeypatch.setattr(sandboxes, "END_S", 0.0)
    result = score("while True: pass", tests, time_s=1.0)
    assert float(result) == 0.0
    assert "no answer within 1 s" in result.because


@CALLED
def test_a_program_may_take_longer_to_load_than_a_run_to_begin(
    tests: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxes, "BEGIN_S", 1.0)
    assert float(score(f"import time\ntime.sleep(1.3)\n{RIGHT}", tests)) == 1.0


@pytest.mark.parametrize(
    ("has_begun", "cause", "is_over", "why"),
    [
        (False, "lost", False, "lost"),
        (False, "asked", False, "lost"),
        (True, "lost", False, "lost"),
        (True, "lost", True, "no answer within 5 s"),
        (True, "", False, "it ended"),
    ],
)
def test_a_pipe_that_closes_is_the_programs_doing_if_it_had_its_time(
    has_begun: bool, cause: str, is_over: bool, why: str
) -> None:
    run = Mock(has_begun=has_begun, is_over=is_over)
    run.end.return_value = RunEnd(cause, 0)
    program = ProgramTester(Mock(), SandboxLimits(time_s=5.0), RIGHT, "python", Mock(), Mock())
    try:
        became = program._why(run, PipeClosed("closed"))
    except SandboxLost:
        became = "lost"
    assert became.startswith(why)


def test_names_that_a_pattern_binds_are_the_tests_own() -> None:
    body = """def check(candidate):
    match [candidate(1, 2), 4, 5]:
        case [3 as total, *rest]:
            assert total == 3 and rest == [4, 5]
    match {"a": 1, "b": 2}:
        case {"a": first, **more}:
            assert first and more
"""
    assert float(score(RIGHT, {"code": body, "entry_point": "add"})) == 1.0


def test_a_sandbox_without_a_place_is_no_lack_of_isolation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandboxes, "WAITING", 0)
    sandbox = Sandbox("process", slots=1)
    monkeypatch.setattr(code, "shared_sandbox", lambda _: sandbox)
    try:
        with sandbox.slot():
            result = score(RIGHT, ADD)
    finally:
        sandbox.close()
    assert isinstance(result, Abstained)
    assert (result.reason, "start fewer" in result.because) == ("sandbox_error", True)
