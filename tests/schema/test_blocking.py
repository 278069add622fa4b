"""The table of blocking pages: every code that is used anywhere has its row."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from assay.browser.outcome.blocks import BLOCK_SELECTORS, detect_block
from assay.browser.steps import RecoveryRewardScorer, StepInput
from assay.browser.steps.recovery_ranking import next_look
from assay.schema.blocking import (
    BLOCKING_PAGES,
    BlockCode,
    BlockingPageKind,
    block_note,
    read_block_note,
)
from assay.schema.evidence import PageFacts
from assay.schema.outcome import ToolOutcome
from assay.schema.step_score import SENTENCES

ROOT = Path(__file__).parents[2]
ROWS = pytest.mark.parametrize("page", BLOCKING_PAGES, ids=[page.code for page in BLOCKING_PAGES])


def test_every_code_has_one_row() -> None:
    assert sorted(page.code for page in BLOCKING_PAGES) == sorted(get_args(BlockCode))


def test_every_code_that_is_written_anywhere_has_a_row() -> None:
    code = [*ROOT.glob("src/assay/**/*.py"), *ROOT.glob("tools/*.py")]
    words = {word for file in code for word in re.findall(r'"(block_\w+)"', file.read_text())}
    words |= set(re.findall(r"\bblock_\w+", (ROOT / "docs/steps.md").read_text()))
    assert words - {"block_bytes"} <= set(SENTENCES)


@ROWS
def test_a_step_score_says_the_sentence_of_the_row(page: BlockingPageKind) -> None:
    score = RecoveryRewardScorer().score(StepInput(outcome=ToolOutcome("goto", block=page.code)))
    assert [(reason.code, reason.sentence) for reason in score.reasons] == [
        (f"block_{page.code}", page.sentence)
    ]


@ROWS
def test_the_advice_of_the_row_comes_first(page: BlockingPageKind) -> None:
    hint = next_look(page.code)
    assert hint is not None
    assert hint.action == (page.advice or ("read_page",))[0]


@ROWS
def test_the_browser_recognises_the_page_by_each_mark_of_the_row(page: BlockingPageKind) -> None:
    sparse = {"*": 20}
    facts = [
        *(PageFacts(counts={**sparse, selector: 1}) for selector in page.selectors),
        *(PageFacts(status=status) for status in page.statuses),
        *(PageFacts(title=title.upper(), counts=sparse) for title in page.titles),
        *(PageFacts(url=f"https://x.test/{word}") for word in page.path_words),
    ]
    codes = {detect_block(fact, requested="https://x.test/") for fact in facts}
    assert codes == ({page.code} if facts else set())
    assert set(page.selectors) <= set(BLOCK_SELECTORS)


@ROWS
def test_a_report_reads_the_code_from_the_note_in_an_observation(page: BlockingPageKind) -> None:
    assert read_block_note(f"url: x\n{block_note(page.code)}\ntext") == page.code
    assert read_block_note(f"url: x\ntext, {block_note(page.code)}") is None
