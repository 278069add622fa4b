"""Every planted flaw is found, and named in its family; nothing is held against sound rewards."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from assay.audit.checks import CHECKS, execution, tools
from assay.audit.data import from_row
from assay.audit.findings import Sample, at_least
from tests.audit.in_process import context_of, findings_of
from tests.audit.rewards import broken, sound

REWARDS = tomllib.loads(
    Path(__file__).with_name("rewards").joinpath("rewards.toml").read_text("utf-8")
)
BROKEN: dict[str, dict[str, str]] = REWARDS["broken"]
SOUND: dict[str, dict[str, str]] = REWARDS["sound"]
REGISTERED: dict[str, dict[str, str]] = REWARDS["registered"]
CHECK_NAMED = {check.name: check for check in CHECKS}

MILD = {
    "late_call", "ignores_tools", "languages", "foreign_denial", "layout", "unicode_forms",
    "zero_width",
}  # fmt: skip
"""Checks that never find more than low; they are tested on their own."""
ELSEWHERE = {check.name for check in (*execution.CHECKS, *tools.CHECKS)}
"""Checks of rewards that run something: those of `test_execution` and `test_callers`."""


def rows_of(entry: dict[str, Any]) -> list[Sample] | None:
    if "data" not in entry:
        return None
    return [from_row(entry["kind"], row) for row in REWARDS["data"][entry["data"]]]


@pytest.mark.parametrize("name", BROKEN)
def test_a_planted_flaw_is_found_in_its_family(name: str) -> None:
    entry: Any = BROKEN[name]
    reward = getattr(broken, name)
    family = [check.name for check in CHECKS if check.family == entry["family"]]

    findings = findings_of(context_of(reward, entry["kind"]), *family)

    named = [finding for finding in findings if finding.check == entry["check"]]
    assert named, f"{entry['check']} found nothing; found: {[item.check for item in findings]}"
    (finding,) = named
    assert finding.family == entry["family"]
    assert at_least(finding.severity, entry.get("severity", "medium"))
    assert 1 <= finding.count <= finding.tried
    assert finding.observed
    assert finding.expected
    assert finding.fix


@pytest.mark.parametrize("name", [*SOUND, *REGISTERED])
def test_nothing_of_weight_is_held_against_a_sound_reward(name: str) -> None:
    entry: Any = SOUND.get(name) or REGISTERED[name]
    reward = getattr(sound, name) if name in SOUND else name

    context = context_of(reward, entry["kind"], rows_of(entry))
    findings = findings_of(context)

    baseline = context.baseline
    assert baseline.accepted == baseline.tried, "the audit must know where it wants its answers"
    weighty = [item for item in findings if at_least(item.severity, "medium")]
    assert not weighty, [(item.check, item.title, item.reproducer) for item in weighty]


def test_the_zoo_is_large_enough_and_every_animal_is_listed() -> None:
    assert len(BROKEN) >= 30
    assert len(SOUND) >= 10
    for module, listed in ((broken, BROKEN), (sound, SOUND)):
        missing = [name for name in listed if not callable(getattr(module, name, None))]
        assert not missing
    documented = [name for name in BROKEN if not getattr(broken, name).__doc__]
    assert not documented, "the docstring says what a user would notice"


def test_every_check_has_an_animal_that_it_finds() -> None:
    checks = {entry["check"] for entry in BROKEN.values()}
    assert checks | MILD | ELSEWHERE == set(CHECK_NAMED)
    assert all(CHECK_NAMED[entry["check"]].family == entry["family"] for entry in BROKEN.values())
