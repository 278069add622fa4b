from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.errors import BadParameter, UnknownName
from assay.registry import Registry
from assay.worlds import tasks as environments


def test_alfworld_offers_its_shipped_splits() -> None:
    assert len(environments.alfworld()) == 134
    assert len(environments.alfworld(split="valid_seen")) == 140


def test_scienceworld_offers_every_variation_without_java() -> None:
    variations = environments.scienceworld(split="dev")
    assert variations[0].metadata["variation_idx"] == 14
    assert len({task.id for task in variations}) == len(variations)


def test_webshop_offers_its_goals() -> None:
    assert len(environments.webshop()) == 13
    assert len(environments.webshop(goals="synthetic")) == 6910


def test_an_environment_without_a_list_and_an_unknown_one_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Silent:
        pass

    registry: Registry[Callable[..., Any]] = Registry("environment", {})
    registry.add("silent", Silent)
    monkeypatch.setattr(environments, "ENVIRONMENTS", registry)
    with pytest.raises(BadParameter, match="'silent' has no list of tasks"):
        environments.environment_tasks("silent")
    with pytest.raises(UnknownName, match="no environment named 'nowhere'"):
        environments.environment_tasks("nowhere")
