"""Audits that were saved beside the runs, on the pages of the rewards."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

import pytest

from assay.audit.engine import audit_reward
from assay.audit.target import parse_target
from assay.viewer.audits import LARGEST_BYTES, TEXT_CHARS, Audits
from assay.viewer.links import ServerLinks
from assay.viewer.pages.rewards import reward_page, rewards_page
from assay.viewer.rendering import Templates, to_json
from tests.viewer.ledgers import SCRIPT, audit_record

NAME = "qa_f1_reward"


def save(runs_dir: Path, text: str, name: str = f"{NAME}@1") -> Audits:
    path = runs_dir / "audits" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    return Audits(runs_dir)


@cache
def templates() -> Templates:
    return Templates()


def html(audits: Audits) -> str:
    page = reward_page(NAME, {}, tryout=None, audits=audits)
    return templates().render("reward.html", page, ServerLinks(), twin="", poll="")


def test_the_latest_audit_is_beside_its_reward_as_text(tmp_path: Path) -> None:
    audits = save(tmp_path, json.dumps(audit_record()))
    page = html(audits)
    assert "repeating the question is paid" in page
    assert ">high</span>" in page
    assert "3 of 75" in page
    assert "95 % interval 0.0 to 2.4 %" in page
    assert SCRIPT not in page
    assert "print(&#39;&lt;script&gt;" in page
    listed = next(i for i in rewards_page(audits)["rewards"] if i["reward"]["name"] == NAME)
    assert listed["audit"] is not None
    assert listed["audit"]["worst"] == "high"
    twin = json.loads(to_json(reward_page(NAME, {}, tryout=None, audits=audits)))
    assert twin["audit"]["report"]["findings"][0]["severity"] == "high"


def test_root_causes_come_before_the_findings(tmp_path: Path) -> None:
    cause = {
        "name": "anywhere",
        "title": SCRIPT,
        "concern": "fooled",
        "severity": "high",
        "fix": "read one place",
        "accepted": False,
        "checks": ["answer_list", "or_list"],
    }
    page = html(save(tmp_path, json.dumps(audit_record(fooled=True, causes=[cause]))))
    assert "answer_list, or_list" in page
    assert SCRIPT not in page
    assert page.index("answer_list, or_list") < page.index("reproducer and fix")


def test_without_an_audit_the_page_says_how_to_make_one(tmp_path: Path) -> None:
    audits = Audits(tmp_path)
    assert audits.latest(NAME, 1) is None
    assert f"assay audit {NAME}" in html(audits)
    assert all(item["audit"] is None for item in rewards_page(audits)["rewards"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"schema": "assay.au', "torn by a kill"),
        ("", "empty"),
        ("[1]", "no object"),
        ("[" * 100_000, "nested deeper than anybody reads"),
        (json.dumps(audit_record(schema="assay.audit/9")), "of another version"),
        (json.dumps(audit_record(findings=[{"severity": "high"}])), "a finding without its fields"),
        (json.dumps(audit_record(worst="dreadful")), "a severity that is none"),
        (json.dumps(audit_record(checks=None)), "no checks"),
        ('{"x": "' + "y" * LARGEST_BYTES + '"}', "too large to be an audit"),
        ('{"schema": "assay.audit/1", "probes": NaN}', "no JSON"),
    ],
)
def test_a_file_that_is_no_audit_is_told_of_and_breaks_no_page(
    tmp_path: Path, text: str, why: str
) -> None:
    audits = save(tmp_path, text)
    stored = audits.latest(NAME, 1)
    assert stored is not None, why
    assert stored.report is None, why
    assert f"{NAME}@1.json cannot be read" in html(audits)
    listed = next(i for i in rewards_page(audits)["rewards"] if i["reward"]["name"] == NAME)
    assert listed["audit"] is not None
    assert not listed["audit"]["readable"]


def test_an_audit_of_another_version_says_so_and_gives_way_to_the_right_one(
    tmp_path: Path,
) -> None:
    audits = save(tmp_path, json.dumps(audit_record(verdict="old")), f"{NAME}@7")
    save(tmp_path, json.dumps(audit_record()), f"{NAME}@latest")
    save(tmp_path, json.dumps(audit_record()), f"{NAME}_tool@1")
    assert "This is of version 7; the reward is at version 1." in html(audits)
    save(tmp_path, json.dumps(audit_record(verdict="right")))
    stored = audits.latest(NAME, 1)
    assert stored is not None
    assert stored.report is not None
    assert (stored.version, stored.report.verdict) == (1, "right")


def test_an_audit_that_was_made_again_is_read_again_and_long_texts_are_cut(
    tmp_path: Path,
) -> None:
    audits = save(tmp_path, json.dumps(audit_record(verdict="first")))
    assert "first" in html(audits)
    save(tmp_path, json.dumps(audit_record(verdict="v" * 10**6)))
    os.utime(tmp_path / "audits" / f"{NAME}@1.json", ns=(1, 1))
    stored = audits.latest(NAME, 1)
    assert stored is not None
    assert stored.report is not None
    assert len(stored.report.verdict) == TEXT_CHARS


def test_what_the_audit_itself_saves_is_read_whole(tmp_path: Path) -> None:
    report = audit_reward(parse_target(NAME), families=("correctness",))
    report.save(tmp_path / "audits")
    stored = Audits(tmp_path).latest(NAME, 1)
    assert stored is not None
    assert stored.problem == ""
    assert stored.report is not None
    assert stored.report.verdict == report.verdict
    assert len(stored.report.checks) == len(report.checks)
    assert [item.title for item in stored.report.findings] == [
        finding.title for finding in report.findings
    ]
