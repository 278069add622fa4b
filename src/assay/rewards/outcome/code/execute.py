"""Run a program's tests in the sandbox; the expected values stay outside the sandbox."""

from __future__ import annotations

import reprlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from assay.errors import check_choice
from assay.isolation import values
from assay.isolation.frames import BadFrame, PipeClosed
from assay.isolation.sandbox import PATH, RunEnd, Sandbox, SandboxLimits, SandboxRun
from assay.rewards.outcome.code.read import AssertTests, CallTests, StdioTests, Tests

FAILURES = (PipeClosed, BadFrame, TimeoutError)
"""What a program that does not answer, or answers with something else, does to its channel."""
MOST_CONTROLS = 16
"""Expected outputs that a checker is asked about after it failed."""
SHOWN_CHARS = 80
MESSAGE_CHARS = 600
_SHOWN = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = _SHOWN.maxlong = SHOWN_CHARS


class SandboxLost(Exception):
    """The sandbox failed, and the program did not cause it; the caller may try again."""


class Toolchain(NamedTuple):
    """The file name and the commands that compile and run a program of one language."""

    file: str
    compile: list[str]
    run: list[str]


LANGUAGES: Mapping[str, Toolchain | None] = {
    "python": None,
    "c++": Toolchain(
        "main.cpp", ["g++", "-O2", "-std=c++17", "-o", "main", "main.cpp"], ["./main"]
    ),
    "c": Toolchain("main.c", ["gcc", "-O2", "-o", "main", "main.c", "-lm"], ["./main"]),
    "node": Toolchain("main.js", [], ["node", "main.js"]),
    "bash": Toolchain("main.sh", [], ["bash", "main.sh"]),
}
"""By name; Python is run by the zygote itself."""


@dataclass(slots=True)
class CodeTestResults:
    """The results of a program's tests: the number passed, and why the first one failed."""

    total: int
    compiled: bool = True
    passed: int = 0
    failure: str = ""
    """Why the first test that failed did."""
    unjudged: str = ""
    """Why the tests themselves could not be judged."""
    pending: list[Any] = field(default_factory=list)
    """What the data set's own checker has to judge: input, output, expected."""

    def fail(self, why: str) -> None:
        """Keep the reason of the first failed test; the text may be the program's own."""
        self.failure = self.failure or printable(why)


