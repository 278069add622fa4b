"""Root causes: one flaw shows itself in many checks, and is reported once.

A cause is a row of `CAUSES`. It is established by the checks that only it explains (`shows`), and
then takes every finding that follows from it (`explains`). Rows are tried in order, so the flaw
that explains most comes first. A finding that no row explains is its own cause, under the name of
its check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from assay.audit.findings import Finding, at_least
from assay.schema.audit import SEVERITIES, CauseRecord, Concern

EQUAL: Final = 1e-9

Findings: TypeAlias = dict[str, Finding]
"""By check; a check that reports twice reports one flaw."""

PAID: Final = frozenset(
    "near_misses_refused empty_answer format_only master_keys refusal prompt_echo other_gold "
    "lazy_constant several_answers answer_list or_list hedge negation retraction withdrawal "
    "think_leak think_only equality_chain covering unit_swap lookalike hidden_tail other_scripts "
    "foreign_denial length_bias duplication range several_messages failed_calls forged_tool "
    "late_call repeated_calls tool_alone gold_in_tool_output claims_believed after_done dead_world "
    "hostile_paid failure_policy code_execution no_op equal_object expected_values "
    "patched_comparer forged_verdict spoofed_output planted_reward late_process".split()
)
"""Checks that find pay for what should earn none: the target is fooled."""
REFUSED: Final = frozenset(
    "gold_accepted rewrites_accepted layout unicode_forms zero_width languages alias_order "
    "monotone".split()
)
"""Checks that find right answers without their pay: a matter of recall."""
FORMS: Final = REFUSED - {"alias_order", "monotone"}
SPRAYS: Final = frozenset(
    "several_answers answer_list or_list hedge negation retraction withdrawal think_leak "
    "think_only equality_chain covering unit_swap hidden_tail lookalike foreign_denial "
    "several_messages prompt_echo gold_in_tool_output".split()
)
NOTHING: Final = frozenset("empty_answer format_only master_keys refusal".split())
UNREADABLE: Final = NOTHING | {"hostile_paid", "failure_policy"}
STATE: Final = frozenset("repeats order episode_leak arguments".split())
PLACES: Final = frozenset(
    "concurrency worker_thread event_loop spawned_process forked_process".split()
)


def concern_of(check: str) -> Concern:
    """What a finding of this check is about."""
    if check in PAID:
        return "fooled"
    return "recall" if check in REFUSED else "robustness"


@dataclass(frozen=True, slots=True)
class Cause:
    """One kind of flaw, with the checks that it shows in."""

    name: str
    title: str
    fix: str
    shows: frozenset[str]
    explains: frozenset[str]
    needs: Literal["any", "all"] = "any"
    holds: Callable[[Findings], bool] = lambda _: True
    """A condition beside the checks that were found."""
    follows: Callable[[Findings, Finding], bool] = lambda _, __: True
    """Whether this finding, of a check that it explains, is explained by it."""

    def takes(self, findings: Findings) -> list[str]:
        """The checks whose findings it explains; none if it is not established."""
        seen = self.shows & findings.keys()
        established = seen == self.shows if self.needs == "all" else bool(seen)
        if not established or not self.holds(findings):
            return []
        return [
            name
            for name, finding in findings.items()
            if name in self.shows or (name in self.explains and self.follows(findings, finding))
        ]


def _serious(findings: Findings, *names: str) -> bool:
    return all(name in findings and at_least(findings[name].severity, "high") for name in names)


def _pays_like_nothing(findings: Findings, finding: Finding) -> bool:
    """Whether the finding's answer earned no more than an answer that cannot be read."""
    pays = [findings[name].pay for name in UNREADABLE if name in findings]
    known = [pay for pay in pays if pay is not None]
    if finding.pay is None or not known:
        return finding.check in UNREADABLE
    return finding.pay <= max(known) + EQUAL


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CAUSES: Final[tuple[Cause, ...]] = (
    Cause("state", "a result depends on what was asked before",
        "keep nothing between calls: no module variables, no caches keyed by part of the input, no "
        "changed arguments",
        shows=STATE,
        explains=STATE | PLACES | _words(
            "hash_seeds surroundings other_gold lazy_constant near_misses_refused alias_order "
            "several_messages")),
    Cause("shared_process", "the program shares a process with what judges it",
        "run the program in a process that never sees an expected value, take plain data back, and "
        "compare and decide where it cannot reach",
        shows=_words("equal_object expected_values patched_comparer forged_verdict"),
        explains=_words("equal_object expected_values patched_comparer forged_verdict "
            "spoofed_output")),
    Cause("tool_output", "the answer is taken from what the tool said",
        "read the answer from the last assistant message alone",
        shows=_words("gold_in_tool_output"), explains=PAID),
    Cause("spam", "saying more, or again, earns more than a right answer",
        "count each part once, and cap the reward at what a right answer earns",
        shows=_words("duplication range"), needs="all", explains=PAID),
    Cause("reference_unread", "the reference is not read: any answer of the right form is paid",
        "compare with the reference; if the form alone is to be scored, audit it with --kind "
        "format",
        shows=_words("other_gold near_misses_refused"), needs="all",
        holds=lambda findings: _serious(findings, "other_gold", "near_misses_refused"),
        explains=PAID),
    Cause("unreadable_paid", "what cannot be read is paid",
        "let an empty answer, a parse error or a caught exception mean 'wrong' or 'no reward'",
        shows=UNREADABLE,
        explains=PAID, follows=_pays_like_nothing),
    Cause("anywhere", "the answer is taken from anywhere in the text",
        "read the answer from one place, and compare the whole of that place with the reference",
        shows=_words("answer_list covering hedge"),
        explains=SPRAYS | {"near_misses_refused", "several_answers", "other_gold"}),
    Cause("several_places", "any of several answers counts",
        "let one place count, the last one say, and refuse what offers several",
        shows=_words("several_answers retraction"),
        explains=SPRAYS),
    Cause("thinking", "what was only thought counts as said",
        "cut everything up to the last </think> before looking for the answer",
        shows=_words("think_leak think_only"), explains=_words("think_leak think_only")),
    Cause("around", "what is said about the answer is not read",
        "refuse an answer that is denied, doubted or taken back; compare the whole answer",
        shows=_words("or_list negation withdrawal"),
        explains=_words("or_list negation withdrawal hedge foreign_denial")),
    Cause("characters", "characters of the answer are dropped before comparing",
        "refuse characters that are not understood; never drop them",
        shows=_words("lookalike hidden_tail other_scripts"),
        explains=_words("lookalike hidden_tail other_scripts near_misses_refused unit_swap "
            "prompt_echo")),
    Cause("growing", "saying more, or again, earns more",
        "count each part once, and cap the reward at what a right answer earns",
        shows=_words("duplication length_bias repeated_calls range"),
        explains=_words("duplication length_bias range repeated_calls lazy_constant hostile_paid "
            "tool_alone several_answers")),
    Cause("tools", "tools are paid without a use",
        "pay tools only together with a right answer that follows from them",
        shows=_words("failed_calls forged_tool tool_alone late_call"),
        explains=_words("failed_calls forged_tool tool_alone late_call ignores_tools")),
    Cause("unbounded", "the work on a text has no bound",
        "bound sizes before parsing (length, digits, depth); no nested repetition in a regular "
        "expression",
        shows=_words("time_bound memory_bound"),
        explains=_words("time_bound memory_bound hostile_answers odd_text loop_lag")),
    Cause("exceptions", "texts that cannot be parsed raise",
        "catch what parsing raises, and let it mean 'wrong'",
        shows=_words("hostile_answers odd_text reference_raises"),
        explains=_words("hostile_answers odd_text reference_raises")),
    Cause("places", "it works in the main thread of the first process only",
        "use no signal, no running loop and nothing that was set up outside the module",
        shows=PLACES, explains=PLACES),
    Cause("surroundings", "a result depends on the process it is made in",
        "let the arguments alone decide: no order of sets, no variables, files or clock",
        shows=_words("hash_seeds surroundings"), explains=_words("hash_seeds surroundings")),
    Cause("refuses", "right answers are refused",
        "read the reference and the answer by the same rules, and compare values, not text",
        shows=FORMS, explains=FORMS),
)  # fmt: skip


