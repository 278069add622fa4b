"""Any number of references costs one reading of the answer, and gives the same numbers."""

from __future__ import annotations

import random

import pytest

from assay.rewards.outcome.bags import BagList, bag_of, overlap, overlap_table
from assay.rewards.outcome.qa.reward import MODES, qa_f1_reward
from assay.schema.score import Scored

WORDS = "the a an yes no noanswer cat dog 12 12.0 1,000 running-fast Ünï x ' é".split()


def _text(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(0, 6)))


@pytest.mark.parametrize("mode", MODES)
def test_a_list_of_references_gives_the_best_of_each_alone(mode: str) -> None:
    rng = random.Random(3)
    for _ in range(300):
        answer, references = _text(rng), [_text(rng) or "x" for _ in range(3)]
        rule = MODES[mode]
        tokens = rule.read(answer)
        alone = [rule.compare(tokens, rule.reference(one)) for one in references]
        if rule.compare_counted is not None:
            counted = rule.count(tokens)
            assert alone == [rule.compare_counted(counted, rule.reference(r)) for r in references]
        prepared = [rule.reference(one) for one in references]
        kept = [m for m, p in zip(alone, prepared, strict=True) if not p.blank] or alone
        score = qa_f1_reward(answer, references, mode=mode)  # type: ignore[arg-type]  # a key of MODES
        assert isinstance(score, Scored)
        assert score.parts["f1"] == max(m[0] for m in (kept if rule.drops_blank else alone))


def test_a_long_answer_is_compared_with_thousands_of_references() -> None:
    answer = "word " * 100_000
    references = [f"alias {k} of word" for k in range(5_000)]
    for mode in ("squad2", "hotpot", "inspect"):
        assert qa_f1_reward(answer, references, mode=mode).because


def test_the_table_of_overlaps_holds_each_overlap() -> None:
    rng = random.Random(5)
    for _ in range(40):
        predicted = BagList(bag_of(_text(rng)) for _ in range(rng.randint(1, 8)))
        reference = [bag_of(_text(rng)) for _ in range(rng.randint(1, 8))]
        expected = [[overlap(bag, target) for bag in predicted] for target in reference]
        assert overlap_table(predicted, reference) == expected