@dataclass(frozen=True, slots=True)
class ProgramTester:
    """A program, its sandbox with limits, and the functions that compare its results."""

    sandbox: Sandbox
    limits: SandboxLimits
    program: str
    language: str
    same_value: Callable[[Any, Any], bool]
    same_output: Callable[[str, str], bool]

    def outcomes(self, tests: Tests) -> CodeTestResults:
        """Run every test. Raises `NoSandbox`, or `SandboxLost` if a guard process ended."""
        with self.sandbox.slot():
            if isinstance(tests, AssertTests):
                return self._code(tests)
            outcomes = self._calls(tests) if isinstance(tests, CallTests) else self._stdio(tests)
            if outcomes.pending:
                self._check(tests.checker, outcomes)
            return outcomes

    def _start(self, entry_point: str, **job: Any) -> SandboxRun:
        job |= {"mode": "calls", "program": self.program, "entry_point": entry_point}
        return self.sandbox.start(job, limits=self.limits)

    def _calls(self, tests: CallTests) -> CodeTestResults:
        outcomes = CodeTestResults(len(tests.tests))
        encode = values.encode
        try:
            calls = [
                {"args": encode(one.args), "kwargs": encode(one.kwargs)} for one in tests.tests
            ]
        except values.NotPlain as error:
            outcomes.unjudged = f"a test has an argument of type {error}"
            return outcomes
        # All of them at once: arguments are no secret, and each wait for an answer costs time.
        with self._start(tests.fn, calls=calls) as run:
            if not self._is_loaded(run, outcomes):
                return outcomes
            for number in range(1, len(tests.tests) + 1):
                try:
                    self._judge(outcomes, tests, number, run.receive())
                except (*FAILURES, values.UndecodableValue) as error:
                    outcomes.fail(f"test {number}: {self._why(run, error)}")
                    return outcomes
        return outcomes

    def _judge(self, outcomes: CodeTestResults, tests: CallTests, number: int, answer: Any) -> None:
        """Judge the program's answer to one call. Raises `UndecodableValue` for bad data."""
        call = tests.tests[number - 1]
        if "value" not in answer:
            what = f"{answer.get('opaque', 'something else')!s:.60}"
            why = f"it returned {what}, which is not plain data"
            if "raised" in answer:
                why = f"{answer['raised']!s:.60}: {answer.get('text')!s:.200}"
            outcomes.fail(f"test {number}: {why}")
            return
        value = values.decode(answer["value"])
        if tests.checker:
            outcomes.pending.append((number, (call.args, value, call.expected[0])))
        elif any(self.same_value(value, expected) for expected in call.expected):
            outcomes.passed += 1
        else:
            outcomes.fail(f"test {number}: {_show(value)} for {_show(call.expected[0])}")

    def _is_loaded(self, run: SandboxRun, outcomes: CodeTestResults) -> bool:
        try:
            first = run.receive()
        except FAILURES as error:
            outcomes.fail(f"loading: {self._why(run, error)}")
            return False
        if "uncompiled" in first:
            outcomes.compiled = False
            outcomes.fail(f"it is no {self.language}: {first['uncompiled']!s:.200}")
        elif "unloaded" in first:
            outcomes.fail(f"loading: {first['unloaded']!s:.200}")
        elif "ready" in first:
            return True
        outcomes.fail("it did not load")
        return False

    def _code(self, tests: AssertTests) -> CodeTestResults:
        """Run the tests in a process of their own, which calls the program through this one."""
        outcomes = CodeTestResults(1)
        job = {"mode": "tests", "code": tests.code, "entry_point": tests.entry_point}
        with (
            self.sandbox.start(job, limits=self.limits) as tester,
            self._start(tests.entry_point) as run,
        ):
            if not self._is_loaded(run, outcomes):
                return outcomes
            verdict = self._relay(tester, run, outcomes)
        if "passed" in verdict:
            outcomes.passed = 1
        elif "unjudged" in verdict:
            outcomes.unjudged = f"the tests pass {verdict['unjudged']!s:.100} to the program"
        else:
            outcomes.fail(f"the tests: {verdict.get('failed', 'the program ended')!s:.300}")
        return outcomes

    def _relay(
        self, tester: SandboxRun, run: SandboxRun, outcomes: CodeTestResults
    ) -> dict[str, Any]:
        """Pass each call of the tests on to the program as plain data, until the tests end."""
        while True:
            try:
                request = tester.receive()
            except FAILURES as error:
                return {"failed": self._why(tester, error)}
            if "call" not in request:
                return request
            try:
                run.send(request["call"])
                answer = _checked(run.receive())
            except (*FAILURES, values.UndecodableValue) as error:
                outcomes.fail(self._why(run, error))
                return {"failed": "the program ended"}
            try:
                tester.send(answer)
            except FAILURES as error:
                return {"failed": self._why(tester, error)}

    def _stdio(self, tests: StdioTests) -> CodeTestResults:
        outcomes = CodeTestResults(len(tests.tests))
        toolchain = LANGUAGES[self.language]
        job: dict[str, Any] = {
            "mode": "stdio",
            "program": self.program,
            "inputs": [case.input for case in tests.tests],
            **({} if toolchain is None else toolchain._asdict()),
        }
        with self.sandbox.start(job, limits=self.limits, channel=False) as run:
            for number in range(1, len(tests.tests) + 1):
                try:
                    report = run.report()
                except FAILURES as error:
                    outcomes.fail(f"test {number}: {self._why(run, error)}")
                    break
                if "test" not in report:
                    outcomes.compiled = "uncompiled" not in report
                    why = report.get("uncompiled") or _ended(run.end(), self.limits)
                    outcomes.fail(f"compiling: {why!s:.300}")
                    break
                self._take(outcomes, tests, number, report["test"])
        return outcomes

    def _take(self, outcomes: CodeTestResults, tests: StdioTests, number: int, result: Any) -> None:
        text, expected = tests.tests[number - 1]
        output = result["stdout"]
        if result["cause"] or result["exit"] != 0:
            end = _ended(RunEnd(result["cause"], result["exit"]), self.limits)
            lines = result["stderr"].strip().splitlines()
            if lines and lines[-1].startswith("SyntaxError"):
                outcomes.compiled = False
            outcomes.fail(f"test {number}: {end}{f' ({lines[-1]:.200})' if lines else ''}")
        elif tests.checker:
            outcomes.pending.append((number, (text, output, expected)))
        elif self.same_output(output, expected):
            outcomes.passed += 1
        else:
            shown = f"{_show(output.strip())} for {_show(expected.strip())}"
            outcomes.fail(f"test {number}: {shown}")

    def _check(self, checker: str, outcomes: CodeTestResults) -> None:
        """Let the data set's own checker judge, in a process without the program.

        Where it fails, it is asked about the expected output: if it takes that, the program's
        output is what it could not judge, and is wrong; if not, nothing was judged.
        """
        verdicts = self._verdicts(checker, [triple for _, triple in outcomes.pending])
        known = [
            (text, expected, expected)
            for (_, (text, _, expected)), verdict in zip(outcomes.pending, verdicts, strict=True)
            if isinstance(verdict, str)
        ]
        # Of many that failed in one way, some are enough.
        controls = self._verdicts(checker, known[:MOST_CONTROLS]) if known else []
        failure = next((verdict for verdict in controls if verdict is not True), None)
        if failure is not None:
            because = failure if isinstance(failure, str) else "it rejects the expected output"
            outcomes.unjudged = f"the checker: {because:.200}"
            return
        for (number, triple), verdict in zip(outcomes.pending, verdicts, strict=True):
            if verdict is True:
                outcomes.passed += 1
            else:
                why = f" ({verdict:.100})" if isinstance(verdict, str) else ""
                outcomes.fail(f"test {number}: the checker rejects {_show(triple[1])}{why}")

    def _verdicts(self, checker: str, triples: Sequence[tuple[Any, ...]]) -> list[bool | str]:
        """The checker's verdict on each triple; a text says why it gave no verdict."""
        try:
            job = {"mode": "checks", "code": checker, "checks": [*map(values.encode, triples)]}
        except values.NotPlain as error:
            return [f"an expected value of type {error}"] * len(triples)
        verdicts: list[bool | str] = []
        with self.sandbox.start(job, limits=self.limits) as run:
            try:
                first = run.receive()
                if "ready" not in first:
                    return [f"{first.get('unjudged')!s:.200}"] * len(triples)
                for _ in triples:
                    report = run.receive()
                    verdict = report.get("verdict", str(report.get("raised"))[:200])
                    verdicts.append(verdict if isinstance(verdict, bool) else str(verdict))
            except FAILURES as error:
                verdicts += [self._why(run, error)] * (len(triples) - len(verdicts))
        return verdicts

    def _why(self, run: SandboxRun, error: Exception) -> str:
        """Say why a process did not answer. Raises `SandboxLost`."""
        had_begun = run.has_begun
        end = run.end()
        if not had_begun or (end.cause == "lost" and not run.is_over):
            raise SandboxLost(str(error))
        if end.cause == "lost" or isinstance(error, TimeoutError):
            return f"no answer within {self.limits.time_s:g} s"
        if isinstance(error, (BadFrame, values.UndecodableValue)):
            return f"what it sent is no answer ({error!s:.100})"
        return _ended(end, self.limits)