def with_causes(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, each with the name of its root cause."""
    open_checks: Findings = {}
    for finding in findings:
        first = open_checks.get(finding.check)
        if first is None or at_least(finding.severity, first.severity):
            open_checks[finding.check] = finding
    causes: dict[str, str] = {}
    for cause in CAUSES:
        for check in cause.takes(open_checks):
            causes[check] = cause.name
            del open_checks[check]
    return [replace(one, cause=causes.get(one.check, one.check)) for one in findings]


def cause_records(findings: Sequence[Finding]) -> tuple[CauseRecord, ...]:
    """The causes of ranked findings, the worst first; of accepted ones only where all are."""
    by_name = {cause.name: cause for cause in CAUSES}
    groups: dict[tuple[bool, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.accepted is not None, finding.cause), []).append(finding)
    records = []
    for (accepted, name), group in groups.items():
        first, cause = group[0], by_name.get(name)
        records.append(
            CauseRecord(
                name=name,
                title=cause.title if cause is not None else first.title,
                concern=_concern(group),
                severity=max((one.severity for one in group), key=SEVERITIES.index),
                fix=cause.fix if cause is not None else first.fix,
                accepted=accepted,
                checks=tuple(dict.fromkeys(one.check for one in group)),
            )
        )
    return tuple(sorted(records, key=lambda one: (one.accepted, -SEVERITIES.index(one.severity))))


def _concern(group: Sequence[Finding]) -> Concern:
    """What the worst of the findings is about; being fooled, if several are as bad."""
    worst = max(SEVERITIES.index(one.severity) for one in group)
    concerns = {concern_of(one.check) for one in group if SEVERITIES.index(one.severity) == worst}
    return next(concern for concern in ("fooled", "robustness", "recall") if concern in concerns)
