"""Score a step of any agent from two observations, before and after the step.

    before, after = {"url": url, "text": text}, {"url": url, "text": later}
    score = observe(before, after, "tap", target="Save")

For an agent that Assay cannot watch. A part that you leave out lowers the confidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from assay.browser.observe.digest import call_signature, info_digest, page_evidence
from assay.browser.outcome.classify import classify_error
from assay.browser.outcome.risk import effect_of
from assay.browser.step_records import ClosableStepLogView, StepLog
from assay.browser.steps import Contract
from assay.errors import BadParameter
from assay.schema.evidence import PageEvidence, StepEvents
from assay.schema.observation import Observation
from assay.schema.outcome import Effect, Gate, ToolOutcome
from assay.schema.step_score import StepScore

Look: TypeAlias = "str | Mapping[str, Any] | PageEvidence | Observation"
"""What was to be seen: its text, the arguments of `page_evidence`, or what an environment saw."""
PARTS: Final = frozenset(page_evidence.__annotations__) - {"return", "key"}


class ObservedSteps(ClosableStepLogView):
    """Scores the steps of one agent from observations before and after each step."""

    def __init__(
        self, *, contract: Contract | None = None, steps: str | Path | None = None
    ) -> None:
        self._log = StepLog(contract, steps=steps)
        self._latest: PageEvidence | None = None

    def observe(
        self,
        before: Look | None,
        after: Look | None,
        tool: str = "act",
        *,
        error: BaseException | str | None = None,
        gate: Gate = "unknown",
        effect: Effect | None = None,
        events: StepEvents | None = None,
        **arguments: Any,
    ) -> StepScore:
        """Score one step, with the history of the steps before it.

        `effect` is the worst that the call can do, by default from the arguments `role` and `name`
        (or `target`) of a click; `error` is what the tool raised or returned.
        """
        first, last = _observation(before), _observation(after)
        if not self._log.steps or first.evidence != self._latest:
            self._record("", first, {})
        outcome = last.outcome or _outcome(tool, arguments, error, effect, gate, last.evidence)
        seen = replace(last, outcome=outcome, events=events or last.events)
        self._record(f"{tool}({', '.join(arguments)})", seen, arguments)
        assert self.score is not None
        return self.score

    def _record(self, action: str, seen: Observation, arguments: Mapping[str, Any]) -> None:
        self._latest = seen.evidence if isinstance(seen.evidence, PageEvidence) else None
        self._log.record(action, seen, arguments=arguments)


def observe(
    before: Look | None, after: Look | None, tool: str = "act", **options: Any
) -> StepScore:
    """Score one step without a history; `options` are those of `ObservedSteps.observe`."""
    return ObservedSteps().observe(before, after, tool, **options)


def _observation(look: Any) -> Observation:
    if isinstance(look, Observation):
        return look
    if isinstance(look, PageEvidence):
        return Observation("", evidence=look)
    if look is None:
        return Observation("")
    parts = {"text": look} if isinstance(look, str) else look
    if not isinstance(parts, Mapping) or not PARTS.issuperset(parts):
        unknown = sorted(set(parts) - PARTS) if isinstance(parts, Mapping) else type(look).__name__
        raise BadParameter(
            f"an observation has no part {unknown!r:.200}; give a text, an Observation, a "
            f"PageEvidence or a mapping with any of {', '.join(sorted(PARTS))}"
        )
    return Observation(str(parts.get("text") or ""), evidence=page_evidence(**parts))


def _outcome(
    tool: str,
    arguments: Mapping[str, Any],
    error: BaseException | str | None,
    effect: Effect | None,
    gate: Gate,
    evidence: Any,
) -> ToolOutcome:
    name = str(arguments.get("name", arguments.get("target", "")))
    role = str(arguments.get("role", "button"))
    if effect is None:
        effect = effect_of(tool, role=role, name=name, key=str(arguments.get("key", "")))
    code = None if error is None else classify_error(str(error))
    info = None
    if code is None and isinstance(evidence, PageEvidence) and effect == Effect.READ:
        info = None if evidence.text is None else info_digest(evidence.text)
    call = call_signature(tool, arguments)
    target = call_signature(tool, {"on": [role, name]}) if name else None
    gate = "not_required" if effect < Effect.EXTERNAL else gate
    return ToolOutcome(tool, call, target, effect, gate, code is None, code, info=info)