def printable(text: str) -> str:
    """The text on one line, with escapes for unprintable characters."""
    return "".join(
        char if char.isprintable() else ascii(char)[1:-1] for char in text[:MESSAGE_CHARS]
    )


def _show(value: Any) -> str:
    """A short text of a value, for messages."""
    if isinstance(value, str):
        return repr(value[:SHOWN_CHARS])
    try:
        return _SHOWN.repr(value)[:SHOWN_CHARS]
    except ValueError:
        # Python does not write an integer of so many digits.
        return f"a value of type {type(value).__name__} that is too long to show"


def _checked(answer: dict[str, Any]) -> dict[str, Any]:
    """The program's answer, decoded and encoded again. Raises `UndecodableValue`."""
    if "value" in answer:
        checked = {"value": values.encode(values.decode(answer["value"]))}
        if "args" in answer:
            changed = values.decode(answer["args"])
            if isinstance(changed, list):
                checked["args"] = values.encode(changed)
        return checked
    if "raised" in answer:
        return {"raised": f"{answer['raised']!s:.100}", "text": f"{answer.get('text')!s:.300}"}
    if "opaque" in answer:
        return {"opaque": f"{answer['opaque']!s:.100}"}
    raise values.UndecodableValue("the answer holds no value and no exception")


def _ended(end: RunEnd, limits: SandboxLimits) -> str:
    match end.cause:
        case "time":
            return f"no answer within {limits.time_s:g} s"
        case "memory":
            return f"it took more than {limits.memory_mb} MB of memory"
        case "output":
            return f"it wrote more than {limits.output_bytes >> 20} MB"
    if end.exit_code is not None and end.exit_code < 0:
        return f"it was ended by signal {-end.exit_code}"
    return f"it ended with exit code {end.exit_code}"


def check_language(language: str, tests: Tests) -> str:
    """Say what is missing to run this language; empty if nothing is. Raises `BadParameter`."""
    check_choice("language", language, LANGUAGES)
    toolchain = LANGUAGES[language]
    if toolchain is None:
        return ""
    if not isinstance(tests, StdioTests):
        return f"programs in {language} are tested by 'stdio' alone"
    for command in (toolchain.compile, toolchain.run):
        if command and "/" not in command[0] and shutil.which(command[0], path=PATH) is None:
            return f"there is no {command[0]} in {PATH}"
    return ""
