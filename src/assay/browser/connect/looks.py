"""`observe(before, after)`: the score of a step of anything that can be looked at twice.

    before, after = {"url": url, "text": text}, {"url": url, "text": later}
    score = observe(before, after, "tap", target="Save")

For an agent that Assay cannot watch: another kind of browser, a desktop, a phone. What you leave
out is missing evidence, which lowers the confidence and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Self, TypeAlias

from assay.browser.observe.digest import call_signature, info_digest, page_evidence
from assay.browser.outcome.classify import classify_error
from assay.browser.outcome.risk import effect_of
from assay.browser.step_records import LoggedSteps, StepLog
from assay.browser.steps import Contract
from assay.errors import BadParameter
from assay.schema.evidence import PageEvidence, StepEvents
from assay.schema.observation import Observation
from assay.schema.outcome import Effect, Gate, ToolOutcome
from assay.schema.step_score import StepScore

Look: TypeAlias = "str | Mapping[str, Any] | PageEvidence | Observation"
"""What was to be seen: its text, the arguments of `page_evidence`, or what an environment saw."""
PARTS: Final = frozenset(page_evidence.__annotations__) - {"return", "key"}
"""What a mapping may have; `url`, `text` and `refs` are the most telling."""


class ObservedSteps(LoggedSteps):
    """The scored steps of one agent, from a look before and a look after each of them."""

    def __init__(
        self, *, contract: Contract | None = None, steps: str | Path | None = None
    ) -> None:
        """`steps` is a file that `assay steps` scores again."""
        self._log = StepLog(contract, steps=steps)
        self._latest: PageEvidence | None = None
        self._is_first = True

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
        """The score of one step, in the light of those before it.

        `error` is what the tool raised or returned. `effect` is the worst that the call can do;
        without it, it follows from the arguments `role` and `name` (or `target`) of a click.
        `gate` says whether a person confirmed it, `events` what the browser reported.
        Raises `BadParameter` for a look that cannot be read.
        """
        first, last = _observation(before), _observation(after)
        if self._is_first or first.evidence != self._latest:
            self._record("", first, {})
            self._is_first = False
        outcome = last.outcome or _outcome(tool, arguments, error, effect, gate, last.evidence)
        seen = Observation(
            last.text,
            evidence=last.evidence,
            outcome=outcome,
            facts=last.facts,
            events=events or last.events,
        )
        self._record(f"{tool}({', '.join(arguments)})", seen, arguments)
        assert self.score is not None
        return self.score

    def _record(self, action: str, seen: Observation, arguments: Mapping[str, Any]) -> None:
        self._latest = seen.evidence if isinstance(seen.evidence, PageEvidence) else None
        self._log.record(action, seen, arguments=arguments)

    def close(self) -> None:
        """The steps file is complete."""
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def observe(
    before: Look | None, after: Look | None, tool: str = "act", **options: Any
) -> StepScore:
    """The score of one step by itself; `ObservedSteps` scores several in the light of each other.

    `options` are those of `ObservedSteps.observe`. Raises `BadParameter` for a look that cannot be
    read.
    """
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
            f"a look has no {unknown!r:.200}; give a text, an Observation, a PageEvidence or a "
            f"mapping with any of {', '.join(sorted(PARTS))}"
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
    return ToolOutcome(
        tool=tool,
        call=call_signature(tool, arguments),
        target=call_signature(tool, {"on": [role, name]}) if name else None,
        effect=effect,
        gate="not_required" if effect < Effect.EXTERNAL else gate,
        ok=code is None,
        error=code,
        info=info,
    )
