"""Findings that a reward has to live with, each with its reason.

An accepted finding is shown with its reason and does not close the gate. A flaw is not accepted
here, it is mended; what is accepted is what a published definition says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from assay.audit.target import Target


@dataclass(frozen=True, slots=True)
class Acceptance:
    """One check whose finding is meant to be."""

    check: str
    reason: str


_TOKENS: Final = (
    "token F1 as published compares bags of words: it dilutes alternatives and does not know a "
    "denial; use `em` or `correct_at` where a spray must earn nothing"
)
_REPEATED: Final = (
    "a response without a box, tag or phrase is read by its last number, as documented, and the "
    "reward is not given the question; extraction='anchored' refuses it"
)
_ASSISTANTBENCH: Final = (
    "parity with BrowserGym's AssistantBench scorer, which pays numbers by the logarithm of their "
    "ratio (negative ones the other way round, so that some earn more than 1) and texts by words"
)

ACCEPTED: Final[Mapping[str, tuple[Acceptance, ...]]] = {
    "qa_f1_reward": (
        Acceptance("or_list", _TOKENS),
        Acceptance("negation", _TOKENS),
        Acceptance("retraction", _TOKENS),
        Acceptance("foreign_denial", _TOKENS),
    ),
    "assistantbench_reward": (
        Acceptance("near_misses_refused", _ASSISTANTBENCH),
        Acceptance("lazy_constant", _ASSISTANTBENCH),
        Acceptance("range", _ASSISTANTBENCH),
        Acceptance("or_list", _ASSISTANTBENCH),
        Acceptance("negation", _ASSISTANTBENCH),
        Acceptance("retraction", _ASSISTANTBENCH),
        Acceptance("foreign_denial", _ASSISTANTBENCH),
    ),
    "math_equal_reward": (Acceptance("prompt_echo", _REPEATED),),
    "environment_reward": (
        Acceptance(
            "after_done",
            "it repeats the world's own word, and a run ends an episode when its world is done; "
            "what a world pays later is the world's to mend",
        ),
    ),
}
"""For the predefined rewards, by name."""


def accepted_for(target: Target, declared: Mapping[str, str]) -> dict[str, str]:
    """Reasons by check: those of a predefined reward, and what the user declares."""
    built_in = ACCEPTED.get(target.plain_name, ()) if target.form == "registered" else ()
    return {**{item.check: item.reason for item in built_in}, **declared}
