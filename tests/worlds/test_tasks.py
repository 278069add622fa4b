from __future__ import annotations

from assay.registry import TASKS


def test_alfworld_offers_its_shipped_splits() -> None:
    alfworld = TASKS.get("alfworld")
    assert len(alfworld()) == 134
    assert len(alfworld(split="valid_seen")) == 140


def test_scienceworld_offers_every_variation_without_java() -> None:
    variations = TASKS.get("scienceworld")(split="dev")
    assert variations[0].metadata["variation_idx"] == 14
    assert len({task.id for task in variations}) == len(variations)


def test_webshop_offers_its_goals() -> None:
    webshop = TASKS.get("webshop")
    assert len(webshop()) == 13
    assert len(webshop(goals="synthetic")) == 6910
