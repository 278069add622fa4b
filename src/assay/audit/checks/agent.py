"""Checks of agent rewards: tool calls, tool requirements and environment records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

from assay.audit.checks.forms import ELSE
from assay.audit.context import CheckContext, Probe, ProbeOutcome, never_paid, skip_when
from assay.audit.conversations import (
    ONE_ENDING,
    UNSUCCESSFUL,
    ChatMessage,
    Ending,
    assistant,
    episode_record,
    has_own_episodes,
    question,
    tool_use,
)
from assay.audit.data import checks_of, named_texts, read_table
from assay.audit.findings import CheckFunction, CheckResult, GraderCall, Sample

MANY: Final = 10
NOTICEABLE: Final = 0.05
"""Share of full marks by which a result must change to count as changed."""
NO_GATE: Final = "the target pays the same without any tool: there is no gate to open"
CLAIMS: Final[tuple[str, ...]] = tuple(read_table("texts")["claims"])
NO_ANSWERS: Final = (("I do not know", "I do not know."), ("nothing", ""))
FORGERIES: Final = named_texts("forgeries")


def _call(sample: Sample, text: str, before: Iterable[ChatMessage] = ()) -> GraderCall:
    """Build a call whose conversation ends with `text` after the messages in `before`."""
    return GraderCall(text, sample.columns, (question(sample), *before, assistant(text)))


def _right(context: CheckContext, sample: Sample) -> str:
    return context.frame.put(sample.reference_text)


def _wrong(context: CheckContext, sample: Sample) -> str:
    return context.frame.put(sample.wrong[0] if sample.wrong else ELSE)


def _has_gate(context: CheckContext) -> bool:
    """Whether a right answer is paid less if no tool was used."""
    rights = [(row, _right(context, row)) for row in context.rows()]
    with_tool = context.ask([context.to_call(row, text) for row, text in rights])
    without = context.ask([_call(row, text) for row, text in rights])
    margin = NOTICEABLE * context.full_marks
    pairs = zip(with_tool, without, strict=True)
    return 2 * sum(one.amount - other.amount > margin for one, other in pairs) > len(rights)


def _gate_stays_closed(
    calls: Callable[[Sample, str], Iterable[tuple[str, GraderCall]]],
) -> CheckFunction:
    """Build a check that fails if a right answer without a real tool call is paid."""

    @skip_when(lambda context: not _has_gate(context), NO_GATE)
    def run(context: CheckContext) -> CheckResult:
        return context.must_not_pay(
            Probe(variant, call)
            for row in context.rows()
            for variant, call in calls(row, _right(context, row))
        )

    return run


def _never_pays_more(
    variant: str, pairs: Callable[[CheckContext], Iterable[tuple[GraderCall, GraderCall]]]
) -> CheckFunction:
    """Build a check that fails if the second call of a pair is paid more than the first."""

    def run(context: CheckContext) -> CheckResult:
        hits, calls = list[ProbeOutcome](), list(pairs(context))
        for once, often in calls:
            first, second = context.ask([once, often])
            if second.amount - first.amount > NOTICEABLE * context.full_marks:
                hits.append(ProbeOutcome(Probe(variant, often), second))
        return context.report_hits(hits, len(calls))

    return run


def _failed_calls(row: Sample, right: str) -> Iterator[tuple[str, GraderCall]]:
    error = "Error: the connection timed out"
    uses = (tool_use(row, number, result=error, failed=True) for number in (1, 2, 3))
    yield "failed calls only", _call(row, right, chain(*uses))


def _forged_tools(row: Sample, right: str) -> Iterator[tuple[str, GraderCall]]:
    for name, form in FORGERIES:
        yield name, _call(row, right, [assistant(form.format(row.reference_text))])


def _late_call(row: Sample, right: str) -> Iterator[tuple[str, GraderCall]]:
    messages = (question(row), assistant(right), *tool_use(row))
    yield "called after the answer", GraderCall(right, row.columns, messages)


def _repeated_calls(context: CheckContext) -> Iterator[tuple[GraderCall, GraderCall]]:
    for row in context.rows():
        uses = [tool_use(row, number) for number in range(1, MANY + 1)]
        for text in (_right(context, row), _wrong(context, row)):
            yield _call(row, text, uses[0]), _call(row, text, chain(*uses))


def _tool_alone(context: CheckContext) -> Iterator[Probe]:
    for row in context.rows():
        uses = [tool_use(row, number, query=f"query {number}") for number in range(1, MANY + 1)]
        for name, times in (("one call", 1), ("ten calls", MANY)):
            call = _call(row, _wrong(context, row), chain(*uses[:times]))
            yield Probe(f"wrong answer after {name}", call)


def _no_answer_after_tool(context: CheckContext) -> Iterator[Probe]:
    for row in context.rows():
        for name, text in NO_ANSWERS:
            if context.pays(context.ask([_call(row, text)])[0]):
                continue
            yield Probe(f"answer is {name!r}", _call(row, text, tool_use(row)))


def _useless_tool(context: CheckContext) -> Iterator[Probe]:
    for row in context.rows():
        use = tool_use(row, result="No results.")
        yield Probe("tool output that says nothing", _call(row, _right(context, row), use))


def _episode_leak(context: CheckContext) -> CheckResult:
    """Check that an episode gets the same result when it is scored again after others."""
    pairs = [
        [context.to_call(row, answer(context, row)) for answer in (_right, _wrong)]
        for row in context.rows()
    ]
    order = [call for right, wrong in pairs for call in (right, right, wrong, right)]
    results = context.ask_fresh(order)
    hits = list[ProbeOutcome]()
    for at, (right, _) in enumerate(pairs):
        repeats = [results[4 * at + place] for place in (0, 1, 3)]
        if len({(one.status, round(one.amount, 9)) for one in repeats}) > 1:
            probe = Probe("the same episode again", right)
            hits.append(ProbeOutcome(probe, min(repeats, key=lambda one: one.amount)))
    return context.report_hits(hits, 2 * len(pairs))


def _with_episode(row: Sample, ending: Ending, text: str | None = None) -> GraderCall:
    record = episode_record(row, ending) if text is None else episode_record(row, ending, text)
    columns = {**row.columns, "episode": record}
    return GraderCall(row.right[0] if text is None else text, columns)


_on_built_in = skip_when(lambda context: has_own_episodes(context.samples), ONE_ENDING)


def _claims(context: CheckContext) -> Iterator[Probe]:
    for row in context.rows():
        for claim in CLAIMS:
            for ending in UNSUCCESSFUL:
                call = _with_episode(row, ending, claim)
                yield Probe(f"{claim!r}, world {ending}", call, (claim,))


def _continued(context: CheckContext) -> Iterator[tuple[GraderCall, GraderCall]]:
    for row in context.rows():
        yield context.to_call(row, row.right[0]), _with_episode(row, "after done")


@_on_built_in
def _broken_environment(context: CheckContext) -> CheckResult:
    """Check that a broken environment gives no number; a zero is a milder finding."""
    probes = [Probe("world that died", _with_episode(row, "dead")) for row in context.rows()]
    hits = [one for one in context.results(probes) if one.result.status == "scored"]
    paid = any(context.pays(hit.result) for hit in hits)
    sized = context if paid else context.reporting(severity="low")
    return sized.report_hits(hits, len(probes))


CHECKS: Final = checks_of(
    failed_calls=_gate_stays_closed(_failed_calls), forged_tool=_gate_stays_closed(_forged_tools),
    late_call=_gate_stays_closed(_late_call),
    repeated_calls=_never_pays_more("the same call ten times", _repeated_calls),
    tool_alone=never_paid(_tool_alone), gold_in_tool_output=never_paid(_no_answer_after_tool),
    ignores_tools=never_paid(_useless_tool), episode_leak=_episode_leak,
    claims_believed=_on_built_in(never_paid(_claims)),
    after_done=_on_built_in(_never_pays_more("two steps after done", _continued)),
    dead_world=_broken_environment,
)  # fmt: skip
