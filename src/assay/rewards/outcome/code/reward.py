"""The reward of a program that passes its tests; the program cannot change its score."""

from __future__ import annotations

import time
from functools import partial
from typing import Literal, TypeAlias, get_args

from assay.errors import BadParameter, check_choice
from assay.isolation.sandbox import Isolation, NoSandbox, SandboxBusy, SandboxLimits, shared_sandbox
from assay.registry import reward
from assay.rewards.outcome.code.compare import ListOrder, same_output, same_value
from assay.rewards.outcome.code.execute import (
    CodeTestResults,
    ProgramTester,
    SandboxLost,
    check_language,
)
from assay.rewards.outcome.code.read import (
    AssertTests,
    CodeExtraction,
    Tests,
    find_program,
    read_tests,
)
from assay.schema.score import Abstained, Score, Scored
from assay.schema.values import Unreadable

Pay: TypeAlias = Literal["all", "fraction"]

PARTS = ("passed", "total", "fraction", "compiled")
LONGEST_PROGRAM = 1_000_000
ATTEMPTS = 2
"""Of a run that was lost through no fault of the program's."""


@reward(
    name="code_reward",
    version=1,
    parts=PARTS,
    waits=True,
    owner_options=("isolation",),
    kind="code",
)
def code_reward(
    final_response: str | None,
    tests: object,
    *,
    pay: Pay = "all",
    language: str = "python",
    extraction: CodeExtraction = "default",
    time_s: float = 10.0,
    memory_mb: int = 512,
    tolerance: float = 1e-6,
    order: ListOrder = "kept",
    isolation: Isolation = "full",
) -> Score:
    """1.0 if the program passes every test, else 0.0; `pay="fraction"` pays the fraction.

    The program runs in the sandbox, where no expected value ever is; what it returns or writes is
    compared here. `time_s` is for all tests together, `memory_mb` for all processes of the program.
    Where the machine cannot isolate it the reward abstains (`no_isolation`), unless `isolation` is
    "process". `tolerance` is for floats, `order` "free" for lists in any order.
    """
    for name, value, kind in (
        ("pay", pay, Pay), ("order", order, ListOrder), ("isolation", isolation, Isolation)
    ):  # fmt: skip
        check_choice(name, value, get_args(kind))
    for name, number, least, most in (
        ("time_s", time_s, 0.05, 3600), ("memory_mb", memory_mb, 16, 1 << 20),
        ("tolerance", tolerance, 0, 1),
    ):  # fmt: skip
        if not least <= number <= most:
            raise BadParameter(f"{name} is {number!r}; choose a number from {least} to {most}")
    task = read_tests(tests)
    if task is None:
        return Abstained("missing_reference", "there are no tests", PARTS)
    if isinstance(task, Unreadable):
        return Abstained("bad_reference", f"'tests' {task.because}", PARTS)
    missing = check_language(language, task)
    if missing:
        return Abstained("no_toolchain", missing, PARTS)
    program = find_program(final_response or "", extraction=extraction, language=language)
    if not program.text or len(program.text) > LONGEST_PROGRAM:
        because = f"the program has more than {LONGEST_PROGRAM} characters"
        total = 1 if isinstance(task, AssertTests) else len(task.tests)
        because = because if program.text else program.because
        return Scored(0.0, because, _parts(0, total, compiled=False))
    run = ProgramTester(
        shared_sandbox(isolation),
        SandboxLimits(time_s=time_s, memory_mb=memory_mb),
        program.text,
        language,
        partial(same_value, tolerance=tolerance, order=order),
        partial(same_output, tolerance=tolerance),
    )
    return _score(run, task, pay)


def _score(run: ProgramTester, task: Tests, pay: Pay) -> Score:
    began = time.monotonic()
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _pay(run.outcomes(task), pay)
        except SandboxBusy as error:
            return Abstained("sandbox_error", str(error), PARTS)
        except NoSandbox as error:
            return Abstained("no_isolation", str(error), PARTS)
        except SandboxLost as error:
            if attempt == ATTEMPTS or time.monotonic() - began >= run.limits.time_s:
                return Abstained("sandbox_error", f"the sandbox was lost: {error}", PARTS)
    raise AssertionError("every attempt returns")


def _pay(outcomes: CodeTestResults, pay: Pay) -> Score:
    if outcomes.unjudged:
        return Abstained("bad_reference", outcomes.unjudged, PARTS)
    fraction = outcomes.passed / outcomes.total
    value = fraction if pay == "fraction" else float(outcomes.passed == outcomes.total)
    because = f"{outcomes.passed} of {outcomes.total} tests passed"
    if outcomes.failure:
        because = f"{because}; {outcomes.failure}"
    return Scored(value, because, _parts(outcomes.passed, outcomes.total, outcomes.compiled))


def _parts(passed: int, total: int, compiled: bool) -> dict[str, float]:
    numbers = (passed, total, passed / total, compiled)
    return dict(zip(PARTS, map(float, numbers), strict=True))
