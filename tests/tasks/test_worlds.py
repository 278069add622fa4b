from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.errors import BadParameter, UnknownName
from assay.registry import Registry
from assay.tasks import worlds


def test_alfworld_offers_its_shipped_splits() -> None:
    assert len(worlds.alfworld()) == 134
    assert len(worlds.alfworld(split="valid_seen")) == 140


def test_scienceworld_offers_every_variation_without_java() -> None:
    made = worlds.scienceworld(split="dev")
    assert made[0].metadata["variation_idx"] == 14
    assert len({task.id for task in made}) == len(made)


def test_webshop_offers_its_goals() -> None:
    assert len(worlds.webshop()) == 13
    assert len(worlds.webshop(goals="synthetic")) == 6910


def test_a_world_without_a_list_and_an_unknown_world_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Silent:
        pass

    known: Registry[Callable[..., Any]] = Registry("environment", {})
    known.add("silent", Silent)
    monkeypatch.setattr(worlds, "ENVIRONMENTS", known)
    with pytest.raises(BadParameter, match="'silent' has no list of tasks"):
        worlds.offered("silent")
    with pytest.raises(UnknownName, match="no environment named 'nowhere'"):
        worlds.offered("nowhere")
