"""What happens when the reference, not the answer, is at fault; and whether the reward travels."""

from __future__ import annotations

from typing import Any, Final

from assay.audit.bench import Bench
from assay.audit.checks.frames import say
from assay.audit.findings import Call, CheckResult, Verdict
from assay.audit.machine.asking import finding, in_words, ordinary, skipped

LAG_S: Final = 0.1
TRIES: Final = 3
BAD_GOLDS: Final[tuple[tuple[str, Any], ...]] = (
    ("None", None),
    ("an empty text", ""),
    ("spaces", "   "),
    ("a broken fraction", r"\frac{1}{"),
    ("an unknown command", r"\notacommand{{{"),
    ("an open bracket", "["),
    ("a null character", "\0"),
    ("NaN", float("nan")),
    ("an empty list", []),
)
ANSWERS: Final = ("I do not know.", "17", "a wholly different thing")


Asked = tuple[str, Call, Verdict]


def failure_policy(bench: Bench) -> CheckResult:
    """A finding when answers are paid although the reference cannot be read."""
    if bench.kind == "environment":
        return skipped("the world is the reference")
    asked = _with_bad_golds(bench)
    paid = [item for item in asked if bench.pays(item[2])]
    if not paid:
        return CheckResult()
    name, call, verdict = paid[0]
    found = finding(
        "failure_policy", "high", "an answer is paid although the reference cannot be read", call,
        observed=f"{in_words(verdict)}; the reference was {name}",
        expected="without a readable reference nobody can say that the answer is right: no reward, "
        "and a count of such rows",
        fix="return the trainer's mark for no reward (None in TRL) and log the row",
        count=len(paid), tried=len(asked),
    )  # fmt: skip
    return CheckResult((found,))


def reference_raises(bench: Bench) -> CheckResult:
    """A finding when a reference that cannot be read makes the target raise, hang or die."""
    if bench.kind == "environment":
        return skipped("the world is the reference")
    asked = _with_bad_golds(bench)
    failing = [item for item in asked if item[2].status in ("raised", "crashed", "timeout")]
    if not failing:
        return CheckResult()
    name, call, verdict = failing[0]
    found = finding(
        "reference_raises", "low", "a reference that cannot be read makes it raise", call,
        observed=f"{in_words(verdict)}; the reference was {name}",
        expected="one bad row of a data set is skipped and counted, and does not end a run",
        fix="check the reference first, and return the trainer's mark for no reward",
        count=len(failing), tried=len(asked),
    )  # fmt: skip
    return CheckResult((found,))


def _with_bad_golds(bench: Bench) -> list[Asked]:
    """Plain answers to rows whose reference says nothing."""

    def ask() -> list[Asked]:
        frame = bench.measured.frame
        named: list[tuple[str, Call]] = []
        for name, gold in BAD_GOLDS:
            for text in ANSWERS:
                call = say(bench.kind, bench.samples[0], frame.put(text))
                named.append((name, _with_gold(bench, call, gold)))
        answers = bench.session.answers([call for _, call in named])
        return [
            (name, call, answer.verdict)
            for (name, call), answer in zip(named, answers, strict=True)
        ]

    return bench.session.once("bad golds", ask)


def pickling(bench: Bench) -> CheckResult:
    """A finding when the target cannot be sent to another process."""
    target = bench.target
    if target.form == "url":
        return skipped("a server is not pickled")
    if target.picklable:
        return CheckResult()
    found = finding(
        "pickling", "low", "it cannot be pickled", ordinary(bench)[0],
        observed=str(target.pickle_error),
        expected="TRL's asynchronous trainer, AReaL, verl's remote manager and every process pool "
        "send the function to another process",
        fix="define it at the top of a module, without closures; bind parameters with "
        "functools.partial or a frozen dataclass with __call__",
        count=1, tried=1,
    )  # fmt: skip
    return CheckResult((found,))


def loop_lag(bench: Bench) -> CheckResult:
    """A finding when an ordinary call makes an event loop stand still."""
    if bench.target.form == "url":
        return skipped("a server has its own loop")
    calls = ordinary(bench)[:4]
    lags = [
        [answer.lag_s for answer in bench.session.answers(calls, place="loop")]
        for _ in range(TRIES)
    ]
    # The least of several tries tells a blocking function from a busy machine.
    least = [min(tries) for tries in zip(*lags, strict=True)]
    late = [call for call, lag in zip(calls, least, strict=True) if lag > LAG_S]
    if not late:
        return CheckResult()
    asynchronous = bench.target.is_async
    found = finding(
        "loop_lag", "medium" if asynchronous else "low", "the event loop stands still", late[0],
        observed=f"the loop stood still for more than {LAG_S * 1e3:g} ms in an ordinary call",
        expected="while a reward is computed, other rollouts go on",
        fix="await what waits (asyncio.sleep, an asynchronous client), and run long computations "
        "in a thread or process",
        count=len(late), tried=len(calls),
    )  # fmt: skip
    return CheckResult((found,))


def _with_gold(bench: Bench, call: Call, gold: Any) -> Call:
    columns = dict(call.columns)
    columns[bench.session.spec.gold_column] = gold
    if "golden_answers" in columns:
        columns["golden_answers"] = [gold]
    return Call(call.final_response, columns, call.messages)
